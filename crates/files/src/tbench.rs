//! The sizes of messages that carry operations, as tbench has them: traffic of a file server without files.
//!
//! Source: dbench, `sockio.c`; L is the length of a path in bytes.

use crate::{FileAction, FileOperation, FilePath};

/// The sizes of a request and its reply, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MessageSizes {
    /// The size of the request.
    pub request: u64,
    /// The size of the reply.
    pub reply: u64,
}

impl MessageSizes {
    /// Returns the sizes of an operation; `None` of the removal of a folder with all that is in it, which has no
    /// message.
    pub fn of(operation: &FileOperation, path_bytes: impl Fn(FilePath) -> u64) -> Option<MessageSizes> {
        let sizes = |request, reply| Some(MessageSizes { request, reply });
        match operation.action {
            FileAction::Open(_, path)
            | FileAction::Create(_, path, _)
            | FileAction::CreateFolder(_, path) => sizes(72 + 2 * path_bytes(path) + 2, 87),
            FileAction::Close(_) => sizes(47, 39),
            FileAction::Read(_, range) => sizes(59, 59 + range.length),
            FileAction::Write(_, range) => sizes(59 + range.length, 55),
            FileAction::Flush(_) => sizes(41, 39),
            FileAction::PathQuery(path, _) => sizes(55 + 2 * path_bytes(path), 71),
            FileAction::FileQuery(..) | FileAction::VolumeQuery(_) => sizes(59, 71),
            FileAction::Set(..) => sizes(71, 47),
            FileAction::Find(pattern, size) => {
                sizes(59 + 2 * path_bytes(pattern), 39 + 90 * u64::from(size.found.unwrap_or(0)))
            }
            FileAction::Rename(from, to) => sizes(47 + 2 * path_bytes(from) + 2 * path_bytes(to), 39),
            FileAction::Unlink(path) | FileAction::MakeFolder(path) | FileAction::RemoveFolder(path) => {
                sizes(41 + 2 * path_bytes(path) + 2, 39)
            }
            FileAction::Lock(..) | FileAction::Unlock(..) => sizes(51, 39),
            FileAction::RemoveTree(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ExistingFile, FileRange, FindSize, Handle, InfoLevel, Owner};

    /// Golden check 15: close 47 and 39 bytes; a write of 64 KiB 65,595 and 55; a read of 4 KiB 59 and 4,155. The
    /// others by the table, with paths of 10 bytes.
    #[test]
    fn messages_have_the_sizes_of_the_table() {
        let path = FilePath::root(Owner::Shared);
        let handle = Handle(0);
        let range = |length| FileRange { offset: 0, length };
        let table = [
            (FileAction::Close(handle), 47, 39),
            (FileAction::Write(handle, range(65_536)), 65_595, 55),
            (FileAction::Read(handle, range(4096)), 59, 4155),
            (FileAction::Open(handle, path), 94, 87),
            (FileAction::Create(handle, path, ExistingFile::Keep), 94, 87),
            (FileAction::Unlink(path), 63, 39),
            (FileAction::Rename(path, path), 87, 39),
            (FileAction::PathQuery(path, InfoLevel::BASIC), 75, 71),
            (FileAction::VolumeQuery(InfoLevel::VOLUME_SIZE), 59, 71),
            (FileAction::Set(handle, InfoLevel::BASIC), 71, 47),
            (FileAction::Find(path, FindSize { wanted: 1366, found: Some(11) }), 79, 1029),
            (FileAction::Flush(handle), 41, 39),
            (FileAction::Lock(handle, range(1)), 51, 39),
        ];
        for (action, request, reply) in table {
            let sizes = MessageSizes::of(&FileOperation::of(action), |_| 10);
            assert_eq!(sizes, Some(MessageSizes { request, reply }), "{action}");
        }
        assert_eq!(MessageSizes::of(&FileOperation::of(FileAction::RemoveTree(path)), |_| 10), None);
    }
}
