//! `properties`: every property test with many new random cases.
//!
//! Tests have a fixed seed and few cases (`.cargo/config.toml`), so that they fail only because of a change.
//! A failure found here becomes a separate test, with the case written out.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Stdio;

use anyhow::{Context, Result, bail, ensure};
use proving::options::number;
use proving::shell::{cargo, root, say, sources};
use rustix::rand::{GetRandomFlags, getrandom};

/// Default number of cases of each property.
const CASES: u32 = 4096;

/// Options of the command: number of cases, seed, crate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PropertyOptions {
    cases: u32,
    /// A new one if `None`.
    seed: Option<u64>,
    /// All crates if `None`.
    package: Option<String>,
}

impl PropertyOptions {
    /// Parses `[CRATE] [--cases N] [--seed N]`.
    pub(crate) fn parse(arguments: &[&str]) -> Result<PropertyOptions> {
        let mut options = PropertyOptions { cases: CASES, seed: None, package: None };
        let mut rest = arguments.iter();
        while let Some(name) = rest.next() {
            let mut value = || rest.next().with_context(|| format!("expected a value after `{name}`"));
            match *name {
                "--cases" => options.cases = number(name, value()?)?,
                "--seed" => {
                    let value = value()?;
                    options.seed = Some(value.parse().with_context(|| format!("`{value}` is not a seed"))?);
                }
                other if other.starts_with('-') || options.package.is_some() => {
                    bail!(
                        "unexpected `{other}`; usage: cargo xtask properties [CRATE] [--cases N] [--seed N]"
                    )
                }
                package => options.package = Some(package.to_owned()),
            }
        }
        Ok(options)
    }
}

/// Properties by crate and by the argument that selects their test binary.
type Properties = BTreeMap<(String, TestTarget), BTreeSet<String>>;

/// A test binary of a crate.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum TestTarget {
    /// The unit tests.
    Unit,
    /// A binary of the folder `tests`.
    Named(String),
}

/// Runs all properties, or those of one crate.
///
/// # Errors
/// One of them does not hold, or was not run.
pub(crate) fn perform(options: &PropertyOptions) -> Result<()> {
    let seed = options.seed.map_or_else(fresh_seed, Ok)?;
    let mut properties = find(&root().join("crates"))?;
    if let Some(package) = &options.package {
        properties.retain(|(name, _), _| name == package);
    }
    ensure!(!properties.is_empty(), "no properties in {}", options.package.as_deref().unwrap_or("any crate"));
    let cases = options.cases;
    println!("{cases} cases of each property from seed {seed}");
    let mut failed = Vec::new();
    for ((package, target), names) in &properties {
        if let Err(error) = run_one(package, target, names, cases, seed) {
            println!("{error:#}");
            failed.push(package.as_str());
        }
    }
    ensure!(
        failed.is_empty(),
        "in {}: a property does not hold\nhint: write the minimal case above as a test of its own; \
         `cargo xtask properties {} --cases {cases} --seed {seed}` finds it again",
        failed.join(", "),
        failed[0]
    );
    println!("{} properties hold.", properties.values().map(BTreeSet::len).sum::<usize>());
    Ok(())
}

fn run_one(
    package: &str,
    target: &TestTarget,
    names: &BTreeSet<String>,
    cases: u32,
    seed: u64,
) -> Result<()> {
    let mut command = cargo(&["test", "--quiet", "--package", package]);
    match target {
        // A crate that is a program has no library.
        TestTarget::Unit if root().join("crates").join(package).join("src/lib.rs").exists() => {
            command.arg("--lib")
        }
        TestTarget::Unit => command.arg("--bins"),
        TestTarget::Named(name) => command.args(["--test", name]),
    };
    command.arg("--").args(names);
    command.env("PROPTEST_CASES", cases.to_string()).env("PROPTEST_RNG_SEED", seed.to_string());
    let output = say(&mut command).stderr(Stdio::inherit()).output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    ensure!(output.status.success(), "{text}");
    let n_run = n_passed(&text);
    ensure!(names.len() <= n_run, "{} properties, but {n_run} were run: {names:?}", names.len());
    Ok(())
}

/// Parses the number of passed tests: `test result: ok. 3 passed; 0 failed; …`.
fn n_passed(text: &str) -> usize {
    let counts = text
        .lines()
        .filter_map(|line| line.strip_prefix("test result: ok. ")?.split(' ').next()?.parse::<usize>().ok());
    counts.sum()
}

fn fresh_seed() -> Result<u64> {
    let mut bytes = [0; 8];
    let n = getrandom(&mut bytes, GetRandomFlags::empty())?;
    ensure!(n == bytes.len(), "the system gave {n} random bytes of {}", bytes.len());
    Ok(u64::from_le_bytes(bytes))
}

/// Finds the properties of all crates.
fn find(crates: &Path) -> Result<Properties> {
    let mut found = Properties::new();
    for file in sources(crates)? {
        let names = names(&fs::read_to_string(&file)?);
        if names.is_empty() {
            continue;
        }
        let place = file.strip_prefix(crates)?;
        let parts: Vec<&str> = place.iter().filter_map(|part| part.to_str()).collect();
        let target = match parts[..] {
            [_, "src", ..] => TestTarget::Unit,
            [package, "tests", name, ..] => {
                TestTarget::Named(test_binary(&crates.join(package).join("tests"), name))
            }
            _ => bail!("`{}` has properties, but belongs to no test binary", place.display()),
        };
        found.entry((parts[0].to_owned(), target)).or_default().extend(names);
    }
    Ok(found)
}

/// Returns the binary to which a file or folder of `tests` belongs: that of all modules in `main.rs`, or its own.
fn test_binary(tests: &Path, name: &str) -> String {
    let name = name.trim_end_matches(".rs");
    let modules = fs::read_to_string(tests.join("main.rs")).unwrap_or_default();
    let is_module = modules.lines().any(|line| line == format!("mod {name};"));
    if is_module { "all" } else { name }.to_owned()
}

/// Returns the names of the properties in a source: tests with arguments after `proptest!`.
fn names(source: &str) -> BTreeSet<String> {
    let Some((_, behind)) = source.split_once("proptest! {") else { return BTreeSet::new() };
    let functions =
        behind.split("#[test]").skip(1).filter_map(|text| text.split_once("fn ")?.1.split_once('('));
    let taking = functions.filter(|(_, arguments)| !arguments.starts_with(')'));
    taking.map(|(name, _)| name.to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn properties_are_tests_with_arguments() {
        let source = "#[test]\nfn plain() {}\nproptest! {\n    #[test]\n    fn holds(x in 0..9) {}\n\n    /// Doc.\n    #[test]\n\
                      \x20   fn holds_too(\n        x in 0..9,\n    ) {}\n}\n#[test]\nfn after() {}\nfn helper(x: u8) {}\n";
        assert_eq!(names(source), ["holds", "holds_too"].map(str::to_owned).into());
        assert_eq!(names("#[test]\nfn plain() {}\n"), BTreeSet::new());
    }

    /// Goal: no property is missed because of its location. Each source that uses the macro has some.
    #[test]
    fn every_source_with_the_macro_has_properties() {
        let crates = root().join("crates");
        let mut n = 0;
        for file in sources(&crates).unwrap() {
            let source = fs::read_to_string(&file).unwrap();
            if file.ends_with("xtask/src/properties.rs")
                || !source.lines().any(|line| line.trim() == "proptest! {")
            {
                continue;
            }
            assert!(!names(&source).is_empty(), "{}", file.display());
            n += 1;
        }
        assert!(30 <= n, "{n} sources");
        let found = find(&crates).unwrap();
        let units_of_observe = &found[&("observe".to_owned(), TestTarget::Unit)];
        assert!(units_of_observe.contains("an_account_is_one_argument_and_not_an_option"), "{found:?}");
        for (package, binary) in [("http1", "properties"), ("stats", "all")] {
            assert!(
                found.contains_key(&(package.to_owned(), TestTarget::Named(binary.to_owned()))),
                "{package}"
            );
        }
    }

    #[test]
    fn passed_tests_are_counted() {
        assert_eq!(n_passed("\nrunning 2 tests\n..\ntest result: ok. 2 passed; 0 failed; 0 ignored\n"), 2);
        assert_eq!(n_passed("test result: FAILED. 2 passed; 1 failed;\n"), 0);
    }

    #[test]
    fn options_are_parsed() {
        let options =
            PropertyOptions::parse(&["testbed", "--cases", "9", "--seed", "18446744073709551615"]).unwrap();
        assert_eq!(
            options,
            PropertyOptions { cases: 9, seed: Some(u64::MAX), package: Some("testbed".into()) }
        );
        for wrong in [&["--cases"][..], &["--cases", "x"], &["--seed", "-1"], &["a", "b"], &["--fast"]] {
            assert!(PropertyOptions::parse(wrong).is_err(), "{wrong:?}");
        }
    }
}
