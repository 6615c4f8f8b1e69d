//! The bottleneck of a load point with the numbers behind it. The crate `disclosure` words it.
//!
//! - `indicator`: how close a resource is to its limit
//! - `read`: indicators from the metrics of machines
//! - `cause`: the table of rules
//! - `connections`: services behind the server, and limits on connections
//! - `load_interfaces`: the network interfaces that the load passes
//! - `web`: what only replies of the web say
//! - `served`: operations that are served while others are refused or cut
//! - `hindsight`: the lowest load, judged by the next one
//! - `quota`: the CPU quota that is used up
//! - `headroom`: the headroom of the load generator
//! - `demand`: the demand of an operation on each resource, and the bounds that follow

mod cause;
mod connections;
mod demand;
mod headroom;
mod hindsight;
mod indicator;
mod load_interfaces;
mod quota;
mod read;
mod served;
mod web;

pub use cause::{
    BUFFER_READS_MIN, CAUSES, Cause, Condition, REFAULTS_MIN, SERVICE_COUNTS_MIN, SESSIONS_AT_LOG_MIN,
    Threshold,
};
pub use demand::{DemandUnit, EXTRAPOLATION_MAX, RateBounds, ResourceDemand};
pub use headroom::{GeneratorHeadroom, HeadroomSource, generator_headroom, load_threads_were_full};
pub use indicator::{Indicator, IndicatorUnit, Indicators};
pub use quota::UsedUpQuota;

use load_interfaces::LoadInterfaces;
use model::Plan;
use read::{PointIndicators, point_indicators, with_relative};
use units::Nanos;

use crate::finding::ProgramCpuUse;
use crate::{LoadPointResult, SharedCpus};

/// The bottleneck of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Bottleneck {
    /// No bottleneck: the rate follows the load.
    None,
    /// CPU time: the CPUs, or the quota.
    Processor,
    /// Memory: paging, or a limit.
    Memory,
    /// The number of requests that disks can serve.
    DiskOperations,
    /// The bytes that disks can transfer.
    DiskBandwidth,
    /// A link, or the queue before it.
    Network,
    /// The queue of connections that wait to be accepted is too short.
    AcceptBacklog,
    /// All workers are in use.
    WorkerLimit,
    /// A limit on connections: of the server to its clients, or of its pool to a service.
    ConnectionLimit,
    /// A process of the server has as many open files as it may.
    OpenFiles,
    /// The server refuses operations beyond a rate that it allows.
    RateLimit,
    /// The server refuses operations beyond the number that it serves at once.
    ConcurrencyLimit,
    /// The server refuses operations beyond a limit of its own, of their rate or of their number.
    ServerLimit,
    /// A proxy has no connection to its back end: no local ports, a full pool, or a back end that refuses.
    BackEndConnections,
    /// Context switches: threads take turns instead of working.
    Scheduler,
    /// A service behind the server, for which operations wait.
    DownstreamService,
    /// A lock, or another wait that no counter shows.
    Waiting,
    /// The generator: the load point is not valid.
    Generator,
    /// No single bottleneck: several resources are half used, or too little is known.
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
            Bottleneck::ConnectionLimit => "connection limit",
            Bottleneck::OpenFiles => "open files",
            Bottleneck::RateLimit => "rate limit",
            Bottleneck::ConcurrencyLimit => "concurrency limit",
            Bottleneck::ServerLimit => "limit set in the server",
            Bottleneck::BackEndConnections => "connections to the back end",
            Bottleneck::Scheduler => "scheduler",
            Bottleneck::DownstreamService => "slow downstream service",
            Bottleneck::Waiting => "lock or other waiting",
            Bottleneck::Generator => "generator",
            Bottleneck::Undetermined => "undetermined",
        }
    }
}

/// The certainty of a bottleneck.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Certainty {
    /// A limit was seen to be reached, for long enough.
    Certain,
    /// The bottleneck was concluded from other indicators, or seen for a short time only.
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

/// A program that used more of the server's CPUs than the server.
#[derive(Debug, Clone, PartialEq)]
pub enum CpuNeighbor {
    /// The load generator.
    Generator {
        /// Its use, in CPUs.
        cpus: f64,
    },
    /// Another program.
    Program(ProgramCpuUse),
}

/// The shortest steady phase with a certain bottleneck: in a shorter one it rests on so few readings that it is only
/// probable. A house rule.
const LENGTH_MIN: Nanos = Nanos::from_secs(5);

/// The bottleneck of one load point, with its evidence.
#[derive(Debug, Clone, PartialEq)]
pub struct Attribution {
    /// The bottleneck.
    pub bottleneck: Bottleneck,
    /// The certainty of the bottleneck.
    pub certainty: Certainty,
    /// The conditions that named it, with the values found; empty if none did.
    pub evidence: Vec<(Condition, f64)>,
    /// The indicators of all resources, as far as known.
    pub indicators: Indicators,
    /// The demands of an operation on each resource, the one that bounds the rate most first.
    pub demands: Vec<ResourceDemand>,
    /// The bounds that follow from the demands.
    pub bounds: RateBounds,
    /// The CPUs that the server and the generator share, where they are the bottleneck.
    pub shared: Option<SharedCpus>,
    /// The service that operations wait for: `port 5432`, or the path of a Unix socket.
    pub service: Option<String>,
    /// The program that used most of the server's CPUs, where the server waited for them.
    pub neighbor: Option<CpuNeighbor>,
    /// The CPU quota that is used up, where the processor is the bottleneck because of it.
    pub quota: Option<UsedUpQuota>,
}

impl Attribution {
    /// Returns the two resources that are used most, as shares of their capacity; fewer if not known.
    pub fn most_used(&self) -> Vec<(Indicator, f64)> {
        const USES: [Indicator; 4] =
            [Indicator::ProcessorUse, Indicator::DiskBusy, Indicator::NetworkBusy, Indicator::WorkersBusy];
        let mut uses: Vec<(Indicator, f64)> = USES
            .into_iter()
            .filter_map(|indicator| Some((indicator, *self.indicators.get(&indicator)?)))
            .collect();
        uses.sort_by(|one, other| other.1.total_cmp(&one.1));
        uses.truncate(2);
        uses
    }
}

/// Attributes all load points of a run; the same order.
pub(crate) fn attribute(plan: &Plan, points: &[LoadPointResult]) -> Vec<Attribution> {
    let own: Vec<PointIndicators> = points.iter().map(|point| point_indicators(plan, point)).collect();
    let pairs = || points.iter().zip(&own);
    let lowest = pairs().min_by(|(one, _), (other, _)| one.load.level().total_cmp(&other.load.level()));
    let Some(lowest) = lowest else { return Vec::new() };
    let by_itself = |(point, own)| attribute_point(plan, points, lowest, (point, own));
    let mut found: Vec<Attribution> = pairs().map(by_itself).collect();
    hindsight::judge_lowest(plan, points, &mut found);
    found
}

/// Attributes a load point by itself, and by comparison with lower ones.
fn attribute_point(
    plan: &Plan,
    points: &[LoadPointResult],
    lowest: (&LoadPointResult, &PointIndicators),
    (point, own): (&LoadPointResult, &PointIndicators),
) -> Attribution {
    let (indicators, services) = with_relative(plan, own, point, lowest, points);
    let cause = cause::find_cause(&indicators);
    let (demands, bounds) = demand::demands(plan, point);
    let bottleneck = cause.map_or(Bottleneck::Undetermined, |cause| cause.bottleneck);
    let evidence = cause.map(|cause| cause.evidence(&indicators)).unwrap_or_default();
    let names_service = matches!(bottleneck, Bottleneck::DownstreamService | Bottleneck::ConnectionLimit);
    let service = evidence.iter().find_map(|(condition, _)| services.of(condition.indicator));
    let service = service.filter(|_| names_service).map(str::to_owned);
    let has_waited = evidence.iter().any(|(condition, _)| condition.indicator == Indicator::RunDelay);
    let mut attribution = Attribution {
        bottleneck,
        certainty: certainty(point, cause),
        evidence,
        indicators,
        demands,
        bounds,
        shared: None,
        service,
        neighbor: has_waited.then(|| read::neighbor(plan, point)).flatten(),
        quota: None,
    };
    attribution.add_processor(plan, point);
    attribution
}

impl Attribution {
    /// Adds who shares the processor and the quota that is used up, where the processor is the bottleneck.
    fn add_processor(&mut self, plan: &Plan, point: &LoadPointResult) {
        if self.bottleneck != Bottleneck::Processor {
            return;
        }
        let is_full = |shared: &SharedCpus| shared.are_full(plan.rules.sut_saturated_min);
        self.shared = read::shared_cpus(plan, point).filter(is_full);
        self.quota = quota::used_up(plan, point, &self.indicators);
    }
}

fn certainty(point: &LoadPointResult, cause: Option<&Cause>) -> Certainty {
    // The generator's faults are broken rules, whatever else is known.
    if cause.is_some_and(|cause| cause.bottleneck == Bottleneck::Generator) {
        return Certainty::Certain;
    }
    let is_indirect = cause.is_some_and(|cause| cause.is_indirect);
    // Where no route was recorded, an interface is only assumed to be the load's.
    let may_be_foreign = cause.is_some_and(|cause| cause.bottleneck == Bottleneck::Network)
        && !LoadInterfaces::of(point).is_recorded();
    if is_indirect || may_be_foreign || point.length < LENGTH_MIN {
        Certainty::Probable
    } else {
        Certainty::Certain
    }
}
