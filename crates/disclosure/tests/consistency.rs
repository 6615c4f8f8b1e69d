//! One quantity has one value in one document: every report of the fixtures, and mutations that have to be found.

use std::collections::BTreeMap;

use disclosure::{outline, render};
use model::{Fact, FactSection};
use testkit::consistency::{ReportedValue, contradictions, reported_values};

use crate::fixture::{self, Fixture};

fn all() -> Vec<(&'static str, Fixture)> {
    let all = [
        ("quick", fixture::quick()),
        ("valid", fixture::valid()),
        ("incomplete", fixture::incomplete()),
        ("open_loop", fixture::open_loop()),
        ("thinking", fixture::thinking()),
        ("clients", fixture::clients()),
        ("full", fixture::full()),
    ];
    all.into_iter().map(|(name, fixture)| (name, with_server(fixture))).collect()
}

/// Adds what a run discloses about a server that it has started, and what its machine allows.
fn with_server(mut fixture: Fixture) -> Fixture {
    let fact = |name: &str, value: &str| Fact::found(name, value).from("set by this run");
    let facts = vec![
        fact("transport", "TCP"),
        fact("CPU quota", "0.35 CPUs, enforced by cgroup v2"),
        fact("file set", "5 files, 5817375 bytes (5.5 MiB)"),
    ];
    fixture.testbed.sections.push(FactSection { title: "Server".into(), facts });
    let kernel = vec![fact("net.ipv4.tcp_max_tw_buckets", "131072 (default depends on the size of memory)")];
    fixture.testbed.sections.push(FactSection { title: "Kernel settings".into(), facts: kernel });
    // Their number of files is that of the fixture.
    if fixture.plan.workload.n_files(fixture.plan.level_max()) != 5 {
        fixture.testbed.sections[5].facts.pop();
    }
    fixture
}

fn markdown(fixture: &Fixture) -> String {
    render::markdown(&outline(&fixture.report()))
}

#[test]
fn no_report_contradicts_itself() {
    for (name, fixture) in all() {
        assert_eq!(contradictions(&markdown(&fixture)), [""; 0], "{name}");
    }
}

/// Goal: the check can fail. Method: whatever is said in several places is changed in each of them by one digit; every one
/// of these reports has to be found out.
#[test]
fn a_digit_that_is_changed_in_one_place_is_found() {
    for (name, fixture) in all() {
        let report = markdown(&fixture);
        let said = reported_values(&report);
        let mut places: BTreeMap<(&str, &str), Vec<&ReportedValue>> = BTreeMap::new();
        for one in &said {
            places.entry((&one.quantity, &one.of)).or_default().push(one);
        }
        let several: Vec<&&ReportedValue> = places
            .values()
            .filter(|places| 1 < places.len())
            .flatten()
            .filter(|one| is_within(&report, one.text))
            .collect();
        assert!(25 < several.len(), "{name}: only {} places", several.len());
        for one in several {
            let Some(mutated) = with_another_digit(&report, one.text) else { continue };
            assert!(!contradictions(&mutated).is_empty(), "{name}: {} {} {one}", one.quantity, one.of);
        }
    }
}

fn is_within(report: &str, text: &str) -> bool {
    report.as_bytes().as_ptr_range().contains(&text.as_ptr())
}

/// Returns the report with the first digit of a part of it changed; `None` if there is none.
fn with_another_digit(report: &str, part: &str) -> Option<String> {
    let at = part.as_ptr() as usize - report.as_ptr() as usize;
    let digit = part.find(|c: char| c.is_ascii_digit())?;
    let other = if part.as_bytes()[digit] == b'7' { "3" } else { "7" };
    let before = &report[..at + digit];
    let after = &report[at + digit + 1..];
    Some(format!("{before}{other}{after}"))
}

/// Goal: contradictions that earlier reports contained are found.
#[test]
fn contradictions_that_were_seen_are_found() {
    let report = markdown(&with_server(fixture::valid()));
    let mutations = [
        ("- Saturation: **20 clients**", "- Saturation: **not reached**"),
        (
            "The server saturates at **20 clients**",
            "Saturation was not reached: it grew up to **80 clients**",
        ),
        (
            "| CPU quota | 0.35 CPUs, enforced by cgroup v2",
            "| CPU quota | none; CPU time accounted by cgroup v2",
        ),
        ("| transport | TCP", "| transport | HTTP/1.1"),
        ("| transport | TCP", "| transport | TLS over TCP"),
        ("at the highest rate: 24\u{202f}278", "at the highest rate: 757\u{202f}860"),
        ("- Maximum file set: 5.5 MiB", "- Maximum file set: 5 MB of 2²⁰ bytes"),
        ("mean response time of **98.1 ms**", "mean response time of **0.0982 s**"),
        ("throughput counts heads and bodies", "throughput counts heads and bodies, in 2²⁰ bits"),
    ];
    assert_eq!(contradictions(&report), [""; 0]);
    for (was, is) in mutations {
        assert!(report.contains(was), "no `{was}` in\n{report}");
        assert!(!contradictions(&report.replacen(was, is, 1)).is_empty(), "{is}");
    }
}
