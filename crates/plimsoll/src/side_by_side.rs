//! Side-by-side output of several runs, for `run` and `compare`: on the terminal, and as a document.

use std::io::stdout;

use analysis::compare::{Comparison, JudgedBound};
use disclosure::{CampaignRun, Document, Provenance, Table};
use languages::foreign_text;
use model::{Fact, FactState, Testbed};

use crate::candidate::{behind_name, server_name, with_cpus};
use crate::exit::Failure;
use crate::results::Results;
use crate::stdout::print;
use crate::table::table_text;
use crate::wrap::{terminal_width, wrapped};

/// Maximum number of configuration differences shown on a terminal.
const DIFFERENCES_MAX: usize = 12;

impl Results {
    /// Returns this run for a document of several runs; `name` is the name of the run there, `server` that of its server.
    pub(crate) fn campaign_run<'a>(&'a self, name: &'a str, server: &'a str) -> CampaignRun<'a> {
        CampaignRun { name, server, began: &self.began, report: self.report() }
    }
}

/// The assumption about targets whose addresses are redacted in the run files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RedactedTargets {
    /// They may be different servers, unless the runs are labeled.
    MayDiffer,
    /// They are one server: the user chose the baseline among its runs.
    AreTheSame,
}

/// Names the servers of runs as `run` does. `names` are the names of the runs. If a server has runs with different numbers
/// of CPUs, its name includes them. Different labels are in the names; if all runs are of one server, they are the names.
pub(crate) fn server_names(read: &[Results], names: &[String], redacted: RedactedTargets) -> Vec<String> {
    let labels: Vec<Option<&str>> = read.iter().map(|run| run.plan.sut.label.as_deref()).collect();
    with_labels(&unlabeled_names(read, names, redacted), &labels)
}

/// Names the servers of runs as [`server_names`], without labels.
pub(crate) fn unlabeled_names(read: &[Results], names: &[String], redacted: RedactedTargets) -> Vec<String> {
    let bare: Vec<String> =
        read.iter().zip(names).map(|(run, name)| bare_name(run, name, redacted)).collect();
    let n_cpus = |index: usize| read[index].plan.sut.cpus.len();
    let is_one_of_several = |index: usize| {
        (0..read.len()).any(|other| bare[other] == bare[index] && n_cpus(other) != n_cpus(index))
    };
    let name = |index: usize| match n_cpus(index) {
        // The server may use all CPUs.
        0 => bare[index].clone(),
        n if is_one_of_several(index) => with_cpus(&bare[index], n),
        _ => bare[index].clone(),
    };
    (0..read.len()).map(name).collect()
}

/// Adds the labels to the names of servers, unless all runs have the same.
fn with_labels(names: &[String], labels: &[Option<&str>]) -> Vec<String> {
    let is_one_server = names.windows(2).all(|two| two[0] == two[1]);
    let is_one_label = labels.windows(2).all(|two| two[0] == two[1]);
    let name = |(name, label): (&String, &Option<&str>)| match label.map(foreign_text) {
        Some(label) if is_one_server && !is_one_label => label,
        Some(label) if !is_one_label => format!("{name}, {label}"),
        _ => name.clone(),
    };
    names.iter().zip(labels).map(name).collect()
}

/// Returns the name of a run's server: `nginx-php-fpm-4`. A target is named by its address, or if the address is redacted
/// in the run file, by the run, because it may differ from the target of another run.
fn bare_name(run: &Results, name: &str, redacted: RedactedTargets) -> String {
    let sut = &run.plan.sut;
    if sut.name == "external" {
        let is_known = sut.label.is_some() || redacted == RedactedTargets::AreTheSame;
        return match target(&run.testbed) {
            Some(target) if target.state == FactState::Found || is_known => target.value.clone(),
            _ if is_known => "external server".to_owned(),
            _ => format!("external server of {name}"),
        };
    }
    let server = server_name(&sut.name, sut.gateway(), sut.profile.as_deref());
    match sut.accelerator() {
        Some(accelerator) => behind_name(&server, &accelerator.name),
        None => server,
    }
}

/// Names runs: by their servers; several runs of one server in one benchmark by their files (`names`), or by a number if
/// the files are named after the server too.
pub(crate) fn run_names(read: &[Results], servers: &[String], names: &[String]) -> Vec<String> {
    let key = |index: usize| {
        let benchmark = &read[index].plan.benchmark;
        (&benchmark.id, benchmark.version, &servers[index])
    };
    let name = |index: usize| {
        let of_server: Vec<usize> = (0..read.len()).filter(|other| key(*other) == key(index)).collect();
        let is_named_after_server = |name: &String| plain(name).contains(&plain(&servers[index]));
        match of_server.as_slice() {
            [_] => servers[index].clone(),
            several if several.iter().all(|other| is_named_after_server(&names[*other])) => {
                let position = several.iter().position(|other| *other == index).unwrap_or_default();
                format!("{} #{}", servers[index], position + 1)
            }
            _ => names[index].clone(),
        }
    };
    (0..read.len()).map(name).collect()
}

/// Replaces all characters but letters, digits and dots by hyphens, as in file names.
fn plain(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '.' { c } else { '-' }).collect()
}

fn target(testbed: &Testbed) -> Option<&Fact> {
    let section = testbed.sections.iter().find(|section| section.title == "System under test")?;
    section.facts.iter().find(|fact| fact.name == "target")
}

/// Prints a comparison: conclusions, metrics by load point and summary, and configuration differences.
pub(crate) fn print_comparison(comparison: &Comparison) -> Result<(), Failure> {
    for sentence in disclosure::comparison_text(comparison) {
        print(&format!("\n{}", wrapped(&sentence, terminal_width(stdout()))))?;
    }
    if comparison.sides.len() == 1 {
        let n = comparison.runs.len();
        let name = &comparison.sides[0].name;
        print(&format!("\nAll {n} runs are repetitions of {name}; there is no other server to compare."))?;
    }
    // At a single load, the highest valid load says the same again.
    let summary = (comparison.levels.len() != 1).then(|| disclosure::comparison_summary(comparison));
    let figures = [disclosure::comparison_table(comparison)].into_iter().chain(summary);
    for table in figures.filter(|table| !table.rows.is_empty()) {
        print(&format!("\n{}", table_text(&table)))?;
    }
    if let Some(table) = disclosure::comparison_overall(comparison) {
        print(&format!("\n{}:\n{}", table.caption, table_text(&table)))?;
    }
    for text in comparison.scalings.iter().filter_map(disclosure::scaling_text) {
        print(&format!("\n{text}."))?;
    }
    // Last, because it explains the metrics.
    if let Some(table) = disclosure::configuration_table(comparison) {
        print(&format!("\n{}", configuration_text(table)))?;
    }
    Ok(())
}

/// Formats the first differences of the configuration, and the number of further ones.
fn configuration_text(mut table: Table) -> String {
    let n = table.rows.len();
    table.rows.truncate(DIFFERENCES_MAX);
    let text = format!("{}:\n{}", table.caption, table_text(&table));
    match n.saturating_sub(DIFFERENCES_MAX) {
        0 => text,
        more => format!("{text}\n ({more} more in the report)"),
    }
}

/// Makes the full document of a comparison: the user's bounds, its conclusions, sections of the runs' reports, and the
/// list of runs. `runs` are those of the comparison, in the same order.
pub(crate) fn full_comparison(
    comparison: &Comparison,
    judged: &[JudgedBound],
    runs: &[CampaignRun],
) -> Document {
    let provenance: Vec<Provenance> = runs.iter().map(|run| run.report.provenance.clone()).collect();
    let mut document = disclosure::comparison_document(comparison, judged, &provenance);
    let list = document.sections.pop();
    document.sections.extend(disclosure::comparison_sections(runs, comparison));
    document.sections.extend(list);
    document
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_in_the_names_of_servers_unless_all_are_the_same() {
        let named = |servers: &[&str], labels: &[Option<&str>]| {
            let servers: Vec<String> = servers.iter().map(|name| (*name).to_owned()).collect();
            with_labels(&servers, labels)
        };
        assert_eq!(named(&["a", "a"], &[Some("before"), Some("after")]), ["before", "after"]);
        assert_eq!(named(&["a", "a"], &[None, Some("after")]), ["a", "after"]);
        assert_eq!(named(&["a", "a"], &[Some("x"), Some("x")]), ["a", "a"]);
        assert_eq!(named(&["a", "a", "b"], &[Some("x"), Some("y"), Some("x")]), ["a, x", "a, y", "b, x"]);
        // Two ports of one machine.
        assert_eq!(named(&["a:1", "a:2"], &[Some("old"), Some("new")]), ["a:1, old", "a:2, new"]);
        assert_eq!(named(&["a:1", "a:2"], &[Some("x"), Some("x")]), ["a:1", "a:2"]);
    }
}
