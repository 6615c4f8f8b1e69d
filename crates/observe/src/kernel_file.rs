//! Reading of small text files of the kernel.

use std::borrow::Cow;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// The usual maximum of one read from the kernel.
const PAGE_BYTES: usize = 4096;

/// Maximum size of a text: the counters of a thousand CPUs take a tenth of it.
const TEXT_BYTES_MAX: usize = 1 << 20;

/// Maximum size of a text of a few numbers.
const SHORT_BYTES_MAX: usize = 128;

/// Returns a file's text, trimmed; `None` if it cannot be read or is empty.
pub fn read(path: impl AsRef<Path>) -> Option<String> {
    let text = std::fs::read_to_string(path).ok()?;
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

/// A kernel file that stays open and is reread from its start, at half the cost of reopening it.
#[derive(Debug)]
pub struct KernelFile(File);

impl KernelFile {
    /// Opens the file.
    ///
    /// # Errors
    /// It does not exist, or this user may not read it.
    pub fn open(path: impl AsRef<Path>) -> io::Result<KernelFile> {
        File::open(path).map(KernelFile)
    }

    /// Returns the current text of the file; `None` if it cannot be read.
    pub fn text(&self) -> Option<String> {
        Some(self.text_in(&mut Vec::new())?.into_owned())
    }

    /// Returns the current text of a file of a few numbers, in one read; `None` if it cannot be read.
    pub(crate) fn short_text(&self) -> Option<String> {
        let mut buffer = [0; SHORT_BYTES_MAX];
        let length = self.0.read_at(&mut buffer, 0).ok()?;
        std::str::from_utf8(&buffer[..length]).ok().map(str::to_owned)
    }

    /// Returns the current text of the file, in a reusable buffer that only grows; `None` if it cannot be
    /// read. Truncated after a megabyte. Invalid UTF-8, which names may contain, is replaced.
    pub(crate) fn text_in<'a>(&self, buffer: &'a mut Vec<u8>) -> Option<Cow<'a, str>> {
        let mut length = 0;
        // The kernel often returns a page at a time, so only an empty read is the end.
        loop {
            if buffer.len() < length + PAGE_BYTES {
                buffer.resize(length + 4 * PAGE_BYTES, 0);
            }
            match self.0.read_at(&mut buffer[length..], length as u64).ok()? {
                0 => break,
                more => length += more,
            }
            if TEXT_BYTES_MAX <= length {
                break;
            }
        }
        Some(String::from_utf8_lossy(&buffer[..length]))
    }
}

/// Returns the number after `key` in lines `key number`.
pub fn keyed_number(text: &str, key: &str) -> Option<u64> {
    text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(' ')?.trim().parse().ok())
}

/// Returns the number after `key` in lines `key: number`.
pub(crate) fn keyed_after_colon(text: &str, key: &str) -> Option<u64> {
    text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(':')?.trim().parse().ok())
}

/// Returns the refaults (pages) in `/proc/vmstat` or in `memory.stat` of a control group, whose keys may have a prefix: one
/// line for file pages and one for others, or one for both before Linux 5.9. `None` if there is none of them.
pub(crate) fn refaults(text: &str, prefix: &str) -> Option<u64> {
    let number = |key: &str| keyed_number(text, &format!("{prefix}workingset_refault{key}"));
    ["", "_file", "_anon"].into_iter().filter_map(number).reduce(u64::saturating_add)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_keys_match() {
        let text = "nr_throttled 7\nthrottled_usec 1200\nthrottled 3\n";
        assert_eq!(keyed_number(text, "throttled"), Some(3));
        assert_eq!(keyed_number(text, "throttled_usec"), Some(1200));
        assert_eq!(keyed_number(text, "usec"), None);
    }

    /// By hand: 2 + 40 pages of the group, 999 with those below it.
    #[test]
    fn refaults_of_all_pages_are_one_number() {
        let text = "workingset_refault_anon 2\nworkingset_refault_file 40\nworkingset_activate_file 9\n\
                    total_workingset_refault_file 999\n";
        assert_eq!((refaults(text, ""), refaults(text, "total_")), (Some(42), Some(999)));
        assert_eq!(refaults("workingset_refault 6\nworkingset_activate 9\n", ""), Some(6));
        assert_eq!(refaults("pgpgin 7\n", ""), None);
    }

    #[test]
    fn an_open_file_is_reread_each_time() {
        let uptime = KernelFile::open("/proc/self/stat").unwrap();
        assert!(uptime.text().unwrap().starts_with(&std::process::id().to_string()));
        assert!(uptime.text().unwrap().starts_with(&std::process::id().to_string()));
    }

    #[test]
    fn a_long_file_is_read_completely_into_a_reused_buffer() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("long");
        std::fs::write(&path, "0123456789abcdef\n".repeat(10_000)).unwrap();
        let mut buffer = Vec::new();
        let long = KernelFile::open(&path).unwrap();
        assert_eq!(long.text_in(&mut buffer).unwrap().len(), 170_000);
        std::fs::write(&path, b"n\xe4me").unwrap();
        assert_eq!(long.text_in(&mut buffer).unwrap(), "n\u{fffd}me");
        std::fs::write(&path, "x".repeat(3 << 20)).unwrap();
        let length = long.text_in(&mut buffer).unwrap().len();
        assert!((TEXT_BYTES_MAX..TEXT_BYTES_MAX + (16 << 10)).contains(&length), "{length}");
    }
}
