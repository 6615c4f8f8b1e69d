//! The setup of a load thread for one load point.

use std::rc::Rc;

use model::{Assignment, LoadPoint, Phases};
use units::Nanos;

use crate::timers::Timers;

/// Reads the load thread's CPU time and its wait for a CPU, both since the thread began.
pub type HealthProbe = Box<dyn FnMut() -> (Nanos, Nanos)>;

/// The setup of a load thread for one load point.
pub struct PointSetup {
    /// The load point.
    pub point: LoadPoint,
    /// This thread's part of it.
    pub assignment: Assignment,
    /// Its phases.
    pub phases: Phases,
    /// The run's seed.
    pub seed: u64,
    /// The longest that an operation may take.
    pub time_limit: Nanos,
    /// The start of the load point on the run's clock, the same for all threads.
    pub origin: Nanos,
}

/// The clock and the spawner of a load thread's tasks, in real time or in simulated time.
pub struct Machinery<C, S> {
    /// The clock of the run.
    pub clock: C,
    /// Wakes tasks.
    pub timers: Rc<Timers>,
    /// Starts tasks.
    pub spawn: S,
    /// Reads the thread's own CPU time and wait.
    pub probe: HealthProbe,
}

/// A request to stop the run early.
pub trait Stop {
    /// Returns whether to stop.
    fn is_asked(&self) -> bool;
}

impl Stop for std::sync::atomic::AtomicBool {
    fn is_asked(&self) -> bool {
        self.load(std::sync::atomic::Ordering::Relaxed)
    }
}
