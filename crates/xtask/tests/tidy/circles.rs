//! Circles between the folders of a crate: two folders that import from each other are one, in two places.

use std::collections::{BTreeMap, BTreeSet};

use super::source::{Source, sources};

/// Imports between the top folders of a crate's `src`, with a file that has each.
type Imports<'a> = BTreeMap<(&'a str, String), &'a str>;

/// Returns the imports between folders by crate. Tests may import from anywhere in their crate.
fn imports(sources: &[Source]) -> BTreeMap<&str, Imports<'_>> {
    let mut crates: BTreeMap<&str, Imports> = BTreeMap::new();
    for source in sources {
        let Some((name, module)) = source.library().zip(source.module()) else { continue };
        let Some((&folder, _)) = module.split_first().filter(|_| source.is_in_folder()) else { continue };
        let text = source.code().into_iter().map(|(_, line)| line);
        for import in imported(&text.collect::<Vec<_>>().join(" "), module.len()) {
            if import != folder {
                crates.entry(name).or_default().entry((folder, import)).or_insert(&source.path);
            }
        }
    }
    crates
}

/// Returns the first names of all paths from the root of the crate: `crate::a::B`, `crate::{a::B, c}`, and as many
/// `super` as the file is deep.
fn imported(code: &str, depth: usize) -> BTreeSet<String> {
    let mut imported = BTreeSet::new();
    for from_root in ["crate::".to_owned(), "super::".repeat(depth)] {
        for (at, _) in code.match_indices(&from_root) {
            let before = &code[..at];
            let is_longer =
                before.ends_with("super::") || before.ends_with(|c: char| c.is_alphanumeric() || c == '_');
            if !is_longer {
                imported.extend(first_names(&code[at + from_root.len()..]));
            }
        }
    }
    imported
}

/// Returns the first name of a path, or of each path in braces.
fn first_names(paths: &str) -> Vec<String> {
    let name = |path: &str| {
        let path = path.trim_start();
        path[..path.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(path.len())].to_owned()
    };
    let Some(inner) = paths.strip_prefix('{') else { return vec![name(paths)] };
    let (mut names, mut depth, mut start) = (Vec::new(), 0, 0);
    for (at, c) in inner.char_indices() {
        match c {
            '{' => depth += 1,
            ',' | '}' if depth == 0 => {
                names.push(name(&inner[start..at]));
                start = at + 1;
                if c == '}' {
                    break;
                }
            }
            '}' => depth -= 1,
            _ => {}
        }
    }
    names
}

/// Returns a line for each import that is part of a circle.
fn circles(imports: &Imports) -> Vec<String> {
    let reaches = |from: &str, goal: &str| {
        let (mut seen, mut left) = (BTreeSet::new(), vec![from.to_owned()]);
        while let Some(folder) = left.pop() {
            let next = imports.keys().filter(|(one, _)| *one == folder).map(|(_, import)| import);
            left.extend(next.filter(|import| seen.insert((*import).clone())).cloned());
        }
        seen.contains(goal)
    };
    let in_circle = imports.iter().filter(|((folder, import), _)| reaches(import, folder));
    in_circle.map(|((folder, import), path)| format!("{path}: `{folder}` imports `{import}`")).collect()
}

#[test]
fn no_two_folders_of_a_crate_import_from_each_other() {
    let crates = imports(sources());
    assert!(crates.contains_key("accelerator"), "{:?}", crates.keys());
    let circles: Vec<String> = crates.values().flat_map(circles).collect();
    assert!(circles.is_empty(), "folders in a circle: move what both need to a third\n{circles:#?}");
}

/// Returns the circles of made-up sources of a crate.
fn found(sources: &[(&str, &str)]) -> Vec<String> {
    let sources: Vec<Source> =
        sources.iter().map(|(path, text)| Source::new(&format!("crates/x/src/{path}"), text)).collect();
    imports(&sources).values().flat_map(circles).collect()
}

#[test]
fn circles_are_found_over_several_folders_and_every_kind_of_path() {
    let lines = found(&[
        ("a/mod.rs", "use crate::{b::{B, BB}, other};\n"),
        ("b/deep/mod.rs", "fn f() -> super::super::c::C {}\n"),
        ("c/file.rs", "use super::super::\n    a::A;\n"),
        ("d/mod.rs", "use super::a::A;\n"),
    ]);
    let expected = [
        "crates/x/src/a/mod.rs: `a` imports `b`",
        "crates/x/src/b/deep/mod.rs: `b` imports `c`",
        "crates/x/src/c/file.rs: `c` imports `a`",
    ];
    assert_eq!(lines, expected);
}

#[test]
fn files_tests_and_paths_within_a_folder_make_no_circle() {
    let lines = found(&[
        ("a/mod.rs", "use crate::b::B;\nmod c {\n    use crate::file::F;\n}\n"),
        (
            "b/mod.rs",
            "//! See [`crate::a::A`].\nmod a;\nuse self::a::A;\n\n#[cfg(test)]\nmod tests {\n    use crate::a::A;\n}\n",
        ),
        ("b/one.rs", "use super::a::A;\n"),
        ("file.rs", "use crate::a::A;\n"),
    ]);
    assert_eq!(lines, [""; 0]);
}
