//! Sequential streams: large files, read or written from their beginning to their end, again and again.
//!
//! After NetBench 4.0.1's test of sequential reads, of which only the purpose is known; sizes are ours.

use thiserror::Error;

use crate::operation::HANDLE;
use crate::{
    Entry, ExistingFile, FileAction, FileAnswer, FileOperation, FilePath, FileRange, FileStep, Folder, Owner,
    PopulatedFile,
};

/// The files of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StreamFiles {
    /// One file of each client.
    Private,
    /// One file that all clients read.
    Shared,
    /// So many files of each client, in turn.
    Many(u32),
}

/// The direction of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StreamDirection {
    /// Open, read to the end, close.
    Read,
    /// Create or cut, write, close.
    Write,
    /// Create or cut, write, flush, close.
    WriteAndFlush,
}

/// The sizes of a stream. A value that exists is within the limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StreamShape {
    file_bytes: u64,
    block_bytes: u64,
    in_flight: u8,
    files: StreamFiles,
    direction: StreamDirection,
}

/// A size that a stream cannot have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum StreamShapeError {
    /// The size of a block.
    #[error(
        "a block has {least} to {most} bytes, not {0}",
        least = StreamShape::BLOCK_LEAST,
        most = StreamShape::BLOCK_MOST
    )]
    Block(u64),
    /// The size of a file.
    #[error("a file has at least one byte and at most {most}, not {0}", most = StreamShape::FILE_MOST)]
    File(u64),
    /// The number of requests in flight.
    #[error("1 to {most} requests are in flight, not {0}", most = StreamShape::IN_FLIGHT_MOST)]
    InFlight(u8),
    /// The number of files in turn.
    #[error("a client has 1 to {most} files, not {0}", most = StreamShape::FILES_MOST)]
    Files(u32),
    /// A write of a file that all clients share.
    #[error("a file that all clients share is only read")]
    SharedWrite,
}

impl StreamFiles {
    fn n_files(self) -> u32 {
        match self {
            StreamFiles::Many(n_files) => n_files,
            StreamFiles::Private | StreamFiles::Shared => 1,
        }
    }
}

impl StreamShape {
    /// The smallest block: 4 KiB.
    pub const BLOCK_LEAST: u64 = 4096;
    /// The largest block: 8 MiB.
    pub const BLOCK_MOST: u64 = 8 << 20;
    /// The largest file: 1 TiB.
    pub const FILE_MOST: u64 = 1 << 40;
    /// The most requests of a client in flight.
    pub const IN_FLIGHT_MOST: u8 = 16;
    /// The most files of a client.
    pub const FILES_MOST: u32 = 1024;

    /// Makes a shape.
    ///
    /// # Errors
    ///
    /// When a size is outside the limits, or a shared file would be written.
    pub fn new(
        file_bytes: u64,
        block_bytes: u64,
        in_flight: u8,
        files: StreamFiles,
        direction: StreamDirection,
    ) -> Result<StreamShape, StreamShapeError> {
        let n_files = files.n_files();
        if !(StreamShape::BLOCK_LEAST..=StreamShape::BLOCK_MOST).contains(&block_bytes) {
            return Err(StreamShapeError::Block(block_bytes));
        }
        if !(1..=StreamShape::FILE_MOST).contains(&file_bytes) {
            return Err(StreamShapeError::File(file_bytes));
        }
        if !(1..=StreamShape::IN_FLIGHT_MOST).contains(&in_flight) {
            return Err(StreamShapeError::InFlight(in_flight));
        }
        if !(1..=StreamShape::FILES_MOST).contains(&n_files) {
            return Err(StreamShapeError::Files(n_files));
        }
        if files == StreamFiles::Shared && direction != StreamDirection::Read {
            return Err(StreamShapeError::SharedWrite);
        }
        Ok(StreamShape { file_bytes, block_bytes, in_flight, files, direction })
    }

    /// Returns the most requests of a client in flight.
    pub fn in_flight(&self) -> usize {
        self.in_flight.into()
    }

    /// Makes the client of this number.
    pub fn client(&self, client: u32) -> StreamClient {
        StreamClient {
            shape: *self,
            client,
            pass: 0,
            state: State::Closed,
            offset: 0,
            n_in_flight: 0,
            failed: false,
        }
    }

    /// Returns the files that are there before a client begins: those that it reads. One that all clients read is the
    /// same for each.
    pub fn files(&self, client: u32) -> impl Iterator<Item = PopulatedFile> + use<> {
        let shape = *self;
        let n_files = if self.direction == StreamDirection::Read { self.files.n_files() } else { 0 };
        (0..n_files)
            .map(move |pass| PopulatedFile { path: shape.path(client, pass), bytes: shape.file_bytes })
    }

    /// Returns the folders of a client's files, each after the one that it is in.
    pub fn folders(&self, client: u32) -> [FilePath; 2] {
        let owner = self.owner(client);
        [FilePath::root(owner), FilePath::new(owner, Folder::Stream, Entry::Folder)]
    }

    fn owner(&self, client: u32) -> Owner {
        if self.files == StreamFiles::Shared { Owner::Shared } else { Owner::Client(client) }
    }

    /// Returns the file of a pass.
    fn path(&self, client: u32, pass: u32) -> FilePath {
        FilePath::new(self.owner(client), Folder::Stream, Entry::File(pass % self.files.n_files()))
    }
}

/// A client that reads or writes streams.
///
/// | state | next | answered | then |
/// |---|---|---|---|
/// | closed | open or create | done | open |
/// | | | failed | closed; the pass does not count |
/// | opening, flushing, closing | await | | |
/// | open | a block, while there are blocks and fewer are in flight than may be | failed | no more blocks |
/// | | await, while any is in flight | | |
/// | | flush, if that is wanted, then close | done | the pass counts; closed |
/// | any | leave | wrong bytes | |
#[derive(Debug, Clone)]
pub struct StreamClient {
    shape: StreamShape,
    client: u32,
    pass: u32,
    state: State,
    /// The offset of the next block.
    offset: u64,
    n_in_flight: u8,
    /// Whether an operation of the pass failed.
    failed: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Closed,
    Opening,
    Open,
    Flushing,
    Flushed,
    Closing,
    Ended,
    Left,
}

impl StreamClient {
    /// Returns the next step. `last` is the answer to one of the operations in flight. After [`FileStep::Perform`],
    /// further steps may be asked for without an answer until it is [`FileStep::Await`]; with one request in flight
    /// that is the step after each operation.
    pub fn next(&mut self, last: Option<FileAnswer>) -> FileStep {
        if let Some(answer) = last {
            self.heed(answer);
        }
        match self.state {
            State::Closed => self.begin(State::Opening, self.opening()),
            State::Open if self.may_send() => {
                self.n_in_flight += 1;
                FileStep::Perform(self.block())
            }
            State::Open if 0 < self.n_in_flight => FileStep::Await,
            State::Open if self.flushes() => self.begin(State::Flushing, FileAction::Flush(HANDLE)),
            State::Open | State::Flushed => self.begin(State::Closing, FileAction::Close(HANDLE)),
            State::Opening | State::Flushing | State::Closing => FileStep::Await,
            State::Ended => {
                self.state = State::Closed;
                FileStep::UnitEnd
            }
            State::Left => FileStep::Leave,
        }
    }

    fn heed(&mut self, answer: FileAnswer) {
        self.n_in_flight = self.n_in_flight.saturating_sub(1);
        self.failed |= answer != FileAnswer::Done;
        match (answer, self.state) {
            (FileAnswer::WrongBytes, _) | (_, State::Left) => self.state = State::Left,
            (FileAnswer::SessionLost, _) => {
                // Nothing is open any more, and the pass is over when the others in flight have been answered, too.
                self.state = State::Closing;
                self.end_pass();
            }
            (FileAnswer::Done, State::Opening) => self.state = State::Open,
            (FileAnswer::Failed, State::Opening) | (_, State::Closing) => self.end_pass(),
            (_, State::Flushing) => self.state = State::Flushed,
            (FileAnswer::Done | FileAnswer::Failed, _) => {}
        }
    }

    fn end_pass(&mut self) {
        if 0 < self.n_in_flight {
            return;
        }
        self.state = if self.failed { State::Closed } else { State::Ended };
        self.pass = self.pass.wrapping_add(1);
        self.offset = 0;
        self.failed = false;
    }

    fn begin(&mut self, state: State, action: FileAction) -> FileStep {
        self.state = state;
        self.n_in_flight = 1;
        FileStep::Perform(FileOperation::of(action))
    }

    fn opening(&self) -> FileAction {
        let path = self.shape.path(self.client, self.pass);
        match self.shape.direction {
            StreamDirection::Read => FileAction::Open(HANDLE, path),
            StreamDirection::Write | StreamDirection::WriteAndFlush => {
                FileAction::Create(HANDLE, path, ExistingFile::Truncate)
            }
        }
    }

    fn may_send(&self) -> bool {
        !self.failed && self.offset < self.shape.file_bytes && self.n_in_flight < self.shape.in_flight
    }

    fn flushes(&self) -> bool {
        self.shape.direction == StreamDirection::WriteAndFlush && !self.failed
    }

    fn block(&mut self) -> FileOperation {
        let length = self.shape.block_bytes.min(self.shape.file_bytes - self.offset);
        let range = FileRange { offset: self.offset, length };
        self.offset += length;
        FileOperation::of(match self.shape.direction {
            StreamDirection::Read => FileAction::Read(HANDLE, range),
            StreamDirection::Write | StreamDirection::WriteAndFlush => FileAction::Write(HANDLE, range),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FileKind;

    const KIB: u64 = 1024;

    fn shape(in_flight: u8, files: StreamFiles, direction: StreamDirection) -> StreamShape {
        StreamShape::new(150 * KIB, 64 * KIB, in_flight, files, direction).unwrap()
    }

    /// The steps of a client of which each operation is done at once when it awaits one.
    fn steps(shape: StreamShape, n_steps: usize) -> Vec<String> {
        let mut client = shape.client(2);
        let mut steps = Vec::new();
        let mut answer = None;
        for _ in 0..n_steps {
            let step = client.next(answer.take());
            steps.push(match step {
                FileStep::Perform(operation) => operation.to_string(),
                other => format!("{other:?}"),
            });
            answer = (step == FileStep::Await).then_some(FileAnswer::Done);
        }
        steps
    }

    #[test]
    fn a_pass_opens_reads_to_the_end_and_closes() {
        let expected = [
            "open 0: private/c2/stream/f00000.bin",
            "Await",
            "read 0: 65536 at 0",
            "Await",
            "read 0: 65536 at 65536",
            "Await",
            "read 0: 22528 at 131072",
            "Await",
            "close 0",
            "Await",
            "UnitEnd",
            "open 0: private/c2/stream/f00000.bin",
        ];
        assert_eq!(steps(shape(1, StreamFiles::Private, StreamDirection::Read), 12), expected);
    }

    #[test]
    fn so_many_requests_are_in_flight_as_may_be() {
        let expected = [
            "open 0: private/c2/stream/f00000.bin",
            "Await",
            "read 0: 65536 at 0",
            "read 0: 65536 at 65536",
            "Await",
            "read 0: 22528 at 131072",
            "Await",
            "Await",
            "close 0",
        ];
        assert_eq!(steps(shape(2, StreamFiles::Private, StreamDirection::Read), 9), expected);
    }

    #[test]
    fn written_streams_are_flushed_where_that_is_wanted() {
        let kinds = |direction| -> Vec<String> {
            let steps = steps(shape(4, StreamFiles::Many(2), direction), 30);
            steps.into_iter().filter(|step| step != "Await").take(7).collect()
        };
        let expected = [
            "create or truncate 0: private/c2/stream/f00000.bin",
            "write 0: 65536 at 0",
            "write 0: 65536 at 65536",
            "write 0: 22528 at 131072",
        ];
        let flushed = kinds(StreamDirection::WriteAndFlush);
        assert_eq!(flushed[..4], expected);
        assert_eq!(flushed[4..], ["flush 0", "close 0", "UnitEnd"]);
        let unflushed = kinds(StreamDirection::Write);
        assert_eq!(unflushed[..4], expected);
        let second = "create or truncate 0: private/c2/stream/f00001.bin";
        assert_eq!(unflushed[4..], ["close 0", "UnitEnd", second]);
    }

    /// Bytes = size × passes.
    #[test]
    fn a_pass_has_the_bytes_of_the_file() {
        for in_flight in [1, 2, 3, 16] {
            let mut client = shape(in_flight, StreamFiles::Shared, StreamDirection::Read).client(0);
            let mut bytes = 0;
            let mut passes = 0;
            let mut answer = None;
            while passes < 5 {
                match client.next(answer.take()) {
                    FileStep::Perform(operation) => bytes += operation.read_bytes(),
                    FileStep::Await => answer = Some(FileAnswer::Done),
                    FileStep::UnitEnd => passes += 1,
                    step => panic!("{step:?}"),
                }
            }
            assert_eq!(bytes, 5 * 150 * KIB);
        }
    }

    #[test]
    fn a_failed_block_ends_the_pass_and_it_does_not_count() {
        let mut client = shape(2, StreamFiles::Private, StreamDirection::Read).client(0);
        let mut steps = Vec::new();
        let mut answers =
            [FileAnswer::Done, FileAnswer::Failed, FileAnswer::Done, FileAnswer::Done].into_iter();
        let mut answer = None;
        for _ in 0..10 {
            let step = client.next(answer.take());
            if step == FileStep::Await {
                answer = answers.next();
            }
            if let FileStep::Perform(operation) = step {
                steps.push(operation.kind());
            }
        }
        assert_eq!(steps, [FileKind::Open, FileKind::Read, FileKind::Read, FileKind::Close, FileKind::Open]);
    }

    #[test]
    fn a_lost_session_begins_anew_when_all_in_flight_are_answered() {
        let mut client = shape(2, StreamFiles::Private, StreamDirection::Read).client(0);
        client.next(None);
        client.next(Some(FileAnswer::Done));
        client.next(None);
        assert_eq!(client.next(Some(FileAnswer::SessionLost)), FileStep::Await);
        let step = client.next(Some(FileAnswer::SessionLost));
        assert!(
            matches!(step, FileStep::Perform(operation) if operation.kind() == FileKind::Open),
            "{step:?}"
        );
        assert_eq!(client.next(Some(FileAnswer::WrongBytes)), FileStep::Leave);
        assert_eq!(client.next(None), FileStep::Leave);
    }

    #[test]
    fn sizes_outside_the_limits_are_refused() {
        let new = |file, block, in_flight, files, direction| {
            StreamShape::new(file, block, in_flight, files, direction).unwrap_err().to_string()
        };
        let read = StreamDirection::Read;
        assert_eq!(
            new(1, 4095, 1, StreamFiles::Private, read),
            "a block has 4096 to 8388608 bytes, not 4095"
        );
        assert_eq!(
            new(1, 9 << 20, 1, StreamFiles::Private, read),
            "a block has 4096 to 8388608 bytes, not 9437184"
        );
        assert_eq!(
            new(0, 4096, 1, StreamFiles::Private, read),
            "a file has at least one byte and at most 1099511627776, not 0"
        );
        assert_eq!(new(1, 4096, 17, StreamFiles::Private, read), "1 to 16 requests are in flight, not 17");
        assert_eq!(new(1, 4096, 1, StreamFiles::Many(0), read), "a client has 1 to 1024 files, not 0");
        let shared = new(1, 4096, 1, StreamFiles::Shared, StreamDirection::Write);
        assert_eq!(shared, "a file that all clients share is only read");
    }
}
