//! `bench-generator`: what a request costs Plimsoll, measured beside wrk.
//!
//! nginx with one worker has CPU 0, the generators take turns on CPU 1. Requests are counted at the
//! server, by nginx itself or by its own words; CPU time is that of the whole process: start,
//! load, recording with all checks, and the report at the end.

mod cases;
mod figures;
mod floor;
mod generator;
mod machine;
mod nginx;
mod open_loop;
mod process;
mod site;
mod stall;

use anyhow::{Context, Result, bail, ensure};

use crate::packages::install;
use crate::shell::root;
use crate::test::release_binary;

/// CPU of the server.
const SERVER_CPU: &str = "0";
/// CPU of the generators.
const LOAD_CPU: &str = "1";

/// How often and how long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// How often each generator takes its turn.
    pub rounds: usize,
    /// Length of a turn in s.
    pub seconds: u32,
    /// Write the result to `docs/`.
    pub write: bool,
}

impl Options {
    /// Reads the command line.
    pub fn parse(arguments: &[&str]) -> Result<Options> {
        let mut options = Options { rounds: 5, seconds: 5, write: false };
        let mut rest = arguments.iter();
        while let Some(name) = rest.next() {
            let mut number = || -> Result<u32> {
                let text = rest.next().with_context(|| format!("expected a number after `{name}`"))?;
                let number = text.parse().with_context(|| format!("`{name} {text}`"))?;
                ensure!(0 < number, "`{name}`: expected at least 1");
                Ok(number)
            };
            match *name {
                "--rounds" => options.rounds = number()? as usize,
                "--seconds" => options.seconds = number()?,
                "--write" => options.write = true,
                other => bail!("unknown option `{other}`"),
            }
        }
        Ok(options)
    }
}

/// Measures everything, prints the result as Markdown, and writes it to `docs/` if asked to.
pub fn perform(options: &Options) -> Result<()> {
    install(&[("nginx", "nginx-light"), ("wrk", "wrk"), ("taskset", "util-linux")])?;
    raise_open_files()?;
    let plimsoll = release_binary()?;
    let site = site::Site::new(&plimsoll)?;
    let mut text = machine::facts(options)?;
    text += &cases::perform(&site, options)?;
    text += &open_loop::perform(&site)?;
    text += &stall::perform(&site)?;
    println!("\n{text}");
    if options.write {
        let path = root().join("docs/bench-generator.md");
        std::fs::write(&path, text)?;
        println!("{}", path.display());
    }
    Ok(())
}

/// Lets everything that is started here have as many connections as the machine permits.
fn raise_open_files() -> Result<()> {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let maximum = getrlimit(Resource::Nofile).maximum;
    ensure!(
        maximum.is_none_or(|maximum| cases::OPEN_FILES_MIN <= maximum),
        "{maximum:?} open files allowed, {} needed\nhint: `ulimit -Hn {}` as root",
        cases::OPEN_FILES_MIN,
        cases::OPEN_FILES_MIN,
    );
    Ok(setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum })?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_have_defaults_and_refuse_what_they_do_not_know() {
        assert_eq!(Options::parse(&[]).unwrap(), Options { rounds: 5, seconds: 5, write: false });
        let all = Options::parse(&["--write", "--rounds", "7", "--seconds", "2"]).unwrap();
        assert_eq!(all, Options { rounds: 7, seconds: 2, write: true });
        for wrong in [&["--rounds"][..], &["--rounds", "0"], &["--seconds", "x"], &["--fast"]] {
            assert!(Options::parse(wrong).is_err(), "{wrong:?}");
        }
    }
}
