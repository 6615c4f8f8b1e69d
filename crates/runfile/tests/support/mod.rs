//! Runs that never happened: a plan and records with a realistic spread.

use std::f64::consts::TAU;
use std::path::Path;

use model::{
    AgentPlan, BenchmarkId, ConnectionLifetime, FactSection, Flow, Headline, Health, IntervalRecord,
    KindHistograms, KindTotals, Load, LoadPoint, Modification, Outcome, PLAN_FORMAT, Page, Phase, Phases,
    Plan, Request, Rules, RunEnding, SutPlan, SutUse, Testbed, ThinkTime, UnitTotals, WebProtocol,
    WebWorkload, web_measure,
};
use runfile::{Header, Record, Run, Writer};
use stats::Histogram;
use units::{Nanos, Rng, StreamPurpose, WallTime};

/// Size in bytes and share in per mille of each file of WebStone 2.0.1.
const FILES: [(u64, u64); 5] = [(500, 350), (5_125, 500), (51_250, 140), (512_500, 9), (5_248_000, 1)];

pub(crate) fn header(n_load_points: u32) -> Header {
    Header {
        program: "plimsoll 0.1.0 (test)".to_owned(),
        created: WallTime(1_700_000_000_000),
        command_line: "plimsoll run webstone-2.0.1 --quick".to_owned(),
        plan: plan(n_load_points),
        testbed: Testbed {
            sections: vec![FactSection::new("Hardware", [("processor", "a fast one".to_owned())])],
        },
    }
}

fn plan(n_load_points: u32) -> Plan {
    let objects = FILES.iter().map(|(bytes, _)| Request::file(&format!("/file{bytes}"), *bytes));
    let pages =
        FILES.iter().zip(0..).map(|((_, weight), object)| Page { weight: *weight, requests: vec![object] });
    let load_points = (0..n_load_points).map(|index| LoadPoint { index, load: Load::Users(10 + 10 * index) });
    let s = Nanos::from_secs;
    let workload = WebWorkload {
        content_seed: 2001,
        requests: objects.collect(),
        pages: pages.collect(),
        counts_pages: true,
        think: ThinkTime::None,
        cookies: model::Cookies::None,
        data: Vec::new(),
        protocol: WebProtocol::plain(ConnectionLifetime::PerRequest),
    };
    Plan {
        format: PLAN_FORMAT,
        benchmark: BenchmarkId {
            id: "webstone-2.0.1".to_owned(),
            version: 1,
            title: "WebStone 2.0.1-style".to_owned(),
        },
        seed: u64::MAX,
        catalog: Headline::ConnectionRate.applied(workload.catalog()),
        workload: workload.into(),
        time_limit: s(60),
        load_points: load_points.collect(),
        phases: Phases {
            quiet: s(0),
            ramp_up: s(5),
            settle: s(0),
            steady: s(600),
            ramp_down: s(2),
            drain: s(1),
        },
        rules: Rules { error_ratio_max: 0.1 + 0.2, ..Rules::default() },
        modifications: vec![Modification {
            what: "load".to_owned(),
            standard: "10..200/10".to_owned(),
            ours: "10".to_owned(),
        }],
        sut: SutPlan {
            cpus: vec![0],
            quota: Some(0.4),
            quota_reason: "the built-in default".to_owned(),
            ..SutPlan::of("built-in")
        },
        agents: vec![AgentPlan { cpus: vec![1], ..AgentPlan::only(1) }],
        arrival_lanes: std::num::NonZeroU16::MIN,
        shape: None,
        source_addresses: vec!["127.0.0.2".parse().unwrap()],
        search: None,
        refinement: None,
        operations: None,
        limits: Vec::new(),
    }
}

/// Makes the records of one run, one after another.
pub(crate) struct Synthesis {
    rng: Rng,
    /// Successful operations per second.
    rate: u32,
}

impl Synthesis {
    pub(crate) fn new(seed: u64, rate: u32) -> Synthesis {
        Synthesis { rng: Rng::new(seed, StreamPurpose::Simulation, 0), rate }
    }

    /// Makes second `index` of a load point. Every tenth second two operations fail.
    pub(crate) fn second(&mut self, load_point: u32, agent: u32, index: u32, phase: Phase) -> IntervalRecord {
        let second = Nanos::from_secs(u64::from(index));
        let mut record = IntervalRecord {
            load_point,
            agent,
            thread: None,
            index,
            phase,
            start: second,
            end: second + Nanos::from_secs(1),
            flow: Flow::default(),
            kinds: vec![KindTotals::new(4); FILES.len()],
            units: vec![UnitTotals { ok: 0, failed: 0 }; FILES.len()],
            pauses: Vec::new(),
            notices: Vec::new(),
            clients: stats::Moments::default(),
            response: Histogram::new(),
            service: Histogram::new(),
            lateness: Histogram::new(),
            health: Health {
                threads: 1,
                cpu: Nanos(300_000_000 + self.rng.below(50_000_000)),
                run_queue: Nanos(self.rng.below(20_000_000)),
            },
            sut: Some(SutUse {
                cpu: Nanos(380_000_000 + self.rng.below(20_000_000)),
                throttled: Nanos(self.rng.below(600_000_000)),
            }),
            detail: Some(KindHistograms::new(FILES.len(), 1, 0)),
        };
        // The load grows with the load point, and so do the times.
        let median_ms = 20.0 + 4.0 * f64::from(load_point);
        for _ in 0..self.rate {
            self.succeed(&mut record, median_ms);
        }
        if index % 10 == 3 {
            self.fail(&mut record, Outcome::Reset, Nanos::from_millis(700));
            self.fail(&mut record, Outcome::TimedOut, Nanos::from_secs(60));
        }
        self.fill_flow(&mut record);
        record
    }

    fn succeed(&mut self, record: &mut IntervalRecord, median_ms: f64) {
        let kind = self.kind();
        let factor = [1.0, 1.1, 1.5, 4.0, 20.0][kind];
        let response = self.lognormal(median_ms * factor, 0.6);
        let connect = self.lognormal(0.3, 0.5);
        let first_byte = Nanos(connect.0 + (response.0 - connect.0.min(response.0)) / 2);
        let body = FILES[kind].0;
        let head = 180 + FILES[kind].0.ilog10() as u64;
        let totals = &mut record.kinds[kind];
        totals.response.record(response.0);
        for (measure, value) in [
            (web_measure::CONNECT, connect.0),
            (web_measure::FIRST_BYTE, first_byte.0),
            (web_measure::REPLY_BYTES, head + body),
            (web_measure::BODY_BYTES, body),
        ] {
            totals.measures[measure].record(value);
        }
        record.response.record(response);
        let detail = record.detail.as_mut().unwrap();
        detail.response[kind].record(response);
        detail.spreads[0].record(connect);
        record.units[kind].ok += 1;
        record.flow.ok += 1;
    }

    fn fail(&mut self, record: &mut IntervalRecord, outcome: Outcome, response: Nanos) {
        let kind = self.kind();
        *record.kinds[kind].failed.entry(outcome).or_default() += 1;
        let detail = record.detail.as_mut().unwrap();
        detail.failed.entry((kind as u16, outcome)).or_default().record(response);
        record.units[kind].failed += 1;
        match outcome {
            Outcome::TimedOut => record.flow.timed_out += 1,
            _ => record.flow.failed += 1,
        }
    }

    fn fill_flow(&mut self, record: &mut IntervalRecord) {
        let users = u64::from(10 + 10 * record.load_point);
        let flow = &mut record.flow;
        flow.in_flight_at_start = users;
        flow.started = flow.ok + flow.failed + flow.timed_out;
        flow.due = flow.started;
        flow.in_flight_at_end = users;
        flow.in_flight_ns = u128::from(users) * 999_000_000 + u128::from(self.rng.below(1_000_000));
        flow.in_flight_age_ns = u128::from(users) * u128::from(10_000_000 + self.rng.below(20_000_000));
    }

    fn kind(&mut self) -> usize {
        let mut draw = self.rng.below(1_000);
        FILES
            .iter()
            .position(|(_, weight)| draw.checked_sub(*weight).map(|rest| draw = rest).is_none())
            .unwrap_or(0)
    }

    fn lognormal(&mut self, median_ms: f64, sigma: f64) -> Nanos {
        // Box and Muller 1958.
        let radius = (-2.0 * (1.0 - self.rng.uniform()).ln()).sqrt();
        let normal = radius * (TAU * self.rng.uniform()).cos();
        Nanos::from_secs_f64(median_ms * 1e-3 * (sigma * normal).exp())
    }
}

/// Writes a finished run of `n_load_points` times `n_seconds`, the first two of which are ramp-up.
pub(crate) fn finished_run(path: &Path, n_load_points: u32, n_seconds: u32) {
    let mut writer = Writer::create(path, &header(n_load_points)).unwrap();
    let mut synthesis = Synthesis::new(1, 40);
    for load_point in 0..n_load_points {
        let point = header(n_load_points).plan.load_points[load_point as usize];
        writer.load_point(point, WallTime(1_700_000_001_000)).unwrap();
        for index in 0..n_seconds {
            let phase = if index < 2 { Phase::RampUp } else { Phase::Steady };
            writer.interval(&synthesis.second(load_point, 0, index, phase)).unwrap();
        }
    }
    writer.finish(WallTime(1_700_000_099_000), &RunEnding::Complete).unwrap();
}

/// Reads everything.
pub(crate) fn records(path: &Path) -> Vec<Record> {
    let mut records = Vec::new();
    let extent = Run::open(path).unwrap().records(|record| records.push(record)).unwrap();
    assert_eq!(extent, runfile::ReadExtent::All);
    records
}

/// Returns (load point, index) of every interval, in the order of the file.
pub(crate) fn intervals(run: &Run) -> Vec<(u32, u32)> {
    let mut found = Vec::new();
    let _ = run
        .records(|record| {
            if let Record::Interval(interval) = record {
                found.push((interval.load_point, interval.index));
            }
        })
        .unwrap();
    found
}
