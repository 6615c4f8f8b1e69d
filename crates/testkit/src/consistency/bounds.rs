//! Impossible values, and units that must not be mixed.

use super::ReportedValue;
use super::tables::{cells, lines};

/// Units of powers of 1000 for quantities given in powers of 1024 everywhere else.
const UNITS: [&str; 4] = ["kB", "KB", "MB", "GB"];

pub(super) fn broken(report: &str, values: &[ReportedValue]) -> Vec<String> {
    let mut found = mixed_units(report);
    found.extend(time_wait(report, values));
    found
}

/// Finds sizes that are not in KiB, MiB or GiB. Values reported by a machine are left unchanged.
fn mixed_units(report: &str) -> Vec<String> {
    let ours = lines(report).take_while(|(_, text)| !text.starts_with("## Configuration"));
    let behind_number = |text: &str, unit: &str| {
        text.match_indices(unit).any(|(at, _)| {
            let before = text[..at].trim_end_matches([' ', '\u{a0}']);
            let after = text[at + unit.len()..].chars().next();
            before.ends_with(|c: char| c.is_ascii_digit()) && !after.is_some_and(char::is_alphanumeric)
        })
    };
    let of_line = |(line, text): (usize, &str)| {
        let unit = UNITS.into_iter().find(|unit| behind_number(text, unit))?;
        Some(format!("line {line} counts in {unit}, others in KiB, MiB and GiB: {text}"))
    };
    let bits = lines(report).find(|(_, text)| text.contains("in 2²⁰ bits"));
    let bits = bits.map(|(line, _)| format!("line {line} counts in 2²⁰ bits what is called Mbit/s"));
    ours.filter_map(of_line).chain(bits).collect()
}

/// Compares connections in TIME-WAIT with the measured ones, and with the limits of ports and kernel.
fn time_wait(report: &str, values: &[ReportedValue]) -> Vec<String> {
    let Some((line, told)) = lines(report).find_map(|(line, text)| {
        let (_, value) = text
            .split_once("TIME-WAIT at the highest rate: ")
            .or_else(|| text.split_once("TIME-WAIT entries at the highest rate: "))?;
        Some((line, number(value)?))
    }) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    let counted: Vec<u64> = values
        .iter()
        .filter(|one| one.quantity == "connections in TIME-WAIT")
        .filter_map(|one| number(one.text))
        .collect();
    if !counted.is_empty() && !counted.contains(&told) {
        found.push(format!("line {line}: {told} connections in TIME-WAIT, but counted were {counted:?}"));
    }
    let most = [buckets(report), if counted.is_empty() { ports(report) } else { None }];
    let most = most.into_iter().flatten().min();
    if let Some(most) = most.filter(|most| *most < told) {
        found.push(format!("line {line}: {told} connections in TIME-WAIT, of {most} at most"));
    }
    found
}

fn setting<'a>(report: &'a str, name: &str) -> Option<&'a str> {
    let escaped = name.replace('_', "\\_");
    let of_line = |text: &'a str| {
        let row = cells(text);
        let of_row = (row.len() > 1 && (row[0] == escaped || row[0] == name)).then(|| row[1]);
        let fact = || text.strip_prefix("- ")?.strip_prefix(&*escaped)?.strip_prefix(": ");
        of_row.or_else(fact)
    };
    lines(report).find_map(|(_, text)| of_line(text))
}

fn buckets(report: &str) -> Option<u64> {
    number(setting(report, "net.ipv4.tcp_max_tw_buckets")?)
}

fn ports(report: &str) -> Option<u64> {
    let mut ends = setting(report, "net.ipv4.ip_local_port_range")?.split_whitespace().filter_map(number);
    let first = ends.next()?;
    let last = ends.next()?;
    Some((last + 1).saturating_sub(first))
}

/// Returns the integer at the start of a text.
fn number(text: &str) -> Option<u64> {
    let text = text.trim_start_matches('*');
    let digits = text.chars().take_while(|c| c.is_ascii_digit() || *c == '\u{202f}');
    digits.filter(char::is_ascii_digit).collect::<String>().parse().ok()
}
