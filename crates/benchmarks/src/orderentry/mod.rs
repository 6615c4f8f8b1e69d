//! Benchmarks of order entry: users at terminals make the transactions of a wholesale supplier, one after another.
//!
//! `docs/benchmarks/orderentry.md` says what the original did, what this does, and every known difference.

use std::sync::Arc;

use model::{Mix, OrderEntryWorkload, OrderRequest, PauseStart, Step, User, UserReply};
use orders::{
    InputGenerator, Pacing, Population, RunConstants, Terminal, TransactionKind, TransactionMix,
    TransactionSelector, TransactionType,
};
use units::{Rng, StreamPurpose, WallTime};

use crate::Builtin;

/// The procedure of the ProLiant report: 100 to 1,000 users.
pub(crate) const ORDERENTRY: Builtin = Builtin {
    id: "orderentry",
    definition_file: "orderentry.toml",
    definition: include_str!("orderentry.toml"),
    filelists: &[],
};

/// Users and scheduled transactions of an order-entry workload.
#[derive(Debug, Clone)]
pub struct OrderTerminals {
    shared: Arc<SharedTerms>,
    seed: u64,
}

/// The workload of a run with its pacing, mix and inputs, shared by all terminals.
#[derive(Debug)]
struct SharedTerms {
    workload: OrderEntryWorkload,
    pacing: Pacing,
    mix: TransactionMix,
    generator: InputGenerator,
}

impl OrderTerminals {
    /// Creates them for a workload; the seed is that of the run. C of NURand while running is drawn from it, so that it
    /// fits C of the data.
    pub fn new(workload: &OrderEntryWorkload, seed: u64) -> OrderTerminals {
        let scale = workload.scale;
        let population = Population::new(workload.population_seed, scale, WallTime(0));
        let constants =
            RunConstants::draw(&scale, population.c_load(), &mut Rng::new(seed, StreamPurpose::Data, 0));
        let shared = Arc::new(SharedTerms {
            workload: *workload,
            pacing: workload.pacing(),
            mix: workload.transaction_mix(),
            generator: InputGenerator::new(&scale, &constants),
        });
        OrderTerminals { shared, seed }
    }

    /// Returns a transaction of every kind, as the terminal of the first user draws it.
    pub fn one_of_each(&self) -> Vec<OrderRequest> {
        let terminal = Terminal::of_user(0, &self.shared.workload.scale);
        let mut rng = Rng::new(self.seed, StreamPurpose::Schedule, 0);
        let mut draw = |kind: TransactionKind| {
            loop {
                let input = self.shared.generator.input(kind.transaction_type(), &terminal, &mut rng);
                // One new order in a hundred is rolled back.
                if input.kind() == kind {
                    return OrderRequest { input };
                }
            }
        };
        TransactionKind::ALL.map(&mut draw).into()
    }
}

/// A virtual user at a terminal.
#[derive(Debug, Clone)]
pub struct OrderUser {
    shared: Arc<SharedTerms>,
    terminal: Terminal,
    selector: TransactionSelector,
    /// The transaction that has just been made, after which the user thinks.
    made: Option<TransactionType>,
    /// The transaction that the user has keyed in.
    keyed: Option<TransactionType>,
}

impl OrderUser {
    fn new(shared: &Arc<SharedTerms>, user: u32) -> OrderUser {
        OrderUser {
            shared: Arc::clone(shared),
            terminal: Terminal::of_user(user, &shared.workload.scale),
            selector: shared.mix.selector(),
            made: None,
            keyed: None,
        }
    }

    /// Returns the pause after a transaction; `None` without think times.
    fn think(&self, made: TransactionType, rng: &mut Rng) -> Option<Step<OrderRequest>> {
        let kind = self.shared.workload.think_pause(made)?;
        let time = self.shared.pacing.think(made, rng);
        Some(Step::Think { kind, time, from: self.shared.workload.think_from() })
    }

    /// Returns the pause before a transaction; `None` without keying times.
    fn key_in(&self, next: TransactionType) -> Option<Step<OrderRequest>> {
        let kind = self.shared.workload.keying_pause(next)?;
        Some(Step::Think { kind, time: self.shared.pacing.keying(next), from: PauseStart::Done })
    }

    fn perform(&mut self, kind: TransactionType, rng: &mut Rng) -> Step<OrderRequest> {
        self.made = Some(kind);
        Step::Perform(OrderRequest { input: self.shared.generator.input(kind, &self.terminal, rng) })
    }
}

impl User for OrderUser {
    type Operation = OrderRequest;

    /// Thinks after a transaction, chooses the next, keys it in, and performs it.
    fn next(&mut self, _: Option<UserReply>, rng: &mut Rng) -> Step<OrderRequest> {
        if let Some(think) = self.made.take().and_then(|made| self.think(made, rng)) {
            return think;
        }
        if let Some(keyed) = self.keyed.take() {
            return self.perform(keyed, rng);
        }
        let next = self.selector.choose(rng);
        match self.key_in(next) {
            Some(pause) => {
                self.keyed = Some(next);
                pause
            }
            None => self.perform(next, rng),
        }
    }
}

impl Mix for OrderTerminals {
    type Operation = OrderRequest;
    type User = OrderUser;

    fn user(&self, user: u32) -> OrderUser {
        OrderUser::new(&self.shared, user)
    }

    /// A user has a home warehouse, and perhaps a deck of cards.
    fn has_user_state(&self) -> bool {
        true
    }

    fn scheduled(&self, k: u64) -> OrderRequest {
        let mut rng = Rng::new(self.seed, StreamPurpose::Schedule, k);
        let terminal = Terminal::of_user(k as u32, &self.shared.workload.scale);
        let kind = self.shared.mix.selector().choose(&mut rng);
        OrderRequest { input: self.shared.generator.input(kind, &terminal, &mut rng) }
    }

    fn n_kinds(&self) -> usize {
        TransactionKind::ALL.len()
    }

    fn n_units(&self) -> usize {
        0
    }
}

#[cfg(test)]
mod tests {
    use model::{HasKind, LoadUnit, OrderPacing, Outcome, Overrides, SutPlan, Workload, make_plan};
    use orders::DataScale;

    use super::*;

    fn workload(pacing: OrderPacing) -> OrderEntryWorkload {
        let scale = DataScale::new(10, 100).unwrap();
        OrderEntryWorkload { scale, pacing, ..OrderEntryWorkload::default() }
    }

    /// The procedure of the report: 10 load points of 100 to 1,000 users, 10 minutes each.
    #[test]
    fn load_points_are_those_of_the_original() {
        let definition = ORDERENTRY.load().definition;
        let levels = definition.load.levels.list(None, LoadUnit::Users);
        assert_eq!(levels, (1..=10).map(|step| f64::from(step * 100)).collect::<Vec<_>>());
        let phases = definition.phases;
        let length = phases.quiet + phases.ramp_up + phases.steady + phases.ramp_down;
        assert_eq!((length.as_secs_f64(), phases.steady.as_secs_f64()), (600.0, 510.0));
    }

    #[test]
    fn the_standard_data_are_800_warehouses_and_a_quick_run_has_10() {
        let warehouses = |quick| {
            let benchmark = ORDERENTRY.load();
            let overrides = Overrides { quick, ..Overrides::new(SutPlan::of("built-in")) };
            let plan = make_plan(&benchmark.definition, benchmark.workload, &overrides).unwrap();
            let Workload::OrderEntry(orders) = plan.workload else { panic!("of order entry") };
            let rows = plan.modifications.iter().filter(|row| row.what == "warehouses");
            let modified: Vec<String> = rows.map(|row| format!("{} -> {}", row.standard, row.ours)).collect();
            (orders.scale.warehouses(), orders.scale.divisor(), modified.join(", "))
        };
        assert_eq!(warehouses(false), (800, 100, String::new()));
        assert_eq!(warehouses(true), (10, 100, "800 -> 10".to_owned()));
    }

    #[test]
    fn the_score_counts_new_orders_that_are_rolled_back() {
        let benchmark = ORDERENTRY.load();
        let catalog = benchmark.definition.catalog(&benchmark.workload);
        let expected = model::Score::Rate { kinds: vec![0, 1], per: model::RateTime::Minute };
        assert_eq!((&catalog.score, catalog.check()), (&expected, Ok(())));
        assert_eq!(catalog.words.score, "new orders per minute");
        assert_eq!(
            [0, 1].map(|kind| catalog.kinds[kind].name.as_str()),
            ["new-order", "new-order rolled back"]
        );
    }

    /// Returns the steps of a user: a letter for each pause or transaction, and the number of its kind.
    fn steps(pacing: OrderPacing, n: usize) -> Vec<(char, u16)> {
        let terminals = OrderTerminals::new(&workload(pacing), 1);
        let mut user = terminals.user(3);
        let mut rng = Rng::new(1, StreamPurpose::User, 3);
        let mut last = None;
        let mut steps = Vec::new();
        for _ in 0..n {
            let step = user.next(last.take(), &mut rng);
            steps.push(match step {
                Step::Think { kind, from: PauseStart::Done, .. } => ('p', kind),
                Step::Perform(request) => {
                    last = Some(UserReply::of(Outcome::Ok));
                    ('t', request.kind())
                }
                other => panic!("{other:?}"),
            });
        }
        steps
    }

    /// Pauses of keying have the number of the type, those of thinking that and five more.
    #[test]
    fn users_key_in_perform_and_think() {
        let specified = steps(OrderPacing::Specified, 300);
        for cycle in specified.chunks_exact(3) {
            let [('p', keying), ('t', kind), ('p', thinking)] = *cycle else { panic!("{cycle:?}") };
            let kind = TransactionKind::ALL[usize::from(kind)].transaction_type() as u16;
            assert_eq!((keying, thinking), (kind, kind + 5));
        }
        let exponential = steps(OrderPacing::Exponential, 100);
        assert!(exponential.chunks_exact(2).all(|pair| pair[0].0 == 't' && pair[1] == ('p', 0)));
        assert!(steps(OrderPacing::Flat, 100).iter().all(|step| step.0 == 't'));
    }

    /// 100,000 transactions: each share within four standard deviations.
    #[test]
    fn kinds_have_the_shares_of_the_catalog() {
        let workload = workload(OrderPacing::Flat);
        let terminals = OrderTerminals::new(&workload, 1);
        let mut counts = [0u32; 6];
        for k in 0..100_000 {
            counts[usize::from(terminals.scheduled(k).kind())] += 1;
        }
        for (count, kind) in counts.into_iter().zip(workload.catalog().kinds) {
            let share = kind.share.unwrap();
            let deviation = (share * (1.0 - share) / 1e5).sqrt();
            assert!((f64::from(count) / 1e5 - share).abs() < 4.0 * deviation, "{}: {count}", kind.name);
        }
    }

    #[test]
    fn there_is_one_transaction_of_each_kind_to_be_checked() {
        let requests = OrderTerminals::new(&workload(OrderPacing::Flat), 7).one_of_each();
        assert!(requests.iter().map(HasKind::kind).eq(0..6));
    }
}
