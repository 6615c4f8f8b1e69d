//! The results of a run: read from its file, analyzed, and printed on the terminal.

use std::io::stdout;
use std::path::Path;

use analysis::{Analysis, Analyzer, Finding, Reason, VerdictState};
use disclosure::{PriceSheet, Provenance, Report};
use model::{Load, Plan, RunEnding, Testbed};
use runfile::{ReadExtent, Record, Run, RunFileError};
use units::WallTime;

use crate::paths::time_text;
use crate::prices;
use crate::reasons::reason_lines;
use crate::shell;
use crate::stderr::warn;
use crate::table::table_text;
use crate::wrap::{terminal_width, wrapped};

/// A run file that has been read and analyzed.
pub(crate) struct Results {
    /// The plan.
    pub plan: Plan,
    /// The inventory of the machines.
    pub testbed: Testbed,
    /// Metrics and verdict.
    pub analysis: Analysis,
    /// Origin of the numbers.
    pub provenance: Provenance,
    /// Results that were stored when the run ended: load point, name, value.
    pub stated: Vec<(u32, String, f64)>,
    /// Start time of each load point, with its index.
    pub began: Vec<(u32, WallTime)>,
    /// The price list, if one was given, with the run or later.
    pub price: Option<PriceSheet>,
}

impl Results {
    /// Reads a run file and recomputes all results.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub(crate) fn read(path: &Path) -> Result<Results, RunFileError> {
        Results::of(&Run::open(path)?, |_| {})
    }

    /// Reads the file of a run that has just ended. If the ending could not be written to the file, `why` replaces it.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub(crate) fn read_ended(path: &Path, why: Option<&str>) -> Result<Results, RunFileError> {
        let run = Run::open(path)?;
        let ending = match (run.ending(), why) {
            (RunEnding::Missing, Some(why)) => RunEnding::Stopped(why.to_owned()),
            (ending, _) => ending.clone(),
        };
        Results::ended(&run, ending, |_| {})
    }

    /// Replaces the price list; `None` keeps the one stored in the run file.
    pub(crate) fn priced(self, price: Option<PriceSheet>) -> Results {
        Results { price: price.or(self.price), ..self }
    }

    /// Recomputes all results; `visit` is called with every record.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub(crate) fn of(run: &Run, visit: impl FnMut(&Record)) -> Result<Results, RunFileError> {
        Results::ended(run, run.ending().clone(), visit)
    }

    fn ended(run: &Run, ending: RunEnding, mut visit: impl FnMut(&Record)) -> Result<Results, RunFileError> {
        let mut analyzer = Analyzer::new(run.plan());
        run.machines()?.into_iter().for_each(|machine| analyzer.machine(machine));
        run.series()?.into_iter().for_each(|series| analyzer.series(series));
        records(run, |record| {
            visit(&record);
            match record {
                Record::Interval(interval) => analyzer.interval(&interval),
                Record::Detail(detail) => analyzer.detail(&detail),
                Record::Resource(resource) => analyzer.resource(&resource),
            }
        })?;
        for example in run.examples()? {
            analyzer.example(example);
        }
        run.checks()?.into_iter().for_each(|check| analyzer.check(check));
        run.counts()?.into_iter().for_each(|count| analyzer.count(count));
        Ok(Results {
            plan: run.plan().clone(),
            testbed: run.testbed().clone(),
            analysis: analyzer.finish(ending),
            provenance: provenance(run),
            stated: run.results()?,
            began: run.load_points()?,
            price: prices::stored_in(run.testbed()),
        })
    }

    /// Returns the input of the renderers.
    pub(crate) fn report(&self) -> Report<'_> {
        Report {
            analysis: &self.analysis,
            plan: &self.plan,
            testbed: &self.testbed,
            provenance: &self.provenance,
            price: self.price.as_ref(),
        }
    }

    /// Returns the remarks without which the rate cannot be read, those of the last load point that has each.
    fn notes(&self) -> Vec<String> {
        let remarks = self.analysis.verdict.remarks.iter().rev();
        let mut notes: Vec<&Reason> = Vec::new();
        for reason in remarks {
            let is_note = matches!(
                reason.finding,
                Finding::ConnectionsLost { .. }
                    | Finding::RepliesChanged { .. }
                    | Finding::OtherClients { .. }
                    | Finding::OperationsStarted { .. }
            );
            if is_note && notes.iter().all(|note| note.rule() != reason.rule()) {
                notes.push(reason);
            }
        }
        let note = |reason: &&Reason| {
            let hint = disclosure::reason_hint(&self.analysis, reason);
            let text =
                format!("Note: {} (rule `{}`).", disclosure::finding_text(&reason.finding), reason.rule());
            [Some(text), hint.map(|hint| format!("hint: {hint}"))]
        };
        notes.iter().flat_map(note).flatten().collect()
    }

    /// Returns how to find the load at which a running server saturates, where the loads leave a gap.
    fn gap_hint(&self) -> Option<String> {
        let is_meant = self.plan.sut.name == "external" && self.plan.search.is_none();
        let loads = self.report().loads_in_gap().filter(|_| is_meant)?;
        let from = loads.split(',').next()?;
        let to = loads.rsplit(',').next()?;
        let option = if self.plan.loads().all(Load::is_closed) { "--load" } else { "--rate" };
        Some(format!("hint: the server saturates between {from} and {to}; `{option} {loads}` shows where"))
    }

    /// Returns results table, headline and verdict as text for standard output.
    pub(crate) fn text(&self) -> String {
        let width = terminal_width(stdout());
        let mut text = table_text(&disclosure::results_table(&self.analysis));
        for note in disclosure::table_notes(&self.report()) {
            text.push_str(&format!("\n {}", wrapped(&note, width)));
        }
        text.push_str(&format!("\n\n{}", self.verdict_text(width)));
        text
    }

    /// Returns the headline with the verdict and its reasons: never one without the other. Lines are broken at a width.
    pub(crate) fn verdict_text(&self, width: Option<usize>) -> String {
        let Analysis { verdict, modifications, .. } = &self.analysis;
        let word = match verdict.state {
            VerdictState::Valid => "VALID",
            VerdictState::Overloaded | VerdictState::Invalid => "INVALID",
            VerdictState::Incomplete => "INCOMPLETE",
        };
        let mut lines = Vec::new();
        let shape = disclosure::stages_text(&self.report()).map(|text| text.trim_end_matches('.').to_owned());
        let modified = if modifications.is_empty() { "" } else { ", modified" };
        match disclosure::headline_text(&self.analysis).or(shape) {
            Some(figure) => lines.push(format!("{word}{modified}: {figure}.")),
            None => lines.push(format!("{word}{modified}: no load point is valid, so there is no headline.")),
        }
        lines.extend(disclosure::price_text(&self.report()));
        // The terminal always says users, whatever the benchmark calls them.
        let bound = disclosure::bottleneck_text(&self.analysis.load_points, &self.analysis.words.user);
        lines.extend(bound.map(|bound| format!("Bottleneck: {bound}.")));
        lines.extend(crate::outcome::text(&self.plan, &self.analysis));
        lines.extend(self.gap_hint());
        lines.extend(reason_lines(&verdict.reasons, width, |reason| {
            disclosure::reason_hint(&self.analysis, reason)
        }));
        lines.extend(self.notes());
        if !modifications.is_empty() {
            let list =
                modifications.iter().map(|one| format!("{} {} → {}", one.what, one.standard, one.ours));
            lines.push(format!("Modified: {}.", list.collect::<Vec<_>>().join("; ")));
        }
        wrapped(&lines.join("\n"), width)
    }

    /// Returns the run as JSON.
    pub(crate) fn json(&self) -> serde_json::Value {
        disclosure::render::json(&self.report())
    }

    /// Returns the report as a self-contained HTML file.
    pub(crate) fn html(&self) -> String {
        disclosure::render::html(&disclosure::outline(&self.report()))
    }
}

/// Passes all records of a run to `visit`, and warns if the file is truncated.
///
/// # Errors
/// If the file cannot be read.
pub(crate) fn records(run: &Run, visit: impl FnMut(Record)) -> Result<(), RunFileError> {
    if let ReadExtent::Until(why) = run.records(visit)? {
        warn(format!("`{}` is truncated: {why}", run.path().display()));
    }
    Ok(())
}

/// Returns the origin of a run's numbers: program, command, file and times.
pub(crate) fn provenance(run: &Run) -> Provenance {
    let header = run.header();
    Provenance {
        program: header.program.clone(),
        command: shell::split(&header.command_line),
        run_file: run.path().file_name().map(|name| name.to_string_lossy().into_owned()),
        chain_hash: None,
        started: Some(time_text(header.created)),
        ended: run.ended().map(time_text),
    }
}
