//! Replies that nobody has described and that changed in the course of a load point, as its threads saw them.

use std::collections::BTreeMap;

use model::REPLIES_OF;
use units::{Bytes, Nanos};

use crate::checked::CheckedRow;

/// The change of the replies to one kind of operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ReplyChange {
    /// The time of the first other reply, from the start of the load point; `None` if all were equal under load.
    pub(crate) at: Option<Nanos>,
    /// The length of the first reply.
    pub(crate) first: u64,
    /// The length of the first other reply.
    pub(crate) other: u64,
    /// The replies that were not equal to the first, of operations that succeeded.
    pub(crate) n: u64,
    /// Whether the first reply came back after others.
    pub(crate) is_mixed: bool,
    /// Whether the change came with the load: at rest, replies are as they were before it, or not as any under load.
    pub(crate) is_of_load: bool,
}

/// Changes by the kind of operation; a thread that saw one earlier says when it was.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ReplyChanges(BTreeMap<String, ReplyChange>);

impl ReplyChanges {
    /// Adds the change of a kind: `GET /`.
    pub(crate) fn add_one(&mut self, kind: &str, change: ReplyChange) {
        match self.0.get_mut(kind) {
            Some(known) => *known = known.joined(change),
            None => drop(self.0.insert(kind.to_owned(), change)),
        }
    }

    /// Adds the changes that another thread saw.
    pub(crate) fn add(&mut self, other: &ReplyChanges) {
        other.0.iter().for_each(|(kind, change)| self.add_one(kind, *change));
    }

    /// Returns the changes by their kinds.
    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &ReplyChange)> {
        self.0.iter().map(|(kind, change)| (kind.as_str(), change))
    }

    /// Returns a check per kind: it holds if the replies changed with time only.
    pub(crate) fn rows(&self) -> Vec<CheckedRow> {
        let row = |(kind, change): (&String, &ReplyChange)| {
            let holds = !change.is_mixed && !change.is_of_load;
            (format!("{REPLIES_OF}{kind}"), holds, change.found())
        };
        self.0.iter().map(row).collect()
    }
}

impl ReplyChange {
    fn joined(self, other: ReplyChange) -> ReplyChange {
        let (earlier, later) = match (self.at, other.at) {
            (Some(one), Some(two)) if two < one => (other, self),
            (None, Some(_)) => (other, self),
            _ => (self, other),
        };
        ReplyChange {
            n: earlier.n.saturating_add(later.n),
            is_mixed: earlier.is_mixed || later.is_mixed,
            is_of_load: earlier.is_of_load || later.is_of_load,
            ..earlier
        }
    }

    /// Says when the replies changed, and what differs.
    fn found(&self) -> String {
        let Some(at) = self.at else {
            let first = Bytes(self.first);
            return format!(
                "were identical under load ({first}), but differ at rest: the server answers differently under load"
            );
        };
        let lengths = if self.first == self.other {
            format!("{} as before, different bytes", Bytes(self.first))
        } else {
            format!("{}, {} before", Bytes(self.other), Bytes(self.first))
        };
        let n = self.n;
        let since = format!("differ from the first since {:.1} s ({lengths})", at.as_secs_f64());
        match (self.is_mixed, self.is_of_load) {
            (true, _) => format!(
                "{since}, but the first body came back: there are two versions at a time, and later differences are \
                 failures; {n} were \
                 taken for a change until then"
            ),
            (false, true) => {
                format!("{since}, but at rest they are as before: {n} of them changed with the load")
            }
            (false, false) => {
                format!("{since}; from then on only status, type and completeness are checked: {n} of them")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHANGE: ReplyChange = ReplyChange {
        at: Some(Nanos::from_millis(3240)),
        first: 37,
        other: 39,
        n: 200,
        is_mixed: false,
        is_of_load: false,
    };

    #[test]
    fn the_earliest_thread_says_when_and_all_are_counted() {
        let mut changes = ReplyChanges::default();
        changes.add_one("GET /a", ReplyChange { at: Some(Nanos::from_secs(4)), other: 50, n: 15, ..CHANGE });
        changes.add_one("GET /b", ReplyChange { at: None, is_of_load: true, n: 0, ..CHANGE });
        let mut other = ReplyChanges::default();
        other.add_one("GET /a", CHANGE);
        changes.add(&other);
        let rows: Vec<String> =
            changes.rows().iter().map(|(name, holds, found)| format!("{name} ({holds}) {found}")).collect();
        let expected = [
            "replies of GET /a (true) differ from the first since 3.2 s (39 B, 37 B before); from then on only \
             status, type and completeness are checked: 215 of them",
            "replies of GET /b (false) were identical under load (37 B), but differ at rest: the server answers \
             differently under load",
        ];
        assert_eq!(rows, expected);
    }

    #[test]
    fn what_came_with_the_load_does_not_hold() {
        for (is_mixed, is_of_load, holds) in
            [(false, false, true), (true, false, false), (false, true, false)]
        {
            let mut changes = ReplyChanges::default();
            changes.add_one("GET /a", ReplyChange { is_mixed, is_of_load, other: 37, ..CHANGE });
            let (_, found_holds, found) = changes.rows().remove(0);
            assert_eq!(found_holds, holds, "{found}");
        }
    }
}
