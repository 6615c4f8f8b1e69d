//! `bench-files`: the CPU time of clients that replay a captured mix, on a directory beside dbench and on Samba beside
//! smbtorture, and of single calls of NFS beside the crate `nfs3_client`.
//!
//! All of a case have as many clients, on files of their own in the same place.
//!
//! - `cases`: the cases, and the bars of their comparisons
//! - `peers`: dbench and smbtorture
//! - `samba`: the server
//! - `nfs`: the server, and the other client
//! - `page`: the tables

mod cases;
mod nfs;
mod page;
mod peers;
mod samba;

use std::path::Path;

use anyhow::Result;
use serde_json::Value;

use self::cases::{CASES, FileLoad, FilePlace, NfsCall};
use self::nfs::Ganesha;
use self::samba::Samba;
use super::figures::Column;
use super::harness::{Case, Facts, Measurement};
use super::load_tools::{PlimsollRun, number};
use super::machine::Program;
use super::options::BenchOptions;
use super::process::FinishedProcess;
use super::rounds::{Contender, MeasuredRounds};
use super::site::Site;
use crate::packages::RequiredPackage;

/// The load file that all replay, of Debian's package `dbench`.
const LOAD_FILE: &str = "/usr/share/dbench/client.txt";

/// The benchmark that replays it.
const MIX: &str = "netbench --set loadfile=/usr/share/dbench/client.txt";

/// Clients of every turn.
const CLIENTS: u32 = 4;

/// The phases of a short run before the steady one: ramp-up, in which half of the clients are there in the mean, and settle.
const BEFORE_SECONDS: f64 = 0.5 / 2.0 + 2.0;

/// Captured mixes in turns.
pub(super) struct FileMeasurement {
    site: Site,
    /// Started with the first turn on it.
    samba: Option<Samba>,
    ganesha: Option<Ganesha>,
    seconds: u32,
}

/// The costs of a turn.
#[derive(Debug, Clone, Copy)]
pub(super) struct FileCosts {
    /// User and system time of the whole process, or of all processes of another program, per operation, in µs. Of Plimsoll
    /// it includes its start, reading the load file, recording, analysis and report.
    process_us: f64,
    /// Of the threads of clients and of load threads alone, in the steady phase; NaN of other programs that do not tell.
    load_us: f64,
    /// Operations per second.
    rate: f64,
    /// Bytes read and written per second, in 10⁶; NaN of single calls.
    megabytes: f64,
}

const PROCESS: Column<FileCosts> = Column::new("µs per operation", 2, |costs| costs.process_us);
const LOAD: Column<FileCosts> = Column::new("of it load, steady phase", 2, |costs| costs.load_us);
const RATE: Column<FileCosts> = Column::new("operations/s", 0, |costs| costs.rate);
const MEGABYTES: Column<FileCosts> = Column::new("MB/s", 1, |costs| costs.megabytes);

/// The columns of every turn.
const COLUMNS: [Column<FileCosts>; 4] = [PROCESS, LOAD, RATE, MEGABYTES];

/// The columns by which builds are compared: their starts and reports are not.
const COMPARED: [Column<FileCosts>; 1] = [LOAD];

impl Measurement for FileMeasurement {
    type Load = FileLoad;
    type Costs = FileCosts;

    const NAME: &'static str = "bench-files";
    const PAGE: &'static str = "docs/bench-files.md";
    const NEEDED: &'static [RequiredPackage] = &[
        (LOAD_FILE, "dbench"),
        ("smbd", "samba"),
        ("smbtorture", "samba-testsuite"),
        ("ganesha.nfsd", "nfs-ganesha"),
        ("/usr/share/doc/nfs-ganesha-vfs/copyright", "nfs-ganesha-vfs"),
        ("rpcbind", "rpcbind"),
        ("ip", "iproute2"),
        ("taskset", "util-linux"),
    ];
    const PROGRAMS: &'static [Program] = &[
        ("dbench", "dbench", "--help"),
        ("Samba", "smbd", "--version"),
        ("smbtorture", "smbtorture", "--version"),
        ("NFS-Ganesha", "ganesha.nfsd", "-v"),
    ];
    const ROUNDS: usize = 3;
    const SECONDS: u32 = 20;
    const CASES: &'static [Case<FileLoad>] = &CASES;

    fn prepare(options: &BenchOptions, plimsoll: &Path) -> Result<FileMeasurement> {
        let site = Site::empty(plimsoll)?;
        Ok(FileMeasurement { site, samba: None, ganesha: None, seconds: options.seconds })
    }

    fn peers(&self, load: &FileLoad) -> Vec<&'static str> {
        vec![load.place.peer()]
    }

    fn take(&mut self, load: &FileLoad, contender: &Contender) -> Result<FileCosts> {
        match load.place {
            FilePlace::Directory => self.take_on_directory(load, contender),
            FilePlace::Samba => self.take_on_samba(load, contender),
            FilePlace::Nfs(call) => self.take_on_nfs(call, load, contender),
        }
    }

    fn columns(_: &'static FileLoad) -> &'static [Column<FileCosts>] {
        &COLUMNS
    }

    fn compared(_: &'static FileLoad) -> &'static [Column<FileCosts>] {
        &COMPARED
    }

    fn page(&mut self, facts: &Facts, measured: &MeasuredRounds<FileCosts>) -> Result<String> {
        Ok(page::head(facts) + &page::tables(measured))
    }
}

impl FileMeasurement {
    /// Takes a turn in a new directory on a disk, which has both CPUs: there is no server beside the load.
    fn take_on_directory(&self, load: &FileLoad, contender: &Contender) -> Result<FileCosts> {
        let FileMeasurement { site, seconds, .. } = self;
        let directory = tempfile::Builder::new().prefix("plimsoll-bench-").tempdir_in("/var/tmp")?;
        let cpus = load.place.cpus();
        let Some(program) = &contender.program else {
            return peers::dbench(site, directory.path(), cpus, *seconds);
        };
        let target = format!("file://{}", directory.path().display());
        let arguments = arguments(MIX, load, *seconds);
        let (ended, point) = PlimsollRun { program, cpus, ..site.run(&arguments, &target) }.perform()?;
        // The system under test is part of the process.
        let of_calls = number(&point, "/sut/cpu_per_operation_s")?;
        FileCosts::of(&ended, &point, *seconds, of_calls)
    }

    /// Takes a turn on the share, whose server has a CPU of its own.
    fn take_on_samba(&mut self, load: &FileLoad, contender: &Contender) -> Result<FileCosts> {
        let FileMeasurement { site, samba, seconds, .. } = self;
        let samba = match samba {
            Some(samba) => samba,
            None => samba.insert(Samba::start()?),
        };
        let Some(program) = &contender.program else {
            return peers::smbtorture(site, samba, *seconds);
        };
        let (target, environment) = (samba.target(), [("PLIMSOLL_PASSWORD", samba.password())]);
        let (cpus, arguments) = (load.place.cpus(), arguments(MIX, load, *seconds));
        let run = site.run(&arguments, &target);
        let (ended, point) = PlimsollRun { program, cpus, environment: &environment, ..run }.perform()?;
        FileCosts::of(&ended, &point, *seconds, 0.0)
    }

    /// Takes a turn on the export, whose server has a CPU of its own.
    fn take_on_nfs(&mut self, call: NfsCall, load: &FileLoad, contender: &Contender) -> Result<FileCosts> {
        let FileMeasurement { site, ganesha, seconds, .. } = self;
        let ganesha = match ganesha {
            Some(ganesha) => ganesha,
            None => ganesha.insert(Ganesha::start()?),
        };
        let Some(program) = &contender.program else {
            return ganesha.take_peer(call, site, *seconds);
        };
        let work = match call {
            NfsCall::GetAttr => format!("netbench --set loadfile={}", nfs::write_queries(site)?.display()),
            NfsCall::Read => "file-micro --set test=rand-read".to_owned(),
        };
        let (cpus, arguments) = (load.place.cpus(), arguments(&work, load, *seconds));
        let run = site.run(&arguments, nfs::TARGET);
        let network = Some(ganesha.network());
        let (ended, point) = PlimsollRun { program, cpus, network, ..run }.perform()?;
        Ok(FileCosts { megabytes: f64::NAN, ..FileCosts::of(&ended, &point, *seconds, 0.0)? })
    }
}

/// Returns the arguments of a run of a benchmark with its own settings.
fn arguments(work: &str, load: &FileLoad, seconds: u32) -> String {
    let settings = load.settings;
    format!("{work} --quick --load {CLIENTS} --duration {seconds}s --monitor off {settings}")
}

impl FileCosts {
    /// Returns the costs of a run of Plimsoll; `of_calls` is the CPU time per operation of the calls that clients make, in s.
    fn of(ended: &FinishedProcess, point: &Value, seconds: u32, of_calls: f64) -> Result<FileCosts> {
        let seconds = f64::from(seconds);
        let rate = number(point, "/total/n")? / seconds;
        Ok(FileCosts {
            process_us: 1e6 * ended.cpu_s / (rate * (seconds + BEFORE_SECONDS)),
            load_us: 1e6 * (number(point, "/generator/cpu_per_operation_s")? + of_calls),
            rate,
            megabytes: number(point, "/score")? / 8.0,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::harness::tests::selected;

    #[test]
    fn the_mix_is_that_of_the_load_file() {
        assert!(MIX.ends_with(&format!("loadfile={LOAD_FILE}")));
    }

    #[test]
    fn cases_have_the_turns_that_they_need() {
        assert_eq!(selected::<FileMeasurement>(&[]).len(), CASES.len());
        for (case, n_turns) in [("directory", 2), ("samba", 1), ("nfs", 2)] {
            assert_eq!(selected::<FileMeasurement>(&["--case", case]).len(), n_turns, "{case}");
        }
    }
}
