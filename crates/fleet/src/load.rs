//! The load side of a run: whatever generates its load. In this process it is a thread per load CPU.

use std::mem::take;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{JoinHandle, sleep};
use std::time::Duration;

use engine::{NoticeOutbox, OpenedSessions, OperationBudget, PointSetup, StopRequest};
use model::{AgentPlan, Assignment, LoadPoint, Plan, RecordSource, partition};
use testbed::pin_current_thread;
use tokio::sync::oneshot;
use units::{Nanos, RealClock};

use crate::error::LoadError;
use crate::family::ResolvedTarget;
use crate::family_counts::FamilyCounts;
use crate::thread::{Message, Outbox, SpareRecords, ThreadFailure, ThreadStart, ThreadWork};

/// Time between the decision to start and the start: for users to be made ready.
const LEAD: Nanos = Nanos::from_millis(50);

/// The same, per user.
const LEAD_PER_USER: Nanos = Nanos::from_micros(20);

/// The period at which the controller looks for a request to stop.
const STOP_STEP: Duration = Duration::from_millis(20);

/// Index of the load agent in the process of the controller, which is the only one then.
pub(crate) const ONLY_AGENT: u32 = 0;

/// The load side of a run. For each load point it is called in this order: `prepare`, `lead`, `go`, `take_spares`, `collect`.
pub(crate) trait LoadSide {
    /// The target of the load.
    type Target;

    /// Lists the senders of records: each sends one for every interval.
    fn sources(&self) -> Vec<RecordSource>;

    /// Checks operations of every kind from where the load comes, beyond what the controller has checked itself. Parts do so
    /// one after another. Returns what is remarkable about the target there.
    ///
    /// # Errors
    /// A part does not reach the target, or is not allowed to.
    fn probe(&mut self, _: &Self::Target, _: &AtomicBool) -> Result<Vec<String>, LoadError> {
        Ok(Vec::new())
    }

    /// Makes ready for a load point: returns when the sessions of all users are open, or could not be opened. All that
    /// is recorded will be sent to `records`.
    ///
    /// # Errors
    /// If a part of the load side cannot be set up.
    fn prepare(
        &mut self,
        target: &Self::Target,
        point: LoadPoint,
        records: Sender<Message>,
        stop: &AtomicBool,
    ) -> Result<OpenedSessions, LoadError>;

    /// Returns the time that is needed between the decision to begin the load point that was prepared and its start.
    fn lead(&mut self) -> Nanos;

    /// Begins the load point that was prepared; `origin` is its start on the clock of the run.
    fn go(&mut self, origin: Nanos);

    /// Ends the load point that was prepared, and does not begin.
    fn abandon(&mut self);

    /// Hands out the ways by which emptied records come back at the load point that was prepared; none where records come
    /// from other machines.
    fn take_spares(&mut self) -> SpareRecords {
        SpareRecords::default()
    }

    /// Waits until the load point is over, or `stop` is requested and obeyed. Returns what the family counted beside the
    /// records.
    ///
    /// # Errors
    /// If a part of the load side fails; the others are stopped.
    fn collect(&mut self, stop: &impl StopRequest) -> Result<FamilyCounts, LoadError>;
}

/// Returns the time between the decision to start a load point and its start: for the users of one process to be made ready.
pub(crate) fn lead(n_users: u32) -> Nanos {
    LEAD + Nanos(LEAD_PER_USER.0 * u64::from(n_users))
}

/// The load threads of a load agent, all in this process.
pub(crate) struct LoadThreads {
    plan: Arc<Plan>,
    /// Index of the agent, which is one of the plan.
    agent: u32,
    /// The clock of the run.
    clock: RealClock,
    /// The threads of the load point that was prepared; none between load points.
    threads: Vec<JoinHandle<Result<FamilyCounts, LoadError>>>,
    /// The channels by which each of them learns of the start.
    starts: Vec<oneshot::Sender<Nanos>>,
    /// The ways by which their records come back to them.
    spares: SpareRecords,
    /// Number of users, or of slots for operations in flight.
    n_users: u32,
    /// Ends the load point early.
    stop: Arc<AtomicBool>,
}

impl LoadThreads {
    /// Creates the load side of an agent of a plan.
    pub(crate) fn new(plan: Arc<Plan>, agent: u32, clock: RealClock) -> LoadThreads {
        LoadThreads {
            plan,
            agent,
            clock,
            threads: Vec::new(),
            starts: Vec::new(),
            spares: SpareRecords::default(),
            n_users: 0,
            stop: Arc::default(),
        }
    }

    /// Returns the shares of the agent, one for each of its threads.
    fn shares(&self) -> Range<u32> {
        self.plan.agents[self.agent as usize].shares()
    }

    /// Waits until all threads are ready, or one has failed.
    fn wait_until_ready(&self, ready: &Receiver<OpenedSessions>, stop: &AtomicBool) -> OpenedSessions {
        let mut sessions = OpenedSessions::default();
        let mut n_ready = 0;
        while n_ready < self.threads.len() {
            match ready.recv_timeout(STOP_STEP) {
                Ok(of_thread) => {
                    sessions.add(of_thread);
                    n_ready += 1;
                }
                Err(RecvTimeoutError::Timeout) => {
                    if stop.is_requested() || self.has_failed() {
                        self.stop.store(true, Ordering::Relaxed);
                    }
                    if self.has_failed() {
                        break;
                    }
                }
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        sessions
    }

    /// Returns whether a thread has ended before the load point began.
    fn has_failed(&self) -> bool {
        self.threads.iter().any(JoinHandle::is_finished)
    }

    /// Waits for the end of all threads.
    fn join(&mut self) -> Result<FamilyCounts, LoadError> {
        let threads = take(&mut self.threads).into_iter();
        let results: Vec<_> =
            threads.map(|thread| thread.join().unwrap_or(Err(LoadError::Panicked))).collect();
        let mut counts = FamilyCounts::default();
        for result in results {
            counts.add(&result?);
        }
        Ok(counts)
    }
}

impl LoadSide for LoadThreads {
    type Target = ResolvedTarget;

    fn sources(&self) -> Vec<RecordSource> {
        let agent = self.agent;
        self.shares().map(|share| RecordSource { agent, thread: Some(share) }).collect()
    }

    fn prepare(
        &mut self,
        target: &ResolvedTarget,
        point: LoadPoint,
        records: Sender<Message>,
        stop: &AtomicBool,
    ) -> Result<OpenedSessions, LoadError> {
        let (report, ready) = channel();
        self.stop = Arc::default();
        let shares = self.shares();
        self.spares = SpareRecords::of_threads_from(shares.start);
        self.n_users = point.load.in_flight_max();
        let budget = self.plan.operations_of_agent(self.agent as usize, point.load);
        let budget = budget.map(|n| Arc::new(OperationBudget::new(n)));
        let assignments = partition(point.index, point.load, self.plan.load_threads());
        for assignment in assignments.into_iter().filter(|assignment| shares.contains(&assignment.share)) {
            let (start, origin) = oneshot::channel();
            let thread = LoadThread {
                plan: Arc::clone(&self.plan),
                agent: self.agent,
                point,
                assignment,
                budget: budget.clone(),
                target: target.clone(),
                clock: self.clock,
                start: ThreadStart { ready: report.clone(), origin, began: Arc::default() },
                stop: Arc::clone(&self.stop),
                outbox: Outbox::new(records.clone(), &mut self.spares),
            };
            self.starts.push(start);
            self.threads.push(std::thread::spawn(move || thread.run()));
        }
        drop(report);
        let sessions = self.wait_until_ready(&ready, stop);
        if !self.has_failed() {
            return Ok(sessions);
        }
        self.starts.clear();
        self.join().map(|_| sessions)
    }

    fn lead(&mut self) -> Nanos {
        lead(self.n_users)
    }

    fn go(&mut self, origin: Nanos) {
        for start in take(&mut self.starts) {
            // A thread that has ended since says why when it is joined.
            let _ = start.send(origin);
        }
    }

    fn abandon(&mut self) {
        self.starts.clear();
        // Nothing was recorded, and whoever begins the next load point is told what is wrong.
        let _ = self.join();
    }

    fn take_spares(&mut self) -> SpareRecords {
        take(&mut self.spares)
    }

    fn collect(&mut self, stop: &impl StopRequest) -> Result<FamilyCounts, LoadError> {
        while !self.threads.iter().all(JoinHandle::is_finished) {
            if stop.is_requested() {
                self.stop.store(true, Ordering::Relaxed);
            }
            sleep(STOP_STEP);
        }
        self.join()
    }
}

/// Ends the load point for the other threads when this one panics.
struct StopOnPanic(Arc<AtomicBool>);

impl Drop for StopOnPanic {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.store(true, Ordering::Relaxed);
        }
    }
}

/// One load thread of one load point.
struct LoadThread {
    plan: Arc<Plan>,
    agent: u32,
    point: LoadPoint,
    assignment: Assignment,
    /// The operations that all load threads may start.
    budget: Option<Arc<OperationBudget>>,
    target: ResolvedTarget,
    clock: RealClock,
    start: ThreadStart,
    stop: Arc<AtomicBool>,
    outbox: Outbox,
}

impl LoadThread {
    fn run(self) -> Result<FamilyCounts, LoadError> {
        let thread = self.assignment.share;
        let stop = Arc::clone(&self.stop);
        let _guard = StopOnPanic(Arc::clone(&stop));
        let result = self.run_here();
        if result.is_err() {
            // The others must not wait for the end of a load point that is lost.
            stop.store(true, Ordering::Relaxed);
        }
        result.map_err(|error| match error {
            ThreadFailure::System(source) => LoadError::Thread { thread, source },
            ThreadFailure::Setup(error) => LoadError::Setup(error),
        })
    }

    fn run_here(self) -> Result<FamilyCounts, ThreadFailure> {
        let LoadThread { plan, agent, point, assignment, budget, target, clock, start, stop, outbox } = self;
        let AgentPlan { cpus, first_share, .. } = &plan.agents[agent as usize];
        if let Some(cpu) = cpus.get((assignment.share - first_share) as usize) {
            pin_current_thread(&[*cpu])?;
        }
        let setup = PointSetup {
            point,
            agent,
            assignment,
            schedule: plan.schedule(point),
            budget,
            phases: plan.phases,
            shape: plan.shape.clone(),
            catalog: plan.catalog.clone(),
            seed: plan.seed,
            time_limit: plan.time_limit,
            notices: NoticeOutbox::default(),
        };
        target.run(ThreadWork { plan: &plan, setup, clock, start, stop: &stop, outbox })
    }
}
