//! The Disk Mix: the file operations of office programs, in cycles of some 3,550 operations.
//!
//! The original, NetBench, replays what eight Windows programs do. Its operations are known from a capture of one
//! client, dbench's load file. Ours has no recorded sequence: each cycle is a random order of small transactions,
//! whose numbers and sizes are such that operations, bytes and their distributions are those of the capture. Unlike
//! there, clients differ in their order, content can be verified, and a part of the reading is of files that all
//! clients share.
//!
//! Numbers of additional parts are exact in each cycle, and the numbers of reads and the sizes of new files are drawn
//! evenly over their distributions, so that cycles have nearly equal work. Created files are in a folder of their own,
//! so that a listed folder has eleven entries at any time.
//!
//! Reads and writes never end behind the end of a file, no operation is on a file that is not there, unless it is
//! meant to fail, and a cycle deletes all that it has created.

mod created;
mod cycle;
mod draw;
mod tables;
mod transaction;

use units::{Ratio, Rng, StreamPurpose};

use self::cycle::{Cycle, Task};
use self::transaction::{Actor, OPERATIONS_MAX, TransactionWriter};
use crate::{FileAction, FileAnswer, FileOperation, FileStep, Handle, Workspace};

/// The mean number of operations of a cycle.
pub const CYCLE_OPERATIONS: u32 = 3550;

/// The use of the files that fill up a workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PadUse {
    /// They are only there, as in the original.
    Inert,
    /// They are read as documents are, so that what is in use grows with the workspace.
    Active,
}

/// The settings of a Disk Mix.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DiskMix {
    /// The seed of the run.
    pub seed: u64,
    /// The workspace of each client.
    pub workspace: Workspace,
    /// The share of reading, touching, asking and searching that is on shared files.
    pub shared: Ratio,
    /// The share of updates that is on shared files. They are locked meanwhile.
    pub shared_updates: Ratio,
    /// The use of the files that fill up the workspace.
    pub pads: PadUse,
}

impl DiskMix {
    /// Makes the mix with the standard settings: 20 MiB, a fifth of the reading and a twentieth of the updates shared.
    pub fn new(seed: u64) -> DiskMix {
        DiskMix {
            seed,
            workspace: Workspace::default(),
            shared: Ratio(0.20),
            shared_updates: Ratio(0.05),
            pads: PadUse::Inert,
        }
    }

    /// Makes the mix without shared files, to be compared with dbench.
    pub fn unshared(seed: u64) -> DiskMix {
        DiskMix { shared: Ratio(0.0), shared_updates: Ratio(0.0), ..DiskMix::new(seed) }
    }

    /// Makes the client of this number, from 0.
    pub fn client(&self, client: u32) -> DiskMixClient {
        DiskMixClient::new(*self, client)
    }
}

/// A client of the Disk Mix.
///
/// | state | answer | next |
/// |---|---|---|
/// | within a transaction | done | its next operation, or the next transaction |
/// | | failed | the file is closed, if it is open, and the transaction is over |
/// | | session lost | the transaction is over |
/// | | wrong bytes | the client leaves |
/// | at the end of a cycle | | the unit is counted, and the next cycle begins |
#[derive(Debug, Clone)]
pub struct DiskMixClient {
    mix: DiskMix,
    client: u32,
    n_cycles: u32,
    rng: Rng,
    cycle: Cycle,
    writer: TransactionWriter,
    /// The operations performed in the cycle.
    n_operations: u32,
    task: Option<Task>,
    /// The operations of the transaction, and how many of them have been asked for.
    script: Vec<FileOperation>,
    n_asked: usize,
    /// The index of the operation that failed.
    failed: Option<usize>,
    /// The file that is open.
    open: Option<Handle>,
    has_left: bool,
}

impl DiskMixClient {
    fn new(mix: DiskMix, client: u32) -> DiskMixClient {
        let mut rng = cycle_rng(mix.seed, client, 0);
        let cycle = Cycle::new(0, &mut rng);
        let writer = TransactionWriter::new(&mut rng);
        DiskMixClient {
            mix,
            client,
            n_cycles: 0,
            rng,
            cycle,
            writer,
            n_operations: 0,
            task: None,
            script: Vec::with_capacity(OPERATIONS_MAX),
            n_asked: 0,
            failed: None,
            open: None,
            has_left: false,
        }
    }

    /// Returns the next step. `last` is the answer to the operation performed just before, if any.
    pub fn next(&mut self, last: Option<FileAnswer>) -> FileStep {
        if let Some(answer) = last {
            self.heed(answer);
        }
        if self.has_left {
            return FileStep::Leave;
        }
        if self.script.len() <= self.n_asked {
            self.finish_transaction();
            if !self.begin_transaction() {
                self.begin_cycle();
                return FileStep::UnitEnd;
            }
        }
        let operation = self.script[self.n_asked];
        self.n_asked += 1;
        self.n_operations += 1;
        FileStep::Perform(operation)
    }

    /// Returns the number of cycles that have ended.
    pub fn n_cycles(&self) -> u32 {
        self.n_cycles
    }

    fn heed(&mut self, answer: FileAnswer) {
        let Some(index) = self.n_asked.checked_sub(1) else { return };
        let operation = self.script[index];
        if operation.closes().is_some() {
            self.open = None;
        }
        match answer {
            FileAnswer::Done => self.open = operation.opens().or(self.open),
            FileAnswer::Failed => {
                self.end_early(index);
                let close = self.open.map(|handle| FileOperation::of(FileAction::Close(handle)));
                self.script.extend(close);
            }
            FileAnswer::SessionLost => {
                self.end_early(index);
                self.open = None;
            }
            FileAnswer::WrongBytes => self.has_left = true,
        }
    }

    fn end_early(&mut self, index: usize) {
        self.failed = self.failed.or(Some(index));
        self.script.truncate(self.n_asked);
    }

    fn finish_transaction(&mut self) {
        if let Some(task) = self.task.take() {
            self.cycle.finished(task, self.failed.take(), self.n_operations, &mut self.rng);
        }
        self.script.clear();
        self.n_asked = 0;
    }

    /// Begins the next transaction of the cycle. Returns whether there is one.
    fn begin_transaction(&mut self) -> bool {
        self.task = self.cycle.next(self.n_operations, &mut self.rng);
        let Some(task) = self.task else { return false };
        let actor = Actor { mix: &self.mix, client: self.client, application: self.cycle.application() };
        self.writer.write(task, actor, &mut self.rng, &mut self.script);
        true
    }

    fn begin_cycle(&mut self) {
        self.n_cycles = self.n_cycles.wrapping_add(1);
        self.rng = cycle_rng(self.mix.seed, self.client, self.n_cycles);
        self.cycle = Cycle::new(self.n_cycles, &mut self.rng);
        self.writer = TransactionWriter::new(&mut self.rng);
        self.n_operations = 0;
    }
}

/// Makes the random stream of a cycle: of seed, client and cycle alone.
fn cycle_rng(seed: u64, client: u32, cycle: u32) -> Rng {
    Rng::new(seed, StreamPurpose::Cycle, u64::from(client) << 32 | u64::from(cycle))
}
