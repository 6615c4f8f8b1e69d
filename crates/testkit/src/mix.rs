//! Users and scheduled operations of a simulated run: those of the web benchmarks, with or without think time.

use std::sync::Arc;

use benchmarks::webstone::{PageMix, PageSchedule, PageUser};
use engine::Mix;
use model::{Outcome, Plan, Step, User, WebRequest};
use units::{Dice, Nanos};

/// The pause that users make after each page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Think {
    /// None at all.
    Never,
    /// Always the same.
    Fixed(Nanos),
    /// Negative exponential with this mean.
    Exponential(Nanos),
}

/// The pages of a plan's workload.
pub(crate) struct SimMix {
    pages: Arc<PageMix>,
    schedule: PageSchedule,
    think: Think,
    n_kinds: usize,
    n_units: usize,
}

/// A user that fetches pages and thinks after each.
pub(crate) struct SimUser {
    pages: PageUser,
    think: Think,
    has_finished_page: bool,
}

impl SimMix {
    pub(crate) fn new(plan: &Plan, think: Think) -> SimMix {
        SimMix {
            pages: Arc::new(PageMix::new(&plan.workload)),
            schedule: PageSchedule::new(&plan.workload, plan.seed),
            think,
            n_kinds: plan.workload.objects.len(),
            n_units: plan.workload.pages.len(),
        }
    }
}

impl Mix for SimMix {
    type Operation = WebRequest;
    type User = SimUser;

    fn user(&self) -> SimUser {
        let pages = PageUser::new(Arc::clone(&self.pages));
        SimUser { pages, think: self.think, has_finished_page: false }
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

impl User for SimUser {
    type Operation = WebRequest;

    fn next(&mut self, last: Option<Outcome>, dice: &mut Dice) -> Step<WebRequest> {
        if std::mem::take(&mut self.has_finished_page) {
            match self.think {
                Think::Never => {}
                Think::Fixed(time) => return Step::Think(time),
                Think::Exponential(mean) => return Step::Think(dice.exponential(mean)),
            }
        }
        let step = self.pages.next(last, dice);
        self.has_finished_page = matches!(step, Step::Unit { .. });
        step
    }
}
