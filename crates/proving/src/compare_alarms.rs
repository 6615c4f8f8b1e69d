//! `compare-alarms`: how often `plimsoll run --compare` calls identical servers different, and how often it finds one that
//! was made 5 % slower.
//!
//! Both servers are built-in web servers, each a process of its own that is started anew for every round, and nothing is
//! pinned to a CPU. They limit themselves to a share of a CPU; the slower one has 5 % less of it. Which of the two is slower
//! changes from round to round.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;
use stats::student_quantile;

use crate::bench::machine;
use crate::bench::process::{BackgroundProcess, serve_by};
use crate::build::packaged_binary;
use crate::options::number;
use crate::shell::write_page;

/// Share of a CPU that the faster server has, and the slower one: 5 % less. Little enough that the load generator is not
/// the limit on two CPUs.
const FAST: &str = "0.3";
const SLOW: &str = "0.285";

/// Number of rounds of each kind.
const ROUNDS: u32 = 20;

/// The most false alarms, and the fewest finds, in `ROUNDS`.
const ALARMS_MAX: usize = 1;
const FINDS_MIN: usize = 19;

const PAGE: &str = "docs/recorded/compare-alarms.md";

/// Options of the command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompareAlarmOptions {
    rounds: u32,
    /// Length of a turn in s; `None` for the default of the program.
    steady: Option<u32>,
    /// The program; `None` for this checkout, built like a package.
    binary: Option<PathBuf>,
    write: bool,
}

impl CompareAlarmOptions {
    /// Parses the command line.
    ///
    /// # Errors
    /// Unknown options, missing or invalid values, and `--write` for another program than that of this checkout.
    pub fn parse(arguments: &[&str]) -> Result<CompareAlarmOptions> {
        let mut options = CompareAlarmOptions { rounds: ROUNDS, steady: None, binary: None, write: false };
        let mut rest = arguments.iter();
        while let Some(name) = rest.next() {
            let mut value = || rest.next().with_context(|| format!("expected a value after `{name}`"));
            match *name {
                "--rounds" => options.rounds = number(name, value()?)?,
                "--steady" => options.steady = Some(number(name, value()?)?),
                "--binary" => options.binary = Some(PathBuf::from(value()?)),
                "--write" => options.write = true,
                other => bail!("unknown option `{other}`"),
            }
        }
        ensure!(
            !(options.write && options.binary.is_some()),
            "`--write` writes the page about this checkout: not with `--binary`"
        );
        Ok(options)
    }
}

/// Measures all rounds, prints the page, and writes it if asked to.
///
/// # Errors
/// A server or a comparison cannot be started; or there are more false alarms or fewer finds than promised.
pub fn perform(options: &CompareAlarmOptions) -> Result<()> {
    let plimsoll = match &options.binary {
        Some(binary) => std::path::absolute(binary)?,
        None => packaged_binary()?,
    };
    let before = machine::load_average()?;
    let mut rounds = Vec::new();
    for index in 0..options.rounds {
        for kind in [RoundKind::Identical, RoundKind::slower(index)] {
            let round = Round::perform(&plimsoll, kind, options.steady)?;
            println!("{:2} {}", index + 1, round.line());
            rounds.push(round);
        }
    }
    let summary = Summary::of(&rounds);
    let page = page(options, &before, &rounds, &summary)?;
    println!("\n{page}");
    if options.write {
        write_page(PAGE, &page)?;
    }
    if options.rounds == ROUNDS {
        ensure!(summary.n_alarms <= ALARMS_MAX, "{} false alarms", summary.n_alarms);
        ensure!(FINDS_MIN <= summary.n_finds, "found {} of {}", summary.n_finds, summary.n_slower);
    }
    Ok(())
}

/// The difference between the two servers of a round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RoundKind {
    Identical,
    FirstSlower,
    SecondSlower,
}

impl RoundKind {
    fn slower(index: u32) -> RoundKind {
        if index.is_multiple_of(2) { RoundKind::SecondSlower } else { RoundKind::FirstSlower }
    }

    fn shares(self) -> [&'static str; 2] {
        match self {
            RoundKind::Identical => [FAST, FAST],
            RoundKind::FirstSlower => [SLOW, FAST],
            RoundKind::SecondSlower => [FAST, SLOW],
        }
    }

    fn name(self) -> &'static str {
        match self {
            RoundKind::Identical => "identical",
            RoundKind::FirstSlower => "A 5 % slower",
            RoundKind::SecondSlower => "B 5 % slower",
        }
    }

    /// Returns the right answer.
    fn right(self) -> &'static str {
        match self {
            RoundKind::Identical => "no-difference",
            RoundKind::FirstSlower => "faster",
            RoundKind::SecondSlower => "slower",
        }
    }
}

/// A comparison of two servers, with its answer.
#[derive(Debug, Clone, PartialEq)]
struct Round {
    kind: RoundKind,
    /// `faster`, `slower`, `no-difference`, `undecided` or `no-answer`, of B.
    answer: String,
    /// B ÷ A, with the interval of the answer and that of the processes as they ran.
    speed: Option<(f64, [f64; 2], [f64; 2])>,
    /// Number of pairs of turns that the answer is made of.
    n_pairs: usize,
    /// Number of valid turns.
    n_valid: usize,
    n_turns: usize,
}

impl Round {
    fn perform(plimsoll: &Path, kind: RoundKind, steady: Option<u32>) -> Result<Round> {
        let folder = tempfile::tempdir()?;
        let [a, b] = kind.shares();
        let (_a, first) = server(plimsoll, a)?;
        let (_b, second) = server(plimsoll, b)?;
        let mut command = Command::new(plimsoll);
        command.args(["--json", "run", "--compare", &first, &second, "--progress", "plain", "--out"]);
        command.arg(folder.path().join("turns")).stdin(Stdio::null()).stderr(Stdio::piped());
        if let Some(seconds) = steady {
            command.args(["--duration", &seconds.to_string()]);
        }
        let output = command.output()?;
        let text = || String::from_utf8_lossy(&output.stderr).into_owned();
        let value: Value = serde_json::from_slice(&output.stdout).with_context(text)?;
        Ok(Round::of(kind, &value))
    }

    fn of(kind: RoundKind, value: &Value) -> Round {
        let comparison = &value["comparison"];
        let answer = &comparison["answers"][0];
        let ends = |name: &str| Some([answer[name][0].as_f64()?, answer[name][1].as_f64()?]);
        let speed = || {
            let ratio = answer["speed_ratio"].as_f64()?;
            Some((ratio, ends("speed_ratio_interval")?, ends("speed_ratio_interval_95_as_found")?))
        };
        let changes = comparison["sides"][1]["overall"].as_array().map_or(&[][..], Vec::as_slice);
        let asked = changes.iter().find(|change| change["metric"] == answer["metric"]);
        let n_pairs = asked.and_then(|change| change["repetitions"][0].as_u64());
        let turns: &[Value] = comparison["runs"].as_array().map_or(&[], Vec::as_slice);
        Round {
            kind,
            answer: answer["answer"].as_str().unwrap_or("no-answer").to_owned(),
            speed: speed(),
            n_pairs: n_pairs.unwrap_or_default() as usize,
            n_valid: turns.iter().filter(|turn| turn["verdict"] == "valid").count(),
            n_turns: turns.len(),
        }
    }

    fn is_right(&self) -> bool {
        self.answer == self.kind.right()
    }

    /// Returns whether a difference was claimed.
    fn is_claim(&self) -> bool {
        ["faster", "slower"].contains(&self.answer.as_str())
    }

    fn line(&self) -> String {
        let speed = self.speed.map_or("–".to_owned(), |(ratio, [low, high], [own_low, own_high])| {
            format!("{ratio:.4} ({low:.3} to {high:.3}; as they ran {own_low:.4} to {own_high:.4})")
        });
        let Round { kind, answer, n_valid, n_turns, .. } = self;
        format!("{}: {answer}, B ÷ A {speed}, {n_valid} of {n_turns} turns valid", kind.name())
    }
}

/// Starts a server; returns it with the URL of its page.
fn server(plimsoll: &Path, share: &str) -> Result<(BackgroundProcess, String)> {
    let arguments = ["web", "one-object", "--cpu-allowance", share];
    let (process, address) = serve_by(Command::new(plimsoll), &arguments)?;
    Ok((process, format!("http://{address}/one.html")))
}

/// The results of all rounds together.
#[derive(Debug, Clone, PartialEq)]
struct Summary {
    n_identical: usize,
    n_alarms: usize,
    n_slower: usize,
    n_finds: usize,
    n_without_answer: usize,
    /// The standard deviation of ln(B ÷ A) of identical servers, and the part of it that turns do not explain.
    scatter: Option<(f64, f64)>,
}

impl Summary {
    fn of(rounds: &[Round]) -> Summary {
        let count = |is: &dyn Fn(&Round) -> bool| rounds.iter().filter(|round| is(round)).count();
        let is_identical = |round: &Round| round.kind == RoundKind::Identical;
        Summary {
            n_identical: count(&is_identical),
            n_alarms: count(&|round| is_identical(round) && round.is_claim()),
            n_slower: count(&|round| !is_identical(round)),
            n_finds: count(&|round| !is_identical(round) && round.is_right()),
            n_without_answer: count(&|round| round.speed.is_none()),
            scatter: scatter(rounds.iter().filter(|round| is_identical(round))),
        }
    }
}

/// Returns the standard deviation of ln(B ÷ A), and what is left of it without the errors of the turns; `None` of fewer than
/// three rounds. The errors are the half-widths of 95 % intervals, divided by Student's t for their numbers of pairs.
fn scatter<'a>(rounds: impl Iterator<Item = &'a Round>) -> Option<(f64, f64)> {
    let of_round = |round: &Round| {
        let (ratio, _, [low, high]) = round.speed?;
        let t = student_quantile(0.975, round.n_pairs.checked_sub(1)? as f64)?;
        Some((ratio.ln(), (high / low).ln() / (2.0 * t)))
    };
    let speeds: Vec<(f64, f64)> = rounds.filter_map(of_round).collect();
    if speeds.len() < 3 {
        return None;
    }
    // About zero, not about their mean: the servers are identical.
    let n = speeds.len() as f64;
    let whole = speeds.iter().map(|(log, _)| log.powi(2)).sum::<f64>() / n;
    let of_turns = speeds.iter().map(|(_, error)| error.powi(2)).sum::<f64>() / n;
    Some((whole.sqrt(), (whole - of_turns).max(0.0).sqrt()))
}

fn page(options: &CompareAlarmOptions, before: &str, rounds: &[Round], summary: &Summary) -> Result<String> {
    let length = options.steady.map_or(String::new(), |seconds| format!(" --duration {seconds}"));
    let percent = |part: f64| format!("{:.2} %", 100.0 * part);
    let scatter = summary.scatter.map_or("–".to_owned(), |(whole, processes)| {
        format!("{}, of which {} between processes", percent(whole), percent(processes))
    });
    let rows: String = rounds.iter().map(row).collect();
    Ok(format!(
        "# Alarms and finds of `run --compare`\n\n\
         Measured with `cargo xtask compare-alarms`, load average before: {before}. Each round compares two new processes of the \
         built-in web server, which limits itself to {FAST} CPUs, or {SLOW} where it is 5 % slower, by \
         `plimsoll run --compare URL_A URL_B{length}`; nothing is pinned to a CPU.\n\n\
         {}\n\
         | | |\n|---|---|\n\
         | false alarms | {} of {} comparisons of identical servers |\n\
         | found | {} of {} servers that are 5 % slower |\n\
         | without an answer | {} |\n\
         | scatter of B ÷ A of identical servers | {scatter} |\n\n\
         | servers | answer about B | B ÷ A | interval | as they ran | valid turns |\n|---|---|---:|---|---|---:|\n{rows}",
        machine::programs(&[])?,
        summary.n_alarms,
        summary.n_identical,
        summary.n_finds,
        summary.n_slower,
        summary.n_without_answer,
    ))
}

fn row(round: &Round) -> String {
    let Round { kind, answer, speed, n_valid, n_turns, .. } = round;
    let cells = speed.map_or("– | – | –".to_owned(), |(ratio, [low, high], [own_low, own_high])| {
        format!("{ratio:.3} | {low:.3} to {high:.3} | {own_low:.3} to {own_high:.3}")
    });
    format!("| {} | {} | {cells} | {n_valid} of {n_turns} |\n", kind.name(), answer.replace('-', " "))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn round(kind: RoundKind, answer: &str, ratio: f64) -> Round {
        of_pairs(8, kind, answer, ratio)
    }

    fn of_pairs(n_pairs: usize, kind: RoundKind, answer: &str, ratio: f64) -> Round {
        let ends = [ratio / 1.01, ratio * 1.01];
        let changes = json!([
            { "metric": "response_mean", "repetitions": [99, 99] },
            { "metric": "score", "repetitions": [n_pairs, n_pairs] },
        ]);
        let answer = json!({
            "answer": answer,
            "metric": "score",
            "speed_ratio": ratio,
            "speed_ratio_interval": ends,
            "speed_ratio_interval_95_as_found": ends,
        });
        let runs = json!([{ "verdict": "valid" }, { "verdict": "invalid" }]);
        let sides = json!([{ "overall": [] }, { "overall": changes }]);
        Round::of(kind, &json!({ "comparison": { "answers": [answer], "sides": sides, "runs": runs } }))
    }

    /// By hand: of 24 pairs Student's t is 2.069, so that the turns explain ln(1.01²) ÷ (2 · 2.069) = 0.00481 of 0.0198:
    /// √(0.0198² − 0.00481²) = 0.01921.
    #[test]
    fn errors_of_turns_follow_from_the_number_of_pairs() {
        let rounds =
            [1.02, 1.0 / 1.02, 1.02].map(|ratio| of_pairs(24, RoundKind::Identical, "undecided", ratio));
        let (_, processes) = scatter(rounds.iter()).unwrap();
        assert!((processes - 0.01921).abs() < 1e-5, "{processes}");
    }

    /// By hand: logarithms of ±2 % about zero scatter by ln 1.02 = 0.0198; the turns explain ln(1.01²) ÷ (2 · 2.365) = 0.00421
    /// of it: √(0.0198² − 0.00421²) = 0.01935.
    #[test]
    fn alarms_and_finds_are_counted() {
        use RoundKind::{FirstSlower, Identical, SecondSlower};
        let rounds = [
            round(Identical, "no-difference", 1.02),
            round(Identical, "faster", 1.0 / 1.02),
            round(Identical, "undecided", 1.02),
            round(FirstSlower, "faster", 1.05),
            round(SecondSlower, "slower", 0.95),
            round(SecondSlower, "faster", 1.05),
            Round::of(SecondSlower, &json!({ "comparison": null })),
        ];
        let Summary { scatter, .. } = Summary::of(&rounds);
        let found = Summary { scatter: None, ..Summary::of(&rounds) };
        let expected = Summary {
            n_identical: 3,
            n_alarms: 1,
            n_slower: 4,
            n_finds: 2,
            n_without_answer: 1,
            scatter: None,
        };
        assert_eq!(found, expected);
        let (whole, processes) = scatter.unwrap();
        assert!((whole - 0.0198).abs() < 1e-4 && (processes - 0.01935).abs() < 1e-4, "{whole} {processes}");
        assert_eq!(
            rounds[0].line(),
            "identical: no-difference, B ÷ A 1.0200 (1.010 to 1.030; as they ran 1.0099 to 1.0302), 1 of 2 turns valid"
        );
        assert_eq!(row(&rounds[6]), "| B 5 % slower | no answer | – | – | – | 0 of 0 |\n");
    }

    #[test]
    fn options_are_parsed() {
        let parse = |words: &[&str]| CompareAlarmOptions::parse(words).map_err(|error| error.to_string());
        let options = parse(&["--rounds", "2", "--steady", "1"]).unwrap();
        assert_eq!((options.rounds, options.steady, options.write), (2, Some(1), false));
        assert_eq!(parse(&["--rounds", "0"]).unwrap_err(), "`--rounds`: expected at least 1");
        assert_eq!(parse(&["--case"]).unwrap_err(), "unknown option `--case`");
        assert!(parse(&["--write", "--binary", "x"]).is_err());
    }
}
