//! The file family: its profile, and operations on the files of a directory, by calls of this process.
//!
//! The clients' files are in a folder of the run's own below that directory. Before each load point what is missing is made,
//! what a cut-off cycle left is removed, and all files are taken out of the page cache; at the end of the run the folder
//! goes.

use std::ffi::OsString;
use std::fmt;
use std::net::SocketAddr;
use std::ops::ControlFlow;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use benchmarks::file::FileClients;
use drivers::file::directory::{
    DirectoryDriver, Eviction, FilePopulationError, FileRoot, PopulationCheck, PopulationSummary,
};
use drivers::file::{Durability, FileClientOptions, FileSetPlan, WorkloadFiles};
use engine::BlockingDriver;
use files::{
    Baseline, Entry, ExistingFile, FileAction, FileContent, FileOperation, FilePath, FilePopulation,
    FileRange, Folder, Handle, InfoLevel, Owner,
};
use languages::foreign_text;
use model::{
    COMPRESSIBLE_PERCENT, CheckMoment, Fact, FactSection, Family, FileDurability, FileSettingsError,
    FileTransport, FileWork, FileWorkload, Load, Outcome, Plan, Workload,
};
use observe::{is_in_memory, mounted_file_system};
use testbed::{MemoryLimitProof, RunningSut};
use units::{Bytes, Clock, RealClock};

use super::export::FileExport;
use super::file_cache::{CachePlace, CacheState, drop_machine_caches, wanted_state};
use super::profile::{EmbeddedData, FamilyProfile, READY_MAX};
use super::remote_folder::RemoteTarget;
use super::share::FileShare;
use super::target::{LoadTarget, ResolvedTarget};
use super::{SetupError, TargetTextError};
use crate::checked::CheckedRow;
use crate::disk_use::DiskUse;
use crate::error::FleetError;
use crate::event::{Event, Observer};
use crate::family_counts::FamilyCounts;
use crate::order::StepOrder;
use crate::thread::{CpuMeter, ThreadFailure, ThreadWork};
use crate::verify::{VerifyError, WrongObject};

/// The notation of a target.
const EXPECTED: &str = "expected `file:///PATH`, such as `file:///mnt/share`, or `smb://USER@HOST/SHARE` for a share of a server";

/// The scheme of targets.
const SCHEME: &str = "file";

/// The generations of writes that are set aside for each client and load point, so that what one load point wrote is not
/// taken for what the next one did.
pub(super) const GENERATIONS: u32 = 1 << 26;

/// The name of what is checked.
pub(super) const FILES: &str = "clients’ files";

/// The text that an observer gets while files are read before a load point.
pub(super) const READING: &str = "reading the files of clients once";

/// The clause of a report where caches are as they were left.
pub(super) const AS_LEFT: &str = "caches are as they were left";

/// The clause that is added where the caches of this machine were dropped.
pub(super) const MACHINE_IS_COLD: &str = "; all caches of this machine were dropped";

/// The number of the file that is made and deleted before load begins: no client has as many.
const PROBE_FILE: u32 = 99_999;

/// The number of times that a server reads the clients’ files to meet its limit on memory: the first pass fills memory,
/// the second needs evicted pages again.
const PROOF_PASSES: u32 = 3;

/// The bytes that are read and written then.
const PROBED: FileRange = FileRange { offset: 0, length: 4096 };

/// A directory of this machine, as the user names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileDirectory {
    /// Its path, from the root.
    pub path: PathBuf,
}

/// Reads `file:///PATH`.
impl FromStr for FileDirectory {
    type Err = TargetTextError;

    fn from_str(text: &str) -> Result<FileDirectory, TargetTextError> {
        let form = || TargetTextError::Form(EXPECTED);
        let (scheme, rest) = text.split_once("://").ok_or_else(form)?;
        let is_path = scheme.eq_ignore_ascii_case(SCHEME) && rest.starts_with('/');
        let bytes = languages::percent_decoded_bytes(rest).filter(|_| is_path).ok_or_else(form)?;
        if bytes.contains(&0) {
            return Err(form());
        }
        Ok(FileDirectory { path: OsString::from_vec(bytes).into() })
    }
}

impl fmt::Display for FileDirectory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{SCHEME}://{}", self.path.display())
    }
}

/// A directory whose files are loaded.
#[derive(Debug, Clone)]
pub(crate) struct FileTarget {
    directory: FileDirectory,
    files: Arc<ClientFiles>,
}

/// The folder of this process below a directory. Runs that take turns on one directory have the same.
#[derive(Debug)]
struct ClientFiles {
    /// Taken when it is removed.
    root: Option<Arc<FileRoot>>,
    /// Whether all files have been made since the last load point, so that their content is known.
    are_new: AtomicBool,
}

impl Drop for ClientFiles {
    /// Removes the folder, unless a thread that did not come back from a call uses it: the next run on the directory takes
    /// it over then.
    fn drop(&mut self) {
        if let Some(root) = self.root.take().and_then(Arc::into_inner) {
            // What cannot be removed is left in a folder that says whose it is.
            let _ = root.remove();
        }
    }
}

/// The folders that this process has, by their directories.
static OPEN: Mutex<Vec<(PathBuf, Weak<ClientFiles>)>> = Mutex::new(Vec::new());

impl ClientFiles {
    /// Opens the folder below a directory, or returns it if this process has it.
    fn open(directory: &Path) -> Result<Arc<ClientFiles>, FleetError> {
        // Nothing that is done with the lock panics.
        let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
        open.retain(|(_, files)| 0 < files.strong_count());
        let place = directory.canonicalize().unwrap_or_else(|_| directory.to_owned());
        let known = open.iter().find(|(known, _)| *known == place).and_then(|(_, files)| files.upgrade());
        if let Some(files) = known {
            return Ok(files);
        }
        let root = Some(Arc::new(FileRoot::open(directory)?));
        let files = Arc::new(ClientFiles { root, are_new: AtomicBool::new(false) });
        open.push((place, Arc::downgrade(&files)));
        Ok(files)
    }

    fn root(&self) -> &Arc<FileRoot> {
        self.root.as_ref().expect("it is there until it is removed")
    }
}

impl FileTarget {
    /// Opens a directory that is there.
    ///
    /// # Errors
    /// It is in memory, it is not there or cannot be written, or another process uses it.
    pub(super) fn open(directory: &FileDirectory) -> Result<FileTarget, FleetError> {
        if is_in_memory(&directory.path) {
            return Err(FleetError::FilesInMemory { directory: directory.path.clone() });
        }
        let files = ClientFiles::open(&directory.path)?;
        Ok(FileTarget { directory: directory.clone(), files })
    }

    /// Returns the settings of clients at the next load point.
    fn options(
        &self,
        workload: &FileWorkload,
        last_generation: u32,
    ) -> Result<FileClientOptions, FileSettingsError> {
        client_options(workload, self.files.are_new.load(Ordering::Relaxed), last_generation)
    }

    /// Returns what is disclosed of the directory.
    fn section(&self) -> FactSection {
        let mut section = FactSection {
            title: "System under test".to_owned(),
            facts: [
                ("directory", self.directory.path.display().to_string()),
                ("process", "that of the load generator: clients call the kernel".to_owned()),
                ("time limit", "a call that blocks is not cut off: it counts when it returns".to_owned()),
                ("CPU time", "that of the threads of clients within operations".to_owned()),
            ]
            .map(|(name, value)| Fact::found(name, &value).from("set by this run"))
            .into(),
        };
        let mounted = mounted_file_system(&self.directory.path).into_iter().flat_map(|mounted| {
            [
                ("file system", mounted.kind),
                ("mounted from", mounted.source),
                ("mounted at", mounted.place.display().to_string()),
                ("mount options", mounted.options),
            ]
        });
        section
            .facts
            .extend(mounted.map(|(name, value)| Fact::found(name, &value).from("/proc/self/mountinfo")));
        section
    }

    /// Performs operations as the first client, one after another, and returns those that failed.
    fn probed(
        &self,
        workload: &FileWorkload,
        clock: RealClock,
        stop: &AtomicBool,
    ) -> Result<Vec<WrongObject>, SetupError> {
        let root = Arc::clone(self.files.root());
        let mut driver = DirectoryDriver::new(root, 0, &self.options(workload, 0)?, clock);
        let mut wrong = Vec::new();
        for operation in probe_operations(workload) {
            if stop.load(Ordering::Relaxed) {
                break;
            }
            let reply = driver.perform(&operation, clock.now());
            if reply.outcome != Outcome::Ok {
                let text = driver.describe(&operation, &reply);
                wrong.push(WrongObject { outcome: reply.outcome, text });
            }
        }
        Ok(wrong)
    }
}

impl LoadTarget for FileTarget {
    fn address(&self) -> Option<SocketAddr> {
        None
    }

    fn name(&self) -> String {
        self.directory.to_string()
    }

    fn host(&self) -> Option<&str> {
        None
    }

    fn in_process(&self) -> Option<FactSection> {
        Some(self.section())
    }

    fn disk_use(&self, plan: &Plan) -> Option<DiskUse> {
        disk_use(plan, &self.directory.path)
    }

    fn directory(&self) -> Option<&Path> {
        Some(&self.directory.path)
    }

    fn cache(&self, plan: &Plan) -> CacheState {
        let wanted =
            workload(plan).ok().and_then(|workload| wanted_state(workload, CachePlace::Evictable).ok());
        wanted.unwrap_or(CacheState::AsLeft)
    }

    /// Makes the files of all clients that are missing, and takes all of them out of the page cache, or into it.
    fn reload(
        &self,
        plan: &Plan,
        _: RealClock,
        observer: &mut dyn Observer,
        stop: &AtomicBool,
    ) -> Result<Option<String>, FleetError> {
        let in_cache = |error| VerifyError::Cache { target: self.directory.to_string(), error };
        let wanted = wanted_state(workload(plan).map_err(VerifyError::from)?, CachePlace::Evictable);
        let wanted = wanted.map_err(in_cache)?;
        let root = self.files.root();
        let are_new = &self.files.are_new;
        let text = "making the files of clients";
        let (files, populated) = make_files(plan, text, are_new, observer, stop, |files, progress| {
            root.populate(files, progress).map_err(|error| self.unusable(&error))
        })?;
        let cache = match wanted {
            CacheState::Cold | CacheState::ColdMachine => {
                observer.event(Event::Preparing("taking the files of clients out of the page cache"));
                let evicted = root.evict(&files).map_err(|error| self.unusable(&error))?;
                eviction_text(&evicted)
            }
            CacheState::Warm => {
                observer.event(Event::Preparing(READING));
                let n_bytes = root.read_all(&files, &mut progress(observer, stop));
                warm_text(n_bytes.map_err(|error| self.unusable(&error))?)
            }
            CacheState::AsLeft => AS_LEFT.to_owned(),
        };
        let machine = if wanted == CacheState::ColdMachine {
            drop_machine_caches().map_err(in_cache)?;
            MACHINE_IS_COLD
        } else {
            ""
        };
        Ok(Some(format!("{FILES}: {}; {cache}{machine}", population_text(&populated))))
    }

    /// Performs operations of most kinds, on a file of the first client and on one that is made and deleted.
    fn probe(&self, plan: &Plan, clock: RealClock, stop: &AtomicBool) -> Result<(), VerifyError> {
        let workload = workload(plan)?;
        let wrong = self.probed(workload, clock, stop)?;
        if stop.load(Ordering::Relaxed) {
            return Err(VerifyError::Interrupted);
        }
        if wrong.is_empty() {
            return Ok(());
        }
        Err(VerifyError::Wrong {
            family: Family::File,
            things: PROFILE.checked_things,
            n_wrong: wrong.len(),
            n_objects: probe_operations(workload).len(),
            named: wrong,
        })
    }

    fn check(
        &self,
        plan: &Plan,
        _: RealClock,
        moment: CheckMoment,
        _: &FamilyCounts,
        _: &AtomicBool,
    ) -> Result<Vec<CheckedRow>, VerifyError> {
        check_files(plan, moment, |files| Ok(self.files.root().check(files)))
    }

    fn run(&self, work: ThreadWork<'_>) -> Result<FamilyCounts, ThreadFailure> {
        let workload = workload(work.plan)?;
        let clients = FileClients::new(workload, work.plan.seed).map_err(SetupError::from)?;
        let last_generation = work.setup.point.index.wrapping_mul(GENERATIONS);
        let options = self.options(workload, last_generation).map_err(SetupError::from)?;
        let clock = work.clock;
        let root = self.files.root();
        let driver = |client| DirectoryDriver::new(Arc::clone(root), client, &options, clock);
        work.run_blocking_with(clients, driver, CpuMeter::default())?;
        Ok(FamilyCounts::default())
    }
}

impl FileTarget {
    /// Returns the failure of files that cannot be made or evicted.
    fn unusable(&self, error: &FilePopulationError) -> VerifyError {
        match error {
            FilePopulationError::Stopped => VerifyError::Interrupted,
            FilePopulationError::File { .. } => {
                VerifyError::WrongData { target: self.directory.to_string(), text: error.to_string() }
            }
        }
    }
}

/// File servers as runs know them: operations change files.
pub(super) static PROFILE: FamilyProfile = FamilyProfile {
    order: &StepOrder::STATEFUL,
    ready_max: READY_MAX,
    checked_things: "operations",
    files: None,
    built_in_restores: false,
    variant: |_| None,
    embedded: Some(EmbeddedData {
        described: "none, the load generator calls the kernel",
        has_golden: false,
        start: |_, directory, _, _| {
            let directory = FileDirectory { path: directory.to_owned() };
            Ok(ResolvedTarget::of(FileTarget::open(&directory)?))
        },
    }),
    fills_started: true,
    prove_memory_limit: Some(prove_memory_limit),
    started: Some(|sut, _| match sut.file_transport() {
        Some(FileTransport::Nfs) => {
            ResolvedTarget::of(RemoteTarget::started(FileExport::of_sut(sut), sut.addr()))
        }
        _ => ResolvedTarget::of(RemoteTarget::started(FileShare::of_sut(sut), sut.addr())),
    }),
    disk_use,
    check_room: |_, _| Ok(()),
    contents: |_| None,
};

/// Returns the files that the clients of a plan have at its highest load, below a directory.
fn disk_use(plan: &Plan, directory: &Path) -> Option<DiskUse> {
    let workload = workload(plan).ok()?;
    let users = u64::from(n_clients(plan));
    let each = workload.client_bytes().saturating_add(workload.shared_bytes().div_ceil(users.max(1)));
    Some(DiskUse { users, each, directory: directory.to_owned() })
}

/// Has a server read the clients’ files, pass after pass, until it meets its limit on memory.
fn prove_memory_limit(
    sut: &mut RunningSut,
    target: &ResolvedTarget,
    plan: &Plan,
    stop: &AtomicBool,
) -> Result<Option<MemoryLimitProof>, FleetError> {
    let (mut n_passes, mut n_read) = (1, 0);
    let part = || -> Result<u64, FleetError> {
        let mut n_files = target.read_files(plan, n_read, stop)?;
        if n_files == 0 && n_passes < PROOF_PASSES {
            (n_passes, n_read) = (n_passes + 1, 0);
            n_files = target.read_files(plan, 0, stop)?;
        }
        n_read += n_files;
        Ok(n_files)
    };
    sut.prove_memory_limit_on_data(part, stop)
}

/// Returns the workload of a plan.
///
/// # Errors
/// It is one of another family.
pub(super) fn workload(plan: &Plan) -> Result<&FileWorkload, SetupError> {
    let Workload::File(file) = &plan.workload else {
        return Err(SetupError::OtherFamily(plan.workload.family()));
    };
    Ok(file)
}

/// Returns the number of clients that have files: those of the highest load.
fn n_clients(plan: &Plan) -> u32 {
    plan.loads().map(Load::in_flight_max).max().unwrap_or(0)
}

/// Returns the settings of clients. `are_new` is whether no client has written since the files were made.
///
/// # Errors
/// The operations of a captured mix are not there.
pub(super) fn client_options(
    workload: &FileWorkload,
    are_new: bool,
    last_generation: u32,
) -> Result<FileClientOptions, FileSettingsError> {
    let loadfile = match &workload.work {
        FileWork::Captured(capture) => Some(Arc::clone(capture.load()?)),
        FileWork::DiskMix(_) | FileWork::Streams(_) | FileWork::Micro(_) => None,
    };
    Ok(FileClientOptions {
        content: content(workload),
        verify: workload.verify.into(),
        baseline: if are_new { Baseline::Populated } else { Baseline::Stamped },
        last_generation,
        times_first_data: workload.times_first_data(),
        durability: match workload.durability {
            FileDurability::Flush => Durability::Flush,
            FileDurability::Write => Durability::Write,
            FileDurability::Never => Durability::Relaxed,
        },
        loadfile,
    })
}

/// Makes the files of a plan's clients that are missing, and notes in `are_new` whether all of them were made. `text`
/// is what an observer is told.
///
/// # Errors
/// That of `populate`, or the workload is one of another family.
pub(super) fn make_files(
    plan: &Plan,
    text: &str,
    are_new: &AtomicBool,
    observer: &mut dyn Observer,
    stop: &AtomicBool,
    populate: impl FnOnce(
        &FileSetPlan,
        &mut dyn FnMut(u64, u64) -> ControlFlow<()>,
    ) -> Result<PopulationSummary, VerifyError>,
) -> Result<(FileSetPlan, PopulationSummary), VerifyError> {
    let files = files_of(plan)?;
    observer.event(Event::Preparing(text));
    let populated = populate(&files, &mut progress(observer, stop))?;
    are_new.store(populated.n_kept == 0, Ordering::Relaxed);
    Ok((files, populated))
}

/// Returns what tells an observer of the files that are made, and ends that when it is to stop.
pub(super) fn progress<'a>(
    observer: &'a mut dyn Observer,
    stop: &'a AtomicBool,
) -> impl FnMut(u64, u64) -> ControlFlow<()> + 'a {
    let mut told = 0;
    move |done, total| {
        if told + total / 100 <= done {
            told = done;
            observer.event(Event::Files { done, total });
        }
        if stop.load(Ordering::Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

/// Returns the content of all files.
fn content(workload: &FileWorkload) -> FileContent {
    FileContent::new(workload.content_seed, COMPRESSIBLE_PERCENT)
}

/// Returns the files of a plan's clients that are there before load.
pub(super) fn files_of(plan: &Plan) -> Result<FileSetPlan, SetupError> {
    file_set(workload(plan)?, n_clients(plan))
}

/// Returns the files of so many clients that are there before load.
fn file_set(workload: &FileWorkload, n_clients: u32) -> Result<FileSetPlan, SetupError> {
    let set = match &workload.work {
        FileWork::DiskMix(mix) => {
            let workspace = mix.mix(0).map_err(FileSettingsError::from)?.workspace;
            WorkloadFiles::DiskMix(FilePopulation { workspace, n_clients })
        }
        FileWork::Streams(streams) => {
            WorkloadFiles::Stream(streams.shape().map_err(FileSettingsError::from)?, n_clients)
        }
        FileWork::Micro(micro) => WorkloadFiles::Micro(micro.settings(0)?, n_clients),
        FileWork::Captured(capture) => WorkloadFiles::Captured(Arc::clone(capture.load()?), n_clients),
    };
    Ok(FileSetPlan::new(set, content(workload)))
}

/// Returns what was made of files, kept and removed.
pub(super) fn population_text(summary: &PopulationSummary) -> String {
    let PopulationSummary { n_made, made_bytes, n_kept, kept_bytes, n_removed } = *summary;
    let (made, kept) = (Bytes(made_bytes), Bytes(kept_bytes));
    format!("{n_made} made ({made}), {n_kept} kept ({kept}), {n_removed} others removed")
}

/// Returns how much of the files is in memory after they were taken out of the page cache.
fn eviction_text(eviction: &Eviction) -> String {
    match eviction.cached_bytes {
        Some(0) => "none of their bytes are in the page cache".to_owned(),
        Some(cached) => {
            format!("about {} of {} are still in the page cache", Bytes(cached), Bytes(eviction.bytes))
        }
        None => "taken out of the page cache, as far as the file system does that".to_owned(),
    }
}

/// Returns how much was read of the files before a load point.
pub(super) fn warm_text(n_bytes: u64) -> String {
    format!("each was read once ({})", Bytes(n_bytes))
}

/// Checks that every file is there with its length. Under load some tests give theirs other names, so that they are not
/// checked after it; clients that replay a captured mix make all of theirs themselves.
pub(super) fn check_files<E: fmt::Display>(
    plan: &Plan,
    moment: CheckMoment,
    check: impl FnOnce(&FileSetPlan) -> Result<Result<PopulationCheck, E>, VerifyError>,
) -> Result<Vec<CheckedRow>, VerifyError> {
    let workload = workload(plan)?;
    let is_captured = matches!(workload.work, FileWork::Captured(_));
    if is_captured || (moment == CheckMoment::After && !workload.keeps_files()) {
        return Ok(Vec::new());
    }
    let (holds, found) = match check(&files_of(plan)?)? {
        Ok(found) => check_text(&found),
        Err(error) => (false, format!("they cannot be checked: {error}")),
    };
    Ok(vec![(FILES.to_owned(), holds, found)])
}

/// Returns whether all files are there, and what was found.
fn check_text(check: &PopulationCheck) -> (bool, String) {
    match check {
        PopulationCheck::Complete { n_files } => {
            (true, format!("all {n_files} are there with their lengths"))
        }
        PopulationCheck::Missing { path } => (false, format!("`{}` is not there", foreign_text(path))),
        PopulationCheck::WrongLength { path, expected, found } => {
            (false, format!("`{}` has {found} bytes, not {expected}", foreign_text(path)))
        }
    }
}

/// Returns a file of the first client or of all, if there is one before load, and the folder in which that client makes
/// files.
fn probed_places(workload: &FileWorkload) -> (Option<FilePath>, Owner, Folder) {
    let first = Owner::Client(0);
    match &workload.work {
        FileWork::DiskMix(_) => {
            (Some(FilePath::new(first, Folder::Bulk, Entry::File(0))), first, Folder::Created)
        }
        FileWork::Streams(streams) => {
            let shape = streams.shape().ok();
            let file = shape.and_then(|shape| shape.files(0).next());
            let owner = if file.is_some_and(|file| file.path.is_shared()) { Owner::Shared } else { first };
            (file.map(|file| file.path), owner, Folder::Stream)
        }
        FileWork::Micro(micro) => {
            let settings = micro.settings(0).ok();
            let file = settings.and_then(|settings| settings.files(0).next()).map(|file| file.path);
            match file {
                Some(FilePath::Populated(path)) => (file, path.owner, path.folder),
                Some(FilePath::Captured(_)) | None => (None, first, Folder::Small(0)),
            }
        }
        FileWork::Captured(_) => (None, first, Folder::Created),
    }
}

/// Returns operations of most kinds, each of which must succeed.
pub(super) fn probe_operations(workload: &FileWorkload) -> Vec<FileOperation> {
    let (file, owner, folder) = probed_places(workload);
    let handle = Handle(0);
    let path = |entry| FilePath::new(owner, folder, entry);
    let (made, renamed) = (path(Entry::File(PROBE_FILE)), path(Entry::Renamed(PROBE_FILE)));
    let of_file = file.into_iter().flat_map(|file| {
        [
            FileAction::PathQuery(file, InfoLevel::BASIC),
            FileAction::Open(handle, file),
            FileAction::FileQuery(handle, InfoLevel::STANDARD),
            FileAction::Close(handle),
        ]
    });
    let of_made = [
        FileAction::VolumeQuery(InfoLevel::VOLUME_SIZE),
        FileAction::Create(handle, made, ExistingFile::Truncate),
        FileAction::Write(handle, PROBED),
        FileAction::Read(handle, PROBED),
        FileAction::Flush(handle),
        FileAction::Set(handle, InfoLevel::BASIC),
        FileAction::Close(handle),
        FileAction::Rename(made, renamed),
        FileAction::Unlink(renamed),
    ];
    of_file.chain(of_made).map(FileOperation::of).collect()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use model::{Overrides, SutPlan};
    use testkit::benchmark_plan;

    use super::*;

    /// An observer that ignores all events.
    struct SilentObserver;

    impl Observer for SilentObserver {
        fn event(&mut self, _: Event<'_>) {}
    }

    fn plan(benchmark: &str, settings: &[(&str, &str)]) -> Plan {
        let overrides = Overrides { quick: true, ..Overrides::new(SutPlan::of("embedded")) };
        benchmark_plan(benchmark, settings, Overrides { load: Some(vec![1, 2]), ..overrides })
    }

    fn target(directory: &Path) -> FileTarget {
        FileTarget::open(&FileDirectory { path: directory.to_owned() }).unwrap()
    }

    fn reload(target: &FileTarget, plan: &Plan) -> String {
        let stop = AtomicBool::new(false);
        target.reload(plan, RealClock::start(), &mut SilentObserver, &stop).unwrap().unwrap()
    }

    fn check(target: &FileTarget, plan: &Plan, moment: CheckMoment) -> Vec<CheckedRow> {
        let stop = AtomicBool::new(false);
        target.check(plan, RealClock::start(), moment, &FamilyCounts::default(), &stop).unwrap()
    }

    #[test]
    fn targets_are_urls_of_directories() {
        let read = |text: &str| text.parse::<FileDirectory>().map(|found| found.path);
        assert_eq!(read("file:///mnt/x").unwrap(), Path::new("/mnt/x"));
        assert_eq!(read("FILE:///mnt/my%20files/").unwrap(), Path::new("/mnt/my files/"));
        for text in ["/mnt/x", "file:/mnt/x", "file://host/x", "http:///mnt", "file:///a%0", "file:///a%00"] {
            assert_eq!(read(text).unwrap_err().to_string(), EXPECTED, "{text}");
        }
        let directory: FileDirectory = "file:///mnt/x".parse().unwrap();
        assert_eq!(directory.to_string(), "file:///mnt/x");
    }

    /// 2 clients with 51 files each, and 59 shared ones.
    #[test]
    fn files_are_made_kept_checked_and_removed() {
        let directory = tempfile::tempdir_in("/var/tmp").unwrap();
        let plan = plan("netbench", &[("workspace", "15 MiB")]);
        let target = target(directory.path());
        let disk = target.disk_use(&plan).unwrap();
        assert_eq!((disk.users, disk.each), (2, (15 << 20) + (8 << 20) + 12_529_664 / 2));
        let text = reload(&target, &plan);
        assert!(
            text.starts_with("clients’ files: 161 made (41.9 MiB), 0 kept (0 B), 0 others removed; "),
            "{text}"
        );
        assert!(target.files.are_new.load(Ordering::Relaxed));
        let stop = AtomicBool::new(false);
        target.probe(&plan, RealClock::start(), &stop).unwrap();
        let found = check(&target, &plan, CheckMoment::Before);
        assert_eq!(found, [(FILES.to_owned(), true, "all 161 are there with their lengths".to_owned())]);

        let workspace = directory.path().join("plimsoll-files/private/c1");
        fs::write(workspace.join("new/left"), "x").unwrap();
        fs::remove_file(workspace.join("bulk/f00001.bin")).unwrap();
        let found = check(&target, &plan, CheckMoment::After);
        assert_eq!(found[0].2, "`private/c1/bulk/f00001.bin` is not there");
        assert!(!found[0].1);
        let text = reload(&target, &plan);
        assert!(text.contains(": 1 made (1.0 MiB), 160 kept (40.9 MiB), 1 others removed; "), "{text}");
        assert!(!target.files.are_new.load(Ordering::Relaxed));
        drop(target);
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
    }

    /// Runs that take turns on one directory have one folder, which goes with the last of them.
    #[test]
    fn targets_of_one_directory_share_its_folder() {
        let directory = tempfile::tempdir_in("/var/tmp").unwrap();
        let one = target(directory.path());
        let other = target(&directory.path().join("."));
        assert!(Arc::ptr_eq(&one.files, &other.files));
        drop(one);
        assert!(directory.path().join("plimsoll-files").is_dir());
        drop(other);
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
    }

    /// A plan from a record has the hash of its load file, but not the operations.
    #[test]
    fn a_captured_mix_needs_folders_and_its_operations() {
        let directory = tempfile::tempdir_in("/var/tmp").unwrap();
        let target = target(directory.path());
        let mut plan = plan("netbench", &[]);
        let text =
            "NTCreateX \"\\clients\\client1\" 0x40 2 1 NT_STATUS_OK\nWriteX 1 0 500 500 NT_STATUS_OK\n";
        let capture = benchmarks::file::capture("mine.txt", Ok(text.as_bytes())).unwrap();
        plan.workload = Workload::File(benchmarks::file::replaying(workload(&plan).unwrap(), capture));
        let made = reload(&target, &plan);
        assert!(made.starts_with("clients’ files: 0 made (0 B), 0 kept (0 B), 0 others removed; "), "{made}");
        assert!(directory.path().join("plimsoll-files/captured/clients").is_dir());
        let stop = AtomicBool::new(false);
        target.probe(&plan, RealClock::start(), &stop).unwrap();
        assert_eq!(target.disk_use(&plan).unwrap().each, 500);
        let moments = [CheckMoment::Before, CheckMoment::After];
        assert!(moments.into_iter().all(|moment| check(&target, &plan, moment).is_empty()));
        let stored = serde_json::to_string(&plan).unwrap();
        let plan: Plan = serde_json::from_str(&stored).unwrap();
        let error = target.reload(&plan, RealClock::start(), &mut SilentObserver, &stop).unwrap_err();
        assert_eq!(error.to_string(), "the operations of the load file `mine.txt` are not here");
    }

    #[test]
    fn every_work_has_its_files_and_a_probe_that_succeeds() {
        let directory = tempfile::tempdir_in("/var/tmp").unwrap();
        let target = target(directory.path());
        let stop = AtomicBool::new(false);
        let tests = [
            "rand-read",
            "rand-write",
            "dir-search",
            "open-close",
            "create-delete",
            "stat",
            "rename",
            "lock",
        ];
        let micro = tests.map(|test| plan("file-micro", &[("test", test)]));
        let streams = [
            plan("seqread", &[]),
            plan("seqread", &[("files", "shared")]),
            plan("seqread", &[("files", "many:2"), ("direction", "write")]),
        ];
        for plan in micro.into_iter().chain(streams) {
            reload(&target, &plan);
            target.probe(&plan, RealClock::start(), &stop).unwrap();
            assert!(check(&target, &plan, CheckMoment::Before)[0].1, "{:?}", plan.workload);
            let keeps_files = plan.workload.file().unwrap().keeps_files();
            assert_eq!(check(&target, &plan, CheckMoment::After).len(), usize::from(keeps_files));
        }
    }

    #[test]
    fn a_request_to_stop_ends_the_making_of_files() {
        let directory = tempfile::tempdir_in("/var/tmp").unwrap();
        let target = target(directory.path());
        let stop = AtomicBool::new(true);
        let plan = plan("netbench", &[]);
        let error = target.reload(&plan, RealClock::start(), &mut SilentObserver, &stop).unwrap_err();
        assert!(matches!(error, FleetError::Verify(VerifyError::Interrupted)), "{error}");
    }

    #[test]
    fn a_directory_in_memory_is_refused_and_left_as_it_was() {
        let error = FileTarget::open(&FileDirectory { path: "/dev/shm".into() }).unwrap_err();
        assert_eq!(error.to_string(), "`/dev/shm` is on tmpfs; client files must be on a disk");
    }
}
