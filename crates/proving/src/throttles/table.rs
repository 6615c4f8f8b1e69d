//! The throttles, and the bottlenecks that Plimsoll has to report.

use super::brief::TrialGroup;

/// A way to throttle a server, or the generator.
pub(super) struct Throttle {
    /// Its name for people.
    pub name: &'static str,
    /// The expected bottleneck of the last load point.
    pub bottleneck: &'static str,
    /// A part of the evidence for it, such as an indicator; empty for any.
    pub evidence: &'static str,
    /// Its benchmark: a built-in one, or the path of a definition, relative to the repository's root.
    pub benchmark: &'static str,
    /// Options of `plimsoll run`, with blanks between them.
    pub arguments: &'static str,
    /// The environment of the attempt.
    pub environment: EnvironmentKind,
    /// Those that may be tried beside it.
    pub group: TrialGroup,
}

/// The kind of environment of an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EnvironmentKind {
    /// Nothing.
    Nothing,
    /// A network namespace of its own, whose loopback has this queueing discipline, as `tc` knows it.
    Namespace(&'static str),
    /// A running built-in server, started with these arguments of `serve web`.
    Server(&'static str),
    /// A running built-in application server, started with these arguments of `serve app`, which says how busy it is.
    AppServer(&'static str),
    /// This many endless loops on the CPUs of the load.
    Burners(usize),
    /// The application server in Python, as somebody starts it: one interpreter with many threads, on any CPU.
    Interpreter,
    /// The server of a built-in recipe with texts of the recipe replaced.
    Recipe {
        /// The recipe's name.
        name: &'static str,
        /// Each text, and the one in its place.
        changes: &'static [(&'static str, &'static str)],
    },
}

const FILES: &str = "crates/proving/src/throttles/files.toml";
const LOCK: &str = "crates/proving/src/throttles/lock.toml";
const SLOW: &str = "examples/slow-page.toml";

/// All throttles.
pub(super) const THROTTLES: &[Throttle] = &[
    Throttle {
        name: "CPU quota of nginx (control group)",
        bottleneck: "processor",
        evidence: "",
        benchmark: "one-object",
        arguments: "--sut nginx --sut-quota 0.15 --load 1,16 --duration 6s",
        environment: EnvironmentKind::Nothing,
        group: TrialGroup::Waiting,
    },
    Throttle {
        name: "CPU allowance of the built-in server",
        bottleneck: "processor",
        evidence: "",
        benchmark: "one-object",
        arguments: "--sut-quota 0.15 --load 1,16 --duration 6s",
        environment: EnvironmentKind::Nothing,
        group: TrialGroup::Waiting,
    },
    Throttle {
        name: "one CPU for Apache and its CGI processes (cpuset)",
        bottleneck: "processor",
        evidence: "",
        benchmark: "webstone-2.0.1",
        arguments: "--filelist dynamic-heavy --sut apache --gateway cgi --sut-groups 1 --load 1,12 --duration 6s",
        environment: EnvironmentKind::Nothing,
        group: TrialGroup::Alone,
    },
    Throttle {
        name: "memory of nginx (24 MiB for files of 150 MiB)",
        bottleneck: "memory",
        evidence: "",
        benchmark: FILES,
        arguments: "--sut nginx --sut-memory 24MiB --sut-quota 0.6",
        environment: EnvironmentKind::Nothing,
        group: TrialGroup::Memory,
    },
    Throttle {
        name: "disk reads of nginx (80/s, direct)",
        bottleneck: "disk operations",
        evidence: "",
        benchmark: FILES,
        arguments: "--sut nginx --profile direct-io --sut-disk reads=80 --sut-quota 0.6",
        environment: EnvironmentKind::Nothing,
        group: TrialGroup::Disk,
    },
    Throttle {
        name: "disk bytes of nginx (8 MiB/s, direct)",
        bottleneck: "disk bandwidth",
        evidence: "",
        benchmark: FILES,
        arguments: "--sut nginx --profile direct-io --sut-disk read-bytes=8MiB --sut-quota 0.6",
        environment: EnvironmentKind::Nothing,
        group: TrialGroup::Disk,
    },
    Throttle {
        name: "network (tbf, 40 Mbit/s)",
        bottleneck: "network",
        evidence: "",
        benchmark: FILES,
        arguments: "--sut nginx --sut-quota none",
        environment: EnvironmentKind::Namespace("tbf rate 40mbit burst 128kb latency 50ms"),
        group: TrialGroup::Waiting,
    },
    Throttle {
        name: "workers behind nginx (FastCGI × 4, pages that wait 20 ms)",
        bottleneck: "worker limit",
        evidence: "",
        benchmark: SLOW,
        arguments: "--sut nginx --gateway fastcgi --workers 4 --load 1,32 --duration 6s",
        environment: EnvironmentKind::Nothing,
        group: TrialGroup::Waiting,
    },
    Throttle {
        name: "workers behind Apache (FastCGI × 2, pages that wait 20 ms)",
        bottleneck: "worker limit",
        evidence: "",
        benchmark: SLOW,
        arguments: "--sut apache --gateway fastcgi --workers 2 --load 1,24 --duration 6s",
        environment: EnvironmentKind::Nothing,
        group: TrialGroup::Waiting,
    },
    Throttle {
        name: "a lock (FastCGI × 24, pages that hold it for 10 ms)",
        bottleneck: "lock or other waiting",
        evidence: "",
        benchmark: LOCK,
        arguments: "--sut nginx --gateway fastcgi --workers 24",
        environment: EnvironmentKind::Nothing,
        group: TrialGroup::Waiting,
    },
    Throttle {
        name: "accept backlog of 2",
        bottleneck: "accept backlog",
        evidence: "",
        benchmark: "one-object",
        arguments: "--connection per-request --load 1,200 --duration 6s",
        environment: EnvironmentKind::Server("one-object --backlog 2 --cpu-allowance 0.5"),
        group: TrialGroup::Waiting,
    },
    Throttle {
        name: "CPU allowance of the application server",
        bottleneck: "processor",
        evidence: "",
        benchmark: "serverbench",
        arguments: "--quick --set suite=cpu --sut-quota 0.3 --load 1,8 --duration 6s",
        environment: EnvironmentKind::Nothing,
        group: TrialGroup::Waiting,
    },
    Throttle {
        name: "memory of the application server (64 MiB for ranges of 160 MiB)",
        bottleneck: "memory",
        evidence: "",
        benchmark: "serverbench",
        arguments: "--quick --set suite=disk --set range=20MiB --sut-memory 64MiB --sut-quota 0.6 --load 1,8 --duration 6s",
        environment: EnvironmentKind::Nothing,
        group: TrialGroup::Memory,
    },
    Throttle {
        name: "disk reads of the application server (80/s, direct)",
        bottleneck: "disk operations",
        evidence: "",
        benchmark: "serverbench",
        arguments: "--quick --set suite=disk --set io=direct --sut-disk reads=80 --sut-quota 0.6 --load 1,8 --duration 6s",
        environment: EnvironmentKind::Nothing,
        group: TrialGroup::Disk,
    },
    Throttle {
        name: "service threads of the application server (4, each transaction takes 20 ms)",
        bottleneck: "worker limit",
        evidence: "",
        benchmark: "serverbench",
        arguments: "--quick --set suite=net --load 1,16 --duration 6s",
        environment: EnvironmentKind::AppServer("--threads 4 --fault slow"),
        group: TrialGroup::Waiting,
    },
    Throttle {
        name: "CPU quota of Samba",
        bottleneck: "processor",
        evidence: "",
        benchmark: "netbench",
        arguments: "--quick --sut samba --set workspace=15MiB --sut-quota 0.3 --load 8 --duration 6s",
        environment: EnvironmentKind::Nothing,
        group: TrialGroup::Waiting,
    },
    Throttle {
        name: "memory of Samba (64 MiB for files of 160 MiB)",
        bottleneck: "memory",
        evidence: "",
        benchmark: "file-micro",
        arguments: "--quick --sut samba --set file=20MiB --sut-memory 64MiB --sut-quota 0.6 --load 8 --duration 6s",
        environment: EnvironmentKind::Nothing,
        group: TrialGroup::Memory,
    },
    // Reads of files that are not in the page cache; writes are limited only where they are synchronous.
    Throttle {
        name: "disk reads of Samba (80/s, files out of the page cache)",
        bottleneck: "disk operations",
        evidence: "",
        benchmark: "file-micro",
        arguments: "--quick --sut samba --set file=64MiB --sut-disk reads=80 --sut-quota 0.6 --load 4 --duration 6s",
        environment: EnvironmentKind::Nothing,
        group: TrialGroup::Disk,
    },
    Throttle {
        name: "network before Samba (tbf, 40 Mbit/s)",
        bottleneck: "network",
        evidence: "",
        benchmark: "seqread",
        arguments: "--quick --sut samba --sut-quota none --load 4 --set file=4MiB --duration 6s",
        environment: EnvironmentKind::Namespace("tbf rate 40mbit burst 128kb latency 50ms"),
        group: TrialGroup::Waiting,
    },
    Throttle {
        name: "CPU quota of PostgreSQL",
        bottleneck: "processor",
        evidence: "",
        benchmark: "orderentry",
        arguments: "--quick --sut postgresql --set pacing=flat --set warehouses=4 --sut-quota 0.3 --load 16 --duration 6s",
        environment: EnvironmentKind::Nothing,
        group: TrialGroup::Disk,
    },
    // With a commit that takes no time, the CPUs are full before the rows are.
    Throttle {
        name: "hot rows of PostgreSQL (one warehouse for 32 users, commits of 20 ms)",
        bottleneck: "lock or other waiting",
        evidence: "sessions at a lock",
        benchmark: "orderentry",
        arguments: "--quick --set pacing=flat --set warehouses=1 --load 32 --duration 6s",
        environment: EnvironmentKind::Recipe {
            name: "postgresql",
            changes: &[
                ("wal_buffers = 16MB", "wal_buffers = 16MB\ncommit_delay = 20000\ncommit_siblings = 0"),
                ("full page writes on", "full page writes on, commits delayed by 20 ms"),
            ],
        },
        group: TrialGroup::Alone,
    },
    Throttle {
        name: "log disk of PostgreSQL (60 writes/s)",
        bottleneck: "disk operations",
        evidence: "sessions at the log",
        benchmark: "orderentry",
        arguments: "--quick --sut postgresql --set pacing=flat --set warehouses=16 --sut-disk writes=60 \
                    --load 16 --duration 6s",
        environment: EnvironmentKind::Nothing,
        group: TrialGroup::Disk,
    },
    Throttle {
        name: "buffer pool of MariaDB (8 MiB for data of 16 MiB, 1000 reads/s)",
        bottleneck: "disk operations",
        evidence: "buffer reads per operation",
        benchmark: "orderentry",
        arguments: "--quick --set pacing=flat --set warehouses=24 --sut-disk reads=1000 --load 16 \
                    --duration 6s",
        environment: EnvironmentKind::Recipe {
            name: "mariadb",
            changes: &[
                (
                    "innodb_buffer_pool_size = {buffer_mib}M",
                    "innodb_buffer_pool_size = 8M\ninnodb_lru_scan_depth = 100",
                ),
                ("innodb_log_file_size = {log_mib}M", "innodb_log_file_size = 64M"),
                (r#""buffer pool" = "{buffer_mib} MiB""#, r#""buffer pool" = "8 MiB""#),
                (r#""log" = "{log_mib} MiB""#, r#""log" = "64 MiB""#),
            ],
        },
        group: TrialGroup::Disk,
    },
    // The run is refused before load begins.
    Throttle {
        name: "connections of PostgreSQL (100 for 120 users)",
        bottleneck: "connection limit",
        evidence: "its `max_connections` of 100",
        benchmark: "orderentry",
        arguments: "--quick --sut postgresql --profile default --set warehouses=1 --load 120",
        environment: EnvironmentKind::Nothing,
        group: TrialGroup::Waiting,
    },
    Throttle {
        name: "the generator (4 endless loops on its CPU)",
        bottleneck: "generator",
        evidence: "",
        benchmark: "one-object",
        arguments: "--sut nginx --load 1,32 --duration 6s",
        environment: EnvironmentKind::Burners(4),
        group: TrialGroup::Alone,
    },
    Throttle {
        name: "nothing (users who think)",
        bottleneck: "none",
        evidence: "",
        benchmark: "dynpage",
        arguments: "--quick --sut nginx --gateway fastcgi --load 5,20 --duration 8s --ramp-up 1s --ramp-down 0s",
        environment: EnvironmentKind::Nothing,
        group: TrialGroup::Alone,
    },
];
