//! The catalog of a benchmark: the kinds of its operations and units, what is measured of each, the score that follows
//! from it, and the benchmark's words, in terms that all protocol families share.
//!
//! Planning makes it from the workload, and the plan stores it, so that a run file can be analyzed by whoever does not
//! know its family. In a run file it is foreign input: [`Catalog::check`].

mod score;
mod sizing;
mod think;

use std::collections::BTreeSet;
use std::fmt;

use languages::{is_terminal_control, names};
use serde::{Deserialize, Serialize};

pub use score::{RateTime, Score};
pub use sizing::SizingRule;
pub use think::ThinkTime;

use crate::notice::NOTICES_MAX;
use crate::operation::{CODES_MAX, SLOTS_MAX};
use crate::{Limit, NoticeKind, Outcome, Words};

/// The greatest length of a name in bytes: requests are named by their paths, and servers refuse longer request lines.
pub(crate) const NAME_MAX: usize = 2000;

/// The greatest number of measures.
pub const MEASURES_MAX: usize = 32;

/// The most operations of a user that can be in flight at the same time.
const IN_FLIGHT_MAX: u32 = 1024;

/// The greatest number of bands.
const BANDS_MAX: usize = 64;

/// Names that a measure cannot have: in exports measures stand beside the other figures of a kind of operation, which
/// have these.
const RESERVED_NAMES: [&str; 8] =
    ["bytes moved", "errors", "failed", "n", "name", "object bytes", "pages", "response"];

/// The relative difference that rounding may make.
pub(crate) const ROUNDING: f64 = 1e-9;

/// The kinds of operations and units that a benchmark counts, the measures of each, its score and its words.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Catalog {
    /// The kinds of operations, in the order of records.
    pub kinds: Vec<OperationKind>,
    /// Names of the kinds of units (groups of operations, such as pages), in the order of records; empty where the
    /// benchmark counts none.
    pub units: Vec<String>,
    /// The kinds of pauses that users make between operations, in the order of records; empty where they make none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pauses: Vec<PauseKind>,
    /// The measures of user scope, in the order of records; empty where users get no notices.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notices: Vec<NoticeKind>,
    /// The measures of operations besides their response times, in the order of records.
    pub measures: Vec<Measure>,
    /// The most operations of a user in flight at the same time; `None`: one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_flight: Option<u32>,
    /// Indexes of the measures whose sum is what operations transfer; their rate is the throughput.
    pub transferred: Vec<usize>,
    /// Indexes of the measures that are parts of the response time: those of an operation together take no longer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub response_parts: Vec<usize>,
    /// The ranges in which figures of the inputs must be; empty where the benchmark sets none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bands: Vec<InputBand>,
    /// The parts of the data to which users belong, with the score of each; `None` where the benchmark has no such rule.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sizing: Option<SizingRule>,
    /// The outcomes that failed operations of the family can have; empty for those of the web, whose plans name none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outcomes: Vec<Outcome>,
    /// The names of protocol codes, in the order of the codes; one without a name is shown as a number.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub codes: Vec<CodeName>,
    /// The figure that the benchmark is known by.
    pub score: Score,
    /// The benchmark's words for what it counts.
    pub words: Words,
}

/// A kind of operation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OperationKind {
    /// The name in reports; no other kind has it.
    pub name: String,
    /// Its share of all operations, from 0 to 1; of all kinds or of none.
    pub share: Option<f64>,
    /// Relative deviation from that share above which a load point is not valid.
    pub share_gap_max: Option<f64>,
    /// The limits on its response times and errors that a valid load point keeps.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub limits: Vec<Limit>,
    /// Indexes of the measures that its operations can have, at most [`SLOTS_MAX`], in the order of the slots of
    /// [`MeasuredValues`](crate::MeasuredValues); empty: all measures of the catalog, in its order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub measures: Vec<usize>,
    /// Values that are known beforehand; at most one per measure.
    pub expected: Vec<ExpectedMeasure>,
}

/// The name of a protocol code of failed operations: `ENOSPC`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CodeName {
    /// The code.
    pub code: u32,
    /// Its name in reports; no other code has it.
    pub name: String,
}

/// A kind of pause of users: the time to think after a response, or to key a request in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PauseKind {
    /// The name in reports; no other kind of pause has it.
    pub name: String,
    /// The distribution of its times.
    pub time: ThinkTime,
    /// The moment from which it counts.
    pub from: PauseStart,
}

names! {
    /// The moment from which a pause counts.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
    pub enum PauseStart {
        /// The end of the user's operation before.
        Done = "done",
        /// Its due time: the pause is an interarrival time, and a user whose operations take longer owes the next ones.
        Due = "due",
    }
}

/// A measure of an operation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Measure {
    /// The name: `body bytes`.
    pub name: String,
    /// The unit of its values.
    pub unit: MeasureUnit,
    /// Whether every successful operation has it.
    pub is_always: bool,
    /// Whether records have a histogram of its values.
    pub has_spread: bool,
    /// Index of the measure of which it is a part, if of any: no operation has more of it than of that one.
    pub part_of: Option<usize>,
}

/// The unit of a measure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MeasureUnit {
    /// Nanoseconds.
    Nanoseconds,
    /// Bytes.
    Bytes,
    /// A number of things.
    Count,
}

/// The value of a measure that each successful operation of a kind must have.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExpectedMeasure {
    /// Index of the measure.
    pub measure: usize,
    /// The least value.
    pub least: u64,
    /// The greatest value.
    pub most: u64,
    /// The mean value over the operations of the kind.
    pub mean: f64,
}

/// A range in which a figure of the inputs must be, as far as chance lets it be told: a share of operations, or a mean.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InputBand {
    /// The name of the figure in reports; no other band has it: `lines per order`.
    pub name: String,
    /// The numerator of the figure.
    pub part: InputCount,
    /// Its denominator: the sample.
    pub whole: InputCount,
    /// The least value.
    pub least: f64,
    /// The greatest value, above the least.
    pub most: f64,
    /// The standard deviation that the figure has in a sample of one.
    pub deviation: f64,
    /// Whether a load point outside is not valid; else that is a remark.
    pub decides: bool,
}

/// A number of things in the successful operations of a steady phase.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum InputCount {
    /// The operations of these kinds, by their indexes.
    Kinds(Vec<usize>),
    /// The sum of a measure over all kinds, by its index.
    Measure(usize),
}

impl InputBand {
    /// The standard errors of a figure that must fit into half of its band.
    const ERRORS: f64 = 3.0;

    /// Returns the least sample that can be judged: one in which three standard errors of the figure, deviation ÷ √n each,
    /// fit into half of the band, so that chance alone does not lead out of it.
    pub fn sample_min(&self) -> u64 {
        let half = (self.most - self.least) / 2.0;
        let root = Self::ERRORS * self.deviation / half;
        // Rounding must not ask for one more.
        ((root * root * (1.0 - ROUNDING)).ceil() as u64).max(1)
    }

    /// Returns whether it is of things that a catalog counts, and of a range that is one.
    fn fits(&self, catalog: &Catalog) -> bool {
        let is_counted = |count: &InputCount| match count {
            InputCount::Kinds(kinds) => kinds.iter().all(|kind| *kind < catalog.kinds.len()),
            InputCount::Measure(measure) => *measure < catalog.measures.len(),
        };
        let is_range = self.least < self.most && (self.most - self.least).is_finite();
        let is_deviation = 0.0 <= self.deviation && self.deviation.is_finite();
        is_counted(&self.part) && is_counted(&self.whole) && is_range && is_deviation
    }
}

impl Measure {
    /// Makes a measure that every successful operation has, without a histogram, and that is a part of no other.
    pub(crate) fn always(name: &str, unit: MeasureUnit) -> Measure {
        Measure { name: name.to_owned(), unit, is_always: true, has_spread: false, part_of: None }
    }

    /// Returns whether another measure is the same, with or without a histogram.
    fn measures_as(&self, other: &Measure) -> bool {
        let Measure { name, unit, is_always, has_spread: _, part_of } = self;
        (name, *unit, *is_always, *part_of) == (&other.name, other.unit, other.is_always, other.part_of)
    }
}

impl Catalog {
    /// Returns the measures of the slots of a kind's replies, by their indexes; a slot beyond them has none.
    pub fn slots(&self, kind: usize) -> Vec<usize> {
        match self.kinds.get(kind) {
            Some(kind) if !kind.measures.is_empty() => kind.measures.clone(),
            _ => (0..self.measures.len()).collect(),
        }
    }

    /// Returns what is known beforehand of a measure, by the indexes of kind and measure.
    pub fn expected(&self, kind: usize, measure: usize) -> Option<&ExpectedMeasure> {
        self.kinds.get(kind)?.expected.iter().find(|expected| expected.measure == measure)
    }

    /// Returns whether a pause of users counts from due times, so that they can owe operations.
    pub fn counts_from_due(&self) -> bool {
        self.pauses.iter().any(|pause| pause.from == PauseStart::Due)
    }

    /// Returns whether response times of one user can overlap: it can owe operations, or have several in flight. Little's law is
    /// then one of operations, L = X·R, and not of users.
    pub fn has_overlapping_operations(&self) -> bool {
        self.counts_from_due() || 1 < self.in_flight_per_user()
    }

    /// Returns the most operations of a user in flight at the same time, at least one.
    pub fn in_flight_per_user(&self) -> u32 {
        self.in_flight.unwrap_or(1).max(1)
    }

    /// Returns whether another catalog counts and measures the same, whatever its score with the sizing rule and its words
    /// are, and whichever measures have histograms.
    pub fn counts_as(&self, other: &Catalog) -> bool {
        let Catalog {
            kinds,
            units,
            pauses,
            notices,
            measures,
            in_flight,
            transferred,
            response_parts,
            bands,
            sizing: _,
            outcomes: _,
            codes: _,
            score: _,
            words: _,
        } = self;
        *kinds == other.kinds
            && *units == other.units
            && *pauses == other.pauses
            && *notices == other.notices
            && measures.len() == other.measures.len()
            && measures.iter().zip(&other.measures).all(|(one, other)| one.measures_as(other))
            && *in_flight == other.in_flight
            && *transferred == other.transferred
            && *response_parts == other.response_parts
            && *bands == other.bands
    }

    /// Returns the indexes of the measures of which records have a histogram, in the order of
    /// [`KindHistograms::spreads`](crate::KindHistograms::spreads).
    pub fn spread_measures(&self) -> impl Iterator<Item = usize> {
        let measures = self.measures.iter().enumerate();
        measures.filter(|(_, measure)| measure.has_spread).map(|(index, _)| index)
    }

    /// Returns the name of a protocol code; `None` of one without.
    pub fn code_name(&self, code: u32) -> Option<&str> {
        let index = self.codes.binary_search_by_key(&code, |named| named.code).ok()?;
        Some(&self.codes[index].name)
    }

    /// Returns whether failed operations of the family can have an outcome.
    pub fn can_fail_with(&self, outcome: Outcome) -> bool {
        match &self.outcomes[..] {
            [] => {
                (Outcome::Ok < outcome && outcome <= Outcome::WrongRedirect)
                    || outcome == Outcome::ConnectionLost
            }
            named => named.contains(&outcome),
        }
    }

    /// Checks what planning guarantees, of a catalog that comes from a file.
    ///
    /// # Errors
    /// The first fault: too many of something, a name that is empty, too long, not printable or not unique, an index
    /// of no measure, a number that cannot be, or a score that cannot be computed.
    pub fn check(&self) -> Result<(), CatalogFault> {
        let named = [
            (
                "kinds",
                self.kinds.iter().map(|kind| kind.name.as_str()).collect::<Vec<_>>(),
                usize::from(u16::MAX),
            ),
            ("units", self.units.iter().map(String::as_str).collect(), usize::from(u16::MAX)),
            ("pauses", self.pauses.iter().map(|pause| pause.name.as_str()).collect(), usize::from(u16::MAX)),
            ("notices", self.notices.iter().map(|notice| notice.name.as_str()).collect(), NOTICES_MAX),
            ("measures", self.measures.iter().map(|measure| measure.name.as_str()).collect(), MEASURES_MAX),
            ("bands", self.bands.iter().map(|band| band.name.as_str()).collect(), BANDS_MAX),
            ("codes", self.codes.iter().map(|code| code.name.as_str()).collect(), CODES_MAX),
        ];
        for (list, names, most) in named {
            check_names(list, &names, most)?;
        }
        self.check_measures()?;
        if self.in_flight.is_some_and(|n| !(2..=IN_FLIGHT_MAX).contains(&n)) {
            return Err(CatalogFault::InFlight);
        }
        self.kinds.iter().enumerate().try_for_each(|(index, kind)| self.check_slots(index, kind))?;
        self.kinds.iter().try_for_each(|kind| self.check_kind(kind))?;
        self.check_shares()?;
        if let Some(band) = self.bands.iter().find(|band| !band.fits(self)) {
            return Err(CatalogFault::Band { band: band.name.clone() });
        }
        if !self.codes.is_sorted_by(|one, next| one.code < next.code) {
            return Err(CatalogFault::Codes);
        }
        if !self.score.fits(self) {
            return Err(CatalogFault::Score);
        }
        if self.sizing.as_ref().is_some_and(|rule| !rule.fits(&self.score)) {
            return Err(CatalogFault::Sizing);
        }
        self.words.fault().map_or(Ok(()), |word| Err(CatalogFault::Word { word }))
    }

    /// Checks that measures belong to each other, and that what is added up has one unit.
    fn check_measures(&self) -> Result<(), CatalogFault> {
        let unit = |measure: &usize| self.measures.get(*measure).map(|measure| measure.unit);
        for (index, measure) in self.measures.iter().enumerate() {
            let is_part = |whole: usize| whole != index && unit(&whole) == Some(measure.unit);
            if !measure.part_of.is_none_or(is_part) {
                return Err(CatalogFault::PartOf { measure: measure.name.clone() });
            }
        }
        let is_reserved = |measure: &Measure| RESERVED_NAMES.contains(&measure.name.as_str());
        // Of two names with one key in exports nobody could tell which is which.
        let mut keys = BTreeSet::new();
        let is_unclear = |measure: &Measure| {
            let key = export_key(&measure.name);
            key.is_empty() || !keys.insert(key) || is_reserved(measure)
        };
        if let Some(index) = self.measures.iter().position(is_unclear) {
            return Err(CatalogFault::Name { list: "measures", index });
        }
        let are_of = |list: &[usize], expected: MeasureUnit| {
            let once: BTreeSet<_> = list.iter().collect();
            list.iter().all(|measure| unit(measure) == Some(expected)) && once.len() == list.len()
        };
        if !are_of(&self.transferred, MeasureUnit::Bytes) {
            return Err(CatalogFault::Transferred);
        }
        if are_of(&self.response_parts, MeasureUnit::Nanoseconds) {
            Ok(())
        } else {
            Err(CatalogFault::ResponseParts)
        }
    }

    /// Checks that replies have slots for the measures of a kind, and for all that each of its operations has.
    fn check_slots(&self, index: usize, kind: &OperationKind) -> Result<(), CatalogFault> {
        let slots = self.slots(index);
        let known: BTreeSet<_> = slots.iter().filter(|measure| **measure < self.measures.len()).collect();
        let mut always = (0..).zip(&self.measures).filter(|(_, measure)| measure.is_always);
        let has_all = always.all(|(measure, _)| known.contains(&measure));
        if slots.len() <= SLOTS_MAX && known.len() == slots.len() && has_all {
            Ok(())
        } else {
            Err(CatalogFault::Slots { kind: kind.name.clone() })
        }
    }

    fn check_kind(&self, kind: &OperationKind) -> Result<(), CatalogFault> {
        let mut measures = BTreeSet::new();
        for expected in &kind.expected {
            // A mean of equal values may differ from them by rounding.
            let least = expected.least as f64 * (1.0 - ROUNDING);
            let most = expected.most as f64 * (1.0 + ROUNDING);
            let is_range = expected.least <= expected.most && (least..=most).contains(&expected.mean);
            let is_known = expected.measure < self.measures.len();
            if !is_known || !is_range || !measures.insert(expected.measure) {
                return Err(CatalogFault::Expected { kind: kind.name.clone() });
            }
        }
        let is_gap = |gap: f64| gap.is_finite() && 0.0 <= gap;
        match kind.share_gap_max {
            Some(gap) if kind.share.is_none() || !is_gap(gap) => Err(CatalogFault::Shares),
            _ => Ok(()),
        }
    }

    fn check_shares(&self) -> Result<(), CatalogFault> {
        let shares: Vec<f64> = self.kinds.iter().filter_map(|kind| kind.share).collect();
        let is_share = |share: &f64| (0.0..=1.0).contains(share);
        let sum: f64 = shares.iter().sum();
        let adds_up = shares.len() == self.kinds.len() && (sum - 1.0).abs() <= ROUNDING;
        if shares.is_empty() || (shares.iter().all(is_share) && adds_up) {
            Ok(())
        } else {
            Err(CatalogFault::Shares)
        }
    }
}

/// Returns a name as part of a key in exports: in lower case, with an underscore for whatever is no letter or digit.
pub fn export_key(name: &str) -> String {
    let words = name.split(|next: char| !next.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect::<Vec<_>>().join("_")
}

fn check_names(list: &'static str, names: &[&str], most: usize) -> Result<(), CatalogFault> {
    if most < names.len() {
        return Err(CatalogFault::TooMany { list, most });
    }
    let is_name =
        |name: &str| !name.is_empty() && name.len() <= NAME_MAX && !name.contains(is_terminal_control);
    let mut seen = BTreeSet::new();
    match names.iter().position(|name| !is_name(name) || !seen.insert(*name)) {
        None => Ok(()),
        Some(index) => Err(CatalogFault::Name { list, index }),
    }
}

/// A fault of a catalog that comes from a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CatalogFault {
    /// A list has more entries than are allowed.
    TooMany {
        /// The list: `kinds`.
        list: &'static str,
        /// The greatest number of its entries.
        most: usize,
    },
    /// A name is empty, too long, not printable, or not the only one of its list.
    Name {
        /// The list: `kinds`.
        list: &'static str,
        /// Index of the name.
        index: usize,
    },
    /// A measure is a part of itself, of none, or of one of another unit.
    PartOf {
        /// The name of the measure.
        measure: String,
    },
    /// The measures that add up to what operations transfer are not different ones in bytes.
    Transferred,
    /// The measures that are parts of the response time are not different ones in nanoseconds.
    ResponseParts,
    /// Users have a number of operations in flight that is not stated, or more than they can have.
    InFlight,
    /// A kind has measures that do not exist, one of them twice, more than a reply has slots, or not all that each of its
    /// operations has.
    Slots {
        /// The name of the kind.
        kind: String,
    },
    /// An expected value belongs to no measure or to one twice, or is not in its range.
    Expected {
        /// The name of the kind.
        kind: String,
    },
    /// The shares of the kinds are not from 0 to 1, do not add up to 1, or have no limit that makes sense.
    Shares,
    /// A band is of kinds or measures that do not exist, or no range.
    Band {
        /// The name of the band.
        band: String,
    },
    /// The named codes are not in their order, or one of them has two names.
    Codes,
    /// The score is of kinds or measures that do not exist, of one twice, or of weights that cannot be.
    Score,
    /// The sizing rule is of no parts or users, of no range, or of a score that does not add up over parts.
    Sizing,
    /// A word is empty, too long or not printable.
    Word {
        /// The thing that it is for: `user`.
        word: &'static str,
    },
}

impl fmt::Display for CatalogFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CatalogFault::TooMany { list, most } => write!(f, "the catalog has more than {most} {list}"),
            CatalogFault::Name { list, index } => {
                write!(f, "entry {index} of the {list} in the catalog has no usable name")
            }
            CatalogFault::PartOf { measure } => {
                write!(
                    f,
                    "the measure `{}` of the catalog is not a part of another one",
                    languages::escaped(measure)
                )
            }
            CatalogFault::Transferred => {
                f.write_str("the catalog adds up measures that are not bytes, or one of them twice")
            }
            CatalogFault::ResponseParts => f.write_str(
                "the catalog has parts of the response time that are not times, or one of them twice",
            ),
            CatalogFault::InFlight => {
                write!(f, "the catalog states other than 2 to {IN_FLIGHT_MAX} operations of a user in flight")
            }
            CatalogFault::Slots { kind } => {
                write!(f, "the catalog gives `{}` measures that it cannot have", languages::escaped(kind))
            }
            CatalogFault::Expected { kind } => {
                write!(f, "the catalog expects impossible values of `{}`", languages::escaped(kind))
            }
            CatalogFault::Shares => f.write_str("the shares of the kinds in the catalog do not add up"),
            CatalogFault::Band { band } => {
                write!(f, "no figure can lie in the band `{}` of the catalog", languages::escaped(band))
            }
            CatalogFault::Codes => f.write_str("the catalog names codes twice, or not in their order"),
            CatalogFault::Score => {
                f.write_str("the score in the catalog cannot be computed from what it counts")
            }
            CatalogFault::Sizing => f.write_str("no score can satisfy the sizing rule in the catalog"),
            CatalogFault::Word { word } => {
                write!(f, "the catalog's word for `{word}` is not usable")
            }
        }
    }
}

impl std::error::Error for CatalogFault {}
