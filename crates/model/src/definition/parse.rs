//! The parser of definitions: a definition, or everything that is wrong with its text.

use languages::reader::{TomlTable, ValueError, read_toml, toml_schema};
use languages::spec::{
    ValueSpec, choice, choice_described, id, line, ratio, time, time_above_zero, whole, whole_u32,
};
use languages::{Diagnostics, LOAD_POINTS_MAX, USERS_MAX};
use serde_json::Value;
use toml::de::{DeTable, DeValue};
use units::Nanos;

use super::family_spec::WorkloadParts;
use super::protocol::{read_changed, read_protocol, time_limit};
use super::values::{level, limits, rates, server_url, stage_text, users};
use super::{
    DEFINITION_FORMAT, Definition, Levels, LoadDefinition, OpenLoopDefinition, QuickDefinition,
    ShapeDefinition, WorkloadDefinition,
};
use crate::{Family, Headline, LoadUnit, Phases, Rules, StageListError, parse_stage_texts};

/// Keys that occur in definitions and in no other language of Plimsoll.
const OWN_KEYS: [&str; 4] = ["workload", "protocol", "load", "phases"];

impl Definition {
    /// Returns whether a text is apparently meant as a definition, even an invalid one.
    pub fn is_meant(text: &str) -> bool {
        let (entries, _) = DeTable::parse_recoverable(text);
        let entries = entries.get_ref();
        OWN_KEYS.iter().filter(|key| entries.contains_key(**key)).count() * 2 > OWN_KEYS.len()
    }

    /// Reads a definition; `file_name` is what messages call the text.
    ///
    /// # Errors
    ///
    /// Everything that is wrong, as far as it can be found at once: syntax, unknown and missing keys, wrong
    /// types and units, values out of their limits. A filelist that is named or included is not read here.
    pub fn parse(file_name: &str, text: &str) -> Result<Definition, Diagnostics> {
        read_toml("a definition", file_name, text, read_definition)
    }
}

/// Returns the JSON Schema (2020-12) of benchmark definitions.
pub fn definition_schema() -> Value {
    toml_schema("Plimsoll benchmark definition", read_definition)
}

/// Phases without length.
const NO_PHASES: Phases = Phases {
    quiet: Nanos::ZERO,
    ramp_up: Nanos::ZERO,
    settle: Nanos::ZERO,
    steady: Nanos::ZERO,
    ramp_down: Nanos::ZERO,
    drain: Nanos::ZERO,
};

/// Returns the families that the schema has.
fn described_families() -> Vec<Family> {
    Family::ALL.into_iter().filter(Family::is_described).collect()
}

/// Every key is read before the first `?`, so that all mistakes are found; `None` means that one was reported.
fn read_definition(mut top: TomlTable) -> Option<Definition> {
    top.describe("Definition", "A benchmark that `plimsoll run` can run.");
    let formats = whole_u32(DEFINITION_FORMAT..=DEFINITION_FORMAT);
    let format = top.required("format", "The version of this language: 1.", formats);
    let id = top.required("id", "The name that is typed: lower-case letters, digits, `-` and `.`.", id());
    let about = "The version of the benchmark; rises with any change that could move a number.";
    let version = top.required("version", about, whole_u32(1..=u32::MAX));
    let title = top.required("title", "The name for people: `WebStone 2.0.1-style`.", line());
    let summary = top.required("summary", "The purpose of the benchmark, in one sentence.", line());
    let about = "The kind of server that it loads.";
    let family: Option<Family> = top.required("family", about, choice_described(Family::is_described));
    let about = "The figure that it is known by.";
    let headline: Option<Headline> =
        top.required("headline", about, choice_described(Headline::is_described));
    let reason = family.zip(headline).and_then(|(family, headline)| family.reason_to_lack(headline));
    if let Some(reason) = reason {
        top.reject("headline", ValueError::new(format!("expected a headline of the family: {reason}")));
    }
    let target = family.map_or_else(server_url, |family| (family.spec().target)());
    let about =
        "The running server that a run loads unless it names another, such as `http://127.0.0.1:8080/`.";
    let target = top.optional("target", about, target);
    let about =
        "The load over time within one load point, as stages: in place of `load`, `phases` and `quick`.";
    let shape = top.optional_table("shape", about).and_then(read_shape);
    let has_shape = top.value("shape").is_some();
    let load = top.optional_table("load", "The load points; must be given unless there is a `shape`.");
    let load = match &shape {
        Some(course) => Some(course.shape.load()),
        None => load.and_then(read_load),
    };
    let about = "The settings of an open loop, if the benchmark is one or a run asks for one. If absent: constant \
                 arrivals, 1000 in flight at most.";
    let open_loop = top.optional_table("open-loop", about).map(read_open_loop);
    let about = "The phases of every load point; must be given unless there is a `shape`.";
    let phases = top.optional_table("phases", about);
    let phases = match &shape {
        Some(course) => Some(course.shape.phases(course.quiet, course.drain)),
        None => phases.and_then(read_phases),
    };
    for key in ["load", "phases", "quick"] {
        if has_shape && top.value(key).is_some() {
            let error = ValueError::new(format!("expected either `{key}` or `shape`, found both"));
            top.reject(key, error.hint("the stages of a shape are the whole load"));
        } else if !has_shape && key != "quick" {
            top.report_missing(key);
        }
    }
    let about = "The short form that `--quick` runs. If absent: the lowest and the highest load, each for at most 5 s, \
                 with at most 1 s of ramp-up, settle and ramp-down.";
    let quick = match top.optional_table("quick", about) {
        None if top.value("quick").is_none() => {
            load.as_ref().zip(phases).map(|(load, phases)| QuickDefinition::of(load, phases))
        }
        quick => {
            let full = load.as_ref().map(|load| load.unit).zip(phases);
            quick.and_then(|table| read_quick(table, full, family.unwrap_or(Family::Web)))
        }
    };
    let about = "Limits that the verdict depends on, where they differ from the measurement rules' own.";
    let rules = top.optional_table("rules", about).map(read_rules);
    let highest =
        [load.as_ref().map(|load| load.levels.highest()), quick.as_ref().map(|quick| quick.levels.highest())];
    let level_max = highest.into_iter().flatten().reduce(f64::max);
    let mut workload = None;
    for family in top.cases(family.unwrap_or(Family::Web), &described_families()) {
        workload = read_workload(&mut top, family, level_max);
    }
    top.finish();
    let (workload, time_limit) = workload?;
    Some(Definition {
        format: format?,
        id: id?,
        version: version?,
        title: title?,
        summary: summary?,
        headline: headline?,
        target,
        workload: family.map(|_| workload)?,
        time_limit,
        load: load?,
        shape: shape.map(|course| course.shape),
        open_loop: open_loop.unwrap_or_default(),
        phases: phases?,
        quick: quick?,
        rules: rules.unwrap_or_default(),
    })
}

/// Reads `[workload]` and `[protocol]`, which are the family's, and the time limit of an operation.
fn read_workload(
    top: &mut TomlTable,
    family: Family,
    level_max: Option<f64>,
) -> Option<(WorkloadDefinition, Nanos)> {
    let about = "The requests or transactions of users, or the filelist that they are made from.";
    let workload = top.required_table("workload", about);
    let protocol = top.required_table("protocol", "The settings of the family.");
    let protocol = protocol.and_then(|table| read_protocol(table, family));
    let target = top.value("target").and_then(DeValue::as_str);
    let parts = WorkloadParts { workload, protocol: protocol.as_deref(), target, level_max };
    let workload = (family.spec().read)(parts);
    for name in workload.as_ref().map(family.spec().no_use).unwrap_or_default() {
        let error = ValueError::new("the work of this benchmark has no use for it");
        top.reject_inner(&["protocol", name], error.hint("leave it out"));
    }
    Some((workload?, time_limit(&protocol?)?))
}

/// A shape with the phases that its load point has beside it.
struct ShapeCourse {
    shape: ShapeDefinition,
    quiet: Nanos,
    drain: Nanos,
}

fn read_shape(mut table: TomlTable) -> Option<ShapeCourse> {
    table.describe("Shape", "The load over time within one load point.");
    let about = "The stages, in order: `\"30s:0..100\"` is a ramp of 30 s from 0 to 100 users, `\"2m:100\"` a constant load, \
                 `\"1m:10..2000/s\"` one of an open loop, in operations per second.";
    let stages = table.required_items("stages", about, stage_text());
    let stages = stages.and_then(|texts| match parse_stage_texts(&texts) {
        Ok(stages) => Some(stages),
        Err((index, StageListError { message, span, hint })) => {
            let error = |span| ValueError { label: message.clone(), hint: Some(hint.clone()), inside: span };
            if !table.reject_inner(&["stages", &index.to_string()], error(Some(span))) {
                table.reject("stages", error(None));
            }
            None
        }
    });
    let about = "The limits that end the load when one is broken, each in 5 s on end: `p99<200ms,errors<1%`. If absent, the \
                 load ends with its last stage.";
    let until = table.optional("until", about, limits()).unwrap_or_default();
    let quiet = table.optional("quiet", "A pause before the load.", time()).unwrap_or_default();
    let about =
        "The longest time in which operations in flight may finish afterwards; without it they are given up.";
    let drain = table.optional("drain", about, time()).unwrap_or_default();
    table.finish();
    Some(ShapeCourse { shape: ShapeDefinition { stages: stages?, until }, quiet, drain })
}

fn read_load(mut table: TomlTable) -> Option<LoadDefinition> {
    table.describe("Load", "The load points: either `users` or `rate`.");
    table.describe_n_keys(1);
    let users = read_levels(&mut table, "users", "Numbers of users of a closed loop.", users());
    let rate = read_levels(&mut table, "rate", "Operations per second of an open loop.", rates());
    if users.is_some() && rate.is_some() {
        table.reject("rate", ValueError::new("expected either `users` or `rate`, found both"));
    }
    if table.is_empty() {
        table.reject("users", ValueError::new("expected either `users` or `rate`, found neither"));
    }
    table.finish();
    match (users, rate) {
        (Some(levels), _) => Some(LoadDefinition { unit: LoadUnit::Users, levels }),
        (None, levels) => Some(LoadDefinition { unit: LoadUnit::Rate, levels: levels? }),
    }
}

/// Reads levels in either form, `"1,2,5"` or `{ steps = 10, max = 1000 }`; `None` if there are none or they are wrong.
fn read_levels(
    table: &mut TomlTable,
    key: &'static str,
    about: &str,
    list: ValueSpec<Vec<f64>>,
) -> Option<Levels> {
    table.optional_either(key, about, list.map(Levels::List), |mut inner| {
        inner.describe("Steps", "Levels in equal steps up to a maximum that a run may choose.");
        let steps = inner.required("steps", "Number of levels.", whole_u32(1..=LOAD_POINTS_MAX as u32));
        let max = inner.required("max", "The highest level.", level());
        inner.finish();
        Some(Levels::Steps { steps: steps?, max: max? })
    })
}

fn read_open_loop(mut table: TomlTable) -> OpenLoopDefinition {
    table.describe("OpenLoop", "The settings of an open loop.");
    let standard = OpenLoopDefinition::default();
    let arrivals = table.optional("arrivals", "The distribution of due times.", choice());
    let about = "The most operations in flight; if absent, 1000, or 64 of databases, whose sessions are few.";
    let in_flight_max = table.optional("in-flight-max", about, whole_u32(1..=USERS_MAX));
    table.finish();
    OpenLoopDefinition { arrivals: arrivals.unwrap_or(standard.arrivals), in_flight_max }
}

fn read_phases(mut table: TomlTable) -> Option<Phases> {
    let about = "The lengths of the phases of a load point; those that are left out have no length.";
    table.describe("Phases", about);
    let phases = read_lengths(&mut table, NO_PHASES);
    table.finish();
    phases
}

/// Reads the lengths of phases; those that are left out are as in `full`.
fn read_lengths(table: &mut TomlTable, full: Phases) -> Option<Phases> {
    let mut length = |key, about, full| table.optional(key, about, time()).unwrap_or(full);
    let quiet = length("quiet", "A pause before each load point.", full.quiet);
    let ramp_up = length("ramp-up", "Load rising.", full.ramp_up);
    let settle = length("settle", "Full load, not measured.", full.settle);
    let ramp_down = length("ramp-down", "Load falling.", full.ramp_down);
    let about =
        "The longest time in which operations in flight may finish afterwards; without it they are given up.";
    let drain = length("drain", about, full.drain);
    let steady = table.required("steady", "Measured; above zero.", time_above_zero());
    Some(Phases { quiet, ramp_up, settle, steady: steady?, ramp_down, drain })
}

/// Reads the short form of a benchmark with this unit of load and these phases; phases that it does not name are those
/// of the full one.
fn read_quick(
    mut table: TomlTable,
    full: Option<(LoadUnit, Phases)>,
    family: Family,
) -> Option<QuickDefinition> {
    let about =
        "The short form of a benchmark, for a first look. Phases that are left out are as in the full form.";
    table.describe("Quick", about);
    let (unit, full) = full.or_else(|| table.described((LoadUnit::Users, NO_PHASES)))?;
    let mut levels = None;
    for unit in table.cases(unit, &[LoadUnit::Users, LoadUnit::Rate]) {
        levels = match unit {
            LoadUnit::Users => {
                read_levels(&mut table, "users", "Numbers of users, if the full form has users.", users())
            }
            LoadUnit::Rate => read_levels(
                &mut table,
                "rate",
                "Operations per second, if the full form has a rate.",
                rates(),
            ),
        };
    }
    if levels.is_none() && table.value("users").is_none() && table.value("rate").is_none() {
        table.reject("users", ValueError::new("the levels of load must be given here"));
    }
    let phases = read_lengths(&mut table, full);
    let mut settings = None;
    for family in table.cases(family, &described_families()) {
        let inner = table.optional_table("protocol", "The settings that differ from those of the full form.");
        settings = inner.map(|inner| read_changed(inner, family));
    }
    table.finish();
    Some(QuickDefinition { levels: levels?, phases: phases?, settings: settings.unwrap_or_default() })
}

fn read_rules(mut table: TomlTable) -> Rules {
    table.describe("Rules", "Limits that the verdict of a load point depends on. Ratios are from 0 to 1.");
    let standard = Rules::default();
    let mut part = |key, about, standard| table.optional(key, about, ratio()).unwrap_or(standard);
    let about = "Failed ÷ completed operations above which a load point is not valid.";
    let error_ratio_max = part("error-ratio-max", about, standard.error_ratio_max);
    let about = "Relative gap in N = X·(R + Z) above which a load point needs an explanation.";
    let little_gap_max = part("little-gap-max", about, standard.little_gap_max);
    let about = "Busy part of the load CPUs from which the generator counts as the bottleneck.";
    let generator_busy_max = part("generator-busy-max", about, standard.generator_busy_max);
    let about = "Time that load threads waited for a CPU, as a part of the run's length, above which the generator counts \
                 as the bottleneck.";
    let run_queue_ratio_max = part("run-queue-ratio-max", about, standard.run_queue_ratio_max);
    let about = "Part of its own CPU allowance from which the SUT counts as saturated.";
    let sut_saturated_min = part("sut-saturated-min", about, standard.sut_saturated_min);
    let about = "Delivered ÷ offered rate below which an open-loop load point is not valid.";
    let delivered_ratio_min = part("delivered-ratio-min", about, standard.delivered_ratio_min);
    let about = "99th percentile of lateness above which the generator counts as the bottleneck (open loop).";
    let lateness_p99_max = table.optional("lateness-p99-max", about, time());
    let about = "The fewest completed operations of a valid load point.";
    let operations_min = table.optional("operations-min", about, whole(0..=i64::MAX as u64));
    table.finish();
    Rules {
        error_ratio_max,
        little_gap_max,
        generator_busy_max,
        run_queue_ratio_max,
        sut_saturated_min,
        delivered_ratio_min,
        lateness_p99_max: lateness_p99_max.unwrap_or(standard.lateness_p99_max),
        operations_min: operations_min.unwrap_or(standard.operations_min),
    }
}

/// A definition with every key.
#[cfg(test)]
pub(super) const EVERY_KEY: &str = include_str!("every_key.toml");

/// A definition with every key of requests.
#[cfg(test)]
pub(super) const EVERY_REQUEST_KEY: &str = include_str!("every_request_key.toml");

/// A definition with every key of users with sessions.
#[cfg(test)]
pub(super) const EVERY_SESSION_KEY: &str = include_str!("every_session_key.toml");

/// A definition with every key of application servers.
#[cfg(test)]
pub(super) const EVERY_APP_KEY: &str = include_str!("every_app_key.toml");

/// A definition with every key of file servers.
#[cfg(test)]
pub(super) const EVERY_FILE_KEY: &str = include_str!("every_file_key.toml");

/// A definition with every key of a Disk Mix.
#[cfg(test)]
pub(super) const EVERY_MIX_KEY: &str = include_str!("every_mix_key.toml");

/// A definition with every key of micro-tests.
#[cfg(test)]
pub(super) const EVERY_MICRO_KEY: &str = include_str!("every_micro_key.toml");

/// A definition with every key of order entry.
#[cfg(test)]
pub(super) const EVERY_ORDER_KEY: &str = include_str!("every_order_key.toml");

/// A definition with every key of a mail benchmark.
#[cfg(test)]
pub(super) const EVERY_MAIL_KEY: &str = include_str!("every_mail_key.toml");

/// A definition with every key of a user's own statements.
#[cfg(test)]
pub(super) const EVERY_SQL_KEY: &str = include_str!("every_sql_key.toml");

/// A definition with every key of a load over time.
#[cfg(test)]
pub(super) const EVERY_SHAPE_KEY: &str = include_str!("every_shape_key.toml");

/// Returns the first problem of a definition after a piece of it was replaced.
#[cfg(test)]
pub(super) fn problem_of(definition: &str, piece: &str, replacement: &str) -> String {
    assert!(definition.contains(piece), "{piece}");
    let text = definition.replacen(piece, replacement, 1);
    let diagnostics = Definition::parse("my.toml", &text).expect_err(replacement);
    let first = &diagnostics.problems[0];
    let (line, _) = diagnostics.position(first);
    format!("line {line}, `{}`: {}: {}", &text[first.span.clone()], first.message, first.label)
}

/// Returns the first problem of the definition with every key of requests after each of several replacements.
#[cfg(test)]
pub(super) fn problems_of_request<const N: usize>(slips: [(&str, &str); N]) -> String {
    slips.map(|(piece, slip)| problem_of(EVERY_REQUEST_KEY, piece, slip)).join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        AppFileIo, AppPayload, AppProtocol, AppSuite, AppWorkload, Arrivals, ConnectionLifetime,
        FilelistSource, HttpVersion, OrderDelivery, OrderEntryWorkload, OrderMix, OrderPacing, OrderSql,
        PauseStart, ThinkTime, Tls, WebProtocol, Workload, WorkloadSource, limits_text,
    };
    use proptest::prelude::*;
    use testkit::{is_published, keys_named, keys_read, schema_faults};

    /// The texts that have every key between them.
    const EVERY: [&str; 11] = [
        EVERY_KEY,
        EVERY_REQUEST_KEY,
        EVERY_SESSION_KEY,
        EVERY_APP_KEY,
        EVERY_FILE_KEY,
        EVERY_MIX_KEY,
        EVERY_MICRO_KEY,
        EVERY_ORDER_KEY,
        EVERY_MAIL_KEY,
        EVERY_SQL_KEY,
        EVERY_SHAPE_KEY,
    ];

    fn problem(piece: &str, replacement: &str) -> String {
        problem_of(EVERY_KEY, piece, replacement)
    }

    #[test]
    fn every_key_is_read() {
        let definition = Definition::parse("my.toml", EVERY_KEY).unwrap();
        let s = Nanos::from_secs;
        let filelist = FilelistSource::Text("/index.html 1 #500".into());
        let web = definition.workload.web().unwrap();
        assert_eq!(web.source, WorkloadSource::Filelist(filelist));
        assert_eq!(definition.time_limit, s(90));
        assert_eq!(definition.target.as_deref(), Some("http://127.0.0.1:8080/"));
        assert_eq!(
            web.protocol,
            WebProtocol {
                http: HttpVersion::Http11,
                tls: Tls::Off,
                connection: ConnectionLifetime::KeepAlive { requests_max: Some(100) },
                streams: 1,
            }
        );
        let levels = Levels::List(vec![10.0, 20.0, 30.0, 50.0]);
        assert_eq!(definition.load, LoadDefinition { unit: LoadUnit::Users, levels });
        assert_eq!(
            definition.open_loop,
            OpenLoopDefinition { arrivals: Arrivals::Poisson, in_flight_max: Some(64) }
        );
        let settle = Nanos::from_millis(500);
        let phases =
            Phases { quiet: s(1), ramp_up: s(2), settle, steady: s(60), ramp_down: s(3), drain: s(4) };
        assert_eq!(definition.phases, phases);
        let quick = QuickDefinition {
            levels: Levels::List(vec![1.0, 2.0]),
            phases: Phases {
                quiet: s(0),
                ramp_up: s(1),
                settle: s(0),
                steady: s(5),
                ramp_down: s(0),
                drain: s(0),
            },
            settings: Vec::new(),
        };
        assert_eq!(definition.quick, quick);
        let rules = Rules {
            error_ratio_max: 0.0,
            little_gap_max: 0.02,
            generator_busy_max: 0.8,
            lateness_p99_max: Nanos::from_millis(1),
            run_queue_ratio_max: 0.2,
            sut_saturated_min: 1.0,
            operations_min: 1000,
            delivered_ratio_min: 0.99,
        };
        assert_eq!(definition.rules, rules);
    }

    #[test]
    fn every_key_of_application_servers_is_read() {
        let definition = Definition::parse("my.toml", EVERY_APP_KEY).unwrap();
        let WorkloadDefinition::Complete(Workload::App(app)) = &definition.workload else {
            panic!("of application servers")
        };
        let payload = |bytes, weight| AppPayload { bytes, weight };
        let expected = AppWorkload {
            suite: AppSuite::Disk,
            payloads: vec![payload(100, 1), payload(200, 3)],
            rounds: 5,
            range_bytes: 32 << 10,
            auto_range: None,
            io: AppFileIo::Direct,
            is_cold: true,
            protocol: AppProtocol::Http,
            think: ThinkTime::Fixed(Nanos::from_millis(270)),
        };
        assert_eq!((app, definition.time_limit), (&expected, Nanos::from_secs(5)));
        let problem = |piece, slip| problem_of(EVERY_APP_KEY, piece, slip);
        let start = EVERY_APP_KEY.find("[[workload.payloads]]").unwrap();
        let payloads = &EVERY_APP_KEY[start..EVERY_APP_KEY.find("[protocol]").unwrap()];
        let found = [
            problem("rounds = 5\n", ""),
            problem("rounds = 5", "rounds = 50_000_001"),
            problem("bytes = 100", "bytes = 131_073"),
            problem("weight = 3", "weight = 0"),
            problem(payloads, "payloads = []\n"),
            problem(payloads, ""),
            problem("\"disk\"", "\"disc\""),
            problem("\"32 KiB\"", "\"15 KiB\""),
            problem("\"32 KiB\"", "32768"),
        ];
        insta::assert_snapshot!(found.join("\n"), @r#"
        line 10, `workload`: `workload.rounds` is missing: `rounds` must be given here
        line 11, `50_000_001`: `workload.rounds` is not valid: expected a whole number from 0 to 50000000, found 50000001
        line 15, `131_073`: `workload.payloads.bytes` is not valid: expected a whole number from 1 to 131072, found 131073
        line 20, `0`: `workload.payloads.weight` is not valid: expected a whole number from 1 to 4294967295, found 0
        line 14, `[]`: `workload.payloads` is not valid: expected at least one table, found none
        line 10, `workload`: `workload.payloads` is missing: `payloads` must be given here
        line 23, `"disc"`: `protocol.suite` is not valid: expected sys, net, cpu, disk or cs, found `disc`
        line 24, `"15 KiB"`: `protocol.range` is not valid: expected a size such as `4 KiB`, from 16.0 KiB up to 1.0 TiB
        line 24, `32768`: `protocol.range` is not valid: expected a size with its unit, found `32768` without one
        "#);
    }

    #[test]
    fn every_key_of_order_entry_is_read() {
        let definition = Definition::parse("my.toml", EVERY_ORDER_KEY).unwrap();
        let WorkloadDefinition::Complete(Workload::OrderEntry(orders)) = &definition.workload else {
            panic!("of order entry")
        };
        let expected = OrderEntryWorkload {
            scale: orders::DataScale::new(5, 20).unwrap(),
            pacing: OrderPacing::Flat,
            think_mean: Nanos::from_secs(1),
            think_from: PauseStart::Due,
            mix: OrderMix::Deck,
            sql: OrderSql::Batched,
            delivery: OrderDelivery::Deferred,
            is_encrypted: true,
            ..OrderEntryWorkload::default()
        };
        assert_eq!((orders, definition.time_limit), (&expected, Nanos::from_secs(5)));
        assert_eq!(definition.headline, Headline::NewOrderRate);
        let quick: Vec<String> = definition.quick.settings.iter().map(ToString::to_string).collect();
        assert_eq!(quick, ["warehouses 2", "pacing spec"]);
        let problem = |piece, slip| problem_of(EVERY_ORDER_KEY, piece, slip);
        let found = [
            problem("[workload]", "[workload]\nrounds = 5"),
            problem("warehouses = 5", "warehouses = 0"),
            problem("\"20\"", "\"3\""),
            problem("pacing = \"spec\"", "pacing = \"slow\""),
            problem("pacing = \"spec\"", "pase = \"spec\""),
        ];
        insta::assert_snapshot!(found.join("\n"), @r#"
        line 11, `rounds`: unknown key `rounds` in `workload`: not a key of a definition
        line 13, `0`: `protocol.warehouses` is not valid: expected a whole number from 1 to 100000, found 0
        line 14, `"3"`: `protocol.divisor` is not valid: expected 1, 2, 4, 5, 10, 20, 25, 50 or 100, found `3`
        line 36, `"slow"`: `quick.protocol.pacing` is not valid: expected spec, bf or flat, found `slow`
        line 36, `pase`: unknown key `pase` in `quick.protocol`: not a key of a definition
        "#);
        let other = EVERY_KEY.replace("\"operation-rate\"", "\"new-order-rate\"");
        let error = Definition::parse("my.toml", &other).unwrap_err().to_string();
        assert!(error.contains("only `order-entry` has new orders"), "{error}");
    }

    #[test]
    fn a_family_without_weights_has_no_weighted_headline() {
        for (definition, headline) in [(EVERY_KEY, "operation-rate"), (EVERY_ORDER_KEY, "new-order-rate")] {
            let problem = problem_of(definition, headline, "weighted-rate");
            assert!(
                problem.ends_with("a headline of the family: its operations have no weights"),
                "{problem}"
            );
        }
        let described: Vec<&str> =
            Headline::ALL.into_iter().filter(Headline::is_described).map(Headline::name).collect();
        assert!(
            ["new-order-rate", "weighted-rate"].iter().all(|name| described.contains(name)),
            "{described:?}"
        );
    }

    #[test]
    fn optional_keys_have_defaults() {
        let (start, rest) = EVERY_KEY.split_once("[open-loop]").unwrap();
        let (_, quick) = rest.split_once("[quick]").unwrap();
        let (quick, _) = quick.split_once("[rules]").unwrap();
        let text = format!("{start}[phases]\nsteady = \"60 s\"\n[quick]{quick}");
        let definition = Definition::parse("my.toml", &text).unwrap();
        assert_eq!(definition.open_loop, OpenLoopDefinition::default());
        assert_eq!(definition.rules, Rules::default());
        assert_eq!(definition.phases.end_of(crate::Phase::Drain), Nanos::from_secs(60));
    }

    /// Goal: the short form of a definition that has none takes seconds: the lowest and the highest load, 5 s each.
    #[test]
    fn a_short_form_and_a_time_limit_have_defaults() {
        let (start, _) = EVERY_KEY.split_once("[quick]").unwrap();
        let text = start.replace("time-limit = \"1.5 min\"\n", "");
        let definition = Definition::parse("my.toml", &text).unwrap();
        assert_eq!(definition.time_limit, Nanos::from_secs(60));
        let s = Nanos::from_secs;
        assert_eq!(
            definition.quick,
            QuickDefinition {
                levels: Levels::List(vec![10.0, 50.0]),
                phases: Phases {
                    quiet: s(0),
                    ramp_up: s(1),
                    settle: Nanos::from_millis(500),
                    steady: s(5),
                    ramp_down: s(1),
                    drain: s(4),
                },
                settings: Vec::new(),
            }
        );
        let steps = text.replace("\"10..30/10,50\"", "{ steps = 10, max = 1000 }");
        let steps = Definition::parse("my.toml", &steps).unwrap();
        assert_eq!(steps.quick.levels, Levels::List(vec![100.0, 1000.0]));
        let single = Definition::parse("my.toml", &text.replace("10..30/10,50", "7")).unwrap();
        assert_eq!(single.quick.levels, Levels::List(vec![7.0]));
    }

    #[test]
    fn an_invalid_definition_is_recognized_as_a_definition() {
        assert!(Definition::is_meant(EVERY_KEY));
        assert!(Definition::is_meant(&EVERY_REQUEST_KEY.replace("[quick]", "[quik]\nx = ")));
        assert!(!Definition::is_meant("[[tables]]\nid = \"load\"\n"));
        assert!(!Definition::is_meant("\u{0}"));
    }

    #[test]
    fn all_mistakes_are_shown_at_once() {
        let text = EVERY_KEY
            .replace("steady = \"60 s\"", "steddy = \"60 s\"")
            .replace("time-limit = \"1.5 min\"", "time-limit = 90")
            .replace("10..30/10,50", "10..30/10,5O")
            .replace("headline = \"operation-rate\"", "headline = \"conection-rate\"")
            .replace("version = 3\n", "");
        insta::assert_snapshot!(Definition::parse("my.toml", &text).unwrap_err(), @r#"
        error: `version` is missing
         --> my.toml:1:1
          |
        1 | # A definition with every key, for tests.
          | ^ `version` must be given here

        error: `headline` is not valid
         --> my.toml:7:12
          |
        7 | headline = "conection-rate"
          |            ^^^^^^^^^^^^^^^^ expected `connection-rate` or `operation-rate` or `request-rate` or `transaction-rate` or `throughput` or `harmonic-rate` or `new-order-rate` or `weighted-rate`, found `conection-rate`
          |
          = hint: did you mean `connection-rate`?

        error: `protocol.time-limit` is not valid
          --> my.toml:20:14
           |
        20 | time-limit = 90
           |              ^^ expected a time with its unit, found `90` without one
           |
           = hint: write `"90 s"` if seconds are meant

        error: `load.users` is not valid
          --> my.toml:23:20
           |
        23 | users = "10..30/10,5O"
           |                    ^^ expected a number of users from 1 to 1000000, found `5O`
           |
           = hint: write a range with a step such as `10..200/10`, or a list such as `1,2,5`

        error: `phases.steady` is missing
          --> my.toml:29:2
           |
        29 | [phases]
           |  ^^^^^^ `steady` must be given here

        error: unknown key `steddy` in `phases`
          --> my.toml:33:1
           |
        33 | steddy = "60 s"
           | ^^^^^^ not a key of a definition
           |
           = hint: did you mean `steady`?
        "#);
    }

    #[test]
    fn broken_toml_is_shown_where_it_breaks() {
        let text = "format = 1\nid = \"x\ntitle = = 3\n";
        insta::assert_snapshot!(Definition::parse("my.toml", text).unwrap_err(), @r#"
        error: this is not TOML
         --> my.toml:2:8
          |
        2 | id = "x
          |        ^ invalid basic string, expected `"`

        error: this is not TOML
         --> my.toml:3:9
          |
        3 | title = = 3
          |         ^ extra `=`, expected nothing

        error: this is not TOML
         --> my.toml:3:11
          |
        3 | title = = 3
          |           ^ unexpected key or value, expected newline, `#`
        "#);
        for line in ["id = mine", "id = nginx", "id = info"] {
            let message = Definition::parse("my.toml", line).unwrap_err().to_string();
            let word = line.trim_start_matches("id = ");
            let hint = format!("hint: write strings in quotes: `\"{word}\"`");
            assert!(message.contains(&hint), "{message}");
        }
    }

    #[test]
    fn wrong_values_have_a_position_and_an_explanation() {
        let found: Vec<String> = [
            ("format = 1", "format = 2"),
            ("\"my-site\"", "\"My Site\""),
            ("version = 3", "version = 0"),
            ("version = 3", "version = 99999999999"),
            ("version = 3", "version = \"3\""),
            ("\"My site\"", "\" \""),
            ("\"What my users fetch.\"", "\"two\\nlines\""),
            ("content-seed = 7", "content-seed = -7"),
            ("counts-pages = false", "counts-pages = \"no\""),
            ("counts-pages = false", "think = \"0 s\""),
            ("counts-pages = false", "think = 5"),
            ("counts-pages = false", "think = { exponential = 5 }"),
            ("counts-pages = false", "[[workload.pages]]\nweight = 1\nrequests = [\"a\"]"),
            ("counts-pages = false", "[[workload.requests]]\nname = \"a\""),
            ("filelist.text = \"/index.html 1 #500\"", ""),
            ("filelist.text = \"/index.html 1 #500\"", "requests = 5"),
            ("filelist.text = \"/index.html 1 #500\"", "requests = [5]"),
            ("http = \"1.1\"", "http = 1.1"),
            ("tls = \"off\"", "tls = false"),
            ("streams = 1", "streams = 1001"),
            ("connection = \"keep-alive:100\"", "connection = \"keep-alive:0\""),
            ("connection = \"keep-alive:100\"", "connection.keep-alive.requests-max = 100"),
            ("connection = \"keep-alive:100\"", "connection = \"forever\""),
            ("filelist.text = ", "filelist.file = \"f\"\nfilelist.text = "),
            ("filelist.text = \"/index.html 1 #500\"", "filelist = {}"),
            ("steady = \"60 s\"", "steady = \"-60 s\""),
            ("steady = \"60 s\"", "steady = \"0 s\""),
            ("steady = \"60 s\"", "steady = \"60 MiB\""),
            ("steady = \"60 s\"", "steady = \"99999 h\""),
            ("steady = \"60 s\"", "steady = nan"),
            ("steady = \"60 s\"", "steady = inf"),
            ("steady = \"60 s\"", "steady = 60.5"),
            ("error-ratio-max = 0.0", "error-ratio-max = nan"),
            ("error-ratio-max = 0.0", "error-ratio-max = -0.1"),
            ("error-ratio-max = 0.0", "error-ratio-max = \"1 %\""),
            ("in-flight-max = 0x40", "in-flight-max = 1000001"),
            ("users = \"10..30/10,50\"", "users = [10, 20]"),
            ("users = \"10..30/10,50\"", "users = \"0..30/10\""),
        ]
        .map(|(piece, replacement)| problem(piece, replacement))
        .into();
        insta::assert_snapshot!(found.join("\n"), @r#"
        line 2, `2`: `format` is not valid: expected 1, found 2
        line 3, `"My Site"`: `id` is not valid: expected a short name, found `My Site`
        line 4, `0`: `version` is not valid: expected a whole number from 1 to 4294967295, found 0
        line 4, `99999999999`: `version` is not valid: expected a whole number from 1 to 4294967295, found 99999999999
        line 4, `"3"`: `version` is not valid: expected a whole number from 1 to 4294967295, found a string
        line 5, `" "`: `title` is not valid: expected a string, found an empty one
        line 6, `"two\nlines"`: `summary` is not valid: expected one line of at most 500 bytes
        line 13, `-7`: `workload.content-seed` is not valid: expected a whole number from 0 to 9223372036854775807, found -7
        line 14, `"no"`: `workload.counts-pages` is not valid: expected `true` or `false`, found a string
        line 14, `"0 s"`: `workload.think` is not valid: expected a time above zero
        line 14, `5`: `workload.think` is not valid: expected a time with its unit, found `5` without one
        line 14, `5`: `workload.think.exponential` is not valid: expected a time with its unit, found `5` without one
        line 14, `[[workload.pages]]`: `workload.pages` is not valid: a filelist defines its own pages
        line 14, `[[workload.requests]]`: `workload.requests` is not valid: expected either `filelist` or `requests`, found both
        line 11, `workload`: `workload.filelist` is not valid: expected either `filelist` or `requests`, found neither
        line 12, `5`: `workload.requests` is not valid: expected tables, found an integer
        line 12, `[5]`: `workload.requests` is not valid: expected tables, found an integer
        line 17, `1.1`: `protocol.http` is not valid: expected a string, found a number
        line 18, `false`: `protocol.tls` is not valid: expected a string, found a boolean
        line 19, `1001`: `protocol.streams` is not valid: expected a whole number from 1 to 1000, found 1001
        line 20, `"keep-alive:0"`: `protocol.connection` is not valid: expected per-request, keep-alive, keep-alive:N or sessions, found `keep-alive:0`
        line 20, `connection`: `protocol.connection` is not valid: expected a string, found a table
        line 20, `"forever"`: `protocol.connection` is not valid: expected per-request, keep-alive, keep-alive:N or sessions, found `forever`
        line 13, `"/index.html 1 #500"`: `workload.filelist.text` is not valid: expected either `file` or `text`, found both
        line 12, `filelist`: `workload.filelist.file` is not valid: expected either `file` or `text`, found neither
        line 34, `"-60 s"`: `phases.steady` is not valid: a time cannot be negative, found `-60 s`
        line 34, `"0 s"`: `phases.steady` is not valid: expected a time above zero
        line 34, `"60 MiB"`: `phases.steady` is not valid: `MiB` is not a unit of time
        line 34, `"99999 h"`: `phases.steady` is not valid: `99999 h` is longer than 30 days
        line 34, `nan`: `phases.steady` is not valid: expected a time, found `nan`
        line 34, `inf`: `phases.steady` is not valid: expected a time, found `inf`
        line 34, `60.5`: `phases.steady` is not valid: expected a time with its unit, found `60.5` without one
        line 48, `nan`: `rules.error-ratio-max` is not valid: expected a ratio from 0 to 1, found nan
        line 48, `-0.1`: `rules.error-ratio-max` is not valid: expected a ratio from 0 to 1, found -0.1
        line 48, `"1 %"`: `rules.error-ratio-max` is not valid: expected a ratio from 0 to 1, found 1 %
        line 28, `1000001`: `open-loop.in-flight-max` is not valid: expected a whole number from 1 to 1000000, found 1000001
        line 24, `[10, 20]`: `load.users` is not valid: expected load levels in quotes, found an array
        line 24, `0`: `load.users` is not valid: expected a number of users from 1 to 1000000, found `0`
        "#);
    }

    /// Goal: a description asks for every key, in whatever case it is read. The definitions with every key are read
    /// without complaint, and unknown keys are refused everywhere.
    #[test]
    fn the_schema_names_the_keys_that_are_read_and_no_others() {
        let named = [
            "/parameters",
            "/headers",
            "/data",
            "/extract",
            "/expect",
            "/body/form",
            "/body/multipart",
            "/reply/json",
        ];
        let mut read = keys_read(&EVERY, &named);
        // The short form can change all settings, and those texts change some.
        read.insert("/quick/protocol".to_owned(), read["/protocol"].clone());
        // Of two ways to say something only one can be in a text; other tests read the others.
        for (path, others) in [
            ("/workload/filelist", &["file"][..]),
            ("/workload/requests", &["weight", "disclose-path"]),
            ("/workload/requests/headers/*", &["env", "file", "prefix", "value", "disclose"]),
            ("/workload/requests/body", &["env", "file", "prefix", "value", "disclose"]),
            ("/workload/requests/parameters/*", &["env", "file", "prefix"]),
            ("/workload/requests/reply", &["content-type"]),
            ("/load/users", &["steps", "max"]),
            ("/quick/users", &["steps", "max"]),
        ] {
            read.entry(path.to_owned()).or_default().extend(others.iter().map(ToString::to_string));
        }
        assert_eq!(read, keys_named(definition_schema()));
    }

    #[test]
    fn the_schema_refuses_what_the_program_refuses() {
        let schema = definition_schema();
        let faults = |text: &str| schema_faults(&schema, &toml::from_str::<Value>(text).unwrap());
        for text in EVERY {
            assert_eq!(faults(text), [""; 0]);
        }
        for (text, piece, replacement) in [
            (EVERY_KEY, "format = 1\n", "format = 2\n"),
            (EVERY_KEY, "[load]\n", "[load]\nrate = \"5\"\n"),
            (EVERY_KEY, "[phases]\n", "[phases]\nflavor = 1\n"),
            (EVERY_KEY, "[quick]\n", "[quick]\nflavor = 1\n"),
            (EVERY_KEY, "[rules]\n", "[rules]\nflavor = 1\n"),
            (EVERY_KEY, "[open-loop]\n", "[open-loop]\nflavor = 1\n"),
            (EVERY_KEY, "family = \"web\"", "family = \"wap\""),
            (EVERY_SHAPE_KEY, "[shape]\n", "[shape]\nflavor = 1\n"),
            (EVERY_SHAPE_KEY, "\"10s:100..0\"", "10"),
            (EVERY_REQUEST_KEY, "{ steps = 4, max = 100 }", "{ steps = 0, max = 100 }"),
            (EVERY_REQUEST_KEY, "{ steps = 4, max = 100 }", "{ steps = 4 }"),
            (EVERY_REQUEST_KEY, "from = 10, count = 3", "from = -1, count = 3"),
            (EVERY_REQUEST_KEY, "status = 201", "status = 100"),
            (EVERY_REQUEST_KEY, "{ contains = \"accepted\" }", "{ contains = \"\" }"),
            (EVERY_REQUEST_KEY, "{ letters = 1000 }", "{ bytes = 5 }"),
            (EVERY_REQUEST_KEY, "[\"image\", \"image\", \"letters\"]", "[]"),
        ] {
            assert!(text.contains(piece), "{piece}");
            let text = text.replacen(piece, replacement, 1);
            assert!(!faults(&text).is_empty(), "{replacement}");
            assert!(Definition::parse("my.toml", &text).is_err(), "{replacement}");
        }
    }

    #[test]
    fn the_published_schema_is_the_one_of_this_program() {
        is_published("benchmark.schema.json", definition_schema());
    }

    #[test]
    fn a_shape_is_in_place_of_load_points_and_phases() {
        let definition = Definition::parse("my.toml", EVERY_SHAPE_KEY).unwrap();
        let shape = definition.shape.unwrap();
        assert_eq!(shape.stages.to_string(), "30 s:0..100,120 s:100,10 s:100..0");
        assert_eq!(limits_text(&shape.until), "p99<200ms,errors<1%");
        let s = Nanos::from_secs;
        let phases =
            Phases { quiet: s(1), ramp_up: s(0), settle: s(0), steady: s(160), ramp_down: s(0), drain: s(4) };
        assert_eq!(definition.phases, phases);
        let levels = Levels::List(vec![100.0]);
        assert_eq!(definition.load, LoadDefinition { unit: LoadUnit::Users, levels });
        assert_eq!(shape.quick().stages.to_string(), "5 s:0..100,5 s:100,5 s:100..0");
    }

    #[test]
    fn wrong_shapes_have_a_position_and_an_explanation() {
        let found = [
            ("\"10s:100..0\"", "\"10s:100..O\""),
            ("\"10s:100..0\"", "\"10s\""),
            ("\"10s:100..0\"", "\"10s:0\""),
            ("\"10s:100..0\"", "\"10s:100..0/s\""),
            ("\"10s:100..0\"", "10"),
            ("[\"30s:0..100\", \"2 min: 100\", \"10s:100..0\"]", "[]"),
            ("[\"30s:0..100\", \"2 min: 100\", \"10s:100..0\"]", "\"30s:100\""),
            ("stages =", "stags ="),
            ("p99<200ms,", "p99<200,"),
            ("quiet = \"1 s\"", "settle = \"1 s\""),
            ("[shape]", "[load]\nusers = \"5\"\n[shape]"),
            ("[shape]", "[phases]\nsteady = \"5 s\"\n[shape]"),
            ("[shape]", "[quick]\nusers = \"5\"\nsteady = \"5 s\"\n[shape]"),
        ]
        .map(|(piece, replacement)| problem_of(EVERY_SHAPE_KEY, piece, replacement));
        insta::assert_snapshot!(found.join("\n"), @r#"
        line 20, `O`: `shape.stages` is not valid: expected a number of users from 0 to 1000000, found `O`
        line 20, `10s`: `shape.stages` is not valid: expected a stage, found `10s`
        line 20, `10s:0`: `shape.stages` is not valid: a stage of 10 s without any load would measure nothing
        line 20, `10s:100..0/s`: `shape.stages` is not valid: `30s:0..100` and `10s:100..0/s` differ in their unit
        line 20, `10`: `shape.stages` is not valid: expected a string, found an integer
        line 20, `[]`: `shape.stages` is not valid: 0 stages: there must be from 1 to 96
        line 20, `"30s:100"`: `shape.stages` is not valid: expected an array, found a string
        line 19, `shape`: `shape.stages` is missing: `stages` must be given here
        line 21, `200`: `shape.until` is not valid: expected a time with its unit, found `200` without one
        line 22, `settle`: unknown key `settle` in `shape`: not a key of a definition
        line 19, `[load]`: `load` is not valid: expected either `load` or `shape`, found both
        line 19, `[phases]`: `phases` is not valid: expected either `phases` or `shape`, found both
        line 19, `[quick]`: `quick` is not valid: expected either `quick` or `shape`, found both
        "#);
    }

    #[test]
    fn levels_can_be_steps_up_to_a_maximum() {
        let definition = Definition::parse("my.toml", EVERY_REQUEST_KEY).unwrap();
        let load = &definition.load;
        assert_eq!((load.unit, &load.levels), (LoadUnit::Rate, &Levels::Steps { steps: 4, max: 100.0 }));
        assert_eq!(load.levels.list(None, load.unit), [25.0, 50.0, 75.0, 100.0]);
        assert_eq!(load.levels.list(Some(10.0), load.unit), [2.5, 5.0, 7.5, 10.0]);
        assert_eq!(load.levels.list(Some(10.0), LoadUnit::Users), [3.0, 5.0, 8.0, 10.0]);
        let problem = |replacement| problem_of(EVERY_REQUEST_KEY, "{ steps = 4, max = 100 }", replacement);
        let found = [
            "{ steps = 0, max = 1 }",
            "{ steps = 4 }",
            "{ steps = 4, max = 0 }",
            "{ steps = 4, max = inf }",
            "4",
        ];
        insta::assert_snapshot!(found.map(problem).join("\n"), @r"
        line 58, `0`: `load.rate.steps` is not valid: expected a whole number from 1 to 1000, found 0
        line 58, `rate`: `load.rate.max` is missing: `max` must be given here
        line 58, `0`: `load.rate.max` is not valid: expected a number above 0 and up to 10000000, found 0
        line 58, `inf`: `load.rate.max` is not valid: expected a number above 0 and up to 10000000, found inf
        line 58, `4`: `load.rate` is not valid: expected load levels in quotes, found an integer
        ");
    }

    #[test]
    fn unknown_keys_are_found_in_every_table() {
        for head in
            ["", "[workload]", "[protocol]", "[load]", "[open-loop]", "[phases]", "[quick]", "[rules]"]
        {
            let text = EVERY_KEY.replacen(&format!("{head}\n"), &format!("{head}\nflavor = 1\n"), 1);
            let diagnostics = Definition::parse("my.toml", &text).unwrap_err();
            assert_eq!(diagnostics.problems.len(), 1, "{diagnostics}");
            assert!(diagnostics.problems[0].message.starts_with("unknown key `flavor`"), "{diagnostics}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_answered(text: String) {
            if let Err(diagnostics) = Definition::parse("any.toml", &text) {
                prop_assert!(!diagnostics.problems.is_empty());
                prop_assert!(!diagnostics.to_string().is_empty());
            }
        }

        /// Goal: the same for texts that come past the syntax. A piece of a valid one is overwritten.
        #[test]
        fn any_slip_in_a_definition_is_answered(of_requests: bool, at: u16, length in 0usize..12, slip in "\\PC{0,12}") {
            let mut text = if of_requests { EVERY_REQUEST_KEY } else { EVERY_KEY }.to_owned();
            let at = usize::from(at) % text.len();
            text.replace_range(at..(at + length).min(text.len()), &slip);
            if let Err(diagnostics) = Definition::parse("any.toml", &text) {
                prop_assert!(!diagnostics.problems.is_empty());
                prop_assert!(!diagnostics.to_string().is_empty());
            }
        }
    }
}
