//! The throttles, and the bottlenecks that Plimsoll has to report.

/// A way to throttle a server, or the generator.
pub(super) struct Throttle {
    /// Its name for people.
    pub name: &'static str,
    /// The expected bottleneck of the last load point.
    pub bottleneck: &'static str,
    /// Arguments of `plimsoll run`; a path that ends in `.toml` is relative to the repository's root.
    pub arguments: &'static [&'static str],
    /// The environment of the attempt.
    pub environment: EnvironmentKind,
}

/// The kind of environment of an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EnvironmentKind {
    /// Nothing.
    Nothing,
    /// A network namespace of its own, whose loopback has this queueing discipline.
    Namespace(&'static [&'static str]),
    /// A running built-in server, started with these arguments of `serve web`.
    Server(&'static [&'static str]),
    /// A running built-in application server, started with these arguments of `serve app`, which says how busy it is.
    AppServer(&'static [&'static str]),
    /// This many endless loops on the CPUs of the load.
    Burners(usize),
}

const FILES: &str = "crates/proving/src/throttles/files.toml";
const LOCK: &str = "crates/proving/src/throttles/lock.toml";
const SLOW: &str = "examples/slow-page.toml";

/// All throttles.
pub(super) const THROTTLES: &[Throttle] = &[
    Throttle {
        name: "CPU quota of nginx (control group)",
        bottleneck: "processor",
        arguments: &[
            "one-object",
            "--sut",
            "nginx",
            "--sut-quota",
            "0.15",
            "--load",
            "1,16",
            "--duration",
            "6s",
        ],
        environment: EnvironmentKind::Nothing,
    },
    Throttle {
        name: "CPU allowance of the built-in server",
        bottleneck: "processor",
        arguments: &["one-object", "--sut-quota", "0.15", "--load", "1,16", "--duration", "6s"],
        environment: EnvironmentKind::Nothing,
    },
    Throttle {
        name: "one CPU for Apache and its CGI processes (cpuset)",
        bottleneck: "processor",
        arguments: &[
            "webstone-2.0.1",
            "--filelist",
            "dynamic-heavy",
            "--sut",
            "apache",
            "--gateway",
            "cgi",
            "--sut-groups",
            "1",
            "--load",
            "1,12",
            "--duration",
            "6s",
        ],
        environment: EnvironmentKind::Nothing,
    },
    Throttle {
        name: "memory of nginx (24 MiB for files of 150 MiB)",
        bottleneck: "memory",
        arguments: &[FILES, "--sut", "nginx", "--sut-memory", "24 MiB", "--sut-quota", "0.6"],
        environment: EnvironmentKind::Nothing,
    },
    Throttle {
        name: "disk reads of nginx (80/s, direct)",
        bottleneck: "disk operations",
        arguments: &[
            FILES,
            "--sut",
            "nginx",
            "--profile",
            "direct-io",
            "--sut-disk",
            "reads=80",
            "--sut-quota",
            "0.6",
        ],
        environment: EnvironmentKind::Nothing,
    },
    Throttle {
        name: "disk bytes of nginx (8 MiB/s, direct)",
        bottleneck: "disk bandwidth",
        arguments: &[
            FILES,
            "--sut",
            "nginx",
            "--profile",
            "direct-io",
            "--sut-disk",
            "read-bytes=8MiB",
            "--sut-quota",
            "0.6",
        ],
        environment: EnvironmentKind::Nothing,
    },
    Throttle {
        name: "network (tbf, 40 Mbit/s)",
        bottleneck: "network",
        arguments: &[FILES, "--sut", "nginx", "--sut-quota", "none"],
        environment: EnvironmentKind::Namespace(&[
            "tbf", "rate", "40mbit", "burst", "128kb", "latency", "50ms",
        ]),
    },
    Throttle {
        name: "workers behind nginx (FastCGI × 4, pages that wait 20 ms)",
        bottleneck: "worker limit",
        arguments: &[
            SLOW,
            "--sut",
            "nginx",
            "--gateway",
            "fastcgi",
            "--workers",
            "4",
            "--load",
            "1,32",
            "--duration",
            "6s",
        ],
        environment: EnvironmentKind::Nothing,
    },
    Throttle {
        name: "workers behind Apache (FastCGI × 2, pages that wait 20 ms)",
        bottleneck: "worker limit",
        arguments: &[
            SLOW,
            "--sut",
            "apache",
            "--gateway",
            "fastcgi",
            "--workers",
            "2",
            "--load",
            "1,24",
            "--duration",
            "6s",
        ],
        environment: EnvironmentKind::Nothing,
    },
    Throttle {
        name: "a lock (FastCGI × 24, pages that hold it for 10 ms)",
        bottleneck: "lock or other waiting",
        arguments: &[LOCK, "--sut", "nginx", "--gateway", "fastcgi", "--workers", "24"],
        environment: EnvironmentKind::Nothing,
    },
    Throttle {
        name: "accept backlog of 2",
        bottleneck: "accept backlog",
        arguments: &["one-object", "--connection", "per-request", "--load", "1,200", "--duration", "6s"],
        environment: EnvironmentKind::Server(&["one-object", "--backlog", "2", "--cpu-allowance", "0.5"]),
    },
    Throttle {
        name: "CPU allowance of the application server",
        bottleneck: "processor",
        arguments: &[
            "serverbench",
            "--quick",
            "--set",
            "suite=cpu",
            "--sut-quota",
            "0.3",
            "--load",
            "1,8",
            "--duration",
            "6s",
        ],
        environment: EnvironmentKind::Nothing,
    },
    Throttle {
        name: "memory of the application server (64 MiB for ranges of 160 MiB)",
        bottleneck: "memory",
        arguments: &[
            "serverbench",
            "--quick",
            "--set",
            "suite=disk",
            "--set",
            "range=20MiB",
            "--sut-memory",
            "64MiB",
            "--sut-quota",
            "0.6",
            "--load",
            "1,8",
            "--duration",
            "6s",
        ],
        environment: EnvironmentKind::Nothing,
    },
    Throttle {
        name: "disk reads of the application server (80/s, direct)",
        bottleneck: "disk operations",
        arguments: &[
            "serverbench",
            "--quick",
            "--set",
            "suite=disk",
            "--set",
            "io=direct",
            "--sut-disk",
            "reads=80",
            "--sut-quota",
            "0.6",
            "--load",
            "1,8",
            "--duration",
            "6s",
        ],
        environment: EnvironmentKind::Nothing,
    },
    Throttle {
        name: "service threads of the application server (4, each transaction takes 20 ms)",
        bottleneck: "worker limit",
        arguments: &["serverbench", "--quick", "--set", "suite=net", "--load", "1,16", "--duration", "6s"],
        environment: EnvironmentKind::AppServer(&["--threads", "4", "--fault", "slow"]),
    },
    Throttle {
        name: "the generator (4 endless loops on its CPU)",
        bottleneck: "generator",
        arguments: &["one-object", "--sut", "nginx", "--load", "1,32", "--duration", "6s"],
        environment: EnvironmentKind::Burners(4),
    },
    Throttle {
        name: "nothing (users who think)",
        bottleneck: "none",
        arguments: &[
            "dynpage",
            "--sut",
            "nginx",
            "--gateway",
            "fastcgi",
            "--load",
            "5,20",
            "--duration",
            "8s",
            "--ramp-up",
            "1s",
            "--ramp-down",
            "0s",
        ],
        environment: EnvironmentKind::Nothing,
    },
];
