//! The operations of each transaction of the Disk Mix.
//!
//! A transaction is drawn whole when it begins: at most [`OPERATIONS_MAX`] operations. No client has more than one
//! file open.

use units::Rng;

use super::created::CreatedFile;
use super::cycle::Task;
use super::draw::{Quota, Strata, from_table, is_percent, n_reads, save_size};
use super::tables::*;
use super::{DiskMix, PadUse};
use crate::operation::HANDLE;
use crate::{
    APPLICATION_FILE_BYTES, APPLICATION_FILES, ApplicationFolder, Entry, ExistingFile, FileAction,
    FileOperation, FilePath, FileRange, FindSize, Folder, InfoLevel, LISTED_ENTRIES, Owner, PAD_FILE_BYTES,
    PopulatedFile,
};

/// The most operations of a transaction: an update with 90 reads.
pub(super) const OPERATIONS_MAX: usize = 99;

/// The most names that a search asks for, as in the captured mix.
const FIND_WANTED: u32 = 1366;

/// Names of files that are not there are drawn from so many.
const MISSING_NAMES: u64 = 100_000;

/// A writer of transactions, with the parts that some of them have in addition.
#[derive(Debug, Clone)]
pub(super) struct TransactionWriter {
    read_queries: Quota,
    touch_queries: Quota,
    touch_sets: Quota,
    update_second_writes: Quota,
    update_flushes: Quota,
    update_sets: Quota,
    update_queries: Quota,
    save_flushes: Quota,
    save_sets: Quota,
    save_queries: Quota,
    fill_second_writes: Quota,
    fill_queries: Quota,
    n_updates: u16,
    reads: Strata<READING>,
    sizes: Strata<SAVING>,
}

/// The client of a transaction, and the application in whose slot it is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Actor<'a> {
    pub(super) mix: &'a DiskMix,
    pub(super) client: u32,
    pub(super) application: ApplicationFolder,
}

/// A list of operations that grows.
struct Script<'a>(&'a mut Vec<FileOperation>);

impl TransactionWriter {
    /// Makes the writer of a cycle.
    pub(super) fn new(rng: &mut Rng) -> TransactionWriter {
        TransactionWriter {
            read_queries: Quota::new(READ_QUERIES),
            touch_queries: Quota::new(TOUCH_QUERIES),
            touch_sets: Quota::new(TOUCH_SETS),
            update_second_writes: Quota::new(UPDATE_SECOND_WRITES),
            update_flushes: Quota::new(UPDATE_FLUSHES),
            update_sets: Quota::new(UPDATE_SETS),
            update_queries: Quota::new(UPDATE_QUERIES),
            save_flushes: Quota::new(SAVE_FLUSHES),
            save_sets: Quota::new(SAVE_SETS),
            save_queries: Quota::new(SAVE_QUERIES),
            fill_second_writes: Quota::new(FILL_SECOND_WRITES),
            fill_queries: Quota::new(FILL_QUERIES),
            n_updates: 0,
            reads: Strata::new(rng),
            sizes: Strata::new(rng),
        }
    }

    /// Appends the operations of a transaction.
    pub(super) fn write(&mut self, task: Task, actor: Actor, rng: &mut Rng, script: &mut Vec<FileOperation>) {
        let mut script = Script(script);
        let private = Owner::Client(actor.client);
        match task {
            Task::Populated(card) => self.populated(card, actor, rng, &mut script),
            Task::Create(card, file) => {
                script.add(FileAction::Create(HANDLE, file.path(actor.client), ExistingFile::Refuse));
                if card == Card::SaveNew {
                    self.save(rng, &mut script);
                }
                script.close();
            }
            Task::Fill(file) => self.fill(file.path(actor.client), true, rng, &mut script),
            Task::Refill(file) => self.fill(file.path(actor.client), false, rng, &mut script),
            Task::Rename(file) => rename(file, actor.client, &mut script),
            Task::BulkWrite(index) => bulk_write(private, index, &mut script),
            Task::BulkRead(index) => bulk_read(private, index, &mut script),
            Task::Delete(file) => {
                let path = file.path(actor.client);
                script.add(FileAction::PathQuery(path, InfoLevel::ATTRIBUTE_TAG));
                script.add(FileAction::Unlink(path));
            }
        }
    }

    fn populated(&mut self, card: Card, actor: Actor, rng: &mut Rng, script: &mut Script) {
        match card {
            Card::ReadDocument => self.read_document(actor, rng, script),
            Card::Touch => self.touch(actor, rng, script),
            Card::Update => self.update(actor, rng, script),
            Card::SetTimes => {
                script.open(actor.document(Owner::Client(actor.client), rng).path);
                script.add(FileAction::Set(HANDLE, InfoLevel::BASIC));
                script.close();
            }
            Card::ProbeOpen => script.miss(FileAction::Open(HANDLE, actor.missing(rng))),
            Card::StatHit => {
                let owner = actor.owner(rng);
                script.add(FileAction::PathQuery(actor.document(owner, rng).path, InfoLevel::BASIC));
            }
            Card::StatMiss => script.miss(FileAction::PathQuery(actor.missing(rng), InfoLevel::BASIC)),
            Card::SearchMiss => {
                let pattern = FilePath::new(actor.owner(rng), actor.folder(), Entry::NoFile);
                script.miss(FileAction::Find(pattern, FindSize { wanted: FIND_WANTED, found: Some(0) }));
            }
            Card::List => {
                let size = FindSize { wanted: FIND_WANTED, found: Some(LISTED_ENTRIES) };
                script.add(FileAction::Find(actor.listed(rng), size));
            }
            Card::VolumeSize => script.add(FileAction::VolumeQuery(InfoLevel::VOLUME_SIZE)),
            Card::CreateBrief | Card::CreateLasting | Card::SaveNew | Card::Rename | Card::Fill => {}
        }
    }

    fn read_document(&mut self, actor: Actor, rng: &mut Rng, script: &mut Script) {
        let owner = actor.owner(rng);
        let document = match owner {
            Owner::Shared => actor.document(owner, rng),
            Owner::Client(_) => actor.document_or_pad(rng),
        };
        script.open(document.path);
        script.query_if(self.read_queries.take(rng));
        let mut at = first_read(document, rng);
        script.read(at);
        for _ in 1..n_reads(self.reads.uniform(rng)) {
            at = next_read(at, document, rng);
            script.read(at);
        }
        script.close();
    }

    fn touch(&mut self, actor: Actor, rng: &mut Rng, script: &mut Script) {
        let owner = actor.owner(rng);
        script.open(actor.document(owner, rng).path);
        script.query_if(self.touch_queries.take(rng));
        script.set_if(self.touch_sets.take(rng));
        script.close();
    }

    fn update(&mut self, actor: Actor, rng: &mut Rng, script: &mut Script) {
        let is_shared = actor.updates_shared(rng);
        let owner = if is_shared { Owner::Shared } else { Owner::Client(actor.client) };
        let document = actor.document(owner, rng);
        let locked = FileRange { offset: LOCK_OFFSET, length: 1 };
        let has_lock = is_shared || self.n_updates < LOCKED_UPDATES;
        self.n_updates += 1;
        script.open(document.path);
        if has_lock {
            script.add(FileAction::Lock(HANDLE, locked));
        }
        let mut at = first_read(document, rng);
        script.read(at);
        for _ in 1..n_reads(self.reads.uniform(rng)) {
            at = sequential_read(at, document, rng);
            script.read(at);
        }
        for _ in 0..1 + u64::from(self.update_second_writes.take(rng)) {
            script.write(0, from_table(&UPDATE_SIZES, rng));
        }
        if self.update_flushes.take(rng) {
            script.add(FileAction::Flush(HANDLE));
        }
        script.set_if(self.update_sets.take(rng));
        script.query_if(self.update_queries.take(rng));
        if has_lock {
            script.add(FileAction::Unlock(HANDLE, locked));
        }
        script.close();
    }

    fn save(&mut self, rng: &mut Rng, script: &mut Script) {
        let size = save_size(self.sizes.uniform(rng));
        extend(size, rng, script);
        let mut offset = 0;
        while offset < size {
            let length = BULK_PIECE.min(size - offset);
            script.write(offset, length);
            offset += length;
        }
        if self.save_flushes.take(rng) {
            script.add(FileAction::Flush(HANDLE));
        }
        script.set_if(self.save_sets.take(rng));
        script.query_if(self.save_queries.take(rng));
    }

    fn fill(&mut self, path: FilePath, extends: bool, rng: &mut Rng, script: &mut Script) {
        let first = from_table(&FILL_SIZES, rng);
        let second = if self.fill_second_writes.take(rng) { FILL_SECOND_SIZE } else { 0 };
        script.open(path);
        if extends {
            extend(first + second, rng, script);
        }
        script.write(0, first);
        if 0 < second {
            script.write(first, second);
        }
        script.query_if(self.fill_queries.take(rng));
        script.close();
    }
}

/// Grows a file as a client does whose cache holds the data: a byte at the end of the first write that it has in mind,
/// and a question whether there was room.
fn extend(size: u64, rng: &mut Rng, script: &mut Script) {
    let first = if is_percent(EXTENDED_TO_END, rng) { size } else { from_table(&EXTENDED_SIZES, rng) };
    script.write(first.min(size) - 1, 1);
    script.add(FileAction::FileQuery(HANDLE, InfoLevel::STANDARD));
}

fn rename(file: CreatedFile, client: u32, script: &mut Script) {
    let from = file.path(client);
    script.add(FileAction::PathQuery(from, InfoLevel::ATTRIBUTE_TAG));
    script.open(from);
    script.close();
    script.add(FileAction::Rename(from, file.renamed().path(client)));
}

fn bulk_write(owner: Owner, index: usize, script: &mut Script) {
    let n_pieces = BULK_WRITES[index];
    script.open(bulk_file(owner, index));
    for piece in 0..n_pieces {
        script.read(tail(piece));
    }
    for piece in 0..n_pieces {
        script.write(piece * BULK_PIECE, BULK_PIECE);
    }
    script.close();
}

fn bulk_read(owner: Owner, index: usize, script: &mut Script) {
    script.open(bulk_file(owner, index));
    for piece in 0..BULK_READS[index] {
        script.read(FileRange { offset: piece * BULK_PIECE, length: BULK_PIECE - BULK_TAIL });
        script.read(tail(piece));
    }
    script.close();
}

fn bulk_file(owner: Owner, index: usize) -> FilePath {
    FilePath::new(owner, Folder::Bulk, Entry::File(index as u32))
}

/// Returns the last 4 KiB of a piece of 64 KiB.
fn tail(piece: u64) -> FileRange {
    FileRange { offset: piece * BULK_PIECE + BULK_PIECE - BULK_TAIL, length: BULK_TAIL }
}

/// Draws the first read of a file: at its beginning, in most cases.
fn first_read(document: PopulatedFile, rng: &mut Rng) -> FileRange {
    let length = from_table(&READ_SIZES, rng);
    let offset = match rng.below(100) {
        0..FIRST_READ_AT_ZERO => 0,
        _ => rng.below(document.bytes - length + 1),
    };
    FileRange { offset, length }
}

/// Draws the next read of a document: behind the last one, before it, or anywhere.
fn next_read(last: FileRange, document: PopulatedFile, rng: &mut Rng) -> FileRange {
    const EARLIER_END: u64 = NEXT_READ_SEQUENTIAL + NEXT_READ_EARLIER;
    let length = from_table(&READ_SIZES, rng);
    let offset = match rng.below(100) {
        0..NEXT_READ_SEQUENTIAL => return within(last.end(), length, document),
        NEXT_READ_SEQUENTIAL..EARLIER_END => rng.below(last.offset.max(1)),
        _ => rng.below(document.bytes - length + 1),
    };
    within(offset, length, document)
}

/// Draws the read behind the last one.
fn sequential_read(last: FileRange, document: PopulatedFile, rng: &mut Rng) -> FileRange {
    within(last.end(), from_table(&READ_SIZES, rng), document)
}

/// Returns a range that ends within the document: at its beginning, if it would not.
fn within(offset: u64, length: u64, document: PopulatedFile) -> FileRange {
    let offset = if offset + length <= document.bytes { offset } else { 0 };
    FileRange { offset, length }
}

impl Actor<'_> {
    /// Draws whose files are used: shared ones or the client's own.
    fn owner(&self, rng: &mut Rng) -> Owner {
        if rng.uniform() < self.mix.shared.0 { Owner::Shared } else { Owner::Client(self.client) }
    }

    /// Draws whether an update is one of a shared file.
    fn updates_shared(&self, rng: &mut Rng) -> bool {
        rng.uniform() < self.mix.shared_updates.0
    }

    fn folder(&self) -> Folder {
        Folder::Application(self.application)
    }

    /// Draws a file of the application.
    fn document(&self, owner: Owner, rng: &mut Rng) -> PopulatedFile {
        let number = rng.below(u64::from(self.application.n_files())) as u32;
        let path = FilePath::new(owner, self.folder(), Entry::File(number));
        PopulatedFile { path, bytes: APPLICATION_FILE_BYTES }
    }

    /// Draws a file of the client that is read: of the application, or of those that fill up the workspace, if they
    /// are in use, by the number of both.
    fn document_or_pad(&self, rng: &mut Rng) -> PopulatedFile {
        let owner = Owner::Client(self.client);
        let n_pads = match self.mix.pads {
            PadUse::Inert => 0,
            PadUse::Active => self.mix.workspace.n_pads(),
        };
        let drawn = rng.below(u64::from(n_pads + APPLICATION_FILES)) as u32;
        if drawn < n_pads {
            let path = FilePath::new(owner, Folder::Pad, Entry::File(drawn));
            return PopulatedFile { path, bytes: PAD_FILE_BYTES };
        }
        self.document(owner, rng)
    }

    /// Draws a path that no file has.
    fn missing(&self, rng: &mut Rng) -> FilePath {
        let owner = self.owner(rng);
        FilePath::new(owner, self.folder(), Entry::Missing(rng.below(MISSING_NAMES) as u32))
    }

    /// Returns the pattern of a folder that has eleven files: the shared one, or that of an application of the client.
    fn listed(&self, rng: &mut Rng) -> FilePath {
        let owner = self.owner(rng);
        let folder = match owner {
            Owner::Shared => Folder::Listed,
            Owner::Client(_) => Folder::Application(ApplicationFolder::LISTED),
        };
        FilePath::new(owner, folder, Entry::EveryFile)
    }
}

impl Script<'_> {
    fn add(&mut self, action: FileAction) {
        self.0.push(FileOperation::of(action));
    }

    fn miss(&mut self, action: FileAction) {
        self.0.push(FileOperation::missing(action));
    }

    fn open(&mut self, path: FilePath) {
        self.add(FileAction::Open(HANDLE, path));
    }

    fn close(&mut self) {
        self.add(FileAction::Close(HANDLE));
    }

    fn read(&mut self, range: FileRange) {
        self.add(FileAction::Read(HANDLE, range));
    }

    fn write(&mut self, offset: u64, length: u64) {
        self.add(FileAction::Write(HANDLE, FileRange { offset, length }));
    }

    fn query_if(&mut self, is_wanted: bool) {
        if is_wanted {
            self.add(FileAction::FileQuery(HANDLE, InfoLevel::BASIC));
        }
    }

    fn set_if(&mut self, is_wanted: bool) {
        if is_wanted {
            self.add(FileAction::Set(HANDLE, InfoLevel::BASIC));
        }
    }
}
