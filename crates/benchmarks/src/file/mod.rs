//! Benchmarks of file servers: clients perform the operations of office programs, streams, or one kind of operation.
//!
//! `docs/benchmarks/netbench.md` says what the original did, what these do, and every known difference.

mod capture;

use std::sync::Arc;

use files::{
    DiskMix, DiskMixClient, FileAction, FileAnswer, FileOperation, FileStep, InfoLevel, LoadFile,
    MicroClient, MicroSettings, ReplayClient, StreamClient, StreamShape,
};
use model::{FileSettingsError, FileWork, FileWorkload, Mix, PauseStart, Step, User, UserReply, file_pause};
use units::{Nanos, Rng};

pub use self::capture::{CaptureError, capture, replaying};
use crate::Builtin;

/// The Disk Mix with the procedure of IBM's report: 4 to 60 clients.
pub(crate) const NETBENCH: Builtin = Builtin {
    id: "netbench",
    definition_file: "netbench.toml",
    definition: include_str!("netbench.toml"),
    filelists: &[],
};

/// Sequential streams of up to 32 clients.
pub(crate) const SEQREAD: Builtin = Builtin {
    id: "seqread",
    definition_file: "seqread.toml",
    definition: include_str!("seqread.toml"),
    filelists: &[],
};

/// Tests of one kind of operation.
pub(crate) const FILE_MICRO: Builtin = Builtin {
    id: "file-micro",
    definition_file: "file-micro.toml",
    definition: include_str!("file-micro.toml"),
    filelists: &[],
};

/// The clients of a file workload.
#[derive(Debug, Clone)]
pub struct FileClients {
    work: ClientWork,
    n_kinds: usize,
    n_units: usize,
    /// Whether clients lock files.
    has_locks: bool,
}

/// The work of clients with the seed of a run.
#[derive(Debug, Clone)]
enum ClientWork {
    DiskMix(DiskMix),
    Streams(StreamShape),
    Micro(MicroSettings),
    Captured(Arc<LoadFile>),
}

impl FileClients {
    /// Makes the clients of a workload; the seed is that of the run.
    ///
    /// # Errors
    /// Settings contradict each other, as those of no plan do, or the operations of a captured mix are not there.
    pub fn new(workload: &FileWorkload, seed: u64) -> Result<FileClients, FileSettingsError> {
        let work = match &workload.work {
            FileWork::DiskMix(mix) => ClientWork::DiskMix(mix.mix(seed)?),
            FileWork::Streams(streams) => ClientWork::Streams(streams.shape()?),
            FileWork::Micro(micro) => ClientWork::Micro(micro.settings(seed)?),
            FileWork::Captured(capture) => ClientWork::Captured(Arc::clone(capture.load()?)),
        };
        let catalog = workload.catalog();
        let (n_kinds, n_units) = (catalog.kinds.len(), catalog.units.len());
        Ok(FileClients { work, n_kinds, n_units, has_locks: workload.has_locks() })
    }
}

/// A virtual user that is a client of a file server.
#[derive(Debug, Clone)]
pub struct FileUser {
    client: Client,
    /// Whether the client locks files; if not, these operations are left out, as if they had been done.
    has_locks: bool,
    /// Whether an operation of the unit has had another result than expected.
    has_failed: bool,
    /// The recorded time of the last operation that has one, from the begin of the loop.
    last_time: Option<Nanos>,
}

/// The state machine of a client. The large ones are boxed, but there is one of each user.
#[derive(Debug, Clone)]
enum Client {
    DiskMix(Box<DiskMixClient>),
    Stream(StreamClient),
    Micro(MicroClient),
    Replay(Box<ReplayClient>),
}

impl Client {
    fn next(&mut self, last: Option<FileAnswer>) -> FileStep {
        match self {
            Client::DiskMix(client) => client.next(last),
            Client::Stream(client) => client.next(last),
            Client::Micro(client) => client.next(last),
            Client::Replay(client) => client.next(last),
        }
    }
}

impl User for FileUser {
    type Operation = FileOperation;

    fn next(&mut self, last: Option<UserReply>, _: &mut Rng) -> Step<FileOperation> {
        let answer = last.map(|reply| FileAnswer::from_u64(reply.value));
        self.has_failed |= answer.is_some_and(|answer| answer != FileAnswer::Done);
        let mut next = self.client.next(answer);
        while let FileStep::Perform(operation) = &next
            && !self.has_locks
            && matches!(operation.action, FileAction::Lock(..) | FileAction::Unlock(..))
        {
            next = self.client.next(Some(FileAnswer::Done));
        }
        match next {
            FileStep::Perform(operation) => Step::Perform(operation),
            FileStep::UnitEnd => {
                self.last_time = None;
                Step::Unit { kind: 0, ok: !std::mem::take(&mut self.has_failed) }
            }
            FileStep::Await => Step::Await,
            FileStep::Pause(time) => {
                self.last_time = self.last_time.map(|last| last.saturating_add(time));
                Step::Think { kind: file_pause::RECORDED, time, from: PauseStart::Done }
            }
            FileStep::PauseUntil(at) => self.pause_until(at),
            FileStep::Leave => Step::Leave,
        }
    }
}

impl FileUser {
    /// Returns the pause before an operation with a recorded time, which counts from the begin of the loop: the operation is
    /// due so long after the one before as it was recorded. The first of a loop counts from the end of the loop before, so
    /// that a client that is late does not stay late for ever.
    fn pause_until(&mut self, at: Nanos) -> Step<FileOperation> {
        let (time, from) = match self.last_time {
            Some(last) => (at.saturating_sub(last), PauseStart::Due),
            None => (at, PauseStart::Done),
        };
        self.last_time = Some(at);
        Step::Think { kind: file_pause::BETWEEN, time, from }
    }
}

impl Mix for FileClients {
    type Operation = FileOperation;
    type User = FileUser;

    fn user(&self, user: u32) -> FileUser {
        let client = match &self.work {
            ClientWork::DiskMix(mix) => Client::DiskMix(Box::new(mix.client(user))),
            ClientWork::Streams(shape) => Client::Stream(shape.client(user)),
            ClientWork::Micro(settings) => Client::Micro(settings.client(user)),
            ClientWork::Captured(load) => Client::Replay(Box::new(ReplayClient::new(Arc::clone(load), user))),
        };
        FileUser { client, has_locks: self.has_locks, has_failed: false, last_time: None }
    }

    /// A client has files open.
    fn has_user_state(&self) -> bool {
        true
    }

    fn in_flight(&self) -> usize {
        match &self.work {
            ClientWork::Streams(shape) => shape.in_flight(),
            ClientWork::DiskMix(_) | ClientWork::Micro(_) | ClientWork::Captured(_) => 1,
        }
    }

    fn scheduled(&self, _: u64) -> FileOperation {
        FileOperation::of(FileAction::VolumeQuery(InfoLevel::VOLUME_SIZE))
    }

    fn n_kinds(&self) -> usize {
        self.n_kinds
    }

    fn n_units(&self) -> usize {
        self.n_units
    }
}

#[cfg(test)]
mod tests {
    use files::{FileKind, FileRange, Handle, NetBenchProcedure};
    use model::{
        FileDialect, FileMicroSettings, FileMixSettings, FileStreamSettings, FileTest, FileTransport,
        HasKind, LoadUnit, Outcome, Overrides, Score, SutPlan, Workload, file_measure, make_plan,
    };
    use units::StreamPurpose;

    use super::*;

    fn workload(builtin: &Builtin) -> FileWorkload {
        match builtin.load().workload {
            Workload::File(file) => file,
            _ => panic!("of file servers"),
        }
    }

    /// Golden check 16, of the definition: 4, 12 … 60 clients, 660 s with both ramps, of which 600 s are measured.
    #[test]
    fn the_procedure_is_that_of_the_report() {
        let definition = NETBENCH.load().definition;
        let original = NetBenchProcedure::IBM97;
        let levels = definition.load.levels.list(None, LoadUnit::Users);
        assert_eq!(levels, original.clients.iter().map(|n| f64::from(*n)).collect::<Vec<_>>());
        let phases = definition.phases;
        assert_eq!(phases.ramp_up, original.stagger);
        assert_eq!(phases.ramp_up + phases.settle, original.ramp_up);
        assert_eq!((phases.steady, phases.ramp_down), (original.window(), original.ramp_down));
        let FileWork::DiskMix(mix) = workload(&NETBENCH).work else { panic!("a Disk Mix") };
        let workspace_mebibytes = original.workspace_megabytes;
        assert_eq!(mix, FileMixSettings { workspace_mebibytes, ..FileMixSettings::STANDARD });
    }

    #[test]
    fn streams_and_micro_tests_have_the_standard_sizes() {
        assert_eq!(workload(&SEQREAD).work, FileWork::Streams(FileStreamSettings::STANDARD));
        let standard = FileMicroSettings::standard(FileTest::RandomRead);
        assert_eq!(workload(&FILE_MICRO).work, FileWork::Micro(standard));
    }

    #[test]
    fn the_score_of_a_throughput_is_of_bytes_read_and_written() {
        for builtin in [NETBENCH, SEQREAD] {
            let benchmark = builtin.load();
            let catalog = benchmark.definition.catalog(&benchmark.workload);
            let measures = vec![file_measure::READ_BYTES, file_measure::WRITTEN_BYTES];
            assert_eq!(catalog.score, Score::Throughput { measures });
            assert_eq!((catalog.check(), catalog.words.score.as_str()), (Ok(()), "megabits per second"));
        }
    }

    /// The workspaces of a short run have 20 MiB, and those of a standard run 80.
    #[test]
    fn settings_of_other_work_are_refused() {
        let planned = |quick, name, value| {
            let benchmark = NETBENCH.load();
            let setting = model::Family::File.choose_setting(name, value).unwrap();
            let overrides =
                Overrides { quick, settings: vec![setting], ..Overrides::new(SutPlan::of("embedded")) };
            make_plan(&benchmark.definition, benchmark.workload, &overrides)
        };
        let plan = planned(true, "verify", "full").unwrap();
        let row = plan.modifications.iter().find(|row| row.what == "workspace").unwrap();
        assert_eq!((row.standard.as_str(), row.ours.as_str()), ("80 MiB", "20 MiB"));
        let problem = &planned(false, "block", "1 MiB").unwrap_err()[0];
        assert_eq!(problem.to_string(), "the setting `block` does not apply to the work of this benchmark");
    }

    /// Lets a user go on with the same answer to each operation until it has counted units or left. Returns the kinds of
    /// its operations, and whether each unit was whole.
    fn follow(user: &mut FileUser, answer: FileAnswer, n_units: usize) -> (Vec<u16>, Vec<bool>) {
        let mut rng = Rng::new(1, StreamPurpose::User, 0);
        let mut kinds = Vec::new();
        let mut units = Vec::new();
        let mut last = None;
        while units.len() < n_units {
            match user.next(last.take(), &mut rng) {
                Step::Perform(operation) => {
                    kinds.push(HasKind::kind(&operation));
                    last = Some(UserReply { outcome: Outcome::Ok, value: answer.to_u64() });
                }
                Step::Unit { kind: 0, ok } => units.push(ok),
                Step::Unit { .. } | Step::Think { .. } => panic!("one kind of unit, and no pause"),
                Step::Await | Step::Leave => break,
            }
        }
        (kinds, units)
    }

    #[test]
    fn clients_follow_their_work_and_count_whole_units() {
        let index = |kind: FileKind| kind.index() as u16;
        let streams = FileStreamSettings { file_bytes: 100_000, ..FileStreamSettings::STANDARD };
        let streams = FileWorkload::new(FileWork::Streams(streams));
        let clients = FileClients::new(&streams, 1).unwrap();
        assert_eq!((clients.n_kinds(), clients.n_units()), (18, 1));
        let (kinds, units) = follow(&mut clients.user(0), FileAnswer::Done, 2);
        let pass = [FileKind::Open, FileKind::Read, FileKind::Read, FileKind::Close].map(index);
        assert_eq!((kinds, units), ([pass, pass].concat(), vec![true, true]));

        let (kinds, units) = follow(&mut clients.user(0), FileAnswer::WrongBytes, 1);
        assert_eq!((kinds.len(), units), (1, Vec::new()), "it leaves");

        let stat = FileWorkload::new(FileWork::Micro(FileMicroSettings::standard(FileTest::Stat)));
        let clients = FileClients::new(&stat, 1).unwrap();
        let (kinds, units) = follow(&mut clients.user(0), FileAnswer::Failed, 2);
        assert_eq!((kinds.len(), units), (2000, vec![false, false]));
        assert!(kinds.iter().all(|kind| *kind == index(FileKind::PathHit)));

        let mix = FileClients::new(&workload(&NETBENCH), 1).unwrap();
        let (kinds, units) = follow(&mut mix.user(1), FileAnswer::Done, 10);
        assert_eq!(units, [true; 10]);
        assert!((30_000..40_000).contains(&kinds.len()), "{}", kinds.len());
    }

    /// All other operations stay as they are.
    #[test]
    fn clients_over_nfs_3_leave_locks_out() {
        let locked = workload(&NETBENCH);
        let (transport, dialect) = (FileTransport::Nfs, Some(FileDialect::Nfs3));
        let unlocked = FileWorkload { transport, dialect, ..locked.clone() };
        let kinds = |workload| {
            let clients = FileClients::new(workload, 1).unwrap();
            follow(&mut clients.user(1), FileAnswer::Done, 10).0
        };
        let mut expected = kinds(&locked);
        let n_all = expected.len();
        expected.retain(|kind| usize::from(*kind) < FileKind::Lock.index());
        assert!(expected.len() < n_all);
        assert_eq!(kinds(&unlocked), expected);
    }

    /// By hand: after 10 ms of the first loop, a pause of 5 ms and the other 15 of the 20 ms between both operations.
    #[test]
    fn captured_mixes_are_repeated_with_their_pauses() {
        let text =
            "0.010 Mkdir \"\\client1\" NT_STATUS_OK\nSleep 5000 *\n0.030 Rmdir \"\\client1\" NT_STATUS_OK\n";
        let capture = capture("mine.txt", Ok(text.as_bytes())).unwrap();
        let workload = replaying(&workload(&NETBENCH), capture);
        let catalog = workload.catalog();
        assert_eq!((catalog.check(), catalog.pauses.len(), catalog.kinds.len()), (Ok(()), 2, 21));
        let clients = FileClients::new(&workload, 1).unwrap();
        assert_eq!((clients.n_kinds(), clients.n_units()), (21, 1));
        let mut user = clients.user(7);
        let mut rng = Rng::new(1, StreamPurpose::User, 0);
        let done = Some(UserReply { outcome: Outcome::Ok, value: FileAnswer::Done.to_u64() });
        let mut last = None;
        let mut steps = Vec::new();
        while steps.len() < 8 {
            let step = user.next(last.take(), &mut rng);
            steps.push(match step {
                Step::Think { kind, time, from } => {
                    format!("{} {time} {from:?}", catalog.pauses[usize::from(kind)].name)
                }
                Step::Perform(operation) => {
                    last = done;
                    operation.kind().name().to_owned()
                }
                Step::Unit { ok, .. } => format!("loop {ok}"),
                Step::Await | Step::Leave => panic!("{step:?}"),
            });
        }
        insta::assert_snapshot!(steps.join("\n"), @"
        recorded time between operations 10.0 ms Done
        make folder
        recorded pause 5.00 ms Done
        recorded time between operations 15.0 ms Due
        remove folder
        loop true
        recorded time between operations 10.0 ms Done
        make folder
        ");
    }

    /// Clients that lock count no units.
    #[test]
    fn clients_are_the_same_in_every_run_and_differ_from_each_other() {
        let workload = workload(&NETBENCH);
        let [one, other] = [1, 1].map(|seed| FileClients::new(&workload, seed).unwrap());
        let kinds = |clients: &FileClients, user| follow(&mut clients.user(user), FileAnswer::Done, 1).0;
        assert_eq!(kinds(&one, 5), kinds(&other, 5));
        assert_ne!(kinds(&one, 5), kinds(&one, 6));
        let lock = FileWorkload::new(FileWork::Micro(FileMicroSettings::standard(FileTest::Lock)));
        let clients = FileClients::new(&lock, 1).unwrap();
        assert_eq!(clients.n_units(), 0);
        let mut rng = Rng::new(1, StreamPurpose::User, 0);
        let mut user = clients.user(3);
        let done = Some(UserReply { outcome: Outcome::Ok, value: FileAnswer::Done.to_u64() });
        assert!(matches!(user.next(None, &mut rng), Step::Perform(_)));
        let locked = FileAction::Lock(Handle(0), FileRange { offset: 0, length: 1 });
        assert_eq!(user.next(done, &mut rng), Step::Perform(FileOperation::of(locked)));
    }
}
