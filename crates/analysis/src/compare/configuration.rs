//! Differences in the configuration of servers and machines, from the facts that runs recorded.

use std::collections::BTreeSet;

use model::{Fact, FactSection, FactState, Testbed};

use super::RunInput;
use super::run_values::RunValues;

/// Facts that vary from run to run by themselves, and are not part of a configuration.
pub const READINGS: [&str; 9] = [
    "address",
    "frequency now",
    "load average",
    "memory available",
    "memory errors since start",
    "processes and threads",
    "run file",
    "stolen CPU time",
    "uptime",
];

/// Sections that identify a server, besides those about configuration.
const SERVER: [&str; 6] =
    ["Server", "Accelerator", "Gateway", "System under test", "Kernel settings", "Processor vulnerabilities"];

/// Facts about the machine that identify a server.
const MACHINE: [(&str, &str); 9] = [
    ("Machine", "model"),
    ("Processor", "model"),
    ("Processor", "logical processors"),
    ("Processor", "multithreading"),
    ("Memory", "memory"),
    ("System", "memory"),
    ("System", "operating system"),
    ("System", "kernel"),
    ("System", "kernel command line"),
];

/// Facts of the parts of a machine that vary from run to run by themselves: section and the end of the fact's name. The
/// memory of a node is what a hypervisor lets it have at the time.
const READINGS_OF_PARTS: [(&str, &str); 1] = [("NUMA", ": memory")];

/// The most lines of a file that are listed.
const N_LINES_MAX: usize = 40;

/// A fact that differs between sides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigurationDifference {
    /// The section that it is in: `Server`.
    pub section: String,
    /// The name of the fact: `version`.
    pub name: String,
    /// The values in the order of the sides; `None` where nothing is known. Of a file the lines that not all sides
    /// have.
    pub values: Vec<Option<String>>,
}

/// Returns whether a fact identifies the server, so that runs with different values are not repetitions.
pub(super) fn identifies(section: &FactSection, fact: &Fact) -> bool {
    let title = section.title.as_str();
    let name = fact.name.as_str();
    let is_servers = SERVER.contains(&title) || title.ends_with("configuration");
    let is_known = fact.state != FactState::NotDisclosed && !READINGS.contains(&name);
    is_known && (is_servers || MACHINE.contains(&(title, name)))
}

/// Returns a fact's value without the values chosen for its run alone: ports and folders.
pub fn plain_value(testbed: &Testbed, section: &FactSection, fact: &Fact) -> String {
    let value = fact.value.trim_end();
    match section.title.as_str() {
        // An external server is identified by its address.
        "System under test" => value.to_owned(),
        _ => RunValues::of(testbed).masked(value, &fact.name),
    }
}

/// Lists the facts that differ between sides, section by section, in the order in which runs have them.
pub(super) fn differences(runs: &[RunInput], groups: &[Vec<usize>]) -> Vec<ConfigurationDifference> {
    let mut seen = BTreeSet::new();
    let mut found: Vec<ConfigurationDifference> = Vec::new();
    for run in groups.iter().map(|group| &runs[group[0]]) {
        for section in &run.testbed.sections {
            for fact in section.facts.iter().filter(|fact| is_configuration(run.testbed, section, fact)) {
                if seen.insert((section.title.as_str(), fact.name.as_str())) {
                    found.extend(difference(runs, groups, &section.title, &fact.name));
                }
            }
        }
    }
    let sections: Vec<String> = found.iter().map(|one| one.section.clone()).collect();
    found.sort_by_key(|one| sections.iter().position(|section| *section == one.section));
    found
}

/// Returns whether a fact is part of the configuration of a run: no reading, and of no interface that the run did not use.
fn is_configuration(testbed: &Testbed, section: &FactSection, fact: &Fact) -> bool {
    let is_in = |title: &str| section.title.ends_with(title);
    let is_reading = READINGS.contains(&fact.name.as_str())
        || READINGS_OF_PARTS.iter().any(|(title, name)| is_in(title) && fact.name.ends_with(name));
    let is_foreign = is_in("Network interfaces")
        && fact
            .name
            .split_once(": ")
            .zip(interface_used(testbed))
            .is_some_and(|((one, _), used)| one != used);
    !is_reading && !is_foreign
}

/// Returns the interface on the path to the server; `None` if it is not known.
fn interface_used(testbed: &Testbed) -> Option<&str> {
    let network = testbed.sections.iter().filter(|section| section.title.ends_with("Network"));
    let mut paths =
        network.flat_map(|section| &section.facts).filter(|fact| fact.name == "path to the server");
    paths.find_map(|fact| match fact.value.strip_prefix("through ") {
        Some(rest) => rest.split([',', ' ']).next(),
        None => fact.value.starts_with("loopback").then_some("lo"),
    })
}

/// Returns the difference of a fact; `None` if there is none.
fn difference(
    runs: &[RunInput],
    groups: &[Vec<usize>],
    section: &str,
    name: &str,
) -> Option<ConfigurationDifference> {
    let of_side = |group: &Vec<usize>| {
        let mut values: Vec<String> = Vec::new();
        for value in group.iter().filter_map(|run| value(&runs[*run], section, name)) {
            if !values.contains(&value) {
                values.push(value);
            }
        }
        (!values.is_empty()).then(|| values.join(" · "))
    };
    let values: Vec<Option<String>> = groups.iter().map(of_side).collect();
    let differ = values.windows(2).any(|pair| pair[0] != pair[1]);
    differ.then(|| ConfigurationDifference {
        section: section.to_owned(),
        name: name.to_owned(),
        values: only_differing_lines(values),
    })
}

fn value(run: &RunInput, section: &str, name: &str) -> Option<String> {
    let mut facts = run
        .testbed
        .sections
        .iter()
        .filter(|one| one.title == section)
        .flat_map(|section| section.facts.iter().map(move |fact| (section, fact)));
    let (section, fact) =
        facts.find(|(_, fact)| fact.name == name && fact.state != FactState::NotDisclosed)?;
    Some(plain_value(run.testbed, section, fact))
}

/// Reduces texts of several lines to the lines that not all have; a text that only one has, to its length.
fn only_differing_lines(values: Vec<Option<String>>) -> Vec<Option<String>> {
    if !values.iter().flatten().any(|value| value.contains('\n')) {
        return values;
    }
    let known: Vec<&String> = values.iter().flatten().collect();
    let is_common =
        |line: &str| known.iter().all(|text| text.lines().any(|other| other.trim() == line.trim()));
    let differing = |text: &String| {
        let lines: Vec<&str> = text.lines().filter(|line| !is_common(line)).collect();
        match (known.len(), lines.len()) {
            (1, _) => format!("{} lines", text.lines().count()),
            (_, 0) => "the same lines in another order or number".to_owned(),
            (_, n) if N_LINES_MAX < n => format!("{n} differing lines"),
            _ => lines.iter().map(|line| line.trim()).collect::<Vec<_>>().join("\n"),
        }
    };
    values.iter().map(|value| value.as_ref().map(differing)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Over loopback other interfaces play no part; without a known path all might.
    #[test]
    fn readings_and_interfaces_of_others_are_no_configuration() {
        let counted = |path: &str, title: &str, name: &str| {
            let sections = vec![FactSection::new("Network", [("path to the server", path.to_owned())])];
            let section = FactSection { title: title.to_owned(), facts: vec![Fact::found(name, "1")] };
            is_configuration(&Testbed { sections }, &section, &section.facts[0])
        };
        let loopback = "loopback: server and load are on the same machine";
        let interface = |path, name| counted(path, "Network interfaces", name);
        assert!(interface(loopback, "lo: MTU") && !interface(loopback, "eth0: offloads on"));
        assert!(interface("through eth0, no router between", "eth0: MTU"));
        assert!(!interface("through eth0 and a router", "docker0: MTU"));
        assert!(interface("", "eth0: MTU"));
        assert!(!counted(loopback, "NUMA", "node0: memory") && counted(loopback, "NUMA", "node0: CPUs"));
        assert!(!counted(loopback, "System", "uptime") && counted(loopback, "Memory", "memory"));
    }

    #[test]
    fn of_files_the_lines_are_shown_that_differ() {
        let texts =
            |texts: &[Option<&str>]| texts.iter().map(|one| one.map(str::to_owned)).collect::<Vec<_>>();
        let found = only_differing_lines(texts(&[Some("a;\n b 1;\nc;"), Some("a;\n b 2;\nc;\nd;")]));
        assert_eq!(found, texts(&[Some("b 1;"), Some("b 2;\nd;")]));
        assert_eq!(only_differing_lines(texts(&[Some("a\nb"), None])), texts(&[Some("2 lines"), None]));
        assert_eq!(only_differing_lines(texts(&[Some("1"), Some("2")])), texts(&[Some("1"), Some("2")]));
    }
}
