//! The handles of folders, which clients of a load thread look up once, as those of an operating system do.

use std::cell::RefCell;
use std::collections::HashMap;

use super::client::NfsClient;
use super::failure::NfsFailure;
use super::xdr::FileHandle;
use crate::file::frame_buffer::BufferPool;

/// The most folders that are known.
const FOLDERS_MAX: usize = 1 << 16;

/// The known handles, by the paths of their folders below that of the run.
#[derive(Debug, Default)]
pub(super) struct FolderHandles {
    known: HashMap<String, FileHandle>,
}

impl FolderHandles {
    /// Returns the handle of a folder; `None` if it is to be looked up.
    pub(super) fn get(&self, path: &str) -> Option<FileHandle> {
        self.known.get(path).copied()
    }

    fn insert(&mut self, path: &str, handle: FileHandle) {
        if self.known.len() == FOLDERS_MAX {
            self.known.clear();
        }
        self.known.insert(path.to_owned(), handle);
    }

    /// Forgets a folder and those in it, which are no longer at this path.
    pub(super) fn forget(&mut self, path: &str) {
        if path == "." {
            self.known.clear();
            return;
        }
        let is_within = |known: &str| {
            known.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        self.known.retain(|known, _| !is_within(known));
    }
}

/// Looks up a folder below a root, part by part; each that is found is known from then on.
///
/// # Errors
/// There is no such folder, or the session ended.
pub(super) async fn look_up(
    client: &mut NfsClient,
    root: &FileHandle,
    path: &str,
    folders: &RefCell<FolderHandles>,
    pool: &BufferPool,
) -> Result<FileHandle, NfsFailure> {
    if path == "." {
        return Ok(*root);
    }
    let ends = path.match_indices('/').map(|(at, _)| at).chain([path.len()]);
    let mut handle = *root;
    let mut begin = 0;
    for end in ends {
        let known = folders.borrow().get(&path[..end]);
        handle = match known {
            Some(known) => known,
            None => {
                let found = client.lookup((&handle, &path[begin..end]), pool).await?.file.handle;
                folders.borrow_mut().insert(&path[..end], found);
                found
            }
        };
        begin = end + 1;
    }
    Ok(handle)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_forgotten_with_those_in_them() {
        let handle = FileHandle::new(&[1]).unwrap();
        let mut folders = FolderHandles::default();
        for path in ["a", "a/b", "a/b/c", "ab", "a/bc"] {
            folders.insert(path, handle);
        }
        folders.forget("a/b");
        let known = ["a", "a/b", "a/b/c", "ab", "a/bc"].map(|path| folders.get(path).is_some());
        assert_eq!(known, [true, false, false, true, true]);
        folders.forget(".");
        assert!(folders.known.is_empty());
    }
}
