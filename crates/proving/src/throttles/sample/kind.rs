//! The kinds of bottleneck of the sample, with the names that are right for them.

/// A kind of bottleneck, which is also the resource that its proof relaxes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ThrottleKind {
    /// A quota on CPU time.
    CpuQuota,
    /// A CPU that the server shares with busy programs.
    CrowdedCores,
    /// A limit on memory below the size of the files.
    MemoryLimit,
    /// A limit on reads per second.
    DiskOperations,
    /// A limit on bytes read per second.
    DiskBytes,
    /// A link of a limited rate behind the server.
    LinkRate,
    /// A limit on packets per second to the server.
    PacketRate,
    /// Packets that are lost on the way to the server.
    PacketLoss,
    /// A short queue of connections that wait to be accepted.
    AcceptBacklog,
    /// Few workers for pages that take time.
    WorkerPool,
    /// A limit on connections, or on requests in progress.
    ConnectionLimit,
    /// A lock that every page holds for a while.
    Lock,
    /// A service behind the server that answers slowly.
    SlowService,
    /// A limit on requests per second, beyond which the server refuses them.
    RateLimit,
    /// A generator whose CPU is shared with busy programs.
    GeneratorCpu,
    /// A generator with few local ports.
    GeneratorPorts,
    /// A generator whose link is slow.
    GeneratorLink,
    /// Users who think, or a schedule.
    Pace,
}

/// Every kind with its name and the bottlenecks that are right for it.
const KINDS: [(ThrottleKind, &str, &[&str]); 18] = [
    (ThrottleKind::CpuQuota, "cpu-quota", &["processor"]),
    (ThrottleKind::CrowdedCores, "crowded-cores", &["processor"]),
    (ThrottleKind::MemoryLimit, "memory-limit", &["memory"]),
    (ThrottleKind::DiskOperations, "disk-operations", &["disk operations"]),
    (ThrottleKind::DiskBytes, "disk-bytes", &["disk bandwidth"]),
    (ThrottleKind::LinkRate, "link-rate", &["network"]),
    (ThrottleKind::PacketRate, "packet-rate", &["network"]),
    (ThrottleKind::PacketLoss, "packet-loss", &["network"]),
    (ThrottleKind::AcceptBacklog, "accept-backlog", &["accept backlog"]),
    (ThrottleKind::WorkerPool, "worker-pool", &["worker limit"]),
    // A server either lets connections wait, or refuses those beyond its limit.
    (
        ThrottleKind::ConnectionLimit,
        "connection-limit",
        &["connection limit", "worker limit", "concurrency limit", "limit set in the server"],
    ),
    (ThrottleKind::Lock, "lock", &["lock or other waiting"]),
    // A service whose connections say nothing is told from no other wait.
    (ThrottleKind::SlowService, "slow-service", &["slow downstream service", "lock or other waiting"]),
    // Pages that take the same time are served at a steady rate and in a steady number.
    (ThrottleKind::RateLimit, "rate-limit", &["rate limit", "limit set in the server"]),
    (ThrottleKind::GeneratorCpu, "generator-cpu", &["generator"]),
    (ThrottleKind::GeneratorPorts, "generator-ports", &["generator"]),
    // A link has two ends, and the generator's is one of them.
    (ThrottleKind::GeneratorLink, "generator-link", &["network", "generator"]),
    (ThrottleKind::Pace, "pace-of-users", &["none"]),
];

impl ThrottleKind {
    /// Returns all kinds, in the order of the page.
    pub(super) fn all() -> impl Iterator<Item = ThrottleKind> {
        KINDS.iter().map(|(kind, _, _)| *kind)
    }

    /// Returns the name.
    pub(super) fn name(self) -> &'static str {
        KINDS[self as usize].1
    }

    /// Returns the bottlenecks that are right.
    pub(super) fn right_names(self) -> &'static [&'static str] {
        KINDS[self as usize].2
    }

    /// Returns whether it is on the way between server and generator, which are linked then.
    pub(super) fn has_link(self) -> bool {
        use ThrottleKind::{GeneratorLink, LinkRate, PacketLoss, PacketRate};
        matches!(self, LinkRate | PacketRate | PacketLoss | GeneratorLink)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_finds_its_own_row() {
        for (index, (kind, name, _)) in KINDS.iter().enumerate() {
            assert_eq!((*kind as usize, kind.name()), (index, *name));
        }
    }
}
