//! The file family on a file server: the operations of clients over a protocol, each client in a session of its own.
//!
//! The clients' files are in a folder of the run's own on the server. A session beside those of clients makes what is
//! missing before each load point, removes what a cut-off cycle left, holds the folder against other runs, and removes
//! it at the end of the run. A protocol states the rest as a [`RemoteShare`].

use std::any::Any;
use std::fmt;
use std::net::SocketAddr;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use benchmarks::file::FileClients;
use drivers::file::directory::{PopulationCheck, PopulationSummary};
use drivers::file::{FileClientOptions, FileSetPlan, RunFolder};
use engine::Driver;
use files::FileOperation;
use model::{CheckMoment, Fact, FactSection, Family, FileWorkload, Mix, Plan, WholeRequest};
use tokio::runtime::{Builder, Runtime};
use units::{Bytes, RealClock};

use super::file::{
    AS_LEFT, FILES, GENERATIONS, MACHINE_IS_COLD, READING, check_files, client_options, files_of, make_files,
    population_text, probe_operations, progress, warm_text, workload,
};
use super::file_cache::{CachePlace, CacheState, drop_machine_caches, wanted_state};
use super::probe::Probe;
use super::target::LoadTarget;
use super::{ServerForm, SetupError, stopped, unless_stopped};
use crate::checked::CheckedRow;
use crate::error::FleetError;
use crate::event::{Event, Observer};
use crate::family_counts::FamilyCounts;
use crate::thread::{ThreadFailure, ThreadWork};
use crate::verify::VerifyError;

/// The longest that a session may take to be opened that is none of a client.
pub(super) const SESSION_MAX: Duration = Duration::from_secs(20);

/// The bytes that are read between two looks at the memory of a server.
const READ_BYTES: u64 = 2 << 20;

/// A share or an export of a file server, as the user names it, over the protocol of a file server.
pub(super) trait RemoteShare: fmt::Debug + fmt::Display + Send + Sync + 'static {
    /// A session that holds the folder of a run.
    type Folder: RunFolder;
    /// The parts that all clients of a load thread share.
    type Clients;
    /// A client.
    type Client: Driver<Operation = FileOperation> + 'static;
    /// A client with several requests in flight.
    type WindowClient: Driver<Operation = FileOperation> + 'static;

    /// The word for it: `share`.
    const NOUN: &'static str;

    /// Returns the host of its server.
    fn host(&self) -> &str;

    /// Returns its form for load agents.
    fn external(&self) -> ServerForm;

    /// Returns the place of the folder of a run, the same for all names that lead to one folder.
    fn place(&self, address: SocketAddr) -> FolderPlace;

    /// Opens a session with the settings of a plan, and ends it. Returns what was found, by name.
    ///
    /// # Errors
    /// The server does not let the run in with these settings.
    fn inspect(
        &self,
        address: SocketAddr,
        plan: &Plan,
    ) -> impl Future<Output = Result<Vec<(&'static str, String)>, VerifyError>>;

    /// Opens a session with the settings of a plan, and makes the folder of a run or takes it over from an earlier one.
    ///
    /// # Errors
    /// There is no session, or the folder cannot be used.
    fn open(
        &self,
        address: SocketAddr,
        plan: &Plan,
    ) -> impl Future<Output = Result<Self::Folder, VerifyError>>;

    /// Returns the error of a run that cannot use the folder.
    fn unusable(&self, error: <Self::Folder as RunFolder>::Error) -> VerifyError;

    /// Sets up what all clients of a thread share.
    ///
    /// # Errors
    /// The settings contradict each other, or connections cannot be made from a source address.
    fn clients(
        &self,
        address: SocketAddr,
        plan: &Plan,
        options: FileClientOptions,
        clock: RealClock,
    ) -> Result<Self::Clients, SetupError>;

    /// Makes a client.
    fn client(clients: &Self::Clients, client: u32) -> Self::Client;

    /// Makes a client with so many requests in flight, of at most so many bytes each.
    fn window_client(
        clients: &Self::Clients,
        client: u32,
        n_places: usize,
        request_bytes: u32,
    ) -> Self::WindowClient;
}

/// The place of a folder: protocol, address and path.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct FolderPlace(pub(super) &'static str, pub(super) SocketAddr, pub(super) String);

/// A share whose files are loaded.
#[derive(Debug)]
pub(crate) struct RemoteTarget<S: RemoteShare> {
    share: S,
    /// The address of its server, allowed by the policy.
    address: SocketAddr,
    /// Whether the run has started the server, which removes its files itself.
    is_started: bool,
    /// The folder of the run, once it was needed.
    held: Mutex<Option<Arc<HeldFolder<S::Folder>>>>,
}

impl<S: RemoteShare> RemoteTarget<S> {
    /// Makes the target of a server that was there already, at an address of its host.
    pub(super) fn there(share: S, address: SocketAddr) -> RemoteTarget<S> {
        RemoteTarget { share, address, is_started: false, held: Mutex::default() }
    }

    /// Makes the target of a server that the run has started.
    pub(super) fn started(share: S, address: SocketAddr) -> RemoteTarget<S> {
        RemoteTarget { is_started: true, ..RemoteTarget::there(share, address) }
    }

    /// Returns what this run can do about the cache of the server.
    fn cache_place(&self) -> CachePlace {
        if self.is_started { CachePlace::Evictable } else { CachePlace::OtherServer(self.address) }
    }

    /// Reads every file once.
    fn read_all(
        &self,
        folder: &HeldFolder<S::Folder>,
        files: &FileSetPlan,
        progress: &mut dyn FnMut(u64, u64) -> ControlFlow<()>,
    ) -> Result<(), VerifyError> {
        let (n_files, n_bytes) = (files.n_files(), files.bytes());
        let mut n_read = 0;
        loop {
            let n = folder.read(files, n_read).map_err(|error| self.share.unusable(error))?;
            if n == 0 {
                return Ok(());
            }
            n_read += n;
            // As if all files were of one size.
            let done = u128::from(n_bytes) * u128::from(n_read) / u128::from(n_files.max(1));
            if progress(u64::try_from(done).unwrap_or(n_bytes), n_bytes).is_break() {
                return Err(VerifyError::Interrupted);
            }
        }
    }

    /// Sets up what all clients of a thread share.
    fn clients(&self, plan: &Plan, last_generation: u32, clock: RealClock) -> Result<S::Clients, SetupError> {
        let held = locked(&self.held);
        let are_new = held.as_ref().is_some_and(|held| held.are_new.load(Ordering::Relaxed));
        let options = client_options(workload(plan)?, are_new, last_generation)?;
        self.share.clients(self.address, plan, options, clock)
    }

    /// Returns the folder of the run. In a share that was there already, this process holds it until the last of its
    /// runs on it has ended.
    fn hold(&self, plan: &Plan, stop: &AtomicBool) -> Result<Arc<HeldFolder<S::Folder>>, VerifyError> {
        let mut own = locked(&self.held);
        if let Some(held) = &*own {
            return Ok(Arc::clone(held));
        }
        let folder = if self.is_started {
            Arc::new(HeldFolder::open(self, plan, stop)?)
        } else {
            self.hold_with_others(plan, stop)?
        };
        Ok(Arc::clone(own.insert(folder)))
    }

    fn hold_with_others(
        &self,
        plan: &Plan,
        stop: &AtomicBool,
    ) -> Result<Arc<HeldFolder<S::Folder>>, VerifyError> {
        let mut held = locked(&HELD);
        held.retain(|(_, folder)| 0 < folder.strong_count());
        let place = self.share.place(self.address);
        let known = held.iter().find(|(known, _)| *known == place).and_then(|(_, folder)| folder.upgrade());
        // Of the same type, since its protocol is part of the place.
        if let Some(known) = known.and_then(|known| Arc::downcast(known).ok()) {
            return Ok(known);
        }
        let folder = Arc::new(HeldFolder::open(self, plan, stop)?);
        let any: Arc<dyn Any + Send + Sync> = folder.clone();
        held.push((place, Arc::downgrade(&any)));
        Ok(folder)
    }
}

impl<S: RemoteShare> LoadTarget for RemoteTarget<S> {
    fn address(&self) -> Option<SocketAddr> {
        Some(self.address)
    }

    fn name(&self) -> String {
        self.share.to_string()
    }

    fn host(&self) -> Option<&str> {
        Some(self.share.host())
    }

    fn external(&self) -> Option<ServerForm> {
        Some(self.share.external())
    }

    fn inspect(&self, plan: &Plan, stop: &AtomicBool) -> Result<Option<FactSection>, VerifyError> {
        let found = unless_stopped(stop, self.share.inspect(self.address, plan))?;
        let facts = found.iter().map(|(name, value)| Fact::found(name, value).from("the server’s answers"));
        Ok(Some(FactSection { title: "Session".to_owned(), facts: facts.collect() }))
    }

    fn cache(&self, plan: &Plan) -> CacheState {
        let wanted = workload(plan).ok().and_then(|workload| wanted_state(workload, self.cache_place()).ok());
        wanted.unwrap_or(CacheState::AsLeft)
    }

    fn read_files(&self, plan: &Plan, n_skipped: u64, stop: &AtomicBool) -> Result<u64, VerifyError> {
        let read = self.hold(plan, stop)?.read(&files_of(plan)?, n_skipped);
        read.map_err(|error| self.share.unusable(error))
    }

    /// Makes the files of all clients that are missing.
    fn reload(
        &self,
        plan: &Plan,
        _: RealClock,
        observer: &mut dyn Observer,
        stop: &AtomicBool,
    ) -> Result<Option<String>, FleetError> {
        let in_cache = |error| VerifyError::Cache { target: self.share.to_string(), error };
        let workload = workload(plan).map_err(VerifyError::from)?;
        let wanted = wanted_state(workload, self.cache_place()).map_err(in_cache)?;
        let text = format!("making the files of clients in the {}", S::NOUN);
        let folder = self.hold(plan, stop)?;
        let (files, populated) =
            make_files(plan, &text, &folder.are_new, observer, stop, |files, progress| {
                folder.populate(files, progress).map_err(|error| self.share.unusable(error))
            })?;
        let caches = match wanted {
            CacheState::Cold => "taken out of the page cache".to_owned(),
            CacheState::Warm => {
                observer.event(Event::Preparing(READING));
                self.read_all(&folder, &files, &mut progress(observer, stop))?;
                warm_text(files.bytes())
            }
            CacheState::ColdMachine => {
                drop_machine_caches().map_err(in_cache)?;
                format!("what the server itself holds is as it was left{MACHINE_IS_COLD}")
            }
            CacheState::AsLeft => format!("the server was not restarted; {AS_LEFT}"),
        };
        Ok(Some(format!("{FILES}: {}; {caches}", population_text(&populated))))
    }

    /// Performs operations of most kinds as the first client, with the settings of the run.
    fn probe(&self, plan: &Plan, clock: RealClock, stop: &AtomicBool) -> Result<(), VerifyError> {
        let operations = probe_operations(workload(plan)?);
        let clients = self.clients(plan, 0, clock)?;
        let probe = Probe { family: Family::File, target: self.name(), time_limit: plan.time_limit, clock };
        let client = S::client(&clients, 0);
        unless_stopped(stop, probe.perform_all(client, &operations, |_| probe.too_slow(), |_| None))
    }

    fn check(
        &self,
        plan: &Plan,
        _: RealClock,
        moment: CheckMoment,
        _: &FamilyCounts,
        stop: &AtomicBool,
    ) -> Result<Vec<CheckedRow>, VerifyError> {
        check_files(plan, moment, |files| Ok(self.hold(plan, stop)?.check(files)))
    }

    fn run(&self, work: ThreadWork<'_>) -> Result<FamilyCounts, ThreadFailure> {
        let workload = workload(work.plan)?;
        let users = FileClients::new(workload, work.plan.seed).map_err(SetupError::from)?;
        let last_generation = work.setup.point.index.wrapping_mul(GENERATIONS);
        let clients = self.clients(work.plan, last_generation, work.clock)?;
        match (users.in_flight(), workload.whole_request()) {
            (n_places @ 2.., Some(WholeRequest { bytes, .. })) => {
                let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
                work.run_with(users, |client| S::window_client(&clients, client, n_places, bytes))?;
            }
            _ => work.run_with(users, |client| S::client(&clients, client))?,
        }
        Ok(FamilyCounts::default())
    }
}

/// Checks that a server takes each request of a workload as a whole, where it is measured by its size.
///
/// # Errors
/// It takes only smaller ones.
pub(super) fn check_requests(
    share: &impl fmt::Display,
    workload: &FileWorkload,
    read_bytes_max: u32,
    write_bytes_max: u32,
) -> Result<(), VerifyError> {
    let Some(WholeRequest { bytes, is_write }) = workload.whole_request() else { return Ok(()) };
    let most = if is_write { write_bytes_max } else { read_bytes_max };
    if bytes <= u64::from(most) {
        return Ok(());
    }
    let (bytes, most) = (Bytes(bytes), Bytes(most.into()));
    Err(VerifyError::LargeRequest { target: share.to_string(), bytes, most, is_write })
}

/// The folders that this process holds on servers that were there already, by their places.
static HELD: Mutex<Vec<(FolderPlace, Weak<dyn Any + Send + Sync>)>> = Mutex::new(Vec::new());

/// The folder of this process on a server. Runs that take turns on one have the same; it is removed with the last of
/// them.
#[derive(Debug)]
struct HeldFolder<F: RunFolder> {
    /// Ends before the session does, as fields are dropped in their order.
    _keeper: Option<Keeper>,
    session: Arc<Mutex<FolderSession<F>>>,
    /// Whether all files have been made since the last load point, so that their content is known.
    are_new: AtomicBool,
}

impl<F: RunFolder> HeldFolder<F> {
    /// Opens a session, and makes the folder or takes it over from an earlier run.
    fn open<S: RemoteShare<Folder = F>>(
        target: &RemoteTarget<S>,
        plan: &Plan,
        stop: &AtomicBool,
    ) -> Result<HeldFolder<F>, VerifyError> {
        let runtime = Builder::new_current_thread().enable_io().enable_time().build()?;
        let opening = Box::pin(target.share.open(target.address, plan));
        let folder = runtime.block_on(async {
            tokio::select! {
                opened = opening => opened,
                () = stopped(stop) => Err(VerifyError::Interrupted),
            }
        })?;
        let interval = folder.renewal_interval();
        let session = FolderSession { runtime, folder: Some(folder), is_removed: !target.is_started };
        let session = Arc::new(Mutex::new(session));
        let keeper = interval.map(|interval| Keeper::start(Arc::clone(&session), interval));
        Ok(HeldFolder { _keeper: keeper, session, are_new: AtomicBool::new(false) })
    }

    fn populate(
        &self,
        files: &FileSetPlan,
        progress: &mut dyn FnMut(u64, u64) -> ControlFlow<()>,
    ) -> Result<PopulationSummary, F::Error> {
        let FolderSession { runtime, folder, .. } = &mut *locked(&self.session);
        runtime.block_on(Box::pin(opened(folder).populate(files, progress)))
    }

    fn check(&self, files: &FileSetPlan) -> Result<PopulationCheck, F::Error> {
        let FolderSession { runtime, folder, .. } = &mut *locked(&self.session);
        runtime.block_on(Box::pin(opened(folder).check(files)))
    }

    fn read(&self, files: &FileSetPlan, n_skipped: u64) -> Result<u64, F::Error> {
        let FolderSession { runtime, folder, .. } = &mut *locked(&self.session);
        runtime.block_on(Box::pin(opened(folder).read(files, n_skipped, READ_BYTES)))
    }
}

/// A thread that lets the server hear of a session now and then, while a load point goes on. It ends when it is dropped.
#[derive(Debug)]
struct Keeper {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Keeper {
    fn start<F: RunFolder>(session: Arc<Mutex<FolderSession<F>>>, interval: Duration) -> Keeper {
        let (stop, stopped) = mpsc::channel();
        let keep = move || {
            while stopped.recv_timeout(interval) == Err(RecvTimeoutError::Timeout) {
                let FolderSession { runtime, folder, .. } = &mut *locked(&session);
                // A session that has ended is found by whoever needs it.
                let _ = runtime.block_on(Box::pin(opened(folder).renew()));
            }
        };
        Keeper { stop: Some(stop), thread: Some(thread::spawn(keep)) }
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        self.stop = None;
        if let Some(thread) = self.thread.take() {
            // It has panicked if it cannot be joined, and the session is whole even then.
            let _ = thread.join();
        }
    }
}

/// The session that holds a folder, on a runtime that runs only while it is used.
#[derive(Debug)]
struct FolderSession<F: RunFolder> {
    runtime: Runtime,
    /// Taken when the folder is removed.
    folder: Option<F>,
    /// Whether the folder is removed at the end.
    is_removed: bool,
}

impl<F: RunFolder> Drop for FolderSession<F> {
    fn drop(&mut self) {
        if let Some(folder) = self.folder.take().filter(|_| self.is_removed) {
            // What cannot be removed is left in a folder that says whose it is.
            let _ = self.runtime.block_on(Box::pin(folder.remove()));
        }
    }
}

fn opened<F>(folder: &mut Option<F>) -> &mut F {
    folder.as_mut().expect("it is there until the folder is removed")
}

/// Locks what is whole even after a panic.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
