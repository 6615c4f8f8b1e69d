//! The cases in which Plimsoll and another generator take turns.

use anyhow::Result;

use super::generator::{Turn, h2load, plimsoll, wrk};
use super::nginx::{Listen, Nginx};
use super::site::Site;
use super::{Options, scripts, tables};

/// The most connections, and some more: those of the turn before may still be closing.
pub const OPEN_FILES_MIN: u64 = 16_000;

/// What is compared, and the ratio to the other generator that Plimsoll has to reach.
pub struct Case {
    /// For `--case`.
    pub name: &'static str,
    /// What the tables call it.
    pub title: &'static str,
    /// Benchmark, then how it is changed.
    arguments: &'static [&'static str],
    users: u32,
    listen: Listen,
    /// Who does the same, and how.
    pub rival: Rival,
    /// The most CPU time per request, as a multiple of the rival's.
    pub bar: f64,
}

/// The other generator of a case.
pub enum Rival {
    /// wrk, a connection for each user.
    Wrk(Requests),
    /// h2load, so many users on each connection.
    H2load {
        /// Streams of a connection that are open at a time.
        streams: u32,
    },
}

impl Rival {
    /// Returns the name of the program.
    pub fn name(&self) -> &'static str {
        match self {
            Rival::Wrk(_) => "wrk",
            Rival::H2load { .. } => "h2load",
        }
    }
}

/// What wrk requests.
pub enum Requests {
    /// One file, connections kept.
    Kept(&'static str),
    /// One file, a connection for each request.
    Single(&'static str),
    /// What a script says, connections kept.
    KeptMix(&'static str),
    /// What a script says, a connection for each request.
    SingleMix(&'static str),
}

/// Users, and connections where each has one.
pub const FEW: u32 = 100;
/// As above.
pub const MANY: u32 = 10_000;

/// Names of the cases from which memory per connection follows.
pub const MEMORY: [&str; 2] = ["keep-alive", "keep-alive-10000"];

/// All cases.
pub const CASES: [Case; 9] = [
    Case {
        name: MEMORY[0],
        title: "keep-alive, GET 1 KB, 100 connections",
        arguments: &["one-object"],
        users: FEW,
        listen: Listen::Plain,
        rival: Rival::Wrk(Requests::Kept("/one.html")),
        bar: 0.95,
    },
    Case {
        name: MEMORY[1],
        title: "keep-alive, GET 1 KB, 10,000 connections",
        arguments: &["one-object"],
        users: MANY,
        listen: Listen::Plain,
        rival: Rival::Wrk(Requests::Kept("/one.html")),
        bar: 0.85,
    },
    Case {
        name: "per-request",
        title: "connection per request, GET 500 B, 100 connections",
        arguments: &["webstone-2.0.1", "--filelist", "500.filelist"],
        users: FEW,
        listen: Listen::Plain,
        rival: Rival::Wrk(Requests::Single("/file500.html")),
        bar: 1.0,
    },
    Case {
        name: "webstone",
        title: "WebStone 2.0.1 mix, connection per request, 100 users",
        arguments: &["webstone-2.0.1"],
        users: FEW,
        listen: Listen::Plain,
        rival: Rival::Wrk(Requests::SingleMix(scripts::WEBSTONE)),
        bar: 1.0,
    },
    Case {
        name: "web96-keep-alive",
        title: "web96 mix, keep-alive, 100 users",
        arguments: &["web96", "--http", "1.1", "--keep-alive", "--settle", "1 s"],
        users: FEW,
        listen: Listen::Plain,
        rival: Rival::Wrk(Requests::KeptMix(scripts::WEB96)),
        bar: 0.95,
    },
    Case {
        name: "web96-per-request",
        title: "web96 mix, connection per request, 100 users",
        arguments: &["web96", "--settle", "1 s"],
        users: FEW,
        listen: Listen::Plain,
        rival: Rival::Wrk(Requests::SingleMix(scripts::WEB96)),
        bar: 0.95,
    },
    Case {
        name: "tls",
        title: "TLS 1.3, keep-alive, GET 1 KB, 100 connections",
        arguments: &["one-object", "--tls", "full"],
        users: FEW,
        listen: Listen::Tls,
        rival: Rival::Wrk(Requests::Kept("/one.html")),
        bar: 1.0,
    },
    Case {
        name: "http2-10",
        title: "HTTP/2, GET 1 KB, 100 users on 10 connections",
        arguments: &["one-object", "--http", "2", "--streams", "10"],
        users: FEW,
        listen: Listen::Http2,
        rival: Rival::H2load { streams: 10 },
        bar: 1.15,
    },
    Case {
        name: "http2-100",
        title: "HTTP/2, GET 1 KB, 100 users on one connection",
        arguments: &["one-object", "--http", "2", "--streams", "100"],
        users: FEW,
        listen: Listen::Http2,
        rival: Rival::H2load { streams: 100 },
        bar: 1.15,
    },
];

/// Both turns of a round.
pub struct Round {
    /// Plimsoll's.
    pub plimsoll: Turn,
    /// The other generator's.
    pub rival: Turn,
}

impl Round {
    /// Returns what Plimsoll used for a request, as a multiple of what the other did.
    pub fn ratio(&self) -> f64 {
        self.plimsoll.cost / self.rival.cost
    }
}

/// Measures the cases that are asked for, round by round; returns the tables.
pub fn perform(site: &Site, options: &Options) -> Result<String> {
    let mut measured: Vec<(&Case, Vec<Round>)> =
        CASES.iter().filter(|case| options.wants(case.name)).map(|case| (case, Vec::new())).collect();
    for n in 0..options.rounds {
        for (case, rounds) in &mut measured {
            let round = round(case, site, options.seconds, n % 2 == 1)?;
            println!("round {}: {}: {:.3}", n + 1, case.title, round.ratio());
            rounds.push(round);
        }
    }
    Ok(tables::all(&measured))
}

/// A server for both, started anew; the one that goes first changes from round to round.
fn round(case: &Case, site: &Site, seconds: u32, rival_first: bool) -> Result<Round> {
    let nginx = Nginx::start(site, case.arguments[0], case.listen)?;
    if rival_first {
        let rival = rival_turn(case, site, &nginx, seconds)?;
        return Ok(Round { plimsoll: plimsoll_turn(case, site, &nginx, seconds)?, rival });
    }
    let plimsoll = plimsoll_turn(case, site, &nginx, seconds)?;
    Ok(Round { plimsoll, rival: rival_turn(case, site, &nginx, seconds)? })
}

fn plimsoll_turn(case: &Case, site: &Site, nginx: &Nginx, seconds: u32) -> Result<Turn> {
    let (load, duration) = (case.users.to_string(), format!("{seconds} s"));
    let more = ["--load", &load, "--duration", &duration];
    let arguments = [case.arguments, &more].concat();
    let look_after = 0.8 * f64::from(seconds);
    let (requests, (ended, _)) =
        nginx.count(|| plimsoll(&site.plimsoll, site.folder(), &arguments, &nginx.url(), look_after))?;
    Ok(Turn::of(&ended, requests))
}

fn rival_turn(case: &Case, site: &Site, nginx: &Nginx, seconds: u32) -> Result<Turn> {
    const CLOSE: [&str; 2] = ["-H", "Connection: close"];
    let url = nginx.url();
    let (requests, ended) = nginx.count(|| match &case.rival {
        Rival::Wrk(requests) => {
            let (path, more): (&str, Vec<&str>) = match requests {
                Requests::Kept(path) => (path, Vec::new()),
                Requests::Single(path) => (path, CLOSE.into()),
                Requests::KeptMix(script) => ("/", vec!["-s", script]),
                Requests::SingleMix(script) => ("/", [&CLOSE[..], &["-s", script]].concat()),
            };
            wrk(site.folder(), case.users, seconds, &more, &format!("{}{path}", url.trim_end_matches('/')))
        }
        Rival::H2load { streams } => {
            h2load(site.folder(), case.users / streams, *streams, seconds, &format!("{url}one.html"))
        }
    })?;
    Ok(Turn::of(&ended, requests))
}
