//! PgBouncer between the terminals and PostgreSQL, in each of its modes.

use std::fs;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::rc::Rc;
use std::time::Duration;

use drivers::database::{DatabasePlace, DatabaseServer};
use drivers::orders::{DatabaseContext, DatabaseDriver};
use engine::Driver;
use model::{DatabaseProduct, OrderSql, Outcome};
use tempfile::TempDir;
use units::{Clock, RealClock};

use super::fixture::{Database, Sessions, passable_folder, workload};
use super::interference::{lock_warehouse, payment, release};
use super::terminals::{Terminals, check_orders};
use crate::common::block_on;

/// A running PgBouncer; it ends with the value.
struct Pooler {
    process: Child,
    /// PostgreSQL, as it is reached through the pooler.
    server: DatabaseServer,
    _folder: TempDir,
}

impl Pooler {
    /// Starts it in a mode, with so many connections to PostgreSQL.
    fn start(database: &Database, mode: &str, n_connections: u32) -> Pooler {
        let folder = passable_folder(&std::env::temp_dir());
        let path = |name: &str| folder.path().join(name);
        let listen = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let port = database.sut.addr().port();
        fs::write(path("users.txt"), format!("\"plimsoll\" \"{}\"\n", database.sut.password())).unwrap();
        let settings = format!(
            "[databases]\nplimsoll = host=127.0.0.1 port={port} dbname=plimsoll\n\n[pgbouncer]\n\
             listen_addr = 127.0.0.1\nlisten_port = {}\nunix_socket_dir =\nauth_type = scram-sha-256\n\
             auth_file = {}\npool_mode = {mode}\ndefault_pool_size = {n_connections}\n",
            listen.port(),
            path("users.txt").display()
        );
        fs::write(path("pgbouncer.ini"), settings).unwrap();
        let mut command = Command::new("pgbouncer");
        // It refuses to run as root.
        command.args(["-q", "-u", "nobody"]).arg(path("pgbouncer.ini"));
        let process = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        let place = DatabasePlace::Tcp(listen);
        let mut pooler = Pooler {
            process: process.expect("install it with `apt-get install pgbouncer`"),
            server: DatabaseServer { place, ..database.server.clone() },
            _folder: folder,
        };
        pooler.wait_ready(listen);
        pooler
    }

    fn wait_ready(&mut self, listen: SocketAddr) {
        for _ in 0..500 {
            if TcpStream::connect(listen).is_ok() {
                return;
            }
            assert_eq!(self.process.try_wait().unwrap(), None, "PgBouncer ended");
            std::thread::sleep(Duration::from_millis(20));
        }
        panic!("PgBouncer does not listen within 10 s");
    }

    fn context(&self, form: OrderSql) -> Rc<DatabaseContext> {
        DatabaseContext::new(&workload(form), &self.server, &[], RealClock::start()).unwrap()
    }
}

impl Drop for Pooler {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Goal: a pooler that keeps a connection for each session is as good as the server itself: terminals work through it, and what
/// is given up is cancelled in the server behind it.
#[test]
fn terminals_work_through_a_pooler_of_sessions() {
    let database = Database::loaded(DatabaseProduct::PostgreSql);
    let pooler = Pooler::start(&database, "session", 20);
    for form in [OrderSql::Client, OrderSql::Batched, OrderSql::Stored] {
        let context = pooler.context(form);
        block_on(async {
            let before = database.consistent_totals(form).await;
            let terminals = Terminals::start(&context);
            terminals.wait_for_successes(10).await;
            let failures = terminals.end().await;
            assert!(failures.is_empty(), "{form}: {failures:?}");
            check_orders(&before, &database.consistent_totals(form).await, &context.counts());
        });
        let holder = lock_warehouse(&database, 60.0, "");
        block_on(async {
            let mut driver = DatabaseDriver::new(&context);
            driver.open().await.unwrap();
            let request = payment();
            let work = driver.perform(&request, RealClock::start().now());
            assert!(tokio::time::timeout(Duration::from_millis(500), work).await.is_err());
            assert_eq!(database.n_sessions(Sessions::Waiting), 1, "{form}");
            driver.give_up();
            for _ in 0..200 {
                tokio::time::sleep(Duration::from_millis(50)).await;
                if database.n_sessions(Sessions::Waiting) == 0 {
                    break;
                }
            }
            assert_eq!(database.n_sessions(Sessions::Waiting), 0, "{form}: it still waits for the lock");
        });
        release(&database, holder);
    }
}

/// Goal: a pooler that gives a connection to another session after each transaction cannot work with prepared statements;
/// the failure says what to change.
#[test]
fn a_pooler_of_transactions_is_named_with_the_remedy() {
    let database = Database::loaded(DatabaseProduct::PostgreSql);
    let pooler = Pooler::start(&database, "transaction", 1);
    for form in [OrderSql::Client, OrderSql::Batched, OrderSql::Stored] {
        let context = pooler.context(form);
        block_on(async {
            let mut texts = Vec::new();
            let mut drivers = [(); 2].map(|()| DatabaseDriver::new(&context));
            for index in [0, 1, 0, 1] {
                let driver = &mut drivers[index];
                let request = payment();
                let reply = driver.perform(&request, RealClock::start().now()).await;
                if reply.outcome != Outcome::Ok {
                    texts.push(driver.describe(&request, &reply));
                }
            }
            let remedy =
                "a pooler in between must keep a connection for each session (`pool_mode = session`)";
            assert!(texts.iter().any(|text| text.contains(remedy)), "{form}: {texts:?}");
        });
    }
}
