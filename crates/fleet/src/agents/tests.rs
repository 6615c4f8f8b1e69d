//! Load agents in this process, over the bytes that go between machines, on simulated servers.

use std::io::Write;
use std::net::{Shutdown, SocketAddr};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::channel;
use std::thread::JoinHandle;

use engine::OpenedSessions;
use model::{AgentPlan, Example, IntervalRecord, Load, LoadPoint, Plan, Secrets};
use testkit::{ServiceTimeDistribution, SimServer, closed_plan, phases};
use units::{Nanos, RealClock};

use super::remote::{NamedTarget, RemoteLoad};
use super::serve::{AgentEnd, AgentHost, ServeSettings, serve_with};
use crate::agent_error::AgentError;
use crate::agent_link::{
    AgentFleet, FromAgent, GREETING, TO_AGENT_BYTES_MAX, ToAgent, own_hello, read_frame, write_frame,
};
use crate::collect::{StartedLoadPoint, WatchedServer, collect_load_point};
use crate::error::{FleetError, LoadError};
use crate::family::{ExternalServer, ServerForm};
use crate::family_counts::FamilyCounts;
use crate::laboratory::Collector;
use crate::load::LoadSide;
use crate::reading::MonitorReading;
use crate::seconds::MissingRecord;
use crate::simulated_load::{RecordFault, SimulatedLoad};
use crate::stop::StopSwitch;

pub(super) const PROGRAM: &str = "test 1";
pub(super) const BUILD: &str = "b1";

/// A target for simulated load: nobody connects to it.
pub(super) struct SomeServer;

impl NamedTarget for SomeServer {
    fn server(&self) -> Result<ServerForm, AgentError> {
        Ok(ServerForm::app(&"app://nowhere:1".parse().unwrap()))
    }

    fn reached_at(&self) -> Option<SocketAddr> {
        Some(([10, 0, 0, 1], 1).into())
    }
}

/// A host of simulated load.
struct SimulatedHost;

impl AgentHost for SimulatedHost {
    type Load = SimulatedLoad;

    fn load(&self, plan: Arc<Plan>, agent: u32, _: RealClock) -> SimulatedLoad {
        SimulatedLoad::of_agent((*plan).clone(), agent, server())
    }

    fn resolve(
        &self,
        _: &ExternalServer,
        _: Secrets,
        _: RealClock,
        _: &AtomicBool,
    ) -> Result<(), FleetError> {
        Ok(())
    }

    fn address(&self, (): &()) -> Option<SocketAddr> {
        Some(([10, 0, 0, 1], 1).into())
    }

    fn probe(&self, (): &(), _: &Plan, _: RealClock, _: &AtomicBool) -> Result<(), FleetError> {
        Ok(())
    }
}

/// Begins an agent in this process; returns the controller's end of the link, and its end.
pub(super) fn agent() -> (UnixStream, JoinHandle<Result<(), AgentEnd>>) {
    let (controller, stream) = UnixStream::pair().unwrap();
    let output = stream.try_clone().unwrap();
    let settings = ServeSettings::of(PROGRAM, BUILD);
    let serving = std::thread::spawn(move || serve_with(SimulatedHost, stream, output, settings));
    (controller, serving)
}

/// Begins an agent that does what is asked, and sends of the second load point what `lie` makes of its records.
fn liar(lie: RecordFault) -> UnixStream {
    let (controller, mut stream) = UnixStream::pair().unwrap();
    std::thread::spawn(move || {
        stream.write_all(GREETING).unwrap();
        let mut output = stream.try_clone().unwrap();
        let mut say = |message: FromAgent| drop(write_frame(&mut output, &message.encode()));
        say(FromAgent::Hello(own_hello(PROGRAM, BUILD)));
        let mut made: Option<(Plan, u32, LoadPoint)> = None;
        while let Ok(bytes) = read_frame(&mut stream, TO_AGENT_BYTES_MAX) {
            match ToAgent::decode(&bytes).unwrap() {
                ToAgent::SetUp { agent, plan, .. } => {
                    made = Some((runfile::wire::decode_plan(&plan).unwrap(), agent, point(0, 1)));
                    say(FromAgent::Done);
                }
                ToAgent::Probe { .. } => say(FromAgent::Reached { address: Some(([10, 0, 0, 2], 1).into()) }),
                ToAgent::Prepare { point, .. } => {
                    made.as_mut().unwrap().2 = point;
                    say(FromAgent::Ready(OpenedSessions::default()));
                }
                ToAgent::Ping { number, .. } => say(FromAgent::Pong { number, at: Nanos::ZERO }),
                ToAgent::Go { .. } => {
                    let (plan, agent, point) = made.clone().unwrap();
                    let mut load = SimulatedLoad::of_agent(plan, agent, server());
                    let mut records = run_point(&mut load, &(), point, &AtomicBool::new(false)).0.records;
                    let n = records.len() as u64;
                    if point.index == 1 {
                        lie(&mut records);
                    }
                    say(FromAgent::Begun { late: Nanos::ZERO });
                    for (number, record) in (0..).zip(&records) {
                        say(FromAgent::Record { number, record: runfile::wire::encode(record) });
                    }
                    say(FromAgent::Over { records: n, counts: FamilyCounts::default() });
                }
                ToAgent::Hello { .. } | ToAgent::Abandon | ToAgent::Stop | ToAgent::Heartbeat => {}
            }
        }
    });
    controller
}

/// Begins an agent that answers pings, and of the rest what it is asked to before it falls silent.
fn mute(answers: fn(&ToAgent) -> Option<FromAgent>) -> UnixStream {
    let (controller, mut stream) = UnixStream::pair().unwrap();
    std::thread::spawn(move || {
        stream.write_all(GREETING).unwrap();
        let mut output = stream.try_clone().unwrap();
        let mut say = |message: FromAgent| drop(write_frame(&mut output, &message.encode()));
        say(FromAgent::Hello(own_hello(PROGRAM, BUILD)));
        while let Ok(bytes) = read_frame(&mut stream, TO_AGENT_BYTES_MAX) {
            match ToAgent::decode(&bytes).unwrap() {
                ToAgent::Ping { number, .. } => say(FromAgent::Pong { number, at: Nanos::ZERO }),
                message => answers(&message).into_iter().for_each(&mut say),
            }
        }
    });
    controller
}

pub(super) fn fleet(streams: &[UnixStream]) -> Arc<AgentFleet> {
    let both = streams.iter().map(|stream| (stream.try_clone().unwrap(), stream.try_clone().unwrap()));
    AgentFleet::of_streams(both.collect(), PROGRAM, BUILD)
}

/// What a controller has of load points.
#[derive(Debug, Default)]
pub(super) struct CollectedRecords {
    pub(super) records: Vec<IntervalRecord>,
    examples: Vec<Example>,
    pub(super) missing: Vec<MissingRecord>,
    failed: Vec<String>,
}

impl Collector for CollectedRecords {
    fn interval(&mut self, record: &IntervalRecord) {
        self.records.push(record.clone());
    }

    fn example(&mut self, example: Example) {
        self.examples.push(example);
    }

    fn readings(&mut self, _: u32, _: Nanos, _: MonitorReading) {}

    fn missing(&mut self, records: &[MissingRecord]) {
        self.missing.extend(records);
    }

    fn failed(&mut self, error: FleetError) {
        self.failed.push(error.to_string());
    }
}

/// Runs a load point with a load side.
pub(super) fn run_point<T>(
    load: &mut impl LoadSide<Target = T>,
    target: &T,
    point: LoadPoint,
    stop: &AtomicBool,
) -> (CollectedRecords, Result<FamilyCounts, LoadError>) {
    run_point_of(load, target, (point, false), stop)
}

/// Does the same with a load that may end early.
fn run_point_of<T>(
    load: &mut impl LoadSide<Target = T>,
    target: &T,
    (point, may_end_early): (LoadPoint, bool),
    stop: &AtomicBool,
) -> (CollectedRecords, Result<FamilyCounts, LoadError>) {
    let mut collected = CollectedRecords::default();
    let (sender, messages) = channel();
    let prepared = load.probe(target, stop).and_then(|_| load.prepare(target, point, sender.clone(), stop));
    if let Err(error) = prepared {
        return (collected, Err(error));
    }
    let _ = load.lead();
    load.go(Nanos::ZERO);
    let clock = RealClock::start();
    let begun = StartedLoadPoint {
        cpus: Vec::new(),
        index: point.index,
        may_end_early,
        clock,
        origin: Nanos::ZERO,
        messages,
        sender,
    };
    let server = WatchedServer { sut: None, meter: None };
    let switch = StopSwitch::new(stop);
    let result = collect_load_point(begun, load, &mut [], server, &mut collected, &switch);
    (collected, result)
}

/// A server at which nobody waits for others, so that it is the same for all as for parts of them.
fn server() -> SimServer {
    SimServer::new(ServiceTimeDistribution::Fixed(Nanos::from_millis(7)), None)
}

/// A plan of 14 load threads, dealt to so many agents.
pub(super) fn plan(n_agents: u32) -> Plan {
    let agents = AgentPlan::in_sequence(vec![AgentPlan::only(14 / n_agents); n_agents as usize]);
    Plan { agents, ..closed_plan(7, &[30, 50], phases(1, 3)) }
}

pub(super) fn point(index: u32, users: u32) -> LoadPoint {
    LoadPoint { index, load: Load::Users(users) }
}

/// Performs load points of these indexes and users with all load threads of a plan in this process; returns the records.
pub(super) fn recorded_here(plan: Plan, points: &[(u32, u32)]) -> Vec<IntervalRecord> {
    let stop = AtomicBool::new(false);
    let mut load = SimulatedLoad::of_agent(plan, 0, server());
    let one = |(index, users): &(u32, u32)| run_point(&mut load, &(), point(*index, *users), &stop).0.records;
    points.iter().flat_map(one).collect()
}

/// Runs both load points with agents; returns the records.
fn recorded(plan: &Plan) -> Vec<IntervalRecord> {
    recorded_of(plan, &[(0, 30), (1, 50)])
}

/// Does so with load points of these indexes and users. Time is simulated, so that an agent may be ahead of another by any
/// number of seconds: load points are shorter than the watermark.
fn recorded_of(plan: &Plan, points: &[(u32, u32)]) -> Vec<IntervalRecord> {
    let agents: Vec<_> = plan.agents.iter().map(|_| agent()).collect();
    let streams: Vec<_> = agents.iter().map(|(stream, _)| stream.try_clone().unwrap()).collect();
    let fleet = fleet(&streams);
    let mut load = RemoteLoad::<SomeServer>::simulated(&fleet, Arc::new(plan.clone()));
    let stop = AtomicBool::new(false);
    let mut records = Vec::new();
    let may_end_early = plan.operations.is_some();
    for (index, users) in points {
        let point = (point(*index, *users), may_end_early);
        let (collected, result) = run_point_of(&mut load, &SomeServer, point, &stop);
        result.unwrap();
        assert!(collected.missing.is_empty() && collected.failed.is_empty(), "{collected:?}");
        records.extend(collected.records);
    }
    drop(load);
    drop(fleet);
    for (stream, serving) in agents {
        drop(stream.shutdown(Shutdown::Both));
        serving.join().unwrap().unwrap();
    }
    records
}

/// Goal: agents start as many operations as the plan gives, all of them and no more, and their records are those of a valid load
/// point. Method: 1, 2 and 7 agents, which have unequal numbers of users and so of operations; about 4,286 operations a second.
#[test]
fn agents_start_the_operations_of_the_plan_and_no_more() {
    for (n_agents, operations) in [(1, 6_000), (2, 6_001), (7, 6_005)] {
        let mut plan = plan(n_agents);
        plan.operations = Some(operations);
        plan.load_points.truncate(1);
        plan.phases = model::Phases { steady: Nanos::from_secs(3600), ..phases(0, 1) };
        let records = recorded_of(&plan, &[(0, 30)]);
        let started: u64 = records.iter().map(|record| record.flow.started).sum();
        let ok: u64 = records.iter().map(|record| record.flow.ok).sum();
        assert_eq!((started, ok), (operations, operations), "{n_agents}");
        let mut analyzer = analysis::Analyzer::new(&plan);
        records.iter().for_each(|record| analyzer.interval(record));
        let point = analyzer.finish(model::RunEnding::Complete).load_points.remove(0);
        assert_eq!(point.verdict.reasons, [], "{n_agents}");
        let seconds = point.length.as_secs_f64();
        assert!((0.9..1.5).contains(&seconds), "{n_agents}: {seconds} s measured");
    }
}

/// Goal: what is recorded does not depend on the number of processes that perform it. Method: 14 load threads in this process,
/// and as 1, 2 and 7 agents, on a server where nobody waits for others; all bytes of all seconds.
#[test]
fn any_number_of_agents_records_the_same() {
    let expected = recorded_here(plan(1), &[(0, 30), (1, 50)]);
    let bytes =
        |records: &[IntervalRecord]| -> Vec<Vec<u8>> { records.iter().map(runfile::wire::encode).collect() };
    assert!(1000 < expected.iter().map(|record| record.flow.ok).sum::<u64>());
    for n_agents in [1, 2, 7] {
        let found = recorded(&plan(n_agents));
        assert_eq!(bytes(&found), bytes(&expected), "{n_agents} agents");
        for record in &found {
            let flow = &record.flow;
            assert_eq!(flow.due_sides()[0], flow.due_sides()[1]);
            assert_eq!(flow.started_sides()[0], flow.started_sides()[1]);
        }
    }
}

/// Goal: an agent that lies ends its own part, and nothing else. Method: one of two agents sends wrong records of the second
/// load point.
#[test]
fn an_agent_that_lies_is_named_and_its_records_are_not_added() {
    let lies: [(RecordFault, &str); 6] = [
        (|records| records[1].flow.ok += 1, "contradicts itself"),
        (|records| records[1].load_point = 0, "it has sent a record of load point 0"),
        (|records| records[1].agent = 0, "from load agent 0"),
        (|records| records[1].start += Nanos(1), "is not that of the plan"),
        (|records| records[1].flow.thinking_ns = u128::MAX, "has more time of thinking than its users (25)"),
        (|records| records.truncate(1), "it has sent 1 records and says that they are"),
    ];
    for (lie, reason) in lies {
        let (honest, serving) = agent();
        let fleet = fleet(&[honest.try_clone().unwrap(), liar(lie)]);
        let mut load = RemoteLoad::<SomeServer>::simulated(&fleet, Arc::new(plan(2)));
        let stop = AtomicBool::new(false);
        run_point(&mut load, &SomeServer, point(0, 30), &stop).1.unwrap();
        let (collected, result) = run_point(&mut load, &SomeServer, point(1, 50), &stop);
        let error = result.unwrap_err().to_string();
        assert!(error.contains("load agent `test 1`") && error.contains(reason), "{error}");
        assert!(collected.failed.is_empty(), "the collector has seen none of it: {collected:?}");
        let (_, again) = run_point(&mut load, &SomeServer, point(1, 50), &stop);
        assert!(again.unwrap_err().to_string().contains("it was lost before"), "it is not believed again");
        drop(load);
        drop(fleet);
        honest.shutdown(Shutdown::Both).unwrap();
        serving.join().unwrap().unwrap();
    }
}

/// Goal: a load point that was prepared and did not begin leaves nothing to the next one, of this run or another.
#[test]
fn a_load_point_that_does_not_begin_leaves_nothing() {
    let (stream, _serving) = agent();
    let fleet = fleet(&[stream.try_clone().unwrap()]);
    let stop = AtomicBool::new(false);
    let expected = {
        let mut load = RemoteLoad::<SomeServer>::simulated(&fleet, Arc::new(plan(1)));
        run_point(&mut load, &SomeServer, point(0, 30), &stop).0.records
    };
    for is_abandoned in [false, true] {
        let mut dropped = RemoteLoad::<SomeServer>::simulated(&fleet, Arc::new(plan(1)));
        let (sender, _messages) = channel();
        dropped.prepare(&SomeServer, point(0, 30), sender, &stop).unwrap();
        if is_abandoned {
            dropped.abandon();
        }
        let mut load = RemoteLoad::<SomeServer>::simulated(&fleet, Arc::new(plan(1)));
        let (collected, result) = run_point(&mut load, &SomeServer, point(0, 30), &stop);
        result.unwrap();
        assert_eq!(collected.records.len(), expected.len());
        assert!(collected.records == expected, "the same records");
    }
    stream.shutdown(Shutdown::Both).unwrap();
}

/// Goal: an agent ends when its controller does. Method: the link is cut while nothing runs, and between prepare and go.
#[test]
fn an_agent_ends_with_its_controller() {
    for is_prepared in [false, true] {
        let (stream, serving) = agent();
        let fleet = fleet(&[stream.try_clone().unwrap()]);
        let mut load = RemoteLoad::<SomeServer>::simulated(&fleet, Arc::new(plan(1)));
        let stop = AtomicBool::new(false);
        load.probe(&SomeServer, &stop).unwrap();
        let (sender, _messages) = channel();
        if is_prepared {
            load.prepare(&SomeServer, point(0, 30), sender, &stop).unwrap();
        }
        stream.shutdown(Shutdown::Both).unwrap();
        serving.join().unwrap().unwrap();
        let (_, result) = run_point(&mut load, &SomeServer, point(0, 30), &stop);
        assert!(result.unwrap_err().to_string().starts_with("load agent `test 0` was lost"), "named");
    }
}

/// Goal: another build is refused by both sides, by name.
#[test]
fn another_build_is_refused_with_both_named() {
    let (controller, stream) = UnixStream::pair().unwrap();
    let output = stream.try_clone().unwrap();
    let settings = ServeSettings::of(PROGRAM, BUILD);
    let serving = std::thread::spawn(move || serve_with(SimulatedHost, stream, output, settings));
    let mut output = controller.try_clone().unwrap();
    let hello = ToAgent::Hello { program: PROGRAM.to_owned(), build: "b2".to_owned() };
    write_frame(&mut output, &hello.encode()).unwrap();
    let error = serving.join().unwrap().unwrap_err().to_string();
    assert_eq!(error, "expected a controller of the same build, test 1 (build b1); found test 1 (build b2)");
}

/// Goal: a name that means another address on a load machine is said to do so.
#[test]
fn another_address_on_a_load_machine_is_said() {
    let (honest, serving) = agent();
    let fleet = fleet(&[honest.try_clone().unwrap(), liar(|_| ())]);
    let mut load = RemoteLoad::<SomeServer>::simulated(&fleet, Arc::new(plan(2)));
    let remarks = load.probe(&SomeServer, &AtomicBool::new(false)).unwrap();
    let expected = "load agent 1 reaches the server at another address than this machine does";
    assert!(remarks.len() == 1 && remarks[0].starts_with(expected), "{remarks:?}");
    drop(load);
    drop(fleet);
    honest.shutdown(Shutdown::Both).unwrap();
    serving.join().unwrap().unwrap();
}

/// Goal: nothing waits for ever for an agent that lives and does nothing. Method: it says that it is ready, begins and records
/// nothing; and it is never ready, while the user asks for the end.
#[test]
fn an_agent_that_answers_and_does_nothing_is_given_up() {
    let answers = |message: &ToAgent| match message {
        ToAgent::SetUp { .. } => Some(FromAgent::Done),
        ToAgent::Probe { .. } => Some(FromAgent::Reached { address: None }),
        ToAgent::Prepare { .. } => Some(FromAgent::Ready(OpenedSessions::default())),
        ToAgent::Go { .. } => Some(FromAgent::Begun { late: Nanos::ZERO }),
        _ => None,
    };
    let idle = fleet(&[mute(answers)]);
    let mut load = RemoteLoad::<SomeServer>::simulated(&idle, Arc::new(plan(1))).impatient();
    let (_, result) = run_point(&mut load, &SomeServer, point(0, 30), &AtomicBool::new(false));
    let error = result.unwrap_err().to_string();
    let (start, seconds) = error.split_once(" for ").expect("a time");
    assert!(start.ends_with("`test 0` was lost: it answers, but has recorded nothing"), "{error}");
    let seconds: f64 = seconds.split(' ').next().unwrap().parse().unwrap();
    assert!(3.0 <= seconds, "{error}");
    let deaf = fleet(&[mute(|message| matches!(message, ToAgent::SetUp { .. }).then_some(FromAgent::Done))]);
    let mut load = RemoteLoad::<SomeServer>::simulated(&deaf, Arc::new(plan(1))).impatient();
    let (sender, _messages) = channel();
    let error = load.prepare(&SomeServer, point(0, 30), sender, &AtomicBool::new(true)).unwrap_err();
    assert_eq!(error.to_string(), "load agent `test 0` was lost: it does not stop");
}
