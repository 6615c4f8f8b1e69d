//! Load, file set and network, as the disclosures of SPECweb96 list them.

use analysis::LoadPointResult;
use model::{ConnectionLifetime, Counter, Fact, FactSection, FactState, LOAD_MACHINE};

use crate::{Block, Report, Section, Text, numbers};

/// TIME-WAIT of RFC 1122: twice its MSL of 120 s.
const RFC_TIME_WAIT_S: u32 = 240;

/// TIME-WAIT of Linux, `TCP_TIMEWAIT_LEN`: a constant of the kernel, not a setting.
const LINUX_TIME_WAIT_S: u32 = 60;

pub(super) fn section(report: &Report) -> Option<Section> {
    let mut facts = load(report);
    facts.extend(network(report));
    let facts = facts.into_iter().map(|(name, value)| (name.to_owned(), Text::from(value))).collect();
    let title = if has_files(report) { "Load, file set and network" } else { "Load and network" };
    Some(Section { id: "network", title: title.into(), blocks: vec![Block::Facts(facts)] })
}

fn has_files(report: &Report) -> bool {
    report.web().is_some() && 0 < report.plan.workload.n_files(report.plan.level_max())
}

fn load(report: &Report) -> Vec<(&'static str, String)> {
    let plan = report.plan;
    let mut facts = Vec::new();
    // Of a search those that were run; its file set is for the greatest that it might have asked for.
    let run = plan.load_points.iter().map(|point| point.load);
    if let Some(load) = run.max_by(|one, other| one.level().total_cmp(&other.level())) {
        facts.push(("Maximum requested load", report.terms().load_text(load)));
    }
    if has_files(report) {
        let n_files = numbers::count(plan.workload.n_files(plan.level_max()));
        let bytes = numbers::bytes(report.file_set_bytes());
        facts.push(("Maximum file set", format!("{bytes}, {n_files} files")));
    }
    let addresses: Vec<String> = plan.source_addresses.iter().map(ToString::to_string).collect();
    if !addresses.is_empty() {
        facts.push(("Addresses of the load generator", addresses.join(", ")));
    }
    facts
}

/// Returns the facts about the network that the inventory has; missing ones are left out.
fn network(report: &Report) -> Vec<(&'static str, String)> {
    let facts = |title: &str| {
        let is_it = |section: &&FactSection| section.title.trim_start_matches(LOAD_MACHINE) == title;
        let facts = report.testbed.sections.iter().filter(is_it).flat_map(|section| &section.facts);
        facts.filter(|fact| fact.state != FactState::NotDisclosed).collect::<Vec<&Fact>>()
    };
    let interfaces = interfaces(&facts("Network interfaces"), &on_the_way(report));
    let mut found = Vec::new();
    if !interfaces.is_empty() {
        found.push(("Networks", interfaces));
    }
    let is_linux =
        facts("System").iter().any(|fact| fact.name == "kernel" && fact.value.starts_with("Linux"));
    if is_linux {
        // The disclosures of the original benchmarks state them.
        if report.is_imitation() {
            found.push(("MSL", format!("{} s{}", LINUX_TIME_WAIT_S / 2, non_rfc(LINUX_TIME_WAIT_S))));
            found.push(("TIME-WAIT", format!("{LINUX_TIME_WAIT_S} s{}", non_rfc(LINUX_TIME_WAIT_S))));
        }
        found.extend(
            time_wait_entries(report).map(|text| ("Connections in TIME-WAIT at the highest rate", text)),
        );
    }
    found
}

/// Returns the interfaces through which the load reached the server; empty where that is not known.
fn on_the_way<'a>(report: &Report<'a>) -> Vec<&'a str> {
    let series = report.analysis.load_points.iter().flat_map(|point| &point.resources.series);
    let routes = series.filter(|one| one.series.counter == Counter::NetRoute);
    routes.filter(|one| one.value.is_some_and(|value| 0.0 < value)).map(|one| &*one.series.instance).collect()
}

/// Describes interfaces in a line, from facts such as `eth0: MTU`; older files have one fact for each interface. If any are
/// known to be on the way of the load, the others are left out.
fn interfaces(facts: &[&Fact], on_the_way: &[&str]) -> String {
    let mut texts: Vec<(&str, Vec<String>)> = Vec::new();
    for fact in facts {
        let (interface, what) = fact.name.split_once(": ").unwrap_or((&fact.name, ""));
        if !on_the_way.is_empty() && !on_the_way.contains(&interface) {
            continue;
        }
        let text = match what {
            "" | "speed" => fact.value.clone(),
            "MTU" => format!("MTU {}", fact.value),
            _ => continue,
        };
        match texts.iter_mut().find(|(known, _)| *known == interface) {
            Some((_, texts)) => texts.push(text),
            None => texts.push((interface, vec![text])),
        }
    }
    let texts = texts.iter().map(|(interface, texts)| format!("{interface}: {}", texts.join(", ")));
    texts.collect::<Vec<_>>().join("; ")
}

fn non_rfc(time_wait_s: u32) -> &'static str {
    if time_wait_s < RFC_TIME_WAIT_S { " – Non RFC1122 (MSL 120 s, TIME-WAIT 240 s)" } else { "" }
}

/// Returns how many connections were in TIME-WAIT, as counted by the kernel. Where that was not watched, connections that end
/// stay there on the side that closes first: rate × length, but no more than there are local ports, and than the kernel
/// keeps. `None` where neither is known.
fn time_wait_entries(report: &Report) -> Option<String> {
    let peak = report.analysis.curve.peak.and_then(|peak| report.analysis.load_points.get(peak))?;
    if let Some(counted) = time_wait_counted(peak) {
        return Some(format!("{}, as counted", numbers::figure(counted)));
    }
    if report.web()?.protocol.connection != ConnectionLifetime::PerRequest {
        return None;
    }
    let entries = (peak.rate * f64::from(LINUX_TIME_WAIT_S)).round() as u64;
    let limits = [
        (local_ports(report), "as many as there are local ports"),
        (number(report, "net.ipv4.tcp_max_tw_buckets"), "as many as the kernel keeps (tcp_max_tw_buckets)"),
    ];
    let known = limits.into_iter().filter_map(|(limit, why)| Some((limit?, why)));
    let (limit, why) = known.min_by_key(|(limit, _)| *limit)?;
    Some(if entries <= limit {
        format!("{} ({}/s × {LINUX_TIME_WAIT_S} s)", numbers::count(entries), numbers::figure(peak.rate))
    } else {
        format!("{} at most, {why}", numbers::count(limit))
    })
}

/// Returns how many connections were in TIME-WAIT at a load point, on the machine that had most; `None` where nobody counted.
pub(super) fn time_wait_counted(point: &LoadPointResult) -> Option<f64> {
    let counted = point.resources.series.iter().filter(|one| one.series.counter == Counter::TcpTimeWait);
    counted.filter_map(|one| one.value).max_by(f64::total_cmp)
}

/// Returns how many ports connections can come from, on all addresses of the load generator together.
pub(super) fn local_ports(report: &Report) -> Option<u64> {
    let range = setting(report, "net.ipv4.ip_local_port_range")?;
    let mut ends = range.split_whitespace().map_while(|end| end.parse::<u64>().ok());
    let first = ends.next()?;
    let last = ends.next()?;
    let addresses = report.plan.source_addresses.len().max(1) as u64;
    last.checked_sub(first)?.checked_add(1)?.checked_mul(addresses)
}

fn number(report: &Report, name: &str) -> Option<u64> {
    // What the setting would be by itself may follow.
    setting(report, name)?.split_whitespace().next()?.parse().ok()
}

/// Returns a setting of the kernel as found.
fn setting<'a>(report: &Report<'a>, name: &str) -> Option<&'a str> {
    let facts = report.testbed.sections.iter().flat_map(|section| &section.facts);
    let mut known = facts.filter(|fact| fact.state != FactState::NotDisclosed);
    known.find(|fact| fact.name == name).map(|fact| fact.value.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interfaces_are_described_in_a_line_in_both_forms() {
        let facts = [
            ("eth0: state", "up"),
            ("eth0: speed", "10000 Mbit/s"),
            ("eth0: MTU", "1500"),
            ("lo: MTU", "65536"),
        ];
        let facts = facts.map(|(name, value)| Fact::found(name, value));
        let facts: Vec<&Fact> = facts.iter().collect();
        assert_eq!(interfaces(&facts, &[]), "eth0: 10000 Mbit/s, MTU 1500; lo: MTU 65536");
        assert_eq!(
            interfaces(&facts, &["lo"]),
            "lo: MTU 65536",
            "eth0 is of no interest to load on loopback"
        );
        let old = Fact::found("lo", "MTU 65536, unknown");
        assert_eq!(interfaces(&[&old], &[]), "lo: MTU 65536, unknown");
        assert_eq!(interfaces(&[], &[]), "");
    }
}
