//! `fuzz`: every parser against arbitrary bytes.
//!
//! `fuzz/` is one program with a function per parser. It is instrumented by the stable compiler: with the
//! options that `cargo fuzz` would pass to it, without the sanitizers that need another.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use proving::options::number;
use proving::shell::{cargo, line, root, run};

/// Compiler options: coverage of edges and comparisons.
const INSTRUMENTS: &str = "-Cpasses=sancov-module --cfg fuzzing -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares";

/// Without a `--target` build scripts would be instrumented as well.
const PLATFORM: &str = "x86_64-unknown-linux-gnu";

/// First inputs of targets besides `fuzz/seeds/TARGET`.
const SEEDS: [(&str, &str); 4] = [
    ("definition", "examples"),
    ("accelerator", "examples"),
    ("recipe", "recipes"),
    ("filelist", "crates/benchmarks/src/web/webstone"),
];

/// Options of the command.
pub(crate) struct FuzzOptions {
    target: Option<String>,
    seconds: u32,
}

impl FuzzOptions {
    /// Parses `[TARGET] [--seconds N]`.
    pub(crate) fn parse(arguments: &[&str]) -> Result<FuzzOptions> {
        let mut options = FuzzOptions { target: None, seconds: 20 };
        let mut arguments = arguments.iter();
        while let Some(argument) = arguments.next() {
            match *argument {
                "--seconds" => {
                    let seconds = arguments.next().context("`--seconds` needs a number")?;
                    // For the fuzzer, 0 would mean no limit.
                    options.seconds = number("--seconds", seconds)?;
                }
                name if !name.starts_with('-') && options.target.is_none() => {
                    options.target = Some(name.to_owned());
                }
                other => bail!("unexpected `{other}`; usage: cargo xtask fuzz [TARGET] [--seconds N]"),
            }
        }
        Ok(options)
    }
}

/// Builds the targets and runs one or all; stops at the first finding.
pub(crate) fn perform(options: &FuzzOptions) -> Result<()> {
    let all = targets(&fs::read_to_string(root().join("fuzz/src/main.rs"))?);
    let chosen: Vec<&String> =
        all.iter().filter(|name| options.target.as_ref().is_none_or(|one| one == *name)).collect();
    ensure!(!chosen.is_empty(), "no such target\nhint: the targets are {}", all.join(", "));
    let program = build()?;
    // Some targets write files; memory is faster than a disk.
    let memory = Path::new("/dev/shm");
    let scratch = if memory.is_dir() { tempfile::tempdir_in(memory)? } else { tempfile::tempdir()? };
    for name in chosen {
        println!("\n== {name}");
        run(&mut command(&program, name, options.seconds, scratch.path())?)?;
    }
    Ok(())
}

fn build() -> Result<PathBuf> {
    let mut build = cargo(&["build", "--release", "--target", PLATFORM]);
    build.current_dir(root().join("fuzz")).env("RUSTFLAGS", INSTRUMENTS);
    // A separate folder: instrumented builds are useless elsewhere.
    let folder = root().join("fuzz/target");
    build.env("CARGO_TARGET_DIR", &folder);
    println!("{}", line(&build));
    run(&mut build)?;
    Ok(folder.join(PLATFORM).join("release/fuzz"))
}

/// The corpus of earlier runs is in `fuzz/target/corpus`, and crashing inputs in `fuzz/target`.
fn command(program: &Path, name: &str, seconds: u32, scratch: &Path) -> Result<Command> {
    let corpus = root().join("fuzz/target/corpus").join(name);
    fs::create_dir_all(&corpus)?;
    let mut command = Command::new(program);
    command.env("PLIMSOLL_FUZZ", name).env("TMPDIR", scratch).current_dir(root().join("fuzz/target"));
    command.arg(format!("-max_total_time={seconds}"));
    command.args(["-use_value_profile=1", "-timeout=10", "-rss_limit_mb=1024", "-max_len=4096"]);
    command.args(["-verbosity=0", "-print_final_stats=1"]).arg(corpus);
    let further = SEEDS.iter().filter(|(target, _)| *target == name).map(|(_, folder)| root().join(folder));
    let seeds = [root().join("fuzz/seeds").join(name)].into_iter().chain(further);
    command.args(seeds.filter(|folder| folder.is_dir()));
    Ok(command)
}

/// Returns the names in the list of targets.
fn targets(source: &str) -> Vec<String> {
    let list = source.split("const TARGETS").nth(1).and_then(|rest| rest.split("];").next()).unwrap_or("");
    list.lines()
        .filter_map(|line| Some(line.trim().strip_prefix("(\"")?.split_once('"')?.0.to_owned()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `ListenAddress` accepts any text: an address, or else a path. `parse_stat` parses the output of this
    /// machine's kernel, and its crate tests it with arbitrary text. `EchoServer` is of a family for tests.
    /// `ApplicationServer`, `OrderDatabase`, `ExternalDatabase` and `ConnectToArgument` are targets from the command line.
    const NOT_FUZZED: [&str; 13] = [
        "AccountList",
        "ApplicationServer",
        "ConnectToArgument",
        "EchoServer",
        "FileDirectory",
        "FileExport",
        "FileShare",
        "ListenAddress",
        "MailFaultPlan",
        "MailHost",
        "OrderDatabase",
        "ExternalDatabase",
        "parse_stat",
    ];

    /// These parsers are reached through one table, which has a target.
    const KERNEL_FILES: &str = "crates/observe/src/monitor/kernel";

    fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                sources(&path, found);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                found.push(path);
            }
        }
    }

    /// Returns the parsers offered by a source file: `parse`, `from_str` and `from_bytes` by the type's name,
    /// `parse_…` by their own.
    fn parsers(source: &str) -> Vec<String> {
        let word = |text: &str| {
            text.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or("").to_owned()
        };
        let mut of = String::new();
        let mut found = Vec::new();
        for line in source.split("#[cfg(test)]").next().unwrap_or("").lines() {
            let line = line.trim();
            if let Some(rest) = line.strip_prefix("impl ") {
                let target = rest.rsplit(" for ").next().unwrap_or(rest);
                of = word(target);
                if rest.starts_with("FromStr for") {
                    found.push(of.clone());
                }
            } else if let Some(rest) = line.strip_prefix("pub fn parse_") {
                found.push(format!("parse_{}", word(rest)));
            } else if ["pub fn parse(", "pub fn parse<", "pub fn from_bytes("]
                .iter()
                .any(|p| line.starts_with(p))
            {
                found.push(of.clone());
            }
        }
        found
    }

    #[test]
    fn every_parser_has_a_target() {
        let mut files = Vec::new();
        sources(&root().join("fuzz/src"), &mut files);
        let fuzzed: String = files.iter().map(|file| fs::read_to_string(file).unwrap()).collect();
        let mut files = Vec::new();
        for entry in fs::read_dir(root().join("crates")).unwrap() {
            let folder = entry.unwrap().path();
            // Command-line arguments come from the user only.
            if !["proving", "testkit", "xtask"].iter().any(|name| folder.ends_with(name)) {
                sources(&folder.join("src"), &mut files);
            }
        }
        assert!(fuzzed.contains("PROC_FILES"));
        files.retain(|file| !file.starts_with(root().join(KERNEL_FILES)));
        let mut n = 0;
        for file in files {
            for parser in parsers(&fs::read_to_string(&file).unwrap()) {
                n += 1;
                let is_known = fuzzed.contains(&parser) || NOT_FUZZED.contains(&&*parser);
                assert!(is_known, "`{parser}` of `{}` has no target in `fuzz/src`", file.display());
            }
        }
        assert!(15 <= n, "{n} parsers found");
    }

    #[test]
    fn options_have_defaults_and_unknown_ones_are_refused() {
        let parse = |arguments: &[&str]| {
            FuzzOptions::parse(arguments).map(|options| (options.target, options.seconds)).ok()
        };
        assert_eq!(parse(&[]), Some((None, 20)));
        assert_eq!(parse(&["--seconds", "5", "reply"]), Some((Some("reply".to_owned()), 5)));
        for wrong in [&["--seconds"][..], &["--seconds", "0"], &["--seconds", "x"], &["a", "b"], &["--x"]] {
            assert_eq!(parse(wrong), None, "{wrong:?}");
        }
    }

    #[test]
    fn the_targets_match_the_program() {
        let names = targets(&fs::read_to_string(root().join("fuzz/src/main.rs")).unwrap());
        assert!(18 <= names.len() && names.contains(&"run-file".to_owned()), "{names:?}");
    }
}
