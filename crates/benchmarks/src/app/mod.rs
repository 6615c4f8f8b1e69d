//! Benchmarks of application servers: clients make the transactions of a suite, one after another.
//!
//! `docs/benchmarks/serverbench.md` says what the original did, what this does, and every known difference.

use std::sync::Arc;

use model::{AppPayload, AppRequest, AppTransaction, AppWorkload, Mix, Step, ThinkTime, User, UserReply};
use units::{Rng, StreamPurpose, Weights};

use crate::Builtin;

/// Transactions of up to 60 clients.
pub(crate) const SERVERBENCH: Builtin = Builtin {
    id: "serverbench",
    definition_file: "serverbench.toml",
    definition: include_str!("serverbench.toml"),
    filelists: &[],
};

/// Clients and scheduled transactions of an application server workload.
#[derive(Debug, Clone)]
pub struct Transactions {
    mix: Arc<TransactionMix>,
    seed: u64,
}

/// The transactions of a workload, prepared for random selection.
#[derive(Debug)]
struct TransactionMix {
    kinds: Vec<AppTransaction>,
    weights: Weights,
    payloads: Vec<AppPayload>,
    payload_weights: Weights,
    think: ThinkTime,
}

impl Transactions {
    /// Creates them for a workload; the seed is that of the run.
    ///
    /// # Panics
    /// The workload breaks its invariants: it has no messages with weights.
    pub fn new(workload: &AppWorkload, seed: u64) -> Transactions {
        let transactions = workload.suite.transactions();
        let weights = Weights::new(transactions.iter().map(|(_, weight)| *weight));
        let payload_weights = Weights::new(workload.payloads.iter().map(|payload| payload.weight));
        let mix = Arc::new(TransactionMix {
            kinds: transactions.iter().map(|(transaction, _)| *transaction).collect(),
            weights: weights.expect("a suite has transactions"),
            payloads: workload.payloads.clone(),
            payload_weights: payload_weights.expect("a workload has messages with weights"),
            think: workload.think,
        });
        Transactions { mix, seed }
    }
}

impl TransactionMix {
    fn request(&self, rng: &mut Rng) -> AppRequest {
        let kind = rng.weighted(&self.weights);
        let transaction = self.kinds[kind];
        let bytes = match transaction {
            AppTransaction::ClientServer | AppTransaction::ServerClient => {
                self.payloads[rng.weighted(&self.payload_weights)].bytes
            }
            _ => 0,
        };
        AppRequest { kind: kind as u16, transaction, bytes, number: rng.bits() }
    }
}

/// A virtual user that makes transactions.
#[derive(Debug, Clone)]
pub struct AppUser {
    mix: Arc<TransactionMix>,
}

impl User for AppUser {
    type Operation = AppRequest;

    fn next(&mut self, last: Option<UserReply>, rng: &mut Rng) -> Step<AppRequest> {
        // The answer is there once: a user that thought comes back without it.
        match last.and_then(|_| self.mix.think.draw(rng)) {
            Some(time) => Step::think(time),
            None => Step::Perform(self.mix.request(rng)),
        }
    }
}

impl Mix for Transactions {
    type Operation = AppRequest;
    type User = AppUser;

    fn user(&self, _: u32) -> AppUser {
        AppUser { mix: Arc::clone(&self.mix) }
    }

    fn scheduled(&self, k: u64) -> AppRequest {
        self.mix.request(&mut Rng::new(self.seed, StreamPurpose::Schedule, k))
    }

    fn n_kinds(&self) -> usize {
        self.mix.kinds.len()
    }

    fn n_units(&self) -> usize {
        0
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use model::{AppSuite, LoadUnit, Overrides, Plan, Score, SutPlan, Workload, make_plan};

    use super::*;

    fn workload() -> AppWorkload {
        match SERVERBENCH.load().workload {
            Workload::App(app) => app,
            _ => panic!("of application servers"),
        }
    }

    /// The step list of the original: 16 load points, 1 and then 4 to 60 by fours, of 300 s with both ramps.
    #[test]
    fn load_points_are_those_of_the_original() {
        let definition = SERVERBENCH.load().definition;
        let levels = definition.load.levels.list(None, LoadUnit::Users);
        let expected: Vec<f64> = [1].into_iter().chain((4..=60).step_by(4)).map(f64::from).collect();
        assert_eq!((levels.len(), levels), (16, expected));
        let phases = definition.phases;
        assert_eq!((phases.ramp_up + phases.steady + phases.ramp_down).as_secs_f64(), 300.0);
    }

    /// 0.4·512 + 0.3·2048 + 0.2·8192 + 0.1·32768 = 5734.4
    #[test]
    fn messages_have_a_mean_of_5734_bytes() {
        let payloads = workload().payloads;
        let total: u64 = payloads.iter().map(|one| one.weight).sum();
        let sum: u64 = payloads.iter().map(|one| u64::from(one.bytes) * one.weight).sum();
        assert_eq!(sum as f64 / total as f64, 5734.4);
    }

    #[test]
    fn the_score_has_the_declared_weights() {
        let benchmark = SERVERBENCH.load();
        let catalog = benchmark.definition.headline.applied(benchmark.workload.catalog());
        assert_eq!(catalog.score, Score::Harmonic { weights: vec![0.2; 5] });
        assert_eq!(catalog.words.score, "weighted transactions per second");
    }

    fn plan(choose: impl FnOnce(&mut Overrides)) -> Plan {
        let benchmark = SERVERBENCH.load();
        let mut overrides = Overrides::new(SutPlan::of("built-in"));
        choose(&mut overrides);
        make_plan(&benchmark.definition, benchmark.workload, &overrides).unwrap()
    }

    /// The limit that a run asks for is no limit that is in force.
    #[test]
    fn a_range_of_auto_is_fitted_to_the_memory_limit_of_the_running_server() {
        let mut plan = plan(|overrides| {
            overrides.settings = vec![model::Family::App.choose_setting("range", "auto").unwrap()];
            overrides.sut.memory = Some(1 << 30);
        });
        assert!(plan.workload.needs_memory_limit());
        let range = |plan: &Plan| {
            let row = plan.modifications.iter().find(|one| one.what == "range of files").unwrap();
            format!("{} -> {}", row.standard, row.ours)
        };
        assert_eq!(range(&plan), "10240 KiB -> auto");
        plan.fit_to_memory(512 << 20);
        assert!(!plan.workload.needs_memory_limit());
        assert_eq!(range(&plan), "10240 KiB -> 10220 KiB, auto for a memory limit of 512.0 MiB");
    }

    #[test]
    fn a_modified_load_is_one_of_clients() {
        let plan = plan(|overrides| overrides.load = Some(vec![1, 2]));
        let row = &plan.modifications[0];
        assert!(row.standard.starts_with("closed loop, 1,4,8,") && row.standard.ends_with(",60 clients"));
        assert_eq!(row.ours, "closed loop, 1,2 clients");
    }

    /// 100,000 draws: each share within half a percentage point, which is more than three standard deviations.
    #[test]
    fn transactions_have_the_shares_of_their_suite() {
        let app = AppWorkload { suite: AppSuite::Disk, ..workload() };
        let mix = Transactions::new(&app, 1);
        let mut found: BTreeMap<AppTransactionName, u32> = BTreeMap::new();
        for k in 0..100_000 {
            *found.entry(name(mix.scheduled(k).transaction)).or_default() += 1;
        }
        for (transaction, weight) in AppSuite::Disk.transactions() {
            let share = f64::from(found[name(*transaction)]) / 100_000.0;
            assert!((share - *weight as f64 / 100.0).abs() < 0.005, "{transaction:?}: {share}");
        }
        let lengths = Transactions::new(&AppWorkload { suite: AppSuite::Network, ..workload() }, 1);
        let sum: u64 = (0..100_000).map(|k| u64::from(lengths.scheduled(k).bytes)).sum();
        assert!((sum as f64 / 100_000.0 / 5734.4 - 1.0).abs() < 0.03, "{sum}");
    }

    type AppTransactionName = &'static str;

    fn name(transaction: AppTransaction) -> AppTransactionName {
        use languages::NamedValues;
        NamedValues::name(&transaction)
    }
}
