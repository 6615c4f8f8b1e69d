//! `test`: everything that has to pass, in one command.
//!
//! Goes on after a failure, so that one run shows all of them. Starts nothing that outlives it, and
//! stops nothing that it did not start.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use units::{Clock, RealClock};

use crate::packages::{Needed, install};
use crate::shell::{cargo, line, run};
use crate::{licenses, shell, throttles};

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

/// A step: its name and what it does.
type Step = (&'static str, fn() -> Result<()>);

/// Quick ones first, so that a slip shows at once.
const STEPS: [Step; 7] = [
    ("format", || run(say(&mut cargo(&["fmt", "--all", "--check"])))),
    ("licenses", || licenses::perform(&[])),
    ("lints", || run(say(&mut cargo(&["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"])))),
    ("tests", || run(say(&mut cargo(&["test", "--workspace", "--no-fail-fast"])))),
    ("documentation", || {
        let mut doc = cargo(&["doc", "--workspace", "--no-deps"]);
        run(say(doc.env("RUSTDOCFLAGS", "-D warnings")))
    }),
    ("a real run", real_run),
    ("throttles", throttles::once),
];

/// Runs all steps and sums up.
pub fn perform() -> Result<()> {
    install(&NEEDED)?;
    let clock = RealClock::start();
    let mut summary = Vec::new();
    let mut n_failed = 0;
    for (name, step) in STEPS {
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
    ensure!(n_failed == 0, "{n_failed} of {} steps failed", STEPS.len());
    Ok(())
}

/// Prints a command that is going to be run.
pub fn say(command: &mut Command) -> &mut Command {
    println!("{}", line(command));
    command
}

/// Does what README promises, with the released form of the program: a valid run within a minute, and an
/// audit that finds nothing.
fn real_run() -> Result<()> {
    let plimsoll = release_binary()?;
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("quick.plim");
    // Where the machine was busy with something else, the verdict rightly says so: one more try.
    if let Err(error) = quick(&plimsoll, &file) {
        println!("{error:#}; once more");
        quick(&plimsoll, &file)?;
    }
    run(say(Command::new(&plimsoll).arg("audit").arg(&file)))
}

fn quick(plimsoll: &PathBuf, file: &PathBuf) -> Result<()> {
    for old in [file.clone(), file.with_extension("html")] {
        if old.exists() {
            fs::remove_file(old)?;
        }
    }
    let clock = RealClock::start();
    run(say(Command::new(plimsoll).args(["run", "webstone-2.0.1", "--quick", "--out"]).arg(file)))?;
    let seconds = clock.now().as_secs_f64();
    ensure!(seconds < 60.0, "`--quick` took {seconds:.0} s, more than a minute");
    ensure!(file.with_extension("html").exists(), "no report beside the run file");
    Ok(())
}

/// Builds `plimsoll` for release and returns its path.
pub fn release_binary() -> Result<PathBuf> {
    release_binary_with(&[])
}

/// The same with more arguments for cargo: features.
pub fn release_binary_with(arguments: &[&str]) -> Result<PathBuf> {
    let mut build = cargo(&["build", "--release", "--package", "plimsoll", "--message-format", "json"]);
    build.args(arguments);
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
