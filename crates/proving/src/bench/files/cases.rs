//! The cases with their loads, and the bars of their comparisons.

use crate::bench::LOAD_CPU;
use crate::bench::figures::Bar;
use crate::bench::harness::Case;

/// The other programs.
pub(super) const DBENCH: &str = "dbench";
pub(super) const SMBTORTURE: &str = "smbtorture";
pub(super) const NFS3_CLIENT: &str = "nfs3_client";

/// Titles of the cases.
pub(super) const DIRECTORY: &str = "directory, nothing verified";
pub(super) const DIRECTORY_STAMPS: &str = "directory, stamps verified";
pub(super) const SAMBA: &str = "Samba, unsigned, nothing verified";
pub(super) const NFS_GETATTR: &str = "NFS 4.1, attributes of an open file";
pub(super) const NFS_READ: &str = "NFS 4.1, reads of 4 KiB, nothing verified";

/// The place of the files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::bench) enum FilePlace {
    /// A directory on a disk.
    Directory,
    /// A share of a server of Samba.
    Samba,
    /// An export of NFS-Ganesha, on which all calls are of one kind.
    Nfs(NfsCall),
}

/// A call of NFS.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::bench) enum NfsCall {
    /// The attributes of a file.
    GetAttr,
    /// 4 KiB of a file, at a random place.
    Read,
}

impl NfsCall {
    /// Returns the name by which the other client knows it.
    pub(super) fn name(self) -> &'static str {
        match self {
            NfsCall::GetAttr => "getattr",
            NfsCall::Read => "read",
        }
    }
}

impl FilePlace {
    /// Returns the other program that loads the place.
    pub(super) fn peer(self) -> &'static str {
        match self {
            FilePlace::Directory => DBENCH,
            FilePlace::Samba => SMBTORTURE,
            FilePlace::Nfs(_) => NFS3_CLIENT,
        }
    }

    /// Returns the CPUs of those who load it.
    pub(super) fn cpus(self) -> &'static str {
        match self {
            FilePlace::Directory => "0,1",
            FilePlace::Samba | FilePlace::Nfs(_) => LOAD_CPU,
        }
    }
}

/// A load on files.
#[derive(Debug)]
pub(in crate::bench) struct FileLoad {
    pub(super) place: FilePlace,
    /// The settings of Plimsoll's run, separated by spaces.
    pub(super) settings: &'static str,
}

/// All cases.
pub(super) const CASES: [Case<FileLoad>; 5] = [
    Case::new(&["directory"], DIRECTORY, load(FilePlace::Directory, "--set verify=off")),
    Case::new(&["directory"], DIRECTORY_STAMPS, load(FilePlace::Directory, "--set verify=stamp")),
    Case::new(&["samba"], SAMBA, load(FilePlace::Samba, "--set verify=off")),
    Case::new(&["nfs"], NFS_GETATTR, load(FilePlace::Nfs(NfsCall::GetAttr), "--set verify=off")),
    Case::new(&["nfs"], NFS_READ, load(FilePlace::Nfs(NfsCall::Read), "--set verify=off")),
];

const fn load(place: FilePlace, settings: &'static str) -> FileLoad {
    FileLoad { place, settings }
}

/// A comparison of CPU time: the case, the other program, and the maximum as a multiple of its time.
pub(super) type FileComparison = (&'static str, &'static str, Bar);

/// The comparisons of CPU time per operation.
pub(super) const COMPARISONS: [FileComparison; 3] = [
    (DIRECTORY, DBENCH, Bar::AtMost(1.1)),
    (DIRECTORY_STAMPS, DBENCH, Bar::AtMost(1.3)),
    (SAMBA, SMBTORTURE, Bar::AtMost(0.5)),
];

/// The comparisons of the CPU time of load threads per call.
pub(super) const CALL_COMPARISONS: [FileComparison; 2] =
    [(NFS_GETATTR, NFS3_CLIENT, Bar::AtMost(1.0)), (NFS_READ, NFS3_CLIENT, Bar::AtMost(1.0))];

/// The case in which throughput is compared with that of another program on the same directory, and the part of it that
/// Plimsoll must reach.
pub(super) const THROUGHPUT: FileComparison = (DIRECTORY, DBENCH, Bar::AtLeast(0.9));
