//! The command line.

use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use model::{
    Arrivals, Connection, DiskShare, GatewayKind, HttpVersion, Limit, LimitError, LoadListError, Pick,
    PickError, RATE_MAX, Tls, parse_bytes, parse_limits, parse_load, parse_rates, parse_time,
};
use testbed::{MonitorSource, MonitorSourceError};
use units::{Bytes, Nanos};

use crate::progress::Kind;

/// Less memory than this no server starts with.
const MEMORY_MIN: u64 = 1 << 20;

/// Find out how much load a server carries, what stops it, and whether the answer can be trusted
///
/// Plimsoll runs the classic server benchmarks against a server, watches both sides, judges every
/// run (valid, invalid with reasons, incomplete) and writes the disclosure report. Begin with
/// `plimsoll run webstone-2.0.1 --quick`, which needs nothing but itself and a minute.
#[derive(Debug, Parser)]
#[command(version, propagate_version = true, subcommand_required = true, arg_required_else_help = true)]
pub struct Arguments {
    /// Print results as JSON on standard output
    #[arg(long, global = true)]
    pub json: bool,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// List the benchmarks
    List,
    /// Show a benchmark: load plan, workload, rules
    Show(ShowArguments),
    /// Look whether this machine is fit for a run
    Doctor(DoctorArguments),
    /// List what can be found out about this machine, with where it is read
    Inventory(DisclosureArguments),
    /// Run a benchmark and report on it
    ///
    /// Without a server's name the built-in one is started and loaded: `plimsoll run webstone-2.0.1 --quick` takes 40
    /// seconds. `--sut nginx` starts an installed server (`plimsoll suts` lists them), `--target http://10.0.0.5:8080/`
    /// loads one that is there already, `--sut nginx,apache` runs both in turns and compares them. Benchmarks are listed
    /// by `plimsoll list`. Whatever departs from the benchmark's definition is listed as modified in the result.
    ///
    /// The run goes into one file, whose path is the last line of the output; `plimsoll report` makes its report again.
    /// The exit code is 0 if the run is valid, 3 if it is not; then the reasons are printed.
    Run(Box<RunArguments>),
    /// List runs and how they ended
    Runs(RunsArguments),
    /// List servers and accelerators by recipe, and what installs those that are missing
    ///
    /// `plimsoll run BENCHMARK --sut NAME` takes a server, with `--profile`, `--tls` and `--gateway` as listed below its
    /// name; `--accelerator NAME` puts an accelerator in front of it.
    Suts,
    /// Write the report of a run, or one of several
    Report(ReportArguments),
    /// Compare runs: how much they differ, and how sure that is
    ///
    /// Repetitions of one server count as one side; the first side is what the others are measured by. A difference is
    /// called faster or slower only if it holds among all figures at all loads that are compared; else there is no
    /// evidence for it, or it is all too noisy to tell, with the smallest difference that would have been seen.
    Compare(CompareArguments),
    /// Write what a run recorded in a form that other tools read
    Export(ExportArguments),
    /// Recompute a run, or check a published report, and list what does not follow
    Audit(AuditArguments),
    /// Sign run files, so that others can see whose they are and that they are unchanged
    ///
    /// The seal of `NAME.plim` is `NAME.plim.seal`: what the file is, by its hashes, and an Ed25519 signature.
    /// `plimsoll audit NAME.plim` finds and checks it. The run file itself is left as it is.
    Seal(SealArguments),
    /// Show published results, or a run beside them
    History(HistoryArguments),
    /// Lay out a benchmark's file set
    Populate(PopulateArguments),
    /// Measure what the load generator itself can do on this machine
    Calibrate(CalibrateArguments),
    /// Run one of the built-in servers
    Serve(ServeArguments),
    /// Stand before a web server and answer for it what it has answered before
    ///
    /// A caching reverse proxy: `plimsoll accelerate --origin http://127.0.0.1:8080 --listen 0.0.0.0:80` stores what
    /// RFC 9111 lets a shared cache store, and no more. Everything else is said in a configuration, which it reads again
    /// on SIGHUP. SIGTERM and SIGINT let requests in flight end first; SIGUSR1 opens the access log anew. With `--json`
    /// it prints one line of JSON with its addresses when it listens.
    Accelerate(AccelerateArguments),
    /// Print a completion script for a shell
    Completions {
        /// For which shell
        shell: clap_complete::Shell,
    },
    /// Print the manual page
    Man,
}

/// Which benchmark.
#[derive(Debug, Args)]
pub struct BenchmarkArguments {
    /// Benchmark: an id from `plimsoll list`, or the path of a definition (TOML)
    #[arg(value_name = "BENCHMARK")]
    pub benchmark: String,
    /// Use the files and weights of this filelist (WebStone 1.1 or 2.x format) instead of the benchmark's own: a file,
    /// or the name of a list that comes with the benchmark
    #[arg(long, value_name = "FILE|NAME")]
    pub filelist: Option<PathBuf>,
}

impl BenchmarkArguments {
    /// Names a benchmark with its own files.
    pub fn of(benchmark: &str) -> BenchmarkArguments {
        BenchmarkArguments { benchmark: benchmark.to_owned(), filelist: None }
    }
}

/// Which of the benchmark's files.
#[derive(Debug, Args)]
pub struct FilesArguments {
    #[command(flatten)]
    pub benchmark: BenchmarkArguments,
    /// The highest load that is going to be run: file sets of some benchmarks grow with it
    #[arg(long, value_name = "LOAD", value_parser = level)]
    pub max_load: Option<f64>,
}

/// Arguments of `show`.
#[derive(Debug, Args)]
pub struct ShowArguments {
    #[command(flatten)]
    pub benchmark: BenchmarkArguments,
}

/// How a plan departs from its benchmark.
#[derive(Debug, Args)]
pub struct PlanArguments {
    #[command(flatten)]
    pub benchmark: BenchmarkArguments,
    /// Take the benchmark's short form, done within a minute; the result says "modified"
    #[arg(long)]
    pub quick: bool,
    /// Numbers of users: `10..200/10`, `1,2,5` or a mixture
    #[arg(long, value_name = "LIST", value_parser = load_list, conflicts_with = "rate")]
    pub load: Option<UserList>,
    /// Open loop: operations per second, `1000` or `500,1000,2000`, whatever the server does
    #[arg(long, value_name = "LIST", value_parser = rate_list)]
    pub rate: Option<RateList>,
    /// The highest load, for benchmarks whose load points are equal steps up to it
    #[arg(long, value_name = "LOAD", value_parser = level, conflicts_with_all = ["load", "rate"])]
    pub max_load: Option<f64>,
    /// Look for the highest load that is valid and keeps the limits, up to `--max-load`; without limits, of a closed
    /// loop, for the highest throughput
    #[arg(long, conflicts_with_all = ["load", "rate"])]
    pub find_max: bool,
    /// What is acceptable: `p99<50ms,errors<0.1%`; any percentile, also mean, max, rate, delivered
    #[arg(long, value_name = "LIMITS", value_parser = limits)]
    pub limit: Option<Limits>,
    /// Open loop: when operations fall due
    #[arg(long, value_enum)]
    pub arrivals: Option<ArrivalsArgument>,
    /// Open loop: how many operations may be in flight at most
    #[arg(long, value_name = "N")]
    pub in_flight_max: Option<u32>,
    /// Length of the measured phase of each load point: `600 s`, `10 min`, `1m30s`; seconds without a unit
    #[arg(long, value_name = "TIME", value_parser = time, allow_negative_numbers = true)]
    pub duration: Option<Nanos>,
    /// Length of the ramp-up
    #[arg(long, value_name = "TIME", value_parser = time, allow_negative_numbers = true)]
    pub ramp_up: Option<Nanos>,
    /// Full load before measuring
    #[arg(long, value_name = "TIME", value_parser = time, allow_negative_numbers = true)]
    pub settle: Option<Nanos>,
    /// Length of the ramp-down
    #[arg(long, value_name = "TIME", value_parser = time, allow_negative_numbers = true)]
    pub ramp_down: Option<Nanos>,
    /// Let operations in flight at the end finish within this time
    #[arg(long, value_name = "TIME", value_parser = time, allow_negative_numbers = true)]
    pub drain: Option<Nanos>,
    /// The longest that one operation may take
    #[arg(long, value_name = "TIME", value_parser = time, allow_negative_numbers = true)]
    pub time_limit: Option<Nanos>,
    /// Keep connections, for at most so many requests each if a number is given
    #[arg(long, value_name = "REQUESTS", num_args = 0..=1, require_equals = true, conflicts_with = "connection")]
    pub keep_alive: Option<Option<u32>>,
    /// How long a connection lives
    #[arg(long, value_enum)]
    pub connection: Option<ConnectionArgument>,
    /// Version of HTTP
    #[arg(long, value_enum, value_name = "VERSION")]
    pub http: Option<HttpArgument>,
    /// Encrypt connections
    #[arg(long, value_enum)]
    pub tls: Option<TlsArgument>,
    /// HTTP/2: how many users share a connection
    #[arg(long, value_name = "N")]
    pub streams: Option<u32>,
    /// How a parameter of the benchmark's requests is picked: `directory=uniform`, `directory=zipf:0.8`,
    /// `file=weights:3.9,5.9,8.8`; may be repeated
    #[arg(long, value_name = "NAME=HOW", value_parser = pick)]
    pub pick: Vec<(String, Pick)>,
    /// Seed of everything that users and schedules do
    #[arg(long, value_name = "NUMBER")]
    pub seed: Option<u64>,
}

/// Which server, and who gets which CPUs.
#[derive(Debug, Args)]
pub struct SutArguments {
    /// Load a server that is already there: `http://HOST:PORT/`, `https://HOST/` or `HOST:PORT`
    #[arg(long, value_name = "URL", conflicts_with_all = ["sut", "sut_cpus", "sut_quota"])]
    pub target: Option<String>,
    /// TLS to a target: accept only certificates of the authorities in this file (PEM), instead of those that this machine
    /// trusts; a self-signed certificate is its own authority
    #[arg(long, value_name = "FILE", requires = "target", conflicts_with = "insecure")]
    pub ca: Option<PathBuf>,
    /// TLS to a target: accept any certificate; the result says so
    #[arg(long, requires = "target")]
    pub insecure: bool,
    /// Start an installed server by recipe: `nginx`, or the path of a recipe (TOML); or `built-in`; several, separated
    /// by commas, are run in turns and compared
    #[arg(long, value_name = "RECIPE", value_delimiter = ',')]
    pub sut: Vec<String>,
    /// Settings of the server: a profile of its recipe, such as `default` for those that it comes with
    #[arg(long, value_name = "NAME", requires = "sut")]
    pub profile: Option<String>,
    /// Put an accelerator (a caching reverse proxy) in front of the server: `plimsoll,varnish,nginx`, or the path of a
    /// recipe (TOML); several, and `none`, are run in turns and compared
    #[arg(long, value_name = "NAME", value_delimiter = ',', conflicts_with = "target")]
    pub accelerator: Vec<String>,
    /// Memory for the accelerator's copies: `100 MiB`; by default there is room for all files
    #[arg(long, value_name = "SIZE", value_parser = memory, requires = "accelerator")]
    pub accelerator_memory: Option<u64>,
    /// How the server runs the programs that make pages; several are run in turns and compared
    #[arg(long, value_name = "KIND", value_parser = gateway(), value_delimiter = ',')]
    pub gateway: Vec<GatewayKind>,
    /// How many pages can be in the making at once; several numbers are run in turns and compared
    #[arg(long, value_name = "N", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub workers: Vec<u32>,
    /// Folder for the server's files, kept and used again; by default one below `/var/tmp`
    #[arg(long, value_name = "DIR")]
    pub files: Option<PathBuf>,
    /// Local addresses that connections are made from, in turn: `127.0.0.2,127.0.0.3`
    #[arg(long, value_name = "ADDRESSES", value_delimiter = ',')]
    pub source_addresses: Vec<std::net::IpAddr>,
    /// CPUs of the server: `0-1,3`
    #[arg(long, value_name = "CPUS", value_parser = cpu_list)]
    pub sut_cpus: Option<CpuList>,
    /// Give the server so many CPUs, one pass for each number, in turns: `1,2,4`; cores before their second threads, and
    /// the load the same CPUs in all passes
    #[arg(long, value_name = "NUMBERS", value_delimiter = ',', conflicts_with_all = ["target", "sut_cpus"])]
    pub sut_groups: Vec<usize>,
    /// Run every server so often, in turns
    #[arg(long, value_name = "TIMES", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub repeat: u32,
    /// CPUs of the load threads, one thread each
    #[arg(long, value_name = "CPUS", value_parser = cpu_list)]
    pub load_cpus: Option<CpuList>,
    /// CPU time that the server may use, in CPUs (0.5: half of one), or `none`
    #[arg(long, value_name = "CPUS", value_parser = quota)]
    pub sut_quota: Option<QuotaArgument>,
    /// Memory that the server may use, file pages included: `256 MiB`
    #[arg(long, value_name = "SIZE", value_parser = memory, conflicts_with = "target")]
    pub sut_memory: Option<u64>,
    /// Traffic that the server may have with the disk of its files, per second: `reads=50,read-bytes=5MiB`; also
    /// `writes`, `write-bytes`
    #[arg(long, value_name = "LIMITS", conflicts_with = "target")]
    pub sut_disk: Option<DiskShare>,
}

/// Arguments of `run`.
#[derive(Debug, Args)]
pub struct RunArguments {
    #[command(flatten)]
    pub plan: PlanArguments,
    #[command(flatten)]
    pub sut: SutArguments,
    /// Watch another machine as well, the server's: `prometheus=http://HOST:9100/metrics` (node_exporter or
    /// windows_exporter) or `ssh=USER@HOST`; `off` watches nothing. May be repeated
    #[arg(long, value_name = "SOURCE", value_parser = monitor)]
    pub monitor: Vec<MonitorArgument>,
    #[command(flatten)]
    pub metrics: MetricsArguments,
    #[command(flatten)]
    pub disclosure: DisclosureArguments,
    #[command(flatten)]
    pub display: DisplayArguments,
    /// The run file; by default one in `runs/` named after benchmark and time
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// What the system under test costs: a price list (TOML), for price ÷ performance in the report
    #[arg(long, value_name = "FILE")]
    pub price: Option<PathBuf>,
    /// Write verdict and limits to a file at the end, as JUnit XML
    #[arg(long, value_name = "FILE")]
    pub junit: Option<PathBuf>,
    /// Say what would be run and end
    #[arg(long)]
    pub dry_run: bool,
}

/// What is said about the machines besides what is found.
#[derive(Debug, Args)]
pub struct DisclosureArguments {
    /// The operator's notes (TOML): vendor, price list, RAID, who ran the test, whatever cannot be read, and which fields
    /// are kept back
    #[arg(long, value_name = "FILE")]
    pub notes: Option<PathBuf>,
    /// Show serial numbers, UUIDs, addresses, and names of hosts and users, which are left out otherwise
    #[arg(long)]
    pub disclose_identity: bool,
}

/// What is seen while the run goes on.
#[derive(Debug, Args)]
pub struct DisplayArguments {
    /// How progress is shown; by default `view` on a terminal of 80×20 or larger, `line` on a smaller one, and `plain`
    /// where standard error is no terminal, or with `NO_COLOR`
    #[arg(long, value_name = "KIND", value_enum)]
    pub progress: Option<ProgressArgument>,
    /// The same as `--progress plain`
    #[arg(long, conflicts_with = "progress")]
    pub plain: bool,
}

impl DisplayArguments {
    /// Returns what was asked for.
    pub fn kind(&self) -> Option<Kind> {
        if self.plain { Some(Kind::Plain) } else { self.progress.map(Into::into) }
    }
}

/// `--progress`.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum ProgressArgument {
    /// Charts, numbers and signs of validity that fill the terminal.
    View,
    /// One line that moves.
    Line,
    /// Lines one after another.
    Plain,
}

impl From<ProgressArgument> for Kind {
    fn from(argument: ProgressArgument) -> Kind {
        match argument {
            ProgressArgument::View => Kind::View,
            ProgressArgument::Line => Kind::Line,
            ProgressArgument::Plain => Kind::Plain,
        }
    }
}

/// Who gets metrics while the run goes on.
#[derive(Debug, Args)]
pub struct MetricsArguments {
    /// Let Prometheus scrape metrics at `http://ADDRESS/metrics`, such as `127.0.0.1:9464`; port 0 takes a free one
    #[arg(long, value_name = "ADDRESS")]
    pub prometheus: Option<std::net::SocketAddr>,
    /// Push metrics every 10 s, and at the end, to a collector that takes OTLP over HTTP:
    /// `http://HOST:4318/v1/metrics`
    #[arg(long, value_name = "URL")]
    pub otlp: Option<telemetry::Endpoint>,
}

/// Arguments of `doctor`.
#[derive(Debug, Args)]
pub struct DoctorArguments {
    /// Benchmark that is going to be run
    #[arg(value_name = "BENCHMARK", default_value = "webstone-2.0.1")]
    pub benchmark: String,
    /// The highest load, for benchmarks whose load points are equal steps up to it
    #[arg(long, value_name = "LOAD", value_parser = level)]
    pub max_load: Option<f64>,
    /// Requests per second that are expected
    #[arg(long, value_name = "NUMBER")]
    pub expect_rate: Option<f64>,
    /// The server is on another machine
    #[arg(long)]
    pub remote: bool,
}

/// Arguments of `runs`.
#[derive(Debug, Args)]
pub struct RunsArguments {
    /// Folder to look in
    #[arg(value_name = "DIR", default_value = "runs")]
    pub dir: PathBuf,
}

/// Arguments of `report`.
#[derive(Debug, Args)]
pub struct ReportArguments {
    /// The run file, or a folder of run files for one report of all of them
    #[arg(value_name = "RUN|DIR")]
    pub run: PathBuf,
    /// More runs, or folders of them, for the same report
    #[arg(value_name = "RUN|DIR")]
    pub more: Vec<PathBuf>,
    /// Form of the report
    #[arg(long, value_enum, default_value = "html")]
    pub format: FormatArgument,
    /// Where to write it, `-` for standard output; HTML goes beside the run file by default, all else to standard output
    #[arg(long, short, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// What the system under test costs: a price list (TOML), for price ÷ performance
    #[arg(long, value_name = "FILE")]
    pub price: Option<PathBuf>,
    /// Write the report as PDF, set in type for print; only where the program was built with it (feature `pdf`)
    #[arg(long, value_name = "FILE", conflicts_with_all = ["format", "out"])]
    pub pdf: Option<PathBuf>,
}

/// Arguments of `compare`.
#[derive(Debug, Args)]
pub struct CompareArguments {
    /// Run files, or folders with several of them; the first is what the others are measured by
    #[arg(value_name = "RUN", required = true)]
    pub runs: Vec<PathBuf>,
    /// What the others are measured by, instead of the first
    #[arg(long, value_name = "RUN")]
    pub baseline: Option<PathBuf>,
    /// Compare runs that are not alike as well, at the loads that all of them have; what differs is listed
    #[arg(long)]
    pub anyway: bool,
    /// Write the comparison as one HTML file
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Write the comparison as PDF; only where the program was built with it (feature `pdf`)
    #[arg(long, value_name = "FILE")]
    pub pdf: Option<PathBuf>,
}

/// Arguments of `export`.
#[derive(Debug, Args)]
pub struct ExportArguments {
    /// The run file
    #[arg(value_name = "RUN")]
    pub run: PathBuf,
    /// Form of the export
    #[arg(long, value_enum)]
    pub format: ExportFormat,
    /// Where to write it, `-` for standard output, which is the default
    #[arg(long, short, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

/// Arguments of `audit`.
#[derive(Debug, Args)]
pub struct AuditArguments {
    /// A run file, or a published report (TOML)
    #[arg(value_name = "RUN|REPORT.toml")]
    pub subject: PathBuf,
    /// Require a seal of the run made with this key: `ed25519:…`, or a file with that text
    #[arg(long, value_name = "KEY")]
    pub signed_by: Option<String>,
}

/// Arguments of `seal`.
#[derive(Debug, Args)]
pub struct SealArguments {
    /// The run files
    #[arg(value_name = "RUN", required_unless_present = "new_key")]
    pub runs: Vec<PathBuf>,
    /// The key to sign with; by default `seal.key` in `$XDG_CONFIG_HOME/plimsoll` (`~/.config/plimsoll`)
    #[arg(long, value_name = "FILE")]
    pub key: Option<PathBuf>,
    /// Make that key first and print its public half; a key that is there is never overwritten
    #[arg(long)]
    pub new_key: bool,
}

/// Arguments of `history`.
#[derive(Debug, Args)]
pub struct HistoryArguments {
    /// Only results of this benchmark
    pub benchmark: Option<String>,
    /// A run file, to say how many of each published system it equals
    #[arg(long, value_name = "RUN", conflicts_with = "benchmark")]
    pub beside: Option<PathBuf>,
}

/// Arguments of `populate`.
#[derive(Debug, Args)]
pub struct PopulateArguments {
    #[command(flatten)]
    pub files: FilesArguments,
    /// The folder, which the server is to serve as its root
    #[arg(long, value_name = "DIR")]
    pub dir: PathBuf,
}

/// Arguments of `calibrate`.
#[derive(Debug, Args)]
pub struct CalibrateArguments {
    /// CPUs of the built-in server
    #[arg(long, value_name = "CPUS", value_parser = cpu_list)]
    pub sut_cpus: Option<CpuList>,
    /// CPUs of the load threads
    #[arg(long, value_name = "CPUS", value_parser = cpu_list)]
    pub load_cpus: Option<CpuList>,
    /// Length of each measurement
    #[arg(long, value_name = "TIME", value_parser = time, default_value = "5 s")]
    pub duration: Nanos,
}

/// Arguments of `serve`.
#[derive(Debug, Args)]
pub struct ServeArguments {
    /// Which server.
    #[command(subcommand)]
    pub server: ServeCommand,
}

/// The built-in servers.
#[derive(Debug, Subcommand)]
pub enum ServeCommand {
    /// Serve a benchmark's file set over HTTP
    ///
    /// HTTP/1, over TLS with `--tls-certificate` and `--tls-key`, and HTTP/2 as well with `--http2`.
    ///
    /// Prints one line of JSON with its address when it listens, and ends when its standard input does.
    Web(ServeWebArguments),
    /// Make the pages of dynamic benchmarks for a web server that asks over FastCGI
    ///
    /// The paths are `/dyn`, `/cgi-bin/simple` and all that end with `.dyn-send`. Prints one line of JSON with
    /// its address when it listens, and ends when its standard input does.
    Gateway(ServeGatewayArguments),
    /// Make the pages of dynamic benchmarks over HTTP/1, for a reverse proxy to stand before
    ///
    /// The same pages as of `gateway`, with connections kept. Prints one line of JSON with its address when it
    /// listens, and ends when its standard input does.
    App(ServeAppArguments),
}

/// Arguments of `serve web`.
#[derive(Debug, Args)]
pub struct ServeWebArguments {
    #[command(flatten)]
    pub files: FilesArguments,
    /// Address to listen on; port 0 takes a free one
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:0")]
    pub listen: std::net::SocketAddr,
    /// How many established connections may wait to be accepted; the kernel takes the smaller of this and
    /// `net.core.somaxconn`
    #[arg(long, value_name = "N")]
    pub backlog: Option<u32>,
    /// Share of one CPU that the server limits itself to, 0.01 to 1
    #[arg(long, value_name = "SHARE", value_parser = share)]
    pub cpu_allowance: Option<f64>,
    /// Encrypt connections (TLS 1.2 and 1.3) and show this certificate (PEM)
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    pub tls_certificate: Option<PathBuf>,
    /// The key of the certificate (PEM)
    #[arg(long, value_name = "FILE", requires = "tls_certificate")]
    pub tls_key: Option<PathBuf>,
    /// Speak HTTP/2 as well: over TLS with clients that offer it (ALPN), else with those that begin with it
    #[arg(long)]
    pub http2: bool,
    /// Do something wrong on purpose: `NAME`, `NAME=/PREFIX`, `freeze=AT+LENGTH` (s); may be repeated
    #[arg(long, value_name = "FAULT")]
    pub fault: Vec<String>,
}

/// Arguments of `serve gateway`.
#[derive(Debug, Args)]
pub struct ServeGatewayArguments {
    /// Where to listen: `unix:/PATH`, or a loopback address, of which port 0 takes a free one
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:0")]
    pub listen: servers::gateway::Address,
    /// How many requests are answered at once, each on a thread
    #[arg(long, value_name = "N", value_parser = workers, default_value = "1")]
    pub workers: usize,
}

/// Arguments of `serve app`.
#[derive(Debug, Args)]
pub struct ServeAppArguments {
    /// Address to listen on; port 0 takes a free one
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:0")]
    pub listen: std::net::SocketAddr,
    /// How many pages are made at once, each on a thread with any number of connections
    #[arg(long, value_name = "N", value_parser = workers, default_value = "1")]
    pub workers: usize,
}

/// Arguments of `accelerate`.
#[derive(Debug, Args)]
pub struct AccelerateArguments {
    /// A web server to stand before: `http://127.0.0.1:8080`; several, if repeated, take turns
    #[arg(long, value_name = "URL", value_parser = origin, required_unless_present = "config")]
    pub origin: Vec<accelerator::config::Url>,
    /// Address to listen on, `127.0.0.1:8000` by default; port 0 takes a free one; may be repeated
    #[arg(long, value_name = "ADDRESS")]
    pub listen: Vec<std::net::SocketAddr>,
    /// Memory for what is stored, everything counted: `1 GiB`; 256 MiB by default
    #[arg(long, value_name = "SIZE", value_parser = memory)]
    pub memory: Option<u64>,
    /// Threads that serve clients, one for each CPU by default
    #[arg(long, value_name = "N")]
    pub workers: Option<std::num::NonZeroU16>,
    /// Address of the operator's page, with figures, metrics and purge: `127.0.0.1:8079`
    #[arg(long, value_name = "ADDRESS")]
    pub admin: Option<std::net::SocketAddr>,
    /// Configuration (TOML); other arguments outweigh what it says
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Look whether it could start so, and end
    #[arg(long)]
    pub check: bool,
}

/// `--arrivals`.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum ArrivalsArgument {
    /// At equal distances.
    Constant,
    /// At random.
    Poisson,
}

impl From<ArrivalsArgument> for Arrivals {
    fn from(argument: ArrivalsArgument) -> Arrivals {
        match argument {
            ArrivalsArgument::Constant => Arrivals::Constant,
            ArrivalsArgument::Poisson => Arrivals::Poisson,
        }
    }
}

/// `--connection`.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum ConnectionArgument {
    /// A new one for every request.
    PerRequest,
    /// Kept until one side closes it.
    KeepAlive,
    /// Kept for sessions of SPECweb99's lengths.
    Sessions,
}

impl From<ConnectionArgument> for Connection {
    fn from(argument: ConnectionArgument) -> Connection {
        match argument {
            ConnectionArgument::PerRequest => Connection::PerRequest,
            ConnectionArgument::KeepAlive => Connection::KeepAlive { requests_max: None },
            ConnectionArgument::Sessions => Connection::Sessions,
        }
    }
}

/// `--http`.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum HttpArgument {
    /// HTTP/1.0.
    #[value(name = "1.0")]
    Http10,
    /// HTTP/1.1.
    #[value(name = "1.1")]
    Http11,
    /// HTTP/2.
    #[value(name = "2")]
    Http2,
}

impl From<HttpArgument> for HttpVersion {
    fn from(argument: HttpArgument) -> HttpVersion {
        match argument {
            HttpArgument::Http10 => HttpVersion::Http10,
            HttpArgument::Http11 => HttpVersion::Http11,
            HttpArgument::Http2 => HttpVersion::Http2,
        }
    }
}

/// `--tls`.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum TlsArgument {
    /// Not at all.
    Off,
    /// A full handshake for every connection.
    Full,
    /// Sessions are resumed where the server offers that.
    Resumed,
}

impl From<TlsArgument> for Tls {
    fn from(argument: TlsArgument) -> Tls {
        match argument {
            TlsArgument::Off => Tls::Off,
            TlsArgument::Full => Tls::Full,
            TlsArgument::Resumed => Tls::Resumed,
        }
    }
}

/// `--monitor`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MonitorArgument {
    /// Nothing is watched, not even this machine.
    Off,
    /// A machine besides this one.
    Source(MonitorSource),
}

fn monitor(text: &str) -> Result<MonitorArgument, MonitorSourceError> {
    match text {
        "off" => Ok(MonitorArgument::Off),
        _ => text.parse().map(MonitorArgument::Source),
    }
}

/// Takes the names of gateways, and lists them where another is given.
fn gateway() -> impl TypedValueParser<Value = GatewayKind> {
    let named = |name: String| GatewayKind::ALL.into_iter().find(|kind| kind.name() == name);
    PossibleValuesParser::new(GatewayKind::ALL.map(GatewayKind::name))
        .map(move |name| named(name).expect("one of the possible values"))
}

/// `--format`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FormatArgument {
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
}

/// `--format` of `export`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ExportFormat {
    /// Everything, a JSON object per line.
    Ndjson,
    /// Response times second by second, as HdrHistogram's interval log.
    Hlog,
    /// Intervals as CSV, a row per second.
    Csv,
    /// Verdict and limits as JUnit XML.
    Junit,
}

/// Numbers of users.
#[derive(Debug, Clone)]
pub struct UserList(pub Vec<u32>);
/// Rates per second.
#[derive(Debug, Clone)]
pub struct RateList(pub Vec<f64>);
/// What is acceptable.
#[derive(Debug, Clone)]
pub struct Limits(pub Vec<Limit>);
/// CPUs by number.
#[derive(Debug, Clone)]
pub struct CpuList(pub Vec<u32>);
/// A quota, or none at all.
#[derive(Debug, Clone, Copy)]
pub struct QuotaArgument(pub Option<f64>);

fn load_list(text: &str) -> Result<UserList, String> {
    parse_load(text).map(UserList).map_err(|error| pointed(text, &error))
}

fn rate_list(text: &str) -> Result<RateList, String> {
    parse_rates(text).map(RateList).map_err(|error| pointed(text, &error))
}

fn limits(text: &str) -> Result<Limits, String> {
    let LimitError { message, span, hint } = match parse_limits(text) {
        Ok(limits) => return Ok(Limits(limits)),
        Err(error) => error,
    };
    Err(pointed(text, &LoadListError { message, span, hint }))
}

/// Shows a mistake in a list below the list itself.
fn pointed(text: &str, error: &LoadListError) -> String {
    let before = text.get(..error.span.start).unwrap_or(text).chars().count();
    let inside = text.get(error.span.clone()).unwrap_or_default().chars().count().max(1);
    let pointer = format!("{}{}", " ".repeat(before), "^".repeat(inside));
    format!("{error}\n  {text}\n  {pointer}\nhint: {}", error.hint)
}

fn time(text: &str) -> Result<Nanos, String> {
    // On a command line a bare number is meant as seconds.
    match text.parse::<f64>() {
        Ok(_) => parse_time(&format!("{text} s")),
        Err(_) => parse_time(text),
    }
    .map_err(|error| format!("{error}\nhint: {}", error.hint))
}

fn level(text: &str) -> Result<f64, String> {
    let level = text.parse::<f64>().ok().filter(|level| 0.0 < *level && *level <= RATE_MAX);
    level.ok_or_else(|| format!("expected a number above 0 and up to {RATE_MAX}"))
}

fn pick(text: &str) -> Result<(String, Pick), String> {
    let (name, how) = text.split_once('=').ok_or("expected NAME=HOW, such as `directory=uniform`")?;
    let pick = how.parse().map_err(|error: PickError| error.to_string())?;
    Ok((name.to_owned(), pick))
}

fn cpu_list(text: &str) -> Result<CpuList, String> {
    testbed::parse_cpu_list(text).map(CpuList).map_err(|error| error.to_string())
}

fn share(text: &str) -> Result<f64, String> {
    let share = text.parse::<f64>().ok().filter(|share| (0.01..=1.0).contains(share));
    share.ok_or_else(|| "expected a share of one CPU from 0.01 to 1".to_owned())
}

fn workers(text: &str) -> Result<usize, String> {
    let workers = text.parse().ok().filter(|workers| (1..=servers::gateway::WORKERS_MAX).contains(workers));
    workers.ok_or_else(|| format!("expected a number from 1 to {}", servers::gateway::WORKERS_MAX))
}

fn origin(text: &str) -> Result<accelerator::config::Url, String> {
    text.to_owned().try_into()
}

fn memory(text: &str) -> Result<u64, String> {
    let Bytes(bytes) =
        parse_bytes(text).map_err(|error| format!("{}\nhint: {}", error.message, error.hint))?;
    if bytes < MEMORY_MIN { Err(format!("expected at least {}", Bytes(MEMORY_MIN))) } else { Ok(bytes) }
}

fn quota(text: &str) -> Result<QuotaArgument, String> {
    if text == "none" {
        return Ok(QuotaArgument(None));
    }
    match text.parse::<f64>() {
        Ok(cpus) if (0.01..=1024.0).contains(&cpus) => Ok(QuotaArgument(Some(cpus))),
        _ => Err("expected a number of CPUs from 0.01 to 1024, or `none`".to_owned()),
    }
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
            time("5 sec").unwrap_err(),
            "`sec` is not a unit of time\n\
             hint: write a number and a unit, such as `600 s`; units are ns, us, ms, s, m, min, h"
        );
    }
}
