//! A maker of the records of a run from a list of operations: exact, by the definitions, without an engine.

use std::collections::BTreeMap;

use analysis::{Analysis, Analyzer, Finding, VerdictState};
use model::{
    AgentPlan, Arrivals, BenchmarkId, ConnectionLifetime, Flow, Headline, Health, IntervalRecord,
    KindHistograms, KindTotals, Load, LoadPoint, Outcome, Page, Phase, Phases, Plan, Request, Rules,
    RunEnding, SutPlan, SutUse, ThinkTime, UnitTotals, WebProtocol, WebWorkload, Workload, app_measure,
    web_measure,
};
use stats::{Histogram, Moments};
use units::Nanos;

/// Bytes of every reply's head.
pub(crate) const HEAD_BYTES: u64 = 200;

/// Bytes of every message of an application server.
pub(crate) const MESSAGE_BYTES: u64 = 512;

/// Sizes of the two objects, which are the two kinds of operation and a page each.
pub(crate) const OBJECT_BYTES: [u64; 2] = [500, 5125];

/// One operation, from due to done.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Operation {
    pub kind: usize,
    /// The think time before it; zero without one.
    pub drawn: Nanos,
    /// The time from the due time of the operation before, where pauses count from there; else zero.
    pub due_span: Nanos,
    /// The time from which its user can perform it; zero where it waits for nobody.
    pub free: Nanos,
    pub due: Nanos,
    pub sent: Nanos,
    pub done: Nanos,
    pub connect: Nanos,
    pub outcome: Outcome,
}

/// A run as recorded, to be tampered with.
#[derive(Debug, Clone)]
pub(crate) struct RecordedRun {
    pub plan: Plan,
    pub records: Vec<IntervalRecord>,
    pub ending: RunEnding,
}

pub(crate) fn ms(milliseconds: u64) -> Nanos {
    Nanos::from_millis(milliseconds)
}

pub(crate) fn s(seconds: u64) -> Nanos {
    Nanos::from_secs(seconds)
}

/// A plan with one load point, phases of ramp-up 0, settle, steady, ramp-down 0, drain 5 s.
pub(crate) fn plan(load: Load, settle: u64, steady: u64) -> Plan {
    let object = |path: &str, bytes| Request::file(path, bytes);
    let workload = WebWorkload {
        content_seed: 1,
        requests: vec![object("/small", OBJECT_BYTES[0]), object("/large", OBJECT_BYTES[1])],
        pages: vec![Page { weight: 1, requests: vec![0] }, Page { weight: 1, requests: vec![1] }],
        counts_pages: true,
        think: ThinkTime::None,
        cookies: model::Cookies::None,
        data: Vec::new(),
        protocol: WebProtocol::plain(ConnectionLifetime::PerRequest),
    };
    Plan {
        format: model::PLAN_FORMAT,
        benchmark: BenchmarkId { id: "test".to_owned(), version: 1, title: "Test".to_owned() },
        seed: 1,
        catalog: Headline::ConnectionRate.applied(workload.catalog()),
        workload: workload.into(),
        time_limit: s(60),
        load_points: vec![LoadPoint { index: 0, load }],
        phases: Phases {
            quiet: s(0),
            ramp_up: s(0),
            settle: s(settle),
            steady: s(steady),
            ramp_down: s(0),
            drain: s(5),
        },
        rules: Rules::default(),
        modifications: Vec::new(),
        sut: SutPlan { quota: Some(0.5), quota_reason: "asked for".to_owned(), ..SutPlan::of("built-in") },
        agents: vec![AgentPlan::only(2)],
        arrival_lanes: load.arrival_lanes(false),
        shape: None,
        source_addresses: Vec::new(),
        search: None,
        refinement: None,
        operations: None,
        limits: Vec::new(),
    }
}

impl RecordedRun {
    /// Ten users, settle 2 s, steady 20 s; response 100 ms and 50 ms alternately, so that 1 s is no multiple of a
    /// cycle.
    pub(crate) fn closed() -> RecordedRun {
        let plan = plan(Load::Users(10), 2, 20);
        let operations = users(&plan, 10, |_, k| if k % 2 == 0 { ms(100) } else { ms(50) }, Nanos::ZERO);
        RecordedRun::of(plan, &operations)
    }

    /// 200 operations/s at equal intervals, 20 slots, settle 2 s, steady 20 s, response 5 ms; a server
    /// that does nothing for `stall` from second 10.
    pub(crate) fn open(stall: Nanos) -> RecordedRun {
        let load = Load::Rate { per_second: 200.0, arrivals: Arrivals::Constant, in_flight_max: 20 };
        let plan = plan(load, 2, 20);
        let operations = scheduled(&plan, 0, ms(5), stall);
        RecordedRun::of(plan, &operations)
    }

    /// Makes the records of the first load point.
    pub(crate) fn of(plan: Plan, operations: &[Operation]) -> RecordedRun {
        let records = records(&plan, 0, 0, operations);
        RecordedRun { plan, records, ending: RunEnding::Complete }
    }

    /// Analyzes the records.
    pub(crate) fn analyze(&self) -> Analysis {
        self.analyze_details(|_| {})
    }

    /// Analyzes with changed details.
    pub(crate) fn analyze_details(&self, tamper: impl Fn(&mut KindHistograms)) -> Analysis {
        let mut analyzer = Analyzer::new(&self.plan);
        for record in &self.records {
            let mut interval = record.clone();
            interval.detail.iter_mut().for_each(&tamper);
            analyzer.interval(&interval);
        }
        analyzer.finish(self.ending.clone())
    }
}

/// Operations of users who start at once and never wait but for `think`; `response` of (user, k).
pub(crate) fn users(
    plan: &Plan,
    n: u32,
    response: impl Fn(u32, usize) -> Nanos,
    think: Nanos,
) -> Vec<Operation> {
    let mut operations = Vec::new();
    for user in 0..n {
        let mut due = think;
        for k in 0.. {
            if plan.phases.issuing() <= due {
                break;
            }
            let done = due + response(user, k);
            operations.push(Operation {
                kind: user as usize % 2,
                drawn: think,
                free: Nanos::ZERO,
                due_span: Nanos::ZERO,
                due,
                sent: due,
                done,
                connect: ms(1),
                outcome: Outcome::Ok,
            });
            due = done + think;
        }
    }
    operations
}

/// Operations on the schedule of a load point: each takes `service` from its sending, nothing is done
/// while the server stalls, and one without a free slot waits.
pub(crate) fn scheduled(plan: &Plan, load_point: usize, service: Nanos, stall: Nanos) -> Vec<Operation> {
    let point = plan.load_points[load_point];
    let schedule = plan.schedule(point).expect("an open loop");
    let from = s(10);
    let to = s(10) + stall;
    let mut places: Vec<Nanos> = vec![Nanos::ZERO; point.load.in_flight_max() as usize];
    let mut operations = Vec::new();
    for (k, due) in schedule.whole() {
        let place = places.iter_mut().min().expect("there are places");
        let sent = due.max(*place);
        let undisturbed = sent + service;
        let stalled = from < to && sent < to && from < undisturbed;
        let done = if stalled { to + service } else { undisturbed };
        *place = done;
        let kind = k as usize % 2;
        operations.push(Operation {
            kind,
            drawn: Nanos::ZERO,
            free: Nanos::ZERO,
            due_span: Nanos::ZERO,
            due,
            sent,
            done,
            connect: ms(1),
            outcome: Outcome::Ok,
        });
    }
    operations
}

/// Folds operations into interval records, one per second and phase, until all are done.
pub(crate) fn records(
    plan: &Plan,
    load_point: usize,
    agent: u32,
    operations: &[Operation],
) -> Vec<IntervalRecord> {
    let last = operations.iter().map(|operation| operation.done).max().unwrap_or_default();
    let mut records = Vec::new();
    let mut start = Nanos::ZERO;
    while start < plan.phases.issuing() || start <= last {
        let phase = plan.phases.at(start);
        let end =
            if phase == Phase::Drain { start + s(1) } else { (start + s(1)).min(plan.phases.end_of(phase)) };
        records.push(Window { start, end }.record(plan, load_point, agent, records.len() as u32, operations));
        start = end;
    }
    records
}

/// The time of one interval; its end is outside.
#[derive(Clone, Copy)]
struct Window {
    start: Nanos,
    end: Nanos,
}

impl Window {
    fn has(self, time: Nanos) -> bool {
        self.start <= time && time < self.end
    }

    fn overlap(self, from: Nanos, to: Nanos) -> u128 {
        u128::from(to.min(self.end).saturating_sub(from.max(self.start)).0)
    }

    fn record(
        self,
        plan: &Plan,
        load_point: usize,
        agent: u32,
        index: u32,
        operations: &[Operation],
    ) -> IntervalRecord {
        let length = self.end - self.start;
        let open = !plan.load_points[load_point].load.is_closed();
        let thinking = !plan.catalog.pauses.is_empty();
        let paced = open || thinking || operations.iter().any(|one| one.due < one.sent);
        let mut record = IntervalRecord {
            load_point: load_point as u32,
            agent,
            thread: None,
            index,
            phase: plan.phases.at(self.start),
            start: self.start,
            end: self.end,
            flow: self.flow(plan.load_points[load_point].load, operations),
            kinds: vec![KindTotals::new(plan.catalog.measures.len()); plan.catalog.kinds.len()],
            units: vec![UnitTotals::default(); plan.catalog.units.len()],
            pauses: vec![Moments::default(); plan.catalog.pauses.len()],
            notices: Vec::new(),
            clients: Moments::default(),
            response: Histogram::new(),
            service: Histogram::new(),
            lateness: Histogram::new(),
            health: Health {
                threads: plan.load_threads(),
                cpu: Nanos(length.0),
                run_queue: Nanos(length.0 / 50),
            },
            sut: Some(SutUse { cpu: Nanos(length.0 / 4), throttled: Nanos::ZERO }),
            detail: Some(KindHistograms::new(
                plan.catalog.kinds.len(),
                plan.catalog.spread_measures().count(),
                plan.catalog.pauses.len(),
            )),
        };
        for operation in operations {
            if paced && self.has(operation.sent) {
                record.lateness.record(operation.sent.saturating_sub(operation.due.max(operation.free)));
            }
            if self.has_pause(operation) && !record.pauses.is_empty() {
                record.pauses[0].record(operation.drawn.0);
                record.detail.as_mut().unwrap().pauses[0].record(operation.drawn);
            }
            if self.has(operation.done) {
                complete(plan, &mut record, operation, paced);
            }
            if self.has_flying_at_end(operation) {
                record.kinds[operation.kind].in_flight_at_end += 1;
            }
        }
        record
    }

    fn has_flying_at_end(self, operation: &Operation) -> bool {
        operation.sent < self.end && self.end <= operation.done
    }

    /// Returns whether the pause before an operation begins here.
    fn has_pause(self, operation: &Operation) -> bool {
        let begins = match operation.due_span {
            Nanos::ZERO => operation.due.saturating_sub(operation.drawn),
            _ => operation.free,
        };
        operation.drawn != Nanos::ZERO && self.has(begins)
    }

    /// Returns the times that operations that were sent here had waited for their users.
    fn user_wait(self, operations: &[Operation]) -> Moments {
        let mut user_wait = Moments::default();
        let waited = operations.iter().filter(|one| self.has(one.sent) && one.due < one.free);
        waited.for_each(|one| user_wait.record((one.free - one.due).0));
        user_wait
    }

    fn flow(self, load: Load, operations: &[Operation]) -> Flow {
        let count = |is: &dyn Fn(&Operation) -> bool| operations.iter().filter(|one| is(one)).count() as u64;
        let sum = |of: &dyn Fn(&Operation) -> u128| operations.iter().map(of).sum::<u128>();
        let ended =
            |outcome: &dyn Fn(Outcome) -> bool| count(&|one| self.has(one.done) && outcome(one.outcome));
        let in_flight_ns = sum(&|one| self.overlap(one.sent, one.done));
        let users_ns = if load.is_closed() {
            u128::from(load.in_flight_max()) * self.overlap(Nanos::ZERO, Nanos::MAX)
        } else {
            0
        };
        let flying_at_end = |one: &Operation| self.has_flying_at_end(one);
        Flow {
            waiting_at_start: count(&|one| one.due < self.start && self.start <= one.sent),
            due: count(&|one| self.has(one.due)),
            started: count(&|one| self.has(one.sent)),
            skipped: 0,
            waiting_at_end: count(&|one| one.due < self.end && self.end <= one.sent),
            in_flight_at_start: count(&|one| one.sent < self.start && self.start <= one.done),
            ok: ended(&|outcome| outcome == Outcome::Ok),
            failed: ended(&|outcome| !matches!(outcome, Outcome::Ok | Outcome::TimedOut)),
            timed_out: ended(&|outcome| outcome == Outcome::TimedOut),
            abandoned: 0,
            in_flight_at_end: count(&flying_at_end),
            left_open: 0,
            user_wait: self.user_wait(operations),
            due_span_ns: sum(&|one| if self.has(one.sent) { one.due_span.0.into() } else { 0 }),
            in_flight_ns,
            thinking_ns: users_ns.saturating_sub(in_flight_ns),
            in_flight_age_ns: sum(&|one| {
                if flying_at_end(one) { u128::from((self.end - one.sent).0) } else { 0 }
            }),
        }
    }
}

/// Returns the values of an operation's measures, in the order of the catalog of its family.
fn measured(plan: &Plan, operation: &Operation) -> [u64; 4] {
    let connect = operation.connect.0;
    let mut values = [0; 4];
    match &plan.workload {
        // CS and SC. The request waits as long in the queue as it then is on its way back.
        Workload::App(_) => {
            let frames = [(32 + MESSAGE_BYTES, 56), (32, 56 + MESSAGE_BYTES)];
            values[app_measure::QUEUE] = connect;
            values[app_measure::SERVICE] = (operation.done - operation.sent).0 - 2 * connect;
            (values[app_measure::SENT_BYTES], values[app_measure::RECEIVED_BYTES]) = frames[operation.kind];
        }
        _ => {
            let bytes = OBJECT_BYTES[operation.kind];
            values[web_measure::CONNECT] = connect;
            values[web_measure::FIRST_BYTE] = connect;
            values[web_measure::BODY_BYTES] = bytes;
            values[web_measure::REPLY_BYTES] = bytes + HEAD_BYTES;
        }
    }
    values
}

fn complete(plan: &Plan, record: &mut IntervalRecord, operation: &Operation, paced: bool) {
    let response = operation.done - operation.due;
    let kind = &mut record.kinds[operation.kind];
    let unit = record.units.get_mut(operation.kind);
    let detail = record.detail.as_mut().unwrap();
    if operation.outcome != Outcome::Ok {
        *kind.failed.entry(operation.outcome).or_default() += 1;
        detail.failed.entry((operation.kind as u16, operation.outcome)).or_default().record(response);
        unit.into_iter().for_each(|unit| unit.failed += 1);
        return;
    }
    unit.into_iter().for_each(|unit| unit.ok += 1);
    kind.response.record(response.0);
    detail.response[operation.kind].record(response);
    let measured = measured(plan, operation);
    kind.measures.iter_mut().zip(measured).for_each(|(measure, value)| measure.record(value));
    let with_spread = detail.spreads.iter_mut().zip(plan.catalog.spread_measures());
    with_spread.for_each(|(spread, measure)| spread.record(Nanos(measured[measure])));
    record.response.record(response);
    if paced {
        record.service.record(operation.done - operation.sent);
    }
}

/// Fails unless the run and all its load points are valid.
#[track_caller]
pub(crate) fn assert_valid(analysis: &Analysis) {
    assert_eq!(analysis.verdict.state, VerdictState::Valid, "{:#?}", analysis.verdict.reasons);
    assert!(analysis.headline.is_some());
}

/// Fails unless the run is invalid and `rule` is among the reasons; returns what it found.
#[track_caller]
pub(crate) fn assert_caught(analysis: &Analysis, rule: &str) -> Finding {
    assert_eq!(analysis.verdict.state, VerdictState::Invalid, "{:#?}", analysis.verdict);
    let reason = analysis.verdict.reasons.iter().find(|reason| reason.rule() == rule);
    reason.unwrap_or_else(|| panic!("no `{rule}` in {:#?}", analysis.verdict.reasons)).finding.clone()
}

/// Returns the rules among the reasons, each once.
pub(crate) fn rules_broken(analysis: &Analysis) -> Vec<&'static str> {
    let rules: BTreeMap<&str, ()> =
        analysis.verdict.reasons.iter().map(|reason| (reason.rule(), ())).collect();
    rules.into_keys().collect()
}

/// Returns what a rule found that is a remark.
pub(crate) fn remarks(analysis: &Analysis, rule: &str) -> Vec<Finding> {
    let of_rule = analysis.verdict.remarks.iter().filter(|remark| remark.rule() == rule);
    of_rule.map(|remark| remark.finding.clone()).collect()
}
