//! A run whose machine was watched: bottleneck, demands, counters.

use analysis::attribute::{
    Attribution, Bottleneck, CAUSES, Certainty, Condition, CpuNeighbor, DemandUnit, Indicator, Indicators,
    RateBounds, ResourceDemand, UsedUpQuota,
};
use analysis::finding::ProgramCpuUse;
use analysis::{LoadPointResult, ResourceUsage, SeriesUsage, SharedCpus};
use disclosure::{Document, bottleneck_text, headline_text, outline, render};
use model::{Counter, Load, MachineRole, MonitoredSource, Noun, Series};
use testkit::{closed, schema_faults};

use crate::fixture::{self, Fixture};

/// The quick run: not bound with 10 users, then by the processor.
fn watched() -> Fixture {
    let mut fixture = fixture::quick();
    for (place, point) in fixture.analysis.load_points.iter_mut().enumerate() {
        let busy = [0.62, 0.96, 0.98, 0.97][place];
        point.resources = resources(busy, 9 < place);
        point.attribution = Some(attribution(busy, place));
    }
    fixture
}

fn attribution(busy: f64, place: usize) -> Attribution {
    let indicators: Indicators = [
        (Indicator::AllowanceBusy, busy),
        (Indicator::ProcessorUse, busy),
        (Indicator::CpuBusy, busy - 0.1),
        (Indicator::DiskBusy, 0.043),
        (Indicator::QueueBacklog, 0.0),
        (Indicator::ListenOverflows, 0.25),
        (Indicator::SwitchGrowth, 1.125),
    ]
    .into();
    let bottleneck = [Bottleneck::None, Bottleneck::Processor][usize::from(0 < place)];
    let cause = CAUSES.iter().find(|cause| cause.bottleneck == Bottleneck::Processor).unwrap();
    let cpu = ResourceDemand {
        resource: "CPU".to_owned(),
        per_operation: 0.000_812,
        unit: DemandUnit::Seconds,
        rate_max: Some(431.03),
    };
    let reads = ResourceDemand {
        resource: "disk sda, requests".to_owned(),
        per_operation: 0.0125,
        unit: DemandUnit::Requests,
        rate_max: None,
    };
    Attribution {
        bottleneck,
        certainty: if place == 1 { Certainty::Probable } else { Certainty::Certain },
        evidence: if 0 < place { cause.evidence(&indicators) } else { Vec::new() },
        indicators,
        demands: vec![cpu, reads],
        bounds: RateBounds { rate_max: Some(431.03), users: Some(1.5) },
        shared: None,
        neighbor: (place == 1)
            .then(|| CpuNeighbor::Program(ProgramCpuUse { name: "stress".to_owned(), cpus: 0.94 })),
        service: None,
        quota: None,
    }
}

/// Nine CPUs, which are summed up, and some of everything else.
fn resources(busy: f64, resets: bool) -> ResourceUsage {
    let one = |counter, instance: &str, value| SeriesUsage {
        series: Series { machine: 0, counter, instance: instance.to_owned() },
        readings: 9,
        resets: u32::from(resets),
        value: Some(value),
        min: value as u64,
        max: value as u64,
    };
    let mut series: Vec<SeriesUsage> =
        (0..9).map(|cpu| one(Counter::CpuUser, &cpu.to_string(), busy * 1e6)).collect();
    series.extend([
        one(Counter::ContextSwitches, "", 29_059.0),
        one(Counter::MemoryAvailable, "", 1_560_832_737.0),
        one(Counter::DiskReads, "sda", 7_666.0),
        one(Counter::DiskReadBytes, "sda", 36_061_179.0),
        one(Counter::MonitorCpu, "", 810.0),
    ]);
    ResourceUsage {
        machines: vec![MonitoredSource { name: "this machine".to_owned(), role: MachineRole::Both }],
        series,
    }
}

/// The bottleneck of load points by number of users, its certainty, and the use of CPUs and disk.
fn text_of(points: &[(u32, Bottleneck, Certainty, [f64; 2])]) -> Option<String> {
    let fixture = fixture::quick();
    let load_point =
        |(users, bottleneck, certainty, [cpu, disk]): &(u32, Bottleneck, Certainty, [f64; 2])| {
            let indicators: Indicators =
                [(Indicator::ProcessorUse, *cpu), (Indicator::DiskBusy, *disk)].into();
            let bottleneck = *bottleneck;
            let certainty = *certainty;
            let attribution = Attribution { bottleneck, certainty, indicators, ..attribution(*cpu, 0) };
            LoadPointResult {
                load: Load::Users(*users),
                attribution: Some(attribution),
                ..fixture.analysis.load_points[0].clone()
            }
        };
    let points: Vec<LoadPointResult> = points.iter().map(load_point).collect();
    bottleneck_text(&points, &Noun::regular("client"))
}

/// The example of the order-entry specification, 9.8.
#[test]
fn the_text_follows_the_bottleneck_as_it_moves() {
    use Certainty::{Certain, Probable};
    let points = [
        (1, Bottleneck::None, Certain, [0.30, 0.1]),
        (4, Bottleneck::Processor, Certain, [0.97, 0.2]),
        (8, Bottleneck::Processor, Certain, [0.98, 0.3]),
        (12, Bottleneck::Undetermined, Certain, [0.78, 0.71]),
        (40, Bottleneck::Undetermined, Certain, [0.74, 0.70]),
        (44, Bottleneck::DiskOperations, Certain, [0.40, 0.99]),
        (60, Bottleneck::DiskOperations, Certain, [0.38, 0.99]),
    ];
    assert_eq!(
        text_of(&points).unwrap(),
        "processor-bound from 4 to 8 clients; mixed from 12 to 40 (CPU 78 %, disk 71 %); disk-bound above 40 clients, \
         by its operations"
    );
    // Requests and bytes are both the disk's, but what relieves one does not relieve the other.
    let mut moved = points;
    moved[6].1 = Bottleneck::DiskBandwidth;
    assert_eq!(text_of(&moved).unwrap(), text_of(&points).unwrap() + " at 44, by its bandwidth at 60");
    let waiting = |users| text_of(&[(users, Bottleneck::Waiting, Probable, [0.1, 0.0])]).unwrap();
    assert_eq!(waiting(2), "probably bound by a lock or other waiting at 2 clients");
    assert_eq!(waiting(1), "waiting for something outside its CPUs at 1 client");
    let idle = [(12, Bottleneck::Undetermined, Certain, [0.3, 0.2])];
    assert_eq!(text_of(&idle).unwrap(), "no single bottleneck found at 12 clients (CPU 30 %, disk 20 %)");
    let network = |certainty| text_of(&[(1, Bottleneck::Network, certainty, [0.1, 0.0])]).unwrap();
    assert_eq!(network(Probable), "probably network-bound at 1 client");
    assert_eq!(network(Certain), "network-bound at 1 client");
    assert_eq!(text_of(&points[..1]).unwrap(), "none was reached at the loads tested");
    assert_eq!(
        bottleneck_text(&fixture::quick().analysis.load_points, &Noun::regular("client")),
        None,
        "it was not monitored"
    );
}

/// By hand: a quota of 0.1 CPUs at the first load point, 1.5 at the second, none afterwards; two CPUs at the first alone; memory
/// is the same throughout.
#[test]
fn limits_that_changed_during_the_run_are_listed_by_load_point() {
    let mut fixture = watched();
    let table = |fixture: &Fixture| {
        let markdown = render::markdown(&outline(&fixture.report()));
        markdown.split_once("Limits that changed during the run").map(|(_, rest)| rest.to_owned())
    };
    let limit = |counter, instance: &str, value: u64| SeriesUsage {
        series: Series { machine: 0, counter, instance: instance.to_owned() },
        readings: 9,
        resets: 0,
        value: Some(value as f64),
        min: value,
        max: value,
    };
    for (place, point) in fixture.analysis.load_points.iter_mut().enumerate() {
        let quotas = [Some(100_000), Some(1_500_000)];
        let quota =
            quotas.get(place).copied().flatten().map(|micros| limit(Counter::SutQuota, "port=80", micros));
        point.resources.series.extend(quota);
        point.resources.series.push(limit(Counter::SutMemoryMax, "port=80", 64 << 20));
        // The order of instances is that of texts.
        let cpus = ["port=80 10", "port=80 2"].into_iter().filter(|_| place == 0);
        point.resources.series.extend(cpus.map(|cpu| limit(Counter::SutAllowedCpu, cpu, 1)));
    }
    let changed = table(&fixture).expect("a quota changed");
    let rows: Vec<&str> = changed.lines().filter(|line| line.starts_with('|')).take(6).collect();
    assert!(rows[0].contains("port=80: CPU time per second") && !rows[0].contains("memory"), "{rows:?}");
    for (row, expected) in rows[2..].iter().zip(["0.1", "1.5", "none", "none"]) {
        assert!(row.contains(expected), "{expected}: {row}");
    }
    assert!(rows[0].contains("port=80: CPUs") && rows[2].contains("2, 10"), "{rows:?}");
    let is_changed = |counter| [Counter::SutQuota, Counter::SutAllowedCpu].contains(&counter);
    for point in &mut fixture.analysis.load_points {
        point.resources.series.retain(|one| !is_changed(one.series.counter));
    }
    assert_eq!(table(&fixture), None, "nothing changed");
}

#[test]
fn a_processor_that_the_generator_shares_is_named_wherever_it_matters() {
    let mut fixture = watched();
    for point in &mut fixture.analysis.load_points[1..] {
        let shared = Some(SharedCpus { n: 2.0, generator: 0.41, server: 1.59, idle: 0.0 });
        point.attribution.as_mut().unwrap().shared = shared;
    }
    let clause = "processor shared with the load generator (0.41 of 2 CPUs)";
    let headline = headline_text(&fixture.analysis).unwrap();
    assert!(headline.ends_with(&format!("ms, on a {clause}")), "{headline}");
    let text = bottleneck_text(&fixture.analysis.load_points, &Noun::regular("client")).unwrap();
    assert_eq!(text, format!("processor-bound above 10 clients, on a {clause}"));
    let report = fixture.report();
    let markdown = render::markdown(&outline(&report));
    assert!(markdown.contains("processor, shared with the load generator (0.41 of 2 CPUs)"), "{markdown}");
    let json = render::json(&report);
    assert_eq!(json["load_points"][1]["bottleneck"]["shared_with_generator"]["generator_cpus"], 0.41);
    let schema = include_str!("../../../schemas/report.schema.json");
    assert_eq!(schema_faults(&closed(serde_json::from_str(schema).unwrap()), &json), [""; 0]);
}

#[test]
fn bottleneck_demands_and_counters_are_told() {
    let fixture = watched();
    let document = outline(&fixture.report());
    let of_interest = ["bottleneck", "service-demand", "counters"];
    let sections =
        document.sections.into_iter().filter(|section| of_interest.contains(&section.id)).collect();
    insta::assert_snapshot!(render::markdown(&Document { sections, ..document }));
}

#[test]
fn the_page_of_a_watched_run_is_well_formed() {
    let fixture = watched();
    let report = fixture.report();
    let html = render::html(&outline(&report));
    assert!(
        html.contains("processor-bound above 10 clients, on a processor used mostly by stress (0.94 CPUs)")
    );
    assert!(html.contains("id=\"use-chart\""));
    assert!(!html.contains("NaN"));
}

#[test]
fn json_has_every_counter_and_the_evidence() {
    let json = render::json(&watched().report());
    let text = "processor-bound above 10 clients, on a processor used mostly by stress (0.94 CPUs)";
    assert_eq!(json["bottleneck"], text);
    let point = &json["load_points"][1];
    assert_eq!(point["bottleneck"]["name"], "processor");
    assert_eq!(point["bottleneck"]["neighbor"]["program"], "stress");
    assert_eq!(point["bottleneck"]["evidence"][0]["threshold"], 0.95);
    assert_eq!(point["counters"].as_array().map(Vec::len), Some(14));
    assert_eq!(point["counters"][9]["counter"], "system.context_switches");
    assert_eq!(
        render::json(&fixture::quick().report())["load_points"][1]["bottleneck"],
        serde_json::Value::Null
    );
}

/// Goal: the service that operations wait for has its place in every form.
#[test]
fn a_slow_service_is_named_with_its_port() {
    let mut fixture = watched();
    for point in &mut fixture.analysis.load_points[2..] {
        let attribution = point.attribution.as_mut().unwrap();
        attribution.bottleneck = Bottleneck::DownstreamService;
        attribution.service = Some("port 5432".to_owned());
    }
    let report = fixture.report();
    assert!(render::html(&outline(&report)).contains("slow downstream service (port 5432)"));
    assert_eq!(render::json(&report)["load_points"][2]["bottleneck"]["service"], "port 5432");
}

/// Goal: the advice says what other indicators say about the cause, and only where they do.
#[test]
fn advice_follows_from_the_indicators_beside_the_bottleneck() {
    let page = |bottleneck, indicator, value| {
        let mut fixture = fixture::valid();
        for point in &mut fixture.analysis.load_points {
            let indicators = [(indicator, value)].into();
            point.attribution = Some(Attribution { bottleneck, indicators, ..attribution(0.3, 1) });
        }
        render::markdown(&outline(&fixture.report()))
    };
    let counts = |value| page(Bottleneck::Undetermined, Indicator::ServiceCounts, value);
    let rarely = "connections to services were counted too rarely";
    assert!(counts(2.0).contains(rarely) && !counts(3.0).contains(rarely), "{}", counts(2.0));
    let refaults = |value| page(Bottleneck::DiskBandwidth, Indicator::RefaultsPerOperation, value);
    let memory = "Memory comes first";
    assert!(refaults(0.1).contains(memory) && !refaults(0.09).contains(memory), "{}", refaults(0.1));
    let reads = |value| page(Bottleneck::DiskOperations, Indicator::BufferReadsPerOperation, value);
    let buffers = "The database’s buffers come first";
    assert!(reads(1.0).contains(buffers) && !reads(0.9).contains(buffers), "{}", reads(1.0));
    let at_log = |value| page(Bottleneck::DiskOperations, Indicator::SessionsAtLog, value);
    let log = "Its log comes first";
    assert!(at_log(0.5).contains(log) && !at_log(0.4).contains(log), "{}", at_log(0.5));
}

/// An indicator that must lie between two thresholds is evidence twice, with one value.
#[test]
fn the_analysis_names_an_indicator_once() {
    let mut fixture = watched();
    let mut n_changed = 0;
    for attribution in fixture.analysis.load_points.iter_mut().filter_map(|point| point.attribution.as_mut())
    {
        let Some(first @ (condition, _)) = attribution.evidence.first().copied() else { continue };
        let other = Condition { indicator: Indicator::DiskBusy, ..condition };
        attribution.evidence = vec![first, first, (other, 0.043)];
        n_changed += 1;
    }
    assert_eq!(n_changed, 3);
    let markdown = render::markdown(&outline(&fixture.report()));
    let sentence = markdown.lines().find_map(|line| line.split_once("It is ")).unwrap().1;
    let brackets = sentence.split_once('(').unwrap().1.split_once(')').unwrap().0;
    assert_eq!(brackets, "processor use 96 %, disk busy 4 %");
}

/// The advice of a page about these load points of a run, each with what is changed of its attribution and of the report.
fn advised(change: impl Fn(&mut Fixture)) -> String {
    let mut fixture = fixture::valid();
    for point in &mut fixture.analysis.load_points {
        point.attribution =
            Some(Attribution { evidence: Vec::new(), neighbor: None, ..attribution(0.97, 1) });
    }
    change(&mut fixture);
    let markdown = render::markdown(&outline(&fixture.report()));
    let (_, advice) = markdown.split_once("**What to do next**: ").unwrap();
    advice.split_once(" After a change").unwrap().0.to_owned()
}

fn change_points(fixture: &mut Fixture, bottleneck: Bottleneck, change: impl Fn(&mut Attribution)) {
    for attribution in fixture.analysis.load_points.iter_mut().filter_map(|point| point.attribution.as_mut())
    {
        attribution.bottleneck = bottleneck;
        change(attribution);
    }
}

/// The reported cases: a server with one full thread beside idle CPUs, one whose database used the CPUs, and one that its
/// quota held back were all to be given more CPU time.
#[test]
fn the_advice_for_a_processor_fits_what_is_full() {
    let processor = |change: fn(&mut Attribution)| {
        advised(|fixture| change_points(fixture, Bottleneck::Processor, change))
    };
    assert!(processor(|_| {}).starts_with("Give the server more CPU time"), "{}", processor(|_| {}));
    let condition = |indicator| {
        let conditions = CAUSES.iter().flat_map(|cause| cause.all);
        (*conditions.into_iter().find(|one| one.indicator == indicator).unwrap(), 0.97)
    };
    for (indicator, what) in [(Indicator::BusiestThread, "thread"), (Indicator::BusiestProcess, "process")] {
        let text = advised(|fixture| {
            change_points(fixture, Bottleneck::Processor, |found| {
                found.evidence = vec![condition(indicator)]
            });
        });
        assert!(text.starts_with(&format!("One {what} of the server saturates one CPU")), "{text}");
        assert!(text.contains("run more of them"), "{text}");
    }
    let stress = processor(|found| found.neighbor = attribution(0.9, 1).neighbor);
    assert!(stress.starts_with("Give the server CPUs of its own: stress used 0.94 CPUs"), "{stress}");
    let quota = advised(|fixture| {
        let name = "port=80, limit in force: CPU quota";
        let fact = model::Fact::found(name, "0.2 CPUs, set by control group /web");
        let title = "Watched processes".to_owned();
        fixture.testbed.sections.push(model::FactSection { title, facts: vec![fact] });
        change_points(fixture, Bottleneck::Processor, |found| {
            found.quota = Some(UsedUpQuota { cpus: 0.2, group: Some("port=80".to_owned()) });
        });
    });
    assert!(quota.starts_with("Raise the CPU quota of 0.2 CPUs of control group /web"), "{quota}");
}

#[test]
fn a_quota_that_is_used_up_is_in_the_sentence() {
    let mut fixture = watched();
    for point in &mut fixture.analysis.load_points[1..] {
        let attribution = point.attribution.as_mut().unwrap();
        attribution.neighbor = None;
        attribution.quota = Some(UsedUpQuota { cpus: 0.2, group: None });
    }
    let text = bottleneck_text(&fixture.analysis.load_points, &Noun::regular("client")).unwrap();
    assert_eq!(text, "processor-bound above 10 clients, by its quota of 0.2 CPUs");
    let schema = include_str!("../../../schemas/report.schema.json");
    let json = render::json(&fixture.report());
    assert_eq!(json["load_points"][1]["bottleneck"]["cpu_quota"]["cpus"], 0.2);
    assert_eq!(schema_faults(&closed(serde_json::from_str(schema).unwrap()), &json), [""; 0]);
}

/// A server on port 8000, watched from the beginning, and a database that was found by its connections: 1.39 of 1.73 CPUs.
fn with_database(fixture: &mut Fixture) {
    let one = |counter, instance: &str, value: f64| SeriesUsage {
        series: Series { machine: 0, counter, instance: instance.to_owned() },
        readings: 9,
        resets: 0,
        value: Some(value),
        min: value as u64,
        max: value as u64,
    };
    for point in &mut fixture.analysis.load_points {
        point.resources.machines = resources(0.9, false).machines;
        point.resources.series = vec![
            one(Counter::SutCpu, "port=5544", 1_390_000.0),
            one(Counter::SutProcesses, "port=5544", 9.0),
            one(Counter::SutProcesses, "port=8000", 3.0),
            one(Counter::ProcessCpu, "gunicorn", 340_000.0),
            one(Counter::ProcessCpu, "postgres", 1_390_000.0),
        ];
    }
    let facts = vec![model::Fact::found("port=8000", "gunicorn (3 processes)")];
    fixture.testbed.sections.push(model::FactSection { title: "Watched processes".to_owned(), facts });
}

/// The reported cases: PostgreSQL behind gunicorn used 1.39 of 1.73 CPUs, and the advice was to profile the server; where it was
/// waited for, it was not named, not listed among the watched processes, and `--watch` was advised although it was given.
#[test]
fn a_database_behind_the_server_is_named() {
    let processor = advised(|fixture| {
        with_database(fixture);
        change_points(fixture, Bottleneck::Processor, |_| {});
    });
    let most = "Most of this CPU time is used by postgres (port 5544): 1.39 of 1.73 CPUs.";
    assert!(processor.contains(most), "{processor}");
    let waited_for = advised(|fixture| {
        with_database(fixture);
        change_points(fixture, Bottleneck::DownstreamService, |found| {
            found.service = Some("port 5544".to_owned());
            found.indicators.insert(Indicator::SessionsAtLock, 0.8);
        });
    });
    assert_eq!(
        waited_for,
        "The server waits for postgres (port 5544): make it faster, or call it less often. It used 1.39 CPUs meanwhile. \
         Sessions of the database wait for locks in 80 % of operations."
    );
    let pool = advised(|fixture| {
        with_database(fixture);
        change_points(fixture, Bottleneck::ConnectionLimit, |found| {
            found.service = Some("port 5544".to_owned());
            found.indicators.insert(Indicator::PoolAtLimit, 4.0);
        });
    });
    assert!(
        pool.starts_with("Make the server’s pool of connections to postgres (port 5544) larger: all 4"),
        "{pool}"
    );
    let mut fixture = fixture::valid();
    with_database(&mut fixture);
    let listed = "postgres (9 processes), found during the run by the server’s connections";
    let page = render::markdown(&outline(&fixture.report()));
    assert!(page.contains(listed), "{page}");
}

/// The reported cases: a lock was suspected at one client, and `--watch` advised to those who had given it.
#[test]
fn the_advice_for_a_wait_is_about_what_is_not_known_yet() {
    let waiting = |users, command: &[&str]| {
        advised(|fixture| {
            change_points(fixture, Bottleneck::Waiting, |_| {});
            fixture.analysis.load_points.iter_mut().for_each(|point| point.load = Load::Users(users));
            fixture.provenance.command = command.iter().map(|&argument| argument.to_owned()).collect();
        })
    };
    let unwatched = waiting(8, &["plimsoll", "run", "http://localhost/"]);
    assert!(unwatched.contains("look for locks") && unwatched.contains("`--watch`"), "{unwatched}");
    let given = waiting(8, &["plimsoll", "run", "--watch=port=5544"]);
    assert!(given.contains("look for locks") && !given.contains("--watch"), "{given}");
    let alone = waiting(1, &[]);
    assert!(alone.contains("One user alone meets no contention") && !alone.contains("lock"), "{alone}");
}

/// The reported case: the load point with the best score was not limited, a greater load was, and the advice said that
/// nothing limited the server.
#[test]
fn the_advice_is_about_the_bottleneck_that_is_named() {
    // The best score is that of 40 users.
    let advice = |limits: [Bottleneck; 4]| {
        let mut fixture = fixture::valid();
        for (bottleneck, point) in limits.into_iter().zip(&mut fixture.analysis.load_points) {
            let certainty = Certainty::Probable;
            point.attribution = Some(Attribution { bottleneck, certainty, ..attribution(0.3, 0) });
        }
        let markdown = render::markdown(&outline(&fixture.report()));
        let (_, advice) = markdown.split_once("**What to do next**: ").unwrap();
        advice.split_once(" After a change").unwrap().0.to_owned()
    };
    use Bottleneck::{Network, None, Processor};
    let faster = "Send fewer bytes (compression, caching), or use a faster link.";
    assert_eq!(advice([None, None, Network, Processor]), faster);
    for limits in [[None, None, None, Network], [Processor, None, None, Network]] {
        let shown = format!(
            "Nothing limited the server at 40 clients; at 80 clients it was probably network-bound. {faster}"
        );
        assert_eq!(advice(limits), shown);
    }
    let below = advice([None, Network, None, None]);
    assert!(below.contains("at 40 clients; at 20 clients it was probably network-bound."), "{below}");
    assert!(advice([None; 4]).starts_with("Nothing limited the server up to 80 clients: offer more"));
}

/// The reported case: bottlenecks that were added later were not in the schema.
#[test]
fn every_bottleneck_is_in_the_published_schema() {
    let schema = serde_json::from_str(include_str!("../../../schemas/report.schema.json")).unwrap();
    let schema = closed(schema);
    let mut fixture = watched();
    for cause in CAUSES {
        let attribution = fixture.analysis.load_points[2].attribution.as_mut().unwrap();
        attribution.bottleneck = cause.bottleneck;
        attribution.service = Some("port 5432".to_owned());
        assert_eq!(
            schema_faults(&schema, &render::json(&fixture.report())),
            [""; 0],
            "{:?}",
            cause.bottleneck
        );
    }
}

#[test]
fn json_of_a_watched_run_follows_the_published_schema() {
    let schema = include_str!("../../../schemas/report.schema.json");
    let schema = closed(serde_json::from_str(schema).unwrap());
    assert_eq!(schema_faults(&schema, &render::json(&watched().report())), [""; 0]);
}

/// Goal: nobody minds mailing the page of the longest usual run, with everything watched that can be.
#[test]
fn a_full_watched_run_fits_into_four_hundred_and_fifty_kilobytes() {
    let mut fixture = fixture::full();
    for point in &mut fixture.analysis.load_points {
        point.attribution = Some(attribution(0.97, 1));
        point.resources = resources(0.97, false);
        let every = Counter::ALL.iter().map(|counter| SeriesUsage {
            series: Series { machine: 0, counter: *counter, instance: "eth0".into() },
            readings: 600,
            resets: 0,
            value: Some(1_234_567.0),
            min: 1,
            max: 2_000_000,
        });
        point.resources.series.extend(every);
    }
    let facts = (0..150).map(|number| model::Fact {
        source: "/proc/sys/net/ipv4/some_setting".into(),
        ..model::Fact::found(&format!("setting {number}"), "a value of the usual length")
    });
    let title = "Settings".to_owned();
    fixture.testbed.sections.push(model::FactSection { title, facts: facts.collect() });
    let bytes = render::html(&outline(&fixture.report())).len();
    assert!(bytes < 450_000, "{bytes} bytes");
}

#[test]
fn a_run_that_was_not_watched_has_none_of_it() {
    let fixture = fixture::quick();
    let document = outline(&fixture.report());
    assert!(document.sections.iter().all(|section| !["bottleneck", "counters"].contains(&section.id)));
}
