//! No test is left out because nothing declares its file. With a `tests/main.rs`, cargo does not look for binaries itself.

use std::collections::BTreeMap;
use std::fs;

use super::source::{Source, item, root, sources};

/// Returns the files of a crate's folder `tests` that no binary has. `files` are its sources by path from there, and
/// `binaries` the names of those that the manifest lists beside `main.rs`.
fn lost<'a>(files: &BTreeMap<&'a str, &Source>, binaries: &[&str]) -> Vec<&'a str> {
    let is_declared = |folder: &str, name: &str| {
        let parents = ["main.rs", "mod.rs"].map(|file| format!("{folder}{file}"));
        let mut lines =
            parents.iter().filter_map(|path| files.get(path.as_str())).flat_map(|file| &file.lines);
        lines.any(|line| item(line).is_some_and(|(_, keyword, found)| keyword == "mod" && found == name))
    };
    let is_lost = |path: &&str| {
        let module = path.trim_end_matches(".rs").trim_end_matches("/mod").trim_end_matches("/main");
        let name = module.rsplit('/').next().unwrap_or(module);
        let folder = &module[..module.len() - name.len()];
        let is_binary = folder.is_empty()
            && (name == "main" || binaries.contains(&name) || !files.contains_key("main.rs"));
        !is_binary && !is_declared(folder, name)
    };
    files.keys().copied().filter(is_lost).collect()
}

/// Returns the names of test binaries in a manifest.
fn binaries(manifest: &str) -> Vec<&str> {
    let tables = manifest.split("[[test]]\nname = \"").skip(1);
    tables.filter_map(|table| table.split('"').next()).collect()
}

#[test]
fn every_file_below_tests_belongs_to_a_test_binary() {
    let mut crates: BTreeMap<&str, BTreeMap<&str, &Source>> = BTreeMap::new();
    for source in sources() {
        if let Some((package, path)) = source.path.split_once("/tests/") {
            crates.entry(package).or_default().insert(path, source);
        }
    }
    assert!(20 <= crates.len(), "{} crates with tests", crates.len());
    for (package, files) in crates {
        let manifest = fs::read_to_string(root().join(package).join("Cargo.toml")).unwrap();
        let lost = lost(&files, &binaries(&manifest));
        assert!(
            lost.is_empty(),
            "{package}: no test binary has {lost:?}: declare them in the `main.rs` beside them"
        );
    }
}

#[test]
fn files_that_nothing_declares_are_found() {
    let source = |path: &str, text: &str| Source::new(path, text);
    let main = source("main.rs", "mod a;\nmod b;\n");
    let folder = source("b/mod.rs", "pub(crate) mod c;\n");
    let empty = source("", "");
    let mut files: BTreeMap<&str, &Source> =
        ["a.rs", "b/c.rs", "own.rs", "b/d.rs", "d.rs", "e/main.rs"].map(|path| (path, &empty)).into();
    files.extend([("main.rs", &main), ("b/mod.rs", &folder)]);
    assert_eq!(lost(&files, &binaries("[[test]]\nname = \"own\"\n")), ["b/d.rs", "d.rs", "e/main.rs"]);
    files.remove("main.rs");
    assert_eq!(lost(&files, &[]), ["b/d.rs"]);
}
