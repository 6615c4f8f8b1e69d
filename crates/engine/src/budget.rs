//! The number of operations that load threads may start, where the plan limits it.
//!
//! The load threads of a process draw from one budget, so that all of them have full load until the same moment: the first at
//! which a user finds nothing left to start. There the steady phase ends. Those of other load agents have budgets of their own.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicI64, Ordering};

use units::Nanos;

/// The operations that load threads may still start at a load point.
#[derive(Debug)]
pub struct OperationBudget {
    /// Not above zero if none is left.
    left: AtomicI64,
    /// The time, on the run's clock, at which a user found that none is left.
    spent_at: OnceLock<Nanos>,
}

impl OperationBudget {
    /// Makes a budget of so many operations.
    pub fn new(n: u64) -> OperationBudget {
        OperationBudget {
            left: AtomicI64::new(i64::try_from(n).unwrap_or(i64::MAX)),
            spent_at: OnceLock::new(),
        }
    }

    /// Takes an operation that is to start at a time; returns whether there was one.
    pub(crate) fn take(&self, now: Nanos) -> bool {
        // Below zero it goes by one per user at most, which then leaves.
        let is_left = 0 < self.left.fetch_sub(1, Ordering::Relaxed);
        if !is_left {
            self.spent_at.get_or_init(|| now);
        }
        is_left
    }

    /// Returns the time at which a user found that none is left; `None` as long as nobody has.
    pub(crate) fn spent_at(&self) -> Option<Nanos> {
        self.spent_at.get().copied()
    }
}

/// The budget as the recorder of a load thread follows it.
#[derive(Debug, Default)]
pub(crate) enum BudgetState {
    /// The number of operations is not limited, or by a schedule.
    #[default]
    Unlimited,
    /// There may be operations left. Nothing that is recorded is later than this.
    Open(std::sync::Arc<OperationBudget>, Nanos),
    /// Nothing more is started.
    Spent,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_who_finds_nothing_says_when() {
        let budget = OperationBudget::new(2);
        let taken = [1, 2, 3, 4].map(|at| (budget.take(Nanos(at)), budget.spent_at()));
        let spent = Some(Nanos(3));
        assert_eq!(taken, [(true, None), (true, None), (false, spent), (false, spent)]);
    }
}
