//! From a run file to results on the terminal.

use std::path::Path;

use analysis::attribute::sentence;
use analysis::{Analysis, Analyzer, VerdictState};
use disclosure::{PriceSheet, Provenance, Report};
use model::{Ending, Plan, Testbed};
use runfile::{ReadExtent, Record, Run, RunFileError};
use units::WallTime;

use crate::places::time_text;
use crate::prices;
use crate::shell;
use crate::table::table_text;
use crate::tell::warn;

/// A run file, read and analyzed.
pub struct Results {
    /// What was planned.
    pub plan: Plan,
    /// The machines as found.
    pub testbed: Testbed,
    /// Numbers and verdict.
    pub analysis: Analysis,
    /// Where they come from.
    pub provenance: Provenance,
    /// What was stated when the run ended: load point, name, value.
    pub stated: Vec<(u32, String, f64)>,
    /// When each load point began, by its index.
    pub began: Vec<(u32, WallTime)>,
    /// What the configuration costs, if somebody said so: with the run, or later.
    pub price: Option<PriceSheet>,
}

impl Results {
    /// Reads a run file and computes everything anew.
    pub fn read(path: &Path) -> Result<Results, RunFileError> {
        Results::of(&Run::open(path)?, |_| {})
    }

    /// Reads the file of a run that has just ended. Where the file could not take its end any more, `why` is known all
    /// the same.
    pub fn read_ended(path: &Path, why: Option<&str>) -> Result<Results, RunFileError> {
        let run = Run::open(path)?;
        let ending = match (run.ending(), why) {
            (Ending::Missing, Some(why)) => Ending::Stopped(why.to_owned()),
            (ending, _) => ending.clone(),
        };
        Results::ended(&run, ending, |_| {})
    }

    /// Adds what the configuration costs; without a list, what the run has kept stays.
    pub fn priced(self, price: Option<PriceSheet>) -> Results {
        Results { price: price.or(self.price), ..self }
    }

    /// Computes everything anew; `visit` sees all records.
    pub fn of(run: &Run, visit: impl FnMut(&Record)) -> Result<Results, RunFileError> {
        Results::ended(run, run.ending().clone(), visit)
    }

    fn ended(run: &Run, ending: Ending, mut visit: impl FnMut(&Record)) -> Result<Results, RunFileError> {
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
        Ok(Results {
            plan: run.plan().clone(),
            testbed: run.testbed().clone(),
            analysis: analyzer.finish(ending),
            provenance: provenance(run),
            stated: run.results()?,
            began: run.load_points()?,
            price: prices::kept(run.testbed()),
        })
    }

    /// Returns the report that renderers take.
    pub fn report(&self) -> Report<'_> {
        Report {
            analysis: &self.analysis,
            plan: &self.plan,
            testbed: &self.testbed,
            provenance: &self.provenance,
            price: self.price.as_ref(),
        }
    }

    /// Returns results table, verdict and headline for a terminal.
    pub fn text(&self) -> String {
        let mut text = table_text(&disclosure::results_table(&self.analysis));
        text.push_str(&format!("\n\n{}", self.verdict_text()));
        text
    }

    /// Returns the judgement with its reasons, then the headline: never one without the other.
    pub fn verdict_text(&self) -> String {
        let Analysis { verdict, modifications, .. } = &self.analysis;
        let word = match verdict.state {
            VerdictState::Valid => "VALID",
            VerdictState::Overloaded | VerdictState::Invalid => "INVALID",
            VerdictState::Incomplete => "INCOMPLETE",
        };
        let mut lines = Vec::new();
        let modified = if modifications.is_empty() { "" } else { ", modified" };
        match disclosure::headline_text(&self.analysis) {
            Some(figure) => lines.push(format!("{word}{modified}: {figure}.")),
            None => lines.push(format!("{word}{modified}: no load point is valid, so there is no headline.")),
        }
        lines.extend(disclosure::price_text(&self.report()));
        // The terminal says users throughout, whatever the benchmark calls them.
        let bound = sentence(&self.analysis.load_points, "user");
        lines.extend(bound.map(|bound| format!("Bottleneck: {bound}.")));
        lines.extend(crate::outcome::text(&self.plan, &self.analysis));
        for reason in &verdict.reasons {
            let place =
                reason.load_point.map_or(String::new(), |index| format!("load point {}: ", index + 1));
            lines.push(format!("  {place}{} (rule `{}`)", reason.text, reason.rule));
            lines.extend(reason.hint.iter().map(|hint| format!("  hint: {hint}")));
        }
        if !modifications.is_empty() {
            let list =
                modifications.iter().map(|one| format!("{} {} → {}", one.what, one.standard, one.ours));
            lines.push(format!("Modified: {}.", list.collect::<Vec<_>>().join("; ")));
        }
        lines.join("\n")
    }

    /// Returns the run as JSON.
    pub fn json(&self) -> serde_json::Value {
        disclosure::render::json(&self.report())
    }

    /// Returns the whole report as one HTML file.
    pub fn html(&self) -> String {
        disclosure::render::html(&disclosure::outline(&self.report()))
    }
}

/// Passes all records of a run, and warns if the file was cut off.
pub fn records(run: &Run, visit: impl FnMut(Record)) -> Result<(), RunFileError> {
    if let ReadExtent::Until(why) = run.records(visit)? {
        warn(format!("`{}` was cut off while it was written: {why}", run.path().display()));
    }
    Ok(())
}

/// Returns where the numbers of a run come from.
pub fn provenance(run: &Run) -> Provenance {
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
