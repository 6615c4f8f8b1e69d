//! `report`: the report of a run, in the form that is wanted.

use std::path::{Path, PathBuf};

use super::print;
use crate::arguments::{FormatArgument, ReportArguments};
use crate::exit::{Exit, Failure};
use crate::results::Results;

/// Writes a report.
pub fn perform(arguments: &ReportArguments, as_json: bool) -> Result<Exit, Failure> {
    let results = Results::read(&arguments.run)?;
    let format = if as_json { FormatArgument::Json } else { arguments.format };
    let text = match format {
        FormatArgument::Html => results.html(),
        FormatArgument::Markdown => disclosure::render::markdown(&disclosure::outline(&results.report())),
        FormatArgument::Csv => disclosure::render::csv(&results.report()),
        FormatArgument::Json => results.json(),
        FormatArgument::Text => results.text(),
    };
    match destination(&arguments.run, arguments.out.as_deref(), format) {
        None => print(&text)?,
        Some(path) => {
            write(&path, &text)?;
            print(&path.display().to_string())?;
        }
    }
    Ok(Exit::Valid)
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

/// Writes a file.
pub fn write(path: &Path, text: &str) -> Result<(), Failure> {
    std::fs::write(path, text)
        .map_err(|error| Failure::usage(format!("cannot write `{}`: {error}", path.display())))
}
