//! Joins the web family's benchmarks to the engine.

use std::sync::Arc;

use benchmarks::pages::{PageMix, PageSchedule, PageUser};
use engine::Mix;
use model::{Connection, WebRequest, Workload};

/// Users and scheduled requests of a workload of pages.
pub(crate) struct WebMix {
    pages: Arc<PageMix>,
    schedule: PageSchedule,
    n_kinds: usize,
    n_units: usize,
}

impl WebMix {
    pub(crate) fn new(workload: &Workload, connection: Connection, seed: u64, level: f64) -> WebMix {
        WebMix {
            pages: Arc::new(PageMix::new(workload, connection, level)),
            schedule: PageSchedule::new(workload, seed, level),
            n_kinds: workload.requests.len(),
            n_units: workload.pages.len(),
        }
    }
}

impl Mix for WebMix {
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
