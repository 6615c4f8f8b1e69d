//! Reading the small text files in which the kernel tells about itself.

use std::borrow::Cow;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// What the kernel hands over at a time, mostly.
const PAGE_BYTES: usize = 4096;

/// The longest text that is read: the counters of a thousand CPUs take a tenth of it.
const TEXT_BYTES_MAX: usize = 1 << 20;

/// Returns a file's text without the white space at its ends; `None` if it cannot be read or is empty.
pub fn read(path: impl AsRef<Path>) -> Option<String> {
    let text = std::fs::read_to_string(path).ok()?;
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

/// A kernel file that stays open and is read again from its start: half the price of opening it each time.
#[derive(Debug)]
pub struct Reread(File);

impl Reread {
    /// Opens the file.
    pub fn open(path: impl AsRef<Path>) -> io::Result<Reread> {
        File::open(path).map(Reread)
    }

    /// Returns the file's text as it is now; `None` if it cannot be read.
    pub fn text(&self) -> Option<String> {
        Some(self.text_in(&mut Vec::new())?.into_owned())
    }

    /// Returns the file's text as it is now, in a buffer that serves for many readings and only ever grows; `None` if
    /// it cannot be read. Ends after a megabyte. What is not UTF-8, as names can be, is replaced.
    pub fn text_in<'a>(&self, buffer: &'a mut Vec<u8>) -> Option<Cow<'a, str>> {
        let mut length = 0;
        // The kernel often hands over a page at a time: the end is where nothing more comes.
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

/// Returns the number after `key` in a text of lines `key number`.
pub fn keyed_number(text: &str, key: &str) -> Option<u64> {
    text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(' ')?.trim().parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_found_only_as_a_whole() {
        let text = "nr_throttled 7\nthrottled_usec 1200\nthrottled 3\n";
        assert_eq!(keyed_number(text, "throttled"), Some(3));
        assert_eq!(keyed_number(text, "throttled_usec"), Some(1200));
        assert_eq!(keyed_number(text, "usec"), None);
    }

    #[test]
    fn an_open_file_is_read_anew_each_time() {
        let uptime = Reread::open("/proc/self/stat").unwrap();
        assert!(uptime.text().unwrap().starts_with(&std::process::id().to_string()));
        assert!(uptime.text().unwrap().starts_with(&std::process::id().to_string()));
    }

    #[test]
    fn a_long_file_is_read_to_its_end_into_a_buffer_that_stays() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("long");
        std::fs::write(&path, "0123456789abcdef\n".repeat(10_000)).unwrap();
        let mut buffer = Vec::new();
        let long = Reread::open(&path).unwrap();
        assert_eq!(long.text_in(&mut buffer).unwrap().len(), 170_000);
        std::fs::write(&path, b"n\xe4me").unwrap();
        assert_eq!(long.text_in(&mut buffer).unwrap(), "n\u{fffd}me");
        std::fs::write(&path, "x".repeat(3 << 20)).unwrap();
        let length = long.text_in(&mut buffer).unwrap().len();
        assert!((TEXT_BYTES_MAX..TEXT_BYTES_MAX + (16 << 10)).contains(&length), "{length}");
    }
}
