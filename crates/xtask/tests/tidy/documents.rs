//! Files and names in the tables of documents and in `docs/glossary.md` exist, and so do paths below `crates/` in all
//! documents; the map is short.

use std::fs;
use std::path::PathBuf;

use super::source::{Source, item, root, sources};

/// Documents with tables of the code: a file below `crates/` in the first cell, names declared there in the second.
const TABLES_OF_CODE: [&str; 3] = ["docs/code-tour.md", "docs/design/families.md", "crates/fleet/README.md"];

/// The most bytes of `ARCHITECTURE.md`, which is a map: details belong beside the code or on a page of `docs/design`.
const MAP_BYTES_MAX: usize = 12 << 10;

/// Returns the cells of the rows of all tables in a document whose first cell is not a heading's.
fn rows(document: &str) -> Vec<Vec<&str>> {
    let rows = document.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| term |"));
    rows.map(|line| line.trim_matches('|').split('|').map(str::trim).collect()).collect()
}

/// Returns the texts between backquotes.
fn quoted_in(cell: &str) -> Vec<&str> {
    cell.split('`').skip(1).step_by(2).collect()
}

/// Returns whether a source declares a function or a type of this name.
fn declares(source: &Source, name: &str) -> bool {
    let keywords = ["fn", "struct", "enum", "trait", "type"];
    let mut declared = source.lines.iter().filter_map(|line| item(line));
    declared.any(|(_, keyword, found)| found == name && keywords.contains(&keyword))
}

/// Returns the files and names in the tables of a document that do not exist: a file in the first cell, names declared there
/// in the second. Other tables do not count.
fn lost_names(document: &str, sources: &[Source]) -> Vec<String> {
    let mut lost = Vec::new();
    for cells in rows(document) {
        let Some(file) = quoted_in(cells[0]).first().copied().filter(|file| file.ends_with(".rs")) else {
            continue;
        };
        let path = format!("crates/{file}");
        let Some(source) = sources.iter().find(|source| source.path == path) else {
            lost.push(file.to_owned());
            continue;
        };
        let missing = quoted_in(cells[1]).into_iter().filter(|name| !declares(source, name));
        lost.extend(missing.map(|name| format!("{file}: {name}")));
    }
    lost
}

/// Returns the places in the glossary's last column that do not exist: paths, and types as `crate::Type`.
fn lost_places(glossary: &str, sources: &[Source], exists: impl Fn(&str) -> bool) -> Vec<String> {
    let is_there = |place: &str| match place.split_once("::") {
        Some((library, name)) => {
            let mut of_library = sources.iter().filter(|source| source.library() == Some(library));
            of_library.any(|source| declares(source, name))
        }
        None => exists(&format!("crates/{place}")) || exists(place),
    };
    let places = rows(glossary).into_iter().filter_map(|cells| cells.last().copied()).flat_map(quoted_in);
    places.filter(|place| !is_there(place)).map(str::to_owned).collect()
}

/// Returns the paths below `crates/` in a document that do not exist; those with placeholders are left out.
fn lost_paths(document: &str, exists: impl Fn(&str) -> bool) -> Vec<&str> {
    let is_path = |text: &&str| text.starts_with("crates/") && !text.contains([' ', '*', '<', '{']);
    quoted_in(document).into_iter().filter(is_path).filter(|path| !exists(path)).collect()
}

/// Returns the documents that describe the code as it is: path and text.
fn documents() -> Vec<(PathBuf, String)> {
    let folders =
        ["", "docs", "docs/benchmarks", "docs/design", "docs/examples"].map(|folder| root().join(folder));
    let crates = fs::read_dir(root().join("crates")).unwrap().map(|entry| entry.unwrap().path());
    let folders = folders.into_iter().chain(crates);
    let files = folders.flat_map(|folder| fs::read_dir(folder).unwrap()).map(|entry| entry.unwrap().path());
    let is_current = |path: &PathBuf| {
        path.extension().is_some_and(|extension| extension == "md") && !path.ends_with("CHANGELOG.md")
    };
    files.filter(is_current).map(|path| (path.clone(), fs::read_to_string(path).unwrap())).collect()
}

#[test]
fn paths_of_sources_in_documents_exist() {
    let documents = documents();
    assert!(20 < documents.len(), "found only {} documents", documents.len());
    for (path, text) in documents {
        assert_eq!(lost_paths(&text, |path| root().join(path).exists()), [""; 0], "{}", path.display());
    }
}

/// Goal: what a user asks for reaches the load thread without detours; the walk does not grow again.
#[test]
fn a_load_override_takes_ten_stations_at_most() {
    let tour = fs::read_to_string(root().join("docs/code-tour.md")).unwrap();
    let (_, walk) = tour.split_once("## From `--load` to a load thread").unwrap();
    let (walk, _) = walk.split_once("From the load thread to a user:").unwrap();
    let stations = rows(walk).into_iter().filter(|cells| !quoted_in(cells[0]).is_empty()).count();
    assert!((5..=10).contains(&stations), "{stations} stations");
}

/// Goal: a hit is served without detours; every function of the walk is one that its reader has to open.
#[test]
fn a_hit_takes_eighteen_functions_at_most() {
    let tour = fs::read_to_string(root().join("docs/code-tour.md")).unwrap();
    let (_, walk) = tour.split_once("## From accept to hit").unwrap();
    let (walk, _) = walk.split_once("On a kept connection").unwrap();
    let stations = rows(walk).into_iter().filter(|cells| !quoted_in(cells[0]).is_empty());
    let names = stations.flat_map(|cells| quoted_in(cells[1]));
    let functions = names.filter(|name| name.starts_with(char::is_lowercase)).count();
    assert!((12..=18).contains(&functions), "{functions} functions");
}

#[test]
fn files_and_names_in_tables_of_code_exist() {
    for path in TABLES_OF_CODE {
        let document = fs::read_to_string(root().join(path)).unwrap();
        assert!(10 < rows(&document).len(), "{path} has no tables");
        assert_eq!(lost_names(&document, sources()), [""; 0], "{path}");
    }
}

#[test]
fn the_map_of_the_architecture_is_short() {
    let n_bytes = fs::read(root().join("ARCHITECTURE.md")).unwrap().len();
    assert!(
        n_bytes <= MAP_BYTES_MAX,
        "ARCHITECTURE.md has {n_bytes} bytes, at most {MAP_BYTES_MAX} are allowed"
    );
}

#[test]
fn places_in_the_glossary_exist_and_its_terms_are_sorted() {
    let glossary = fs::read_to_string(root().join("docs/glossary.md")).unwrap();
    assert!(20 < rows(&glossary).len(), "the glossary has no table");
    assert_eq!(lost_places(&glossary, sources(), |path| root().join(path).exists()), [""; 0]);
    let terms: Vec<String> = rows(&glossary).iter().map(|cells| cells[0].to_lowercase()).collect();
    assert!(terms.is_sorted(), "{terms:?}");
}

#[test]
fn files_and_names_that_do_not_exist_are_found_in_documents() {
    let sources = [Source::new(
        "crates/a/src/b.rs",
        "pub(crate) struct Own;\nimpl Own {\n    fn act(&self) {\n    }\n}\n",
    )];
    let tour = "| file | names | step |\n|---|---|---|\n| `a/src/b.rs` | `Own`, `act`, `gone` | acts |\n\
                | `a/src/c.rs` | `Own` | is gone |\n";
    let other = "| `Own::gone` | `gone` | is no table of files |\n";
    assert_eq!(lost_names(&format!("{tour}\n{other}"), &sources), ["a/src/b.rs: gone", "a/src/c.rs"]);
    let glossary = "| term | meaning | in the code |\n|---|---|---|\n| own | not `lost`. | `a::Own`, `a/src`, `docs` |\n\
                    | none | Nothing. | `a::None`, `b::Own`, `a/none` |\n";
    let exists = |path: &str| ["crates/a/src", "docs"].contains(&path);
    assert_eq!(lost_places(glossary, &sources, exists), ["a::None", "b::Own", "a/none"]);
    let text = "See `crates/a` and `crates/b`, `cargo test`, `crates/*/src`.\n```sh\nls crates/d\n```\n`crates/c/`\n";
    assert_eq!(lost_paths(text, |path| path == "crates/a"), ["crates/b", "crates/c/"]);
}
