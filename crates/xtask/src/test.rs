//! `test`: everything that has to pass, in one command.
//!
//! Goes on after a failure, so that one run shows all of them. A step that could not be run has failed. One that needs
//! quiet says so, and is tried again only where somebody else used the machine ([`crate::noise`]). Starts nothing that
//! outlives it, and stops nothing that it did not start.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use units::{Clock, RealClock};

use crate::noise::{Precedence, Tried, is_noise, until_quiet};
use crate::packages::{Needed, install};
use crate::shell::{cargo, line, run};
use crate::{licenses, shell, test_binaries, throttles};

/// What the tests start: servers by recipe, what makes their pages, accelerators, Python as a server of another make, Node
/// for what is of the form of the public tests for caches, slow networks.
pub const NEEDED: [Needed; 18] = [
    ("cc", "gcc"),
    ("nginx", "nginx-light"),
    ("apache2", "apache2"),
    ("/usr/lib/apache2/modules/mod_wsgi.so", "libapache2-mod-wsgi-py3"),
    ("caddy", "caddy"),
    ("lighttpd", "lighttpd"),
    ("/usr/lib/lighttpd/mod_openssl.so", "lighttpd-mod-openssl"),
    ("fcgiwrap", "fcgiwrap"),
    ("php", "php-cli"),
    ("php-fpm*", "php-fpm"),
    ("varnishd", "varnish"),
    ("traffic_server", "trafficserver"),
    ("haproxy", "haproxy"),
    ("squid", "squid"),
    ("/usr/bin/python3", "python3"),
    ("gunicorn", "gunicorn"),
    ("node", "nodejs"),
    ("tc", "iproute2"),
];

/// How `plimsoll` ends after a run that is not valid.
const NOT_VALID: i32 = 3;

/// A step: its name and what it does.
type Step = (&'static str, Box<dyn FnOnce() -> Result<()>>);

/// Quick ones first, so that a slip shows at once. What needs quiet comes when everything is built.
fn steps() -> Vec<Step> {
    // Beside the lints: each leaves a CPU idle now and then, and neither measures anything.
    let release = std::thread::spawn(|| shell::output(&mut cargo(&RELEASE)));
    vec![
        ("format", Box::new(|| run(say(&mut cargo(&["fmt", "--all", "--check"]))))),
        ("licenses", Box::new(|| licenses::perform(&[]))),
        (
            "lints",
            Box::new(|| {
                run(say(&mut cargo(&["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"])))
            }),
        ),
        (
            "documentation",
            Box::new(|| {
                let mut doc = cargo(&["doc", "--workspace", "--no-deps"]);
                run(say(doc.env("RUSTDOCFLAGS", "-D warnings")))
            }),
        ),
        (
            "release build",
            Box::new(|| {
                println!("{}", line(&cargo(&RELEASE)));
                release.join().expect("the thread only runs cargo").map(drop)
            }),
        ),
        ("tests", Box::new(test_binaries::perform)),
        ("a real run", Box::new(real_run)),
        ("throttles", Box::new(throttles::once)),
    ]
}

/// Builds what README's first command runs.
const RELEASE: [&str; 4] = ["build", "--release", "--package", "plimsoll"];

/// Runs all steps and sums up.
pub fn perform() -> Result<()> {
    install(&NEEDED)?;
    let clock = RealClock::start();
    let mut summary = Vec::new();
    let mut n_failed = 0;
    let steps = steps();
    let n_steps = steps.len();
    for (name, step) in steps {
        println!("\n== {name}");
        let begin = clock.now();
        let result = step();
        let seconds = clock.now().saturating_sub(begin).as_secs_f64();
        let word = match &result {
            Ok(()) => "passed".to_owned(),
            Err(error) => {
                n_failed += 1;
                format!("FAILED: {error:#}")
            }
        };
        println!("{name}: {word}");
        summary.push(format!("  {name:<14} {seconds:>6.0} s  {word}"));
    }
    let seconds = clock.now().as_secs_f64();
    println!("\n== summary, {seconds:.0} s in all\n{}", summary.join("\n"));
    ensure!(n_failed == 0, "{n_failed} of {n_steps} steps failed");
    Ok(())
}

/// Prints a command that is going to be run.
pub fn say(command: &mut Command) -> &mut Command {
    println!("{}", line(command));
    command
}

/// Does what README promises, with the released form of the program: a valid run within a minute, and an
/// audit that finds nothing. Where the machine was busy with something else, the verdict rightly says so.
fn real_run() -> Result<()> {
    let plimsoll = release_binary()?;
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("quick.plim");
    let _precedence = Precedence::take();
    until_quiet("a quick run", || quick(&plimsoll, &file))?;
    run(say(Command::new(&plimsoll).arg("audit").arg(&file)))
}

fn quick(plimsoll: &Path, file: &Path) -> Result<Tried> {
    for old in [file.to_owned(), file.with_extension("html")] {
        if old.exists() {
            fs::remove_file(old)?;
        }
    }
    let clock = RealClock::start();
    let mut quick = Command::new(plimsoll);
    quick.args(["run", "webstone-2.0.1", "--quick", "--out"]).arg(file);
    let status = say(&mut quick).status()?;
    let seconds = clock.now().as_secs_f64();
    ensure!(file.with_extension("html").exists(), "no report beside the run file");
    if seconds >= 60.0 {
        return Ok(Tried::Wrong(format!("`--quick` took {seconds:.0} s, more than a minute")));
    }
    if status.success() {
        return Ok(Tried::Right);
    }
    ensure!(status.code() == Some(NOT_VALID), "`{}` ended with {status}", line(&quick));
    let mut report = Command::new(plimsoll);
    let report = shell::output(report.arg("report").arg(file).args(["--format", "json"]))?;
    let rules = throttles::rules_of(&serde_json::from_str(&report).context("the report as JSON")?);
    let why = format!("not valid by {}", rules.join(", "));
    Ok(if is_noise(&rules) { Tried::Spoilt(why) } else { Tried::Wrong(why) })
}

/// Builds `plimsoll` for release and returns its path.
pub fn release_binary() -> Result<PathBuf> {
    release_binary_with(&[])
}

/// The same with more arguments for cargo: features.
pub fn release_binary_with(arguments: &[&str]) -> Result<PathBuf> {
    let mut build = cargo(&RELEASE);
    build.args(["--message-format", "json"]).args(arguments);
    println!("{}", line(&build));
    // Progress and errors go where ours go; the messages say where the program is.
    let messages = shell::output(build.stderr(std::process::Stdio::inherit()))?;
    for message in messages.lines() {
        let message: serde_json::Value = serde_json::from_str(message).context("cargo's messages")?;
        if let (Some("plimsoll"), Some(path)) =
            (message["target"]["name"].as_str(), message["executable"].as_str())
        {
            return Ok(path.into());
        }
    }
    bail!("cargo did not say where it put `plimsoll`")
}
