//! The executor of simulated runs: time advances when, and only when, every task waits.

use std::rc::Rc;

use engine::{Spawn, Timers};
use futures::executor::{LocalPool, LocalSpawner};
use futures::task::LocalSpawnExt;
use units::{Clock, Nanos, SimClock};

use crate::server::TimeWindow;

/// Maximum number of time steps of a load point. More means an endless wait.
const TIME_STEPS_MAX: u64 = 20_000_000;

/// A single-threaded executor with tasks, timers and a clock that it moves.
pub(crate) struct SimExecutor {
    pool: LocalPool,
    pub(crate) clock: SimClock,
    pub(crate) timers: Rc<Timers>,
    /// A period in which no task runs: a pause of the generator itself. In clock time.
    pause: Option<TimeWindow>,
    n_time_steps: u64,
}

/// A spawner of tasks on the executor.
#[derive(Clone)]
pub(crate) struct SimSpawn(LocalSpawner);

impl Spawn for SimSpawn {
    fn spawn(&self, task: impl Future<Output = ()> + 'static) {
        self.0.spawn_local(task).expect("the pool outlives its tasks");
    }
}

impl SimExecutor {
    /// Creates an executor without tasks at `start`.
    pub(crate) fn new(start: Nanos, pause: Option<TimeWindow>) -> SimExecutor {
        let clock = SimClock::new();
        clock.advance_to(start);
        SimExecutor { pool: LocalPool::new(), clock, timers: Timers::new(), pause, n_time_steps: 0 }
    }

    pub(crate) fn spawner(&self) -> SimSpawn {
        SimSpawn(self.pool.spawner())
    }

    /// Runs all tasks until they wait.
    pub(crate) fn settle(&mut self) {
        self.pool.run_until_stalled();
    }

    /// Moves the clock to the next timer, and wakes its tasks.
    ///
    /// # Panics
    /// No task waits for a timer, or the load point has had too many time steps.
    pub(crate) fn advance(&mut self) {
        let next = self.timers.earliest().expect("an unfinished load point waits for a timer");
        let next = match self.pause {
            Some(TimeWindow { from, to }) if from <= next && next < to => to,
            _ => next,
        };
        self.clock.advance_to(next);
        self.timers.fire(self.clock.now());
        self.n_time_steps += 1;
        assert!(self.n_time_steps < TIME_STEPS_MAX, "the simulation does not end");
    }
}
