//! The layer table of `ARCHITECTURE.md`: imports between crates, printing, `unsafe`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// Additional rules: these crates must not depend on those, directly or through other crates of the workspace
/// (except `units`).
const FORBIDDEN: [(&[&str], &[&str]); 7] = [
    // The hot loop knows no protocol, and protocols know no sockets.
    (&["engine"], &["http1", "httparse", "drivers", "benchmarks"]),
    (&["http1", "mailwire"], &["tokio", "rustix", "socket2", "units"]),
    // Both ends are pure, and so are the workloads of order entry, files and mail; order-entry data in a file know no sockets
    // and no run.
    (
        &["stats", "model", "analysis", "disclosure", "benchmarks", "orders", "files", "mail"],
        &["tokio", "socket2", "procfs", "rusqlite", "rustix"],
    ),
    (&["orderstore"], &["tokio", "socket2", "model"]),
    // A driver must not know a benchmark, nor a recipe a verdict.
    (&["drivers", "observe", "testbed", "servers"], &["benchmarks", "analysis", "disclosure", "runfile"]),
    // The subjects of measurement must not know the laboratory; all of it depends on `model`.
    (&["accelerator", "cache-policy", "cache-store", "plimsoll-accelerator"], &["model", "pdf"]),
    (&["cache-policy"], &["tokio", "rustix", "socket2", "libc", "cache-store"]),
];

/// Dependencies for the terminal, reserved for the binaries.
const BINARY_ONLY: [&str; 6] = ["clap", "clap_complete", "clap_mangen", "anstream", "ratatui", "comfy-table"];

/// The only files that may contain `unsafe`; each explains at its head why it is sound.
const UNSAFE: [&str; 2] =
    ["crates/accelerator/src/frontend/socket_calls.rs", "crates/engine/src/descriptor.rs"];

/// The programs that users start.
const BINARIES: [&str; 2] = ["plimsoll", "plimsoll-accelerator"];

/// Crates that print, read the environment and exit; `testkit` is used by tests only.
const SPEAKING: [&str; 5] = ["plimsoll", "plimsoll-accelerator", "proving", "xtask", "testkit"];

/// Packages of the laboratory, and those that only it links: `plimsoll-accelerator` does without.
const LABORATORY: [&str; 19] = [
    "analysis",
    "benchmarks",
    "disclosure",
    "drivers",
    "engine",
    "fleet",
    "hdrhistogram",
    "libsqlite3-sys",
    "model",
    "plimsoll",
    "postgres-protocol",
    "published",
    "ratatui",
    "runfile",
    "rusqlite",
    "servers",
    "stats",
    "telemetry",
    "testbed",
];

/// Uses reserved for those crates.
const SPEECH: [&str; 8] = [
    "println!",
    "eprintln!",
    "print!(",
    "eprint!(",
    "dbg!",
    "std::env::",
    "process::exit",
    "std::io::stdout",
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap().to_owned()
}

/// Returns the standard output of cargo.
fn cargo(arguments: &[&str]) -> String {
    let mut cargo = Command::new(env!("CARGO"));
    let output = cargo.args(arguments).arg("--offline").current_dir(root()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Returns each crate with its dependencies, without those of tests.
fn dependencies() -> BTreeMap<String, Vec<String>> {
    let metadata: Value =
        serde_json::from_str(&cargo(&["metadata", "--format-version", "1", "--no-deps"])).unwrap();
    let name = |value: &Value| value["name"].as_str().unwrap().to_owned();
    let built = |package: &Value| {
        let list = package["dependencies"].as_array().unwrap().iter();
        list.filter(|one| one["kind"].is_null()).map(name).collect()
    };
    metadata["packages"].as_array().unwrap().iter().map(|one| (name(one), built(one))).collect()
}

/// Parses the rows of the layer table: crate and layer, `None` for those beside the layers.
fn layers(architecture: &str) -> BTreeMap<String, Option<u32>> {
    let rows = architecture.lines().skip_while(|line| !line.starts_with("| layer | crate |")).skip(2);
    rows.take_while(|line| line.starts_with('|'))
        .map(|row| {
            let mut cells = row.trim_matches('|').split('|').map(str::trim);
            let layer = cells.next().unwrap();
            let name = cells.next().unwrap();
            (name.trim_matches('`').to_owned(), layer.parse().ok())
        })
        .collect()
}

/// Returns imports that do not go down, and crates missing in or invented by the table.
fn breaches(layers: &BTreeMap<String, Option<u32>>, crates: &BTreeMap<String, Vec<String>>) -> Vec<String> {
    let mut breaches = Vec::new();
    breaches.extend(
        crates.keys().filter(|name| !layers.contains_key(*name)).map(|name| format!("{name}: no row")),
    );
    breaches.extend(
        layers.keys().filter(|name| !crates.contains_key(*name)).map(|name| format!("{name}: no crate")),
    );
    for (name, imports) in crates {
        for import in imports {
            let down = match (layers.get(name).copied().flatten(), layers.get(import)) {
                (_, None) => true, // not one of ours
                (None, _) => true, // beside the layers
                (Some(_), Some(None)) => false,
                (Some(above), Some(Some(below))) => *below < above,
            };
            if !down {
                breaches.push(format!("{name} imports {import}"));
            }
        }
    }
    breaches
}

/// Returns everything that a crate depends on through crates of the workspace.
fn reach<'a>(name: &str, crates: &'a BTreeMap<String, Vec<String>>) -> Vec<&'a str> {
    // `units` is the one place for clocks, and its dependencies do not concern other crates.
    if name == "units" {
        return Vec::new();
    }
    let direct = crates.get(name).into_iter().flatten();
    direct.flat_map(|import| std::iter::once(import.as_str()).chain(reach(import, crates))).collect()
}

/// Returns the names of all packages that a crate links, procedural macros included.
fn linked(name: &str) -> BTreeSet<String> {
    // Unlike `cargo metadata`, it does without packages for other platforms, which nobody has downloaded.
    let tree =
        cargo(&["tree", "--package", name, "--edges", "normal", "--prefix", "none", "--format", "{p}"]);
    tree.lines().filter_map(|line| line.split(' ').next()).map(str::to_owned).collect()
}

#[test]
fn the_accelerator_links_nothing_of_the_laboratory() {
    let linked = linked("plimsoll-accelerator");
    assert!(linked.contains("accelerator") && linked.contains("rustls"), "{linked:?}");
    let bad: Vec<&str> = LABORATORY.into_iter().filter(|name| linked.contains(*name)).collect();
    assert!(bad.is_empty(), "plimsoll-accelerator links {bad:?}");
}

#[test]
fn the_laboratory_is_found_in_the_program_that_has_it() {
    let linked = linked("plimsoll");
    let missing: Vec<&str> = LABORATORY.into_iter().filter(|name| !linked.contains(*name)).collect();
    assert!(missing.is_empty(), "plimsoll does not link {missing:?}: is a name in `LABORATORY` outdated?");
}

#[test]
fn every_crate_has_a_row_and_imports_only_from_lower_layers() {
    let layers = layers(&fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap());
    assert_eq!(breaches(&layers, &dependencies()), [""; 0]);
}

#[test]
fn upward_and_sideways_imports_and_missing_rows_are_found() {
    let table = "| layer | crate | what |\n|---|---|---|\n| 0 | `a` | x |\n| 1 | `b` | x |\n| 1 | `c` | x |\n| – | `t` | x |\n\nend\n";
    let layers = layers(table);
    let crates = |list: &[(&str, &[&str])]| {
        list.iter()
            .map(|(name, imports)| {
                ((*name).to_owned(), imports.iter().map(|one| (*one).to_owned()).collect())
            })
            .collect()
    };
    let right = crates(&[("a", &["serde"]), ("b", &["a"]), ("c", &["a"]), ("t", &["c"])]);
    assert_eq!(breaches(&layers, &right), [""; 0]);
    let wrong = crates(&[("a", &["b"]), ("b", &["c"]), ("c", &["t"]), ("new", &[])]);
    let expected = ["new: no row", "t: no crate", "a imports b", "b imports c", "c imports t"];
    assert_eq!(breaches(&layers, &wrong), expected);
}

#[test]
fn forbidden_edges_do_not_exist() {
    let crates = dependencies();
    for (names, forbidden) in FORBIDDEN {
        for name in names {
            let reached = reach(name, &crates);
            let bad: Vec<_> = reached.iter().filter(|import| forbidden.contains(import)).collect();
            assert!(bad.is_empty(), "{name} reaches {bad:?}");
        }
    }
    for (name, imports) in crates.iter().filter(|(name, _)| !BINARIES.contains(&name.as_str())) {
        let bad: Vec<_> = imports.iter().filter(|import| BINARY_ONLY.contains(&import.as_str())).collect();
        assert!(bad.is_empty(), "{name} imports {bad:?}");
    }
}

/// Returns the sources below `crates/*/src`: path from the root, and text up to the tests at the end.
fn sources() -> Vec<(String, String)> {
    let mut folders: Vec<_> =
        fs::read_dir(root().join("crates")).unwrap().map(|entry| entry.unwrap().path().join("src")).collect();
    let mut sources = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if entry.is_dir() {
                folders.push(entry);
            } else if entry.extension().is_some_and(|extension| extension == "rs") {
                let text = fs::read_to_string(&entry).unwrap();
                let code = text.split("#[cfg(test)]\nmod ").next().unwrap().to_owned();
                sources.push((entry.strip_prefix(root()).unwrap().display().to_string(), code));
            }
        }
    }
    assert!(sources.len() > 100, "found only {} files", sources.len());
    sources
}

/// Returns lines of code, without comments, that contain one of the words.
fn lines_with<'a>(code: &'a str, words: &[&str]) -> Vec<&'a str> {
    let code = code.lines().map(|line| line.split("//").next().unwrap().trim());
    code.filter(|line| words.iter().any(|word| line.contains(word))).collect()
}

#[test]
fn unsafe_occurs_only_in_the_listed_files() {
    for (path, code) in sources().iter().filter(|(path, _)| !path.starts_with("crates/xtask/")) {
        let lines = lines_with(code, &["unsafe {", "unsafe fn", "unsafe impl", "(unsafe_code)"]);
        assert_eq!(!lines.is_empty(), UNSAFE.contains(&path.as_str()), "{path}: {lines:?}");
    }
}

#[test]
fn only_the_binaries_print_read_the_environment_and_exit() {
    let speaking = |path: &str| SPEAKING.iter().any(|name| path.starts_with(&format!("crates/{name}/")));
    for (path, code) in sources().iter().filter(|(path, _)| !speaking(path)) {
        let lines = lines_with(code, &SPEECH);
        assert!(lines.is_empty(), "{path}: {lines:?}");
    }
}

#[test]
fn words_in_comments_do_not_count() {
    assert_eq!(
        lines_with("// println!\nlet x = 1; // dbg!\nprintln!(\"x\");", &SPEECH),
        ["println!(\"x\");"]
    );
}
