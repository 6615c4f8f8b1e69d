//! `compare --trend`: the figures of a server over time, and where they changed.

use std::path::Path;

use analysis::compare::RunInput;
use analysis::trend::{Trend, trends};
use disclosure::{CampaignRun, TrendedRun};
use languages::foreign_text;

use super::campaign::with_subfolders;
use super::compare::{find_runs, names, read_found, refuse_copies};
use super::{print, print_json};
use crate::arguments::CompareArguments;
use crate::exit::{Exit, Failure};
use crate::files::{keep_run_file, write};
use crate::paths;
use crate::results::Results;
use crate::side_by_side::{RedactedTargets, unlabeled_names};
use crate::table::table_text;

/// Shows the trend of the runs in a directory and its subdirectories.
pub(super) fn perform(folder: &Path, arguments: &CompareArguments, as_json: bool) -> Result<Exit, Failure> {
    let (paths, read) = read_found(find_runs(&with_subfolders(folder)?)?)?;
    refuse_copies(&paths, &read)?;
    let names = names(&paths);
    // The runs of one folder that are followed are of one server.
    let servers = unlabeled_names(&read, &names, RedactedTargets::AreTheSame);
    let named = names.iter().zip(&servers).zip(&read);
    let runs: Vec<CampaignRun> = named.map(|((name, server), run)| run.campaign_run(name, server)).collect();
    let compared: Vec<RunInput> = runs.iter().map(CampaignRun::compared).collect();
    let trends = trends(&compared);
    let trended: Vec<TrendedRun> = names.iter().zip(&read).map(|(name, run)| trended(name, run)).collect();
    let document = || disclosure::trend_document(&trends, &trended, &paths::program());
    for path in arguments.html.iter().chain(&arguments.markdown) {
        paths.iter().try_for_each(|run| keep_run_file(run, path))?;
    }
    if let Some(html) = &arguments.html {
        write(html, disclosure::render::html(&document()))?;
    }
    match &arguments.markdown {
        Some(path) if path == Path::new("-") => print(&disclosure::render::markdown(&document()))?,
        Some(path) => write(path, disclosure::render::markdown(&document()))?,
        None => {}
    }
    if as_json {
        print_json(&disclosure::trend_json(&trends, &trended))?;
    } else if arguments.markdown.as_deref() == Some(Path::new("-")) {
    } else {
        trends.iter().try_for_each(|trend| print_trend(trend, &trended))?;
    }
    Ok(Exit::Valid)
}

fn trended(name: &str, run: &Results) -> TrendedRun {
    let began = run.began.iter().map(|(_, began)| *began).min();
    TrendedRun {
        name: name.to_owned(),
        label: run.plan.sut.label.as_deref().map(foreign_text),
        began: began.map_or_else(|| "never".to_owned(), paths::time_text),
    }
}

fn print_trend(trend: &Trend, runs: &[TrendedRun]) -> Result<(), Failure> {
    print(&format!("\n{}", disclosure::trend_text(trend, runs).join("\n")))?;
    if trend.runs.is_empty() {
        Ok(())
    } else {
        print(&format!("\n{}", table_text(&disclosure::trend_table(trend, runs))))
    }
}
