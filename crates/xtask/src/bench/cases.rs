//! The cases in which Plimsoll and wrk take turns.

use anyhow::Result;

use super::Options;
use super::figures::{median, word};
use super::generator::{mix_script, plimsoll, wrk};
use super::nginx::Nginx;
use super::site::Site;
use crate::shell::root;

/// The most connections, and some more: those of the turn before may still be closing.
pub const OPEN_FILES_MIN: u64 = 16_000;

/// Memory that a connection more may cost, in KiB.
const MEMORY_BAR: f64 = 2.0;

/// What is compared, and the ratio to wrk that Plimsoll has to reach.
struct Case {
    title: &'static str,
    benchmark: &'static str,
    connections: u32,
    /// What wrk requests.
    path: Requests,
    bar: f64,
}

enum Requests {
    /// One file, connections kept.
    Kept(&'static str),
    /// One file, a connection for each request.
    Single(&'static str),
    /// The files of the benchmark by weight, a connection for each request.
    Mix,
}

const FEW: u32 = 100;
const MANY: u32 = 10_000;

const CASES: [Case; 4] = [
    Case {
        title: "keep-alive, GET 1 KB, 100 connections",
        benchmark: "one-object",
        connections: FEW,
        path: Requests::Kept("/one.html"),
        bar: 0.95,
    },
    Case {
        title: "keep-alive, GET 1 KB, 10,000 connections",
        benchmark: "one-object",
        connections: MANY,
        path: Requests::Kept("/one.html"),
        bar: 0.85,
    },
    Case {
        title: "connection per request, GET 500 B, 100 connections",
        benchmark: "webstone-2.0.1",
        connections: FEW,
        path: Requests::Single("/file500.html"),
        bar: 1.0,
    },
    Case {
        title: "WebStone 2.0.1 mix, connection per request, 100 users",
        benchmark: "webstone-2.0.1",
        connections: FEW,
        path: Requests::Mix,
        bar: 1.0,
    },
];

/// One turn of one generator.
#[derive(Clone, Copy)]
struct Turn {
    /// CPU seconds per million requests.
    cost: f64,
    requests: u64,
    rss_kib: f64,
}

/// Both turns of a round.
struct Round {
    plimsoll: Turn,
    wrk: Turn,
}

/// Measures all cases, round by round; returns the tables.
pub fn perform(site: &Site, options: &Options) -> Result<String> {
    let script = mix_script(&std::fs::read_to_string(
        root().join("crates/benchmarks/src/webstone/filelist-2.0.1.txt"),
    )?)?;
    std::fs::write(site.path("mix.lua"), script)?;
    let mut rounds: [Vec<Round>; CASES.len()] = Default::default();
    for n in 0..options.rounds {
        for (case, rounds) in CASES.iter().zip(&mut rounds) {
            let round = round(case, site, options.seconds, n % 2 == 1)?;
            println!("round {}: {}: {:.3}", n + 1, case.title, round.ratio());
            rounds.push(round);
        }
    }
    Ok(summary(&rounds) + &memory(&rounds) + &details(&rounds))
}

/// A server for both, started anew; the one that goes first changes from round to round.
fn round(case: &Case, site: &Site, seconds: u32, wrk_first: bool) -> Result<Round> {
    let nginx = Nginx::start(site, case.benchmark)?;
    if wrk_first {
        let wrk = wrk_turn(case, site, &nginx, seconds)?;
        return Ok(Round { plimsoll: plimsoll_turn(case, site, &nginx, seconds)?, wrk });
    }
    let plimsoll = plimsoll_turn(case, site, &nginx, seconds)?;
    Ok(Round { plimsoll, wrk: wrk_turn(case, site, &nginx, seconds)? })
}

fn plimsoll_turn(case: &Case, site: &Site, nginx: &Nginx, seconds: u32) -> Result<Turn> {
    let (load, duration) = (case.connections.to_string(), format!("{seconds} s"));
    let filelist = site.path("500.filelist").display().to_string();
    let mut arguments = vec![case.benchmark, "--load", &load, "--duration", &duration];
    if matches!(case.path, Requests::Single(_)) {
        arguments.extend(["--filelist", &filelist]);
    }
    let look_after = 0.8 * f64::from(seconds);
    let (requests, (ended, _)) = nginx.count(|| plimsoll(site, &arguments, nginx.port, look_after))?;
    Ok(Turn { cost: ended.cpu_s * 1e6 / requests as f64, requests, rss_kib: ended.rss_kib })
}

fn wrk_turn(case: &Case, site: &Site, nginx: &Nginx, seconds: u32) -> Result<Turn> {
    let close = || vec!["-H".to_owned(), "Connection: close".to_owned()];
    let (path, more) = match case.path {
        Requests::Kept(path) => (path, Vec::new()),
        Requests::Single(path) => (path, close()),
        Requests::Mix => {
            let script = ["-s".to_owned(), site.path("mix.lua").display().to_string()];
            ("/", close().into_iter().chain(script).collect())
        }
    };
    let url = format!("http://127.0.0.1:{}{path}", nginx.port);
    let (requests, ended) = nginx.count(|| wrk(site.folder(), case.connections, seconds, &more, &url))?;
    Ok(Turn { cost: ended.cpu_s * 1e6 / requests as f64, requests, rss_kib: ended.rss_kib })
}

impl Round {
    fn ratio(&self) -> f64 {
        self.plimsoll.cost / self.wrk.cost
    }
}

fn over(rounds: &[Round], value: impl Fn(&Round) -> f64) -> f64 {
    median(&rounds.iter().map(value).collect::<Vec<_>>())
}

fn summary(rounds: &[Vec<Round>]) -> String {
    let mut text = "## CPU per request beside wrk\n\n\
        CPU seconds (user and system) per million requests; medians of all rounds. The ratio is the median of the \
        ratios of the rounds.\n\n\
        | case | Plimsoll | wrk | ratio | bar | |\n|---|---:|---:|---:|---:|---|\n"
        .to_owned();
    for (case, rounds) in CASES.iter().zip(rounds) {
        let (plimsoll, wrk) =
            (over(rounds, |round| round.plimsoll.cost), over(rounds, |round| round.wrk.cost));
        let ratio = over(rounds, Round::ratio);
        let (title, bar, met) = (case.title, case.bar, word(ratio <= case.bar));
        text += &format!("| {title} | {plimsoll:.2} | {wrk:.2} | {ratio:.3} | ≤ {bar:.2} | {met} |\n");
    }
    text
}

fn memory(rounds: &[Vec<Round>]) -> String {
    let [few, many, ..] = rounds else { return String::new() };
    let each = |value: fn(&Round) -> f64| {
        let (few, many) = (over(few, value), over(many, value));
        (few, many, (many - few) / f64::from(MANY - FEW))
    };
    let row = |name: &str, (few, many, more): (f64, f64, f64), verdict: &str| {
        format!("| {name} | {few:.0} | {many:.0} | {more:.2} | {verdict} |\n")
    };
    let (plimsoll, wrk) = (each(|round| round.plimsoll.rss_kib), each(|round| round.wrk.rss_kib));
    format!(
        "\n## Memory per connection\n\n\
        The most memory resident (KiB) until four fifths of the turn, with kept connections; what 9,900 connections \
        more cost, divided by 9,900. At most {MEMORY_BAR:.0} KiB.\n\n\
        | | at 100 | at 10,000 | per connection | |\n|---|---:|---:|---:|---|\n{}{}",
        row("Plimsoll", plimsoll, word(plimsoll.2 <= MEMORY_BAR)),
        row("wrk", wrk, ""),
    )
}

fn details(rounds: &[Vec<Round>]) -> String {
    let mut text = "\n## Round by round\n\n\
        | case | round | Plimsoll, s per million | requests | wrk, s per million | requests | ratio |\n\
        |---|---:|---:|---:|---:|---:|---:|\n"
        .to_owned();
    for (case, rounds) in CASES.iter().zip(rounds) {
        for (n, round) in rounds.iter().enumerate() {
            let Round { plimsoll, wrk } = round;
            text += &format!(
                "| {} | {} | {:.2} | {} | {:.2} | {} | {:.3} |\n",
                case.title,
                n + 1,
                plimsoll.cost,
                plimsoll.requests,
                wrk.cost,
                wrk.requests,
                round.ratio()
            );
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turn(cost: f64, rss_kib: f64) -> Turn {
        Turn { cost, requests: 1_000, rss_kib }
    }

    /// Medians 8 of 10 with round ratios 0.8, 0.9, 0.7; memory (21,000 − 1,200) KiB ÷ 9,900 = 2.00.
    #[test]
    fn tables_show_medians_of_rounds_and_what_a_connection_costs() {
        let round = |plimsoll, rss| Round { plimsoll: turn(plimsoll, rss), wrk: turn(10.0, 500.0) };
        let case = |rss| vec![round(8.0, rss), round(9.0, rss), round(7.0, rss)];
        let rounds = [case(1_200.0), case(21_000.0), case(1.0), case(1.0)];
        let text = summary(&rounds);
        assert!(text.contains("100 connections | 8.00 | 10.00 | 0.800 | ≤ 0.95 | met |"), "{text}");
        let text = memory(&rounds);
        assert!(text.contains("| Plimsoll | 1200 | 21000 | 2.00 | met |"), "{text}");
        assert_eq!(details(&rounds).lines().filter(|line| line.ends_with("| 0.900 |")).count(), 4);
    }
}
