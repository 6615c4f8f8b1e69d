//! `examples`: the run, the picture and the reports that README and `docs/examples` show, made anew by this build.
//!
//! Nothing is written unless all runs of a part are valid: a machine that is busy with something else makes no example.

use std::fs;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};

use crate::build::packaged_binary_with;
use crate::packages::{self, REQUIRED_PACKAGES, RequiredPackage};
use crate::shell::{line, output, root, run, say, write_page};

/// A part of the examples.
struct Part {
    name: &'static str,
    minutes: u32,
    /// Makes the files of the part, with a program and in a folder for its runs.
    make: fn(&Path, &Path) -> Result<()>,
}

const PARTS: [Part; 3] = [
    Part { name: "readme", minutes: 1, make: readme },
    Part { name: "campaign", minutes: 14, make: campaign },
    Part { name: "accelerator", minutes: 13, make: accelerator },
];

const BROWSER: [RequiredPackage; 1] = [("chromium", "chromium")];

/// The size of the picture, that of the first screen.
const WINDOW: &str = "--window-size=1280,900";

/// The notes of the runs, which keep back what tells one machine of the makers from another.
const NOTES: &str = "format = 1\nwithhold = [\"system.command-line\", \"system.build\", \"system.init\"]\n";

/// Runs of the campaign: the arguments of `plimsoll run`, and the file or folder of each.
const CAMPAIGN: [(&str, &str); 4] = [
    ("webstone", "webstone-2.0.1 --sut built-in,nginx,apache --load 5,10,20,40,80 --duration 20s"),
    ("web96", "web96 --sut built-in,nginx,apache --rate 500,1000,1500,2000 --settle 3s --duration 15s"),
    (
        "dynpage",
        "dynpage --sut nginx,apache --gateway fastcgi --load 200,400,600,800 --ramp-up 5s --duration 15s --ramp-down 1s",
    ),
    (
        "dynpage-built-in.plim",
        "dynpage --sut built-in --load 200,400,600,800 --ramp-up 5s --duration 15s --ramp-down 1s",
    ),
];

const ACCELERATOR: &str = "web96 --sut apache --accelerator none,plimsoll,varnish,nginx \
                           --rate 1000,2000,4000,6000,8000 --settle 5s --duration 30s";

/// Makes the named parts, or all.
///
/// # Errors
/// An unknown name, or a run that is not valid.
pub fn perform(names: &[&str]) -> Result<()> {
    let known = || PARTS.iter().map(|part| part.name).collect::<Vec<_>>().join(", ");
    if let Some(other) = names.iter().find(|name| PARTS.iter().all(|part| part.name != **name)) {
        bail!("unknown example `{other}`; expected one of {}", known());
    }
    packages::install(&REQUIRED_PACKAGES)?;
    packages::install(&BROWSER)?;
    let chosen: Vec<&Part> =
        PARTS.iter().filter(|part| names.is_empty() || names.contains(&part.name)).collect();
    let has_reports = chosen.iter().any(|part| part.name != "readme");
    let plimsoll = packaged_binary_with(if has_reports { &["--features", "plimsoll/pdf"] } else { &[] })?;
    for part in chosen {
        println!("== {}, about {} minutes", part.name, part.minutes);
        let folder = tempfile::tempdir()?;
        (part.make)(&plimsoll, folder.path())?;
    }
    Ok(())
}

/// Makes the block and the picture of the README from one run.
fn readme(plimsoll: &Path, folder: &Path) -> Result<()> {
    let printed = valid_output(&mut command(plimsoll, folder, "run webstone-2.0.1 --quick"))?;
    let path = root().join("README.md");
    let page = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    let page = with_block(&page, printed.trim_matches('\n')).context("README.md has no block of text")?;
    let report = file_in(&folder.join("runs"), "html")?;
    let picture = root().join("docs/images/report.png");
    let mut browser = Command::new("chromium");
    browser.args(["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", WINDOW]);
    browser.arg(format!("--screenshot={}", picture.display())).arg(format!("file://{}", report.display()));
    run(say(&mut browser).stderr(Stdio::null()))?;
    println!("{}", picture.display());
    write_page("README.md", &page)
}

fn campaign(plimsoll: &Path, folder: &Path) -> Result<()> {
    let runs = folder.join("campaign");
    fs::create_dir(&runs)?;
    for (name, arguments) in CAMPAIGN {
        record(plimsoll, folder, &format!("run {arguments}"), &folder.join(name))?;
        gather(&folder.join(name), &runs, name)?;
    }
    for (option, form) in [("--out", "html"), ("--pdf", "pdf")] {
        let page = root().join(format!("docs/examples/campaign.{form}"));
        run(say(command(plimsoll, folder, "report campaign").arg(option).arg(page)))?;
    }
    Ok(())
}

fn accelerator(plimsoll: &Path, folder: &Path) -> Result<()> {
    record(plimsoll, folder, &format!("run {ACCELERATOR}"), &folder.join("accelerator"))?;
    let page = |form| root().join(format!("docs/examples/accelerator.{form}"));
    let mut compare = command(plimsoll, folder, "compare accelerator");
    compare.arg("--html").arg(page("html")).arg("--pdf").arg(page("pdf"));
    run(say(&mut compare))
}

/// Returns a command of the program in a folder. It is started under its bare name, which is what the command line of a
/// report then has.
fn command(plimsoll: &Path, folder: &Path, arguments: &str) -> Command {
    let mut command = Command::new(plimsoll);
    command.arg0("plimsoll").args(arguments.split_whitespace()).current_dir(folder);
    command
}

/// Records runs with the notes, and audits them.
fn record(plimsoll: &Path, folder: &Path, arguments: &str, out: &Path) -> Result<()> {
    fs::write(folder.join("notes.toml"), NOTES)?;
    let mut run = command(plimsoll, folder, arguments);
    run.args(["--notes", "notes.toml", "--out"]).arg(out.strip_prefix(folder)?);
    valid_output(&mut run)?;
    for file in run_files(out)? {
        output(command(plimsoll, folder, "audit").arg(file))?;
    }
    Ok(())
}

/// Runs a command and returns what it printed, if its runs are valid.
fn valid_output(command: &mut Command) -> Result<String> {
    println!("{}", line(command));
    let ended = command.stderr(Stdio::inherit()).output().with_context(|| line(command))?;
    let printed = String::from_utf8_lossy(&ended.stdout).into_owned();
    print!("{printed}");
    ensure!(ended.status.success(), "`{}` ended with {}; is the machine quiet?", line(command), ended.status);
    Ok(printed)
}

/// Moves run files into one folder; those of several servers get the name of their benchmark, too.
fn gather(from: &Path, to: &Path, name: &str) -> Result<()> {
    for file in run_files(from)? {
        let of_run = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let moved = if from.is_dir() { format!("{name}-{of_run}") } else { of_run };
        fs::rename(&file, to.join(moved))?;
    }
    Ok(())
}

/// Returns the run files of a folder, or a run file itself.
fn run_files(path: &Path) -> Result<Vec<PathBuf>> {
    if path.is_file() {
        return Ok(vec![path.to_owned()]);
    }
    let mut files = Vec::new();
    for entry in fs::read_dir(path).with_context(|| path.display().to_string())? {
        files.push(entry?.path());
    }
    files.retain(|file| file.extension().is_some_and(|extension| extension == "plim"));
    files.sort();
    Ok(files)
}

/// Returns the only file of a folder with an extension.
fn file_in(folder: &Path, extension: &str) -> Result<PathBuf> {
    for entry in fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let path = entry?.path();
        if path.extension().is_some_and(|one| one == extension) {
            return Ok(path);
        }
    }
    bail!("no {extension} in {}", folder.display())
}

/// Replaces the first block of text of a page; `None` if it has none.
fn with_block(page: &str, text: &str) -> Option<String> {
    const FENCE: &str = "```text\n";
    let start = page.find(FENCE)? + FENCE.len();
    let end = start + page[start..].find("\n```")?;
    Some(format!("{}{text}{}", &page[..start], &page[end..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_first_block_of_text_is_replaced() {
        let page = "a\n```sh\nx\n```\n```text\nold\nold\n```\nb\n```text\nkept\n```\n";
        let expected = "a\n```sh\nx\n```\n```text\nnew\n```\nb\n```text\nkept\n```\n";
        assert_eq!(with_block(page, "new").as_deref(), Some(expected));
        assert_eq!(with_block("no block", "new"), None);
    }

    #[test]
    fn the_readme_has_the_block_and_the_picture_and_the_examples_are_documented() {
        let read = |path: &str| fs::read_to_string(root().join(path)).unwrap();
        let readme = read("README.md");
        let block = with_block(&readme, "").unwrap().len();
        assert!(block < readme.len() && readme.contains("(docs/images/report.png)"));
        let page = read("docs/examples/README.md").replace("\\\n    ", "").replace('\n', " ");
        let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let page = words(&page);
        for arguments in CAMPAIGN.map(|(_, arguments)| arguments).into_iter().chain([ACCELERATOR]) {
            assert!(page.contains(&words(arguments)), "{arguments}");
        }
    }

    #[test]
    fn run_files_of_several_servers_do_not_replace_one_another() {
        let folder = tempfile::tempdir().unwrap();
        let runs = folder.path().join("all");
        fs::create_dir(&runs).unwrap();
        for name in ["web96", "webstone"] {
            let from = folder.path().join(name);
            fs::create_dir(&from).unwrap();
            fs::write(from.join("nginx.plim"), name).unwrap();
            fs::write(from.join("nginx.html"), "").unwrap();
            gather(&from, &runs, name).unwrap();
        }
        fs::write(folder.path().join("one.plim"), "").unwrap();
        gather(&folder.path().join("one.plim"), &runs, "one.plim").unwrap();
        let names: Vec<_> =
            run_files(&runs).unwrap().iter().map(|file| file.file_name().unwrap().to_owned()).collect();
        assert_eq!(names, ["one.plim", "web96-nginx.plim", "webstone-nginx.plim"]);
    }
}
