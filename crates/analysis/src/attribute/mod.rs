//! What held a load point back: the bottleneck with the numbers behind it, and the run's sentence.
//!
//! - `sign`: what tells how close a resource is to its limit
//! - `read`: from what machines told to signs
//! - `cause`: the table of rules
//! - `demand`: what an operation costs of each resource, and the bounds that follow
//! - `sentence`: where the bottleneck moves

mod cause;
mod demand;
mod read;
mod sentence;
mod sign;

pub use cause::{CAUSES, Cause, Condition, Threshold};
pub use demand::{Bounds, Demand, DemandUnit};
pub use sentence::sentence;
pub use sign::{Sign, SignUnit, Signs};

use model::Plan;
use read::{Own, own_signs, with_relative};

use crate::LoadPointResult;

/// What holds a server back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Bottleneck {
    /// Nothing: the rate follows the load.
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
            Bottleneck::None => "not bound by anything",
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
            Bottleneck::Undetermined => "mixed",
        }
    }
}

/// What held one load point back.
#[derive(Debug, Clone, PartialEq)]
pub struct Attribution {
    /// The bottleneck.
    pub bottleneck: Bottleneck,
    /// The conditions that named it, with what was found; empty if none did.
    pub evidence: Vec<(Condition, f64)>,
    /// Everything that is known of the resources.
    pub signs: Signs,
    /// What an operation costs of each resource, the one that bounds the rate most first.
    pub demands: Vec<Demand>,
    /// What follows from that.
    pub bounds: Bounds,
}

impl Attribution {
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
                evidence: cause.map(|cause| cause.evidence(&signs)).unwrap_or_default(),
                signs,
                demands,
                bounds,
            }
        })
        .collect()
}
