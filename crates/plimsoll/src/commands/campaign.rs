//! `report` of a directory or of several runs: one document for all of them.

use std::path::{Path, PathBuf};

use disclosure::{CampaignRun, PriceSheet, campaign_document, render};
use runfile::summary;
use serde_json::json;

use super::compare::{find_runs, names, read_found};
use super::report::picture_path;
use super::runs::run_files;
use super::{json_text, print, print_json};
use crate::arguments::{FormatArgument, ReportArguments};
use crate::exit::{Exit, Failure};
use crate::files::{keep_run_file, write};
use crate::results::Results;
use crate::side_by_side::{RedactedTargets, run_names, server_names};
use crate::{pdf, prices};

/// Writes the report of a campaign.
pub(super) fn perform(arguments: &ReportArguments, as_json: bool) -> Result<Exit, Failure> {
    let given = std::iter::once(&arguments.run).chain(&arguments.more);
    let given = given.map(|path| with_subfolders(path)).collect::<Result<Vec<_>, _>>()?.concat();
    let found = find_runs(&given)?;
    let price = prices::read(arguments.price.as_deref())?;
    let (paths, read) = read_found(found)?;
    let read = paths.iter().zip(read).map(|(path, run)| priced(path, run, price.as_ref()));
    let read = read.collect::<Result<Vec<_>, _>>()?;
    let names = names(&paths);
    let servers = server_names(&read, &names, RedactedTargets::MayDiffer);
    let names = run_names(&read, &servers, &names);
    let named = names.iter().zip(&servers).zip(&read);
    let runs: Vec<CampaignRun> = named.map(|((name, server), run)| run.campaign_run(name, server)).collect();
    if let Some(pdf) = &arguments.pdf {
        paths.iter().try_for_each(|run| keep_run_file(run, pdf))?;
        write(pdf, pdf::render(&campaign_document(&runs), summary(&paths[0])?.created)?)?;
        return print_path(pdf, as_json);
    }
    let format = if as_json { FormatArgument::Json } else { arguments.format };
    if format == FormatArgument::Png {
        let beside = if arguments.run.is_dir() {
            arguments.run.join("report")
        } else {
            arguments.run.with_file_name("report")
        };
        let path = picture_path(arguments, &beside)?;
        paths.iter().try_for_each(|run| keep_run_file(run, &path))?;
        write(&path, pdf::picture(&campaign_document(&runs))?)?;
        print(&path.display().to_string())?;
        return Ok(Exit::Valid);
    }
    let text = text(&runs, format)?;
    match destination(arguments, format) {
        None => print(&text)?,
        Some(path) => {
            paths.iter().try_for_each(|run| keep_run_file(run, &path))?;
            write(&path, &text)?;
            print(&path.display().to_string())?;
        }
    }
    Ok(Exit::Valid)
}

fn print_path(path: &Path, as_json: bool) -> Result<Exit, Failure> {
    if as_json {
        print_json(&json!({ "pdf": path.display().to_string() }))?;
    } else {
        print(&path.display().to_string())?;
    }
    Ok(Exit::Valid)
}

fn text(runs: &[CampaignRun], format: FormatArgument) -> Result<String, Failure> {
    match format {
        FormatArgument::Html => Ok(render::html(&campaign_document(runs))),
        FormatArgument::Markdown => Ok(render::markdown(&campaign_document(runs))),
        FormatArgument::Json => Ok(json_text(&render::campaign_json(runs))),
        FormatArgument::Summary => Ok(render::summary(&campaign_document(runs))),
        FormatArgument::Csv | FormatArgument::Text | FormatArgument::Png => Err(Failure::usage(
            "a report of several runs can be written as `html`, `markdown`, `summary`, `png` or `json`",
        )
        .hint("for one run, use `plimsoll report RUN --format csv`")),
    }
}

/// Adds the price list of a run: the given one, or else `NAME.prices.toml` next to `NAME.plim`.
fn priced(path: &Path, run: Results, price: Option<&PriceSheet>) -> Result<Results, Failure> {
    let beside = path.with_extension("prices.toml");
    let price = match price {
        Some(price) => Some(price.clone()),
        None if beside.is_file() => prices::read(Some(&beside))?,
        None => None,
    };
    Ok(run.priced(price))
}

/// Returns a directory and its subdirectories that contain runs; any other path unchanged.
pub(super) fn with_subfolders(path: &Path) -> Result<Vec<PathBuf>, Failure> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let own = run_files(path)?;
    let mut folders: Vec<PathBuf> = Vec::new();
    for entry in std::fs::read_dir(path)? {
        let inner = entry?.path();
        if inner.is_dir() && !run_files(&inner)?.is_empty() {
            folders.push(inner);
        }
    }
    folders.sort();
    if folders.is_empty() || !own.is_empty() {
        folders.insert(0, path.to_owned());
    }
    Ok(folders)
}

/// Returns the file to write to; `None` for standard output.
fn destination(arguments: &ReportArguments, format: FormatArgument) -> Option<PathBuf> {
    let first = &arguments.run;
    match arguments.out.as_deref() {
        Some(out) if out == Path::new("-") => None,
        Some(out) => Some(out.to_owned()),
        None if format != FormatArgument::Html => None,
        None if first.is_dir() => Some(first.join("report.html")),
        None => Some(first.with_file_name("report.html")),
    }
}
