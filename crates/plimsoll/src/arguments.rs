//! The command line.

use std::ops::RangeInclusive;
use std::path::PathBuf;

use analysis::compare::ChangeBound;
use clap::{Args, Parser, Subcommand, ValueEnum};
use languages::{
    LoadListError, RATE_MAX, is_terminal_control, parse_bytes, parse_load, parse_rates, parse_time,
};
use model::{
    APP_APPENDED_BYTES_MAX, APP_BLOCK_BYTES, Arrivals, DiskShare, GatewayKind, Limit, LimitError, Overrides,
    Setting, SutPlan, TotalTime, parse_limits,
};
use observe::{
    MonitorSource, MonitorSourceError, ProcessSelector, ProcessSelectorError, SshAccount, SshAccountError,
    available_cpus,
};
use plimsoll_accelerator::AccelerateArguments;
use units::{Bytes, Nanos};

use crate::argument_error::ArgumentError;
use crate::choice::choice;
use crate::connect_to::ConnectToArgument;
use crate::exit::Failure;
use crate::fail_if::parse_bounds;
use crate::progress::DisplayKind;
use crate::settings::{SettingArgument, SettingParser, ShorthandParser, pick};
use crate::shape_arguments::ShapeArguments;
use crate::url_arguments::UrlArguments;

/// Smallest memory limit that is accepted, in bytes: no server starts with less.
const MEMORY_MIN: u64 = 1 << 20;

/// Most characters of a label: it is part of file names and column heads.
const LABEL_CHARS_MAX: usize = 40;

/// Measure how much load a server can handle, what limits it, and whether the result can be trusted
///
/// `plimsoll run http://localhost:8080/` loads a page of a running server with 1 to 100 connections, in about a minute.
///
/// Plimsoll also runs the classic server benchmarks, against a running server or one that it starts: `plimsoll run
/// webstone-2.0.1 --quick` takes 40 seconds and needs nothing else installed. It monitors both the server and the load
/// generator, judges every run (valid, invalid with reasons, or incomplete) and writes a full disclosure report.
#[derive(Debug, Parser)]
#[command(version, propagate_version = true, subcommand_required = true, arg_required_else_help = true)]
pub(crate) struct Arguments {
    /// Print results as JSON on standard output
    #[arg(long, global = true)]
    pub json: bool,
    /// The command.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Load a URL (`http://localhost:8080/`) or run a benchmark, and write a report
    ///
    /// `plimsoll run http://localhost:8080/` loads a page of a server that is already running, with 1 to 100 connections, in
    /// about a minute; several URLs are requested equally often.
    ///
    /// For a benchmark, Plimsoll starts its built-in server and puts it under load: `plimsoll run webstone-2.0.1 --quick`
    /// takes 40 seconds. `--sut nginx` starts an installed server (`plimsoll suts` lists them),
    /// `--target http://10.0.0.5:8080/` tests a server that is already running, and `--sut nginx,apache` runs both,
    /// interleaved, and compares them. `plimsoll list` lists the benchmarks. Every departure from a benchmark's
    /// definition is listed in the result, which is marked as modified.
    ///
    /// A run is recorded in one file, whose path is the last line of the output; `plimsoll report` writes its report
    /// again. The exit code is 0 if the run is valid and 3 if it is not; the reasons are printed.
    Run(Box<RunArguments>),
    /// List the benchmarks
    List,
    /// Show a benchmark's load plan and workload
    Show(ShowArguments),
    /// Check that this machine is ready for a run
    Doctor(DoctorArguments),
    /// List this machine's hardware and software settings, with the source of each
    Inventory(DisclosureArguments),
    /// List recorded runs and how they ended
    Runs(RunsArguments),
    /// List servers and accelerators, and how to install missing ones
    ///
    /// `plimsoll run BENCHMARK --sut NAME` starts a server; the values that `--profile`, `--tls` and `--gateway` accept for
    /// it are listed below its name. `--accelerator NAME` puts an accelerator in front of it.
    Suts,
    /// Write the report of one run, or one report of several runs
    Report(ReportArguments),
    /// Compare runs: how much they differ, and how certain that is
    ///
    /// Repeated runs of one server are pooled; the first server is the baseline. A server is called faster or slower only if
    /// the difference is significant after correction for all metrics and loads compared. Otherwise the comparison says
    /// that there is no evidence of a difference, or that the runs are too noisy to tell, with the smallest detectable
    /// difference.
    Compare(CompareArguments),
    /// Export a run's records in a format that other tools read
    Export(ExportArguments),
    /// Recompute a run, or check a published report, and list the inconsistencies
    Audit(AuditArguments),
    /// Sign run files, so that others can verify who made them and that they are unchanged
    ///
    /// The seal of `NAME.plim` is `NAME.plim.seal`: the hashes of the run file and an Ed25519 signature.
    /// `plimsoll audit NAME.plim` finds and verifies it. The run file itself is not changed.
    Seal(SealArguments),
    /// Show published results, or compare a run with them
    History(HistoryArguments),
    /// Create a benchmark's file set on disk
    Populate(PopulateArguments),
    /// Measure the capacity of the load generator on this machine
    Calibrate(CalibrateArguments),
    /// Run one of the built-in servers
    Serve(ServeArguments),
    /// Run a caching reverse proxy in front of a web server
    ///
    /// `plimsoll accelerate --origin http://127.0.0.1:8080 --listen 0.0.0.0:80` stores only what RFC 9111 allows a shared
    /// cache to store. All other settings are in a configuration file, which is reloaded on SIGHUP. SIGTERM and SIGINT
    /// finish the requests in flight before stopping; SIGUSR1 reopens the access log. With `--json`, it prints one line of
    /// JSON with its addresses once it is listening.
    Accelerate(AccelerateArguments),
    /// Work as a load agent of a run on this or another machine
    ///
    /// `plimsoll run --agents` starts it, here or through `ssh`, and directs it over standard input and output. It loads only
    /// what the target policy of its own machine allows, and ends when its controller does.
    Agent(AgentArguments),
    /// Print a shell completion script
    Completions(CompletionsArguments),
    /// Print the manual page, or write those of all commands
    Man(ManArguments),
}

/// Arguments of `completions`.
#[derive(Debug, Args)]
pub(crate) struct CompletionsArguments {
    /// The shell
    pub shell: clap_complete::Shell,
    /// The program whose command lines are completed
    #[arg(long, value_name = "NAME", default_value = "plimsoll")]
    pub program: DocumentedProgram,
}

/// A program with a completion script.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum DocumentedProgram {
    /// The one with all commands
    Plimsoll,
    /// The accelerator alone
    PlimsollAccelerator,
}

/// Arguments of `man`.
#[derive(Debug, Args)]
pub(crate) struct ManArguments {
    /// Write a page for each command, and that of `plimsoll-accelerator`, to this folder
    #[arg(long, value_name = "FOLDER")]
    pub to: Option<PathBuf>,
}

/// The benchmark and the files it requests.
#[derive(Debug, Args)]
pub(crate) struct BenchmarkArguments {
    /// Benchmark: an id from `plimsoll list`, or the path of a benchmark definition (TOML)
    #[arg(value_name = "BENCHMARK")]
    pub benchmark: String,
    /// Use the files and weights of this filelist (WebStone 1.1 or 2.x format) instead of the benchmark's default: a file,
    /// or the name of a filelist that comes with the benchmark
    #[arg(long, value_name = "FILE|NAME")]
    pub filelist: Option<String>,
}

/// The benchmark and how many of its files.
#[derive(Debug, Args)]
pub(crate) struct FilesArguments {
    #[command(flatten)]
    pub benchmark: BenchmarkArguments,
    /// The highest load that will be run; the file sets of some benchmarks grow with it
    #[arg(long, value_name = "LOAD", value_parser = level)]
    pub max_load: Option<f64>,
}

/// Arguments of `show`.
#[derive(Debug, Args)]
pub(crate) struct ShowArguments {
    #[command(flatten)]
    pub benchmark: BenchmarkArguments,
}

/// Changes to the benchmark's plan.
#[derive(Debug, Clone, Args)]
pub(crate) struct PlanArguments {
    /// Benchmark: an id from `plimsoll list`, or the path of a benchmark definition (TOML); or the URLs of pages of a
    /// running server: `http://localhost:8080/`
    #[arg(value_name = "BENCHMARK|URL", required_unless_present_any = ["urls", "curl", "target"])]
    pub subjects: Vec<String>,
    /// Use the files and weights of this filelist (WebStone 1.1 or 2.x format) instead of the benchmark's default: a file,
    /// or the name of a filelist that comes with the benchmark
    #[arg(long, value_name = "FILE|NAME")]
    pub filelist: Option<String>,
    #[command(flatten)]
    pub overrides: OverrideArguments,
    #[command(flatten)]
    pub protocol: ProtocolArguments,
    /// Distribution of a parameter of the benchmark's requests: `directory=uniform`, `directory=zipf:0.8`,
    /// `file=weights:3.9,5.9,8.8`; may be repeated
    #[arg(long, value_name = "NAME=HOW", value_parser = pick)]
    pub pick: Vec<(String, String)>,
    /// Settings of the benchmark's family, which `plimsoll show BENCHMARK` lists: `tls=full`; several values, `tls=off,full`,
    /// are run interleaved and compared; may be repeated. Flags such as `--tls` are shorthands for settings
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = SettingParser, hide_possible_values = true)]
    pub settings: Vec<SettingArgument>,
    /// Let the statements of an SQL definition change the database; Plimsoll restores nothing
    #[arg(long)]
    pub allow_writes: bool,
    /// Seed of the random numbers that drive users and schedules
    #[arg(long, value_name = "NUMBER")]
    pub seed: Option<u64>,
    #[command(flatten, next_help_heading = "Load over time")]
    pub shape: ShapeArguments,
    /// End a load over time as soon as one of these limits is broken in 5 s on end: `p99<200ms,errors<1%`; the answer is the
    /// load at which that was, and the highest one within the limits
    #[arg(long, value_name = "LIMITS", value_parser = limits, help_heading = "Load over time")]
    pub until: Option<LimitList>,
}

impl PlanArguments {
    /// Returns what the flags override, on a server that planning replaces.
    ///
    /// # Errors
    /// A metric has two limits, or a shape has no stages of the length that is asked for.
    pub(crate) fn overrides(&self) -> Result<Overrides, Failure> {
        let asked = &self.overrides;
        let stages = self.shape.stages(asked.duration)?;
        Ok(Overrides {
            quick: asked.quick,
            load: asked.load.as_ref().map(|list| list.0.clone()),
            rates: asked.rate.as_ref().map(|list| list.0.clone()),
            max_load: asked.max_load,
            find_max: asked.find_max,
            operations: asked.operations,
            limits: asked.limits()?,
            arrivals: asked.arrivals,
            in_flight_max: asked.in_flight_max,
            ramp_up: asked.ramp_up,
            settle: asked.settle,
            // Of stages it is the length of all.
            steady: asked.duration.filter(|_| stages.is_none()),
            stages,
            until: self.until.as_ref().map(|list| list.0.clone()).unwrap_or_default(),
            total: asked.duration_total.map(total_time),
            ramp_down: asked.ramp_down,
            drain: asked.drain,
            seed: self.seed,
            ..Overrides::new(SutPlan::of("built-in"))
        })
    }

    /// Returns the settings of the family: those that flags are shorthands for, and those of `--set`.
    pub(crate) fn settings(&self) -> Vec<SettingArgument> {
        self.protocol.settings().into_iter().chain(self.settings_beside_protocol()).collect()
    }

    /// Returns the settings of the family without those of the protocol that flags are shorthands for.
    pub(crate) fn settings_beside_protocol(&self) -> Vec<SettingArgument> {
        let (writes, allowed) = Setting::SQL_WRITES;
        let flags =
            [("filelist", self.filelist.clone()), (writes, self.allow_writes.then(|| allowed.to_owned()))];
        let picks = self.pick.iter().map(|(name, how)| SettingArgument::of_flag(format!("pick.{name}"), how));
        of_flags(flags).chain(picks).chain(self.settings.iter().cloned()).collect()
    }
}

/// The time that the checks of a server take that is running already, the start of the load included.
const CHECKS: Nanos = Nanos::from_secs(2);

/// The time that trials of load threads take, and the fewest CPUs on which there are any.
const TRIALS: Nanos = Nanos::from_secs(4);
const TRIALS_CPUS_MIN: usize = 4;

/// Returns the time of a whole run, of one server.
fn total_time(whole: Nanos) -> TotalTime {
    let checks = if available_cpus().len() < TRIALS_CPUS_MIN { CHECKS } else { CHECKS + TRIALS };
    TotalTime { whole, checks, n_runs: 1 }
}

/// Returns the settings that flags with a value stand for.
fn of_flags<const N: usize>(
    flags: [(&'static str, Option<String>); N],
) -> impl Iterator<Item = SettingArgument> {
    flags.into_iter().filter_map(|(name, value)| Some(SettingArgument::of_flag(name, value?)))
}

/// Flags that override load, limits and phases: the fields of `model::Overrides`.
#[derive(Debug, Clone, Args)]
pub(crate) struct OverrideArguments {
    /// Run the benchmark's short form, which takes less than a minute; the result is marked as modified
    #[arg(long)]
    pub quick: bool,
    /// Numbers of users: `10..200/10`, `1,2,5`, or both combined; with URLs, each user has one connection
    #[arg(long, short = 'c', value_name = "LIST", value_parser = load_list, conflicts_with = "rate")]
    pub load: Option<UserList>,
    /// Open loop: offered rates in operations per second, `1000` or `500,1000,2000`, independent of the server's responses
    #[arg(long, value_name = "LIST", value_parser = rate_list)]
    pub rate: Option<RateList>,
    /// The highest load, for benchmarks whose load points rise to it in equal steps
    #[arg(long, value_name = "LOAD", value_parser = level, conflicts_with_all = ["load", "rate"])]
    pub max_load: Option<f64>,
    /// Search for the highest load, up to `--max-load`, that is valid and within the limits; in a closed loop without
    /// limits, search for the highest throughput
    #[arg(long, conflicts_with_all = ["load", "rate"])]
    pub find_max: bool,
    /// Start this many operations in all, and end: for servers that must not get more. Goes with one load (`-c 16` or
    /// `--rate 500`; with URLs by default 10 connections), all of it measured; `--duration` is then the longest that it may
    /// take, by default an hour. The checks of the server, which the plan counts, come on top
    #[arg(long, short = 'n', value_name = "N", value_parser = clap::value_parser!(u64).range(1..),
        conflicts_with_all = ["find_max", "max_load", "ramp_down"])]
    pub operations: Option<u64>,
    /// Limits that every load point must meet: `p99<50ms,errors<0.1%`; any percentile, mean, max, rate or delivered; may be
    /// repeated
    #[arg(long, value_name = "LIMITS", value_parser = limits)]
    pub limit: Vec<LimitList>,
    /// Open loop: distribution of the times between operations
    #[arg(long, value_parser = choice(about_arrivals))]
    pub arrivals: Option<Arrivals>,
    /// Open loop: maximum number of operations in flight
    #[arg(long, value_name = "N")]
    pub in_flight_max: Option<u32>,
    /// Length of the measured phase of each load point, or of a whole load over time: `600 s`, `10 min`, `1m30s`; seconds
    /// without a unit
    #[arg(long, value_name = "TIME", value_parser = time, allow_negative_numbers = true)]
    pub duration: Option<Nanos>,
    /// Length of the whole run, checks and pauses included, as far as they are known beforehand: the measured phases are as long
    /// as it leaves them
    #[arg(long, value_name = "TIME", value_parser = time, allow_negative_numbers = true,
        conflicts_with_all = ["duration", "find_max"])]
    pub duration_total: Option<Nanos>,
    /// Length of the ramp-up
    #[arg(long, value_name = "TIME", value_parser = time, allow_negative_numbers = true)]
    pub ramp_up: Option<Nanos>,
    /// Time at full load before measuring
    #[arg(long, value_name = "TIME", value_parser = time, allow_negative_numbers = true)]
    pub settle: Option<Nanos>,
    /// Length of the ramp-down
    #[arg(long, value_name = "TIME", value_parser = time, allow_negative_numbers = true)]
    pub ramp_down: Option<Nanos>,
    /// Time that operations in flight at the end may take to finish
    #[arg(long, value_name = "TIME", value_parser = time, allow_negative_numbers = true)]
    pub drain: Option<Nanos>,
}

impl OverrideArguments {
    /// Returns the limits of all flags.
    fn limits(&self) -> Result<Vec<Limit>, Failure> {
        let limits: Vec<Limit> = self.limit.iter().flat_map(|list| list.0.iter().copied()).collect();
        let is_twice =
            |index: &usize| limits[..*index].iter().any(|other| other.metric() == limits[*index].metric());
        match (1..limits.len()).find(is_twice) {
            Some(index) => Err(Failure::usage(format!("`--limit` has `{}` twice", limits[index].metric()))
                .hint("leave one of them out")),
            None => Ok(limits),
        }
    }
}

/// Flags that are shorthands for settings of the protocol of web servers.
#[derive(Debug, Clone, Args)]
pub(crate) struct ProtocolArguments {
    /// Timeout of one operation
    #[arg(long, value_name = "TIME", value_parser = ShorthandParser::of("time-limit"), allow_negative_numbers = true)]
    pub time_limit: Option<String>,
    /// Use persistent connections, optionally limited to this many requests each
    #[arg(long, value_name = "REQUESTS", num_args = 0..=1, require_equals = true, conflicts_with = "connection",
        value_parser = clap::value_parser!(u32).range(1..))]
    pub keep_alive: Option<Option<u32>>,
    /// Lifetime of a connection
    #[arg(long, value_parser = ShorthandParser::of("connection"))]
    pub connection: Option<String>,
    /// HTTP version
    #[arg(long, value_parser = ShorthandParser::of("http"), value_name = "VERSION")]
    pub http: Option<String>,
    /// Encrypt connections
    #[arg(long, value_parser = ShorthandParser::of("tls"))]
    pub tls: Option<String>,
    /// HTTP/2: number of users that share a connection
    #[arg(long, value_name = "N", value_parser = ShorthandParser::of("streams"))]
    pub streams: Option<String>,
}

impl ProtocolArguments {
    /// Returns the lifetime of connections that flags name.
    pub(crate) fn connection(&self) -> Option<String> {
        let keep_alive = self.keep_alive.map(|requests_max| match requests_max {
            Some(number) => format!("keep-alive:{number}"),
            None => "keep-alive".to_owned(),
        });
        keep_alive.or_else(|| self.connection.clone())
    }

    /// Returns the settings that were given.
    pub(crate) fn settings(&self) -> Vec<SettingArgument> {
        of_flags([
            ("http", self.http.clone()),
            ("tls", self.tls.clone()),
            ("streams", self.streams.clone()),
            ("connection", self.connection()),
            ("time-limit", self.time_limit.clone()),
        ])
        .collect()
    }
}

/// The server under test and the division of CPUs.
#[derive(Debug, Clone, Args)]
pub(crate) struct SutArguments {
    /// Test a server that is already running: `http://HOST:PORT/`, `https://HOST/` or `HOST:PORT`; an
    /// application server: `app://HOST:PORT`, or `http://HOST:PORT` if it speaks HTTP; a directory of this machine:
    /// `file:///PATH`; a share of a file server: `smb://USER@HOST:PORT/SHARE`, with the password from `PLIMSOLL_PASSWORD` or the
    /// file of `PLIMSOLL_PASSWORD_FILE`; an export of a file server: `nfs://HOST:PORT/EXPORT`; a mail server: `imap://HOST:PORT?submission=PORT&accounts=FILE`; a server of order-entry data: `orders://HOST:PORT`; a database, for order entry or statements of your own: `postgres://USER@HOST:PORT/DATABASE` with
    /// the password from `PGPASSWORD`, the file of `PGPASSFILE` or `~/.pgpass`, or `mysql://USER@HOST:PORT` with the password from
    /// `MYSQL_PWD`. Given several times, the servers are loaded in turns and compared
    #[arg(long, value_name = "URL", conflicts_with_all = ["sut", "sut_cpus", "sut_quota"])]
    pub target: Vec<String>,
    /// TLS to a target: trust only the certificate authorities in this file (PEM) instead of this machine's; a self-signed
    /// certificate is its own authority
    #[arg(long, value_name = "FILE", conflicts_with = "insecure")]
    pub ca: Option<PathBuf>,
    /// TLS to a target: accept any certificate; this is noted in the result
    #[arg(long)]
    pub insecure: bool,
    /// TLS to a target: certificate to show if the server asks for one (PEM), with its chain behind it; it is not stored
    #[arg(long, value_name = "FILE")]
    pub cert: Option<PathBuf>,
    /// Private key of the client certificate (PEM); by default in the file of `--cert`. It is not stored
    #[arg(long, value_name = "FILE", requires = "cert")]
    pub key: Option<PathBuf>,
    /// Connect to this address where the URL has this host and port, without a lookup of the name, as in curl;
    /// `-H 'Host: NAME'` does the same the other way round: connections go to the URL, and the server is asked for NAME
    #[arg(long, value_name = "HOST:PORT:ADDRESS", value_parser = ConnectToArgument::resolve)]
    pub resolve: Vec<ConnectToArgument>,
    /// Connect to the second host and port where the URL has the first ones, as in curl
    #[arg(long, value_name = "HOST:PORT:HOST:PORT")]
    pub connect_to: Vec<ConnectToArgument>,
    /// Connect to this Unix socket; the URL names the server. `http+unix://%2Frun%2Fapp.sock/` does the same for the server
    /// `localhost`
    #[arg(long, value_name = "FILE", conflicts_with_all = ["resolve", "connect_to", "source_addresses"])]
    pub unix_socket: Option<PathBuf>,
    /// Start an installed server by its recipe: `nginx`, `built-in`, or the path of a recipe (TOML); several, separated by
    /// commas, are run interleaved and compared
    #[arg(long, value_name = "RECIPE", value_delimiter = ',')]
    pub sut: Vec<String>,
    /// Settings profile of the server's recipe; `default` uses the settings that the server ships with
    #[arg(long, value_name = "NAME", requires = "sut")]
    pub profile: Option<String>,
    /// Put an accelerator (a caching reverse proxy) in front of the server: `plimsoll,varnish,nginx`, or the path of a
    /// recipe (TOML); several, or `none` for a run without one, are run interleaved and compared
    #[arg(long, value_name = "NAME", value_delimiter = ',', conflicts_with = "target")]
    pub accelerator: Vec<String>,
    /// Cache memory of the accelerator: `100 MiB`; by default large enough for all files
    #[arg(long, value_name = "SIZE", value_parser = memory, requires = "accelerator")]
    pub accelerator_memory: Option<u64>,
    /// How the server runs the programs that generate pages; several are run interleaved and compared
    #[arg(long, value_name = "KIND", value_parser = choice::<GatewayKind>(|_| None), value_delimiter = ',')]
    pub gateway: Vec<GatewayKind>,
    /// Number of page workers; several numbers are run interleaved and compared
    #[arg(long, value_name = "N", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub workers: Vec<u32>,
    /// Directory for the server's files, kept and reused between runs; by default a directory under `/var/tmp`
    #[arg(long, value_name = "DIR")]
    pub files: Option<PathBuf>,
    /// Local addresses to connect from, used in turn: `127.0.0.2,127.0.0.3`
    #[arg(long, value_name = "ADDRESSES", value_delimiter = ',')]
    pub source_addresses: Vec<std::net::IpAddr>,
    /// CPUs of the server: `0-1,3`
    #[arg(long, value_name = "CPUS", value_parser = cpu_list)]
    pub sut_cpus: Option<CpuList>,
    /// Run the server once with each of these numbers of CPUs, interleaved: `1,2,4`; whole cores are used before sibling
    /// threads, and the load generator keeps the same CPUs throughout
    #[arg(long, value_name = "NUMBERS", value_delimiter = ',', conflicts_with_all = ["target", "sut_cpus"])]
    pub sut_groups: Vec<usize>,
    /// Name of the server's state in this run: `before`, `php 8.4`; `plimsoll compare` treats runs of one server with
    /// different labels as different servers, and those with the same label as repetitions. Of several servers that are
    /// running, once for each, in place of A and B
    #[arg(long, value_name = "NAME", value_parser = label)]
    pub label: Vec<String>,
    /// Repeat each server N times, interleaved; by default once, with `--compare` 8 times and up to 24 until the answer is
    /// settled, and with several `--target`s of a benchmark 4 times
    #[arg(long, value_name = "TIMES", value_parser = clap::value_parser!(u32).range(1..=100))]
    pub repeat: Option<u32>,
    /// How often a server is repeated at most, as long as the answer about it is not settled; `None` if it is a fixed number
    #[arg(skip)]
    pub repeat_max: Option<u32>,
    /// CPUs of the load generator, one thread each
    #[arg(long, value_name = "CPUS", value_parser = cpu_list)]
    pub load_cpus: Option<CpuList>,
    /// CPU quota of the server, in CPUs (0.5 is half of one), or `none`
    #[arg(long, value_name = "CPUS", value_parser = quota)]
    pub sut_quota: Option<QuotaArgument>,
    /// Memory limit of the server, page cache included: `256 MiB`
    #[arg(long, value_name = "SIZE", value_parser = memory, conflicts_with = "target")]
    pub sut_memory: Option<u64>,
    /// Disk limits of the server, per second: `reads=50,read-bytes=5MiB`; also `writes`, `write-bytes`
    #[arg(long, value_name = "LIMITS", conflicts_with = "target")]
    pub sut_disk: Option<DiskShare>,
}

impl SutArguments {
    /// Returns the flags that were given and are about a server that is started, or about connections to one.
    pub(crate) fn of_servers(&self) -> impl Iterator<Item = &'static str> {
        let flags = [
            ("--sut-cpus", self.sut_cpus.is_some()),
            ("--sut-groups", !self.sut_groups.is_empty()),
            ("--sut-quota", self.sut_quota.is_some()),
            ("--sut-memory", self.sut_memory.is_some()),
            ("--sut-disk", self.sut_disk.is_some()),
            ("--source-addresses", !self.source_addresses.is_empty()),
        ];
        flags.into_iter().filter(|(_, is_given)| *is_given).map(|(flag, _)| flag)
    }
}

/// Arguments of `agent`.
#[derive(Debug, Args)]
pub(crate) struct AgentArguments {
    /// Talk to the controller over standard input and output
    #[arg(long, required = true)]
    pub stdio: bool,
}

/// Arguments of `run`.
#[derive(Debug, Args)]
pub(crate) struct RunArguments {
    #[command(flatten)]
    pub plan: PlanArguments,
    #[command(flatten)]
    pub url: UrlArguments,
    #[command(flatten, next_help_heading = "Server and load generator")]
    pub sut: SutArguments,
    /// Of servers that are compared: end with exit code 5 if a change is beyond a bound with 95 % certainty: `rate<-5%`,
    /// `mean>+5%`, `p99>+10%`, `cpu>+20%`, `errors>+0.5%`; separated by commas, and may be repeated
    #[arg(long, value_name = "BOUNDS", value_parser = bounds, help_heading = "Output")]
    pub fail_if: Vec<BoundList>,
    /// Exit code 5 also if a bound of `--fail-if` is undecided
    #[arg(long, requires = "fail_if", help_heading = "Output")]
    pub strict: bool,
    /// Perform the load by load agents, processes of their own: `ssh=USER@HOST` on other machines, which need this build of
    /// Plimsoll and a server that is already running; `local=2` so many on this one
    #[arg(long, value_name = "PLACES", value_delimiter = ',', help_heading = "Server and load generator")]
    pub agents: Vec<AgentsArgument>,
    /// Monitor another machine too, usually the server's: `prometheus=http://HOST:9100/metrics` (node_exporter or
    /// windows_exporter) or `ssh=USER@HOST`; or ask an application server how busy it is: `app=HOST:PORT`; `off` disables
    /// monitoring; may be repeated
    #[arg(long, value_name = "SOURCE", value_parser = monitor, help_heading = "Monitoring")]
    pub monitor: Vec<MonitorArgument>,
    /// Watch these processes too, such as a database behind the server: `port=NUMBER`, `pid=NUMBER`, `unit=NAME`,
    /// `cgroup=PATH` or `container=NAME`; `HOST/port=NUMBER` on a machine of `--monitor ssh=USER@HOST`; may be repeated.
    /// Those that listen at `--target` on this machine are always watched
    #[arg(long, value_name = "PROCESSES", help_heading = "Monitoring")]
    pub watch: Vec<WatchArgument>,
    #[command(flatten, next_help_heading = "Monitoring")]
    pub metrics: MetricsArguments,
    #[command(flatten, next_help_heading = "Output")]
    pub disclosure: DisclosureArguments,
    #[command(flatten)]
    pub display: DisplayArguments,
    /// Run file to write; by default `runs/BENCHMARK-TIME.plim`
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Price list (TOML) of the system under test, for price/performance in the report
    #[arg(long, value_name = "FILE")]
    pub price: Option<PathBuf>,
    /// Write the verdict and the limits to this file as JUnit XML
    #[arg(long, value_name = "FILE")]
    pub junit: Option<PathBuf>,
    /// Order entry: first measure the capacity of the servers without think time, and choose the think time with which the
    /// strongest of them, on the largest group of CPUs, is saturated at 0.7 of the highest load
    #[arg(long, conflicts_with = "operations")]
    pub calibrate_think_time: bool,
    /// Print the plan and exit
    #[arg(long)]
    pub dry_run: bool,
}

/// Disclosure options: the operator's notes and whether identities are shown.
#[derive(Debug, Args)]
pub(crate) struct DisclosureArguments {
    /// Operator's notes (TOML): vendor, RAID, who ran the benchmark and other facts that Plimsoll cannot read, and the
    /// fields to withhold
    #[arg(long, value_name = "FILE")]
    pub notes: Option<PathBuf>,
    /// Include serial numbers, UUIDs, addresses, host names and user names, which are redacted by default
    #[arg(long)]
    pub disclose_identity: bool,
}

/// Progress display options.
#[derive(Debug, Args)]
pub(crate) struct DisplayArguments {
    /// Progress display; by default `view` on a terminal of at least 80×20, `line` on a smaller one, and `plain` if
    /// standard error is not a terminal or `NO_COLOR` is set
    #[arg(long, value_name = "KIND", value_enum)]
    pub progress: Option<DisplayKind>,
    /// The same as `--progress plain`
    #[arg(long, conflicts_with = "progress")]
    pub plain: bool,
}

impl DisplayArguments {
    /// Returns the display that was requested.
    pub(crate) fn kind(&self) -> Option<DisplayKind> {
        if self.plain { Some(DisplayKind::Plain) } else { self.progress }
    }
}

/// Live metrics options.
#[derive(Debug, Args)]
pub(crate) struct MetricsArguments {
    /// Serve metrics for Prometheus at `http://ADDRESS/metrics`, for example `127.0.0.1:9464`; port 0 picks a free port
    #[arg(long, value_name = "ADDRESS")]
    pub prometheus: Option<std::net::SocketAddr>,
    /// Push metrics every 10 s, and once at the end, to an OTLP/HTTP collector: `http://HOST:4318/v1/metrics`
    #[arg(long, value_name = "URL")]
    pub otlp: Option<telemetry::Endpoint>,
}

/// Arguments of `doctor`.
#[derive(Debug, Args)]
pub(crate) struct DoctorArguments {
    /// Benchmark that will be run, or the URL of a page of a running server, which is requested three times and not loaded
    #[arg(value_name = "BENCHMARK|URL", default_value = "webstone-2.0.1")]
    pub benchmark: String,
    /// The highest load, for benchmarks whose load points rise to it in equal steps
    #[arg(long, value_name = "LOAD", value_parser = level)]
    pub max_load: Option<f64>,
    /// Expected requests per second
    #[arg(long, value_name = "NUMBER")]
    pub expect_rate: Option<f64>,
    /// The server is on another machine
    #[arg(long)]
    pub remote: bool,
}

/// Arguments of `runs`.
#[derive(Debug, Args)]
pub(crate) struct RunsArguments {
    /// Directory with run files
    #[arg(value_name = "DIR", default_value = "runs")]
    pub dir: PathBuf,
}

/// Arguments of `report`.
#[derive(Debug, Args)]
pub(crate) struct ReportArguments {
    /// Run file, or a directory of run files for one report of all of them
    #[arg(value_name = "RUN|DIR")]
    pub run: PathBuf,
    /// More run files or directories for the same report
    #[arg(value_name = "RUN|DIR")]
    pub more: Vec<PathBuf>,
    /// Format of the report
    #[arg(long, value_enum, default_value = "html")]
    pub format: FormatArgument,
    /// Output file, `-` for standard output; by default HTML and PNG are written next to the run file, other formats to
    /// standard output
    #[arg(long, short, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Price list (TOML) of the system under test, for price/performance
    #[arg(long, value_name = "FILE")]
    pub price: Option<PathBuf>,
    /// Write the report as PDF, typeset for print; requires a build with the feature `pdf`
    #[arg(long, value_name = "FILE", conflicts_with_all = ["format", "out"])]
    pub pdf: Option<PathBuf>,
    /// PDF of a run of URLs: all sections, some ten pages, instead of the first page and the results
    #[arg(long, requires = "pdf")]
    pub full: bool,
}

/// Arguments of `compare`.
#[derive(Debug, Args)]
pub(crate) struct CompareArguments {
    /// Run files, or directories of run files; the first is the baseline
    #[arg(value_name = "RUN", required_unless_present = "trend")]
    pub runs: Vec<PathBuf>,
    /// Show how the metrics of the runs in this directory and its subdirectories changed over time, with change points
    #[arg(long, value_name = "DIR", conflicts_with_all = ["runs", "baseline", "anyway", "fail_if", "junit", "pdf"])]
    pub trend: Option<PathBuf>,
    /// Use this run, or the runs of this directory, as the baseline instead of the first run; if all runs are of one server,
    /// the remaining ones form the other side; may be repeated
    #[arg(long, value_name = "RUN")]
    pub baseline: Vec<PathBuf>,
    /// Compare runs of different benchmarks or settings, at the loads they have in common; the differences are listed
    #[arg(long)]
    pub anyway: bool,
    /// Exit with 5 if a metric changed by more than this from the baseline to another side: `rate<-5%`, `p95>+10%`, also
    /// `mean`, any percentile, `cpu` (server CPU time per operation) and `errors` (`errors>+0.5%`: by half a percentage
    /// point). The whole 95 % confidence interval must be beyond the bound; if
    /// it contains the bound, the comparison is undecided and exits with 0. May be repeated
    #[arg(long, value_name = "BOUND", value_parser = bounds)]
    pub fail_if: Vec<BoundList>,
    /// Exit with 5 also if a bound of `--fail-if` is undecided
    #[arg(long, requires = "fail_if")]
    pub strict: bool,
    /// Write the verdicts and the bounds to this file as JUnit XML
    #[arg(long, value_name = "FILE")]
    pub junit: Option<PathBuf>,
    /// Write the comparison as Markdown, for a summary or a comment of a CI server; `-` for standard output
    #[arg(long, value_name = "FILE")]
    pub markdown: Option<PathBuf>,
    /// Write the comparison as a self-contained HTML file
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Write the comparison as PDF; requires a build with the feature `pdf`
    #[arg(long, value_name = "FILE")]
    pub pdf: Option<PathBuf>,
}

/// Arguments of `export`.
#[derive(Debug, Args)]
pub(crate) struct ExportArguments {
    /// Run file
    #[arg(value_name = "RUN")]
    pub run: PathBuf,
    /// Export format
    #[arg(long, value_enum)]
    pub format: ExportFormat,
    /// Output file; `-` (the default) is standard output
    #[arg(long, short, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

/// Arguments of `audit`.
#[derive(Debug, Args)]
pub(crate) struct AuditArguments {
    /// Run file, or a published report (TOML)
    #[arg(value_name = "RUN|REPORT.toml")]
    pub subject: PathBuf,
    /// Require a seal made with this public key: `ed25519:…`, or a file that contains it
    #[arg(long, value_name = "KEY")]
    pub signed_by: Option<String>,
}

/// Arguments of `seal`.
#[derive(Debug, Args)]
pub(crate) struct SealArguments {
    /// Run files to sign
    #[arg(value_name = "RUN", required_unless_present = "new_key")]
    pub runs: Vec<PathBuf>,
    /// Signing key; by default `seal.key` in `$XDG_CONFIG_HOME/plimsoll` (`~/.config/plimsoll`)
    #[arg(long, value_name = "FILE")]
    pub key: Option<PathBuf>,
    /// Create the signing key first and print its public key; an existing key is never overwritten
    #[arg(long)]
    pub new_key: bool,
}

/// Arguments of `history`.
#[derive(Debug, Args)]
pub(crate) struct HistoryArguments {
    /// Show only results of this benchmark
    pub benchmark: Option<String>,
    /// Run file to compare with the published results
    #[arg(long, value_name = "RUN", conflicts_with = "benchmark")]
    pub beside: Option<PathBuf>,
}

/// Arguments of `populate`.
#[derive(Debug, Args)]
pub(crate) struct PopulateArguments {
    #[command(flatten)]
    pub files: FilesArguments,
    /// Directory for the files, to be served as the server's document root
    #[arg(long, value_name = "DIR")]
    pub dir: PathBuf,
}

/// Arguments of `calibrate`.
#[derive(Debug, Args)]
pub(crate) struct CalibrateArguments {
    /// CPUs of the built-in server
    #[arg(long, value_name = "CPUS", value_parser = cpu_list)]
    pub sut_cpus: Option<CpuList>,
    /// CPUs of the load generator
    #[arg(long, value_name = "CPUS", value_parser = cpu_list)]
    pub load_cpus: Option<CpuList>,
    /// Length of each measurement
    #[arg(long, value_name = "TIME", value_parser = time, default_value = "5 s")]
    pub duration: Nanos,
}

/// Arguments of `serve`.
#[derive(Debug, Args)]
pub(crate) struct ServeArguments {
    /// The server to run.
    #[command(subcommand)]
    pub server: ServeCommand,
}

/// The built-in servers.
#[derive(Debug, Subcommand)]
pub(crate) enum ServeCommand {
    /// Serve a benchmark's file set over HTTP
    ///
    /// Serves HTTP/1, over TLS with `--tls-certificate` and `--tls-key`, and also HTTP/2 with `--http2`.
    ///
    /// Prints one line of JSON with its address once it is listening, and exits when its standard input is closed.
    Web(ServeWebArguments),
    /// Generate the pages of dynamic benchmarks for a web server, over FastCGI
    ///
    /// The paths are `/dyn`, `/cgi-bin/simple` and all paths that end in `.dyn-send`. Prints one line of JSON with its
    /// address once it is listening, and exits when its standard input is closed.
    Gateway(ServeGatewayArguments),
    /// Generate the pages of dynamic benchmarks over HTTP/1, behind a reverse proxy
    ///
    /// Serves the same pages as `gateway`, over persistent connections. Prints one line of JSON with its address once it is
    /// listening, and exits when its standard input is closed.
    Pages(ServePagesArguments),
    /// Perform the transactions of application server benchmarks
    ///
    /// A thread reads requests, a bounded queue holds them, and each service thread performs one at a time. The
    /// protocol is described in `docs/protocols/application-server.md`. The server has files only with `--directory`,
    /// and removes them when it exits.
    ///
    /// Prints one line of JSON with its address once it is listening, and exits when its standard input is closed or a
    /// signal (SIGTERM, SIGINT) asks it to.
    App(ServeAppArguments),
    /// Perform the transactions of the order-entry workload on SQLite
    ///
    /// One thread performs the transactions that write, others those that read; a bounded queue holds requests. The protocol
    /// is described in `docs/protocols/order-entry.md`. The data are made once for each size and seed, as a golden copy that
    /// stays in the directory; the server works on a copy of it, and removes that copy when it exits.
    ///
    /// Prints one line of JSON with its address once it is listening, and exits when its standard input is closed or a
    /// signal (SIGTERM, SIGINT) asks it to.
    Orders(ServeOrdersArguments),
    /// Serve mailboxes over IMAP, and take messages by submission (SMTP) and LMTP
    ///
    /// Mailboxes are in memory, and empty at the start. The users are `user1`, `user2` and so on, all with the password in
    /// `PLIMSOLL_PASSWORD`, or `plimsoll` on loopback if it is not set. Messages are delivered at once.
    ///
    /// Prints one line of JSON with its addresses once it is listening, and exits when its standard input is closed or a
    /// signal (SIGTERM, SIGINT) asks it to.
    Mail(ServeMailArguments),
}

/// Arguments of `serve app`.
#[derive(Debug, Args)]
pub(crate) struct ServeAppArguments {
    /// Address to listen on; port 0 picks a free port
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:0")]
    pub listen: std::net::SocketAddr,
    /// Number of service threads, 1 to 256
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=256), default_value = "49")]
    pub threads: u32,
    /// Number of requests that may wait for a service thread; further ones are answered with `busy`
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000), default_value = "1024")]
    pub queue_max: u32,
    /// Number of clients, which are numbered from 0
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000), default_value = "1024")]
    pub clients_max: u32,
    /// Maximum length of a client's data file
    #[arg(long, value_name = "SIZE", value_parser = file_size, default_value = "1 GiB")]
    pub file_max: u64,
    /// Length at which a client's second file, which is appended to, begins anew: 4 KiB to 20 MiB
    #[arg(long, value_name = "SIZE", value_parser = append_size, default_value = "20 MiB")]
    pub append_max: u64,
    /// Directory for the data files of clients, on a disk; without it, the server has no files
    #[arg(long, value_name = "DIR")]
    pub directory: Option<PathBuf>,
    /// Number of CPUs that the server limits itself to, all threads together: 0.01 to 256
    #[arg(long, value_name = "CPUS", value_parser = several_cpus)]
    pub cpu_allowance: Option<f64>,
    /// Inject a fault: `NAME`, or `NAME:N` for one in N operations; may be repeated
    #[arg(long, value_name = "FAULT")]
    pub fault: Vec<String>,
}

/// Arguments of `serve orders`.
#[derive(Debug, Args)]
pub(crate) struct ServeOrdersArguments {
    /// Address to listen on; port 0 picks a free port
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:0")]
    pub listen: std::net::SocketAddr,
    /// Number of warehouses
    #[arg(long, value_name = "N", default_value = "10")]
    pub warehouses: u32,
    /// Divisor of the numbers of customers, orders, items and stocks: 1, 2, 4, 5, 10, 20, 25, 50 or 100
    #[arg(long, value_name = "D", default_value = "100")]
    pub divisor: u32,
    /// Seed of the rows
    #[arg(long, value_name = "N", default_value = "1")]
    pub seed: u64,
    /// Directory on disk for the golden copy and, below it, the data
    #[arg(long, value_name = "DIR")]
    pub directory: PathBuf,
    /// Number of threads for read-only transactions, 1 to 64
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=64), default_value = "2")]
    pub readers: u32,
    /// When a commit is on disk
    #[arg(long, value_name = "WHEN", default_value = "normal")]
    pub synchronous: SynchronousArgument,
    /// Number of requests that may wait for a service thread; further ones are answered with `busy`
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000), default_value = "1024")]
    pub queue_max: u32,
    /// Number of terminals, which are numbered from 0
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000), default_value = "1024")]
    pub terminals_max: u32,
    /// Number of CPUs that the server limits itself to, all threads together: 0.01 to 256
    #[arg(long, value_name = "CPUS", value_parser = several_cpus)]
    pub cpu_allowance: Option<f64>,
    /// Inject a fault: `NAME`, or `NAME:N` for one in N transactions; may be repeated
    #[arg(long, value_name = "FAULT")]
    pub fault: Vec<String>,
}

/// Arguments of `serve mail`.
#[derive(Debug, Args)]
pub(crate) struct ServeMailArguments {
    /// Address for IMAP; port 0 picks a free port
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:0")]
    pub listen: std::net::SocketAddr,
    /// Address for the submission of messages (SMTP with AUTH); port 0 picks a free port
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:0")]
    pub submission: std::net::SocketAddr,
    /// Address for the delivery of messages (LMTP), to which nobody logs on; port 0 picks a free port
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:0")]
    pub lmtp: std::net::SocketAddr,
    /// Number of users
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000), default_value = "1000")]
    pub users: u32,
    /// Domain of the users' addresses
    #[arg(long, value_name = "NAME", default_value = "plimsoll.test")]
    pub domain: String,
    /// Number of threads, 1 to 64
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=64), default_value = "2")]
    pub threads: u32,
    /// Number of connections; further ones are refused in their greeting
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000), default_value = "100000")]
    pub connections_max: u32,
    /// Maximum size of a user's messages, with 128 bytes for each; then the mailbox is full
    #[arg(long, value_name = "SIZE", value_parser = file_size, default_value = "64 MiB")]
    pub account_max: u64,
    /// Maximum size of a message
    #[arg(long, value_name = "SIZE", value_parser = file_size, default_value = "32 MiB")]
    pub message_max: u64,
    /// Number of CPUs that the server limits itself to, all threads together: 0.01 to 256
    #[arg(long, value_name = "CPUS", value_parser = several_cpus)]
    pub cpu_allowance: Option<f64>,
    /// Inject a fault: `NAME`, or `NAME:N` for one in N exchanges; may be repeated
    #[arg(long, value_name = "FAULT")]
    pub fault: Vec<String>,
}

/// Arguments of `serve web`.
#[derive(Debug, Args)]
pub(crate) struct ServeWebArguments {
    #[command(flatten)]
    pub files: FilesArguments,
    /// Address to listen on; port 0 picks a free port
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:0")]
    pub listen: std::net::SocketAddr,
    /// Listen backlog: maximum number of established connections that wait to be accepted; the kernel limits it to
    /// `net.core.somaxconn`
    #[arg(long, value_name = "N")]
    pub backlog: Option<u32>,
    /// Fraction of one CPU that the server limits itself to, 0.01 to 1
    #[arg(long, value_name = "SHARE", value_parser = share)]
    pub cpu_allowance: Option<f64>,
    /// Certificate (PEM); enables TLS 1.2 and 1.3
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    pub tls_certificate: Option<PathBuf>,
    /// Private key of the certificate (PEM)
    #[arg(long, value_name = "FILE", requires = "tls_certificate")]
    pub tls_key: Option<PathBuf>,
    /// Also serve HTTP/2: over TLS if the client offers it (ALPN), otherwise with prior knowledge
    #[arg(long)]
    pub http2: bool,
    /// Inject a fault: `NAME`, `NAME=/PREFIX`, `freeze=AT+LENGTH` (s); may be repeated
    #[arg(long, value_name = "FAULT")]
    pub fault: Vec<String>,
}

/// Arguments of `serve gateway`.
#[derive(Debug, Args)]
pub(crate) struct ServeGatewayArguments {
    /// Address to listen on: `unix:/PATH` or a loopback address; port 0 picks a free port
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:0")]
    pub listen: servers::gateway::GatewayAddress,
    /// Number of worker threads, each serving one request at a time
    #[arg(long, value_name = "N", value_parser = workers, default_value = "1")]
    pub workers: usize,
}

/// Arguments of `serve pages`.
#[derive(Debug, Args)]
pub(crate) struct ServePagesArguments {
    /// Address to listen on; port 0 picks a free port
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:0")]
    pub listen: std::net::SocketAddr,
    /// Number of worker threads, each generating one page at a time for any number of connections
    #[arg(long, value_name = "N", value_parser = workers, default_value = "1")]
    pub workers: usize,
}

fn about_arrivals(arrivals: &Arrivals) -> Option<&'static str> {
    Some(match arrivals {
        Arrivals::Constant => "Equal intervals",
        Arrivals::Poisson => "Exponentially distributed intervals (a Poisson process)",
    })
}

/// `--agents`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum AgentsArgument {
    /// So many processes on this machine.
    Local(usize),
    /// Another machine.
    Ssh(SshAccount),
}

/// The most load agents on one machine.
const LOCAL_AGENTS_MAX: usize = 64;

/// A text that names no load agents.
#[derive(Debug, thiserror::Error)]
pub(crate) enum AgentsArgumentError {
    /// It has another form.
    #[error("expected `ssh=USER@HOST` or `local=NUMBER`")]
    Form,
    /// There cannot be so many.
    #[error("expected a number of load agents from 1 to {LOCAL_AGENTS_MAX}")]
    Number,
    /// It names no account.
    #[error(transparent)]
    Account(#[from] SshAccountError),
}

impl std::str::FromStr for AgentsArgument {
    type Err = AgentsArgumentError;

    fn from_str(text: &str) -> Result<AgentsArgument, AgentsArgumentError> {
        match text.split_once('=') {
            Some(("local", number)) => match number.parse() {
                Ok(number @ 1..=LOCAL_AGENTS_MAX) => Ok(AgentsArgument::Local(number)),
                _ => Err(AgentsArgumentError::Number),
            },
            Some(("ssh", account)) => Ok(AgentsArgument::Ssh(account.parse()?)),
            _ => Err(AgentsArgumentError::Form),
        }
    }
}

/// `--monitor`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum MonitorArgument {
    /// No monitoring, not even of this machine.
    Off,
    /// A machine other than this one.
    Source(MonitorSource),
}

/// `--watch`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WatchArgument {
    /// The other machine that they run on; `None` for this one.
    pub host: Option<String>,
    /// The processes.
    pub selector: ProcessSelector,
}

impl std::str::FromStr for WatchArgument {
    type Err = ProcessSelectorError;

    /// Parses `[HOST/]KIND=VALUE`; paths of control groups contain slashes behind the `=`.
    fn from_str(text: &str) -> Result<WatchArgument, ProcessSelectorError> {
        let kind = text.split('=').next().unwrap_or_default();
        let (host, selector) = match kind.rsplit_once('/').filter(|(host, _)| !host.is_empty()) {
            Some((host, kind)) => (Some(host.to_owned()), format!("{kind}{}", &text[kind_end(text)..])),
            None => (None, text.to_owned()),
        };
        Ok(WatchArgument { host, selector: selector.parse()? })
    }
}

/// Returns the position of the `=`, or the end.
fn kind_end(text: &str) -> usize {
    text.find('=').unwrap_or(text.len())
}

fn monitor(text: &str) -> Result<MonitorArgument, MonitorSourceError> {
    match text {
        "off" => Ok(MonitorArgument::Off),
        _ => text.parse().map(MonitorArgument::Source),
    }
}

/// `--synchronous` of `serve orders`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SynchronousArgument {
    /// When the operating system writes it: a loss of power may damage the data.
    Off,
    /// At the next checkpoint: a loss of power loses the last commits.
    Normal,
    /// Before the transaction ends.
    Full,
}

/// `--format`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum FormatArgument {
    /// One self-contained HTML file.
    Html,
    /// Markdown.
    Markdown,
    /// The results table as CSV.
    Csv,
    /// Everything as JSON.
    Json,
    /// The results table for a terminal.
    Text,
    /// The first page in ten lines of Markdown, for a pull request.
    Summary,
    /// The first screen as a picture: verdict, headline and chart; requires a build with the feature `pdf`.
    Png,
}

/// `--format` of `export`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportFormat {
    /// All records, one JSON object per line.
    Ndjson,
    /// Response times per second, as an HdrHistogram interval log.
    Hlog,
    /// Intervals as CSV, one row per second.
    Csv,
    /// Verdict and limits as JUnit XML.
    Junit,
}

/// Numbers of users.
#[derive(Debug, Clone)]
pub(crate) struct UserList(pub Vec<u32>);
/// Offered rates in operations per second.
#[derive(Debug, Clone)]
pub(crate) struct RateList(pub Vec<f64>);
/// Limits that a load point must meet.
#[derive(Debug, Clone)]
pub(crate) struct LimitList(pub Vec<Limit>);
/// Bounds for the changes of a comparison.
#[derive(Debug, Clone)]
pub(crate) struct BoundList(pub Vec<ChangeBound>);
/// CPU numbers.
#[derive(Debug, Clone)]
pub(crate) struct CpuList(pub Vec<u32>);
/// A CPU quota in CPUs, or none.
#[derive(Debug, Clone, Copy)]
pub(crate) struct QuotaArgument(pub Option<f64>);

fn load_list(text: &str) -> Result<UserList, ArgumentError> {
    parse_load(text).map(UserList).map_err(ArgumentError::of_list(text))
}

fn rate_list(text: &str) -> Result<RateList, ArgumentError> {
    parse_rates(text).map(RateList).map_err(ArgumentError::of_list(text))
}

fn limits(text: &str) -> Result<LimitList, ArgumentError> {
    let mistake = |LimitError { message, span, hint }| LoadListError { message, span, hint };
    parse_limits(text).map(LimitList).map_err(mistake).map_err(ArgumentError::of_list(text))
}

fn bounds(text: &str) -> Result<BoundList, ArgumentError> {
    parse_bounds(text).map(BoundList).map_err(ArgumentError::of_list(text))
}

fn time(text: &str) -> Result<Nanos, ArgumentError> {
    // On the command line, a number without a unit means seconds.
    let with_unit = text.parse::<f64>().map(|_| format!("{text} s"));
    Ok(parse_time(with_unit.as_deref().unwrap_or(text))?)
}

/// Reads a number in a range; `expected` is the error of another one.
fn number(text: &str, range: RangeInclusive<f64>, expected: &str) -> Result<f64, ArgumentError> {
    let number = text.parse().ok().filter(|number| range.contains(number));
    number.ok_or_else(|| ArgumentError::expected(expected))
}

fn level(text: &str) -> Result<f64, ArgumentError> {
    let level = text.parse::<f64>().ok().filter(|level| 0.0 < *level && *level <= RATE_MAX);
    level.ok_or_else(|| ArgumentError::expected(format!("a number above 0 and up to {RATE_MAX}")))
}

fn cpu_list(text: &str) -> Result<CpuList, ArgumentError> {
    Ok(CpuList(observe::parse_cpu_list(text)?))
}

fn share(text: &str) -> Result<f64, ArgumentError> {
    number(text, 0.01..=1.0, "a fraction of one CPU from 0.01 to 1")
}

fn several_cpus(text: &str) -> Result<f64, ArgumentError> {
    number(text, 0.01..=256.0, "a number of CPUs from 0.01 to 256")
}

fn file_size(text: &str) -> Result<u64, ArgumentError> {
    Ok(parse_bytes(text)?.0)
}

fn append_size(text: &str) -> Result<u64, ArgumentError> {
    let size = file_size(text)?;
    if !(APP_BLOCK_BYTES..=APP_APPENDED_BYTES_MAX).contains(&size) {
        return Err(ArgumentError::expected("a size from 4 KiB to 20 MiB"));
    }
    Ok(size)
}

fn workers(text: &str) -> Result<usize, ArgumentError> {
    let most = servers::gateway::WORKERS_MAX;
    let workers = text.parse().ok().filter(|workers| (1..=most).contains(workers));
    workers.ok_or_else(|| ArgumentError::expected(format!("a number from 1 to {most}")))
}

fn label(text: &str) -> Result<String, ArgumentError> {
    let label = text.trim();
    let n = label.chars().count();
    if !(1..=LABEL_CHARS_MAX).contains(&n) || label.chars().any(is_terminal_control) {
        let form = format!("a name of 1 to {LABEL_CHARS_MAX} printable characters, such as `before`");
        return Err(ArgumentError::expected(form));
    }
    Ok(label.to_owned())
}

fn memory(text: &str) -> Result<u64, ArgumentError> {
    let bytes = file_size(text)?;
    if bytes < MEMORY_MIN {
        return Err(ArgumentError::expected(format!("at least {}", Bytes(MEMORY_MIN))));
    }
    Ok(bytes)
}

fn quota(text: &str) -> Result<QuotaArgument, ArgumentError> {
    if text == "none" {
        return Ok(QuotaArgument(None));
    }
    let cpus = number(text, 0.01..=1024.0, "a number of CPUs from 0.01 to 1024, or `none`")?;
    Ok(QuotaArgument(Some(cpus)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn a_bare_number_of_time_means_seconds() {
        assert_eq!(time("5"), Ok(Nanos::from_secs(5)));
        assert_eq!(time("1.5 min"), Ok(Nanos::from_secs(90)));
        assert_eq!(time("5m"), Ok(Nanos::from_secs(300)));
        assert_eq!(time("1m30s"), Ok(Nanos::from_secs(90)));
        assert_eq!(
            time("5 sec").unwrap_err().to_string(),
            "`sec` is not a unit of time\n\
             hint: write a number and a unit, such as `600 s`; units are ns, us, ms, s, m, min, h, d"
        );
    }
}
