//! The turns of a round: each a load on a new server, and its costs.

use std::fmt::{self, Display};

use anyhow::{Context, Result};
use serde_json::Value;

use super::loads::Load;
use super::servers::ServerKind;
use crate::bench::generator::plimsoll;
use crate::bench::site::Site;

/// Clients where CPU time is measured, and the fewer of the two numbers where memory is.
pub(super) const FEW: u32 = 100;

/// Clients where memory is measured.
pub(super) const MANY: u32 = 10_000;

/// Service threads of the server where memory is measured.
pub(super) const MEMORY_THREADS: u32 = 64;

/// Names of the cases: CPU time of the generator, that of the server, memory of the generator.
pub(super) const CASES: [&str; 3] = ["client", "server", "memory"];

/// A name of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TurnName {
    /// CS, performed by one service thread.
    Message,
    /// POST to nginx.
    Post,
    /// GET from nginx.
    Get,
    /// CS, with the server's default number of service threads.
    MessageByDefault,
    /// The suite NET with few clients.
    NetworkFew,
    /// The suite NET with many clients.
    NetworkMany,
}

/// A turn of a round: one measurement of one server, with the cases that need it.
pub(super) struct Turn {
    /// Its name.
    pub name: TurnName,
    /// Its title in the tables.
    pub title: &'static str,
    /// The cases that need it.
    pub cases: &'static [&'static str],
    load: Load,
    server: ServerKind,
    clients: u32,
}

/// All turns, in the order in which a round takes them.
pub(super) const TURNS: [Turn; 6] = [
    Turn {
        name: TurnName::Message,
        title: "CS, one service thread",
        cases: &["client", "server"],
        load: Load::Message,
        server: ServerKind::Application(Some(1)),
        clients: FEW,
    },
    Turn {
        name: TurnName::Post,
        title: "POST",
        cases: &["client"],
        load: Load::Post,
        server: ServerKind::Nginx,
        clients: FEW,
    },
    Turn {
        name: TurnName::Get,
        title: "GET",
        cases: &["server"],
        load: Load::Get,
        server: ServerKind::Nginx,
        clients: FEW,
    },
    Turn {
        name: TurnName::MessageByDefault,
        title: "CS, default threads",
        cases: &["client", "server"],
        load: Load::Message,
        server: ServerKind::Application(None),
        clients: FEW,
    },
    Turn {
        name: TurnName::NetworkFew,
        title: "NET, 100 clients",
        cases: &["memory"],
        load: Load::Network,
        server: ServerKind::Application(Some(MEMORY_THREADS)),
        clients: FEW,
    },
    Turn {
        name: TurnName::NetworkMany,
        title: "NET, 10,000 clients",
        cases: &["memory"],
        load: Load::Network,
        server: ServerKind::Application(Some(MEMORY_THREADS)),
        clients: MANY,
    },
];

/// The costs of a turn.
#[derive(Debug, Clone, Copy)]
pub(super) struct TurnCosts {
    /// Of the load thread.
    pub generator: CpuCost,
    /// Of all processes of the server.
    pub server: CpuCost,
    /// Number of service threads; of nginx `None`.
    pub service_threads: Option<u64>,
    /// Maximum resident memory of the generator until near the end of the load, in KiB.
    pub rss_kib: f64,
}

/// The CPU time of one end in the steady phase.
#[derive(Debug, Clone, Copy)]
pub(super) struct CpuCost {
    /// CPU time per operation, in µs.
    pub us: f64,
    /// Mean number of CPUs used, of one.
    pub cpus: f64,
}

impl Turn {
    /// Starts a server, and runs the load for this many seconds.
    pub(super) fn take(&self, site: &Site, seconds: u32) -> Result<TurnCosts> {
        let server = self.server.start(site, self.clients)?;
        let (clients, duration) = (self.clients.to_string(), format!("{seconds} s"));
        let mut arguments = self.load.arguments();
        arguments.extend(["--load", &clients, "--duration", &duration]);
        let (ended, result) =
            plimsoll(&site.plimsoll, site.folder(), &arguments, &server.target, seconds.into())?;
        let point = &result["load_points"][0];
        Ok(TurnCosts {
            generator: cost(&point["generator"], "busy_ratio").context("the generator")?,
            server: cost(&point["sut"], "cpus").context("the server")?,
            service_threads: server.service_threads,
            rss_kib: ended.rss_kib,
        })
    }
}

/// Reads the cost of one end from the results of a load point.
fn cost(end: &Value, cpus: &str) -> Result<CpuCost> {
    let number = |name: &str| end[name].as_f64().with_context(|| format!("no `{name}`"));
    Ok(CpuCost { us: 1e6 * number("cpu_per_operation_s")?, cpus: number(cpus)? })
}

impl Display for TurnCosts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let TurnCosts { generator, server, rss_kib, .. } = self;
        write!(f, "generator {generator} µs, server {server} µs, {rss_kib:.0} KiB")
    }
}

/// Shows the CPU time, and the CPUs used in brackets.
impl Display for CpuCost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.2} ({:.2})", self.us, self.cpus)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_are_those_of_the_steady_phase() {
        let point = serde_json::json!({
            "generator": { "busy_ratio": 0.9, "cpu_per_operation_s": 5.5e-6 },
            "sut": { "cpus": null, "cpu_per_operation_s": null },
        });
        assert_eq!(cost(&point["generator"], "busy_ratio").unwrap().to_string(), "5.50 (0.90)");
        // A server that was not seen has no costs, rather than none.
        assert!(cost(&point["sut"], "cpus").is_err());
    }

    #[test]
    fn every_case_has_turns_and_every_turn_its_cases() {
        for case in CASES {
            let n = TURNS.iter().filter(|turn| turn.cases.contains(&case)).count();
            assert!(2 <= n, "{case}");
        }
        for turn in &TURNS {
            let is_known = turn.cases.iter().all(|case| CASES.contains(case));
            assert!(is_known && !turn.cases.is_empty(), "{}", turn.title);
        }
    }
}
