//! The throttles: what is held back, by what, and what Plimsoll has to call it.

/// One way to hold a server, or the generator, back.
pub struct Throttle {
    /// What is held back, for people.
    pub name: &'static str,
    /// What the last load point's bottleneck has to be called.
    pub bottleneck: &'static str,
    /// Arguments of `plimsoll run`; a path that ends in `.toml` is below the repository's root.
    pub arguments: &'static [&'static str],
    /// What is done besides.
    pub around: Around,
}

/// What is done while a throttle is tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Around {
    /// Nothing.
    Nothing,
    /// Everything runs in a network namespace of its own, whose loopback has this queueing discipline.
    Namespace(&'static [&'static str]),
    /// A built-in server is there already, started with these arguments of `serve web`.
    Server(&'static [&'static str]),
    /// So many endless loops run on the CPUs of the load.
    Burners(usize),
}

const FILES: &str = "crates/xtask/src/throttles/files.toml";
const LOCK: &str = "crates/xtask/src/throttles/lock.toml";
const SLOW: &str = "examples/slow-page.toml";

/// All throttles.
pub const THROTTLES: &[Throttle] = &[
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
        around: Around::Nothing,
    },
    Throttle {
        name: "CPU allowance of the built-in server",
        bottleneck: "processor",
        arguments: &["one-object", "--sut-quota", "0.15", "--load", "1,16", "--duration", "6s"],
        around: Around::Nothing,
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
        around: Around::Nothing,
    },
    Throttle {
        name: "memory of nginx (24 MiB for files of 150 MiB)",
        bottleneck: "memory",
        arguments: &[FILES, "--sut", "nginx", "--sut-memory", "24 MiB", "--sut-quota", "0.6"],
        around: Around::Nothing,
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
        around: Around::Nothing,
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
        around: Around::Nothing,
    },
    Throttle {
        name: "network (tbf, 40 Mbit/s)",
        bottleneck: "network",
        arguments: &[FILES, "--sut", "nginx", "--sut-quota", "none"],
        around: Around::Namespace(&["tbf", "rate", "40mbit", "burst", "128kb", "latency", "50ms"]),
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
        around: Around::Nothing,
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
        around: Around::Nothing,
    },
    Throttle {
        name: "a lock (FastCGI × 24, pages that hold it for 10 ms)",
        bottleneck: "lock or other waiting",
        arguments: &[LOCK, "--sut", "nginx", "--gateway", "fastcgi", "--workers", "24"],
        around: Around::Nothing,
    },
    Throttle {
        name: "accept backlog of 2",
        bottleneck: "accept backlog",
        arguments: &["one-object", "--connection", "per-request", "--load", "1,200", "--duration", "6s"],
        around: Around::Server(&["one-object", "--backlog", "2", "--cpu-allowance", "0.5"]),
    },
    Throttle {
        name: "the generator (4 endless loops on its CPU)",
        bottleneck: "generator",
        arguments: &["one-object", "--sut", "nginx", "--load", "1,32", "--duration", "6s"],
        around: Around::Burners(4),
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
        around: Around::Nothing,
    },
];
