//! File-server workloads: operations of clients that open, read, write, search, rename and delete files.
//!
//! The operations, their order and the files are in [`files`]; here is what a run counts of them.

use files::{
    DiskMix, FileKind, FileOperation, FilePopulation, MicroSettings, MicroTest, PadUse, SEARCHED_ENTRIES,
    StreamDirection, StreamFiles, StreamShape, StreamShapeError, Verify, Workspace, WorkspaceError,
};
use languages::names;
use serde::{Deserialize, Serialize};
use thiserror::Error;
use units::{Bytes, Ratio};

use super::family_workload::{FamilyWorkload, SESSIONS_MAX};
use super::file_capture::FileCapture;
use super::nfs_codes::{NFS_VIOLATIONS, NFS3_STATUSES, NFS4_STATUSES};
use crate::{
    Catalog, CodeName, Family, HasKind, Measure, MeasureUnit, Noun, OperationKind, Outcome, PauseKind,
    PauseStart, Score, ThinkTime, Words,
};

/// The measures of a file operation besides its response time, by their indexes in the catalog.
pub mod file_measure {
    /// The bytes read from files.
    pub const READ_BYTES: usize = 0;
    /// The bytes written to files.
    pub const WRITTEN_BYTES: usize = 1;
    /// The requests to the server, or the calls to the kernel, that it took.
    pub const EXCHANGES: usize = 2;
    /// The time from when the opening of a stream was sent until its first bytes had been read; of the read that brought them.
    /// Only where streams are read.
    pub const FIRST_DATA: usize = 3;
}

/// The pauses of clients that replay a captured mix, by their indexes in the catalog.
pub mod file_pause {
    /// A pause of a recorded length.
    pub const RECORDED: u16 = 0;
    /// The time from one operation to the next, as recorded.
    pub const BETWEEN: u16 = 1;
}

/// The kind is the operation's place in [`files::FileKind::ALL`].
impl HasKind for FileOperation {
    fn kind(&self) -> u16 {
        FileOperation::kind(self).index() as u16
    }
}

/// The seed of the content of files before load: a constant of the benchmarks' versions, so that files that an earlier
/// run has made are those of a run with another seed.
const CONTENT_SEED: u64 = 1;

/// The part of a block of content that can be compressed, in percent.
pub const COMPRESSIBLE_PERCENT: u8 = 50;

/// The kinds of operations that occur without a captured mix: all but the last three.
const N_KINDS: usize = FileKind::Unlock as usize + 1;

/// The operations of a cycle of the Disk Mix by kind, without those that lock a shared file: from the numbers of the
/// specification's transactions; of reads and writes the means of their distributions.
const CYCLE: [(FileKind, f64); N_KINDS] = [
    (FileKind::Open, 327.0),
    (FileKind::OpenMissing, 163.0),
    (FileKind::Create, 124.0),
    (FileKind::Close, 451.0),
    (FileKind::Read, 971.3),
    (FileKind::Write, 295.5),
    (FileKind::Flush, 43.0),
    (FileKind::PathHit, 368.0),
    (FileKind::PathMiss, 189.0),
    (FileKind::FileQuery, 97.0),
    (FileKind::Set, 50.0),
    (FileKind::VolumeQuery, 102.0),
    (FileKind::FindHit, 104.0),
    (FileKind::FindMiss, 111.0),
    (FileKind::Rename, 26.0),
    (FileKind::Unlink, 124.0),
    (FileKind::Lock, 2.0),
    (FileKind::Unlock, 2.0),
];

/// The updates of a cycle that lock their file only if it is shared.
const UPDATES_WITHOUT_LOCK: f64 = 43.0;

/// The most bytes of the files that a client of the Disk Mix creates and deletes, beside its workspace: those of a cycle
/// have some 3 MB together.
const CREATED_BYTES_MAX: u64 = 8 << 20;

/// The outcomes of operations that failed.
const OUTCOMES: [Outcome; 17] = [
    Outcome::Reset,
    Outcome::Unreachable,
    Outcome::TimedOut,
    Outcome::WrongStatus,
    Outcome::Truncated,
    Outcome::WrongLength,
    Outcome::WrongBytes,
    Outcome::NoDescriptor,
    Outcome::Forbidden,
    Outcome::Busy,
    Outcome::SessionLost,
    Outcome::Denied,
    Outcome::Inconsistent,
    Outcome::Conflict,
    Outcome::Gone,
    Outcome::Full,
    Outcome::ReadOnly,
];

/// The outcomes that failed operations can have besides where clients reach their files over a network by a driver of ours.
const OUTCOMES_OF_MESSAGES: [Outcome; 6] = [
    Outcome::Refused,
    Outcome::NoLocalPort,
    Outcome::MalformedHead,
    Outcome::OversizedHead,
    Outcome::MalformedBody,
    Outcome::ValueMissing,
];

/// Those over NFS: a flush may find that the server has lost what was written before.
const OUTCOMES_OF_NFS: [Outcome; 7] = [
    Outcome::Refused,
    Outcome::NoLocalPort,
    Outcome::MalformedHead,
    Outcome::OversizedHead,
    Outcome::MalformedBody,
    Outcome::ValueMissing,
    Outcome::NotCommitted,
];

/// The errors of Linux (errno(3), in the numbers of most processors), which are the codes of failures on a directory.
const ERRNO_NAMES: [(u32, &str); 32] = [
    (1, "EPERM"),
    (2, "ENOENT"),
    (5, "EIO"),
    (9, "EBADF"),
    (11, "EAGAIN"),
    (12, "ENOMEM"),
    (13, "EACCES"),
    (16, "EBUSY"),
    (17, "EEXIST"),
    (18, "EXDEV"),
    (20, "ENOTDIR"),
    (21, "EISDIR"),
    (22, "EINVAL"),
    (23, "ENFILE"),
    (24, "EMFILE"),
    (26, "ETXTBSY"),
    (27, "EFBIG"),
    (28, "ENOSPC"),
    (30, "EROFS"),
    (35, "EDEADLK"),
    (36, "ENAMETOOLONG"),
    (37, "ENOLCK"),
    (39, "ENOTEMPTY"),
    (40, "ELOOP"),
    (95, "EOPNOTSUPP"),
    (104, "ECONNRESET"),
    (107, "ENOTCONN"),
    (110, "ETIMEDOUT"),
    (112, "EHOSTDOWN"),
    (113, "EHOSTUNREACH"),
    (116, "ESTALE"),
    (122, "EDQUOT"),
];

/// The codes of failures over SMB: the statuses of servers (MS-ERREF section 2.3.1), and, with the bit of codes that are not
/// Microsoft’s, what is wrong with what they send. A test of the driver holds them against its own.
pub const SMB_CODES: [(u32, &str); 79] = [
    (0x0000_0103, "STATUS_PENDING"),
    (0x8000_0005, "STATUS_BUFFER_OVERFLOW"),
    (0x8000_0006, "STATUS_NO_MORE_FILES"),
    (0x8000_002D, "STATUS_STOPPED_ON_SYMLINK"),
    (0xC000_0001, "STATUS_UNSUCCESSFUL"),
    (0xC000_0002, "STATUS_NOT_IMPLEMENTED"),
    (0xC000_0003, "STATUS_INVALID_INFO_CLASS"),
    (0xC000_0004, "STATUS_INFO_LENGTH_MISMATCH"),
    (0xC000_0008, "STATUS_INVALID_HANDLE"),
    (0xC000_000D, "STATUS_INVALID_PARAMETER"),
    (0xC000_000E, "STATUS_NO_SUCH_DEVICE"),
    (0xC000_000F, "STATUS_NO_SUCH_FILE"),
    (0xC000_0010, "STATUS_INVALID_DEVICE_REQUEST"),
    (0xC000_0011, "STATUS_END_OF_FILE"),
    (0xC000_0016, "STATUS_MORE_PROCESSING_REQUIRED"),
    (0xC000_0017, "STATUS_NO_MEMORY"),
    (0xC000_0022, "STATUS_ACCESS_DENIED"),
    (0xC000_0023, "STATUS_BUFFER_TOO_SMALL"),
    (0xC000_0033, "STATUS_OBJECT_NAME_INVALID"),
    (0xC000_0034, "STATUS_OBJECT_NAME_NOT_FOUND"),
    (0xC000_0035, "STATUS_OBJECT_NAME_COLLISION"),
    (0xC000_0039, "STATUS_OBJECT_PATH_INVALID"),
    (0xC000_003A, "STATUS_OBJECT_PATH_NOT_FOUND"),
    (0xC000_003B, "STATUS_OBJECT_PATH_SYNTAX_BAD"),
    (0xC000_0043, "STATUS_SHARING_VIOLATION"),
    (0xC000_0044, "STATUS_QUOTA_EXCEEDED"),
    (0xC000_0054, "STATUS_FILE_LOCK_CONFLICT"),
    (0xC000_0055, "STATUS_LOCK_NOT_GRANTED"),
    (0xC000_0056, "STATUS_DELETE_PENDING"),
    (0xC000_0061, "STATUS_PRIVILEGE_NOT_HELD"),
    (0xC000_006D, "STATUS_LOGON_FAILURE"),
    (0xC000_006E, "STATUS_ACCOUNT_RESTRICTION"),
    (0xC000_006F, "STATUS_INVALID_LOGON_HOURS"),
    (0xC000_0070, "STATUS_INVALID_WORKSTATION"),
    (0xC000_0071, "STATUS_PASSWORD_EXPIRED"),
    (0xC000_0072, "STATUS_ACCOUNT_DISABLED"),
    (0xC000_007E, "STATUS_RANGE_NOT_LOCKED"),
    (0xC000_007F, "STATUS_DISK_FULL"),
    (0xC000_009A, "STATUS_INSUFFICIENT_RESOURCES"),
    (0xC000_00A2, "STATUS_MEDIA_WRITE_PROTECTED"),
    (0xC000_00B5, "STATUS_IO_TIMEOUT"),
    (0xC000_00BA, "STATUS_FILE_IS_A_DIRECTORY"),
    (0xC000_00BB, "STATUS_NOT_SUPPORTED"),
    (0xC000_00BE, "STATUS_BAD_NETWORK_PATH"),
    (0xC000_00C9, "STATUS_NETWORK_NAME_DELETED"),
    (0xC000_00CA, "STATUS_NETWORK_ACCESS_DENIED"),
    (0xC000_00CC, "STATUS_BAD_NETWORK_NAME"),
    (0xC000_00CE, "STATUS_TOO_MANY_SESSIONS"),
    (0xC000_00D0, "STATUS_REQUEST_NOT_ACCEPTED"),
    (0xC000_00E5, "STATUS_INTERNAL_ERROR"),
    (0xC000_0101, "STATUS_DIRECTORY_NOT_EMPTY"),
    (0xC000_0103, "STATUS_NOT_A_DIRECTORY"),
    (0xC000_011F, "STATUS_TOO_MANY_OPENED_FILES"),
    (0xC000_0120, "STATUS_CANCELLED"),
    (0xC000_0121, "STATUS_CANNOT_DELETE"),
    (0xC000_0123, "STATUS_FILE_DELETED"),
    (0xC000_0128, "STATUS_FILE_CLOSED"),
    (0xC000_0193, "STATUS_ACCOUNT_EXPIRED"),
    (0xC000_0203, "STATUS_USER_SESSION_DELETED"),
    (0xC000_0205, "STATUS_INSUFF_SERVER_RESOURCES"),
    (0xC000_0224, "STATUS_PASSWORD_MUST_CHANGE"),
    (0xC000_0234, "STATUS_ACCOUNT_LOCKED_OUT"),
    (0xC000_023A, "STATUS_CONNECTION_INVALID"),
    (0xC000_035C, "STATUS_NETWORK_SESSION_EXPIRED"),
    (0xC000_0427, "STATUS_FILE_SYSTEM_LIMITATION"),
    (0xE5B0_0001, "SMB_NOT_A_MESSAGE"),
    (0xE5B0_0002, "SMB_FRAME_TOO_LONG"),
    (0xE5B0_0003, "SMB_LYING_LENGTH"),
    (0xE5B0_0004, "SMB_OTHER_MESSAGE"),
    (0xE5B0_0005, "SMB_UNSIGNED_REPLY"),
    (0xE5B0_0006, "SMB_WRONG_SIGNATURE"),
    (0xE5B0_0007, "SMB_NOT_ENCRYPTED"),
    (0xE5B0_0008, "SMB_WRONG_ENCRYPTION"),
    (0xE5B0_0009, "SMB_NO_CREDITS"),
    (0xE5B0_000A, "SMB_ENDLESS_PENDING"),
    (0xE5B0_000B, "SMB_ENDLESS_LISTING"),
    (0xE5B0_000C, "SMB_OTHER_LISTING"),
    (0xE5B0_000D, "SMB_SHORT"),
    (0xE5B0_000E, "SMB_NOT_OPEN"),
];

names! {
    /// The way in which clients reach their files.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
    pub enum FileTransport {
        /// Calls on a directory of the load machine: of a disk, or of whatever is mounted there.
        #[default]
        Directory = "directory",
        /// SMB, in a session of each client.
        Smb = "smb",
        /// NFS, each client over a connection of its own.
        Nfs = "nfs",
    }
}

names! {
    /// The dialect of a file protocol.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
    pub enum FileDialect {
        /// SMB 2.1, of Windows 7: signatures, no encryption.
        Smb2_1 = "2.1",
        /// SMB 3.1.1, of Windows 10.
        Smb3_1_1 = "3.1.1",
        /// NFS 3: no sessions, and no locks.
        Nfs3 = "v3",
        /// NFS 4.1, in a session of each client.
        Nfs4_1 = "v4.1",
    }
}

names! {
    /// The depth to which bytes that were read are verified.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
    pub enum FileVerify {
        /// Not at all.
        Off = "off",
        /// The stamp of each block: seed, file, generation and number.
        Stamp = "stamp",
        /// Every byte, where it is known which were written.
        Full = "full",
    }
}

names! {
    /// The moment at which written bytes must be on the disk.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
    pub enum FileDurability {
        /// When a client flushes its file.
        Flush = "flush",
        /// At the end of each write.
        Write = "write",
        /// None: a flush does nothing.
        Never = "none",
    }
}

names! {
    /// The state of the cache of the file system or the server when a load point begins.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
    pub enum FileCache {
        /// Cold where the run can evict the files: in a directory, and in a share whose server it started. Another share is as
        /// its server was left.
        #[default]
        Auto = "auto",
        /// The files are evicted.
        Cold = "cold",
        /// Every file was read once.
        Warm = "warm",
        /// All caches of the machine were dropped.
        ColdMachine = "cold-machine",
    }
}

names! {
    /// The use of the files that fill up a workspace.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
    pub enum FilePads {
        /// They are only there.
        Inert = "inert",
        /// They are read as documents are.
        Active = "active",
    }
}

names! {
    /// The direction of a stream, and what ends a pass.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
    pub enum FileDirection {
        /// Open, read to the end, close.
        Read = "read",
        /// Create or cut, write, close.
        Write = "write",
        /// Create or cut, write, flush, close.
        WriteAndFlush = "write-flush",
    }
}

names! {
    /// A test of one kind of operation.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
    pub enum FileTest {
        /// Aligned reads at random places of a file of each client.
        RandomRead = "rand-read",
        /// Aligned writes at random places of a file of each client.
        RandomWrite = "rand-write",
        /// Searches of folders of 10 to 10,000 entries, without and with a match in turns.
        DirectorySearch = "dir-search",
        /// Small files are opened and closed.
        OpenClose = "open-close",
        /// Small files are created, and when all are there, deleted.
        CreateDelete = "create-delete",
        /// Paths of small files are asked about.
        Stat = "stat",
        /// Small files are renamed, and in the next pass named back.
        Rename = "rename",
        /// A byte of a file that all clients share is locked and unlocked.
        Lock = "lock",
    }
}

/// The files of a stream, as they are named and stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum FileStreamFiles {
    /// One file of each client.
    Private,
    /// One file that all clients read.
    Shared,
    /// So many files of each client, in turn.
    Many(u32),
}

/// The operations of clients and the files that they need.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileWorkload {
    /// The work of clients.
    pub work: FileWork,
    /// The way in which they reach their files.
    pub transport: FileTransport,
    /// The only dialect of the transport that is offered to the server; the newest one unless it is given.
    pub dialect: Option<FileDialect>,
    /// Their sessions, where they reach them by SMB.
    pub smb: FileSmbSettings,
    /// The depth to which bytes that were read are verified.
    pub verify: FileVerify,
    /// The moment at which written bytes must be on the disk.
    pub durability: FileDurability,
    /// The state of the cache when a load point begins.
    pub cache: FileCache,
    /// The seed of the content of files before load.
    pub content_seed: u64,
}

/// A request that is measured by its size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WholeRequest {
    /// Its bytes.
    pub bytes: u64,
    /// Whether it writes; else it reads.
    pub is_write: bool,
}

/// The settings of sessions over SMB.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileSmbSettings {
    /// Whether all messages are signed, and the signatures of replies verified. Encrypted ones are not signed besides.
    pub is_signed: bool,
    /// Whether all messages are encrypted.
    pub is_encrypted: bool,
}

/// The work of the clients of a file server.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum FileWork {
    /// The operations of office programs.
    DiskMix(FileMixSettings),
    /// Files that are read or written from their beginning to their end.
    Streams(FileStreamSettings),
    /// One kind of operation.
    Micro(FileMicroSettings),
    /// The operations of a captured mix.
    Captured(Box<FileCapture>),
}

names! {
    /// The kind of work, as definitions name it.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum FileWorkKind without serde {
        /// The operations of office programs, in cycles.
        DiskMix = "disk-mix",
        /// Files that are read or written from their beginning to their end.
        Streams = "streams",
        /// One kind of operation: `test` in `protocol` says which.
        Micro = "micro",
    }
}

impl FileWorkKind {
    /// Returns the work of this kind with the standard settings.
    pub fn standard(self) -> FileWork {
        match self {
            FileWorkKind::DiskMix => FileWork::DiskMix(FileMixSettings::STANDARD),
            FileWorkKind::Streams => FileWork::Streams(FileStreamSettings::STANDARD),
            FileWorkKind::Micro => FileWork::Micro(FileMicroSettings::standard(FileTest::RandomRead)),
        }
    }
}

/// The settings of a Disk Mix.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileMixSettings {
    /// The workspace of each client, in MiB.
    pub workspace_mebibytes: u32,
    /// The part of reading, touching, asking and searching that is on shared files, from 0 to 1. With none, no file is
    /// shared; else a twentieth of the updates is on shared files, too.
    pub shared: f64,
    /// The use of the files that fill up a workspace.
    pub pads: FilePads,
}

/// The settings of streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileStreamSettings {
    /// The size of a file in bytes.
    pub file_bytes: u64,
    /// The size of a request in bytes.
    pub block_bytes: u64,
    /// The requests of a client in flight at the same time.
    pub in_flight: u8,
    /// The files of each client.
    pub files: FileStreamFiles,
    /// The direction.
    pub direction: FileDirection,
}

/// The settings of a micro-test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileMicroSettings {
    /// The test.
    pub test: FileTest,
    /// The size of the file for random requests in bytes.
    pub file_bytes: u64,
    /// The size of such a request in bytes.
    pub block_bytes: u64,
    /// The size of each of the 1,000 small files in bytes.
    pub small_file_bytes: u64,
}

/// A reason why clients cannot work as settings say.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum FileSettingsError {
    /// The workspace.
    #[error(transparent)]
    Workspace(#[from] WorkspaceError),
    /// The stream.
    #[error(transparent)]
    Stream(#[from] StreamShapeError),
    /// A request that is larger than the file.
    #[error("a file of {} cannot be read or written in requests of {}", Bytes(*file_bytes), Bytes(*block_bytes))]
    Request {
        /// The size of the file.
        file_bytes: u64,
        /// The size of a request.
        block_bytes: u64,
    },
    /// Encryption in a dialect without.
    #[error("SMB 2.1 has no encryption")]
    NoEncryption,
    /// Several requests of a client in flight by a transport without: on a directory each is a call that blocks.
    #[error("a client has one request in flight with `transport={transport}`, not {n}")]
    InFlight {
        /// The transport.
        transport: FileTransport,
        /// The number of requests.
        n: u8,
    },
    /// Several requests of a client in flight, which are due on a schedule.
    #[error("operations on a schedule are sent by clients with one request in flight, not {0}")]
    InFlightOnSchedule(u32),
    /// A dialect of another transport.
    #[error("`dialect={dialect}` applies to `transport={}`, and this run has `transport={transport}`", dialect.transport())]
    OtherDialect {
        /// The dialect.
        dialect: FileDialect,
        /// The transport of the run.
        transport: FileTransport,
    },
    /// A test of locks in a dialect without.
    #[error("clients of NFS 3 lock nothing, and this test does nothing else")]
    NoLocks,
    /// A captured mix without its operations.
    #[error("the operations of the load file `{0}` are not here")]
    NoLoadFile(String),
}

impl FileSettingsError {
    /// Returns the remedy.
    pub(crate) fn hint(&self) -> &'static str {
        match self {
            FileSettingsError::NoEncryption => {
                "encrypt SMB 3.1.1 (`--set dialect=3.1.1`), or leave `encryption` out"
            }
            FileSettingsError::InFlight { .. } => {
                "load a share (`--target smb://USER@HOST/SHARE`) or an export (`nfs://HOST/EXPORT`), add clients, or leave `in-flight` out"
            }
            FileSettingsError::InFlightOnSchedule(_) => {
                "give `--load` instead of `--rate`, or leave `in-flight` out"
            }
            FileSettingsError::OtherDialect { .. } => {
                "leave `dialect` out, or load a target of that transport: `smb://USER@HOST/SHARE` or `nfs://HOST/EXPORT`"
            }
            FileSettingsError::NoLocks => "choose another test, or NFS 4.1 (`--set dialect=v4.1`)",
            FileSettingsError::NoLoadFile(_) => "name the load file again: `--set loadfile=FILE`",
            FileSettingsError::Workspace(_)
            | FileSettingsError::Stream(_)
            | FileSettingsError::Request { .. } => {
                "choose other sizes, or another kind of files with `--set files=private`"
            }
        }
    }
}

impl From<FileVerify> for Verify {
    fn from(verify: FileVerify) -> Verify {
        match verify {
            FileVerify::Off => Verify::Off,
            FileVerify::Stamp => Verify::Stamp,
            FileVerify::Full => Verify::Full,
        }
    }
}

impl From<FileTest> for MicroTest {
    fn from(test: FileTest) -> MicroTest {
        match test {
            FileTest::RandomRead => MicroTest::RandomRead,
            FileTest::RandomWrite => MicroTest::RandomWrite,
            FileTest::DirectorySearch => MicroTest::DirectorySearch,
            FileTest::OpenClose => MicroTest::OpenClose,
            FileTest::CreateDelete => MicroTest::CreateDelete,
            FileTest::Stat => MicroTest::Stat,
            FileTest::Rename => MicroTest::Rename,
            FileTest::Lock => MicroTest::Lock,
        }
    }
}

impl FileTest {
    /// Returns whether requests are at random places of a file.
    pub(crate) fn is_random(self) -> bool {
        matches!(self, FileTest::RandomRead | FileTest::RandomWrite)
    }

    /// Returns whether small files are needed or made.
    pub(crate) fn has_small_files(self) -> bool {
        matches!(self, FileTest::OpenClose | FileTest::CreateDelete | FileTest::Stat | FileTest::Rename)
    }

    /// Returns whether clients make passes over their files or searches.
    fn has_passes(self) -> bool {
        self.has_small_files() || self == FileTest::DirectorySearch
    }
}

impl FileTransport {
    /// Returns the dialect of clients unless one is given; `None` where there are none.
    fn newest_dialect(self) -> Option<FileDialect> {
        match self {
            FileTransport::Directory => None,
            FileTransport::Smb => Some(FileDialect::Smb3_1_1),
            FileTransport::Nfs => Some(FileDialect::Nfs4_1),
        }
    }
}

impl FileDialect {
    /// Returns the transport that it is one of.
    pub fn transport(self) -> FileTransport {
        match self {
            FileDialect::Smb2_1 | FileDialect::Smb3_1_1 => FileTransport::Smb,
            FileDialect::Nfs3 | FileDialect::Nfs4_1 => FileTransport::Nfs,
        }
    }

    /// Describes sessions over NFS.
    fn nfs_text(self) -> &'static str {
        match self {
            FileDialect::Nfs3 => "NFS 3, without locks, a connection of each client",
            _ => "NFS 4.1, a session of each client",
        }
    }
}

impl FileSmbSettings {
    /// The standard ones: neither signed nor encrypted.
    pub const STANDARD: FileSmbSettings = FileSmbSettings { is_signed: false, is_encrypted: false };

    /// Describes sessions of a dialect.
    fn text(&self, dialect: FileDialect) -> String {
        let protection = match (self.is_encrypted, self.is_signed) {
            (true, _) => "encrypted",
            (false, true) => "signed",
            (false, false) => "neither signed nor encrypted",
        };
        format!("SMB {dialect}, {protection}, a session of each client")
    }
}

impl FileMixSettings {
    /// The standard ones: 20 MiB, a fifth of the reading on shared files, and nothing that uses those that fill up.
    pub const STANDARD: FileMixSettings =
        FileMixSettings { workspace_mebibytes: 20, shared: 0.2, pads: FilePads::Inert };

    /// Returns the mix of a run with this seed.
    ///
    /// # Errors
    /// A workspace cannot have the size.
    pub fn mix(&self, seed: u64) -> Result<DiskMix, WorkspaceError> {
        let standard = if self.shared == 0.0 { DiskMix::unshared(seed) } else { DiskMix::new(seed) };
        let pads = match self.pads {
            FilePads::Inert => PadUse::Inert,
            FilePads::Active => PadUse::Active,
        };
        let workspace = Workspace::new(self.workspace_mebibytes)?;
        Ok(DiskMix { workspace, shared: Ratio(self.shared), pads, ..standard })
    }

    /// Returns the expected number of operations of each kind in a cycle.
    fn cycle(&self) -> [f64; N_KINDS] {
        // Whether an update is on a shared file does not depend on the seed.
        let locks = self.mix(0).map_or(0.0, |mix| UPDATES_WITHOUT_LOCK * mix.shared_updates.0);
        CYCLE.map(|(kind, n)| match kind {
            FileKind::Lock | FileKind::Unlock => n + locks,
            _ => n,
        })
    }
}

impl FileStreamSettings {
    /// The standard ones: a file of 32 MiB for each client, read in blocks of 64 KiB.
    pub const STANDARD: FileStreamSettings = FileStreamSettings {
        file_bytes: 32 << 20,
        block_bytes: 64 << 10,
        in_flight: 1,
        files: FileStreamFiles::Private,
        direction: FileDirection::Read,
    };

    /// Returns the shape of the streams.
    ///
    /// # Errors
    /// A size is outside its limits, or a shared file would be written.
    pub fn shape(&self) -> Result<StreamShape, StreamShapeError> {
        let direction = match self.direction {
            FileDirection::Read => StreamDirection::Read,
            FileDirection::Write => StreamDirection::Write,
            FileDirection::WriteAndFlush => StreamDirection::WriteAndFlush,
        };
        let files = match self.files {
            FileStreamFiles::Private => StreamFiles::Private,
            FileStreamFiles::Shared => StreamFiles::Shared,
            FileStreamFiles::Many(n_files) => StreamFiles::Many(n_files),
        };
        StreamShape::new(self.file_bytes, self.block_bytes, self.in_flight, files, direction)
    }

    /// Returns the number of files of a client; of shared ones that of all.
    pub fn n_files(&self) -> u32 {
        match self.files {
            FileStreamFiles::Private | FileStreamFiles::Shared => 1,
            FileStreamFiles::Many(n_files) => n_files,
        }
    }
}

impl FileMicroSettings {
    /// The standard ones of a test: a file of 64 MiB with requests of 4 KiB, or 1,000 empty files.
    pub const fn standard(test: FileTest) -> FileMicroSettings {
        FileMicroSettings { test, file_bytes: 64 << 20, block_bytes: 4096, small_file_bytes: 0 }
    }

    /// Returns the test of a run with this seed.
    ///
    /// # Errors
    /// A request is larger than the file.
    pub fn settings(&self, seed: u64) -> Result<MicroSettings, FileSettingsError> {
        let FileMicroSettings { test, file_bytes, block_bytes, small_file_bytes } = *self;
        if test.is_random() && file_bytes < block_bytes {
            return Err(FileSettingsError::Request { file_bytes, block_bytes });
        }
        Ok(MicroSettings {
            file_bytes,
            request_bytes: block_bytes,
            small_file_bytes,
            ..MicroSettings::new(test.into(), seed)
        })
    }
}

impl FileWorkload {
    /// Makes the workload of clients with this work, on a directory, with the standard settings.
    pub fn new(work: FileWork) -> FileWorkload {
        FileWorkload {
            work,
            transport: FileTransport::Directory,
            dialect: None,
            smb: FileSmbSettings::STANDARD,
            verify: FileVerify::Stamp,
            durability: FileDurability::Flush,
            cache: FileCache::Auto,
            content_seed: CONTENT_SEED,
        }
    }

    /// Checks that clients can work with these settings.
    ///
    /// # Errors
    /// They cannot.
    pub fn check(&self) -> Result<(), FileSettingsError> {
        let transport = self.transport;
        if let Some(dialect) = self.dialect.filter(|dialect| dialect.transport() != transport) {
            return Err(FileSettingsError::OtherDialect { dialect, transport });
        }
        if self.is_over_smb() && self.smb.is_encrypted && self.dialect == Some(FileDialect::Smb2_1) {
            return Err(FileSettingsError::NoEncryption);
        }
        if let FileWork::Micro(FileMicroSettings { test: FileTest::Lock, .. }) = self.work
            && !self.has_locks()
        {
            return Err(FileSettingsError::NoLocks);
        }
        match &self.work {
            FileWork::DiskMix(mix) => mix.mix(0).map(drop).map_err(FileSettingsError::from),
            FileWork::Streams(streams) => {
                streams.shape()?;
                if 1 < streams.in_flight && self.transport == FileTransport::Directory {
                    return Err(FileSettingsError::InFlight { transport, n: streams.in_flight });
                }
                Ok(())
            }
            FileWork::Micro(micro) => micro.settings(0).map(drop),
            FileWork::Captured(_) => Ok(()),
        }
    }

    /// Returns the streams, where clients read them.
    fn read_streams(&self) -> Option<&FileStreamSettings> {
        match &self.work {
            FileWork::Streams(streams) if streams.direction == FileDirection::Read => Some(streams),
            _ => None,
        }
    }

    /// Returns the most operations of a client in flight.
    fn in_flight(&self) -> u32 {
        match &self.work {
            FileWork::Streams(streams) => streams.in_flight.into(),
            FileWork::DiskMix(_) | FileWork::Micro(_) | FileWork::Captured(_) => 1,
        }
    }

    /// Returns whether the time to the first data of a stream is measured.
    pub fn times_first_data(&self) -> bool {
        self.read_streams().is_some()
    }

    /// Returns the request that is measured by its size, so that none may be split.
    pub fn whole_request(&self) -> Option<WholeRequest> {
        match &self.work {
            FileWork::Streams(streams) => Some(WholeRequest {
                bytes: streams.block_bytes.min(streams.file_bytes),
                is_write: streams.direction != FileDirection::Read,
            }),
            FileWork::Micro(micro) if micro.test.is_random() => {
                Some(WholeRequest { bytes: micro.block_bytes, is_write: micro.test == FileTest::RandomWrite })
            }
            FileWork::DiskMix(_) | FileWork::Micro(_) | FileWork::Captured(_) => None,
        }
    }

    /// Returns the only dialect that clients offer to the server; `None` where they load a directory.
    pub fn dialect(&self) -> Option<FileDialect> {
        self.dialect.or(self.transport.newest_dialect())
    }

    /// Returns whether clients lock files where the mix says so: with NFS 3 they leave it out.
    pub fn has_locks(&self) -> bool {
        self.dialect() != Some(FileDialect::Nfs3)
    }

    /// Returns whether clients reach their files by SMB.
    pub(crate) fn is_over_smb(&self) -> bool {
        self.transport == FileTransport::Smb
    }

    /// Returns the most bytes that the files of a client take, those that it creates included.
    pub fn client_bytes(&self) -> u64 {
        match &self.work {
            FileWork::DiskMix(mix) => {
                let workspace = u64::from(mix.workspace_mebibytes).saturating_mul(1 << 20);
                workspace.saturating_add(CREATED_BYTES_MAX)
            }
            FileWork::Streams(FileStreamSettings { files: FileStreamFiles::Shared, .. }) => 0,
            FileWork::Streams(streams) => streams.file_bytes.saturating_mul(streams.n_files().into()),
            FileWork::Micro(micro) if micro.test.has_small_files() => {
                let n_files = MicroSettings::new(micro.test.into(), 0).n_files;
                u64::from(n_files).saturating_mul(micro.small_file_bytes)
            }
            FileWork::Micro(micro) if micro.test.is_random() => micro.file_bytes,
            FileWork::Micro(_) => 0,
            FileWork::Captured(capture) => capture.file_bytes_max,
        }
    }

    /// Returns the bytes of the files that all clients share.
    pub fn shared_bytes(&self) -> u64 {
        match &self.work {
            FileWork::DiskMix(_) => FilePopulation::shared_bytes(),
            FileWork::Streams(FileStreamSettings { files: FileStreamFiles::Shared, file_bytes, .. }) => {
                *file_bytes
            }
            FileWork::Micro(FileMicroSettings { test: FileTest::Lock, file_bytes, .. }) => *file_bytes,
            FileWork::Streams(_) | FileWork::Micro(_) | FileWork::Captured(_) => 0,
        }
    }

    /// Returns whether every file that is there before load keeps its name and its length under load.
    pub fn keeps_files(&self) -> bool {
        match &self.work {
            FileWork::DiskMix(_) => true,
            FileWork::Streams(streams) => streams.direction == FileDirection::Read,
            FileWork::Micro(micro) => micro.test != FileTest::Rename,
            FileWork::Captured(_) => false,
        }
    }

    /// Returns what a run of the workload counts and measures.
    pub fn catalog(&self) -> Catalog {
        // Locks are the last ones but those that only captured mixes have.
        let n_kinds = if self.has_locks() { N_KINDS } else { FileKind::Lock as usize };
        let shares = match &self.work {
            FileWork::DiskMix(mix) => {
                let cycle = mix.cycle();
                let total: f64 = cycle[..n_kinds].iter().sum();
                cycle[..n_kinds].iter().map(|n| Some(n / total)).collect()
            }
            FileWork::Streams(_) | FileWork::Micro(_) => vec![None; n_kinds],
            FileWork::Captured(capture) => capture.shares(self.has_locks()).map(Some).to_vec(),
        };
        let kind = |(kind, share): (FileKind, Option<f64>)| OperationKind {
            name: kind.name().to_owned(),
            share,
            share_gap_max: None,
            limits: Vec::new(),
            measures: Vec::new(),
            expected: Vec::new(),
        };
        let unit = self.unit();
        let sometimes = |name| Measure { is_always: false, ..Measure::always(name, MeasureUnit::Bytes) };
        let mut measures = vec![
            sometimes("read bytes"),
            sometimes("written bytes"),
            Measure::always("exchanges", MeasureUnit::Count),
        ];
        if self.times_first_data() {
            let first_data = Measure::always("first data", MeasureUnit::Nanoseconds);
            measures.push(Measure { is_always: false, has_spread: true, ..first_data });
        }
        Catalog {
            kinds: FileKind::ALL.into_iter().zip(shares).map(kind).collect(),
            units: unit.iter().map(|unit| unit.one.clone()).collect(),
            pauses: self.pauses(),
            measures,
            in_flight: Some(self.in_flight()).filter(|n| 1 < *n),
            transferred: vec![file_measure::READ_BYTES, file_measure::WRITTEN_BYTES],
            response_parts: Vec::new(),
            notices: Vec::new(),
            bands: Vec::new(),
            codes: self.codes(),
            sizing: None,
            outcomes: self.outcomes(),
            score: Score::default(),
            words: Words {
                unit: unit.unwrap_or_else(|| Noun::regular("unit")),
                ..Words::of_rate("operation", "client")
            },
        }
    }

    /// Returns the pauses of clients, by [`file_pause`].
    fn pauses(&self) -> Vec<PauseKind> {
        let recorded = |name: &str, from| PauseKind { name: name.to_owned(), time: self.think(), from };
        match self.think() {
            ThinkTime::None => Vec::new(),
            _ => vec![
                recorded("recorded pause", PauseStart::Done),
                recorded("recorded time between operations", PauseStart::Due),
            ],
        }
    }

    /// Returns the outcomes of failed operations.
    fn outcomes(&self) -> Vec<Outcome> {
        let of_messages: &[Outcome] = match self.transport {
            FileTransport::Directory => &[],
            FileTransport::Smb => &OUTCOMES_OF_MESSAGES,
            FileTransport::Nfs => &OUTCOMES_OF_NFS,
        };
        OUTCOMES.iter().chain(of_messages).copied().collect()
    }

    /// Returns the names of the codes of failures.
    fn codes(&self) -> Vec<CodeName> {
        let [statuses, violations]: [&[(u32, &str)]; 2] = match (self.transport, self.dialect()) {
            (FileTransport::Directory, _) => [&ERRNO_NAMES, &[]],
            (FileTransport::Smb, _) => [&SMB_CODES, &[]],
            (FileTransport::Nfs, Some(FileDialect::Nfs3)) => [&NFS3_STATUSES, &NFS_VIOLATIONS],
            (FileTransport::Nfs, _) => [&NFS4_STATUSES, &NFS_VIOLATIONS],
        };
        let codes = statuses.iter().chain(violations);
        codes.map(|(code, name)| CodeName { code: *code, name: (*name).to_owned() }).collect()
    }

    /// Returns the group of operations that clients count; `None` if they go on without an end.
    fn unit(&self) -> Option<Noun> {
        let pass = Noun { one: "pass".to_owned(), many: "passes".to_owned() };
        match &self.work {
            FileWork::DiskMix(_) => Some(Noun::regular("cycle")),
            FileWork::Streams(_) => Some(pass),
            FileWork::Micro(micro) => micro.test.has_passes().then_some(pass),
            FileWork::Captured(_) => Some(Noun::regular("loop")),
        }
    }

    /// Describes the files.
    fn files_text(&self) -> String {
        match &self.work {
            FileWork::DiskMix(mix) => {
                let workspace = Bytes(u64::from(mix.workspace_mebibytes) << 20);
                let shared = Bytes(FilePopulation::shared_bytes());
                format!("a workspace of {workspace} for each client, and {shared} that all of them share")
            }
            FileWork::Streams(streams) => {
                let size = Bytes(streams.file_bytes);
                match streams.files {
                    FileStreamFiles::Private => format!("a file of {size} for each client"),
                    FileStreamFiles::Shared => format!("a file of {size} that all clients read"),
                    FileStreamFiles::Many(n_files) => format!("{n_files} files of {size} for each client"),
                }
            }
            FileWork::Micro(micro) => micro_files_text(micro),
            FileWork::Captured(capture) => capture.text(),
        }
    }

    /// Describes what figures of the workload must not be shown without.
    fn way_text(&self) -> String {
        let way = match self.dialect() {
            None => "calls of the load generator on a directory".to_owned(),
            Some(dialect) if self.is_over_smb() => self.smb.text(dialect),
            Some(dialect) => dialect.nfs_text().to_owned(),
        };
        let durability = match self.durability {
            FileDurability::Flush => "a flush ends when the file is on the disk",
            FileDurability::Write => "a write ends when it is on the disk",
            FileDurability::Never => "a flush does nothing",
        };
        let in_flight = match self.in_flight() {
            1 => String::new(),
            n => format!("; up to {n} requests of each client in flight"),
        };
        let cache = match self.cache {
            FileCache::Auto => "",
            FileCache::Cold => "; files are cold when a load point begins",
            FileCache::Warm => "; files were read once when a load point begins",
            FileCache::ColdMachine => "; all caches of the machine are cold when a load point begins",
        };
        format!("{way}; {durability}{in_flight}{cache}")
    }
}

fn micro_files_text(micro: &FileMicroSettings) -> String {
    let size = Bytes(micro.file_bytes);
    match micro.test {
        FileTest::RandomRead | FileTest::RandomWrite => format!("a file of {size} for each client"),
        FileTest::Lock => format!("a file of {size} that all clients lock"),
        FileTest::DirectorySearch => {
            let entries = SEARCHED_ENTRIES.map(|n| n.to_string()).join(", ");
            format!("folders of {entries} entries that all clients search")
        }
        FileTest::OpenClose | FileTest::CreateDelete | FileTest::Stat | FileTest::Rename => {
            let n_files = MicroSettings::new(micro.test.into(), 0).n_files;
            format!("{n_files} files of {} for each client", Bytes(micro.small_file_bytes))
        }
    }
}

impl FamilyWorkload for FileWorkload {
    fn family(&self) -> Family {
        Family::File
    }

    fn in_flight_max(&self) -> u32 {
        // Each operation in flight is one of a client with files of its own.
        SESSIONS_MAX
    }

    fn catalog(&self) -> Catalog {
        FileWorkload::catalog(self)
    }

    fn think(&self) -> ThinkTime {
        match &self.work {
            FileWork::Captured(capture) if capture.has_pauses => ThinkTime::Recorded,
            _ => ThinkTime::None,
        }
    }

    fn has_user_state(&self) -> bool {
        true
    }

    fn is_encrypted(&self) -> bool {
        self.is_over_smb() && self.smb.is_encrypted
    }

    fn has_one_writer(&self, _: &str) -> bool {
        false
    }

    fn grows_with_load(&self) -> bool {
        0 < self.client_bytes()
    }

    fn data_text(&self) -> Option<String> {
        Some(self.files_text())
    }

    fn mode_text(&self) -> Option<String> {
        Some(self.way_text())
    }

    fn notice(&self) -> Option<&'static str> {
        None
    }
}

#[cfg(test)]
mod tests {
    use files::{FileAnswer, FileStep};

    use super::*;

    fn all_works() -> Vec<FileWork> {
        let micro = FileTest::ALL.map(|test| FileWork::Micro(FileMicroSettings::standard(test)));
        let others =
            [FileWork::DiskMix(FileMixSettings::STANDARD), FileWork::Streams(FileStreamSettings::STANDARD)];
        others.into_iter().chain(micro).collect()
    }

    #[test]
    fn catalogs_are_valid_and_workloads_are_read_back() {
        for work in all_works() {
            let workload = FileWorkload::new(work);
            assert_eq!((workload.check(), workload.catalog().check()), (Ok(()), Ok(())), "{workload:?}");
            let stored = serde_json::to_value(&workload).unwrap();
            assert_eq!(serde_json::from_value::<FileWorkload>(stored).unwrap(), workload);
        }
        assert_eq!(FileTest::ALL.map(FileTest::name), MicroTest::ALL.map(MicroTest::name));
        let micro = FileTest::ALL.map(MicroTest::from);
        assert_eq!(micro, MicroTest::ALL);
    }

    /// 300 cycles of a client to whom everything succeeds.
    #[test]
    fn the_shares_of_the_disk_mix_are_those_of_its_clients() {
        for shared in [0.2, 0.0] {
            let settings = FileMixSettings { shared, ..FileMixSettings::STANDARD };
            let catalog = FileWorkload::new(FileWork::DiskMix(settings)).catalog();
            let mut client = settings.mix(7).unwrap().client(3);
            let mut found = [0_u64; N_KINDS];
            let mut answer = None;
            while client.n_cycles() < 300 {
                answer = match client.next(answer) {
                    FileStep::Perform(operation) => {
                        found[FileOperation::kind(&operation).index()] += 1;
                        Some(FileAnswer::Done)
                    }
                    _ => None,
                };
            }
            let total: u64 = found.iter().sum();
            for (kind, n) in catalog.kinds.iter().zip(found) {
                let share = n as f64 / total as f64;
                let expected = kind.share.unwrap();
                // Of locks of shared files there are two in a cycle, which are drawn.
                let gap_max = if kind.name.ends_with("lock") { 0.1 } else { 0.01 };
                assert!((share / expected - 1.0).abs() < gap_max, "{}: {share}, not {expected}", kind.name);
            }
        }
    }

    #[test]
    fn files_are_described_with_their_sizes() {
        let texts = all_works().into_iter().map(|work| {
            let workload = FileWorkload::new(work);
            let sizes =
                [workload.client_bytes(), workload.shared_bytes()].map(|bytes| Bytes(bytes).to_string());
            format!("{}: {}", workload.files_text(), sizes.join(" and "))
        });
        insta::assert_snapshot!(texts.collect::<Vec<_>>().join("\n"), @"
        a workspace of 20.0 MiB for each client, and 11.9 MiB that all of them share: 28.0 MiB and 11.9 MiB
        a file of 32.0 MiB for each client: 32.0 MiB and 0 B
        a file of 64.0 MiB for each client: 64.0 MiB and 0 B
        a file of 64.0 MiB for each client: 64.0 MiB and 0 B
        folders of 10, 100, 1000, 10000 entries that all clients search: 0 B and 0 B
        1000 files of 0 B for each client: 0 B and 0 B
        1000 files of 0 B for each client: 0 B and 0 B
        1000 files of 0 B for each client: 0 B and 0 B
        1000 files of 0 B for each client: 0 B and 0 B
        a file of 64.0 MiB that all clients lock: 0 B and 64.0 MiB
        ");
    }

    #[test]
    fn codes_have_the_names_of_the_kernel() {
        let catalog = FileWorkload::new(FileWork::DiskMix(FileMixSettings::STANDARD)).catalog();
        let names = [28, 116, 1, 999].map(|code| catalog.code_name(code));
        assert_eq!(names, [Some("ENOSPC"), Some("ESTALE"), Some("EPERM"), None]);
        let mut twice = catalog.clone();
        twice.codes.insert(1, CodeName { code: 1, name: "EPERM too".to_owned() });
        assert_eq!(twice.check(), Err(crate::CatalogFault::Codes));
        assert!(catalog.counts_as(&Catalog { codes: Vec::new(), ..catalog.clone() }));
    }

    #[test]
    fn workloads_over_smb_have_its_codes_and_outcomes_and_say_how_messages_are_protected() {
        let with = |dialect, is_signed, is_encrypted| FileWorkload {
            transport: FileTransport::Smb,
            dialect,
            smb: FileSmbSettings { is_signed, is_encrypted },
            ..FileWorkload::new(FileWork::DiskMix(FileMixSettings::STANDARD))
        };
        let plain = with(None, false, false);
        let catalog = plain.catalog();
        assert_eq!((plain.check(), catalog.check()), (Ok(()), Ok(())));
        let names = [0, 0xC000_0043, 0xE5B0_000D, 28].map(|code| catalog.code_name(code));
        assert_eq!(names, [None, Some("STATUS_SHARING_VIOLATION"), Some("SMB_SHORT"), None]);
        let directory = FileWorkload::new(plain.work.clone()).catalog();
        let fails_with = |outcome| (catalog.can_fail_with(outcome), directory.can_fail_with(outcome));
        assert_eq!(fails_with(Outcome::MalformedHead), (true, false));
        assert_eq!(fails_with(Outcome::SessionLost), (true, true));
        let both = with(Some(FileDialect::Smb3_1_1), true, true);
        assert_eq!((plain.is_encrypted(), both.is_encrypted()), (false, true));
        let old = with(Some(FileDialect::Smb2_1), true, true);
        assert_eq!(old.check(), Err(FileSettingsError::NoEncryption));
        let unused = FileWorkload { transport: FileTransport::Directory, dialect: None, ..old };
        assert_eq!((unused.check(), unused.is_encrypted()), (Ok(()), false));
        let texts = [plain, with(Some(FileDialect::Smb2_1), true, false), both].map(|one| one.way_text());
        insta::assert_snapshot!(texts.join("\n"), @"
        SMB 3.1.1, neither signed nor encrypted, a session of each client; a flush ends when the file is on the disk
        SMB 2.1, signed, a session of each client; a flush ends when the file is on the disk
        SMB 3.1.1, encrypted, a session of each client; a flush ends when the file is on the disk
        ");
    }

    /// Locks on NFS 3 are left out, and neither counted nor expected.
    #[test]
    fn workloads_over_nfs_have_the_codes_of_their_version_and_say_what_is_left_out() {
        let with = |dialect| FileWorkload {
            transport: FileTransport::Nfs,
            dialect,
            ..FileWorkload::new(FileWork::DiskMix(FileMixSettings::STANDARD))
        };
        let [newest, old] = [with(None), with(Some(FileDialect::Nfs3))];
        let names = |workload: &FileWorkload| {
            let catalog = workload.catalog();
            assert_eq!((workload.check(), catalog.check()), (Ok(()), Ok(())));
            let shares: f64 = catalog.kinds.iter().filter_map(|kind| kind.share).sum();
            assert!((shares - 1.0).abs() < 1e-9, "{shares}");
            [70, 10008, 0xE5B1_000D].map(|code| catalog.code_name(code).map(str::to_owned))
        };
        let of = |names: [&str; 3]| names.map(|name| Some(name.to_owned()));
        assert_eq!(names(&newest), of(["NFS4ERR_STALE", "NFS4ERR_DELAY", "NFS_SHORT"]));
        assert_eq!(names(&old), of(["NFS3ERR_STALE", "NFS3ERR_JUKEBOX", "NFS_SHORT"]));
        let last_kind = |workload: &FileWorkload| workload.catalog().kinds.pop().unwrap().name;
        assert_eq!((last_kind(&newest).as_str(), last_kind(&old).as_str()), ("unlock", "unlink"));
        let texts = [newest.way_text(), old.way_text()];
        insta::assert_snapshot!(texts.join("\n"), @"
        NFS 4.1, a session of each client; a flush ends when the file is on the disk
        NFS 3, without locks, a connection of each client; a flush ends when the file is on the disk
        ");
        let locks = FileWork::Micro(FileMicroSettings::standard(FileTest::Lock));
        assert_eq!(FileWorkload { work: locks.clone(), ..newest }.check(), Ok(()));
        assert_eq!(FileWorkload { work: locks, ..old }.check(), Err(FileSettingsError::NoLocks));
        let elsewhere = FileWorkload { transport: FileTransport::Smb, ..old }.check().unwrap_err();
        assert_eq!(
            elsewhere.to_string(),
            "`dialect=v3` applies to `transport=nfs`, and this run has `transport=smb`"
        );
    }

    #[test]
    fn settings_that_contradict_each_other_are_refused() {
        let shared = FileStreamSettings {
            files: FileStreamFiles::Shared,
            direction: FileDirection::Write,
            ..FileStreamSettings::STANDARD
        };
        let small =
            FileMicroSettings { file_bytes: 1024, ..FileMicroSettings::standard(FileTest::RandomRead) };
        let other = FileMicroSettings { file_bytes: 1024, ..FileMicroSettings::standard(FileTest::Stat) };
        let narrow = FileMixSettings { workspace_mebibytes: 14, ..FileMixSettings::STANDARD };
        let found = [
            FileWork::Streams(shared),
            FileWork::Micro(small),
            FileWork::Micro(other),
            FileWork::DiskMix(narrow),
        ]
        .map(|work| match FileWorkload::new(work).check() {
            Ok(()) => "none".to_owned(),
            Err(error) => error.to_string(),
        });
        insta::assert_snapshot!(found.join("\n"), @"
        a file that all clients share is only read
        a file of 1.0 KiB cannot be read or written in requests of 4.0 KiB
        none
        a workspace has 15 to 65536 MiB, not 14
        ");
    }
}
