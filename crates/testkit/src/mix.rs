//! Users and scheduled operations of a simulated run: those of the web benchmarks.

use std::sync::Arc;

use benchmarks::pages::{PageMix, PageSchedule, PageUser};
use engine::Mix;
use model::{Plan, WebRequest};

/// The pages of a plan's workload.
pub(crate) struct SimMix {
    pages: Arc<PageMix>,
    schedule: PageSchedule,
    n_kinds: usize,
    n_units: usize,
}

impl SimMix {
    pub(crate) fn new(plan: &Plan, level: f64) -> SimMix {
        let workload = &plan.workload;
        SimMix {
            pages: Arc::new(PageMix::new(workload, plan.protocol.connection, level)),
            schedule: PageSchedule::new(workload, plan.seed, level),
            n_kinds: workload.requests.len(),
            n_units: workload.pages.len(),
        }
    }
}

impl Mix for SimMix {
    type Operation = WebRequest;
    type User = PageUser;

    fn user(&self) -> PageUser {
        PageUser::new(Arc::clone(&self.pages))
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
