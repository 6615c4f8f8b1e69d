//! The sentence, the hint and the short form of every finding.

use std::collections::BTreeSet;

use analysis::audit::{CatalogDifference, DifferenceKind, TableDifference};
use analysis::finding::{
    BoundarySecond, CutOffPart, DetailDifference, EqualTotals, FailedPart, FirstOccurrence, FlowFault,
    FlowLaw, IntervalFault, KindMeasure, LittleExplanation, LittlePopulation, LocatedFault, MeasureMismatch,
    MissingLoad, MissingPercentile, OtherCpuUse, OverflowingPart, ProgramCpuUse, ScoreOfPart, ServerUse,
    SteadyFigure, TimesExtent, UnequalTotals, UnjudgedBand, UnseenPart, ValueMoment,
};
use analysis::{Analysis, Finding, Reason, SharedCpus, VerdictState};
use disclosure::{
    Hints, catalog_difference_text, finding_brief, finding_hint, finding_text, reason_hint,
    table_difference_text,
};
use model::{CheckMoment, Limit, Outcome, Phase, RateTime, Score, parse_limits};
use stats::Estimate;
use units::{Nanos, Ratio};

/// Makes a list of the variants of an enum, and a function that names the variant of a value. A new variant does not
/// compile until it is in the list, and the test fails until it has a case.
macro_rules! variants {
    ($names:ident, $name:ident, $type:ident: $($variant:ident),+ $(,)?) => {
        const $names: &[&str] = &[$(concat!(stringify!($type), "::", stringify!($variant))),+];

        fn $name(value: &$type) -> &'static str {
            match value {
                $($type::$variant { .. } => concat!(stringify!($type), "::", stringify!($variant))),+
            }
        }
    };
}

fn limit(text: &str) -> Limit {
    parse_limits(text).unwrap()[0]
}

variants!(FINDINGS, finding_name, Finding:
    Stopped, EndingMissing, LoadPointsMissing, UnplannedLoadPoint, SearchUnfinished, SearchWithoutResult, Modified,
    CertificateUnverified, SteadyLength, TimeAxis, EarlyEnd, OperationsStarted, MissingLoad, Flow, Totals, Measure, Overflow, Details,
    Histogram,
    ResponseIntegral, UserTime, LittleGap, LittleGapExplained, ThinkTime, InteractiveLaw, SizingCeiling, SizingFloor, Schedule, GeneratorUnmeasured,
    GeneratorBusy, GeneratorRunQueue, GeneratorLateness, GeneratorFault, OtherPrograms, OtherClients, Errors, UncountedCodes, StorageFull, StorageReadOnly, Consistency, LeftOpen, ConnectionsLost, RepliesChanged, Delivered,
    FullSlots, BusyUsers, Mix, InputBand, InputBandsNotJudged, KindLimit, KindLimitNotJudged, StageLimit, StageLimitNotJudged, TooFewOperations, MissingPercentiles, InFlightAtEnd, PhaseBoundary, Drift, Variation, WarmUp,
);
variants!(INTERVAL_FAULTS, interval_fault_name, IntervalFault: Index, Start, Length, Phase);
variants!(MISSING_LOADS, missing_load_name, MissingLoad: Agents, Threads);
variants!(FLOW_FAULTS, flow_fault_name, FlowFault: Unequal, LeftOpen);
variants!(FLOW_LAWS, flow_law_name, FlowLaw: Due, Started, Waiting, InFlight);
variants!(EQUAL_TOTALS, equal_totals_name, EqualTotals:
    Kinds, Successes, Failures, TimedOut, Codes, InFlight, ResponseTimes, ServiceTimes, Latenesses, ResponseSum, ResponseMin,
    ResponseMax, NoticeKinds, Notices, AwaitedNotices,
);
variants!(MEASURE_FAULTS, measure_fault_name, MeasureMismatch: Count, Part, Expected);
variants!(OVERFLOWING_PARTS, overflowing_part_name, OverflowingPart: Interval, Detail);
variants!(DIFFERENCES, difference_name, DetailDifference: Response, Measure, Pause, Notice, Failures);
variants!(MOMENTS, moment_name, ValueMoment: Sum, SumOfSquares);
variants!(POPULATIONS, population_name, LittlePopulation: Users, Operations);
variants!(EXPLANATIONS, explanation_name, LittleExplanation: Failures, Ends, Both);
variants!(SERVER_USES, server_use_name, ServerUse: Unknown, Part, Saturated, Unenforced, TookTheRest, LeftRest);
variants!(DIFFERENCE_KINDS, difference_kind_name, DifferenceKind:
    ExtraRow, MissingRow, ExchangedColumns, ChangedCell, MissingCell, ExtraCell,
);
variants!(SECONDS, second_name, BoundarySecond: First, Last);
variants!(FIGURES, figure_name, SteadyFigure: Rate, ResponseMean);

/// Returns the variants of which a finding is made.
fn variants_of(finding: &Finding) -> Vec<&'static str> {
    let mut names = vec![finding_name(finding)];
    match finding {
        Finding::TimeAxis(found) => names.push(interval_fault_name(&found.first.fault)),
        Finding::MissingLoad(found) => names.push(missing_load_name(&found.first)),
        Finding::Flow(found) => {
            names.push(flow_fault_name(&found.first.fault));
            if let FlowFault::Unequal { law, .. } = &found.first.fault {
                names.push(flow_law_name(law));
            }
        }
        Finding::Totals(found) => names.push(equal_totals_name(&found.first.fault.totals)),
        Finding::Measure(found) => names.push(measure_fault_name(&found.first.fault.fault)),
        Finding::Overflow(found) => names.push(overflowing_part_name(&found.first)),
        Finding::Details { difference, .. } => names.push(difference_name(difference)),
        Finding::Histogram { moment, .. } => names.push(moment_name(moment)),
        Finding::LittleGap { population, .. } => names.push(population_name(population)),
        Finding::LittleGapExplained { by, .. } => names.push(explanation_name(by)),
        Finding::GeneratorBusy { server, .. }
        | Finding::GeneratorRunQueue { server, .. }
        | Finding::GeneratorLateness { server, .. } => names.extend(server.iter().map(server_use_name)),
        Finding::PhaseBoundary { second, .. } => names.push(second_name(second)),
        Finding::Drift { figure, .. } | Finding::Variation { figure, .. } => {
            names.push(figure_name(figure));
        }
        _ => {}
    }
    names
}

fn once<T>(first: T) -> FirstOccurrence<T> {
    FirstOccurrence { first, n_more: 0 }
}

fn at<T>(fault: T) -> LocatedFault<T> {
    LocatedFault { interval: 12, agent: 1, fault }
}

fn texts<const N: usize>(texts: [&str; N]) -> Vec<String> {
    texts.map(str::to_owned).to_vec()
}

fn of_run() -> Vec<Finding> {
    vec![
        Finding::Stopped { reason: "interrupted".to_owned() },
        Finding::EndingMissing,
        Finding::LoadPointsMissing { missing: vec![1, 3], n_planned: 4 },
        Finding::UnplannedLoadPoint(once(7)),
        Finding::SearchUnfinished,
        Finding::SearchWithoutResult,
        Finding::Modified { settings: texts(["load", "steady phase"]) },
        Finding::CertificateUnverified,
    ]
}

fn of_record() -> Vec<Finding> {
    let [twelve, thirteen, minute] = [12, 13, 60].map(Nanos::from_secs);
    let phase =
        IntervalFault::Phase { start: twelve, end: thirteen, phase: Phase::Steady, planned: Phase::Settle };
    let mut findings = vec![
        Finding::SteadyLength { recorded: twelve, planned: minute },
        Finding::TimeAxis(once(at(IntervalFault::Index { expected: 11 }))),
        Finding::TimeAxis(FirstOccurrence {
            first: at(IntervalFault::Start { start: thirteen, end_before: twelve }),
            n_more: 1,
        }),
        Finding::TimeAxis(FirstOccurrence {
            first: at(IntervalFault::Length { length: minute, limit: Nanos::from_secs(1) }),
            n_more: 2,
        }),
        Finding::TimeAxis(once(at(phase))),
        Finding::EarlyEnd { end: thirteen, planned: minute },
        Finding::OperationsStarted { started: 300, planned: 1_000 },
        Finding::OperationsStarted { started: 1_001, planned: 1_000 },
        Finding::MissingLoad(once(MissingLoad::Agents { interval: 15, found: 1, expected: 2 })),
        Finding::MissingLoad(once(MissingLoad::Threads { interval: 15, found: 3, planned: 4 })),
        Finding::Flow(once(at(FlowFault::LeftOpen { left_open: 9, ok: 8 }))),
    ];
    let laws = [FlowLaw::Due, FlowLaw::Started, FlowLaw::Waiting, FlowLaw::InFlight];
    let unequal = |law| Finding::Flow(once(at(FlowFault::Unequal { law, left: 100, right: 99 })));
    findings.extend(laws.map(unequal));
    let totals = [
        EqualTotals::Kinds,
        EqualTotals::Successes,
        EqualTotals::Failures,
        EqualTotals::TimedOut,
        EqualTotals::Codes,
        EqualTotals::InFlight,
        EqualTotals::ResponseTimes,
        EqualTotals::ServiceTimes,
        EqualTotals::Latenesses,
        EqualTotals::ResponseSum,
        EqualTotals::ResponseMin,
        EqualTotals::ResponseMax,
        EqualTotals::NoticeKinds,
        EqualTotals::Notices,
        EqualTotals::AwaitedNotices,
    ];
    let differ = |totals| Finding::Totals(once(at(UnequalTotals { totals, found: 0, expected: 200 })));
    findings.extend(totals.map(differ));
    let measures = [
        MeasureMismatch::Count { values: 9, ok: 10 },
        MeasureMismatch::Part { sum: 5_000, whole: "reply bytes".to_owned(), whole_sum: 4_999 },
        MeasureMismatch::Expected { sum: 4_999, ok: 10, least: 5_000, most: 5_000 },
        MeasureMismatch::Expected { sum: 4_999, ok: 10, least: 5_000, most: 6_000 },
    ];
    let of_kind = |fault| KindMeasure { kind: 3, measure: "body bytes".to_owned(), fault };
    findings.extend(measures.map(|fault| Finding::Measure(once(at(of_kind(fault))))));
    let overflowing = [
        OverflowingPart::Interval { interval: 7, agent: 0 },
        OverflowingPart::Detail { agent: 0, start: Nanos::from_secs(10) },
    ];
    findings.extend(overflowing.map(|part| Finding::Overflow(once(part))));
    let intervals = TimesExtent { n: 10, sum: 1_000, min: 50, max: 150 };
    let details = TimesExtent::default();
    let differences = [
        DetailDifference::Response { kind: 2, details, intervals },
        DetailDifference::Measure { name: "connect".to_owned(), details, intervals },
        DetailDifference::Pause { name: "think time".to_owned(), details, intervals },
        DetailDifference::Notice { name: "delivery".to_owned(), details, intervals },
        DetailDifference::Failures { kind: 2, outcome: Outcome::Reset, details: 0, intervals: 5 },
    ];
    findings.extend(differences.map(|difference| Finding::Details { phase: Phase::Steady, difference }));
    let exact = 123_456;
    let least = 130_000;
    let most = 140_000;
    let all = None;
    let sum = ValueMoment::Sum;
    findings.push(Finding::Histogram { kind: all, moment: sum, exact, least, most });
    let one = Some("/large".to_owned());
    let moment = ValueMoment::SumOfSquares;
    findings.push(Finding::Histogram { kind: one, moment, exact, least, most });
    findings.push(Finding::ResponseIntegral { summed: 20.0, integrated: 21.5, allowed: 0.215 });
    findings
}

fn of_users() -> Vec<Finding> {
    let failed = FailedPart { n: 27, users: 0.3 };
    let ends = CutOffPart { in_flight: 4, users: 0.7 };
    let population = LittlePopulation::Users(10);
    let explained = |by| Finding::LittleGapExplained { found: 9.0, population, by };
    vec![
        Finding::UserTime { found: 180.04, expected: 200.0 },
        Finding::LittleGap { found: 5.99, population, explained: 0.2 },
        Finding::LittleGap { found: 5.99, population: LittlePopulation::Operations(9.5), explained: 0.2 },
        explained(LittleExplanation::Failures(failed)),
        explained(LittleExplanation::Ends(ends)),
        explained(LittleExplanation::Both(failed, ends)),
        Finding::ThinkTime { pause: None, found: Nanos::from_millis(80), expected: Nanos::from_millis(90) },
        Finding::ThinkTime {
            pause: Some("keying time".to_owned()),
            found: Nanos::from_millis(80),
            expected: Nanos::from_millis(90),
        },
        Finding::InteractiveLaw { rate: 333.3, users: 10, think: Nanos::from_millis(90), bound: 111.111 },
        Finding::SizingCeiling(of_warehouse(14.2, 12.605)),
        Finding::SizingFloor(of_warehouse(7.1, 9.0)),
    ]
}

fn of_warehouse(score: f64, bound: f64) -> ScoreOfPart {
    let part = "warehouse".to_owned();
    let unit = "new orders per minute".to_owned();
    ScoreOfPart { part, users: 10, score, unit, bound }
}

fn of_generator() -> Vec<Finding> {
    let uses = [
        None,
        Some(ServerUse::Unknown),
        Some(ServerUse::Part(Ratio(0.6))),
        Some(ServerUse::Saturated(Ratio(0.98))),
        Some(ServerUse::Unenforced(Ratio(1.2))),
        Some(ServerUse::TookTheRest(SharedCpus { n: 2.0, generator: 0.41, server: 1.59, idle: 0.0 })),
        Some(ServerUse::LeftRest(SharedCpus { n: 2.0, generator: 0.96, server: 0.43, idle: 0.61 })),
    ];
    let used = |shares: &[(&str, f64)]| OtherCpuUse {
        total: shares.iter().map(|(_, cpus)| cpus).sum(),
        programs: shares
            .iter()
            .map(|(name, cpus)| ProgramCpuUse { name: (*name).to_owned(), cpus: *cpus })
            .collect(),
    };
    let several = used(&[("stress", 0.98), ("cc1", 0.4), ("ld", 0.02), ("make", 0.02)]);
    let many = used(&[("a", 0.019), ("b", 0.019), ("c", 0.019), ("d", 0.019), ("e", 0.019), ("f", 0.019)]);
    let busy = Ratio(0.95);
    let limit = Ratio(0.9);
    let mut findings =
        vec![Finding::Schedule { due: 3_999, scheduled: 4_000 }, Finding::GeneratorUnmeasured { agent: 0 }];
    findings.extend(uses.map(|server| Finding::GeneratorBusy { agent: 0, busy, limit, server }));
    let waited = Ratio(0.4);
    let limit = Ratio(0.3);
    let waiting = |others| Finding::GeneratorRunQueue { agent: 0, waited, limit, others, server: uses[2] };
    findings.extend([None, Some(several.clone())].map(waiting));
    let p99 = Nanos::from_millis(6);
    let limit = Nanos::from_millis(5);
    let late = |server| Finding::GeneratorLateness { agent: 0, p99, limit, server };
    findings.extend([uses[2], uses[3]].map(late));
    let faults = [Outcome::NoLocalPort, Outcome::NoDescriptor, Outcome::Forbidden];
    findings.extend(faults.map(|outcome| Finding::GeneratorFault { outcome, n: 3 }));
    let others = |used: &OtherCpuUse, share: Option<f64>, unseen| Finding::OtherPrograms {
        used: used.clone(),
        share: share.map(Ratio),
        limit: Ratio(0.1),
        unseen,
    };
    findings.push(others(&several, Some(0.71), None));
    findings.push(others(&several, Some(0.04), None));
    findings.push(others(&several, None, None));
    findings.push(others(&many, Some(0.2), Some(UnseenPart::Server)));
    findings.push(others(&many, Some(0.2), Some(UnseenPart::Service)));
    let clients = |connections, requests: Option<f64>| Finding::OtherClients {
        connections,
        requests: requests.map(Ratio),
    };
    findings.extend([clients(Some(200.0), Some(0.66)), clients(Some(0.6), None), clients(None, Some(0.12))]);
    findings
}

fn of_operations() -> Vec<Finding> {
    let errors = |n: u64, limit| Finding::Errors {
        n,
        completed: 4_000,
        ratio: Ratio(n as f64 / 4_000.0),
        limit: Ratio(limit),
        most_frequent: Some(Outcome::Reset),
    };
    let missing = [(0.99, 368), (0.999, 3_688)].map(|(q, needed)| MissingPercentile { q: Ratio(q), needed });
    vec![
        errors(41, 0.01),
        errors(1, 0.01),
        Finding::UncountedCodes { n: 44 },
        Finding::StorageFull { n: 12 },
        Finding::StorageReadOnly { n: 7 },
        Finding::Consistency {
            moment: CheckMoment::Before,
            name: "sessions opened".to_owned(),
            found: "2 of 8 users have none: connection refused".to_owned(),
        },
        Finding::LeftOpen { n: 7, ok: 1_000 },
        Finding::ConnectionsLost { n: 98, completed: 197 },
        Finding::RepliesChanged {
            name: "replies of GET /clock".to_owned(),
            found: "differ from the first since 3.2 s".to_owned(),
        },
        Finding::Delivered { rate: 160.0, offered: 200.0, limit: Ratio(0.95) },
        Finding::Delivered { rate: 0.0, offered: 0.0, limit: Ratio(0.95) },
        Finding::FullSlots { slots: 20, seconds: 6 },
        Finding::BusyUsers { n: 200, started: 4_000, users: 20 },
        Finding::Mix {
            kind: "/small".to_owned(),
            share: Ratio(0.6),
            expected: Ratio(0.5),
            limit: Ratio(0.05),
        },
        Finding::InputBand { name: "lines per order".to_owned(), found: 10.625, least: 9.5, most: 10.5 },
        Finding::InputBandsNotJudged {
            bands: vec![
                UnjudgedBand { name: "lines per order".to_owned(), n: 90, needed: 360 },
                UnjudgedBand { name: "new orders rolled back".to_owned(), n: 90, needed: 89_100 },
            ],
        },
        Finding::KindLimit { kind: "/small".to_owned(), limit: limit("p99<50ms"), value: 0.0623 },
        Finding::KindLimit { kind: "/small".to_owned(), limit: limit("errors<1%"), value: 0.0123 },
        Finding::KindLimitNotJudged {
            kind: "/small".to_owned(),
            limit: limit("p99<50ms"),
            n: 90,
            needed: 1_000,
        },
        Finding::StageLimit { limit: limit("p99<50ms"), value: 0.0623 },
        Finding::StageLimitNotJudged { limit: limit("p99<50ms"), n: 90 },
        Finding::TooFewOperations { n: 90, needed: 100 },
        Finding::MissingPercentiles { n: 300, missing: missing.to_vec() },
        Finding::InFlightAtEnd {
            n: 10,
            age_mean: Nanos::from_millis(1_500),
            of_operations: Ratio(0.012),
            of_time: Ratio(0.2),
        },
    ]
}

fn of_steady_phase() -> Vec<Finding> {
    let boundary = |second| Finding::PhaseBoundary { second, completed: 390, median: 99.6 };
    let fall = Estimate { value: -0.2, low: -0.25, high: -0.15 };
    let rise = Estimate { value: 0.351, low: 0.3, high: 0.4 };
    let variation = Ratio(0.2);
    let by_chance = Ratio(0.01);
    vec![
        boundary(BoundarySecond::First),
        boundary(BoundarySecond::Last),
        Finding::Drift { figure: SteadyFigure::Rate, by: fall },
        Finding::Drift { figure: SteadyFigure::ResponseMean, by: rise },
        Finding::Variation { figure: SteadyFigure::Rate, variation, by_chance },
        Finding::Variation { figure: SteadyFigure::ResponseMean, variation, by_chance },
        Finding::WarmUp { reach: Nanos::from_secs(13), length: Nanos::from_secs(58) },
    ]
}

fn findings() -> Vec<Finding> {
    [of_run(), of_record(), of_users(), of_generator(), of_operations(), of_steady_phase()].concat()
}

#[test]
fn every_finding_has_a_sentence() {
    let mut lines = Vec::new();
    for finding in findings() {
        let text = finding_text(&finding);
        lines.push(format!("{}: {text}", finding.rule()));
        lines.extend(finding_hint(&finding).map(|hint| format!("    hint: {hint}")));
        let brief = finding_brief(&finding);
        lines.extend((brief != text).then(|| format!("    brief: {brief}")));
    }
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn every_difference_of_a_table_has_a_sentence() {
    let column = || "rate_per_s".to_owned();
    let exchanged = || DifferenceKind::ExchangedColumns { one: "load_factor".to_owned(), other: column() };
    let stated = 120.9;
    let recomputed = 133.0;
    let cases = [
        (None, DifferenceKind::MissingRow { load_point: 1 }),
        (Some(1), DifferenceKind::ExtraRow { load_point: 7 }),
        (None, exchanged()),
        (Some(0), exchanged()),
        (Some(0), DifferenceKind::ChangedCell { column: column(), stated, recomputed }),
        (Some(0), DifferenceKind::MissingCell { column: column(), recomputed }),
        (Some(0), DifferenceKind::ExtraCell { column: column(), stated }),
    ];
    let differences = cases.map(|(row, kind)| TableDifference { row, kind });
    let lines = differences.each_ref().map(|one| format!("{}: {}", one.check(), table_difference_text(one)));
    assert_eq!(
        lines,
        [
            "missing row: load point 2 was recorded, but is not stated",
            "extra row: load point 8 is stated, but was not recorded",
            "exchanged columns: `load_factor` and `rate_per_s` are exchanged in every row",
            "exchanged columns: `load_factor` and `rate_per_s` are exchanged",
            "changed cell: `rate_per_s` is stated as 120.9, the records give 133",
            "missing cell: `rate_per_s` is not stated, the records give 133",
            "extra cell: `rate_per_s` is stated as 120.9, the records give none",
        ]
    );
    let named: BTreeSet<&str> = differences.iter().map(|one| difference_kind_name(&one.kind)).collect();
    assert_eq!(named.len(), DIFFERENCE_KINDS.len(), "{named:?}");
}

variants!(CATALOG_DIFFERENCES, catalog_difference_name, CatalogDifference: Score, Word);

#[test]
fn every_difference_of_a_catalog_has_a_sentence() {
    let score = |stored| CatalogDifference::Score { stored, defined: Score::default() };
    let stored = "pages per minute".to_owned();
    let defined = "pages per second".to_owned();
    let differences = [
        score(Score::Rate { kinds: vec![0, 2], per: RateTime::Minute }),
        score(Score::Weighted { weights: vec![3.0, 0.5], per: RateTime::Minute }),
        score(Score::Throughput { measures: vec![3] }),
        score(Score::Harmonic { weights: vec![0.25, 0.75] }),
        CatalogDifference::Word { place: "score", stored, defined },
    ];
    let lines: Vec<String> =
        differences.iter().map(|one| format!("{}: {}", one.check(), catalog_difference_text(one))).collect();
    let defined = "the benchmark's is the rate of all operations per second";
    assert_eq!(
        lines,
        [
            format!("changed score: the plan's score is the rate of operations of kinds 1, 3 per minute, {defined}"),
            format!("changed score: the plan's score is the rate of operations with weights 3, 0.5 per minute, {defined}"),
            format!("changed score: the plan's score is the throughput of measures 4, {defined}"),
            format!("changed score: the plan's score is the harmonic mean with weights 0.25, 0.75, {defined}"),
            "changed word: the plan's word for the score is `pages per minute`, the benchmark's is `pages per second`"
                .to_owned(),
        ]
    );
    let named: BTreeSet<&str> = differences.iter().map(catalog_difference_name).collect();
    assert_eq!(named.len(), CATALOG_DIFFERENCES.len(), "{named:?}");
}

/// A run of an open loop, whose load points with these offered rates are valid or not.
fn open_loop(points: &[(f64, VerdictState)]) -> Analysis {
    let mut analysis = crate::fixture::valid().analysis;
    let of = |(index, (offered, state)): (usize, &(f64, VerdictState))| {
        let mut point = analysis.load_points[0].clone();
        (point.index, point.rate, point.offered_rate) = (index as u32, *offered, Some(*offered));
        (point.verdict.state, point.verdict.reasons, point.verdict.remarks) =
            (*state, Vec::new(), Vec::new());
        point
    };
    analysis.load_points = points.iter().enumerate().map(of).collect();
    analysis
}

/// The reported cases: the hint about 500/s was that the server cannot sustain it, while 3000/s was valid; seven hints were to
/// give the generator more CPUs where another program had taken them.
#[test]
fn hints_fit_their_cause() {
    use VerdictState::{Invalid, Valid};
    let p99 = Nanos::from_millis(1_140);
    let limit = Nanos::from_millis(5);
    let server = Some(ServerUse::Part(Ratio(0.3)));
    let late = Reason {
        load_point: Some(1),
        stage: None,
        finding: Finding::GeneratorLateness { agent: 0, p99, limit, server },
    };
    let delivered = Reason {
        load_point: Some(1),
        stage: None,
        finding: Finding::Delivered { rate: 400.0, offered: 500.0, limit: Ratio(0.95) },
    };
    let hint = |analysis: &Analysis, reason: &Reason| reason_hint(analysis, reason).unwrap();
    let carried = open_loop(&[(3000.0, Valid), (500.0, Invalid)]);
    for reason in [&late, &delivered] {
        assert!(
            hint(&carried, reason).starts_with("another load point sustained a rate as high"),
            "{}",
            hint(&carried, reason)
        );
    }
    let overload = open_loop(&[(500.0, Valid), (3000.0, Invalid)]);
    assert!(hint(&overload, &late).starts_with("this rate is far above the highest valid one"));
    assert_eq!(hint(&overload, &delivered), finding_hint(&delivered.finding).unwrap());
    let mut near = open_loop(&[(500.0, Valid), (600.0, Invalid)]);
    assert_eq!(hint(&near, &late), finding_hint(&late.finding).unwrap());
    let programs = vec![ProgramCpuUse { name: "cc1".to_owned(), cpus: 0.9 }];
    let used = OtherCpuUse { total: 0.9, programs };
    let waited = Ratio(0.4);
    let limit = Ratio(0.3);
    let finding = Finding::GeneratorRunQueue { agent: 0, waited, limit, others: Some(used), server };
    near.load_points[1].verdict.reasons.push(Reason { load_point: Some(1), stage: None, finding });
    assert!(hint(&near, &late).starts_with("stop other programs"), "{}", hint(&near, &late));
    // A hint is given once.
    let mut hints = Hints::new(&near);
    assert!(hints.next_of(&late).is_some() && hints.next_of(&late).is_none());
    assert!(hints.next_of(&delivered).is_some());
}

#[test]
fn every_variant_is_among_the_sentences() {
    let cases: BTreeSet<&str> = findings().iter().flat_map(variants_of).collect();
    let all = [
        FINDINGS,
        INTERVAL_FAULTS,
        MISSING_LOADS,
        FLOW_FAULTS,
        FLOW_LAWS,
        EQUAL_TOTALS,
        MEASURE_FAULTS,
        OVERFLOWING_PARTS,
        DIFFERENCES,
        MOMENTS,
        POPULATIONS,
        EXPLANATIONS,
        SERVER_USES,
        SECONDS,
        FIGURES,
    ];
    let missing: Vec<&str> = all.concat().into_iter().filter(|name| !cases.contains(name)).collect();
    assert_eq!(missing, [""; 0]);
}

#[test]
fn sentences_and_hints_are_clauses() {
    for finding in findings() {
        for text in [Some(finding_text(&finding)), finding_hint(&finding).map(str::to_owned)] {
            let Some(text) = text else { continue };
            assert!(!text.ends_with('.') && text.trim() == text && !text.is_empty(), "{text}");
        }
    }
}
