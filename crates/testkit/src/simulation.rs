//! A simulated run, from plan to records and analysis.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::marker::PhantomData;
use std::rc::Rc;
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};

use analysis::{Analysis, Analyzer};
use benchmarks::app::Transactions;
use benchmarks::file::FileClients;
use benchmarks::mail::MailUsers;
use benchmarks::orderentry::OrderTerminals;
use benchmarks::sql::SqlTransactions;
use benchmarks::web::pages::Pages;
use engine::{
    BlockingClock, BlockingRuntime, LoadThreadUse, NoticeOutbox, OperationBudget, PointSetup, RecordSink,
    Runtime, StopRequest, run_blocking_point, run_point,
};
use model::{
    Assignment, Example, IntervalRecord, LoadPoint, Mix, Plan, RunEnding, WebRequest, Workload, partition,
};
use units::{Clock, Nanos};

use crate::driver::{NoticeQueue, SimBlockingDriver, SimDriver, SimObserver};
use crate::executor::SimExecutor;
use crate::family::SimOperation;
use crate::server::{ServerState, SimRequest, SimServer, TimeWindow};
use crate::sim_threads::SimThreads;

/// Start of load points on the clock: not zero, so that a forgotten offset shows.
const START: Nanos = Nanos(1_234_567_891);

/// A run to simulate.
#[derive(Debug, Clone)]
pub struct Simulation {
    /// The plan. All its load threads take part, each with its share, on one clock.
    pub plan: Plan,
    /// The server; a new one for each load point.
    pub server: SimServer,
    /// A period in which the generator itself is paused.
    pub generator_pause: Option<TimeWindow>,
    /// Time at which the run is asked to stop, from the start of the first load point.
    pub stop_at: Option<Nanos>,
    /// Whether the calls of drivers block, and the server is a part of this process.
    pub blocks: bool,
    /// The load agent of the plan whose load threads take part; `None`: all, as of agent 0.
    pub agent: Option<u32>,
}

/// The records of a simulated run.
#[derive(Debug, Default)]
pub struct Recording {
    /// Of each load thread, in the order of load point, index and thread.
    pub intervals: Vec<IntervalRecord>,
    /// In order of arrival.
    pub examples: Vec<Example>,
    /// The requests seen by the server at all load points, in order.
    pub requests: Vec<SimRequest>,
}

impl Simulation {
    /// Creates a run without disturbance of the generator.
    pub fn new(plan: Plan, server: SimServer) -> Simulation {
        Simulation { plan, server, generator_pause: None, stop_at: None, blocks: false, agent: None }
    }

    /// Runs all load points and keeps all records; for short runs.
    pub fn record(&self) -> Recording {
        let mut all = Recording::default();
        for point in self.load_points() {
            let requests = self.run_load_point(*point, |part| all.add(part));
            all.requests.extend(requests);
        }
        all.sort();
        all
    }

    /// Runs the first load point with users that a test defines, in place of those of the plan's workload, and keeps all
    /// records.
    pub fn record_users<M>(&self, mix: M) -> Recording
    where
        M: Mix<Operation = WebRequest> + Send + Sync + 'static,
    {
        let mut all = Recording::default();
        all.requests = self.run_users(self.plan.load_points[0], mix, |part| all.add(part));
        all.sort();
        all
    }

    /// Runs all load points and analyzes their records, with shares merged as by a load agent.
    pub fn analyze(&self) -> Analysis {
        let mut analyzer = Analyzer::new(&self.plan);
        for point in self.load_points() {
            let mut merging = IntervalMerger::default();
            self.run_load_point(*point, |part| {
                part.examples.into_iter().for_each(|example| analyzer.example(example));
                for record in part.intervals {
                    merging
                        .add(record, self.plan.load_threads())
                        .into_iter()
                        .for_each(|whole| analyzer.interval(&whole));
                }
            });
            merging.open.into_values().for_each(|(_, rest)| analyzer.interval(&rest));
        }
        let ending = match self.stop_at {
            Some(_) => RunEnding::Stopped("asked to".to_owned()),
            None => RunEnding::Complete,
        };
        analyzer.finish(ending)
    }

    /// Returns the load points to run: only the first, if the run is to be stopped.
    fn load_points(&self) -> &[LoadPoint] {
        match self.stop_at {
            Some(_) => &self.plan.load_points[..1],
            None => &self.plan.load_points,
        }
    }

    /// Runs one load point; `take` receives records as they arrive. Returns the requests seen by the server.
    fn run_load_point(&self, point: LoadPoint, take: impl FnMut(Recording)) -> Vec<SimRequest> {
        let seed = self.plan.seed;
        match &self.plan.workload {
            Workload::Web(web) => self.run_users(point, Pages::new(web, seed, point.load), take),
            Workload::App(app) => self.run_users(point, Transactions::new(app, seed), take),
            Workload::File(file) => {
                let clients =
                    FileClients::new(file, seed).expect("a plan has settings that clients can have");
                self.run_users(point, clients, take)
            }
            Workload::OrderEntry(orders) => self.run_users(point, OrderTerminals::new(orders, seed), take),
            Workload::Sql(sql) => self.run_users(point, SqlTransactions::new(sql, seed, point.load), take),
            Workload::Mail(mail) => {
                let epoch = benchmarks::mail::epoch(0, point);
                self.run_users(point, MailUsers::new(mail, seed, epoch, self.plan.users_max()), take)
            }
            #[cfg(feature = "echo")]
            Workload::Echo(echo) => self.run_users(point, benchmarks::echo::Messages::new(echo, seed), take),
        }
    }

    /// Does the same with the users of a mix.
    fn run_users<M>(&self, point: LoadPoint, mix: M, mut take: impl FnMut(Recording)) -> Vec<SimRequest>
    where
        M: Mix<Operation: SimOperation> + Send + Sync + 'static,
    {
        if self.blocks {
            let server = Arc::new(Mutex::new(self.server_state(point)));
            take(self.block(point, &server, mix));
            return std::mem::take(&mut server.lock().expect("a server that does not panic").requests);
        }
        let pause = self
            .generator_pause
            .map(|TimeWindow { from, to }| TimeWindow { from: START + from, to: START + to });
        let mut executor = SimExecutor::new(START, pause);
        let context = ShareContext {
            server_state: Rc::new(RefCell::new(self.server_state(point))),
            outbox: Outbox::default(),
            n_running: Rc::new(Cell::new(self.assignments(point).len())),
            budget: self.budget(point),
        };
        self.start_shares(&executor, &context, point, mix);
        loop {
            executor.settle();
            take(context.outbox.0.take());
            if context.n_running.get() == 0 {
                return std::mem::take(&mut context.server_state.borrow_mut().requests);
            }
            executor.advance();
        }
    }

    /// Runs one load point with drivers that block. Returns the records in order of load thread.
    fn block<M>(&self, point: LoadPoint, server: &Arc<Mutex<ServerState>>, mix: M) -> Recording
    where
        M: Mix<Operation: SimOperation> + Send + Sync + 'static,
    {
        assert!(self.generator_pause.is_none(), "no pause of threads is simulated");
        let threads = SimThreads::new(START);
        let (mix, (sender, records)) = (Arc::new(mix), channel());
        let budget = self.budget(point);
        let shares = self.assignments(point).into_iter().map(|assignment| {
            let mix = Arc::clone(&mix);
            let threads = threads.clone();
            let server = Arc::clone(server);
            let setup = self.setup(point, assignment, budget.clone());
            let sender = sender.clone();
            let stop = StopAt { clock: threads.clone(), at: self.stop_at.map(|at| START + at) };
            move || {
                let runtime =
                    BlockingRuntime { clock: threads.clone(), probe: Box::new(LoadThreadUse::default) };
                let driver = |user| SimBlockingDriver::<M::Operation> {
                    server_state: Arc::clone(&server),
                    threads: threads.clone(),
                    origin: START,
                    user,
                    operation: PhantomData,
                };
                let mut outbox = Recording::default();
                run_blocking_point(&setup, runtime, &mix, driver, START, &mut outbox, &stop)
                    .expect("simulated operations return");
                sender.send(outbox).expect("the simulation waits");
            }
        });
        let shares =
            shares.map(|share| threads.spawn("load thread".to_owned(), share).expect("a few threads"));
        threads.run(shares.collect());
        drop(sender);
        let mut all = Recording::default();
        records.into_iter().for_each(|part| all.add(part));
        all
    }

    /// Returns the shares of the load threads that take part.
    fn assignments(&self, point: LoadPoint) -> Vec<Assignment> {
        let mut all = partition(point.index, point.load, self.plan.load_threads());
        if let Some(agent) = self.agent {
            let shares = self.plan.agents[agent as usize].shares();
            all.retain(|assignment| shares.contains(&assignment.share));
        }
        all
    }

    /// Returns the operations that the load threads may start together.
    fn budget(&self, point: LoadPoint) -> Option<Arc<OperationBudget>> {
        let load = point.load;
        let n = match self.agent {
            Some(agent) => self.plan.operations_of_agent(agent as usize, load),
            None => self.plan.operations.filter(|_| load.is_closed()),
        };
        n.map(|n| Arc::new(OperationBudget::new(n)))
    }

    fn setup(
        &self,
        point: LoadPoint,
        assignment: Assignment,
        budget: Option<Arc<OperationBudget>>,
    ) -> PointSetup {
        PointSetup {
            point,
            agent: self.agent.unwrap_or(0),
            assignment,
            schedule: self.plan.schedule(point),
            budget,
            phases: self.plan.phases,
            shape: self.plan.shape.clone(),
            catalog: self.plan.catalog.clone(),
            seed: self.plan.seed,
            time_limit: self.plan.time_limit,
            notices: NoticeOutbox::default(),
        }
    }

    fn server_state(&self, point: LoadPoint) -> ServerState {
        let object_bytes = match self.plan.workload.web() {
            Some(web) => web.requests.iter().map(|request| request.body_bytes(0).unwrap_or(0)).collect(),
            // Operations of other families know their bytes.
            None => vec![0; self.plan.catalog.kinds.len()],
        };
        ServerState::new(self.server, object_bytes, self.plan.seed, point.index)
    }

    /// Starts the share of every load thread.
    fn start_shares<M>(&self, executor: &SimExecutor, context: &ShareContext, point: LoadPoint, mix: M)
    where
        M: Mix<Operation: SimOperation> + 'static,
    {
        let mix = Rc::new(mix);
        for assignment in self.assignments(point) {
            self.start_share(executor, context, point, assignment, Rc::clone(&mix));
        }
    }

    fn start_share<M>(
        &self,
        executor: &SimExecutor,
        context: &ShareContext,
        point: LoadPoint,
        assignment: Assignment,
        mix: Rc<M>,
    ) where
        M: Mix<Operation: SimOperation> + 'static,
    {
        let ShareContext { server_state, mut outbox, n_running, budget } = context.clone();
        let clock = executor.clock.clone();
        let timers = Rc::clone(&executor.timers);
        let stop = StopAt { clock: clock.clone(), at: self.stop_at.map(|at| START + at) };
        let setup = self.setup(point, assignment, budget);
        let driver = {
            let clock = clock.clone();
            let timers = Rc::clone(&timers);
            let observer = Rc::new(SimObserver {
                outbox: setup.notices.clone(),
                spawn: executor.spawner(),
                timers: Rc::clone(&timers),
                clock: clock.clone(),
            });
            move |user| SimDriver::<M::Operation> {
                server_state: Rc::clone(&server_state),
                timers: Rc::clone(&timers),
                clock: clock.clone(),
                origin: START,
                user,
                notices: NoticeQueue::default(),
                observer: Rc::clone(&observer),
                in_flight: Vec::new(),
                operation: PhantomData,
            }
        };
        let probe = Box::new(LoadThreadUse::default);
        let runtime = Runtime { clock, timers, spawn: executor.spawner(), probe };
        engine::Spawn::spawn(&executor.spawner(), async move {
            run_point(&setup, runtime, mix, driver, START, &mut outbox, &stop).await;
            n_running.set(n_running.get() - 1);
        });
    }
}

impl Recording {
    /// Adds the records and examples of another part.
    fn add(&mut self, part: Recording) {
        self.intervals.extend(part.intervals);
        self.examples.extend(part.examples);
    }

    fn sort(&mut self) {
        self.intervals.sort_by_key(|record| (record.load_point, record.index, record.thread));
    }
}

/// The state shared by the shares of a load point.
#[derive(Clone)]
struct ShareContext {
    server_state: Rc<RefCell<ServerState>>,
    outbox: Outbox,
    n_running: Rc<Cell<usize>>,
    budget: Option<Arc<OperationBudget>>,
}

/// Analyzes the records of all load threads at the first load point of a complete run.
pub fn analyze(plan: &Plan, intervals: Vec<IntervalRecord>) -> Analysis {
    let mut analyzer = Analyzer::new(plan);
    let mut merging = IntervalMerger::default();
    for record in intervals {
        merging.add(record, plan.load_threads()).into_iter().for_each(|whole| analyzer.interval(&whole));
    }
    merging.open.into_values().for_each(|(_, rest)| analyzer.interval(&rest));
    analyzer.finish(RunEnding::Complete)
}

/// A merger of the shares' records of each interval.
#[derive(Default)]
struct IntervalMerger {
    /// Intervals with missing shares, by index.
    open: BTreeMap<u32, (u32, IntervalRecord)>,
}

impl IntervalMerger {
    /// Adds a record; returns the complete interval when all shares have arrived.
    fn add(&mut self, record: IntervalRecord, n_shares: u32) -> Option<IntervalRecord> {
        let index = record.index;
        let whole = match self.open.remove(&index) {
            Some((n, mut merged)) => {
                merged.merge(&record).expect("simulated shares of an interval agree");
                (n + 1, merged)
            }
            None => (1, IntervalRecord { thread: None, ..record }),
        };
        if whole.0 == n_shares {
            return Some(whole.1);
        }
        self.open.insert(index, whole);
        None
    }
}

#[derive(Clone, Default)]
struct Outbox(Rc<RefCell<Recording>>);

impl RecordSink for Outbox {
    fn interval(&mut self, record: IntervalRecord) {
        self.0.borrow_mut().interval(record);
    }

    fn example(&mut self, example: Example) {
        self.0.borrow_mut().example(example);
    }
}

impl RecordSink for Recording {
    fn interval(&mut self, record: IntervalRecord) {
        self.intervals.push(record);
    }

    fn example(&mut self, example: Example) {
        self.examples.push(example);
    }
}

struct StopAt<C> {
    clock: C,
    at: Option<Nanos>,
}

impl<C: Clock> StopRequest for StopAt<C> {
    fn is_requested(&self) -> bool {
        self.at.is_some_and(|at| at <= self.clock.now())
    }
}
