//! Exports for other programs: interval log, NDJSON, CSV of intervals, JUnit.

use std::collections::BTreeMap;
use std::io::Read;

use analysis::{NoticeResult, TimeSummary, VerdictState};
use base64::Engine;
use disclosure::render::{self, IntervalLog, Ndjson};
use flate2::read::ZlibDecoder;
use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};
use model::{
    Counter, DetailRecord, Example, Flow, Health, IntervalRecord, KindHistograms, KindTotals, MachineRole,
    MeasureUnit, MonitoredSource, Outcome, Phase, ResourceRecord, Series, SutUse, UnitTotals, parse_limits,
    web_measure,
};
use serde_json::{Value, json};
use stats::Histogram;
use units::{Nanos, WallTime};

use crate::fixture;

/// 2026-11-21 16:30:00.250 UTC.
const BEGIN: WallTime = WallTime(1_795_278_600_250);

/// The second load point began 12.5 s after the run.
const BEGUN: [(u32, WallTime); 2] = [(0, WallTime(1_795_278_600_750)), (1, WallTime(1_795_278_612_750))];

fn of(nanos: &[u64]) -> Histogram {
    let mut histogram = Histogram::new();
    nanos.iter().for_each(|value| histogram.record(Nanos(*value)));
    histogram
}

/// Second 3 of load point 2: three operations of the first kind, one refused of the second.
fn interval() -> IntervalRecord {
    let mut record = IntervalRecord {
        index: 3,
        phase: Phase::Steady,
        start: Nanos::from_secs(3),
        end: Nanos::from_secs(4),
        flow: Flow {
            due: 5,
            started: 5,
            in_flight_at_start: 1,
            ok: 3,
            failed: 1,
            in_flight_at_end: 2,
            in_flight_ns: 1_500_000_000,
            ..Flow::default()
        },
        kinds: vec![KindTotals::new(4); 5],
        units: vec![UnitTotals { ok: 3, failed: 1 }],
        response: of(&[1_000_000, 2_000_000, 4_000_000]),
        health: Health { threads: 2, cpu: Nanos::from_millis(40), run_queue: Nanos(7) },
        sut: Some(SutUse { cpu: Nanos::from_millis(340), throttled: Nanos::ZERO }),
        ..IntervalRecord::empty(1, 0)
    };
    for nanos in [1_000_000, 2_000_000, 4_000_000] {
        record.kinds[0].response.record(nanos);
        record.kinds[0].measures[web_measure::REPLY_BYTES].record(687);
        record.kinds[0].measures[web_measure::BODY_BYTES].record(500);
    }
    record.kinds[1].failed.insert(Outcome::Refused, 1);
    record
}

fn detail() -> DetailRecord {
    let mut response = vec![Histogram::new(); 5];
    response[0] = of(&[1_000_000, 2_000_000, 4_000_000]);
    DetailRecord {
        load_point: 1,
        agent: 0,
        phase: Phase::Steady,
        start: Nanos::from_secs(2),
        end: Nanos::from_secs(10),
        detail: KindHistograms {
            response,
            failed: [((1, Outcome::Refused), of(&[30_000]))].into(),
            spreads: vec![Histogram::new()],
            pauses: Vec::new(),
            notices: Vec::new(),
        },
    }
}

/// Reads numbers of variable length from the front of bytes: seven bits each with the lowest first, the ninth byte has
/// eight; then zigzag.
fn take_number(bytes: &mut &[u8]) -> i64 {
    let mut number: u64 = 0;
    for place in 0..9 {
        let (byte, rest) = bytes.split_first().unwrap();
        *bytes = rest;
        let bits = if place == 8 { u64::from(*byte) } else { u64::from(byte & 0x7f) };
        number |= bits << (7 * place);
        if place < 8 && byte & 0x80 == 0 {
            break;
        }
    }
    (number >> 1) as i64 ^ -((number & 1) as i64)
}

/// Decodes a histogram: lowest value and count of each bucket that is not empty.
///
/// Written from the description of HdrHistogram's V2 encoding, not from the library that wrote it: a cookie and a
/// length around zlib, 40 bytes of head, then counts in the order of values, a negative number standing for that many
/// zeros.
fn decode(text: &str) -> Vec<(u64, u64)> {
    let bytes = base64::engine::general_purpose::STANDARD.decode(text).unwrap();
    let word = |bytes: &[u8], at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap());
    assert_eq!((word(&bytes, 0), word(&bytes, 4) as usize), (0x1c84_9314, bytes.len() - 8));
    let mut plain = Vec::new();
    ZlibDecoder::new(&bytes[8..]).read_to_end(&mut plain).unwrap();
    assert_eq!((word(&plain, 0), word(&plain, 4) as usize), (0x1c84_9313, plain.len() - 40));
    assert_eq!((word(&plain, 8), word(&plain, 12)), (0, 3), "no offset, three significant digits");
    assert_eq!(plain[16..24], 1u64.to_be_bytes(), "the lowest value that is told apart");
    assert_eq!(plain[24..32], 3_600_000_000_000u64.to_be_bytes(), "the highest value");
    assert_eq!(plain[32..40], 1f64.to_be_bytes(), "no scaling");
    let mut rest = &plain[40..];
    let mut index = 0u64;
    let mut found = Vec::new();
    while !rest.is_empty() {
        match take_number(&mut rest) {
            zeros if zeros < 0 => index += zeros.unsigned_abs(),
            count => {
                // Three digits need 2,000 values at unit resolution: 2,048; each doubling has half as many again.
                let shift = (index / 1_024).saturating_sub(1);
                let value = (index - shift * 1_024) << shift;
                found.extend((0 < count).then_some((value, count as u64)));
                index += 1;
            }
        }
    }
    found
}

/// Tag; start, length and largest; what was decoded.
type Line = (String, [f64; 3], Vec<(u64, u64)>);

/// Lines with a histogram.
fn decoded(log: &str) -> Vec<Line> {
    let lines = log.lines().filter(|line| line.starts_with("Tag="));
    lines
        .map(|line| {
            let fields: Vec<&str> = line.split(',').collect();
            let [tag, start, length, max, histogram] = fields[..] else { panic!("{line}") };
            let numbers = [start, length, max].map(|field| field.parse().unwrap());
            (tag["Tag=".len()..].to_owned(), numbers, decode(histogram))
        })
        .collect()
}

fn interval_log() -> IntervalLog {
    IntervalLog::new(&fixture::quick().plan, BEGIN, &BEGUN)
}

#[test]
fn an_interval_log_says_what_its_numbers_are() {
    let mut log = interval_log();
    let text = log.head("a\nb") + &log.interval(&interval());
    let lines: Vec<&str> = text.lines().take(7).collect();
    assert_eq!(
        lines,
        [
            "#[a b]",
            "#[Values: response time of successful operations in ns; Interval_Max in ms; tags: load point:phase[:kind]]",
            "#[Histogram log format version 1.3]",
            "#[StartTime: 1795278600.250 (seconds since epoch)]",
            "#[BaseTime: 1795278600.250 (seconds since epoch)]",
            "\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\"",
            "#[Load point 2: 20 users]",
        ]
    );
    // The comment comes once, the line each time.
    assert_eq!(log.interval(&interval()).lines().count(), 1);
}

/// 12.5 s + 3 s from the start of the run; 4 ms at most.
#[test]
fn lines_of_an_interval_log_are_on_the_time_axis_of_the_run() {
    let mut log = interval_log();
    let text = log.interval(&interval()) + &log.detail(&detail());
    let lines = decoded(&text);
    let place = |tag: &str, numbers: [f64; 3]| (tag.to_owned(), numbers);
    let places: Vec<_> = lines.iter().map(|(tag, numbers, _)| place(tag, *numbers)).collect();
    assert_eq!(
        places,
        [place("2:steady", [15.5, 1.0, 4.0]), place("2:steady:/file500.html", [14.5, 8.0, 4.0]),]
    );
}

#[test]
fn another_decoder_finds_every_count_within_a_thousandth() {
    let values = [
        0,
        1,
        2_047,
        2_048,
        2_049,
        4_095,
        50_000_000,
        50_000_000,
        50_000_000,
        3_599_999_999_999,
        3_600_000_000_000,
        u64::MAX,
    ];
    let mut record = interval();
    record.response = of(&values);
    (0..300_000).for_each(|k| record.response.record(Nanos(1_000 * k)));
    let text = interval_log().interval(&record);
    let (_, _, found) = &decoded(&text)[0];
    let expected: Vec<(u64, u64)> =
        record.response.buckets().map(|bucket| (bucket.low.0, bucket.count)).collect();
    assert_eq!(found, &expected);
    assert_eq!(found.iter().map(|(_, count)| count).sum::<u64>(), record.response.n());
    for value in values.iter().filter(|value| **value <= 3_600_000_000_000) {
        let (nearest, _) = found.iter().rev().find(|(low, _)| low <= value).unwrap();
        assert!(value - nearest <= value / 1_000, "{value} became {nearest}");
    }
}

/// The library's own reader, for the form of the lines.
#[test]
fn the_librarys_reader_takes_every_line_of_an_interval_log() {
    let mut log = interval_log();
    let mut quiet = interval();
    quiet.response = Histogram::new();
    let text = log.head("x") + &log.interval(&interval()) + &log.interval(&quiet) + &log.detail(&detail());
    let entries: Vec<LogEntry> = IntervalLogIterator::new(text.as_bytes()).map(Result::unwrap).collect();
    assert!(matches!(entries[..2], [LogEntry::StartTime(_), LogEntry::BaseTime(_)]));
    let histograms = entries[2..].iter().filter(|entry| matches!(entry, LogEntry::Interval(_)));
    assert_eq!(histograms.count(), 3);
    // A second in which nothing was completed is there, empty.
    assert_eq!(decoded(&text)[1].2, []);
}

#[test]
fn a_hostile_name_stays_within_its_tag() {
    let mut plan = fixture::hostile().plan;
    plan.catalog.kinds[0].name += "\u{0}a b";
    let text = IntervalLog::new(&plan, BEGIN, &BEGUN).detail(&detail());
    assert_eq!(text.lines().count(), 1);
    assert_eq!(decoded(&text)[0].0, "2:steady:/a|b\"<script>alert(1)</script>__`x`_*_a_b");
}

fn parse(lines: &str) -> Vec<Value> {
    lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn machines() -> [MonitoredSource; 1] {
    [MonitoredSource { name: "this machine".to_owned(), role: MachineRole::Both }]
}

fn series() -> Vec<Series> {
    let one = |counter, instance: &str| Series { machine: 0, counter, instance: instance.to_owned() };
    vec![
        one(Counter::CpuUser, "0"),
        one(Counter::CpuUser, "1"),
        one(Counter::Forks, ""),
        one(Counter::MemoryTotal, ""),
        one(Counter::NetSentBytes, "eth0"),
        one(Counter::NetSpeed, "eth0"),
    ]
}

/// By hand: mean (1 + 2 + 4) ÷ 3 ms = 2,333,333 ns; three values are too few for any percentile.
#[test]
fn an_interval_is_one_line_of_json() {
    let fixture = fixture::quick();
    let lines = Ndjson { plan: &fixture.plan, machines: &[], series: &[] };
    let text = lines.interval(&interval());
    assert_eq!(text.lines().count(), 1);
    let expected = json!({
        "type": "interval", "load_point": 1, "agent": 0, "index": 3, "phase": "steady",
        "start_s": 3.0, "end_s": 4.0,
        "operations": {
            "waiting_at_start": 0, "due": 5, "started": 5, "skipped": 0, "waiting_at_end": 0,
            "in_flight_at_start": 1, "ok": 3, "failed": 1, "timed_out": 0, "abandoned": 0,
            "in_flight_at_end": 2, "left_open": 0,
        },
        "in_flight_mean": 1.5, "thinking_mean": 0.0,
        "response": {
            "n": 3, "sum_ns": 7_000_000, "mean_ns": 2_333_333, "min_ns": 1_000_000, "max_ns": 4_000_000,
            "percentiles": [],
        },
        "service": null, "lateness": null,
        "kinds": [
            {
                "name": "/file500.html", "ok": 3, "failed": {}, "response_mean_ns": 7_000_000.0 / 3.0,
                "connect_mean_ns": null, "first_byte_mean_ns": null, "reply_bytes": 2_061, "body_bytes": 1_500,
            },
            {
                "name": "/file5k.html", "ok": 0, "failed": { "refused": 1 }, "response_mean_ns": null,
                "connect_mean_ns": null, "first_byte_mean_ns": null, "reply_bytes": 0, "body_bytes": 0,
            },
        ],
        "pages": 3, "pages_failed": 1,
        "generator": { "threads": 2, "cpu_ns": 40_000_000, "run_queue_ns": 7 },
        "sut": { "cpu_ns": 340_000_000, "throttled_ns": 0 },
    });
    assert_eq!(parse(&text), [expected]);
}

/// Percentiles have intervals: of 100 values the median's runs from rank 40 to 61.
#[test]
fn percentiles_come_with_their_intervals() {
    let fixture = fixture::quick();
    let lines = Ndjson { plan: &fixture.plan, machines: &[], series: &[] };
    let values: Vec<u64> = (1..=100).collect();
    let text = lines.interval(&IntervalRecord { response: of(&values), ..interval() });
    let percentiles = &parse(&text)[0]["response"]["percentiles"];
    assert_eq!(percentiles[0], json!({ "q": 0.5, "value_ns": 50, "low_ns": 40, "high_ns": 61 }));
    assert_eq!(percentiles.as_array().unwrap().len(), 3, "p99 needs 368 values: {percentiles}");
}

#[test]
fn counters_carry_their_units() {
    let fixture = fixture::quick();
    let series = series();
    let machines = machines();
    let lines = Ndjson { plan: &fixture.plan, machines: &machines, series: &series };
    let values = vec![(0, 10), (1, 20), (2, 3), (3, u64::MAX), (4, 5), (5, 1_000), (99, 1)];
    let record = ResourceRecord { load_point: 1, machine: 0, at: Nanos::from_millis(2_500), values };
    let expected = json!({
        "type": "resource", "load_point": 1, "machine": 0, "at_s": 2.5,
        "counters": {
            "cpu.user_us": { "0": 10, "1": 20 },
            "system.forks": 3,
            "memory.total_bytes": u64::MAX,
            "net.sent_bytes": { "eth0": 5 },
            "net.speed_bit_per_s": { "eth0": 1_000 },
        },
    });
    assert_eq!(parse(&lines.resource(&record)), [expected]);
}

#[test]
fn every_sort_of_line_says_what_it_is() {
    let fixture = fixture::hostile();
    let series = series();
    let machines = machines();
    let lines = Ndjson { plan: &fixture.plan, machines: &machines, series: &series };
    let example = Example {
        load_point: 1,
        at: Nanos::from_secs(1),
        kind: 0,
        outcome: Outcome::WrongStatus,
        text: fixture::HOSTILE.to_owned(),
    };
    let text = lines.head(&fixture.provenance)
        + &lines.load_point(1, BEGUN[1].1)
        + &lines.detail(&detail())
        + &lines.example(&example)
        + &lines.event(BEGIN, fixture::HOSTILE)
        + &lines.result(1, "rate_per_s", 402.5)
        + &lines.verdict(&fixture.analysis);
    let values = parse(&text);
    let types: Vec<&str> = values.iter().map(|value| value["type"].as_str().unwrap()).collect();
    assert_eq!(types, ["run", "machine", "load_point", "detail", "example", "event", "result", "verdict"]);
    assert_eq!(values[0]["format"], render::NDJSON_FORMAT);
    assert_eq!(
        values[1],
        json!({ "type": "machine", "machine": 0, "name": "this machine", "role": "server and load" })
    );
    assert_eq!(values[2]["load"], json!({ "users": 20 }));
    assert_eq!(values[3]["kinds"][0]["name"], fixture::HOSTILE);
    assert_eq!(values[3]["kinds"][1]["failed"]["refused"]["n"], 1);
    assert_eq!(
        (&values[4]["text"], &values[5]["text"]),
        (&json!(fixture::HOSTILE), &json!(fixture::HOSTILE))
    );
    assert_eq!(values[6], json!({ "type": "result", "load_point": 1, "name": "rate_per_s", "value": 402.5 }));
    assert_eq!(
        (&values[7]["verdict"]["state"], &values[7]["ending"]["kind"]),
        (&json!("invalid"), &json!("complete"))
    );
}

#[test]
fn a_row_of_csv_has_a_field_for_every_column() {
    let plan = fixture::quick().plan;
    let head = render::intervals_csv_head(&plan);
    let row = render::intervals_csv_row(&plan, &interval());
    let fields: BTreeMap<&str, &str> = head.trim_end().split(',').zip(row.trim_end().split(',')).collect();
    assert_eq!(head.split(',').count(), row.split(',').count());
    for (name, value) in [
        ("load_point", "1"),
        ("users", "20"),
        ("planned_per_s", ""),
        ("phase", "steady"),
        ("n_ok", "3"),
        ("n_failed", "1"),
        ("reply_bytes", "2061"),
        ("response_mean_s", "0.002333333"),
        ("response_p50_s", ""),
        ("response_max_s", "0.004"),
        ("sut_cpu_s", "0.34"),
    ] {
        assert_eq!(fields.get(name), Some(&value), "{name}");
    }
}

/// Load point 4 of the fixture is invalid; with limits, all that it did is an error.
#[test]
fn a_limit_that_is_missed_fails_and_what_is_not_valid_is_an_error() {
    let mut fixture = fixture::quick();
    fixture.plan.limits = parse_limits("p99<1us,errors<50%").unwrap();
    fixture.analysis.load_points.drain(..2);
    let xml = render::junit(&[fixture.report()]);
    assert!(xml.contains("tests=\"5\" failures=\"1\" errors=\"3\""), "{xml}");
    assert!(xml.contains("name=\"load point 3, 40 users: errors&lt;50%\" time=\"8.000\"/>"), "{xml}");
    let missed = xml.lines().find(|line| line.contains("<failure")).unwrap();
    assert!(missed.contains("message=\"p99 was ") && missed.contains("limit p99&lt;1us"), "{missed}");
    let error = xml.lines().find(|line| line.contains("<error")).unwrap();
    assert!(error.contains("invalid: ") && error.contains("(rule `"), "{error}");
}

#[test]
fn a_valid_run_without_limits_is_one_case_that_passes() {
    let fixture = fixture::valid();
    let name = fixture.provenance.run_file.clone().unwrap();
    let expected = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n  \
         <testsuite name=\"webstone-2.0.1 on built-in ({name})\" tests=\"1\" failures=\"0\" errors=\"0\" skipped=\"0\" time=\"32.000\">\n    \
         <testcase classname=\"webstone-2.0.1\" name=\"verdict\" time=\"0.000\"/>\n  \
         </testsuite>\n</testsuites>\n"
    );
    assert_eq!(render::junit(&[fixture.report()]), expected);
}

#[test]
fn what_is_not_decided_does_not_pass() {
    let mut fixture = fixture::valid();
    fixture.plan.limits = parse_limits("delivered>90%").unwrap();
    fixture.analysis.load_points.truncate(1);
    let xml = render::junit(&[fixture.report()]);
    assert!(xml.contains("errors=\"1\"") && xml.contains("a closed loop has no offered rate"), "{xml}");
}

#[test]
fn hostile_reasons_stay_within_their_attribute() {
    let mut fixture = fixture::hostile();
    fixture.analysis.verdict.state = VerdictState::Invalid;
    let name = format!("{}\u{1b}", fixture::HOSTILE);
    fixture.analysis.verdict.reasons[0].finding = fixture::foreign_kind(&name);
    let xml = render::junit(&[fixture.report()]);
    assert!(
        xml.contains("/a|b&quot;&lt;script&gt;alert(1)&lt;/script&gt;,&#10;`x`_*\u{fffd}` is 60.0 %"),
        "{xml}"
    );
}

/// Returns the columns of the results of a run, with the fields of the first load point.
fn results(fixture: &fixture::Fixture) -> Vec<(String, String)> {
    let text = render::csv(&fixture.report());
    let [head, first] = [0, 1].map(|line| text.lines().nth(line).unwrap().split(',').map(str::to_owned));
    head.zip(first).collect()
}

#[test]
fn a_score_of_its_own_has_its_unit_and_interval() {
    let of = |fixture: &fixture::Fixture, name: &str| {
        let columns = results(fixture);
        columns.into_iter().find(|(column, _)| column == name).map(|(_, value)| value)
    };
    for (own, unit) in
        [(fixture::throughput(), "megabits per second"), (fixture::weighted(), "transactions per minute")]
    {
        let score = own.analysis.load_points[0].score.unwrap();
        assert_eq!(of(&own, "score_unit").unwrap(), unit);
        let fields = ["score", "score_low", "score_high"].map(|name| of(&own, name).unwrap());
        assert_eq!(fields, [score, score - 1.0, score + 1.0].map(|number| number.to_string()));
        let json = render::json(&own.report());
        assert_eq!(json["load_points"][0]["score_unit"], unit);
    }

    // The rate of all operations is told as such.
    let rate = fixture::valid();
    let names = ["score_unit", "score_low", "score_high"].map(|name| of(&rate, name));
    assert_eq!(names, [None, None, None]);
    assert_eq!(of(&rate, "score"), of(&rate, "rate_per_s"));
    assert_eq!(render::json(&rate.report())["load_points"][0].get("score_unit"), None);
}

/// Goal: what never came is in no percentile: of ten that were begun in the steady phase seven came.
#[test]
fn notices_are_exported_with_those_that_never_came() {
    let mut fixture = fixture::valid();
    let histogram = of(&[1_000_000; 7]);
    let notice = NoticeResult {
        name: "mail delivery".to_owned(),
        begun: 12,
        ended: 8,
        lost: 3,
        pending: 1,
        begun_in_steady: 10,
        mean: Some(0.001),
        histogram,
    };
    fixture.analysis.load_points.iter_mut().for_each(|point| point.notices = vec![notice.clone()]);
    let found: Vec<_> =
        results(&fixture).into_iter().filter(|(name, _)| name.starts_with("notice_mail_delivery_")).collect();
    let values: Vec<&str> = found.iter().map(|(_, value)| value.as_str()).collect();
    assert_eq!(values, ["12", "8", "3", "1", "10", "0.001", "0.001", "", "", ""], "{found:?}");
    let json = &render::json(&fixture.report())["load_points"][0]["notices"][0];
    assert_eq!((&json["pending"], &json["percentiles"][1]["value_s"]), (&json!(1), &Value::Null));
}

/// Goal: names of a foreign catalog never replace a field of ours, and amounts are no times.
#[test]
fn measures_are_exported_under_their_names_and_in_their_units() {
    let mut fixture = fixture::valid();
    let measures = &mut fixture.plan.catalog.measures;
    measures[0].name = "Score".to_owned();
    (measures[1].name, measures[1].unit) = ("rows / read".to_owned(), MeasureUnit::Count);
    measures[1].has_spread = true;
    for point in &mut fixture.analysis.load_points {
        let rows = TimeSummary { mean: Some(5e-9), ..point.spreads[0].clone().unwrap() };
        point.spreads.push(Some(rows));
    }
    let point = &render::json(&fixture.report())["load_points"][0];
    assert!(point["score"].is_number() && point["score_measure"]["mean_s"].is_number(), "{point}");
    assert_eq!(point["rows_read"]["mean"], 5.0);
    assert_eq!(point["rows_read"]["max"], 339_000);
    assert!(point["kinds"][0]["rows_read"]["mean"].is_number());
    let columns: Vec<String> = results(&fixture).into_iter().map(|(name, _)| name).collect();
    for name in ["score", "score_measure_n", "score_measure_p50_s", "rows_read_n", "rows_read_p99"] {
        let n = columns.iter().filter(|column| *column == name).count();
        assert_eq!(n, 1, "{name} in {columns:?}");
    }
    let lines = Ndjson { plan: &fixture.plan, machines: &[], series: &[] };
    let record = DetailRecord {
        detail: KindHistograms { spreads: vec![of(&[3]), of(&[1, 9])], ..detail().detail },
        ..detail()
    };
    let line = &parse(&lines.detail(&record))[0];
    assert_eq!((&line["rows_read"]["sum"], &line["score"]["sum_ns"]), (&json!(10), &json!(3)));
}
