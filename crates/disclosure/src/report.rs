//! Input of a report.

use analysis::attribute::{Attribution, Bottleneck};
use analysis::{Analysis, LoadPointResult};
use model::{
    ConnectionLifetime, Load, Noun, Plan, PriceList, Score, Testbed, WebWorkload, Words, capitalized,
};

use crate::numbers;

/// The input of a report.
#[derive(Debug, Clone, Copy)]
pub struct Report<'a> {
    /// The numbers and the verdict.
    pub analysis: &'a Analysis,
    /// The plan of the run.
    pub plan: &'a Plan,
    /// The machines and the server as detected.
    pub testbed: &'a Testbed,
    /// Origin of the numbers.
    pub provenance: &'a Provenance,
    /// The prices of the configuration, if a price list was given.
    pub price: Option<&'a PriceSheet>,
}

/// A price list with its file name and hash; given with the run or later.
#[derive(Debug, Clone, PartialEq)]
pub struct PriceSheet {
    /// The list.
    pub list: PriceList,
    /// Name of its file, without the directory.
    pub file: String,
    /// Hash of its text.
    pub blake3: String,
}

/// Origin of the numbers of a report. Texts are shown verbatim; unknown values are `None`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Provenance {
    /// Name, version and build of the program that measured: `plimsoll 0.1.0 (9a40c1e)`.
    pub program: String,
    /// The command line, one item per argument.
    pub command: Vec<String>,
    /// Name of the run file, without the directory.
    pub run_file: Option<String>,
    /// Hash of the last interval record; the hash chain covers all of them.
    pub chain_hash: Option<String>,
    /// Start of the run with its time zone, formatted for people.
    pub started: Option<String>,
    /// End of the run, likewise.
    pub ended: Option<String>,
}

impl Report<'_> {
    /// Returns the benchmark's terms for load and score.
    pub(crate) fn terms(&self) -> Terms<'_> {
        Terms::of(self.analysis)
    }

    /// Returns the load point at which the rate stopped growing; `None` if no higher load was measured, so that saturation
    /// is not known.
    pub(crate) fn saturation(&self) -> Option<&LoadPointResult> {
        self.analysis.load_points.get(self.analysis.saturation()?)
    }

    /// Returns whether there is a curve: more than one load point that can be compared with others.
    pub(crate) fn has_curve(&self) -> bool {
        let points = self.analysis.load_points.iter();
        1 < points.filter(|point| self.analysis.is_on_curve(point)).count()
    }

    /// Returns what is known about the rate at greater loads; `None` without a curve.
    pub(crate) fn growth(&self) -> Option<Growth<'_>> {
        let points = &self.analysis.load_points;
        let last = points.get(self.analysis.curve.saturation?)?;
        if 1 < points.len() && points.iter().any(|point| last.load.level() < point.load.level()) {
            return Some(self.saturation().map_or(Growth::Unknown(last), Growth::Ended));
        }
        let is_named =
            |one: &&Attribution| !matches!(one.bottleneck, Bottleneck::None | Bottleneck::Undetermined);
        let limit = last.attribution.as_ref().filter(is_named);
        (1 < points.len()).then_some(Growth::Going { last, limit })
    }

    /// Returns the load at which the server saturates, which is this load point or one between it and the next lower load, and
    /// the preposition before it: `at`, `20 clients`; `between`, `1 and 10 clients` where loads leave a gap.
    pub(crate) fn saturation_words(&self, saturated: &LoadPointResult) -> (&'static str, String) {
        let load = self.terms().load_text(saturated.load);
        match self.analysis.below_gap(saturated) {
            Some(below) => ("between", format!("{} and {load}", load_number(below.load))),
            None => ("at", load),
        }
    }

    /// Returns the load points in the order of their loads, which is not that in which a run adds some.
    pub(crate) fn by_load(&self) -> Vec<&LoadPointResult> {
        let mut points: Vec<&LoadPointResult> = self.analysis.load_points.iter().collect();
        points.sort_by(|one, other| one.load.level().total_cmp(&other.load.level()));
        points
    }

    /// Returns the loads that the run has added to those of its plan, in the order in which they were run.
    pub(crate) fn added_loads(&self) -> Vec<Load> {
        let added = self.plan.refinement.map(|_| self.plan.load_points[self.plan.planned().len()..].iter());
        added.into_iter().flatten().map(|point| point.load).collect()
    }

    /// Returns the loads of a run that shows where in a gap between two loads the server saturates: both, and up to three with
    /// equal ratios between them, as the options take them: `1,2,3,6,10`. `None` without a gap.
    pub fn loads_in_gap(&self) -> Option<String> {
        let Some(Growth::Ended(saturated)) = self.growth() else { return None };
        let from = self.analysis.below_gap(saturated)?.load;
        let to = saturated.load;
        let ratio = to.level() / from.level();
        let between = [0.25, 0.5, 0.75].map(|part| from.level() * ratio.powf(part));
        let mut levels: Vec<f64> = [&[from.level()], &between[..], &[to.level()]].concat();
        levels.iter_mut().for_each(|level| *level = to.at_level(level.round()).level());
        levels.dedup();
        Some(levels.iter().map(ToString::to_string).collect::<Vec<_>>().join(","))
    }

    /// Returns whether the benchmark imitates an existing one, which its title shows.
    pub(crate) fn is_imitation(&self) -> bool {
        self.plan.benchmark.title.contains("-style")
    }

    /// Returns the size of the file set in bytes.
    pub(crate) fn file_set_bytes(&self) -> u64 {
        self.plan.workload.file_bytes(self.plan.level_max())
    }

    /// Returns the web workload; `None` of another family.
    pub(crate) fn web(&self) -> Option<&WebWorkload> {
        self.plan.workload.web()
    }

    /// Returns how often operations of the main load point made a new connection although their requests keep it; `None`
    /// where they do not, or where it is seldom.
    pub(crate) fn reconnects(&self) -> Option<Reconnects> {
        let is_kept =
            matches!(self.web()?.protocol.connection, ConnectionLifetime::KeepAlive { requests_max: None });
        let point = self.main_point().filter(|_| is_kept)?;
        let connects = point.web.as_ref()?.connects as f64;
        let ok = point.total.n as f64;
        let found = Reconnects { share: connects / ok, per_second: connects / point.length.as_secs_f64() };
        (0.0 < ok && RECONNECTS_MIN <= found.share).then_some(found)
    }

    /// Returns whether the load is an open loop.
    pub(crate) fn is_open(&self) -> bool {
        self.plan.load_points.iter().any(|point| !point.load.is_closed())
    }

    /// Returns the load point that the report shows in detail: that of the headline, otherwise the one with the highest
    /// score, otherwise the last one; `None` without load points.
    pub(crate) fn main_point(&self) -> Option<&LoadPointResult> {
        let points = &self.analysis.load_points;
        let headline = self.analysis.headline.as_ref().map(|headline| headline.load_point);
        let index = headline.or(self.analysis.curve.peak).or(points.len().checked_sub(1))?;
        points.get(index)
    }
}

/// The part of the operations from which on new connections are told: users open theirs before the steady phase.
const RECONNECTS_MIN: f64 = 0.01;

/// New connections of operations whose requests keep theirs: the server, or something before it, had closed the others.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reconnects {
    /// New connections ÷ operations.
    pub(crate) share: f64,
    pub(crate) per_second: f64,
}

impl Reconnects {
    /// Says how often the server closed connections: `after nearly every response`.
    pub(crate) fn how_often(self) -> String {
        if 0.95 <= self.share {
            "after nearly every response".to_owned()
        } else {
            let responses = 1.0 / self.share;
            let decimals = usize::from(responses < 10.0);
            format!("after {} responses on average", numbers::fixed(responses, decimals))
        }
    }
}

/// The growth of the rate with the load.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Growth<'a> {
    /// It ended at this load point: the server is saturated.
    Ended(&'a LoadPointResult),
    /// It went on up to the highest load.
    Going {
        /// The load point with the highest load.
        last: &'a LoadPointResult,
        /// The limit that was reached there nevertheless.
        limit: Option<&'a Attribution>,
    },
    /// No load point above this one is valid.
    Unknown(&'a LoadPointResult),
}

/// A benchmark's terms for load and score, from the words of its catalog.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Terms<'a> {
    /// The load in the title of a chart: `clients`, `offered load`.
    pub load_noun: &'a str,
    /// Column heading of the score: `Conn/second`.
    pub score_heading: &'a str,
    /// Unit of the score: `connections per second`.
    pub score: &'a str,
    /// Column heading of the mean response time; WebStone calls it `Latency`.
    pub response_heading: &'a str,
    /// Whether the score is the rate of all operations per second.
    pub is_operation_rate: bool,
    words: &'a Words,
    is_closed: bool,
}

impl<'a> Terms<'a> {
    pub(crate) fn of(analysis: &'a Analysis) -> Terms<'a> {
        let is_closed = analysis.load_points.iter().all(|point| point.load.is_closed());
        Terms::new(&analysis.score, &analysis.words, is_closed)
    }

    pub(crate) fn new(score: &Score, words: &'a Words, is_closed: bool) -> Terms<'a> {
        Terms {
            load_noun: if is_closed { &words.user.many } else { "offered load" },
            score_heading: &words.score_heading,
            score: &words.score,
            response_heading: &words.response_heading,
            is_operation_rate: score.is_operation_rate(),
            words,
            is_closed,
        }
    }

    /// Returns the column heading and axis title of the load: `Clients`.
    pub(crate) fn load(self) -> String {
        if self.is_closed { capitalized(&self.words.user.many) } else { "Offered/second".to_owned() }
    }

    /// Returns the column heading of the rate of all operations, for a table that shows it beside the score.
    pub(crate) fn rate_heading(self) -> String {
        self.words.rate_heading()
    }

    /// Returns the column heading of the rate of units: `Pages/minute`.
    pub(crate) fn unit_rate_heading(self) -> String {
        self.words.unit_rate_heading()
    }

    /// Returns a load with its unit: `40 clients`, `1 user`, `500/s offered`.
    pub(crate) fn load_text(self, load: Load) -> String {
        match load {
            Load::Users(users) => {
                format!("{} {}", load_number(load), self.words.user.of(users.into()))
            }
            Load::Rate { .. } => format!("{}/s offered", load_number(load)),
        }
    }

    /// Returns the wording of levels of load between those of load points.
    pub(crate) fn level_text(self) -> LevelText<'a> {
        LevelText { user: (self.is_closed).then_some(&self.words.user) }
    }

    /// Returns a score with its unit: `305 connections per second`.
    pub(crate) fn score_text(self, score: Option<f64>) -> String {
        format!("{} {}", numbers::figure(score), self.score)
    }

    /// Returns a score with its unit where there is little room: `305/s`.
    pub(crate) fn short_score_text(self, score: Option<f64>) -> String {
        if self.is_operation_rate { format!("{}/s", numbers::figure(score)) } else { self.score_text(score) }
    }
}

/// The wording of a level of load: users of a closed loop, or operations per second.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LevelText<'a> {
    /// The noun for users; `None` in an open loop.
    user: Option<&'a Noun>,
}

impl LevelText<'_> {
    /// Returns the number as a command line takes it.
    pub(crate) fn plain(self, level: f64) -> String {
        match self.user {
            Some(_) => format!("{:.0}", level.round().max(1.0)),
            None => self.number(level).replace('\u{202f}', ""),
        }
    }

    /// Returns the number for a reader: `1 240`.
    pub(crate) fn number(self, level: f64) -> String {
        // As it was planned; of a moment in between, four significant digits of a rate.
        let is_whole = self.user.is_some() || (level - level.round()).abs() < 1e-6;
        if is_whole { numbers::group(&format!("{:.0}", level.round())) } else { numbers::figure(level) }
    }

    /// Returns the unit: `users`, `offered per second`.
    pub(crate) fn unit(self, level: f64) -> String {
        match self.user {
            Some(user) => user.of(level.round() as u64).to_owned(),
            None => "offered per second".to_owned(),
        }
    }

    /// Returns a level with its unit: `400 users`, `1 240/s`.
    pub(crate) fn with_unit(self, level: f64) -> String {
        match self.user {
            Some(_) => format!("{} {}", self.number(level), self.unit(level)),
            None => format!("{}/s", self.number(level)),
        }
    }

    /// Returns two levels with their unit, or one if they are the same: `100 to 400 users`.
    pub(crate) fn range(self, from: f64, to: f64) -> String {
        if self.number(from) == self.number(to) {
            return self.with_unit(to);
        }
        format!("{} to {}", self.number(from), self.with_unit(to))
    }
}

/// Returns a load as a number for a table: users, or operations per second.
pub(crate) fn load_number(load: Load) -> String {
    numbers::group(&load.level().to_string())
}
