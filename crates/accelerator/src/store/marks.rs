//! Marks of keys whose responses cannot be stored, in a table of fixed size.

use crate::policy::Mark;

/// How many marks one shard has room for: 12 KiB.
const MARKS: usize = 512;

/// Marks by the hash of their key; a new one takes the place of another with the same remainder.
///
/// Too few marks, or two keys with one hash, cost some waiting for another request, nothing else.
#[derive(Debug)]
pub(super) struct Marks(Box<[Option<(u64, Mark)>]>);

impl Marks {
    pub(super) fn new() -> Marks {
        Marks(vec![None; MARKS].into())
    }

    /// Returns the bytes of memory that the marks take.
    pub(super) fn bytes(&self) -> usize {
        size_of_val(&*self.0)
    }

    pub(super) fn set(&mut self, hash: u64, mark: Mark) {
        self.0[place(hash)] = Some((hash, mark));
    }

    pub(super) fn get(&self, hash: u64) -> Option<Mark> {
        self.0[place(hash)].filter(|(marked, _)| *marked == hash).map(|(_, mark)| mark)
    }

    pub(super) fn clear(&mut self, hash: u64) {
        if self.get(hash).is_some() {
            self.0[place(hash)] = None;
        }
    }
}

fn place(hash: u64) -> usize {
    (hash >> 16) as usize % MARKS
}

#[cfg(test)]
mod tests {
    use units::WallTime;

    use super::*;
    use crate::policy::NotStored;

    #[test]
    fn a_mark_is_for_its_key_until_it_is_cleared_or_another_takes_its_place() {
        let mark = |until| Mark { why: NotStored::NoStore, until: WallTime(until) };
        let mut marks = Marks::new();
        marks.set(1, mark(1));
        assert_eq!((marks.get(1), marks.get(2)), (Some(mark(1)), None));
        marks.set(2, mark(2));
        assert_eq!((marks.get(1), marks.get(2)), (None, Some(mark(2))));
        marks.clear(1);
        assert_eq!(marks.get(2), Some(mark(2)));
        marks.clear(2);
        assert_eq!(marks.get(2), None);
    }
}
