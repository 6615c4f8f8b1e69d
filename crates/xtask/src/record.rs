//! `record`: benchmarks with phases of full length against installed servers, audited, written to `docs/recorded/`.

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};

use crate::bench::machine;
use crate::packages;
use crate::shell::{line, output, root};
use crate::test::{NEEDED, release_binary};

/// A benchmark with the load points that are recorded.
struct Recording {
    /// The page that it is written to.
    name: &'static str,
    /// What it shows.
    title: &'static str,
    arguments: &'static [&'static str],
    minutes: u32,
}

const SERVERS: [&str; 2] = ["--sut", "nginx,apache"];

const RECORDINGS: [Recording; 6] = [
    Recording {
        name: "webstone-dynamic",
        title: "WebStone 2.0.1-style, half of the requests to a program",
        arguments: &[
            "webstone-2.0.1",
            "--filelist",
            "dynamic-medium",
            "--gateway",
            "fastcgi",
            "--load",
            "10,50",
        ],
        minutes: 40,
    },
    Recording {
        name: "web96",
        title: "SPECweb96-style",
        arguments: &["web96", "--rate", "300,600"],
        minutes: 60,
    },
    Recording {
        name: "webbench-1.0",
        title: "WebBench 1.0-style, with CGI processes",
        arguments: &["webbench-1.0", "--load", "4,12"],
        minutes: 20,
    },
    Recording {
        name: "dynpage",
        title: "The dynamic page, behind FastCGI",
        arguments: &["dynpage", "--gateway", "fastcgi", "--load", "200,600"],
        minutes: 40,
    },
    Recording {
        name: "web-modern",
        title: "Web, modern: TLS and HTTP/2",
        arguments: &["web-modern", "--load", "20,60"],
        minutes: 22,
    },
    Recording {
        name: "find-max",
        title: "The highest load that keeps its limits",
        arguments: &["one-object", "--find-max", "--limit", "p99<20ms,errors<0.1%"],
        minutes: 6,
    },
];

/// Records the benchmarks that are named, all if none is.
pub fn perform(names: &[&str]) -> Result<()> {
    let known = || RECORDINGS.iter().map(|recording| recording.name).collect::<Vec<_>>().join(", ");
    if let Some(other) = names.iter().find(|name| RECORDINGS.iter().all(|recording| recording.name != **name))
    {
        bail!("nothing to record is called `{other}`; there is {}", known());
    }
    packages::install(&NEEDED)?;
    let plimsoll = release_binary()?;
    let chosen = RECORDINGS.iter().filter(|recording| names.is_empty() || names.contains(&recording.name));
    for recording in chosen {
        println!("== {}, about {} minutes", recording.name, recording.minutes);
        let page = record(recording, &plimsoll)?;
        let path = root().join("docs/recorded").join(format!("{}.md", recording.name));
        fs::create_dir_all(path.parent().context("a page has a folder")?)?;
        fs::write(&path, page)?;
        println!("{}", path.display());
    }
    Ok(())
}

/// Runs one benchmark and audits what it left; returns the page.
fn record(recording: &Recording, plimsoll: &Path) -> Result<String> {
    let folder = tempfile::tempdir()?;
    let runs = folder.path().join("runs");
    let mut run = Command::new(plimsoll);
    run.arg("run").args(recording.arguments).args(SERVERS);
    let shown = line(&run);
    run.arg("--out").arg(&runs).stderr(Stdio::inherit());
    println!("{shown}");
    let result = run.output().with_context(|| format!("cannot start `{shown}`"))?;
    let printed = String::from_utf8_lossy(&result.stdout);
    // A run that is not valid is recorded too: the page says so.
    ensure!(runs.is_dir(), "`{shown}` ended with {} and left nothing", result.status);
    let mut page = format!(
        "# {}\n\nMade by `cargo xtask record {}`: load points of full length against installed servers, in turns.\n\n{}\n",
        recording.title,
        recording.name,
        machine::table()? + &format!("| Apache | {} |\n", machine::version("apache2", "-v")?)
    );
    write!(page, "```text\n$ {shown}\n{}\n```\n\n", without_paths(&printed, &runs))?;
    for file in run_files(&runs)? {
        let audit = output(Command::new(plimsoll).arg("audit").arg(&file))?;
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        write!(page, "```text\n$ plimsoll audit {name}\n{}\n```\n\n", without_paths(&audit, &runs))?;
    }
    Ok(page.trim_end().to_owned() + "\n")
}

fn run_files(folder: &Path) -> Result<Vec<std::path::PathBuf>> {
    let entries = fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
    let is_run = |path: &std::path::PathBuf| path.extension().is_some_and(|extension| extension == "plim");
    let mut files: Vec<_> = entries.into_iter().filter(is_run).collect();
    files.sort();
    Ok(files)
}

/// The folder is gone when the page is read.
fn without_paths(text: &str, folder: &Path) -> String {
    text.trim().replace(&format!("{}/", folder.display()), "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_printed_names_no_folder_that_is_gone() {
        let text = without_paths(" x\nreport  /tmp/a/runs/nginx.html\n", Path::new("/tmp/a/runs"));
        assert_eq!(text, "x\nreport  nginx.html");
    }

    #[test]
    fn names_of_pages_are_different() {
        for (place, one) in RECORDINGS.iter().enumerate() {
            assert!(RECORDINGS[..place].iter().all(|other| other.name != one.name));
        }
    }
}
