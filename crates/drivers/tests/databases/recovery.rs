//! A server that crashes while transactions are under way, and comes up again.

use std::process::{Child, Command, Stdio};
use std::rc::Rc;
use std::time::Duration;

use drivers::orders::DatabaseContext;
use model::{DatabaseProduct, OrderSql};
use observe::process::family_of;
use orders::OrderTotals;
use rustix::process::{Pid, Signal, WaitOptions, geteuid, kill_process, waitpid};

use super::fixture::{Database, PRODUCTS, fresh};
use super::terminals::{Failure, TERMINALS, Terminals, check_orders};
use crate::common::block_on;

/// Transactions of each terminal that succeed before the crash, and after it.
const TRANSACTIONS: [u32; 2] = [20, 60];

/// A server that was started again; ends with this value.
struct Recovered {
    product: DatabaseProduct,
    server: Child,
}

impl Drop for Recovered {
    fn drop(&mut self) {
        // PostgreSQL would wait for its clients otherwise.
        let signal = match self.product {
            DatabaseProduct::PostgreSql => Signal::INT,
            DatabaseProduct::MariaDb => Signal::TERM,
        };
        let _ = kill_process(Pid::from_child(&self.server), signal);
        let _ = self.server.wait();
    }
}

/// Returns the words of a file of the kernel about a process, with zeros between them.
fn words(pid: u32, name: &str) -> Vec<String> {
    let bytes = std::fs::read(format!("/proc/{pid}/{name}")).unwrap();
    let words = bytes.split(|byte| *byte == 0).filter(|word| !word.is_empty());
    words.map(|word| String::from_utf8_lossy(word).into_owned()).collect()
}

/// Returns the numbers of a line of `/proc/PID/status`.
fn numbers(pid: u32, name: &str) -> Vec<String> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
    line.split_whitespace().map(str::to_owned).collect()
}

/// Returns the command that runs a program under the effective account of a process, with the groups by which it may pass
/// the folder of the run. Without root that account is the user's own.
fn as_account_of(pid: u32, program: &str) -> Command {
    if !geteuid().is_root() {
        return Command::new(program);
    }
    let [user, group] = ["Uid:", "Gid:"].map(|name| numbers(pid, name).swap_remove(1));
    let mut command = Command::new("setpriv");
    command
        .args([format!("--reuid={user}"), format!("--regid={group}")])
        .args([format!("--groups={}", numbers(pid, "Groups:").join(",")), "--".to_owned()])
        .arg(program);
    command
}

/// Kills all processes of the server, and starts it again with the same command, account and environment, on the data as
/// they are.
fn crash(database: &Database) -> Recovered {
    let leader = database.sut.watched().leaders[0];
    let [program, arguments @ ..] = &words(leader, "cmdline")[..] else { panic!("no command line") };
    let mut again = as_account_of(leader, program);
    again
        .args(arguments)
        .envs(words(leader, "environ").iter().filter_map(|word| word.split_once('=')))
        .current_dir("/")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let family = family_of(&[leader]);
    assert!(!family.is_empty());
    for process in &family {
        let pid = Pid::from_raw(process.pid.cast_signed()).unwrap();
        let _ = kill_process(pid, Signal::KILL);
    }
    // PostgreSQL takes a zombie for a server that is still there.
    let _ = waitpid(Pid::from_raw(leader.cast_signed()), WaitOptions::empty());
    let is_gone = |pid: u32| !std::path::Path::new(&format!("/proc/{pid}")).exists();
    for _ in 0..200 {
        if family.iter().all(|process| is_gone(process.pid)) {
            break;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    Recovered { product: database.product, server: again.spawn().unwrap() }
}

/// Works before a crash, through it, and after it; returns the totals of the data then, and the transactions that failed.
async fn work_through_a_crash(
    database: &Database,
    form: OrderSql,
    context: &Rc<DatabaseContext>,
) -> (OrderTotals, Vec<Failure>) {
    let terminals = Terminals::start(context);
    terminals.wait_for_successes(TRANSACTIONS[0]).await;
    // All terminals have a request under way.
    let recovered = crash(database);
    terminals.wait_for_successes(TRANSACTIONS[1]).await;
    let failed = terminals.end().await;
    let totals = database.consistent_totals(form).await;
    drop(recovered);
    (totals, failed)
}

/// Goal: what was committed before a crash is there, nothing that failed is there, and what is not known is counted as in
/// doubt; all conditions hold, and each terminal goes on with a new session.
#[test]
fn a_crash_loses_nothing_that_was_committed() {
    for product in PRODUCTS {
        for form in [OrderSql::Client, OrderSql::Stored] {
            let database = Database::loaded(product);
            let context = database.context(form);
            let (totals, failed) = block_on(work_through_a_crash(&database, form, &context));
            assert!(!failed.is_empty(), "{product} {form}: nobody noticed");
            let counts = context.counts();
            check_orders(&fresh(), &totals, &counts);
            // Some orders of a fifth of the transactions are rolled back.
            let n_least = TERMINALS * TRANSACTIONS.iter().sum::<u32>() / 8;
            assert!(u64::from(n_least) <= counts.placed, "{counts:?}");
        }
    }
}
