//! `record`: runs of benchmarks, most with full-length phases, audited, written to `docs/recorded/`.

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};

use crate::bench::machine::{self, Program};
use crate::build::packaged_binary;
use crate::packages::{self, REQUIRED_PACKAGES};
use crate::shell::{line, output, write_page};

/// A benchmark with the load points to record.
struct Recording {
    /// File name of the page.
    name: &'static str,
    /// Title of the page.
    title: &'static str,
    /// The arguments of `plimsoll run`, separated by spaces.
    arguments: &'static str,
    /// The run file, or the folder of run files where several servers run in turns.
    out: &'static str,
    /// The installed programs whose versions the page states.
    programs: &'static [Program],
    minutes: u32,
}

const WEB_SERVERS: [Program; 2] = [("nginx", "nginx", "-v"), ("Apache", "apache2", "-v")];

const LANGUAGES: [Program; 3] =
    [("Python", "python3", "--version"), ("Node", "node", "--version"), ("Go", "go", "version")];

const DATABASES: [Program; 2] = [("PostgreSQL", "psql", "--version"), ("MariaDB", "mariadbd", "--version")];

const RECORDINGS: [Recording; 13] = [
    Recording {
        name: "webstone-dynamic",
        title: "WebStone 2.0.1-style, half of the requests for generated pages",
        arguments: "webstone-2.0.1 --filelist dynamic-medium --gateway fastcgi --load 10,50 --sut nginx,apache",
        out: "runs",
        programs: &WEB_SERVERS,
        minutes: 40,
    },
    Recording {
        name: "web96",
        title: "SPECweb96-style",
        arguments: "web96 --rate 300,600 --sut nginx,apache",
        out: "runs",
        programs: &WEB_SERVERS,
        minutes: 60,
    },
    Recording {
        name: "webbench-1.0",
        title: "WebBench 1.0-style, with CGI processes",
        arguments: "webbench-1.0 --load 4,12 --sut nginx,apache",
        out: "runs",
        programs: &WEB_SERVERS,
        minutes: 20,
    },
    Recording {
        name: "dynpage",
        title: "The dynamic page, behind FastCGI",
        arguments: "dynpage --gateway fastcgi --load 200,600 --sut nginx,apache",
        out: "runs",
        programs: &WEB_SERVERS,
        minutes: 40,
    },
    Recording {
        name: "web-modern",
        title: "Web, modern: TLS and HTTP/2",
        arguments: "web-modern --load 20,60 --sut nginx,apache",
        out: "runs",
        programs: &WEB_SERVERS,
        minutes: 22,
    },
    Recording {
        name: "find-max",
        title: "The highest load within the limits",
        arguments: "one-object --find-max --limit p99<20ms,errors<0.1% --sut nginx,apache",
        out: "runs",
        programs: &WEB_SERVERS,
        minutes: 6,
    },
    Recording {
        name: "serverbench",
        title: "ServerBench-style, with a memory of 256 MiB and a slow disk",
        arguments: "serverbench --sut-memory 256MiB --sut-disk reads=300 --set range=auto",
        out: "serverbench.plim",
        programs: &[],
        minutes: 85,
    },
    Recording {
        name: "serverbench-writes",
        title: "ServerBench-style, past the page cache and durable, with a slow disk",
        arguments: "serverbench --set io=direct,durable --sut-disk reads=300,writes=300 --load 1,4,16,40,60 \
            --ramp-up 5 --duration 60 --ramp-down 5",
        out: "runs",
        programs: &[],
        minutes: 15,
    },
    Recording {
        name: "serverbench-languages",
        title: "Application servers in four languages",
        arguments: "serverbench --set suite=net,disk --sut built-in,go,node,python --load 4,16 \
            --ramp-up 2 --duration 20 --ramp-down 0",
        out: "runs",
        programs: &LANGUAGES,
        minutes: 8,
    },
    Recording {
        name: "serverbench-processing",
        title: "200,000 rounds of integer arithmetic in four languages",
        arguments: "serverbench --set suite=cpu --sut built-in,go,node,python --load 1 \
            --ramp-up 2 --duration 20 --ramp-down 0",
        out: "runs",
        programs: &LANGUAGES,
        minutes: 2,
    },
    Recording {
        name: "orderentry",
        title: "Order entry on SQLite, PostgreSQL and MariaDB",
        arguments: "orderentry --sut built-in,postgresql,mariadb --load 100,400,1000 \
            --ramp-up 10 --duration 60 --ramp-down 5",
        out: "runs",
        programs: &DATABASES,
        minutes: 22,
    },
    Recording {
        name: "orderentry-postgresql",
        title: "Order entry on PostgreSQL with 1 and 2 CPUs",
        arguments: "orderentry --sut postgresql --sut-groups 1,2 --load 100,400,1000",
        out: "runs",
        programs: &DATABASES,
        minutes: 65,
    },
    Recording {
        name: "orderentry-mariadb",
        title: "Order entry on MariaDB with 1 and 2 CPUs",
        arguments: "orderentry --sut mariadb --sut-groups 1,2 --load 100,400,1000",
        out: "runs",
        programs: &DATABASES,
        minutes: 65,
    },
];

/// Records the named benchmarks, or all.
///
/// # Errors
/// An unknown name, or a run that leaves no run file or whose run files do not pass their audit.
pub fn perform(names: &[&str]) -> Result<()> {
    let known = || RECORDINGS.iter().map(|recording| recording.name).collect::<Vec<_>>().join(", ");
    if let Some(other) = names.iter().find(|name| RECORDINGS.iter().all(|recording| recording.name != **name))
    {
        bail!("unknown recording `{other}`; expected one of {}", known());
    }
    packages::install(&REQUIRED_PACKAGES)?;
    let plimsoll = packaged_binary()?;
    let chosen = RECORDINGS.iter().filter(|recording| names.is_empty() || names.contains(&recording.name));
    for recording in chosen {
        println!("== {}, about {} minutes", recording.name, recording.minutes);
        let page = record(recording, &plimsoll)?;
        write_page(&format!("docs/recorded/{}.md", recording.name), &page)?;
    }
    Ok(())
}

/// Runs one benchmark and audits its run files; returns the page.
fn record(recording: &Recording, plimsoll: &Path) -> Result<String> {
    let folder = tempfile::tempdir()?;
    let runs = folder.path().join(recording.out);
    let mut run = Command::new(plimsoll);
    run.arg("run").args(recording.arguments.split(' '));
    let shown = line(&run);
    run.arg("--out").arg(&runs).stderr(Stdio::inherit());
    println!("{shown}");
    let result = run.output().with_context(|| format!("cannot start `{shown}`"))?;
    let printed = String::from_utf8_lossy(&result.stdout);
    // An invalid run is recorded, too: the page shows it.
    ensure!(runs.exists(), "`{shown}` ended with {} and left nothing", result.status);
    let within = if runs.is_dir() { &runs } else { folder.path() };
    let folders = [within, plimsoll.parent().context("a program is in a folder")?];
    let mut page = format!(
        "# {}\n\nGenerated by `cargo xtask record {}`{}.\n\n{}",
        recording.title,
        recording.name,
        if runs.is_dir() { "; several runs take turns" } else { "" },
        machine::programs(recording.programs)?
    );
    page.push('\n');
    write!(page, "```text\n$ {shown}\n{}\n```\n\n", without_paths(&printed, &folders))?;
    for file in run_files(&runs)? {
        let audit = output(Command::new(plimsoll).arg("audit").arg(&file))?;
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        write!(page, "```text\n$ plimsoll audit {name}\n{}\n```\n\n", without_paths(&audit, &folders))?;
    }
    Ok(page.trim_end().to_owned() + "\n")
}

/// Returns the run files of a folder; of a run file itself.
fn run_files(folder: &Path) -> Result<Vec<std::path::PathBuf>> {
    if folder.is_file() {
        return Ok(vec![folder.to_owned()]);
    }
    let entries = fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
    let is_run = |path: &std::path::PathBuf| path.extension().is_some_and(|extension| extension == "plim");
    let mut files: Vec<_> = entries.into_iter().filter(is_run).collect();
    files.sort();
    Ok(files)
}

/// Removes folders of the machine that recorded: those of the runs, which no longer exist when the page is read, and of the
/// program.
fn without_paths(text: &str, folders: &[&Path]) -> String {
    let without = |text: String, folder: &&Path| text.replace(&format!("{}/", folder.display()), "");
    folders.iter().fold(text.trim().to_owned(), without)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_contains_no_temporary_folders() {
        let folders = [Path::new("/tmp/a/runs"), Path::new("/a/target/release")];
        let text = without_paths(" x\nreport  /tmp/a/runs/nginx.html\n", &folders);
        assert_eq!(text, "x\nreport  nginx.html");
        assert_eq!(without_paths("/a/target/release/plimsoll serve", &folders), "plimsoll serve");
    }

    #[test]
    fn page_names_are_unique() {
        for (place, one) in RECORDINGS.iter().enumerate() {
            assert!(RECORDINGS[..place].iter().all(|other| other.name != one.name));
        }
    }
}
