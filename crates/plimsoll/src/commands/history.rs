//! `history`: published results, and a run compared with them.

use std::io::stdout;
use std::path::Path;

use comfy_table::{CellAlignment, Table, presets};
use published::{PublishedResult, published_results};
use serde_json::{Value, json};

use super::{print, print_json};
use crate::arguments::HistoryArguments;
use crate::exit::{Exit, Failure};
use crate::results::Results;
use crate::wrap::terminal_width;

/// The caveat of every comparison with published results.
const CAVEAT: &str = "These results were published by others, with the load generators, networks and file sets of their \
time. Comparing a run with them shows how far servers have come; it does not compare like with like.";

/// Lists published results, or compares a run with them.
pub(super) fn perform(arguments: &HistoryArguments, as_json: bool) -> Result<Exit, Failure> {
    let all: Vec<PublishedResult> =
        published::published_reports().iter().flat_map(published_results).collect();
    match &arguments.beside {
        Some(run) => beside(run, &all, as_json),
        None => list(arguments.benchmark.as_deref(), &all, as_json),
    }
}

fn list(benchmark: Option<&str>, all: &[PublishedResult], as_json: bool) -> Result<Exit, Failure> {
    let is_wanted = |one: &&PublishedResult| benchmark.is_none_or(|name| one.benchmark == name);
    let results: Vec<&PublishedResult> = all.iter().filter(is_wanted).collect();
    if results.is_empty() {
        return Err(no_results(benchmark.unwrap_or_default(), all));
    }
    if as_json {
        print_json(
            &json!({ "format": 1, "results": results.iter().map(|one| value(one)).collect::<Vec<_>>() }),
        )?;
        return Ok(Exit::Valid);
    }
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_header([
        "benchmark",
        "system",
        "",
        "rate",
        "load",
        "response",
        "published",
    ]);
    for one in results {
        let class = one.class.as_deref().unwrap_or_default();
        let load = shown(&one.load_text);
        let response = shown(&one.response_text);
        table.add_row([&one.benchmark, &one.subject, class, &one.rate_text, load, response, &one.source]);
    }
    align(&mut table, &[3, 4, 5]);
    print(&table.trim_fmt())?;
    Ok(Exit::Valid)
}

fn beside(path: &Path, all: &[PublishedResult], as_json: bool) -> Result<Exit, Failure> {
    let results = Results::read(path)?;
    let id = &results.plan.benchmark.id;
    let title = &results.plan.benchmark.title;
    let alike: Vec<&PublishedResult> = all.iter().filter(|one| one.benchmark == *id).collect();
    if alike.is_empty() {
        return Err(no_results(id, all));
    }
    if results.plan.shape.is_some() {
        let message =
            format!("the load of `{}` changes over time, so it has no headline to compare", path.display());
        return Err(
            Failure::usage(message).hint("measure a load that stays the same, with `--load` or `--rate`")
        );
    }
    let Some(headline) = &results.analysis.headline else {
        return Err(Failure::usage(format!("`{}` has no valid result to compare", path.display()))
            .hint("`plimsoll report RUN` shows the reasons"));
    };
    if as_json {
        let equivalents = alike.iter().map(|one| {
            let mut value = value(one);
            value["equivalents"] = json!(one.equivalents(headline.value));
            value
        });
        print_json(&json!({
            "format": 1,
            "benchmark": id,
            "rate": headline.value,
            "verdict": results.verdict_text(None),
            "published": equivalents.collect::<Vec<_>>(),
            "caveat": CAVEAT,
        }))?;
        return Ok(Exit::Valid);
    }
    print(&results.verdict_text(terminal_width(stdout())))?;
    print(&format!("\n{:.1} {} in {title} equals", headline.value, headline.name))?;
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    for one in alike {
        let many = format!("{:.1}", one.equivalents(headline.value));
        table.add_row([
            &many,
            &format!("× {}", one.subject),
            &one.rate_text,
            shown(&one.load_text),
            &one.source,
        ]);
    }
    align(&mut table, &[0, 2, 3]);
    print(&format!("{}\n\n{CAVEAT}", table.trim_fmt()))?;
    Ok(Exit::Valid)
}

fn no_results(benchmark: &str, all: &[PublishedResult]) -> Failure {
    let mut names: Vec<&str> = all.iter().map(|one| one.benchmark.as_str()).collect();
    names.dedup();
    Failure::usage(format!("there are no published results of `{benchmark}`"))
        .hint(format!("there are results of {}", names.join(", ")))
}

fn align(table: &mut Table, numbers: &[usize]) {
    for index in numbers {
        if let Some(column) = table.column_mut(*index) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
}

fn shown(text: &Option<String>) -> &str {
    text.as_deref().unwrap_or("–")
}

fn value(one: &PublishedResult) -> Value {
    json!({
        "benchmark": one.benchmark,
        "subject": one.subject,
        "class": one.class,
        "rate_per_s": one.rate,
        "rate": one.rate_text,
        "load": one.load_text,
        "response": one.response_text,
        "source": one.source,
    })
}
