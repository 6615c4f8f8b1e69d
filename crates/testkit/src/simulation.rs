//! A simulated run, from plan to records and analysis.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use analysis::{Analysis, Analyzer};
use benchmarks::pages::Pages;
use engine::{PointSetup, Runtime, Sink, StopRequest, run_point};
use model::{Assignment, Ending, Example, IntervalRecord, LoadPoint, Plan, partition};
use units::{Clock, Nanos, SimClock};

use crate::driver::SimDriver;
use crate::server::{Request, Server, Station, Window};
use crate::stage::Stage;

/// Where load points begin on the clock: not at zero, so that a forgotten origin shows.
const ORIGIN: Nanos = Nanos(1_234_567_891);

/// A run to be simulated.
#[derive(Debug, Clone)]
pub struct Simulation {
    /// What is run. Its load threads all take part, each with its share, side by side on one clock.
    pub plan: Plan,
    /// What it is run against; a fresh one for each load point.
    pub server: Server,
    /// A time in which the generator itself stands still.
    pub generator_pause: Option<Window>,
    /// When the run is asked to stop, from the start of the first load point.
    pub stop_at: Option<Nanos>,
}

/// What a simulated run handed over.
#[derive(Debug, Default)]
pub struct Recording {
    /// In the order of load point, index and share (as `agent`).
    pub intervals: Vec<IntervalRecord>,
    /// In the order in which they came.
    pub examples: Vec<Example>,
    /// What the server saw of all load points, in order.
    pub requests: Vec<Request>,
}

impl Simulation {
    /// Makes a run in which nothing happens to the generator.
    pub fn new(plan: Plan, server: Server) -> Simulation {
        Simulation { plan, server, generator_pause: None, stop_at: None }
    }

    /// Runs all load points and keeps everything; for short runs.
    pub fn record(&self) -> Recording {
        let mut all = Recording::default();
        for point in self.load_points() {
            let requests = self.play(*point, |part| {
                all.intervals.extend(part.intervals);
                all.examples.extend(part.examples);
            });
            all.requests.extend(requests);
        }
        all.intervals.sort_by_key(|record| (record.load_point, record.index, record.agent));
        all
    }

    /// Runs all load points and analyzes what they recorded, shares merged as a load agent does it.
    pub fn analyze(&self) -> Analysis {
        let mut analyzer = Analyzer::new(&self.plan);
        for point in self.load_points() {
            let mut merging = Merging::default();
            self.play(*point, |part| {
                part.examples.into_iter().for_each(|example| analyzer.example(example));
                for record in part.intervals {
                    merging
                        .add(record, self.plan.load_threads)
                        .into_iter()
                        .for_each(|whole| fold(&mut analyzer, whole));
                }
            });
            merging.open.into_values().for_each(|(_, rest)| fold(&mut analyzer, rest));
        }
        let ending = match self.stop_at {
            Some(_) => Ending::Stopped("asked to".to_owned()),
            None => Ending::Complete,
        };
        analyzer.finish(ending)
    }

    /// Returns the load points that are run: only the first, if the run is to be stopped.
    fn load_points(&self) -> &[LoadPoint] {
        match self.stop_at {
            Some(_) => &self.plan.load_points[..1],
            None => &self.plan.load_points,
        }
    }

    /// Runs one load point; `take` gets what is handed over as it comes. Returns what the server saw.
    fn play(&self, point: LoadPoint, mut take: impl FnMut(Recording)) -> Vec<Request> {
        let pause =
            self.generator_pause.map(|Window { from, to }| Window { from: ORIGIN + from, to: ORIGIN + to });
        let mut stage = Stage::new(ORIGIN, pause);
        let object_bytes =
            self.plan.workload.requests.iter().map(|request| request.body_bytes(0).unwrap_or(0)).collect();
        let station = Station::new(self.server, object_bytes, self.plan.seed, point.index);
        let cast = Cast {
            station: Rc::new(RefCell::new(station)),
            mix: Rc::new(Pages::new(&self.plan, point.load)),
            outbox: Outbox::default(),
            n_running: Rc::new(Cell::new(self.plan.load_threads)),
        };
        for assignment in partition(point.index, point.load, self.plan.load_threads) {
            self.start_share(&stage, &cast, point, assignment);
        }
        loop {
            stage.settle();
            take(cast.outbox.0.take());
            if cast.n_running.get() == 0 {
                return std::mem::take(&mut cast.station.borrow_mut().requests);
            }
            stage.advance();
        }
    }

    fn start_share(&self, stage: &Stage, cast: &Cast, point: LoadPoint, assignment: Assignment) {
        let Cast { station, mix, mut outbox, n_running } = cast.clone();
        let (clock, timers) = (stage.clock.clone(), Rc::clone(&stage.timers));
        let stop = StopAt { clock: clock.clone(), at: self.stop_at.map(|at| ORIGIN + at) };
        let mut users = assignment.users.clone();
        let driver = {
            let (clock, timers) = (clock.clone(), Rc::clone(&timers));
            move || SimDriver {
                station: Rc::clone(&station),
                timers: Rc::clone(&timers),
                clock: clock.clone(),
                origin: ORIGIN,
                user: users.next().expect("one driver for each user"),
            }
        };
        let probe = Box::new(|| (Nanos::ZERO, Nanos::ZERO));
        let runtime = Runtime { clock, timers, spawn: stage.spawner(), probe };
        let setup = PointSetup {
            point,
            assignment,
            phases: self.plan.phases,
            seed: self.plan.seed,
            time_limit: self.plan.protocol.time_limit,
            origin: ORIGIN,
        };
        engine::Spawn::spawn(&stage.spawner(), async move {
            run_point(&setup, runtime, mix, driver, &mut outbox, &stop).await;
            n_running.set(n_running.get() - 1);
        });
    }
}

/// State that all shares of a load point use.
#[derive(Clone)]
struct Cast {
    station: Rc<RefCell<Station>>,
    mix: Rc<Pages>,
    outbox: Outbox,
    n_running: Rc<Cell<u32>>,
}

/// Merges the shares' records of each interval.
#[derive(Default)]
struct Merging {
    /// Intervals of which not all shares have come, by index.
    open: BTreeMap<u32, (u32, IntervalRecord)>,
}

impl Merging {
    /// Adds a record; gives the whole interval when all shares have come.
    fn add(&mut self, record: IntervalRecord, n_shares: u32) -> Option<IntervalRecord> {
        let index = record.index;
        let whole = match self.open.remove(&index) {
            Some((n, mut merged)) => {
                merged.merge(&record);
                (n + 1, merged)
            }
            // The whole is the record of one agent, whichever of its threads came first.
            None => (1, IntervalRecord { agent: 0, ..record }),
        };
        if whole.0 == n_shares {
            return Some(whole.1);
        }
        self.open.insert(index, whole);
        None
    }
}

fn fold(analyzer: &mut Analyzer, mut record: IntervalRecord) {
    let detail = record.split_detail();
    analyzer.interval(&record);
    analyzer.detail(&detail);
}

#[derive(Clone, Default)]
struct Outbox(Rc<RefCell<Recording>>);

impl Sink for Outbox {
    fn interval(&mut self, record: IntervalRecord) {
        self.0.borrow_mut().intervals.push(record);
    }

    fn example(&mut self, example: Example) {
        self.0.borrow_mut().examples.push(example);
    }
}

struct StopAt {
    clock: SimClock,
    at: Option<Nanos>,
}

impl StopRequest for StopAt {
    fn is_requested(&self) -> bool {
        self.at.is_some_and(|at| at <= self.clock.now())
    }
}
