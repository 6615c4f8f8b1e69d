//! The bottleneck of a load point with the numbers behind it, and the run's sentence about it.
//!
//! - `sign`: what tells how close a resource is to its limit
//! - `read`: from what machines told to signs
//! - `cause`: the table of rules
//! - `passed`: which network interfaces the load passes
//! - `headroom`: how much more load the generator could have made
//! - `demand`: what an operation costs of each resource, and the bounds that follow
//! - `sentence`: where the bottleneck moves

mod cause;
mod demand;
mod headroom;
mod passed;
mod read;
mod sentence;
mod sign;

pub use cause::{CAUSES, Cause, Condition, Threshold};
pub use demand::{Bounds, Demand, DemandUnit};
pub use headroom::generator_headroom;
pub use sentence::sentence;
pub use sign::{Sign, SignUnit, Signs};

use model::Plan;
use passed::Passed;
use read::{Own, own_signs, with_relative};
use units::Nanos;

use crate::LoadPointResult;

/// The bottleneck of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Bottleneck {
    /// No bottleneck: the rate follows the load.
    None,
    /// CPU time: the CPUs, or the quota.
    Processor,
    /// Memory: paging, or a limit.
    Memory,
    /// The number of requests that disks take.
    DiskOperations,
    /// The bytes that disks move.
    DiskBandwidth,
    /// A link, or what queues before it.
    Network,
    /// The queue of connections that wait to be accepted is too short.
    AcceptBacklog,
    /// All workers are in use.
    WorkerLimit,
    /// Threads take turns instead of working.
    Scheduler,
    /// A lock, or something else that is waited for and that no counter shows.
    Waiting,
    /// The generator: the load point is not valid.
    Generator,
    /// Several resources are half used, or too little is known.
    Undetermined,
}

impl Bottleneck {
    /// Returns the name in tables and files.
    pub fn name(self) -> &'static str {
        match self {
            Bottleneck::None => "none",
            Bottleneck::Processor => "processor",
            Bottleneck::Memory => "memory",
            Bottleneck::DiskOperations => "disk operations",
            Bottleneck::DiskBandwidth => "disk bandwidth",
            Bottleneck::Network => "network",
            Bottleneck::AcceptBacklog => "accept backlog",
            Bottleneck::WorkerLimit => "worker limit",
            Bottleneck::Scheduler => "scheduler",
            Bottleneck::Waiting => "lock or other waiting",
            Bottleneck::Generator => "generator",
            Bottleneck::Undetermined => "undetermined",
        }
    }

    /// Returns how a sentence says it: `processor-bound`.
    pub fn adjective(self) -> &'static str {
        match self {
            Bottleneck::None => "not limited",
            Bottleneck::Processor => "processor-bound",
            Bottleneck::Memory => "memory-bound",
            Bottleneck::DiskOperations => "bound by disk operations",
            Bottleneck::DiskBandwidth => "bound by disk bandwidth",
            Bottleneck::Network => "network-bound",
            Bottleneck::AcceptBacklog => "bound by its accept backlog",
            Bottleneck::WorkerLimit => "bound by its number of workers",
            Bottleneck::Scheduler => "scheduler-bound",
            Bottleneck::Waiting => "bound by a lock or other waiting",
            Bottleneck::Generator => "limited by the generator",
            Bottleneck::Undetermined => "without a single bottleneck",
        }
    }
}

/// The certainty of a bottleneck.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Certainty {
    /// A limit was seen to be reached, for long enough.
    Certain,
    /// It was concluded from other signs, or seen for a short time only.
    Probable,
}

impl Certainty {
    /// Returns the name in files.
    pub fn name(self) -> &'static str {
        match self {
            Certainty::Certain => "certain",
            Certainty::Probable => "probable",
        }
    }
}

/// A steady phase that is shorter than this rests on so few readings that its bottleneck is only probable. A house rule.
const LENGTH_MIN: Nanos = Nanos::from_secs(5);

/// The bottleneck of one load point, with its evidence.
#[derive(Debug, Clone, PartialEq)]
pub struct Attribution {
    /// The bottleneck.
    pub bottleneck: Bottleneck,
    /// The certainty of the bottleneck.
    pub certainty: Certainty,
    /// The conditions that named it, with what was found; empty if none did.
    pub evidence: Vec<(Condition, f64)>,
    /// The indicators of all resources, as far as known.
    pub signs: Signs,
    /// The demands of an operation on each resource, the one that bounds the rate most first.
    pub demands: Vec<Demand>,
    /// The bounds that follow from the demands.
    pub bounds: Bounds,
}

impl Attribution {
    /// Returns how a sentence says it: `probably network-bound`.
    pub fn adjective(&self) -> String {
        let adjective = self.bottleneck.adjective();
        match (self.certainty, self.bottleneck) {
            (Certainty::Certain, _) | (_, Bottleneck::None | Bottleneck::Undetermined) => {
                adjective.to_owned()
            }
            (Certainty::Probable, _) => format!("probably {adjective}"),
        }
    }

    /// Returns the name for a table: `probably network`.
    pub fn name(&self) -> String {
        let name = self.bottleneck.name();
        match (self.certainty, self.bottleneck) {
            (Certainty::Certain, _) | (_, Bottleneck::None | Bottleneck::Undetermined) => name.to_owned(),
            (Certainty::Probable, _) => format!("probably {name}"),
        }
    }

    /// Returns the two resources that are used most, as shares of what they can give; fewer if not known.
    pub fn most_used(&self) -> Vec<(Sign, f64)> {
        const USES: [Sign; 4] = [Sign::ProcessorUse, Sign::DiskBusy, Sign::NetworkBusy, Sign::WorkersBusy];
        let mut uses: Vec<(Sign, f64)> =
            USES.into_iter().filter_map(|sign| Some((sign, *self.signs.get(&sign)?))).collect();
        uses.sort_by(|one, other| other.1.total_cmp(&one.1));
        uses.truncate(2);
        uses
    }
}

/// Attributes all load points of a run; the same order.
pub(crate) fn attribute(plan: &Plan, points: &[LoadPointResult]) -> Vec<Attribution> {
    let own: Vec<Own> = points.iter().map(|point| own_signs(plan, point)).collect();
    let pairs = || points.iter().zip(&own);
    let lowest = pairs().min_by(|(one, _), (other, _)| one.load.level().total_cmp(&other.load.level()));
    let Some(lowest) = lowest else { return Vec::new() };
    pairs()
        .map(|(point, own)| {
            let signs = with_relative(own, point, lowest, points);
            let cause = cause::find_cause(&signs);
            let (demands, bounds) = demand::demands(plan, point);
            Attribution {
                bottleneck: cause.map_or(Bottleneck::Undetermined, |cause| cause.bottleneck),
                certainty: certainty(point, cause),
                evidence: cause.map(|cause| cause.evidence(&signs)).unwrap_or_default(),
                signs,
                demands,
                bounds,
            }
        })
        .collect()
}

fn certainty(point: &LoadPointResult, cause: Option<&Cause>) -> Certainty {
    // Its faults are broken rules, whatever else is known.
    if cause.is_some_and(|cause| cause.bottleneck == Bottleneck::Generator) {
        return Certainty::Certain;
    }
    let is_indirect = cause.is_some_and(|cause| cause.is_indirect);
    // Where no route was recorded, an interface is only taken for the load's.
    let may_be_foreign =
        cause.is_some_and(|cause| cause.bottleneck == Bottleneck::Network) && !Passed::of(point).is_recorded;
    match is_indirect || may_be_foreign || point.length < LENGTH_MIN {
        true => Certainty::Probable,
        false => Certainty::Certain,
    }
}
