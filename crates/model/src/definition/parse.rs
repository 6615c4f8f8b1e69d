//! From the text of a definition to the definition, or to everything that is wrong with it.

use toml::de::{DeTable, DeValue};
use units::Nanos;

use super::reader::{Fault, Source, Table};
use super::values::{flag, id, line, one_of, ratio, text, time, time_above_zero, users, whole, whole_u32};
use super::{
    DEFINITION_FORMAT, Definition, Family, FilelistSource, LoadDefinition, OpenLoopDefinition,
    ProtocolDefinition, QuickDefinition, USERS_MAX, WorkloadDefinition,
};
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::{Arrivals, Connection, Headline, HttpVersion, Phases, Rules};

const FAMILIES: &[(&str, Family)] = &[("web", Family::Web)];
const HEADLINES: &[(&str, Headline)] =
    &[("connection-rate", Headline::ConnectionRate), ("operation-rate", Headline::OperationRate)];
const HTTP_VERSIONS: &[(&str, HttpVersion)] = &[("1.0", HttpVersion::Http10), ("1.1", HttpVersion::Http11)];
const ARRIVALS: &[(&str, Arrivals)] = &[("constant", Arrivals::Constant), ("poisson", Arrivals::Poisson)];
const CONNECTIONS: &[(&str, Connection)] =
    &[("per-request", Connection::PerRequest), ("keep-alive", Connection::KeepAlive { requests_max: None })];

impl Definition {
    /// Reads a definition; `file_name` is what messages call the text.
    ///
    /// # Errors
    /// Everything that is wrong, as far as it can be found at once: syntax, unknown and missing keys, wrong
    /// types and units, values out of their limits. A filelist that is named or included is not read here.
    pub fn parse(file_name: &str, text: &str) -> Result<Definition, Diagnostics> {
        let (entries, syntax) = DeTable::parse_recoverable(text);
        if !syntax.is_empty() {
            let problems = syntax.iter().map(syntax_problem).collect();
            return Err(Diagnostics::new(file_name, text, problems));
        }
        let source = Source::new(text);
        let definition = read_definition(Table::root(&source, entries.get_ref()));
        let problems = source.into_problems();
        match definition {
            Some(definition) if problems.is_empty() => Ok(definition),
            _ => Err(Diagnostics::new(file_name, text, problems)),
        }
    }
}

fn syntax_problem(error: &toml::de::Error) -> Diagnostic {
    Diagnostic {
        message: "this is not TOML".to_owned(),
        span: error.span().unwrap_or(0..0),
        label: error.message().to_owned(),
        hint: None,
    }
}

/// Every key is read before the first `?`, so that all mistakes are found; `None` means that one was reported.
fn read_definition(mut top: Table) -> Option<Definition> {
    let format = top.required("format", whole_u32(DEFINITION_FORMAT..=DEFINITION_FORMAT));
    let id = top.required("id", id);
    let version = top.required("version", whole_u32(1..=u32::MAX));
    let title = top.required("title", line);
    let summary = top.required("summary", line);
    let family = top.required("family", one_of(FAMILIES));
    let headline = top.required("headline", one_of(HEADLINES));
    let workload = top.required_table("workload").and_then(read_workload);
    let protocol = top.required_table("protocol").and_then(read_protocol);
    let load = top.required_table("load").and_then(read_load);
    let open_loop = top.optional_table("open-loop").map(read_open_loop);
    let phases = top.required_table("phases").and_then(read_phases);
    let quick = top.required_table("quick").and_then(read_quick);
    let rules = top.optional_table("rules").map(read_rules);
    top.finish();
    Some(Definition {
        format: format?,
        id: id?,
        version: version?,
        title: title?,
        summary: summary?,
        family: family?,
        headline: headline?,
        workload: workload?,
        protocol: protocol?,
        load: load?,
        open_loop: open_loop.unwrap_or_default(),
        phases: phases?,
        quick: quick?,
        rules: rules.unwrap_or_default(),
    })
}

fn read_workload(mut table: Table) -> Option<WorkloadDefinition> {
    let filelist = table.required_table("filelist").and_then(read_filelist);
    let content_seed = table.required("content-seed", whole(0..=i64::MAX as u64));
    let counts_pages = table.required("counts-pages", flag);
    table.finish();
    Some(WorkloadDefinition { filelist: filelist?, content_seed: content_seed?, counts_pages: counts_pages? })
}

fn read_filelist(mut table: Table) -> Option<FilelistSource> {
    let file = table.optional("file", line).map(FilelistSource::File);
    let inline = table.optional("text", text).map(FilelistSource::Text);
    if file.is_some() && inline.is_some() {
        table.reject("text", Fault::new("expected either `file` or `text`, found both"));
    }
    if table.is_empty() {
        table.reject("file", Fault::new("expected either `file` or `text`, found neither"));
    }
    table.finish();
    file.or(inline)
}

fn read_protocol(mut table: Table) -> Option<ProtocolDefinition> {
    let http = table.required("http", one_of(HTTP_VERSIONS));
    let connection = match table.value("connection") {
        Some(DeValue::Table(_)) => table.required_table("connection").and_then(read_connection),
        _ => table.required("connection", one_of(CONNECTIONS)),
    };
    let time_limit = table.required("time-limit", time_above_zero);
    table.finish();
    Some(ProtocolDefinition { http: http?, connection: connection?, time_limit: time_limit? })
}

/// Reads the long form, `{ keep-alive = { requests-max = 100 } }`.
fn read_connection(mut table: Table) -> Option<Connection> {
    let mut keep_alive = table.required_table("keep-alive");
    table.finish();
    let requests_max = keep_alive.as_mut()?.optional("requests-max", whole_u32(1..=u32::MAX));
    keep_alive?.finish();
    Some(Connection::KeepAlive { requests_max })
}

fn read_load(mut table: Table) -> Option<LoadDefinition> {
    let users = table.required("users", users);
    table.finish();
    Some(LoadDefinition { users: users? })
}

fn read_open_loop(mut table: Table) -> OpenLoopDefinition {
    let standard = OpenLoopDefinition::default();
    let arrivals = table.optional("arrivals", one_of(ARRIVALS)).unwrap_or(standard.arrivals);
    let in_flight_max =
        table.optional("in-flight-max", whole_u32(1..=USERS_MAX)).unwrap_or(standard.in_flight_max);
    table.finish();
    OpenLoopDefinition { arrivals, in_flight_max }
}

fn read_phases(mut table: Table) -> Option<Phases> {
    let mut part = |key| table.optional(key, time).unwrap_or(Nanos::ZERO);
    let (quiet, ramp_up, settle) = (part("quiet"), part("ramp-up"), part("settle"));
    let (ramp_down, drain) = (part("ramp-down"), part("drain"));
    let steady = table.required("steady", time_above_zero);
    table.finish();
    Some(Phases { quiet, ramp_up, settle, steady: steady?, ramp_down, drain })
}

fn read_quick(mut table: Table) -> Option<QuickDefinition> {
    let users = table.required("users", users);
    let steady = table.required("steady", time_above_zero);
    table.finish();
    Some(QuickDefinition { users: users?, steady: steady? })
}

fn read_rules(mut table: Table) -> Rules {
    let standard = Rules::default();
    let mut part = |key, standard| table.optional(key, ratio).unwrap_or(standard);
    let rules = Rules {
        error_ratio_max: part("error-ratio-max", standard.error_ratio_max),
        little_gap_max: part("little-gap-max", standard.little_gap_max),
        generator_busy_max: part("generator-busy-max", standard.generator_busy_max),
        run_queue_ratio_max: part("run-queue-ratio-max", standard.run_queue_ratio_max),
        sut_saturated_min: part("sut-saturated-min", standard.sut_saturated_min),
        delivered_ratio_min: part("delivered-ratio-min", standard.delivered_ratio_min),
        lateness_p99_max: table.optional("lateness-p99-max", time).unwrap_or(standard.lateness_p99_max),
        operations_min: table
            .optional("operations-min", whole(0..=i64::MAX as u64))
            .unwrap_or(standard.operations_min),
    };
    table.finish();
    rules
}
