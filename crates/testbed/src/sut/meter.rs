//! The CPU time of the system under test since it was brought up, restarts included.

use model::SutUse;
use units::Nanos;

use crate::cgroup::{Account, Group};
use crate::process::family_cpu;

/// Where the CPU time is read.
#[derive(Debug)]
pub enum Meter {
    /// From the account of the control group, which goes on over restarts.
    Group(Account),
    /// From the processes themselves; what those before a restart used is kept.
    Family {
        /// The processes that were started.
        leaders: Vec<u32>,
        /// CPU time of the processes before the last restart.
        before: Nanos,
    },
}

impl Meter {
    /// Makes the best meter there is; which processes it follows is told later.
    pub fn new(group: Option<&Group>) -> Meter {
        match group.and_then(Group::account) {
            Some(account) => Meter::Group(account),
            None => Meter::Family { leaders: Vec::new(), before: Nanos::ZERO },
        }
    }

    /// Returns what was used so far; `None` if it cannot be read.
    pub fn read(&self) -> Option<SutUse> {
        match self {
            Meter::Group(account) => account.read(),
            Meter::Family { leaders, before } => {
                Some(SutUse { cpu: *before + family_cpu(leaders), throttled: Nanos::ZERO })
            }
        }
    }

    /// Takes over to the processes of new leaders; `used` is what was used up to the end of the old ones.
    pub fn follow(&mut self, new_leaders: Vec<u32>, used: Option<SutUse>) {
        if let Meter::Family { leaders, before } = self {
            *leaders = new_leaders;
            *before = used.map_or(*before, |used| used.cpu);
        }
    }

    /// Returns how the CPU time is known, for the disclosure.
    pub fn description(&self) -> &'static str {
        match self {
            Meter::Group(_) => "account of the control group",
            Meter::Family { .. } => "sum over the server's processes, in clock ticks",
        }
    }
}
