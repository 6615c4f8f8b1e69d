//! The cases in which Plimsoll and another generator take turns.

use crate::bench::harness::Case;
use crate::bench::load_tools::WrkConnections::{self, Close, Keep};
use crate::bench::load_tools::WrkRequests::{self, File, Script};
use crate::bench::nginx::Listen;
use crate::bench::scripts::{WEB96, WEBSTONE};
use crate::bench::site::{FEW, MANY};

use OtherGenerator::{H2load, Wrk};

/// The load of a case, and the ratio to the other generator that Plimsoll has to meet.
pub(in crate::bench) struct GeneratorLoad {
    /// The benchmark, whose files the server has.
    pub(super) benchmark: &'static str,
    /// Its overrides, separated by spaces.
    pub(super) overrides: &'static str,
    pub(super) users: u32,
    pub(super) listen: Listen,
    /// The other generator, and its settings.
    pub(super) other: OtherGenerator,
    /// The maximum CPU time per request, as a multiple of the other generator's.
    pub(super) bar: f64,
}

/// The other generator of a case.
pub(super) enum OtherGenerator {
    /// wrk, a connection for each user.
    Wrk(WrkRequests, WrkConnections),
    /// h2load, with this many users on each connection: streams that are open at a time.
    H2load(u32),
}

impl OtherGenerator {
    /// Returns the name of the program.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Wrk(..) => "wrk",
            H2load(_) => "h2load",
        }
    }
}

/// Titles of the cases that determine memory per connection.
pub(super) const MEMORY: [&str; 2] =
    ["keep-alive, GET 1 KB, 100 connections", "keep-alive, GET 1 KB, 10,000 connections"];

/// The file of one object, on kept connections.
const ONE_KEPT: OtherGenerator = Wrk(File("/one.html"), Keep);

/// All cases. The certificate of TLS is made for the measurement, and no authority vouches for it.
pub(super) const CASES: [Case<GeneratorLoad>; 9] = [
    Case::new(&["keep-alive"], MEMORY[0], load("one-object", "", ONE_KEPT, 0.95)),
    Case::new(
        &["keep-alive-10000"],
        MEMORY[1],
        GeneratorLoad { users: MANY, ..load("one-object", "", ONE_KEPT, 0.85) },
    ),
    Case::new(
        &["per-request"],
        "connection per request, GET 500 B, 100 connections",
        load("webstone-2.0.1", "--filelist 500.filelist", Wrk(File("/file500.html"), Close), 1.0),
    ),
    Case::new(
        &["webstone"],
        "WebStone 2.0.1 mix, connection per request, 100 users",
        load("webstone-2.0.1", "", Wrk(Script(WEBSTONE), Close), 1.0),
    ),
    Case::new(
        &["web96-keep-alive"],
        "web96 mix, keep-alive, 100 users",
        load("web96", "--http 1.1 --keep-alive --settle 1s", Wrk(Script(WEB96), Keep), 0.95),
    ),
    Case::new(
        &["web96-per-request"],
        "web96 mix, connection per request, 100 users",
        load("web96", "--settle 1s", Wrk(Script(WEB96), Close), 0.95),
    ),
    Case::new(
        &["tls"],
        "TLS 1.3, keep-alive, GET 1 KB, 100 connections",
        GeneratorLoad { listen: Listen::Tls, ..load("one-object", "--tls full --insecure", ONE_KEPT, 1.0) },
    ),
    Case::new(
        &["http2-10"],
        "HTTP/2, GET 1 KB, 100 users on 10 connections",
        GeneratorLoad {
            listen: Listen::Http2,
            ..load("one-object", "--http 2 --streams 10", H2load(10), 1.15)
        },
    ),
    Case::new(
        &["http2-100"],
        "HTTP/2, GET 1 KB, 100 users on one connection",
        GeneratorLoad {
            listen: Listen::Http2,
            ..load("one-object", "--http 2 --streams 100", H2load(100), 1.15)
        },
    ),
];

const fn load(
    benchmark: &'static str,
    overrides: &'static str,
    other: OtherGenerator,
    bar: f64,
) -> GeneratorLoad {
    GeneratorLoad { benchmark, overrides, users: FEW, listen: Listen::Plain, other, bar }
}
