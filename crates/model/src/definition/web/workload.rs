//! Reading `[workload]`: a filelist, or requests and the pages that they form.

use std::collections::HashMap;

use languages::nearest;
use languages::reader::{TomlTable, ValueError};
use languages::spec::{choice, flag, line, text, whole};

use super::data::read_data;
use super::placeholders::check_session_values;
use super::request::read_request;
use super::weight::Weight;
use super::{DataDefinition, FilelistSource, WorkloadSource};
use crate::definition::think::read_think;
use crate::workload::{FileSetError, check_objects, file_path_fault};
use crate::{Cookies, Page, PlacedSecret, Request, ThinkTime};

/// The most requests, and the most pages: operation and unit kinds are numbered with 16 bits.
const KINDS_MAX: usize = u16::MAX as usize;

/// The most requests of one page.
const PAGE_MAX: usize = 1000;

/// The content seed of a definition that names none.
const CONTENT_SEED: u64 = 1;

/// The table `[workload]`.
pub(super) struct WorkloadTable {
    pub(super) source: WorkloadSource,
    pub(super) content_seed: u64,
    pub(super) counts_pages: bool,
    pub(super) think: ThinkTime,
    pub(super) cookies: Cookies,
    pub(super) data: Vec<DataDefinition>,
    pub(super) secrets: Vec<PlacedSecret>,
}

/// Reads the workload; `level_max` is the highest level of load that the definition names.
pub(super) fn read_workload(mut table: TomlTable, level_max: Option<f64>) -> Option<WorkloadTable> {
    table.describe("WebWorkload", "The workload of a web server: either `filelist` or `requests`.");
    let filelist = table.optional_table("filelist", "The files, their sizes and weights.");
    let filelist = filelist.and_then(read_filelist);
    let requests = table.optional_tables("requests", "The kinds of requests.");
    let about =
        "The pages that requests form; if absent, each request is a page of its own with its own weight.";
    let pages = table.optional_tables("pages", about);
    for key in ["requests", "pages"] {
        table.describe_rule(key, "minItems", 1);
    }
    let about = "Seed of the files' content, a constant of the benchmark's version; if absent: 1.";
    let content_seed = table.optional("content-seed", about, whole(0..=i64::MAX as u64));
    let about = "Whether the benchmark counts pages besides requests; if absent: whether there are `pages`.";
    let counts_pages = table.optional("counts-pages", about, flag());
    let think = read_think(&mut table, "The pause of users after each page; if absent: `none`.");
    let about = "The time for which users keep cookies; if absent: `none`.";
    let cookies = table.optional("cookies", about, choice()).unwrap_or_default();
    let about = "Data of users, by their names: files whose columns stand in requests as `{NAME.COLUMN}`.";
    let mut data = read_data(&mut table, about);
    let has_filelist = table.value("filelist").is_some();
    let has_requests = requests.is_some() || table.value("requests").is_some();
    if has_requests && has_filelist {
        table.reject("requests", ValueError::new("expected either `filelist` or `requests`, found both"));
    }
    if !has_requests && !has_filelist {
        let error = ValueError::new("expected either `filelist` or `requests`, found neither");
        table.reject("filelist", error.hint("write `[[workload.requests]]`"));
    }
    if has_filelist && pages.is_some() {
        table.reject("pages", ValueError::new("a filelist defines its own pages"));
    }
    if has_filelist {
        for key in ["cookies", "data"].into_iter().filter(|key| table.value(key).is_some()) {
            table.reject(key, ValueError::new(format!("`{key}` belongs to `requests`, not to a filelist")));
        }
    }
    let counts_pages = counts_pages.unwrap_or(pages.is_some());
    let requests = requests.and_then(|requests| read_requests(requests, pages, level_max, &mut data));
    for name in data.iter().filter(|data| data.columns.is_empty()).map(|data| data.name.clone()) {
        if !table.has_mistake() {
            let error = ValueError::new(format!("no request uses `{name}`"));
            table.reject_inner(
                &["data", &name],
                error.hint(format!("write `{{{name}.COLUMN}}` where a value belongs")),
            );
        }
    }
    table.finish();
    let (requests, secrets) = match requests {
        Some((requests, pages, secrets)) => (Some(WorkloadSource::Requests(requests, pages)), secrets),
        None => (None, Vec::new()),
    };
    Some(WorkloadTable {
        source: filelist.map(WorkloadSource::Filelist).or(requests)?,
        content_seed: content_seed.unwrap_or(CONTENT_SEED),
        counts_pages,
        think,
        cookies,
        data,
        secrets,
    })
}

fn read_filelist(mut table: TomlTable) -> Option<FilelistSource> {
    table.describe("Filelist", "The source of the filelist: either `file` or `text`.");
    table.describe_n_keys(1);
    let about = "A file beside the definition, by its name.";
    let file = table.optional("file", about, line()).map(FilelistSource::File);
    let about = "Here: its text, in either of the two filelist formats.";
    let inline = table.optional("text", about, text()).map(FilelistSource::Text);
    if file.is_some() && inline.is_some() {
        table.reject("text", ValueError::new("expected either `file` or `text`, found both"));
    }
    if table.is_empty() {
        table.reject("file", ValueError::new("expected either `file` or `text`, found neither"));
    }
    table.finish();
    file.or(inline)
}

/// Reads all requests and the pages that they form.
fn read_requests(
    mut tables: Vec<TomlTable>,
    pages: Option<Vec<TomlTable>>,
    level_max: Option<f64>,
    data: &mut [DataDefinition],
) -> Option<(Vec<Request>, Vec<Page>, Vec<PlacedSecret>)> {
    let mut secrets = Vec::new();
    let read: Vec<_> =
        (0..).zip(&mut tables).map(|(kind, table)| read_request(kind, table, &mut secrets)).collect();
    check_number("requests", &tables);
    check_weights(&tables, pages.is_some());
    let read: Option<Vec<(Request, Option<Weight>)>> = read.into_iter().collect();
    let checked = read.map(|read| {
        let (requests, weights): (Vec<Request>, Vec<Option<Weight>>) = read.into_iter().unzip();
        check_names(&tables, &requests);
        check_files(&tables, &requests, level_max);
        let weights: Option<Vec<Weight>> = weights.into_iter().collect();
        (requests, weights)
    });
    let known = checked.as_ref().map(|(requests, _)| requests.as_slice());
    let known = known.or_else(|| tables.first()?.described::<&[Request]>(&[]));
    let pages = match (known, pages) {
        (Some(requests), Some(pages)) => read_pages(pages, requests),
        (Some(_), None) => checked.as_ref().and_then(|(_, weights)| {
            let weights = weights.as_ref()?;
            let single = (0..weights.len() as u32).map(|request| vec![request]).collect();
            weigh(&tables, weights, single)
        }),
        (None, _) => None,
    };
    if let (Some((requests, _)), Some(pages)) = (&checked, &pages) {
        check_session_values(&tables, requests, pages, data);
    }
    tables.into_iter().for_each(TomlTable::finish);
    Some((checked?.0, pages?, secrets))
}

fn check_number(what: &str, tables: &[TomlTable]) {
    if let Some(table) = tables.get(KINDS_MAX) {
        table.reject_all(ValueError::new(format!("more than {KINDS_MAX} {what}")));
    }
}

/// Checks that the pages have the weights, or else each request has one.
fn check_weights(tables: &[TomlTable], has_pages: bool) {
    for table in tables {
        match (table.value("weight").is_some(), has_pages) {
            (true, true) => {
                table.reject("weight", ValueError::new("the weights belong to `[[workload.pages]]`"))
            }
            (false, false) => table.reject_all(
                ValueError::new("`weight` must be given here")
                    .hint("or write `[[workload.pages]]` with weights and the names of requests"),
            ),
            _ => {}
        }
    }
}

fn check_names(tables: &[TomlTable], requests: &[Request]) {
    let mut known = HashMap::new();
    for (table, request) in tables.iter().zip(requests) {
        if known.insert(request.name.as_str(), ()).is_some() {
            let error = ValueError::new(format!("another request is called `{}`", request.name));
            table.reject("name", error.hint("reports distinguish requests by their names"));
        }
    }
}

/// Checks the files at the highest load that the definition names; a run that asks for more checks again.
fn check_files(tables: &[TomlTable], requests: &[Request], level_max: Option<f64>) {
    let Err((kind, error)) = check_objects(requests, level_max.unwrap_or(1.0)) else { return };
    let hint = match &error {
        FileSetError::Path { path, .. } => file_path_fault(path).map_or("", |(_, hint)| hint),
        FileSetError::PathTwice(_) => {
            "files need paths of their own; `reply = \"seen\"` checks a file that another request brings"
        }
        FileSetError::Files(_) | FileSetError::Objects { .. } => "lower a `count`",
    };
    let error = ValueError::new(error.to_string());
    tables[kind].reject("path", if hint.is_empty() { error } else { error.hint(hint) });
}

fn read_pages(mut tables: Vec<TomlTable>, requests: &[Request]) -> Option<Vec<Page>> {
    check_number("pages", &tables);
    let mut read = Vec::new();
    for table in &mut tables {
        let about = "Requests that a user makes one after another and that count as one unit.";
        table.describe("Page", about);
        let about = "Its share of all pages is this divided by the sum of all weights.";
        let weight = table.required("weight", about, Weight::spec());
        let about = "The names of its requests, in their order.";
        let names = table.required("requests", about, text().non_empty_list().rule("maxItems", PAGE_MAX));
        let requests = names.and_then(|names| {
            let indices: Result<Vec<u32>, ValueError> =
                names.iter().map(|name| request_index(name, requests)).collect();
            indices.map_err(|error| table.reject("requests", error)).ok()
        });
        if let Some(requests) = requests.as_ref().filter(|requests| PAGE_MAX < requests.len()) {
            let error = format!("expected at most {PAGE_MAX} requests, found {}", requests.len());
            table.reject("requests", ValueError::new(error));
        }
        read.push(weight.zip(requests));
    }
    let read: Option<Vec<(Weight, Vec<u32>)>> = read.into_iter().collect();
    let pages = read.and_then(|read| {
        let (weights, requests): (Vec<Weight>, Vec<Vec<u32>>) = read.into_iter().unzip();
        weigh(&tables, &weights, requests)
    });
    tables.into_iter().for_each(TomlTable::finish);
    pages
}

/// Finds the request that a page names.
fn request_index(name: &str, requests: &[Request]) -> Result<u32, ValueError> {
    let index = requests.iter().position(|request| request.name == name);
    index.map(|index| index as u32).ok_or_else(|| {
        let error = ValueError::new(format!("no request is called `{name}`"));
        match nearest(name, requests.iter().map(|request| request.name.as_str())) {
            Some(near) => error.hint(format!("did you mean `{near}`?")),
            None => error,
        }
    })
}

/// Makes pages with whole weights. `None`, reported, if those become too large.
fn weigh(tables: &[TomlTable], weights: &[Weight], requests: Vec<Vec<u32>>) -> Option<Vec<Page>> {
    let uses = requests.iter().map(Vec::len).max().unwrap_or(1) as u64;
    let Some(weights) = Weight::whole(weights, uses) else {
        let error = ValueError::new("the sum of all weights is too large");
        tables.first()?.reject("weight", error.hint("write weights with fewer digits"));
        return None;
    };
    Some(weights.into_iter().zip(requests).map(|(weight, requests)| Page { weight, requests }).collect())
}

#[cfg(test)]
mod tests {
    use crate::Definition;
    use crate::definition::parse::EVERY_REQUEST_KEY;

    #[test]
    fn without_pages_every_request_has_a_weight() {
        let (start, rest) = EVERY_REQUEST_KEY.split_once("[[workload.pages]]").unwrap();
        let text = format!("{start}{}", &rest[rest.find("[protocol]").unwrap()..]);
        let found = Definition::parse("my.toml", &text).unwrap_err();
        assert_eq!(found.problems.len(), 4);
        let first = text.replacen("name = \"image\"", "name = \"image\"\nweight = 1", 1);
        assert_eq!(Definition::parse("my.toml", &first).unwrap_err().problems.len(), 3);
        insta::assert_snapshot!(&found.to_string()[..300], @r"
        error: `workload.requests` is not valid
          --> my.toml:15:1
           |
        15 | [[workload.requests]]
           | ^^^^^^^^^^^^^^^^^^^^^ `weight` must be given here
           |
           = hint: or write `[[workload.pages]]` with weights and the names of requests

        error: `workload.requests` is not valid
          --> my.toml:23:1
           |
        23 |
        ");
    }
}
