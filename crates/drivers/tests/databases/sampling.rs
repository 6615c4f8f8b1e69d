//! Sessions that are counted between the accounts of a database.

use std::time::Duration;

use drivers::database::DatabaseServer;
use drivers::orders::{DatabaseDriver, SampleError, SampledAccount, SessionSampler};
use engine::Driver;
use model::OrderSql;
use observe::process::family_of;
use rustix::process::{Pid, Signal, kill_process};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use units::{Clock, RealClock};

use super::fixture::{Database, PRODUCTS};
use super::interference::{lock_warehouse, payment, release};
use crate::common::block_on;

/// The time in which an answer that takes two seconds is there.
const SLOW_MAX: Duration = Duration::from_secs(4);

/// The end of a sampler at which accounts are asked for.
struct Accounts {
    requests: UnboundedSender<()>,
    accounts: UnboundedReceiver<Result<SampledAccount, SampleError>>,
}

impl Accounts {
    /// Asks for one, and waits for it.
    async fn next(&mut self) -> Result<SampledAccount, SampleError> {
        self.requests.send(()).unwrap();
        tokio::time::timeout(SLOW_MAX, self.accounts.recv()).await.expect("in time").unwrap()
    }
}

/// Runs something beside a sampler of a server.
async fn beside_a_sampler<T>(server: &DatabaseServer, work: impl AsyncFnOnce(Accounts) -> T) -> T {
    let ((requests, asked), (tell, accounts)) = (unbounded_channel(), unbounded_channel());
    let sampler = SessionSampler::new(server.clone());
    tokio::select! {
        done = work(Accounts { requests, accounts }) => done,
        () = sampler.serve(asked, move |account| tell.send(account).is_ok()) => panic!("the sampler has ended"),
    }
}

/// Goal: an account has ten samples, its own included, of what sessions wait for. Method: a payment waits for a lock for as
/// long as it is watched; in two seconds ten samples have room on a busy machine, and twenty would be too many.
#[test]
fn sessions_are_counted_ten_times_between_accounts() {
    for product in PRODUCTS {
        let database = Database::loaded(product);
        let holder = lock_warehouse(&database, 60.0, "");
        let found = block_on(async {
            let mut driver = DatabaseDriver::new(&database.context(OrderSql::Stored));
            driver.open().await.unwrap();
            let request = payment();
            let accounts = beside_a_sampler(&database.server, async |mut accounts: Accounts| {
                tokio::time::sleep(Duration::from_millis(300)).await;
                let first = accounts.next().await.unwrap();
                tokio::time::sleep(Duration::from_secs(2)).await;
                (first, accounts.next().await.unwrap())
            });
            let found = tokio::select! {
                found = accounts => found,
                _ = driver.perform(&request, RealClock::start().now()) => panic!("the lock is held"),
            };
            driver.give_up();
            found
        });
        release(&database, holder);
        let (first, second) = found;
        assert_eq!((first.samples.len(), second.samples.len()), (1, 10), "{product}");
        assert_eq!(second.samples.last(), Some(&second.account.sessions));
        for sample in first.samples.iter().chain(&second.samples) {
            // The payment, and the holder.
            assert!(sample.at_lock == 1 && 2 <= sample.active, "{product}: {sample:?}");
        }
    }
}

/// Sends a signal to all processes of a server.
fn signal(database: &Database, signal: Signal) {
    for process in family_of(&database.sut.watched().leaders) {
        kill_process(Pid::from_raw(process.pid.cast_signed()).unwrap(), signal).unwrap();
    }
}

/// Goal: a server that hangs is waited for as long as one query may take, and is sampled again when it goes on. Method: its
/// processes are stopped while samples are taken.
#[test]
fn a_server_that_hangs_delays_each_account_once() {
    for product in PRODUCTS {
        let database = Database::loaded(product);
        block_on(beside_a_sampler(&database.server, async |mut accounts: Accounts| {
            let clock = RealClock::start();
            accounts.next().await.unwrap();
            signal(&database, Signal::STOP);
            // A sample is under way.
            tokio::time::sleep(Duration::from_millis(500)).await;
            for state in ["with its session", "without a session"] {
                let asked = clock.now();
                let failure = accounts.next().await.unwrap_err().to_string();
                let waited = clock.now() - asked;
                assert!(failure.starts_with("no answer within 2 s"), "{product} {state}: {failure}");
                assert!(waited.as_secs_f64() < 3.0, "{product} {state}: {waited}");
            }
            signal(&database, Signal::CONT);
            let samples = accounts.next().await.unwrap().samples.len();
            assert_eq!(samples, 1, "{product}: none is left of before");
        }));
    }
}
