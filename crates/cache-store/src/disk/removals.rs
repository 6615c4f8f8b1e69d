//! The log of removals, which must survive a restart of the process.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::codec::{Decoder, Encoder};
use crate::pattern::Pattern;
use crate::purge::Purge;

/// The name of the file, and of its replacement while it is written.
const NAMES: [&str; 2] = ["removals.log", "removals.new"];

/// The growth of the log that triggers a rewrite, beside doubling; in bytes.
const GROWTH_BYTES: u64 = 1 << 20;

/// The removals, each with its sequence number.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct RemovalList(Vec<(u64, Purge)>);

impl RemovalList {
    /// Reads a log; a torn end does not count. Returns the length of the intact part, in bytes.
    fn read(bytes: &[u8]) -> (RemovalList, usize) {
        let mut removed = Vec::new();
        let mut end = 0;
        while let Some((one, length)) = decode(&bytes[end..]) {
            removed.push(one);
            end += length;
        }
        (RemovalList(removed), end)
    }

    /// Returns the highest sequence number.
    pub(super) fn sequence_max(&self) -> u64 {
        self.0.iter().map(|(sequence, _)| *sequence).max().unwrap_or(0)
    }

    /// Indexes the removals, so that many objects can be compared with them.
    pub(super) fn filter(&self) -> RemovalFilter<'_> {
        let mut filter = RemovalFilter::default();
        for (sequence, what) in &self.0 {
            let known = match what {
                Purge::Key(key) => filter.keys.entry(key).or_default(),
                Purge::Tag(tag) => filter.tags.entry(tag).or_default(),
                _ => {
                    filter.others.push((*sequence, what));
                    continue;
                }
            };
            *known = (*known).max(*sequence);
        }
        filter
    }

    /// Leaves out removals older than every record, and of equal removals all but the last.
    fn compact(&self, sequence_min: u64) -> Vec<(u64, &Purge)> {
        let mut last: HashMap<Vec<u8>, (u64, &Purge)> = HashMap::new();
        for (sequence, what) in self.0.iter().filter(|(sequence, _)| sequence_min < *sequence) {
            let known = last.entry(encode(0, what)).or_insert((*sequence, what));
            known.0 = known.0.max(*sequence);
        }
        let mut kept: Vec<_> = last.into_values().collect();
        kept.sort_unstable_by_key(|(sequence, _)| *sequence);
        kept
    }
}

/// A filter for removed objects.
#[derive(Debug, Default)]
pub(super) struct RemovalFilter<'a> {
    keys: HashMap<&'a str, u64>,
    tags: HashMap<&'a str, u64>,
    others: Vec<(u64, &'a Purge)>,
}

impl RemovalFilter<'_> {
    /// Returns whether an object with this sequence number has been removed.
    pub(super) fn is_removed(&self, sequence: u64, key: &str, tags: &[Box<str>]) -> bool {
        let is_older = |number: Option<&u64>| number.is_some_and(|number| sequence < *number);
        let is_meant = |(number, what): &(u64, &Purge)| sequence < *number && what.matches_parts(key, tags);
        is_older(self.keys.get(key))
            || tags.iter().any(|tag| is_older(self.tags.get(&**tag)))
            || self.others.iter().any(is_meant)
    }
}

/// The file of the log.
#[derive(Debug)]
pub(super) struct RemovalLog {
    directory: PathBuf,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    file: File,
    length: u64,
    /// The length at which it is rewritten.
    length_max: u64,
}

impl RemovalLog {
    /// Opens or creates the log; returns its removals.
    pub(super) fn open(directory: &Path) -> io::Result<(RemovalLog, RemovalList)> {
        let path = directory.join(NAMES[0]);
        let file = OpenOptions::new().read(true).append(true).create(true).open(&path)?;
        let (removed, length) = RemovalList::read(&std::fs::read(&path)?);
        file.set_len(length as u64)?;
        let state = State { file, length: length as u64, length_max: 2 * length as u64 + GROWTH_BYTES };
        Ok((RemovalLog { directory: directory.to_owned(), state: Mutex::new(state) }, removed))
    }

    /// Appends a removal. Returns whether the log should be rewritten.
    pub(super) fn append(&self, sequence: u64, what: &Purge) -> io::Result<bool> {
        let bytes = encode(sequence, what);
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let Err(error) = state.file.write_all(&bytes) {
            // A partial entry would hide all that comes after.
            let length = state.length;
            state.file.set_len(length)?;
            return Err(error);
        }
        state.length += bytes.len() as u64;
        Ok(state.length_max < state.length)
    }

    /// Rewrites the log, without removals older than every record.
    pub(super) fn compact(&self, sequence_min: u64) -> io::Result<()> {
        let [path, new] = NAMES.map(|name| self.directory.join(name));
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let (removed, _) = RemovalList::read(&std::fs::read(&path)?);
        let kept = removed.compact(sequence_min);
        let bytes: Vec<u8> = kept.iter().flat_map(|(sequence, what)| encode(*sequence, what)).collect();
        std::fs::write(&new, &bytes)?;
        let file = OpenOptions::new().append(true).open(&new)?;
        std::fs::rename(&new, &path)?;
        let length = bytes.len() as u64;
        *state = State { file, length, length_max: 2 * length + GROWTH_BYTES };
        Ok(())
    }

    /// Returns the length of the file in bytes.
    pub(super) fn length(&self) -> u64 {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).length
    }
}

/// Encodes one removal: a length, a checksum, sequence number, kind and text.
fn encode(sequence: u64, what: &Purge) -> Vec<u8> {
    let (kind, text) = match what {
        Purge::Key(key) => (0, key.as_str()),
        Purge::Prefix(prefix) => (1, prefix.as_str()),
        Purge::Pattern(pattern) => (2, pattern.as_str()),
        Purge::Tag(tag) => (3, tag.as_str()),
        Purge::All => (4, ""),
    };
    let mut content = Encoder::default();
    content.u64(sequence);
    content.u8(kind);
    content.text(text.as_bytes());
    let content = content.finish();
    let mut whole = Encoder::default();
    whole.raw(&sum(&content));
    whole.text(&content);
    whole.finish()
}

/// Reads one removal from the start, and returns its length with it; `None` if it is not complete.
fn decode(bytes: &[u8]) -> Option<((u64, Purge), usize)> {
    let mut whole = Decoder::new(bytes);
    let found = whole.array::<8>()?;
    let content = whole.text()?;
    if found != sum(content) {
        return None;
    }
    let mut from = Decoder::new(content);
    let sequence = from.sequence()?;
    let kind = from.u8()?;
    let text = from.str()?;
    let what = match kind {
        0 => Purge::Key(text.to_owned()),
        1 => Purge::Prefix(text.to_owned()),
        2 => Purge::Pattern(Pattern::new(text)),
        3 => Purge::Tag(text.to_owned()),
        4 => Purge::All,
        _ => return None,
    };
    Some(((sequence, what), 8 + 4 + content.len()))
}

fn sum(content: &[u8]) -> [u8; 8] {
    let hash = blake3::hash(content);
    std::array::from_fn(|at| hash.as_bytes()[at])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn some() -> Vec<(u64, Purge)> {
        vec![
            (1, Purge::Key("a".into())),
            (2, Purge::Prefix("b".into())),
            (3, Purge::Pattern(Pattern::new("*c"))),
            (4, Purge::Tag("d".into())),
            (5, Purge::Key("a".into())),
            (6, Purge::All),
        ]
    }

    fn log_of(removals: &[(u64, Purge)]) -> (tempfile::TempDir, RemovalLog) {
        let directory = tempfile::tempdir().unwrap();
        let (log, removed) = RemovalLog::open(directory.path()).unwrap();
        assert_eq!(removed, RemovalList::default());
        removals.iter().for_each(|(sequence, what)| assert!(!log.append(*sequence, what).unwrap()));
        (directory, log)
    }

    #[test]
    fn a_removal_log_round_trips() {
        let (directory, log) = log_of(&some());
        drop(log);
        let (_, removed) = RemovalLog::open(directory.path()).unwrap();
        assert_eq!((removed.0.clone(), removed.sequence_max()), (some(), 6));
    }

    #[test]
    fn a_truncated_log_keeps_complete_entries_and_continues() {
        let (directory, log) = log_of(&some());
        drop(log);
        let path = directory.path().join(NAMES[0]);
        let whole = std::fs::read(&path).unwrap();
        for end in 0..whole.len() {
            std::fs::write(&path, &whole[..end]).unwrap();
            let (log, removed) = RemovalLog::open(directory.path()).unwrap();
            let n = removed.0.len();
            assert_eq!(removed.0, some()[..n], "{end}");
            log.append(9, &Purge::All).unwrap();
            let (_, removed) = RemovalLog::open(directory.path()).unwrap();
            assert_eq!((removed.0.len(), removed.sequence_max()), (n + 1, 9), "{end}");
        }
    }

    #[test]
    fn a_rewritten_log_keeps_valid_entries_and_continues() {
        let (directory, log) = log_of(&some());
        log.compact(1).unwrap();
        log.append(7, &Purge::Key("e".into())).unwrap();
        let (_, removed) = RemovalLog::open(directory.path()).unwrap();
        let mut expected = some()[1..].to_vec();
        expected.push((7, Purge::Key("e".into())));
        assert_eq!(removed.0, expected);
    }

    #[test]
    fn a_growing_log_asks_to_be_rewritten() {
        let (_directory, log) = log_of(&[]);
        let long = "x".repeat(1 << 16);
        let asked = (0..100).position(|number| log.append(number, &Purge::Key(long.clone())).unwrap());
        assert_eq!(asked, Some(15));
        log.compact(0).unwrap();
        assert!(!log.append(100, &Purge::Key(long)).unwrap());
    }

    #[test]
    fn a_removal_matches_older_records() {
        let removed = RemovalList(vec![
            (5, Purge::Key("a".into())),
            (3, Purge::Key("a".into())),
            (4, Purge::Tag("t".into())),
        ]);
        let filter = removed.filter();
        assert!(
            filter.is_removed(4, "a", &[])
                && !filter.is_removed(5, "a", &[])
                && !filter.is_removed(4, "b", &[])
        );
        assert!(filter.is_removed(3, "b", &["t".into()]) && !filter.is_removed(4, "b", &["t".into()]));
    }
}
