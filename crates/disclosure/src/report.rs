//! What a report is made of.

use analysis::{Analysis, LoadPointResult};
use model::{Headline, Load, Plan, PriceList, Testbed};

use crate::numbers;

/// Everything that a report is made of.
#[derive(Debug, Clone, Copy)]
pub struct Report<'a> {
    /// The numbers and the verdict.
    pub analysis: &'a Analysis,
    /// What was planned.
    pub plan: &'a Plan,
    /// The machines and the server as found.
    pub testbed: &'a Testbed,
    /// Where the numbers come from.
    pub provenance: &'a Provenance,
    /// What the configuration costs, if somebody said so.
    pub price: Option<&'a PriceSheet>,
}

/// A price list, and by what it is known again: it may have been given with the run, or later.
#[derive(Debug, Clone, PartialEq)]
pub struct PriceSheet {
    /// The list.
    pub list: PriceList,
    /// Name of its file, without its folder.
    pub file: String,
    /// Hash of its text.
    pub blake3: String,
}

/// Where the numbers of a report come from. Texts are shown as they are; what is not known is `None`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Provenance {
    /// The program that measured, with version and build: `plimsoll 0.1.0 (9a40c1e)`.
    pub program: String,
    /// The command line that was given, each argument apart.
    pub command: Vec<String>,
    /// Name of the run file, without its folder.
    pub run_file: Option<String>,
    /// Hash of the last interval record, which stands for all of them.
    pub chain_hash: Option<String>,
    /// When the run began, with its time zone, for people.
    pub started: Option<String>,
    /// When it ended, likewise.
    pub ended: Option<String>,
}

impl Report<'_> {
    /// Returns the words in which this benchmark speaks of its load and its rate.
    pub(crate) fn words(&self) -> Words {
        Words::of(self.analysis)
    }

    /// Returns the load point from which on more load brought no more rate; `None` if no greater load was run, so that
    /// this cannot be said.
    pub(crate) fn saturation(&self) -> Option<&LoadPointResult> {
        self.analysis.load_points.get(self.analysis.saturation()?)
    }

    /// Returns whether the benchmark is our own version of somebody else's: then its name says so.
    pub(crate) fn is_imitation(&self) -> bool {
        self.plan.benchmark.title.contains("-style")
    }

    /// Returns the size of the file set in bytes.
    pub(crate) fn file_set_bytes(&self) -> u64 {
        self.plan.workload.file_bytes(self.plan.level_max())
    }

    /// Returns whether load was offered on a schedule.
    pub(crate) fn is_open(&self) -> bool {
        self.plan.load_points.iter().any(|point| !point.load.is_closed())
    }

    /// Returns the load point that the report looks at more closely: that of the headline, else the
    /// one with the highest rate, else the last. `None` if there is none.
    pub(crate) fn main_point(&self) -> Option<&LoadPointResult> {
        let points = &self.analysis.load_points;
        let headline = self.analysis.headline.as_ref().map(|headline| headline.load_point);
        let index = headline.or(self.analysis.curve.peak).or(points.len().checked_sub(1))?;
        points.get(index)
    }
}

/// How a benchmark names its load and its rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Words {
    /// Heading and axis of the load: `Clients`.
    pub load: &'static str,
    /// The load in a chart's title: `clients`, `offered load`.
    pub load_noun: &'static str,
    /// Heading of the rate: `Conn/second`.
    pub rate_heading: &'static str,
    /// The rate in full: `connections per second`.
    pub rate: &'static str,
    /// Heading of the mean response time: `Latency`, the name that WebStone gave it.
    pub response_heading: &'static str,
    headline: Headline,
}

impl Words {
    pub(crate) fn of(analysis: &Analysis) -> Words {
        let closed = analysis.load_points.iter().all(|point| point.load.is_closed());
        Words::new(analysis.benchmark.headline, closed)
    }

    pub(crate) fn new(headline: Headline, closed: bool) -> Words {
        let (rate_heading, response_heading) = match headline {
            Headline::ConnectionRate => ("Conn/second", "Latency"),
            Headline::OperationRate => ("Ops/second", "Response time"),
            Headline::RequestRate => ("Requests/second", "Response time"),
            Headline::TransactionRate => ("Transactions/second", "Response time"),
        };
        let (load, load_noun) = match (closed, headline.user_name()) {
            (false, _) => ("Offered/second", "offered load"),
            (true, "client") => ("Clients", "clients"),
            (true, _) => ("Users", "users"),
        };
        let rate = headline.rate_name();
        Words { load, load_noun, rate_heading, rate, response_heading, headline }
    }

    /// Returns a load in words: `40 clients`, `1 user`, `500/s offered`.
    pub(crate) fn load_text(self, load: Load) -> String {
        let word = self.headline.user_name();
        match load {
            Load::Users(1) => format!("1 {word}"),
            Load::Users(_) => format!("{} {word}s", load_number(load)),
            Load::Rate { .. } => format!("{}/s offered", load_number(load)),
        }
    }
}

/// Returns the number that stands for a load in a table: users, or operations per second.
pub(crate) fn load_number(load: Load) -> String {
    numbers::group(&load.level().to_string())
}
