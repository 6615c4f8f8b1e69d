//! `report`: writes the report of a run in the requested format.

use std::path::{Path, PathBuf};

use disclosure::PriceSheet;
use runfile::Run;
use serde_json::json;

use super::{campaign, json_text, print, print_json};
use crate::arguments::{FormatArgument, ReportArguments};
use crate::exit::{Exit, Failure};
use crate::files::{keep_run_file, write};
use crate::results::Results;
use crate::{pdf, prices};

/// Writes a report.
pub(super) fn perform(arguments: &ReportArguments, as_json: bool) -> Result<Exit, Failure> {
    if arguments.run.is_dir() || !arguments.more.is_empty() {
        return campaign::perform(arguments, as_json);
    }
    let price = prices::read(arguments.price.as_deref())?;
    if let Some(path) = &arguments.pdf {
        return write_pdf(arguments, path, price, as_json);
    }
    let results = Results::read(&arguments.run)?.priced(price);
    let format = if as_json { FormatArgument::Json } else { arguments.format };
    let document = || disclosure::outline(&results.report());
    let text = match format {
        FormatArgument::Html => results.html(),
        FormatArgument::Markdown => disclosure::render::markdown(&document()),
        FormatArgument::Csv => disclosure::render::csv(&results.report()),
        FormatArgument::Json => json_text(&results.json()),
        FormatArgument::Text => results.text(),
        FormatArgument::Summary => disclosure::render::summary(&document()),
        FormatArgument::Png => {
            let path = picture_path(arguments, &arguments.run)?;
            keep_run_file(&arguments.run, &path)?;
            write(&path, pdf::picture(&document())?)?;
            print(&path.display().to_string())?;
            return Ok(Exit::Valid);
        }
    };
    match destination(&arguments.run, arguments.out.as_deref(), format) {
        None => print(&text)?,
        Some(path) => {
            keep_run_file(&arguments.run, &path)?;
            write(&path, &text)?;
            print(&path.display().to_string())?;
        }
    }
    Ok(Exit::Valid)
}

/// Writes the report as PDF. Its creation date is that of the run, so that the file is reproducible.
fn write_pdf(
    arguments: &ReportArguments,
    path: &Path,
    price: Option<PriceSheet>,
    as_json: bool,
) -> Result<Exit, Failure> {
    keep_run_file(&arguments.run, path)?;
    let run = Run::open(&arguments.run)?;
    let results = Results::of(&run, |_| {})?.priced(price);
    let whole = disclosure::outline(&results.report());
    // Who loads a page reads two pages, or ten; the disclosure of a benchmark is whole.
    let document = match (results.plan.benchmark.is_urls(), arguments.full) {
        (false, _) => whole,
        (true, true) => whole.without_bulk(),
        (true, false) => whole.short(),
    };
    let pdf = pdf::render(&document, run.header().created)?;
    write(path, pdf)?;
    if as_json {
        print_json(&json!({ "pdf": path.display().to_string() }))?;
    } else {
        print(&path.display().to_string())?;
    }
    Ok(Exit::Valid)
}

/// Returns the file of a picture: the one that is asked for, or one beside `report`.
///
/// # Errors
/// Standard output is asked for, which is for text.
pub(super) fn picture_path(arguments: &ReportArguments, report: &Path) -> Result<PathBuf, Failure> {
    match arguments.out.as_deref() {
        Some(out) if out == Path::new("-") => {
            Err(Failure::usage("a picture is written to a file, not to standard output")
                .hint("name it: `--out FILE.png`"))
        }
        Some(out) => Ok(out.to_owned()),
        None => Ok(report.with_extension("png")),
    }
}

/// Returns the file to write to; `None` for standard output.
fn destination(run: &Path, out: Option<&Path>, format: FormatArgument) -> Option<PathBuf> {
    match out {
        Some(out) if out == Path::new("-") => None,
        Some(out) => Some(out.to_owned()),
        None if format == FormatArgument::Html => Some(run.with_extension("html")),
        None => None,
    }
}
