//! Circles between the rooms of a crate, which are the folders and the files directly below its `src`: two rooms that import
//! from each other are one, in two places. Its root (`lib.rs`, `main.rs`) is no room but the door to all of them: a name
//! that it re-exports belongs to the room that defines it.
//!
//! In most folders below, the files are one room. In those of [`FOLDERS`] they are rooms, too.

use std::collections::{BTreeMap, BTreeSet};

use super::modules::{Import, Modules};
use super::source::{Source, sources};

/// Folders whose files and folders are rooms, as those of `src` are. The list only grows.
const FOLDERS: &[&str] = &["accelerator/exchange", "drivers/web"];

/// Imports that are let through although they are part of a circle, from one room to another, with the reason. The list
/// only shrinks: an entry whose import is part of no circle fails the test.
const EXCEPTIONS: &[(&str, &str, &str)] = &[
    // The result of a load point has its attribution, which is computed from the rest of it.
    ("analysis", "result", "attribute"),
    // The state of a load thread holds that of its HTTP/2 connections and of its sessions, and they are given all of it.
    ("drivers/web", "context", "http2"),
    ("drivers/web", "context", "session"),
];

/// An import of one room by another.
type Edge<'a> = (&'a str, &'a str);

/// The imports between the rooms of a folder, each with a file that has it.
type Imports<'a> = BTreeMap<Edge<'a>, &'a str>;

/// Returns the imports between rooms by folder: `drivers`, `drivers/web`.
fn imports<'a>(sources: &'a [Source], folders: &[&str]) -> BTreeMap<String, Imports<'a>> {
    let crates: BTreeSet<&str> = sources.iter().filter_map(Source::library).collect();
    let mut found: BTreeMap<String, Imports> = BTreeMap::new();
    for name in crates {
        let modules = Modules::of(sources.iter().filter(|source| source.library() == Some(name)));
        for import in modules.imports() {
            if let Some((depth, edge)) = edge(&import) {
                let folder = [&[name][..], &import.importer[..depth]].concat().join("/");
                if depth == 0 || folders.contains(&folder.as_str()) {
                    found.entry(folder).or_default().entry(edge).or_insert(import.file);
                }
            }
        }
    }
    found
}

/// Returns the two rooms of an import with the depth of the folder that they are in; `None` if one module is within the
/// other: a module and what is below it are no two rooms.
fn edge<'a>(import: &Import<'a>) -> Option<(usize, Edge<'a>)> {
    let pairs = import.importer.iter().zip(&import.definer);
    pairs
        .enumerate()
        .find(|(_, (one, other))| one != other)
        .map(|(depth, (one, other))| (depth, (*one, *other)))
}

/// Returns the imports that are part of a circle.
fn in_circles<'a>(imports: &Imports<'a>) -> Vec<Edge<'a>> {
    let reaches = |from: &str, goal: &str| {
        let mut seen = BTreeSet::new();
        let mut left = vec![from];
        while let Some(room) = left.pop() {
            let next =
                imports.keys().filter(|(importer, _)| *importer == room).map(|(_, imported)| *imported);
            left.extend(next.filter(|imported| seen.insert(*imported)));
        }
        seen.contains(goal)
    };
    imports.keys().copied().filter(|(importer, imported)| reaches(imported, importer)).collect()
}

/// Returns a line for each import that is part of a circle and not let through, and for each exception that is not needed.
fn complaints(folders: &BTreeMap<String, Imports>, exceptions: &[(&str, &str, &str)]) -> Vec<String> {
    let mut lines = Vec::new();
    let mut needed = BTreeSet::new();
    for (folder, imports) in folders {
        let is_exception =
            |(importer, imported): &Edge| exceptions.contains(&(folder.as_str(), *importer, *imported));
        let of_circle = in_circles(imports);
        needed.extend(
            of_circle.iter().filter(|edge| is_exception(edge)).map(|(one, other)| (&**folder, *one, *other)),
        );
        let others: Imports = imports
            .iter()
            .filter(|(edge, _)| !is_exception(edge))
            .map(|(edge, file)| (*edge, *file))
            .collect();
        let left = in_circles(&others);
        lines.extend(left.iter().map(|edge| format!("{}: `{}` imports `{}`", others[edge], edge.0, edge.1)));
    }
    let stale = exceptions.iter().filter(|exception| !needed.contains(*exception));
    lines.extend(stale.map(|(folder, one, other)| {
        format!("{folder}: that `{one}` imports `{other}` is part of no circle: remove the exception")
    }));
    lines
}

#[test]
fn no_two_rooms_of_a_crate_import_from_each_other() {
    let folders = imports(sources(), FOLDERS);
    for folder in ["model"].iter().chain(FOLDERS) {
        assert!(folders.contains_key(*folder), "{folder} has no rooms: {:?}", folders.keys());
    }
    let lines = complaints(&folders, EXCEPTIONS);
    assert!(lines.is_empty(), "rooms in a circle: move what both need to a third\n{lines:#?}");
}

/// Returns the complaints about made-up sources of a crate.
fn found(sources: &[(&str, &str)], folders: &[&str], exceptions: &[(&str, &str, &str)]) -> Vec<String> {
    let sources: Vec<Source> =
        sources.iter().map(|(path, text)| Source::new(&format!("crates/x/src/{path}"), text)).collect();
    complaints(&imports(&sources, folders), exceptions)
}

#[test]
fn circles_are_found_over_several_rooms_and_every_kind_of_path() {
    let lines = found(
        &[
            ("a/mod.rs", "pub struct A;\nuse crate::{b::{B, BB}, other};\n"),
            ("b/mod.rs", "pub struct B;\n"),
            ("b/deep/mod.rs", "fn f() -> super::super::c::C {}\n"),
            ("c/mod.rs", "pub struct C;\n"),
            ("c/file.rs", "use super::super::\n    a::A;\n"),
            ("d/mod.rs", "use super::a::A;\n"),
        ],
        &[],
        &[],
    );
    let expected = [
        "crates/x/src/a/mod.rs: `a` imports `b`",
        "crates/x/src/b/deep/mod.rs: `b` imports `c`",
        "crates/x/src/c/file.rs: `c` imports `a`",
    ];
    assert_eq!(lines, expected);
}

/// Goal: the circle that an import from the root hides.
#[test]
fn a_name_that_the_root_re_exports_is_imported_from_the_room_that_defines_it() {
    let lines = found(
        &[
            ("lib.rs", "pub use definition::{Definition, Family};\npub use workload::Workload;\n"),
            ("definition/mod.rs", "pub use family::Family;\nuse crate::Workload;\npub struct Definition;\n"),
            ("definition/family.rs", "pub enum Family {}\n"),
            ("workload/mod.rs", "use crate::Family;\npub enum Workload {}\n"),
        ],
        &[],
        &[],
    );
    let expected = [
        "crates/x/src/definition/mod.rs: `definition` imports `workload`",
        "crates/x/src/workload/mod.rs: `workload` imports `definition`",
    ];
    assert_eq!(lines, expected);
}

#[test]
fn a_file_at_the_root_is_a_room() {
    let lines = found(
        &[
            ("error.rs", "use crate::load::LoadError;\npub enum Error {}\n"),
            ("load.rs", "use crate::error::Error;\n"),
        ],
        &[],
        &[],
    );
    let expected =
        ["crates/x/src/error.rs: `error` imports `load`", "crates/x/src/load.rs: `load` imports `error`"];
    assert_eq!(lines, expected);
}

#[test]
fn the_root_tests_and_paths_within_a_room_make_no_circle() {
    let lines = found(
        &[
            (
                "lib.rs",
                "mod a;\nmod b;\n#[cfg(test)]\nmod fixture;\npub const LIMIT: u8 = 1;\npub use a::A;\n",
            ),
            ("a/mod.rs", "use crate::b::B;\nuse crate::LIMIT;\npub struct A;\n"),
            (
                "b/mod.rs",
                "//! See [`crate::a::A`].\nmod a;\nuse self::a::A;\npub struct B;\n\n#[cfg(test)]\nmod tests {\n    use crate::a::A;\n}\n",
            ),
            ("b/a.rs", "use super::one;\npub struct A;\n"),
            ("b/one.rs", "use super::a::A;\nuse super::B;\n"),
            ("fixture.rs", "use crate::a::A;\nuse crate::b::B;\npub struct F;\n"),
        ],
        &[],
        &[],
    );
    assert_eq!(lines, [""; 0]);
}

#[test]
fn files_of_a_listed_folder_are_rooms() {
    let sources = [
        ("web/mod.rs", ""),
        ("web/one.rs", "use super::two::Two;\n"),
        ("web/two.rs", "use super::one;\npub struct Two;\n"),
    ];
    assert_eq!(found(&sources, &[], &[]), [""; 0]);
    assert_eq!(found(&sources, &["x/web"], &[]).len(), 2);
}

#[test]
fn an_exception_lets_one_import_through_and_is_needed() {
    let sources = [
        ("a.rs", "use crate::b::B;\npub struct A;\n"),
        ("b.rs", "use crate::a::A;\npub struct B;\n"),
        ("c.rs", "use crate::b::B;\n"),
    ];
    assert_eq!(found(&sources, &[], &[("x", "a", "b")]), [""; 0]);
    for stale in [("x", "c", "b"), ("y", "a", "b")] {
        let lines = found(&sources, &[], &[("x", "a", "b"), stale]);
        let expected =
            format!("{}: that `{}` imports `b` is part of no circle: remove the exception", stale.0, stale.1);
        assert_eq!(lines, [expected]);
    }
}
