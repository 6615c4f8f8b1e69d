//! Application server workloads: transactions of clients that send and fetch messages, have something computed, and read
//! and write a file of their own on the server.

use languages::{NamedValues, names};
use serde::{Deserialize, Serialize};
use units::Bytes;

use super::family_workload::{FamilyWorkload, IN_FLIGHT_MAX};
use crate::{
    Catalog, ExpectedMeasure, Family, HasKind, Measure, MeasureUnit, OperationKind, Outcome, Score,
    ThinkTime, Words,
};

/// The measures of a transaction besides its response time, by their indexes in the catalog.
pub mod app_measure {
    /// The time that the request waited in the server's queue.
    pub const QUEUE: usize = 0;
    /// The time of its service.
    pub const SERVICE: usize = 1;
    /// The bytes sent, header and payload.
    pub const SENT_BYTES: usize = 2;
    /// The bytes received, header and payload.
    pub const RECEIVED_BYTES: usize = 3;
}

/// Length of the header of a request, in bytes.
const REQUEST_BYTES: u64 = 32;

/// Length of the header of a reply, in bytes.
const REPLY_BYTES: u64 = 56;

/// Length of the number of rounds in a request to compute, in bytes.
const ROUNDS_BYTES: u64 = 4;

/// Length of the blocks of a client's file, in bytes.
pub const APP_BLOCK_BYTES: u64 = 4096;

/// The shortest range of a client's file that transactions can use, in bytes: four blocks.
pub const APP_RANGE_BYTES_MIN: u64 = 4 * APP_BLOCK_BYTES;

/// The longest range of a client's file, in bytes.
pub(crate) const RANGE_BYTES_MAX: u64 = 1 << 40;

/// The shortest file of a client, in bytes: that of the original.
const FILE_BYTES_MIN: u64 = 20 << 20;

/// The length of a client's second file at which it begins anew, in bytes.
pub const APP_APPENDED_BYTES_MAX: u64 = 20 << 20;

/// The part of the server's memory that the ranges of [`AUTO_RANGE_CLIENTS`] clients fill, in percent, so that disks are
/// expected to take over near that many: 400 of 512 MB, where a test of the original saw it.
const AUTO_RANGE_PERCENT: u64 = 78;

/// The clients whose ranges fill that part.
const AUTO_RANGE_CLIENTS: u64 = 40;

names! {
    /// A transaction with an application server.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
    pub enum AppTransaction {
        /// A message to the server.
        ClientServer = "CS",
        /// A message from the server.
        ServerClient = "SC",
        /// A computation.
        Process = "PROC",
        /// A block anywhere in the range is read.
        RandomRead = "RREAD",
        /// A block anywhere in the range is written.
        RandomWrite = "RWRITE",
        /// The next four blocks of the range are read.
        SequentialRead = "SREAD",
        /// The next four blocks of the range are written.
        SequentialWrite = "SWRITE",
        /// A block is appended to a second file.
        Append = "APPEND",
    }
}

names! {
    /// A suite: which transactions clients make, and how often.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
    pub enum AppSuite {
        /// The system as a whole.
        System = "sys",
        /// The network: messages alone.
        Network = "net",
        /// The processors: computations alone.
        Processor = "cpu",
        /// The disks: files alone.
        Disk = "disk",
        /// The smallest transaction alone: messages to the server.
        Messages = "cs",
    }
}

names! {
    /// The way in which the server reads and writes the files of clients.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
    pub enum AppFileIo {
        /// Through the page cache; writes reach the disk later.
        Buffered = "buffered",
        /// Past the page cache.
        Direct = "direct",
        /// Through the page cache; a write ends when it is on the disk.
        Durable = "durable",
    }
}

names! {
    /// The protocol in which transactions are made.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
    pub enum AppProtocol {
        /// Binary frames in sessions over TCP.
        #[default]
        Binary = "binary",
        /// Requests of HTTP/1.1 on kept connections.
        Http = "http",
    }
}

/// The transactions of a benchmark and what they need.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AppWorkload {
    /// The transactions and their weights.
    pub suite: AppSuite,
    /// The lengths of messages and their weights; not empty.
    pub payloads: Vec<AppPayload>,
    /// The rounds of a computation.
    pub rounds: u32,
    /// The part of a client's file that transactions use, in bytes: whole blocks, at least [`APP_RANGE_BYTES_MIN`].
    pub range_bytes: u64,
    /// The origin of that length, where it follows from the server's memory; `None` where it is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub auto_range: Option<AutoRange>,
    /// The way in which files are read and written.
    pub io: AppFileIo,
    /// Whether the range begins outside the page cache.
    pub is_cold: bool,
    /// The protocol in which they are made.
    #[serde(default)]
    pub protocol: AppProtocol,
    /// The pause after each transaction.
    pub think: ThinkTime,
}

/// A range of files that follows from the memory limit of the server.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AutoRange {
    /// The limit in force in bytes, as it was read; `None` until the server is up, while the range is not yet fitted to it.
    pub memory_bytes: Option<u64>,
}

/// A length of messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AppPayload {
    /// The length in bytes.
    pub bytes: u32,
    /// Its share of all messages is this divided by the sum of all weights. Above zero.
    pub weight: u64,
}

/// One transaction with an application server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AppRequest {
    /// Index into the kinds of the workload's suite.
    pub kind: u16,
    /// The transaction of that kind.
    pub transaction: AppTransaction,
    /// Length of the message in bytes; 0 where there is none.
    pub bytes: u32,
    /// The number that determines its content, its seed or its block.
    pub number: u64,
}

impl HasKind for AppRequest {
    fn kind(&self) -> u16 {
        self.kind
    }
}

impl AppSuite {
    /// Returns the transactions of the suite with their weights, whose sum is 100.
    ///
    /// The original gave the names of those of the system suite. The weights, and the other suites, are our own.
    pub fn transactions(self) -> &'static [(AppTransaction, u64)] {
        match self {
            AppSuite::System => &[
                (AppTransaction::ClientServer, 20),
                (AppTransaction::Process, 20),
                (AppTransaction::ServerClient, 20),
                (AppTransaction::RandomRead, 20),
                (AppTransaction::RandomWrite, 20),
            ],
            AppSuite::Network => &[(AppTransaction::ClientServer, 50), (AppTransaction::ServerClient, 50)],
            AppSuite::Processor => &[(AppTransaction::Process, 100)],
            AppSuite::Messages => &[(AppTransaction::ClientServer, 100)],
            AppSuite::Disk => &[
                (AppTransaction::RandomRead, 35),
                (AppTransaction::RandomWrite, 15),
                (AppTransaction::SequentialRead, 20),
                (AppTransaction::SequentialWrite, 15),
                (AppTransaction::Append, 15),
            ],
        }
    }
}

impl AppTransaction {
    /// Returns whether it uses a file of the client.
    pub fn needs_file(self) -> bool {
        !matches!(self, AppTransaction::ClientServer | AppTransaction::ServerClient | AppTransaction::Process)
    }
}

/// The outcomes of transactions that failed, of all families whose servers speak in frames.
pub(super) const OUTCOMES: [Outcome; 15] = [
    Outcome::Refused,
    Outcome::Reset,
    Outcome::Unreachable,
    Outcome::TimedOut,
    Outcome::WrongStatus,
    Outcome::MalformedHead,
    Outcome::Truncated,
    Outcome::WrongLength,
    Outcome::WrongBytes,
    Outcome::NoLocalPort,
    Outcome::NoDescriptor,
    Outcome::Forbidden,
    Outcome::Busy,
    Outcome::SessionLost,
    Outcome::Inconsistent,
];

/// The outcomes that only transactions over HTTP can have.
const OUTCOMES_OF_HTTP: [Outcome; 2] = [Outcome::OversizedHead, Outcome::MalformedBody];

impl AppWorkload {
    /// Returns whether transactions of the suite use files.
    pub fn needs_files(&self) -> bool {
        self.suite.transactions().iter().any(|(transaction, _)| transaction.needs_file())
    }

    /// Returns the length of a client's file in bytes: twice the range, and at least 20 MiB.
    pub fn file_bytes(&self) -> u64 {
        file_bytes(self.range_bytes)
    }

    /// Returns the greatest length that a client's file can have in bytes: of a range that is not yet fitted to the server's
    /// memory, that of the longest range.
    pub fn file_bytes_max(&self) -> u64 {
        if self.needs_memory_limit() { file_bytes(RANGE_BYTES_MAX) } else { self.file_bytes() }
    }

    /// Returns the bytes that the files of a client can take on the server's disk; 0 where transactions use none.
    pub fn disk_bytes(&self) -> u64 {
        let uses = |wanted: fn(AppTransaction) -> bool| {
            self.suite.transactions().iter().any(|(transaction, _)| wanted(*transaction))
        };
        let file = if uses(AppTransaction::needs_file) { self.file_bytes() } else { 0 };
        let appends = uses(|transaction| transaction == AppTransaction::Append);
        file.saturating_add(if appends { APP_APPENDED_BYTES_MAX } else { 0 })
    }

    /// Returns whether the range is still to be fitted to the server's memory limit.
    pub fn needs_memory_limit(&self) -> bool {
        self.auto_range == Some(AutoRange::default())
    }

    /// Fits a range that follows from the server's memory to its limit in force, in bytes: 0.78 · M ÷ 40, in whole blocks.
    pub(crate) fn fit_to_memory(&mut self, memory: u64) {
        if let Some(auto) = &mut self.auto_range {
            let range = memory / 100 * AUTO_RANGE_PERCENT / AUTO_RANGE_CLIENTS;
            let range = range.clamp(APP_RANGE_BYTES_MIN, RANGE_BYTES_MAX);
            self.range_bytes = range / APP_BLOCK_BYTES * APP_BLOCK_BYTES;
            auto.memory_bytes = Some(memory);
        }
    }

    /// Describes the files of clients; `None` where transactions use none.
    pub(crate) fn data_text(&self) -> Option<String> {
        let origin = match self.auto_range {
            Some(AutoRange { memory_bytes: Some(memory) }) => {
                format!(" (0.78 of the server’s memory limit of {} ÷ 40)", Bytes(memory))
            }
            _ => String::new(),
        };
        let file = Bytes(self.file_bytes());
        let range = Bytes(self.range_bytes);
        self.needs_files()
            .then(|| format!("a file of {file} for each client, of which {range} are used{origin}"))
    }

    /// Returns what a run of the workload counts and measures.
    pub fn catalog(&self) -> Catalog {
        let transactions = self.suite.transactions();
        let is_binary = self.protocol == AppProtocol::Binary;
        let total: u64 = transactions.iter().map(|(_, weight)| weight).sum();
        let kind = |&(transaction, weight): &(AppTransaction, u64)| OperationKind {
            name: transaction.name().to_owned(),
            share: Some(weight as f64 / total as f64),
            share_gap_max: None,
            limits: Vec::new(),
            measures: Vec::new(),
            // The heads of HTTP have no fixed length.
            expected: if is_binary { self.expected(transaction).into() } else { Vec::new() },
        };
        // Over HTTP a server need not state its times.
        let time = |name| Measure {
            is_always: is_binary,
            has_spread: true,
            ..Measure::always(name, MeasureUnit::Nanoseconds)
        };
        let of_http = OUTCOMES_OF_HTTP.iter().filter(|_| !is_binary);
        Catalog {
            kinds: transactions.iter().map(kind).collect(),
            units: Vec::new(),
            pauses: self.think.pauses(),
            measures: vec![
                time("queue"),
                time("service"),
                Measure::always("sent bytes", MeasureUnit::Bytes),
                Measure::always("received bytes", MeasureUnit::Bytes),
            ],
            transferred: vec![app_measure::SENT_BYTES, app_measure::RECEIVED_BYTES],
            response_parts: vec![app_measure::QUEUE, app_measure::SERVICE],
            notices: Vec::new(),
            bands: Vec::new(),
            codes: Vec::new(),
            in_flight: None,
            sizing: None,
            outcomes: OUTCOMES.iter().chain(of_http).copied().collect(),
            score: Score::default(),
            words: Words::of_rate("transaction", "client"),
        }
    }

    /// Returns the bytes that a transaction sends and receives as binary frames.
    fn expected(&self, transaction: AppTransaction) -> [ExpectedMeasure; 2] {
        let bytes = |measure, header: u64, payload: [f64; 3]| {
            let [least, most, mean] = payload;
            let least = header + least as u64;
            let most = header + most as u64;
            ExpectedMeasure { measure, least, most, mean: header as f64 + mean }
        };
        let message = self.message_bytes();
        let none = [0.0; 3];
        let (sent, received) = match transaction {
            AppTransaction::ClientServer => (message, none),
            AppTransaction::ServerClient => (none, message),
            AppTransaction::Process => ([ROUNDS_BYTES as f64; 3], none),
            _ => (none, none),
        };
        [
            bytes(app_measure::SENT_BYTES, REQUEST_BYTES, sent),
            bytes(app_measure::RECEIVED_BYTES, REPLY_BYTES, received),
        ]
    }

    /// Returns the least, the greatest and the mean length of messages, in bytes.
    fn message_bytes(&self) -> [f64; 3] {
        let lengths = self.payloads.iter().map(|payload| f64::from(payload.bytes));
        let total: f64 = self.payloads.iter().map(|payload| payload.weight as f64).sum();
        let sum: f64 = self.payloads.iter().map(|one| f64::from(one.bytes) * one.weight as f64).sum();
        [lengths.clone().fold(f64::INFINITY, f64::min), lengths.fold(0.0, f64::max), sum / total]
    }
}

/// Returns the length of a client's file with this range, both in bytes.
fn file_bytes(range: u64) -> u64 {
    range.saturating_mul(2).max(FILE_BYTES_MIN)
}

impl FamilyWorkload for AppWorkload {
    fn family(&self) -> Family {
        Family::App
    }

    fn in_flight_max(&self) -> u32 {
        IN_FLIGHT_MAX
    }

    fn catalog(&self) -> Catalog {
        AppWorkload::catalog(self)
    }

    fn think(&self) -> ThinkTime {
        self.think
    }

    fn has_user_state(&self) -> bool {
        false
    }

    fn is_encrypted(&self) -> bool {
        false
    }

    fn has_one_writer(&self, _: &str) -> bool {
        false
    }

    fn grows_with_load(&self) -> bool {
        self.needs_files()
    }

    fn data_text(&self) -> Option<String> {
        AppWorkload::data_text(self)
    }

    fn mode_text(&self) -> Option<String> {
        None
    }

    fn notice(&self) -> Option<&'static str> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn workload(suite: AppSuite) -> AppWorkload {
        let payload = |(bytes, weight)| AppPayload { bytes, weight };
        AppWorkload {
            suite,
            payloads: [(512, 40), (2048, 30), (8192, 20), (32_768, 10)].map(payload).into(),
            rounds: 200_000,
            range_bytes: 10 << 20,
            auto_range: None,
            io: AppFileIo::Buffered,
            is_cold: false,
            protocol: AppProtocol::Binary,
            think: ThinkTime::None,
        }
    }

    #[test]
    fn catalogs_are_valid_and_shares_are_the_declared_ones() {
        for (_, suite) in AppSuite::NAMES {
            let catalog = workload(*suite).catalog();
            assert_eq!(catalog.check(), Ok(()), "{suite:?}");
            assert_eq!(suite.transactions().iter().map(|(_, weight)| weight).sum::<u64>(), 100);
        }
        let shares: Vec<_> = workload(AppSuite::Disk)
            .catalog()
            .kinds
            .iter()
            .map(|kind| (kind.name.clone(), kind.share.unwrap()))
            .collect();
        let expected =
            [("RREAD", 0.35), ("RWRITE", 0.15), ("SREAD", 0.2), ("SWRITE", 0.15), ("APPEND", 0.15)];
        assert_eq!(shares, expected.map(|(name, share)| (name.to_owned(), share)));
    }

    /// Over HTTP neither the length of heads nor the times of the server are known beforehand.
    #[test]
    fn over_http_nothing_is_expected_of_bytes_and_times() {
        for (_, suite) in AppSuite::NAMES {
            let catalog = AppWorkload { protocol: AppProtocol::Http, ..workload(*suite) }.catalog();
            assert_eq!(catalog.check(), Ok(()), "{suite:?}");
            assert!(catalog.kinds.iter().all(|kind| kind.expected.is_empty()));
            let is_always: Vec<bool> = catalog.measures.iter().map(|measure| measure.is_always).collect();
            assert_eq!(is_always, [false, false, true, true]);
            assert!(catalog.can_fail_with(Outcome::OversizedHead) && catalog.can_fail_with(Outcome::Busy));
        }
    }

    /// (512·40 + 2048·30 + 8192·20 + 32768·10) ÷ 100 = 5734.4
    #[test]
    fn messages_have_the_expected_length() {
        let catalog = workload(AppSuite::Network).catalog();
        let sent = catalog.expected(0, app_measure::SENT_BYTES).unwrap();
        assert_eq!((sent.least, sent.most, sent.mean), (544, 32_800, 5766.4));
        let received = catalog.expected(1, app_measure::RECEIVED_BYTES).unwrap();
        assert_eq!((received.least, received.most, received.mean), (568, 32_824, 5790.4));
        let computing = workload(AppSuite::Processor).catalog();
        assert_eq!(computing.expected(0, app_measure::SENT_BYTES).unwrap().mean, 36.0);
    }

    #[test]
    fn files_are_twice_the_range_and_at_least_20_mib() {
        assert_eq!(workload(AppSuite::Disk).file_bytes(), 20 << 20);
        let large = AppWorkload { range_bytes: 100 << 20, ..workload(AppSuite::Disk) };
        assert_eq!(large.file_bytes(), 200 << 20);
        let disk = |suite| workload(suite).disk_bytes();
        assert_eq!([AppSuite::System, AppSuite::Network, AppSuite::Disk].map(disk), [20 << 20, 0, 40 << 20]);
        let needs = AppSuite::NAMES.iter().map(|(_, suite)| workload(*suite).needs_files());
        assert_eq!(needs.collect::<Vec<_>>(), [true, false, false, true, false]);
    }

    /// 512 MiB · 0.78 ÷ 40 = 10.47 MB, in whole blocks.
    #[test]
    fn a_range_of_auto_follows_the_memory() {
        let fitted = |memory| {
            let mut app = AppWorkload { auto_range: Some(AutoRange::default()), ..workload(AppSuite::Disk) };
            assert!(app.needs_memory_limit() && app.file_bytes_max() == 2 << 40);
            app.fit_to_memory(memory);
            assert!(!app.needs_memory_limit() && app.file_bytes_max() == app.file_bytes());
            app
        };
        let ranges = [512 << 20, 1 << 10, u64::MAX].map(|memory| fitted(memory).range_bytes);
        assert_eq!(ranges, [2555 * 4096, APP_RANGE_BYTES_MIN, RANGE_BYTES_MAX]);
        assert_eq!(
            fitted(512 << 20).data_text().unwrap(),
            "a file of 20.0 MiB for each client, of which 10.0 MiB are used (0.78 of the server’s memory limit of 512.0 MiB \
             ÷ 40)"
        );
        let mut given = workload(AppSuite::Disk);
        given.fit_to_memory(512 << 20);
        assert_eq!(given, workload(AppSuite::Disk));
    }
}
