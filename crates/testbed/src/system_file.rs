//! Reading the small text files in which the kernel tells about itself.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

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
    ///
    /// Reads 2 KiB at most: the files that are read every second are far shorter.
    pub fn text(&self) -> Option<String> {
        let mut buffer = [0; 2048];
        let length = self.0.read_at(&mut buffer, 0).ok()?;
        String::from_utf8(buffer[..length].to_vec()).ok()
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
}
