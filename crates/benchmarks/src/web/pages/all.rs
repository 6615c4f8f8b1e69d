//! The engine's view of a web benchmark at one level of load.

use std::sync::Arc;

use model::{Load, Mix, WebRequest, WebWorkload};

use super::{PageMix, PageSchedule, PageUser};

/// Users and scheduled requests of a web workload at one level of load.
#[derive(Debug, Clone)]
pub struct Pages {
    mix: Arc<PageMix>,
    schedule: PageSchedule,
    n_kinds: usize,
    n_units: usize,
    has_sessions: bool,
}

impl Pages {
    /// Creates them for a workload at a load; the seed is that of the run.
    pub fn new(workload: &WebWorkload, seed: u64, load: Load) -> Pages {
        let level = load.level();
        Pages {
            mix: Arc::new(PageMix::new(workload, workload.protocol.connection, level, load.in_flight_max())),
            schedule: PageSchedule::new(workload, seed, level),
            n_kinds: workload.requests.len(),
            n_units: workload.pages.len(),
            has_sessions: workload.has_sessions(),
        }
    }
}

impl Mix for Pages {
    type Operation = WebRequest;
    type User = PageUser;

    fn user(&self, user: u32) -> PageUser {
        PageUser::new(Arc::clone(&self.mix), user)
    }

    fn has_user_state(&self) -> bool {
        self.has_sessions
    }

    fn scheduled(&self, k: u64) -> WebRequest {
        self.schedule.operation(k)
    }

    fn n_kinds(&self) -> usize {
        self.n_kinds
    }

    fn n_units(&self) -> usize {
        self.n_units
    }
}
