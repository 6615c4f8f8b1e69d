//! Values in facts and sentences.

use super::ReportedValue;
use super::tables::{cells, lines};

/// Names of rates in sentences.
const RATES: [&str; 4] =
    [" connections per second", " operations per second", " requests per second", " transactions per second"];

pub(super) fn read<'a>(report: &'a str, tables: &[ReportedValue]) -> Vec<ReportedValue<'a>> {
    let mut values = Vec::new();
    let mut main: Option<&str> = None;
    let has_accelerator = lines(report).any(|(_, text)| text == "**Accelerator**");
    let mut caption = "";
    for (line, text) in lines(report) {
        if text.starts_with("**") && text.ends_with("**") {
            caption = text.trim_matches('*');
        }
        let row = cells(text);
        if !row.is_empty() {
            // Clients see the accelerator in front of a server.
            if caption == "Accelerator" || caption == "Server" && !has_accelerator {
                values.extend(of_server(&row, line));
            }
            values.extend(of_row(&row, line));
            continue;
        }
        values.extend(headline(text, &mut main, line));
        values.extend(tile(text, main, line));
        values.extend(curve(text, line));
        values.extend(plan(text, line));
        values.extend(files(text, line));
        values.extend(counts(text, line));
    }
    if let Some(n) = super::tables::n_valid(tables) {
        values.push(ReportedValue::whole("valid load points", NUMERALS.get(n).copied().unwrap_or("many"), 0));
    }
    values.retain(|one| one.text != "many");
    values
}

/// Numbers that are counted but not written out in the report.
const NUMERALS: [&str; 13] = ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12"];

/// Returns the words after a marker, up to the end of a value.
fn after<'a>(text: &'a str, marker: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(marker)?;
    let rest = rest.trim_start_matches([' ', '*', ':']);
    let end = rest.find([';', ')', '(', '—']).unwrap_or(rest.len());
    let rest = &rest[..end];
    // A comma or a full stop ends a value, except within a number.
    let end = rest.char_indices().find(|(at, c)| {
        let next = rest[at + c.len_utf8()..].chars().next();
        (*c == ',' || *c == '.') && !next.is_some_and(|next| next.is_ascii_digit())
            || *c == '*'
            || rest[*at..].starts_with(" and ")
            || rest[*at..].starts_with(" at ")
            || rest[*at..].starts_with(" with ")
    });
    let value = end.map_or(rest, |(at, _)| &rest[..at]).trim_end();
    (!value.is_empty()).then_some(value)
}

/// Parses a rate with its load, mean response time and p99.
fn headline<'a>(text: &'a str, main: &mut Option<&'a str>, line: usize) -> Vec<ReportedValue<'a>> {
    let mut values = Vec::new();
    for name in RATES {
        let Some((before, rest)) = text.split_once(name) else { continue };
        let Some((_, rate)) = before.rsplit_once("**") else { continue };
        let Some(load) = after(rest, " at **") else { continue };
        if !rate.starts_with(|c: char| c.is_ascii_digit()) {
            continue;
        }
        values.push(ReportedValue::of("rate", load, rate, line));
        main.get_or_insert(load);
        let times = [
            ("mean response time of", "mean response time"),
            (", mean response time", "mean response time"),
            (" p99 of", "p99 of the response time"),
            (", p99", "p99 of the response time"),
            ("99th percentile of", "p99 of the response time"),
        ];
        let times = times.into_iter().filter_map(|(marker, quantity)| Some((after(rest, marker)?, quantity)));
        values.extend(times.map(|(value, quantity)| ReportedValue::of(quantity, load, value, line)));
    }
    values
}

/// Parses the summary tiles.
fn tile<'a>(text: &'a str, main: Option<&'a str>, line: usize) -> Vec<ReportedValue<'a>> {
    let Some((name, rest)) = text.strip_prefix("- ").and_then(|item| item.split_once(": **")) else {
        return Vec::new();
    };
    let Some((value, note)) = rest.split_once("**") else { return Vec::new() };
    let load = note.strip_prefix(" at ").or(main).unwrap_or_default();
    let per_second = value.strip_suffix("/s").unwrap_or(value);
    match name {
        "Rate" => vec![ReportedValue::of("rate", load, per_second, line)],
        "Throughput" => {
            let value = value.strip_suffix(" Mbit/s").unwrap_or(value);
            vec![ReportedValue::of("Throughput (Mbit/s)", load, value, line)]
        }
        "Mean response time" => vec![ReportedValue::of("mean response time", load, value, line)],
        "p99 response time" => {
            vec![ReportedValue::of("p99 of the response time", main.unwrap_or_default(), value, line)]
        }
        "Errors" => vec![ReportedValue::whole("failed operations", value, line)],
        "Saturation" if value == "not reached" => {
            vec![ReportedValue::whole("saturation", "not reached", line)]
        }
        "Saturation" => vec![ReportedValue::whole("saturation", saturation_of(value), line)],
        "Knee" => vec![ReportedValue::whole("knee", load_of(value), line)],
        _ => Vec::new(),
    }
}

fn load_of(text: &str) -> &str {
    text.split([' ', '/']).next().unwrap_or(text)
}

/// Returns the load of `20 clients` and the greater one of `between 1 and 10 clients`.
fn saturation_of(text: &str) -> &str {
    let greater = text.strip_prefix("between ").and_then(|between| between.split_once(" and "));
    load_of(greater.map_or(text, |(_, greater)| greater))
}

/// Parses statements about saturation and knee.
fn curve(text: &str, line: usize) -> Vec<ReportedValue<'_>> {
    let at = ["The server saturates at", "It saturates at"].into_iter().find_map(|words| after(text, words));
    let between = text.split_once(" saturates between ").and_then(|(_, loads)| loads.split_once(" and "));
    let saturates = at.or(between.map(|(_, greater)| greater)).map(load_of);
    let not_reached = text.contains("aturation was not reached").then_some("not reached");
    let knee = after(text, "Best trade-off (knee)").map(load_of);
    let is_reached = [
        ("It saturates ", "yes"),
        ("the rate still grew up to the highest load", "no"),
        ("aturation was not reached", "no"),
        ("The server saturates ", "yes"),
        ("- Saturation: **not reached", "no"),
    ];
    let is_reached = is_reached.into_iter().filter(|(words, _)| text.contains(words));
    let named = [("saturation", saturates.or(not_reached)), ("knee", knee)];
    let named = named.into_iter().filter_map(|(quantity, value)| Some((quantity, value?)));
    let named = named.map(|(quantity, value)| ReportedValue::whole(quantity, value, line));
    named
        .chain(is_reached.map(|(_, is)| ReportedValue::whole("whether saturation was reached", is, line)))
        .collect()
}

/// Parses values that follow from the plan: protocol, limits, phases, versions.
fn plan(text: &str, line: usize) -> Vec<ReportedValue<'_>> {
    let protocol = text.strip_prefix("- Protocol: ");
    let sut = text.strip_prefix("- System under test: ");
    let of_cpus = |limit: &&str| limit.ends_with("CPUs") || limit.ends_with("CPU");
    let limit = sut.map(|sut| after(sut, "limited to").filter(of_cpus).map_or("none", number_of));
    let is_number = |value: &&str| value.starts_with(|c: char| c.is_ascii_digit());
    let values = [
        ("version of HTTP", protocol.and_then(http_version)),
        ("encrypted", protocol.map(|protocol| if protocol.contains("TLS") { "yes" } else { "no" })),
        ("time limit", protocol.and_then(|protocol| after(protocol, "time limit"))),
        (
            "time limit",
            after(text, "an operation that takes longer than").and_then(|rest| rest.split(" fails").next()),
        ),
        ("CPU quota", limit),
        ("CPU quota", after(text, "the server is limited to").map(number_of)),
        ("CPU quota", after(text, "The server was limited to the time of").map(number_of)),
        ("steady phase", text.strip_prefix("- Steady phase: ").and_then(|rest| rest.split(" per ").next())),
        ("steady phase", after(text, "Each load lasts")),
        ("steady phase", text.strip_prefix("- Measured length: ")),
        ("version of the benchmark", after(text, "benchmark version").filter(is_number)),
        // `version` occurs in other sentences as well.
        ("version of the benchmark", after(text, ", version").filter(is_number)),
        ("content seed", after(text, "follows from the content seed")),
        ("content seed", text.strip_prefix("- Content seed: ")),
    ];
    let values = values.into_iter().filter_map(|(quantity, value)| Some((quantity, value?)));
    values.map(|(quantity, value)| ReportedValue::whole(quantity, value, line)).collect()
}

fn number_of(text: &str) -> &str {
    text.split(' ').next().unwrap_or(text)
}

/// Returns the HTTP version in a text, if any.
fn http_version(text: &str) -> Option<&str> {
    let rest = &text[text.find("HTTP/")? + "HTTP/".len()..];
    let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
    let version = rest[..end].trim_end_matches('.');
    (!version.is_empty()).then_some(version)
}

/// Parses the disclosure about the server that clients talk to.
fn of_server<'a>(row: &[&'a str], line: usize) -> Vec<ReportedValue<'a>> {
    match row {
        ["transport", transport, ..] => {
            let version =
                http_version(transport).map(|version| ReportedValue::whole("version of HTTP", version, line));
            let encrypted = if transport.contains("TLS") { "yes" } else { "no" };
            let encrypted = ReportedValue::whole("encrypted", encrypted, line);
            version.into_iter().chain([encrypted]).collect()
        }
        _ => Vec::new(),
    }
}

/// Parses rows of facts and of phases.
fn of_row<'a>(row: &[&'a str], line: usize) -> Vec<ReportedValue<'a>> {
    match row {
        ["CPU quota", quota, ..] => {
            // Run files of earlier versions say "not held".
            let is_enforced = quota.starts_with(|c: char| c.is_ascii_digit())
                && !["not held", "not enforced"].iter().any(|words| quota.contains(words));
            let value = if is_enforced { number_of(quota) } else { "none" };
            vec![ReportedValue::whole("CPU quota", value, line)]
        }
        ["file set", files, ..] => file_set(files, line),
        ["steady", length, ..] => vec![ReportedValue::whole("steady phase", length, line)],
        _ => Vec::new(),
    }
}

/// Parses the number of files and their total size.
fn files(text: &str, line: usize) -> Vec<ReportedValue<'_>> {
    if let Some(rest) =
        text.strip_prefix("- Data set: ").or_else(|| text.strip_prefix("- Maximum file set: "))
    {
        return file_set(rest, line);
    }
    let size =
        after(text, "All files together (").or_else(|| after(text, "The file set has")).map(first_size);
    size.flatten().map(|size| ReportedValue::whole("size of the files", size, line)).into_iter().collect()
}

fn file_set(text: &str, line: usize) -> Vec<ReportedValue<'_>> {
    let size = first_size(text).map(|size| ReportedValue::whole("size of the files", size, line));
    let n = text.find(" file").map(|end| &text[..end]).and_then(|before| before.rsplit(' ').next());
    let n = n.map(|n| if n == "no" { "0" } else { n });
    let n = n.map(|n| ReportedValue::whole("number of files", n, line));
    size.into_iter().chain(n).collect()
}

/// Returns the first size with a unit larger than a byte.
fn first_size(text: &str) -> Option<&str> {
    let unit = ["KiB", "MiB", "GiB", "TiB", "KB", "MB", "GB"];
    let end = unit.iter().filter_map(|unit| Some(text.find(&format!(" {unit}"))? + unit.len() + 1)).min()?;
    let number = text[..end].rfind(' ')?;
    let from = text[..number].rfind([' ', '(']).map_or(0, |at| at + 1);
    Some(&text[from..end])
}

/// Parses the number of valid load points and of failed operations.
fn counts(text: &str, line: usize) -> Vec<ReportedValue<'_>> {
    let mut values = Vec::new();
    if text.starts_with("> **") {
        let valid = text.find(" load points valid").map(|at| &text[..at]);
        let valid =
            valid.and_then(|before| before.rsplit_once(" of ")).and_then(|(n, _)| n.rsplit(' ').next());
        values.extend(valid.map(|n| ReportedValue::whole("valid load points", n, line)));
    }
    if let Some(verdicts) = text.strip_prefix("- Verdicts: ") {
        values.extend(verdicts.split(' ').next().map(|n| ReportedValue::whole("valid load points", n, line)));
    }
    if text.starts_with("- The run is **") {
        let n = text.split("**: ").nth(1).and_then(|rest| rest.split(' ').next());
        values.extend(n.map(|n| ReportedValue::whole("valid load points", n, line)));
    }
    if text.contains("operations failed in steady phases") {
        let n = text.strip_prefix("- ").and_then(|rest| rest.split(' ').next());
        values.extend(n.map(|n| ReportedValue::whole("failed operations", n, line)));
    }
    values
}
