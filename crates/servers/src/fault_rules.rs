//! Faults that one in so many operations meets, by the names of a table.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use languages::nearest;
use thiserror::Error;

/// The faults of a server, each with what it does, an `A`; none by default. Clones count together.
#[derive(Debug, Clone)]
pub(crate) struct FaultRules<A> {
    rules: Arc<[FaultRule<A>]>,
}

/// A fault that affects one in so many operations.
#[derive(Debug)]
struct FaultRule<A> {
    action: A,
    every: u64,
    operations: AtomicU64,
}

/// A fault that could not be parsed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum FaultRuleError {
    /// The fault does not exist.
    #[error("unknown fault `{name}`\nhint: {hint}")]
    Unknown {
        /// The name as given.
        name: String,
        /// The name that was meant, or all names.
        hint: String,
    },
    /// The number of operations is none.
    #[error("expected `{name}` or `{name}:N` for one in N operations, found `{name}:{every}`")]
    Every {
        /// The fault's name.
        name: String,
        /// The number as given.
        every: String,
    },
}

impl<A> Default for FaultRules<A> {
    fn default() -> FaultRules<A> {
        FaultRules { rules: Arc::default() }
    }
}

impl<A: Copy> FaultRules<A> {
    /// Parses items `NAME` and `NAME:N`, for one in N operations, with the names of a table.
    ///
    /// # Errors
    /// An item is neither.
    pub(crate) fn parse<'a>(
        table: &[(&str, A)],
        items: impl IntoIterator<Item = &'a str>,
    ) -> Result<FaultRules<A>, FaultRuleError> {
        let rules: Result<Vec<FaultRule<A>>, FaultRuleError> =
            items.into_iter().map(|item| parse_rule(table, item)).collect();
        Ok(FaultRules { rules: rules?.into() })
    }

    /// Counts an operation, which only some faults concern; returns the first fault that it meets, if any.
    pub(crate) fn next(&self, concerns: impl Fn(&A) -> bool) -> Option<A> {
        let meets = |rule: &FaultRule<A>| {
            let before = rule.operations.fetch_add(1, Ordering::Relaxed);
            (before + 1).is_multiple_of(rule.every).then_some(rule.action)
        };
        // Every rule counts every operation that it concerns.
        let concerned = self.rules.iter().filter(|rule| concerns(&rule.action));
        concerned.filter_map(meets).reduce(|first, _| first)
    }
}

fn parse_rule<A: Copy>(table: &[(&str, A)], item: &str) -> Result<FaultRule<A>, FaultRuleError> {
    let (name, every) = item.split_once(':').unwrap_or((item, "1"));
    let found = table.iter().find(|(known, _)| *known == name);
    let unknown = || FaultRuleError::Unknown { name: name.to_owned(), hint: closest_name(table, name) };
    let (_, action) = *found.ok_or_else(unknown)?;
    let number = every.parse().ok().filter(|number| 0 < *number);
    let unread = || FaultRuleError::Every { name: name.to_owned(), every: every.to_owned() };
    Ok(FaultRule { action, every: number.ok_or_else(unread)?, operations: AtomicU64::new(0) })
}

fn closest_name<A>(table: &[(&str, A)], name: &str) -> String {
    let names: Vec<&str> = table.iter().map(|(known, _)| *known).collect();
    match nearest(name, names.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("the faults are {}", names.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: [(&str, char); 2] = [("stall", 's'), ("busy", 'b')];

    #[test]
    fn one_in_so_many_operations_meets_a_fault() {
        let rules = FaultRules::parse(&TABLE, ["stall:3", "busy:2"]).unwrap();
        let met: Vec<_> = (0..6).map(|_| rules.next(|_| true)).collect();
        assert_eq!(met, [None, Some('b'), Some('s'), Some('b'), None, Some('s')]);
        assert_eq!(FaultRules::<char>::default().next(|_| true), None);
    }

    #[test]
    fn a_fault_counts_only_what_concerns_it() {
        let rules = FaultRules::parse(&TABLE, ["stall:2", "busy:2"]).unwrap();
        let met: Vec<_> = "sbssb".chars().map(|kind| rules.next(|action| *action == kind)).collect();
        assert_eq!(met, [None, None, Some('s'), None, Some('b')]);
    }

    #[test]
    fn mistakes_have_a_remedy() {
        let refused = |item| FaultRules::parse(&TABLE, [item]).unwrap_err().to_string();
        assert_eq!(refused("stal"), "unknown fault `stal`\nhint: did you mean `stall`?");
        assert_eq!(refused("x"), "unknown fault `x`\nhint: the faults are stall, busy");
        for item in ["stall:0", "stall:", "stall:-1"] {
            assert!(refused(item).starts_with("expected `stall` or `stall:N` for one in N operations"));
        }
    }
}
