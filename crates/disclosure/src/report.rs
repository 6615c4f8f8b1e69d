//! Input of a report.

use analysis::{Analysis, LoadPointResult};
use model::{Headline, Load, Plan, PriceList, Testbed, WebWorkload};

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
    /// Returns the benchmark's terms for load and rate.
    pub(crate) fn terms(&self) -> Terms {
        Terms::of(self.analysis)
    }

    /// Returns the load point at which the rate stopped growing; `None` if no higher load was measured, so that saturation
    /// is not known.
    pub(crate) fn saturation(&self) -> Option<&LoadPointResult> {
        self.analysis.load_points.get(self.analysis.saturation()?)
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

    /// Returns whether the load is an open loop.
    pub(crate) fn is_open(&self) -> bool {
        self.plan.load_points.iter().any(|point| !point.load.is_closed())
    }

    /// Returns the load point that the report shows in detail: that of the headline, otherwise the one with the highest
    /// rate, otherwise the last one; `None` without load points.
    pub(crate) fn main_point(&self) -> Option<&LoadPointResult> {
        let points = &self.analysis.load_points;
        let headline = self.analysis.headline.as_ref().map(|headline| headline.load_point);
        let index = headline.or(self.analysis.curve.peak).or(points.len().checked_sub(1))?;
        points.get(index)
    }
}

/// A benchmark's terms for load and rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Terms {
    /// Column heading and axis title of the load: `Clients`.
    pub load: &'static str,
    /// The load in the title of a chart: `clients`, `offered load`.
    pub load_noun: &'static str,
    /// Column heading of the rate: `Conn/second`.
    pub rate_heading: &'static str,
    /// Unit of the rate: `connections per second`.
    pub rate: &'static str,
    /// Column heading of the mean response time; WebStone calls it `Latency`.
    pub response_heading: &'static str,
    headline: Headline,
}

impl Terms {
    pub(crate) fn of(analysis: &Analysis) -> Terms {
        let closed = analysis.load_points.iter().all(|point| point.load.is_closed());
        Terms::new(analysis.benchmark.headline, closed)
    }

    pub(crate) fn new(headline: Headline, closed: bool) -> Terms {
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
        Terms { load, load_noun, rate_heading, rate, response_heading, headline }
    }

    /// Returns a load with its unit: `40 clients`, `1 user`, `500/s offered`.
    pub(crate) fn load_text(self, load: Load) -> String {
        let user = self.headline.user_name();
        match load {
            Load::Users(1) => format!("1 {user}"),
            Load::Users(_) => format!("{} {user}s", load_number(load)),
            Load::Rate { .. } => format!("{}/s offered", load_number(load)),
        }
    }
}

/// Returns a load as a number for a table: users, or operations per second.
pub(crate) fn load_number(load: Load) -> String {
    numbers::group(&load.level().to_string())
}
