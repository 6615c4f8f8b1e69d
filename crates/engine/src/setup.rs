//! The setup of a load thread for one load point.

use std::rc::Rc;
use std::sync::Arc;

use model::{Assignment, Catalog, LoadPoint, Phases, Schedule, Shape, SliceSchedule};
use units::Nanos;

use crate::budget::OperationBudget;
use crate::notice_outbox::NoticeOutbox;
use crate::session::OpenedSessions;
use crate::timers::Timers;

/// The use of the CPU by a load thread since it began.
#[derive(Debug, Clone, Copy, Default)]
pub struct LoadThreadUse {
    /// CPU time of the load generator.
    pub cpu: Nanos,
    /// Time that it was ready to run and had no CPU.
    pub run_queue: Nanos,
    /// CPU time of the system under test, where it is part of this process: of operations, and beside them.
    pub sut_cpu: Option<Nanos>,
}

/// A reader of the use of the CPU by a load thread.
pub type HealthProbe = Box<dyn FnMut() -> LoadThreadUse + Send>;

/// The setup of a load thread for one load point.
pub struct PointSetup {
    /// The load point.
    pub point: LoadPoint,
    /// Index of the load agent to which the thread belongs.
    pub agent: u32,
    /// This thread's share of it.
    pub assignment: Assignment,
    /// Its schedule; `None` for a closed loop.
    pub schedule: Option<Schedule>,
    /// The operations that its closed loop may start, together with the other threads of this process; `None`: any number.
    pub budget: Option<Arc<OperationBudget>>,
    /// Its phases.
    pub phases: Phases,
    /// The load over time within its steady phase, which users of a closed loop follow; the schedule of an open loop has it. `None`
    /// where the load stays the same.
    pub shape: Option<Shape>,
    /// The catalog of the run.
    pub catalog: Catalog,
    /// The run's seed.
    pub seed: u64,
    /// The time limit of an operation.
    pub time_limit: Nanos,
    /// The outbox of notices from beside the tasks of its users: a new one.
    pub notices: NoticeOutbox,
}

impl PointSetup {
    /// Returns this thread's part of the schedule: the operations of its users where they have state, else its slice.
    /// `None` for a closed loop.
    pub(crate) fn slice(&self, has_user_state: bool) -> Option<SliceSchedule> {
        let schedule = self.schedule.as_ref()?;
        let share = &self.assignment;
        Some(if has_user_state {
            schedule.of_users(share.users.clone(), self.point.load.in_flight_max())
        } else {
            schedule.slice(share.share, share.n_shares)
        })
    }

    /// Returns the operations of one user with state; `None` for a closed loop.
    pub(crate) fn schedule_of(&self, user: u32) -> Option<SliceSchedule> {
        Some(self.schedule.as_ref()?.of_users(user..user + 1, self.point.load.in_flight_max()))
    }
}

/// The start of a load point, for which its load threads wait when the sessions of their users are open.
pub trait PointStart {
    /// Reports the sessions of a load thread, and waits for the start of the load point on the clock of the run, which
    /// is the same for all threads; `None` if the load point does not begin.
    fn wait(self, sessions: OpenedSessions) -> impl Future<Output = Option<Nanos>>;
}

/// A start that is known beforehand.
impl PointStart for Nanos {
    async fn wait(self, _: OpenedSessions) -> Option<Nanos> {
        Some(self)
    }
}

/// The clock and the spawner of a load thread's tasks, in real time or in simulated time.
pub struct Runtime<C, S> {
    /// The clock of the run.
    pub clock: C,
    /// The timers that wake tasks.
    pub timers: Rc<Timers>,
    /// The spawner of tasks.
    pub spawn: S,
    /// The reader of the thread's own CPU time and wait.
    pub probe: HealthProbe,
}
