//! Users of a database with statements of their own: they make a transaction, and think.

use std::sync::Arc;

use model::{
    DataSet, Load, Mix, SqlRequest, SqlTransaction, SqlWorkload, Step, ThinkTime, User, UserPage, UserReply,
    ValueSampler,
};
use units::{Rng, StreamPurpose, Weights};

/// Users and scheduled transactions of a workload at one load.
#[derive(Debug, Clone)]
pub struct SqlTransactions {
    mix: Arc<TransactionMix>,
}

/// The transactions of a workload, prepared for random selection.
#[derive(Debug)]
struct TransactionMix {
    seed: u64,
    weights: Weights,
    /// For each transaction, its parameters.
    parameters: Vec<Vec<ValueSampler>>,
    think: ThinkTime,
    data: Vec<DataSet>,
    /// The number of users; of an open loop, the most operations in flight.
    n_users: u32,
}

impl SqlTransactions {
    /// Creates them for a workload at a load; the seed is that of the run.
    ///
    /// # Panics
    /// The workload breaks its invariants: it has no transactions with weights.
    pub fn new(workload: &SqlWorkload, seed: u64, load: Load) -> SqlTransactions {
        let weights = Weights::new(workload.transactions.iter().map(|transaction| transaction.weight));
        let samplers = |transaction: &SqlTransaction| {
            let sampler = |parameter| ValueSampler::new(parameter, load.level());
            transaction.parameters.iter().map(sampler).collect()
        };
        SqlTransactions {
            mix: Arc::new(TransactionMix {
                seed,
                weights: weights.expect("a workload has transactions with weights"),
                parameters: workload.transactions.iter().map(samplers).collect(),
                think: workload.think,
                data: workload.data.clone(),
                n_users: load.in_flight_max(),
            }),
        }
    }

    /// Returns a transaction of each kind, with the first values and the first rows of data.
    pub fn one_of_each(&self) -> Vec<SqlRequest> {
        let first = |(kind, samplers): (usize, &Vec<ValueSampler>)| SqlRequest {
            kind: kind as u16,
            picks: vec![0; samplers.len()],
            at: self.mix.place(0, 0),
        };
        self.mix.parameters.iter().enumerate().map(first).collect()
    }
}

impl TransactionMix {
    fn place(&self, user: u32, page: u64) -> UserPage {
        UserPage { seed: self.seed, user, users: self.n_users, page }
    }

    fn request(&self, rng: &mut Rng, at: UserPage) -> SqlRequest {
        let kind = rng.weighted(&self.weights);
        let picks = self.parameters[kind].iter().map(|values| values.index(rng)).collect();
        SqlRequest { kind: kind as u16, picks, at }
    }

    /// Returns the number of transactions for which a user has rows; `None` if there always are.
    fn transactions_max(&self, user: u32) -> Option<u64> {
        self.data.iter().filter_map(|data| data.pages_max(user, self.n_users)).min()
    }
}

/// A virtual user that makes transactions, and leaves when its data have no row left.
#[derive(Debug, Clone)]
pub struct SqlUser {
    mix: Arc<TransactionMix>,
    user: u32,
    n_made: u64,
    /// The number of transactions for which there are rows.
    n_max: Option<u64>,
}

impl User for SqlUser {
    type Operation = SqlRequest;

    fn next(&mut self, last: Option<UserReply>, rng: &mut Rng) -> Step<SqlRequest> {
        // The answer is there once: a user that thought comes back without it.
        if let Some(time) = last.and_then(|_| self.mix.think.draw(rng)) {
            return Step::think(time);
        }
        if self.n_max.is_some_and(|most| most <= self.n_made) {
            return Step::Leave;
        }
        let at = self.mix.place(self.user, self.n_made);
        self.n_made += 1;
        Step::Perform(self.mix.request(rng, at))
    }
}

impl Mix for SqlTransactions {
    type Operation = SqlRequest;
    type User = SqlUser;

    fn user(&self, user: u32) -> SqlUser {
        let n_max = self.mix.transactions_max(user);
        SqlUser { mix: Arc::clone(&self.mix), user, n_made: 0, n_max }
    }

    fn has_user_state(&self) -> bool {
        !self.mix.data.is_empty()
    }

    fn scheduled(&self, k: u64) -> SqlRequest {
        let mut rng = Rng::new(self.mix.seed, StreamPurpose::Schedule, k);
        self.mix.request(&mut rng, self.mix.place(0, k))
    }

    fn n_kinds(&self) -> usize {
        self.mix.parameters.len()
    }

    fn n_units(&self) -> usize {
        0
    }
}

#[cfg(test)]
mod tests {
    use model::{Outcome, Parameter, RowPick, RowsEnd, SqlStatement, ValueCount};
    use units::Nanos;

    use super::*;

    fn workload(think: ThinkTime, data: Vec<DataSet>) -> SqlWorkload {
        let transaction = |weight, parameters| SqlTransaction {
            name: format!("weight {weight}"),
            weight,
            is_atomic: false,
            statements: vec![SqlStatement {
                sql: "SELECT 1".to_owned(),
                rows: None,
                expect: Vec::new(),
                line: 1,
            }],
            parameters,
            share_gap_max: None,
            limits: Vec::new(),
        };
        let id = Parameter::numbers("id", 1, ValueCount::Fixed(10));
        SqlWorkload {
            transactions: vec![transaction(3, vec![id]), transaction(1, Vec::new())],
            think,
            data,
            allows_writes: false,
            is_encrypted: false,
        }
    }

    /// n = 40,000: the share of the first is 0.75 ± 3 · √(0.75 · 0.25 ÷ n).
    #[test]
    fn transactions_have_the_shares_of_their_weights_and_values_of_their_parameters() {
        let transactions = SqlTransactions::new(&workload(ThinkTime::None, Vec::new()), 1, Load::Users(1));
        let mut user = transactions.user(0);
        let mut rng = Rng::new(1, StreamPurpose::User, 0);
        let mut n_first = 0;
        let mut seen = [false; 10];
        for _ in 0..40_000 {
            let Step::Perform(request) = user.next(None, &mut rng) else { panic!("no data run out") };
            assert_eq!(request.picks.len(), usize::from(request.kind == 0));
            n_first += u32::from(request.kind == 0);
            request.picks.iter().for_each(|pick| seen[*pick as usize] = true);
        }
        let deviation = (0.75_f64 * 0.25 / 40_000.0).sqrt();
        assert!((f64::from(n_first) / 40_000.0 - 0.75).abs() < 3.0 * deviation, "{n_first}");
        assert_eq!(seen, [true; 10]);
        assert_eq!(transactions.scheduled(7), transactions.scheduled(7));
    }

    #[test]
    fn users_think_after_transactions_and_leave_without_rows() {
        let data = DataSet {
            name: "users".into(),
            file: "users.csv".into(),
            hash: String::new(),
            rows: 3,
            pick: RowPick::Unique,
            at_end: RowsEnd::Leave,
        };
        let workload = workload(ThinkTime::Fixed(Nanos(5)), vec![data]);
        let transactions = SqlTransactions::new(&workload, 1, Load::Users(2));
        assert!(transactions.has_user_state());
        let steps = |user: u32| {
            let mut user = transactions.user(user);
            let mut rng = Rng::new(1, StreamPurpose::User, 0);
            let mut rows = Vec::new();
            let mut last = None;
            loop {
                match user.next(last.take(), &mut rng) {
                    Step::Perform(request) => {
                        rows.push(workload.data[0].row(0, request.at));
                        last = Some(UserReply::of(Outcome::Ok));
                    }
                    Step::Think { time, .. } => assert_eq!(time, Nanos(5)),
                    Step::Await | Step::Leave => return rows,
                    Step::Unit { .. } => panic!("no units"),
                }
            }
        };
        assert_eq!((steps(0), steps(1)), (vec![Some(0), Some(2)], vec![Some(1)]));
    }
}
