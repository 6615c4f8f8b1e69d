//! The requirements of a plan on the machine.

use model::{ConnectionLifetime, HttpVersion, Load, Plan, WebProtocol, WebWorkload};
use observe::DoctorInput;

use crate::paths;

/// Maximum growth of a run file per recorded second, in bytes; see `docs/design/run-file.md`.
const RUN_FILE_BYTES_PER_SECOND: u64 = 2500;

/// Estimated number of load points of a search.
pub(crate) const SEARCH_POINTS: usize = 12;

/// Returns the requirements of a plan on the machine.
pub(crate) fn requirements(plan: &Plan, shared: bool, rate: Option<f64>) -> DoctorInput {
    let n_points = plan.n_points_max().unwrap_or(SEARCH_POINTS);
    let seconds = plan.phases.issuing().as_secs_f64() * n_points as f64;
    let offered = plan.loads().filter(|load| !load.is_closed()).map(|load| load.level());
    DoctorInput {
        users_max: connections_max(plan, |agent| plan.agents[agent].machine == 0),
        connection_per_request: plan.workload.web().is_some_and(is_per_request),
        rate: rate.or_else(|| offered.reduce(f64::max)),
        source_addresses: u32::try_from(plan.source_addresses.len().max(1)).unwrap_or(u32::MAX),
        shared,
        starts_server: shared && plan.workload.family().is_started(),
        separated: 1 < observe::available_cpus().len(),
        run_dir: "runs".into(),
        run_file_bytes: seconds as u64 * RUN_FILE_BYTES_PER_SECOND,
        work_dir: paths::work_dir(),
        dataset_dir: paths::files_dir(&plan.benchmark.id),
        dataset_bytes: plan.workload.file_bytes(plan.level_max()),
    }
}

/// Returns the maximum number of concurrent connections of some load agents, chosen by their indexes: one per user, or fewer if
/// users share connections.
pub(crate) fn connections_max(plan: &Plan, is_one: impl Fn(usize) -> bool) -> u32 {
    let users_of_all = |load: Load| -> u32 {
        let agents = (0..plan.agents.len()).filter(|agent| is_one(*agent));
        agents.map(|agent| plan.users_of_agent(agent, load)).sum()
    };
    let users = plan.loads().map(users_of_all).max().unwrap_or(0);
    let shares = |protocol: &WebProtocol| {
        protocol.http == HttpVersion::Http2
            && matches!(protocol.connection, ConnectionLifetime::KeepAlive { .. })
    };
    let protocol = plan.workload.web().map(|web| web.protocol).filter(shares);
    users.div_ceil(protocol.map_or(1, |protocol| protocol.streams.max(1)))
}

fn is_per_request(web: &WebWorkload) -> bool {
    web.protocol.connection == ConnectionLifetime::PerRequest
}
