//! The executor of simulated runs: time passes when, and only when, everybody waits.

use std::rc::Rc;

use engine::{Spawn, Timers};
use futures::executor::{LocalPool, LocalSpawner};
use futures::task::LocalSpawnExt;
use units::{Clock, Nanos, SimClock};

use crate::server::Window;

/// Moments that one load point may have. More means that somebody waits without end.
const MOMENTS_MAX: u64 = 20_000_000;

/// One thread with tasks, timers and a clock that it moves.
pub(crate) struct Stage {
    pool: LocalPool,
    pub(crate) clock: SimClock,
    pub(crate) timers: Rc<Timers>,
    /// While this lasts, no task gets the processor: the generator's own hiccup. On the clock's axis.
    pause: Option<Window>,
    n_moments: u64,
}

/// Starts tasks on the stage.
#[derive(Clone)]
pub(crate) struct SimSpawn(LocalSpawner);

impl Spawn for SimSpawn {
    fn spawn(&self, task: impl Future<Output = ()> + 'static) {
        self.0.spawn_local(task).expect("the pool outlives its tasks");
    }
}

impl Stage {
    /// Makes a stage without tasks at `start`.
    pub(crate) fn new(start: Nanos, pause: Option<Window>) -> Stage {
        let clock = SimClock::new();
        clock.advance_to(start);
        Stage { pool: LocalPool::new(), clock, timers: Timers::new(), pause, n_moments: 0 }
    }

    pub(crate) fn spawner(&self) -> SimSpawn {
        SimSpawn(self.pool.spawner())
    }

    /// Lets all tasks run as far as they come at this moment.
    pub(crate) fn settle(&mut self) {
        self.pool.run_until_stalled();
    }

    /// Moves the clock to the next moment at which somebody is to be woken, and wakes them.
    ///
    /// # Panics
    /// If nobody waits for a time, or the load point has had too many moments.
    pub(crate) fn advance(&mut self) {
        let next = self.timers.earliest().expect("a load point that has not ended waits for a time");
        let next = match self.pause {
            Some(Window { from, to }) if from <= next && next < to => to,
            _ => next,
        };
        self.clock.advance_to(next);
        self.timers.fire(self.clock.now());
        self.n_moments += 1;
        assert!(self.n_moments < MOMENTS_MAX, "the simulation does not come to an end");
    }
}
