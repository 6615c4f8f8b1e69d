//! The files through which a machine describes itself: the only place where the inventory reads.

use std::borrow::Cow;
use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};

use super::InventoryInput;
use super::offloads::{self, Offloads};

/// The maximum size of a file: a router's tables can be long.
const FILE_BYTES_MAX: u64 = 8 << 20;

/// The value of a field, or the reason why it is unavailable.
pub(super) type FieldValue = Result<String, Unavailable>;

/// The reason why a value is unavailable.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unavailable {
    /// The file does not exist.
    #[error("no such file")]
    Absent,
    /// This user may not read it.
    #[error("permission denied")]
    Denied,
    /// The file is empty.
    #[error("empty")]
    Empty,
    /// Another reason, as text.
    #[error("{0}")]
    Because(Cow<'static, str>),
}

impl Unavailable {
    /// Creates a reason from a text.
    pub(crate) fn because(why: &'static str) -> Unavailable {
        Unavailable::Because(Cow::Borrowed(why))
    }
}

impl From<io::Error> for Unavailable {
    fn from(error: io::Error) -> Unavailable {
        match error.kind() {
            ErrorKind::NotFound | ErrorKind::NotADirectory => Unavailable::Absent,
            ErrorKind::PermissionDenied => Unavailable::Denied,
            // Errors of device files that have no value.
            ErrorKind::InvalidInput | ErrorKind::Unsupported => {
                Unavailable::because("not reported by the kernel")
            }
            _ => Unavailable::Because(format!("cannot be read: {error}").into()),
        }
    }
}

/// A machine's files below a root directory. Every text file is read once.
#[derive(Debug)]
pub struct MachineFiles<'a> {
    root: PathBuf,
    texts: RefCell<BTreeMap<String, FieldValue>>,
    offloads: OnceCell<Result<BTreeMap<String, Offloads>, Unavailable>>,
    /// The other inputs of the inventory.
    pub input: &'a InventoryInput,
}

impl<'a> MachineFiles<'a> {
    /// Returns the files of this machine.
    pub(crate) fn of_this_machine(input: &'a InventoryInput) -> MachineFiles<'a> {
        MachineFiles::at(Path::new("/"), input)
    }

    /// Returns the files below a directory that stands in for a machine's root.
    pub fn at(root: &Path, input: &'a InventoryInput) -> MachineFiles<'a> {
        MachineFiles { root: root.to_owned(), texts: RefCell::default(), offloads: OnceCell::new(), input }
    }

    /// Returns the offloads of an interface, which no file contains.
    pub(crate) fn offloads(&self, interface: &str) -> Result<Offloads, Unavailable> {
        let of_all = self.offloads.get_or_init(|| {
            if self.root == Path::new("/") {
                offloads::ask()
            } else {
                Err(Unavailable::because("available only from the machine's own kernel"))
            }
        });
        let of_all = of_all.as_ref().map_err(Unavailable::clone)?;
        of_all.get(interface).cloned().ok_or(Unavailable::because("not reported by the driver"))
    }

    /// Returns the text of a file, trimmed. Invalid UTF-8 is replaced.
    pub fn text(&self, path: impl AsRef<str>) -> FieldValue {
        let path = path.as_ref();
        if let Some(known) = self.texts.borrow().get(path) {
            return known.clone();
        }
        let text = self.bytes(path).and_then(|bytes| {
            let text = String::from_utf8_lossy(&bytes);
            let text = text.trim_matches(|c: char| c.is_whitespace() || c == '\0');
            if text.is_empty() { Err(Unavailable::Empty) } else { Ok(text.to_owned()) }
        });
        self.texts.borrow_mut().insert(path.to_owned(), text.clone());
        text
    }

    /// Returns the bytes of a file.
    pub fn bytes(&self, path: &str) -> Result<Vec<u8>, Unavailable> {
        let mut bytes = Vec::new();
        File::open(self.place(path))?.take(FILE_BYTES_MAX).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// Returns the number in a file.
    pub fn number(&self, path: impl AsRef<str>) -> Result<u64, Unavailable> {
        self.text(path)?.parse().map_err(|_| Unavailable::because("not a number"))
    }

    /// Returns the names in a directory, sorted; empty if it cannot be read.
    pub fn names(&self, directory: &str) -> Vec<String> {
        let Ok(entries) = std::fs::read_dir(self.place(directory)) else { return Vec::new() };
        let names = entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
        let mut names: Vec<String> = names.collect();
        let stem = |name: &str| name.trim_end_matches(|c: char| c.is_ascii_digit()).to_owned();
        names.sort_by_cached_key(|name| (stem(name), name.len(), name.clone()));
        names
    }

    /// Returns whether a file or directory exists.
    pub fn has(&self, path: &str) -> bool {
        self.place(path).exists()
    }

    /// Returns the target of a symbolic link, as written.
    pub fn link(&self, path: &str) -> FieldValue {
        Ok(std::fs::read_link(self.place(path))?.to_string_lossy().into_owned())
    }

    /// Returns the last component of a symbolic link's target, such as the name of a driver.
    pub(crate) fn link_name(&self, path: &str) -> FieldValue {
        let target = self.link(path)?;
        Ok(target.rsplit('/').next().unwrap_or(&target).to_owned())
    }

    fn place(&self, path: &str) -> PathBuf {
        self.root.join(path.trim_start_matches('/'))
    }
}

/// Returns the value after a key in lines `key: value`, as in `/proc/meminfo`.
pub(super) fn keyed<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    let fields = text.lines().filter_map(|line| line.split_once(':'));
    fields.into_iter().find(|(name, _)| name.trim() == key).map(|(_, value)| value.trim())
}

/// Joins texts by commas; `none` is the reason if there are none.
pub(super) fn joined<T: AsRef<str>>(texts: &[T], none: &'static str) -> FieldValue {
    match texts {
        [] => Err(Unavailable::because(none)),
        texts => Ok(texts.iter().map(AsRef::as_ref).collect::<Vec<_>>().join(", ")),
    }
}

/// Machines made of files, for tests.
#[cfg(test)]
pub(super) mod testing {
    use std::path::Path;

    use super::MachineFiles;
    use crate::inventory::InventoryInput;

    /// Writes files below a directory; a text that begins with `→` creates a symbolic link.
    pub(crate) fn write(root: &Path, files: &[(&str, &str)]) {
        for (path, text) in files {
            let place = root.join(path.trim_start_matches('/'));
            std::fs::create_dir_all(place.parent().unwrap()).unwrap();
            match text.strip_prefix('→') {
                Some(target) => std::os::unix::fs::symlink(target, place).unwrap(),
                None => std::fs::write(place, text).unwrap(),
            }
        }
    }

    /// Examines a machine with these files.
    pub(crate) fn with<T>(files: &[(&str, &str)], look: impl FnOnce(&MachineFiles) -> T) -> T {
        with_asked(files, &InventoryInput::default(), look)
    }

    /// Examines a machine with these files and other inputs.
    pub(crate) fn with_asked<T>(
        files: &[(&str, &str)],
        input: &InventoryInput,
        look: impl FnOnce(&MachineFiles) -> T,
    ) -> T {
        let root = tempfile::tempdir().unwrap();
        write(root.path(), files);
        look(&MachineFiles::at(root.path(), input))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unreadable_files_have_a_reason() {
        let files =
            [("/proc/x", " a b\0\n"), ("/proc/empty", "\n"), ("/proc/n", "17\n"), ("/sys/l", "→../b/c")];
        testing::with(&files, |files| {
            assert_eq!(files.text("/proc/x"), Ok("a b".into()));
            assert_eq!(files.text("/proc/empty"), Err(Unavailable::Empty));
            assert_eq!(files.text("/proc/y").unwrap_err().to_string(), "no such file");
            assert!(files.text("/proc").unwrap_err().to_string().starts_with("cannot be read: "));
            assert_eq!((files.number("/proc/n"), files.number("/proc/x").is_err()), (Ok(17), true));
            assert_eq!(files.link_name("/sys/l"), Ok("c".into()));
            assert_eq!(files.link_name("/sys/m"), Err(Unavailable::Absent));
            assert_eq!(files.names("/proc"), ["empty", "n", "x"]);
            assert!(files.names("/nothing").is_empty() && files.has("/proc/n"));
        });
    }

    #[test]
    fn names_are_sorted_numerically() {
        let files = [("/c/cpu10", ""), ("/c/cpu2", ""), ("/c/cpu1", ""), ("/c/boot", "")];
        testing::with(&files, |files| assert_eq!(files.names("/c"), ["boot", "cpu1", "cpu2", "cpu10"]));
    }

    #[test]
    fn only_whole_keys_match() {
        let text = "MemTotal:   16 kB\nflags\t\t: a b\n";
        assert_eq!(
            (keyed(text, "MemTotal"), keyed(text, "Mem"), keyed(text, "flags")),
            (Some("16 kB"), None, Some("a b"))
        );
    }
}
