//! Order entry in a database that speaks SQL, which this run has started and loaded, or which was there already.
//!
//! Of a server that this run has started, the loaded data are in the golden copy that is restored before each load
//! point. Those of another one are loaded anew.

use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::rc::Rc;
use std::str::FromStr;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

use drivers::Trust;
use drivers::database::{DatabaseEncryption, DatabaseError, DatabasePassword, DatabasePlace, DatabaseServer};
use drivers::orders::{
    BACKGROUND_SESSIONS, DatabaseContext, DatabaseControl, DatabaseData, DatabaseDriver, DatabaseLoad,
    LoadMethod, contents_of, load_database,
};
use languages::host_and_port;
use model::{CheckMoment, DataReset, DatabaseProduct, Family, OrderEntryWorkload, OrderSql, Plan};
use observe::available_cpus;
use orders::wire::ConditionResult;
use orders::{ConsistencyCondition, DataScale, OrderTable, OrderTotals, Population};
use testbed::{DataContents, RunningSut};
use units::{RealClock, wall};

use super::deferred;
use super::order_entry::{
    ConditionSource, OrdersBefore, checked, checked_conditions, named, probe_of, workload,
};
use super::room::check_room;
use super::{SetupError, host_of, unless_stopped};
use crate::checked::CheckedRow;
use crate::counts::Counts;
use crate::error::FleetError;
use crate::event::{Event, Observer};
use crate::thread::{ThreadFailure, ThreadWork};
use crate::verify::VerifyError;

/// The notations of targets. A text before `@` may be a password, so the error does not repeat the target.
const EXPECTED: &str = "expected `postgres://USER@HOST:PORT/DATABASE` or `mysql://USER@HOST:PORT/DATABASE`; for a socket of this \
                        machine `postgres://USER@/DATABASE?host=/DIRECTORY` or `mysql://USER@/DATABASE?socket=/FILE`; MariaDB's \
                        `DATABASE` may be left out";

/// The schemes of targets.
const SCHEMES: [(&str, DatabaseProduct); 4] = [
    ("postgres", DatabaseProduct::PostgreSql),
    ("postgresql", DatabaseProduct::PostgreSql),
    ("mysql", DatabaseProduct::MariaDb),
    ("mariadb", DatabaseProduct::MariaDb),
];

/// Returns the port of targets that name none.
fn standard_port(product: DatabaseProduct) -> u16 {
    match product {
        DatabaseProduct::PostgreSql => 5432,
        DatabaseProduct::MariaDb => 3306,
    }
}

/// User and database of servers that are started by a recipe.
const OWN_NAME: &str = "plimsoll";

/// The most connections that load data at once.
const LOADERS_MAX: usize = 4;

/// A database that was there already, as the user names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExternalDatabase {
    /// The product.
    pub product: DatabaseProduct,
    /// A name or an address; an IPv6 address in brackets. `None` for a socket of this machine.
    pub host: Option<String>,
    /// The directory of PostgreSQL's socket, or the path of MariaDB's; empty where there is a host.
    pub socket: PathBuf,
    /// The TCP port, which is also part of the name of PostgreSQL's socket.
    pub port: u16,
    /// The user.
    pub user: String,
    /// The database; empty of MariaDB where none is named.
    pub database: String,
    /// The user's password, which is no part of the target's notation.
    pub password: Option<DatabasePassword>,
    /// The certificates that are accepted; `None` without encryption.
    pub trust: Option<Trust>,
}

impl ExternalDatabase {
    /// Returns the product that targets of a scheme name.
    pub fn product_of_scheme(scheme: &str) -> Option<DatabaseProduct> {
        SCHEMES.iter().find(|(one, _)| scheme.eq_ignore_ascii_case(one)).map(|(_, product)| *product)
    }

    /// Returns the host; of a socket of this machine, its loopback address.
    pub(crate) fn host(&self) -> &str {
        self.host.as_deref().unwrap_or("127.0.0.1")
    }

    /// Returns the path of the socket.
    fn socket_path(&self) -> PathBuf {
        match self.product {
            DatabaseProduct::PostgreSql => self.socket.join(format!(".s.PGSQL.{}", self.port)),
            DatabaseProduct::MariaDb => self.socket.clone(),
        }
    }
}

/// Reads `postgres://USER@HOST:PORT/DATABASE`, `postgres://USER@/DATABASE?host=/DIRECTORY`, perhaps with `&port=PORT`,
/// `mysql://USER@HOST:PORT/DATABASE`, or `mysql://USER@/DATABASE?socket=/FILE`; MariaDB's database may be left out.
impl FromStr for ExternalDatabase {
    type Err = String;

    fn from_str(text: &str) -> Result<ExternalDatabase, String> {
        read_target(text).ok_or_else(|| match text.split_once("://").map(|(_, rest)| rest.split_once('@')) {
            Some(Some((user, _))) if user.contains(':') => {
                format!(
                    "{EXPECTED}; the password comes from `PGPASSWORD`, the file of `PGPASSFILE`, or `MYSQL_PWD`"
                )
            }
            _ => EXPECTED.to_owned(),
        })
    }
}

fn read_target(text: &str) -> Option<ExternalDatabase> {
    let (scheme, rest) = text.split_once("://")?;
    let product = ExternalDatabase::product_of_scheme(scheme)?;
    let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
    let (user, place) = authority.split_once('@')?;
    let (database, query) = path.split_once('?').unwrap_or((path, ""));
    let is_name =
        |name: &str| !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || "_-.".contains(c));
    let needs_database = product == DatabaseProduct::PostgreSql || !database.is_empty();
    if !is_name(user) || (needs_database && !is_name(database)) {
        return None;
    }
    let (host, socket, port) = match place {
        "" => {
            let (socket, port) = socket(product, query)?;
            (None, socket, port)
        }
        _ if !query.is_empty() => return None,
        place => {
            let (host, port) = host_and_port(place).ok()?;
            (Some(host), PathBuf::new(), port.unwrap_or(standard_port(product)))
        }
    };
    let (user, database) = (user.to_owned(), database.to_owned());
    Some(ExternalDatabase { product, host, socket, port, user, database, password: None, trust: None })
}

/// Reads the path of a socket, or its directory, perhaps with a port.
fn socket(product: DatabaseProduct, query: &str) -> Option<(PathBuf, u16)> {
    let (mut path, mut port) = (None, standard_port(product));
    for part in query.split('&') {
        match (product, part.split_once('=')?) {
            (DatabaseProduct::PostgreSql, ("host", directory)) if directory.starts_with('/') => {
                path = Some(PathBuf::from(directory));
            }
            (DatabaseProduct::PostgreSql, ("port", number)) => {
                port = number.parse().ok().filter(|port| *port != 0)?;
            }
            (DatabaseProduct::MariaDb, ("socket", file)) if file.starts_with('/') => {
                path = Some(PathBuf::from(file));
            }
            _ => return None,
        }
    }
    Some((path?, port))
}

/// Writes the target without the password.
impl fmt::Display for ExternalDatabase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ExternalDatabase { product, host, socket, port, user, database, password: _, trust: _ } = self;
        let socket = socket.display();
        match (product, host) {
            (DatabaseProduct::PostgreSql, Some(host)) => {
                write!(f, "postgres://{user}@{host}:{port}/{database}")
            }
            (DatabaseProduct::PostgreSql, None) => {
                write!(f, "postgres://{user}@/{database}?host={socket}&port={port}")
            }
            (DatabaseProduct::MariaDb, Some(host)) if database.is_empty() => {
                write!(f, "mysql://{user}@{host}:{port}")
            }
            (DatabaseProduct::MariaDb, Some(host)) => write!(f, "mysql://{user}@{host}:{port}/{database}"),
            (DatabaseProduct::MariaDb, None) => write!(f, "mysql://{user}@/{database}?socket={socket}"),
        }
    }
}

/// A database that load is sent to.
#[derive(Debug, Clone)]
pub(crate) struct DatabaseTarget {
    /// The server as named, without the password.
    pub(super) name: String,
    /// The host in that name.
    pub(super) host: String,
    /// Its address; of a socket of this machine, that of its port there.
    pub(super) address: SocketAddr,
    pub(super) server: DatabaseServer,
    /// The orders that were found before the load point, where the data are not reset.
    found_before: Arc<Mutex<Option<OrderTotals>>>,
}

impl DatabaseTarget {
    /// Makes the target of a server that this run has started.
    pub(super) fn of_sut(sut: &RunningSut, product: DatabaseProduct) -> DatabaseTarget {
        let address = sut.addr();
        let database = match product {
            DatabaseProduct::PostgreSql => OWN_NAME.to_owned(),
            DatabaseProduct::MariaDb => String::new(),
        };
        let named = ExternalDatabase {
            product,
            host: Some(host_of(address.ip())),
            socket: PathBuf::new(),
            port: address.port(),
            user: OWN_NAME.to_owned(),
            database,
            password: Some(DatabasePassword::new(sut.password())),
            trust: sut.certificate_der().map(|der| Trust::Certificate(der.to_owned())),
        };
        DatabaseTarget::of_external(&named, address)
    }

    /// Makes the target of a database that was there already, at the address of its host.
    pub(super) fn of_external(database: &ExternalDatabase, address: SocketAddr) -> DatabaseTarget {
        let place = match database.host {
            Some(_) => DatabasePlace::Tcp(address),
            None => DatabasePlace::Unix(database.socket_path()),
        };
        DatabaseTarget {
            name: database.to_string(),
            host: database.host().to_owned(),
            address,
            server: DatabaseServer {
                product: database.product,
                place,
                encryption: database
                    .trust
                    .clone()
                    .map(|trust| DatabaseEncryption { host: database.host().to_owned(), trust }),
                user: database.user.clone(),
                password: database.password.clone(),
                database: database.database.clone(),
            },
            found_before: Arc::default(),
        }
    }

    /// Returns the orders before a load point of a workload.
    fn orders_before(&self, workload: &OrderEntryWorkload) -> OrdersBefore {
        match workload.reset {
            DataReset::Restored => OrdersBefore::AsLoaded,
            DataReset::Never => OrdersBefore::AsFound(Arc::clone(&self.found_before)),
        }
    }

    /// Returns whether connections to it are encrypted.
    pub(super) fn is_encrypted(&self) -> bool {
        self.server.encryption.is_some()
    }

    /// Sets up what all sessions of a thread share.
    fn context<'a>(
        &self,
        plan: &'a Plan,
        clock: RealClock,
    ) -> Result<(&'a OrderEntryWorkload, Rc<DatabaseContext>), SetupError> {
        let workload = workload(plan)?;
        let context = DatabaseContext::new(workload, &self.server, &plan.source_addresses, clock)?;
        Ok((workload, context))
    }

    fn wrong_data(&self, text: String) -> VerifyError {
        VerifyError::WrongData { target: self.name.clone(), text }
    }

    /// Returns the error of a database that cannot be used.
    fn unusable(&self, error: DatabaseError) -> VerifyError {
        match error {
            DatabaseError::Unreachable { outcome, text } => {
                let target = self.name.clone();
                VerifyError::Unreachable { family: Family::OrderEntry, target, outcome, text }
            }
            DatabaseError::Certificate(problem) => {
                VerifyError::Certificate { target: self.name.clone(), problem }
            }
            error => self.wrong_data(error.to_string()),
        }
    }

    /// Returns the error of a run whose data cannot be loaded.
    fn not_loaded(&self, error: DatabaseError) -> FleetError {
        match error {
            DatabaseError::Stopped => VerifyError::Interrupted.into(),
            error => self.unusable(error).into(),
        }
    }
}

/// Returns the population of a workload, loaded now.
fn population(workload: &OrderEntryWorkload) -> Population {
    Population::new(workload.population_seed, workload.scale, wall())
}

/// Returns what is loaded into the data of a server that a run starts; `None` of a server that does so itself.
pub(super) fn contents(workload: &OrderEntryWorkload) -> Option<DataContents> {
    (workload.sql != OrderSql::Request).then(|| DataContents {
        identity: contents_of(&population(workload)),
        bytes: Some(workload.scale.loaded_bytes()),
    })
}

/// Loads the data of a plan into a database in which our schema does not exist.
pub(super) fn load(
    plan: &Plan,
    target: &DatabaseTarget,
    observer: &mut dyn Observer,
    stop: &AtomicBool,
) -> Result<(), FleetError> {
    let workload = workload(plan).map_err(VerifyError::from)?;
    let n_rows: u64 = OrderTable::ALL.into_iter().map(|table| workload.scale.rows(table)).sum();
    observer.event(Event::Preparing(&format!("loading about {n_rows} rows into {}", target.server.product)));
    let n_connections = available_cpus().len().clamp(2, LOADERS_MAX);
    let load = DatabaseLoad { server: &target.server, population: population(workload), n_connections };
    let method = load_database(&load, stop, |done| observer.event(Event::Rows { done, total: n_rows }))
        .map_err(|error| target.not_loaded(error))?;
    if method == LoadMethod::Insert {
        observer.event(Event::Preparing(
            "the rows were loaded by `INSERT` statements, because the server forbids `LOAD DATA LOCAL`",
        ));
    }
    Ok(())
}

/// Loads the data of a plan anew into a database that was there already, unless they are not to be reset; what other runs
/// have left in our schema goes then. Returns what is to be said of it.
pub(super) fn reload(
    plan: &Plan,
    target: &DatabaseTarget,
    clock: RealClock,
    observer: &mut dyn Observer,
    stop: &AtomicBool,
) -> Result<&'static str, FleetError> {
    let (workload, context) = target.context(plan, clock).map_err(VerifyError::from)?;
    if workload.reset == DataReset::Never {
        return Ok(
            "the data are as they were left; the server was not restarted, and its caches are as they were",
        );
    }
    unless_stopped(stop, async {
        let refused = |error: DatabaseError| target.unusable(error);
        let mut control = DatabaseControl::open(&context).await.map_err(refused)?;
        if !control.can_make_schema().await.map_err(refused)? {
            let user = &target.server.user;
            return Err(target.wrong_data(format!("`{user}` may not make a schema in the database")));
        }
        has_room(plan, target, &mut control).await?;
        control.drop_schema().await.map_err(refused)
    })?;
    load(plan, target, observer, stop)?;
    Ok("the data were loaded anew; the server was not restarted, and its caches are as the loading left them")
}

/// Checks that the server has a connection for each user.
async fn has_room(
    plan: &Plan,
    target: &DatabaseTarget,
    control: &mut DatabaseControl,
) -> Result<(), VerifyError> {
    let connections = control.connections().await.map_err(|error| target.unusable(error))?;
    check_room(plan, &target.name, connections, n_background(plan)?)
}

/// Returns the number of sessions that work beside the terminals.
fn n_background(plan: &Plan) -> Result<u64, VerifyError> {
    Ok(match workload(plan)?.defers_deliveries() {
        true => BACKGROUND_SESSIONS as u64 * u64::from(plan.load_threads),
        false => 0,
    })
}

/// Returns the number of connections that the server has for terminals; `None` of one that does not say.
pub(super) fn n_free(
    plan: &Plan,
    target: &DatabaseTarget,
    clock: RealClock,
    stop: &AtomicBool,
) -> Option<u64> {
    let (_, context) = target.context(plan, clock).ok()?;
    let asked = unless_stopped(stop, async {
        let mut control = DatabaseControl::open(&context).await.map_err(|error| target.unusable(error))?;
        control.connections().await.map_err(|error| target.unusable(error))
    });
    asked.ok()?.free.checked_sub(n_background(plan).ok()?)
}

/// Checks that the database has the data of the plan, and makes a transaction of every kind, which is rolled back.
pub(super) fn probe(
    plan: &Plan,
    target: &DatabaseTarget,
    clock: RealClock,
    stop: &AtomicBool,
) -> Result<(), VerifyError> {
    let (workload, context) = target.context(plan, clock)?;
    let (probe, requests) = probe_of(plan, workload, target.name.clone(), clock);
    unless_stopped(stop, async {
        let mut control = DatabaseControl::open(&context).await.map_err(|error| target.unusable(error))?;
        has_room(plan, target, &mut control).await?;
        let data = control.data().await.map_err(|error| target.unusable(error))?;
        if let Some(other) = other_rows(workload, &data) {
            return Err(target.wrong_data(other));
        }
        drop(control);
        let driver = DatabaseDriver::without_changes(&context);
        probe.perform_all(driver, &requests, |_| probe.too_slow(), |_| None).await
    })
}

/// Returns what shows that data are not those of the workload.
fn other_rows(workload: &OrderEntryWorkload, data: &DatabaseData) -> Option<String> {
    let expected = population(workload);
    match data {
        DatabaseData::Loaded(found) if contents_of(found) == contents_of(&expected) => None,
        DatabaseData::Loaded(found) => {
            Some(format!("expected {}, found {}", contents_of(&expected), contents_of(found)))
        }
        DatabaseData::Unusable(found) => Some(format!("found {found}")),
        DatabaseData::None => Some(
            "found none, and `reset=none` loads none: run once without it, with the same warehouses"
                .to_owned(),
        ),
    }
}

impl ConditionSource for DatabaseControl {
    type Error = DatabaseError;

    async fn violations(
        &mut self,
        condition: ConsistencyCondition,
        scale: &DataScale,
    ) -> Result<ConditionResult, DatabaseError> {
        DatabaseControl::violations(self, condition, scale).await
    }

    async fn totals(&mut self) -> Result<OrderTotals, DatabaseError> {
        DatabaseControl::totals(self).await
    }
}

/// Checks the consistency conditions; after a load point also that the orders are as many as the terminals counted.
pub(super) fn check(
    plan: &Plan,
    target: &DatabaseTarget,
    clock: RealClock,
    moment: CheckMoment,
    counts: &Counts,
    stop: &AtomicBool,
) -> Result<Vec<CheckedRow>, VerifyError> {
    let (workload, context) = target.context(plan, clock)?;
    let before = target.orders_before(workload);
    checked(found_conditions(workload, &context, (moment, counts), &before), stop)
}

/// Checks the conditions in SQL, with a row about the data before a load point.
async fn found_conditions(
    workload: &OrderEntryWorkload,
    context: &DatabaseContext,
    (moment, counts): (CheckMoment, &Counts),
    before: &OrdersBefore,
) -> Result<Vec<CheckedRow>, DatabaseError> {
    let mut control = DatabaseControl::open(context).await?;
    let mut found = Vec::new();
    if moment == CheckMoment::Before {
        let name = match workload.reset {
            DataReset::Restored => "data restored",
            DataReset::Never => "data as they were left",
        };
        found.push((name.to_owned(), true, control.description().await?));
    }
    found.extend(checked_conditions(&workload.scale, &mut control, (moment, counts), before).await?);
    Ok(found)
}

/// Runs the users of a load thread.
pub(super) fn run(work: ThreadWork<'_>, target: &DatabaseTarget) -> Result<Counts, ThreadFailure> {
    let (workload, context) = target.context(work.plan, work.clock)?;
    let (plan, clock) = (work.plan, work.clock);
    let terminal = |_| DatabaseDriver::new(&context);
    let mut counts = deferred::run(work, workload, terminal, |background| {
        let (_, context) = target.context(plan, clock)?;
        let deferred = background.perform(|| DatabaseDriver::new(&context))?;
        Ok((deferred, named(&context.counts())))
    })?;
    counts.add(&named(&context.counts()));
    Ok(counts)
}

#[cfg(test)]
mod tests {
    use units::WallTime;

    use super::*;

    #[test]
    fn targets_have_a_user_a_place_and_a_database() {
        for (text, shown) in [
            ("postgres://me@127.0.0.1:5433/shop", "postgres://me@127.0.0.1:5433/shop"),
            ("PostgreSQL://me@name.example/shop", "postgres://me@name.example:5432/shop"),
            ("postgres://me@[::1]/shop", "postgres://me@[::1]:5432/shop"),
            (
                "postgres://me@/shop?host=/run/postgresql",
                "postgres://me@/shop?host=/run/postgresql&port=5432",
            ),
            ("postgres://me@/shop?port=7&host=/a", "postgres://me@/shop?host=/a&port=7"),
            ("mysql://me@name.example", "mysql://me@name.example:3306"),
            ("mariadb://me@[::1]:7/", "mysql://me@[::1]:7"),
            ("mysql://me@a/shop", "mysql://me@a:3306/shop"),
            ("mysql://me@/shop?socket=/a", "mysql://me@/shop?socket=/a"),
            ("mysql://me@/?socket=/run/mysqld/mysqld.sock", "mysql://me@/?socket=/run/mysqld/mysqld.sock"),
        ] {
            let database: ExternalDatabase = text.parse().unwrap();
            assert_eq!(database.to_string(), shown);
            assert_eq!(shown.parse(), Ok(database));
        }
        for text in [
            "127.0.0.1:5432",
            "orders://127.0.0.1:1",
            "postgres://127.0.0.1/shop",
            "postgres://me@127.0.0.1",
            "postgres://me@127.0.0.1/",
            "postgres://me@127.0.0.1:0/shop",
            "postgres://me@127.0.0.1/shop?host=/a",
            "postgres://me@/shop",
            "postgres://me@/shop?host=run",
            "postgres://me:secret@a/shop",
            "postgres://me@a/shop' OR 1",
            "mysql://me@a/shop' OR 1",
            "mysql://me@/?socket=run",
            "mysql://me@",
        ] {
            let error = text.parse::<ExternalDatabase>().unwrap_err();
            assert!(
                error.starts_with("expected `postgres://") && !error.contains("secret"),
                "{text}: {error}"
            );
        }
        let error = "postgres://me:secret@a/shop".parse::<ExternalDatabase>().unwrap_err();
        assert!(
            error.ends_with("the password comes from `PGPASSWORD`, the file of `PGPASSFILE`, or `MYSQL_PWD`"),
            "{error}"
        );
    }

    #[test]
    fn other_rows_are_told_by_what_they_are() {
        let workload = OrderEntryWorkload { sql: OrderSql::Client, ..OrderEntryWorkload::default() };
        let with = |seed, warehouses| {
            DatabaseData::Loaded(Population::new(seed, DataScale::new(warehouses, 100).unwrap(), WallTime(5)))
        };
        assert_eq!(other_rows(&workload, &with(1, 800)), None);
        let found = other_rows(&workload, &with(7, 800)).unwrap();
        assert!(
            found.contains("format 1, seed 1, ") && found.contains("found order entry: format 1, seed 7, ")
        );
        assert!(other_rows(&workload, &with(1, 2)).is_some());
        let interrupted = DatabaseData::Unusable("data whose loading was interrupted".to_owned());
        assert_eq!(other_rows(&workload, &interrupted).unwrap(), "found data whose loading was interrupted");
    }

    #[test]
    fn only_databases_that_speak_sql_are_loaded_by_the_run() {
        let contents = |sql| contents(&OrderEntryWorkload { sql, ..OrderEntryWorkload::default() });
        assert!(contents(OrderSql::Request).is_none());
        let [client, stored] = [OrderSql::Client, OrderSql::Stored].map(|sql| contents(sql).unwrap());
        assert_eq!(client.identity, stored.identity);
        assert!(stored.identity.contains("warehouses 800, divisor 100"));
        assert_eq!(stored.bytes, Some(OrderEntryWorkload::default().scale.loaded_bytes()));
    }
}
