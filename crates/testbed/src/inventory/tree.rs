//! The files in which a machine tells about itself: the one place where the inventory reads.

use std::borrow::Cow;
use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};

use super::InventoryInput;
use super::offloads::{self, Offloads};

/// The most that is read of a file: a router's tables can be longer.
const FILE_BYTES_MAX: u64 = 8 << 20;

/// What was asked for, or why it is not known.
pub type Found = Result<String, Unread>;

/// Why something is not known.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unread {
    /// There is no such file.
    #[error("no such file")]
    Absent,
    /// This user may not read it.
    #[error("permission denied")]
    Denied,
    /// The file has nothing in it.
    #[error("empty")]
    Empty,
    /// Another reason, in words.
    #[error("{0}")]
    Because(Cow<'static, str>),
}

impl Unread {
    /// Makes a reason of words.
    pub fn because(why: &'static str) -> Unread {
        Unread::Because(Cow::Borrowed(why))
    }
}

impl From<io::Error> for Unread {
    fn from(error: io::Error) -> Unread {
        match error.kind() {
            ErrorKind::NotFound | ErrorKind::NotADirectory => Unread::Absent,
            ErrorKind::PermissionDenied => Unread::Denied,
            // What files of devices answer that have nothing to say.
            ErrorKind::InvalidInput | ErrorKind::Unsupported => Unread::because("the kernel does not tell"),
            _ => Unread::Because(format!("cannot be read: {error}").into()),
        }
    }
}

/// A machine's files below a root directory. Every text is read once.
#[derive(Debug)]
pub struct Tree<'a> {
    root: PathBuf,
    texts: RefCell<BTreeMap<String, Found>>,
    offloads: OnceCell<Result<BTreeMap<String, Offloads>, Unread>>,
    /// What else is asked of the machine.
    pub asked: &'a InventoryInput,
}

impl<'a> Tree<'a> {
    /// Returns the files of this machine.
    pub fn of_this_machine(asked: &'a InventoryInput) -> Tree<'a> {
        Tree::at(Path::new("/"), asked)
    }

    /// Returns the files below a directory that stands for a machine's root.
    pub fn at(root: &Path, asked: &'a InventoryInput) -> Tree<'a> {
        Tree { root: root.to_owned(), texts: RefCell::default(), offloads: OnceCell::new(), asked }
    }

    /// Returns the offloads of an interface: what no file tells.
    pub fn offloads(&self, interface: &str) -> Result<Offloads, Unread> {
        let of_all = self.offloads.get_or_init(|| match self.root == Path::new("/") {
            true => offloads::ask(),
            false => Err(Unread::because("only the machine's own kernel tells")),
        });
        let of_all = of_all.as_ref().map_err(Unread::clone)?;
        of_all.get(interface).cloned().ok_or(Unread::because("the driver does not tell"))
    }

    /// Returns a file's text without the white space at its ends. What is not UTF-8 is replaced.
    pub fn text(&self, path: impl AsRef<str>) -> Found {
        let path = path.as_ref();
        if let Some(known) = self.texts.borrow().get(path) {
            return known.clone();
        }
        let text = self.bytes(path).and_then(|bytes| {
            let text = String::from_utf8_lossy(&bytes);
            let text = text.trim_matches(|c: char| c.is_whitespace() || c == '\0');
            if text.is_empty() { Err(Unread::Empty) } else { Ok(text.to_owned()) }
        });
        self.texts.borrow_mut().insert(path.to_owned(), text.clone());
        text
    }

    /// Returns a file's bytes.
    pub fn bytes(&self, path: &str) -> Result<Vec<u8>, Unread> {
        let mut bytes = Vec::new();
        File::open(self.place(path))?.take(FILE_BYTES_MAX).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// Returns the number that a file holds.
    pub fn number(&self, path: impl AsRef<str>) -> Result<u64, Unread> {
        self.text(path)?.parse().map_err(|_| Unread::because("not a number"))
    }

    /// Returns the names in a directory, sorted; none if it cannot be read.
    pub fn names(&self, directory: &str) -> Vec<String> {
        let Ok(entries) = std::fs::read_dir(self.place(directory)) else { return Vec::new() };
        let names = entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
        let mut names: Vec<String> = names.collect();
        let stem = |name: &str| name.trim_end_matches(|c: char| c.is_ascii_digit()).to_owned();
        names.sort_by_cached_key(|name| (stem(name), name.len(), name.clone()));
        names
    }

    /// Returns whether there is such a file or directory.
    pub fn has(&self, path: &str) -> bool {
        self.place(path).exists()
    }

    /// Returns where a symbolic link leads, as it is written.
    pub fn link(&self, path: &str) -> Found {
        Ok(std::fs::read_link(self.place(path))?.to_string_lossy().into_owned())
    }

    /// Returns the last name of where a symbolic link leads: that of a driver.
    pub fn link_name(&self, path: &str) -> Found {
        let target = self.link(path)?;
        Ok(target.rsplit('/').next().unwrap_or(&target).to_owned())
    }

    fn place(&self, path: &str) -> PathBuf {
        self.root.join(path.trim_start_matches('/'))
    }
}

/// Returns the value after a key in a text of lines `key: value`, as `/proc/meminfo` is.
pub fn keyed<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    let fields = text.lines().filter_map(|line| line.split_once(':'));
    fields.into_iter().find(|(name, _)| name.trim() == key).map(|(_, value)| value.trim())
}

/// Joins texts by commas; `none` says why there are none.
pub fn joined<T: AsRef<str>>(texts: &[T], none: &'static str) -> Found {
    match texts {
        [] => Err(Unread::because(none)),
        texts => Ok(texts.iter().map(AsRef::as_ref).collect::<Vec<_>>().join(", ")),
    }
}

/// A machine made of files, for tests.
#[cfg(test)]
pub mod fake {
    use std::path::Path;

    use super::Tree;
    use crate::inventory::InventoryInput;

    /// Writes files below a directory; a text that begins with `→` makes a symbolic link.
    pub fn write(root: &Path, files: &[(&str, &str)]) {
        for (path, text) in files {
            let place = root.join(path.trim_start_matches('/'));
            std::fs::create_dir_all(place.parent().unwrap()).unwrap();
            match text.strip_prefix('→') {
                Some(target) => std::os::unix::fs::symlink(target, place).unwrap(),
                None => std::fs::write(place, text).unwrap(),
            }
        }
    }

    /// Looks at a machine of these files.
    pub fn with<T>(files: &[(&str, &str)], look: impl FnOnce(&Tree) -> T) -> T {
        with_asked(files, &InventoryInput::default(), look)
    }

    /// Looks at a machine of these files with something asked.
    pub fn with_asked<T>(files: &[(&str, &str)], asked: &InventoryInput, look: impl FnOnce(&Tree) -> T) -> T {
        let root = tempfile::tempdir().unwrap();
        write(root.path(), files);
        look(&Tree::at(root.path(), asked))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_read_says_why() {
        let files =
            [("/proc/x", " a b\0\n"), ("/proc/empty", "\n"), ("/proc/n", "17\n"), ("/sys/l", "→../b/c")];
        fake::with(&files, |tree| {
            assert_eq!(tree.text("/proc/x"), Ok("a b".into()));
            assert_eq!(tree.text("/proc/empty"), Err(Unread::Empty));
            assert_eq!(tree.text("/proc/y").unwrap_err().to_string(), "no such file");
            assert!(tree.text("/proc").unwrap_err().to_string().starts_with("cannot be read: "));
            assert_eq!((tree.number("/proc/n"), tree.number("/proc/x").is_err()), (Ok(17), true));
            assert_eq!(tree.link_name("/sys/l"), Ok("c".into()));
            assert_eq!(tree.link_name("/sys/m"), Err(Unread::Absent));
            assert_eq!(tree.names("/proc"), ["empty", "n", "x"]);
            assert!(tree.names("/nothing").is_empty() && tree.has("/proc/n"));
        });
    }

    #[test]
    fn names_with_numbers_are_in_the_order_of_their_numbers() {
        let files = [("/c/cpu10", ""), ("/c/cpu2", ""), ("/c/cpu1", ""), ("/c/boot", "")];
        fake::with(&files, |tree| assert_eq!(tree.names("/c"), ["boot", "cpu1", "cpu2", "cpu10"]));
    }

    #[test]
    fn keys_are_found_as_a_whole() {
        let text = "MemTotal:   16 kB\nflags\t\t: a b\n";
        assert_eq!(
            (keyed(text, "MemTotal"), keyed(text, "Mem"), keyed(text, "flags")),
            (Some("16 kB"), None, Some("a b"))
        );
    }
}
