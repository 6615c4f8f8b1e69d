//! Order entry in a database that speaks SQL, which this run has started and loaded, or which was there already.
//!
//! Of a server that this run has started, the loaded data are in the golden copy that is restored before each load
//! point. Those of another one are loaded anew.

use std::fmt;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
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
use model::{CheckMoment, DataReset, DatabaseProduct, Family, OrderEntryWorkload, OrderSql, Plan};
use observe::{ResourceMonitor, available_cpus};
use orders::wire::ConditionResult;
use orders::{ConsistencyCondition, DataScale, OrderTable, OrderTotals, Population};
use testbed::{DataContents, RunningSut};
use units::{RealClock, wall};

use super::database_monitor::DatabaseMonitor;
use super::database_url::{self, DatabaseUrlError, UrlEncryption, encoded};
use super::deferred;
use super::order_entry::{
    ConditionSource, OrdersBefore, checked, checked_conditions, named, probe_of, workload,
};
use super::room::check_room;
use super::target::LoadTarget;
use super::{ServerForm, SetupError, host_of, unless_stopped};
use crate::checked::CheckedRow;
use crate::error::FleetError;
use crate::event::{Event, Observer};
use crate::family_counts::FamilyCounts;
use crate::thread::{ThreadFailure, ThreadWork};
use crate::verify::VerifyError;

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
    /// The encryption that the target asks for.
    pub encryption: UrlEncryption,
    /// The user's password, which is no part of the target's notation.
    pub password: Option<DatabasePassword>,
    /// The certificates that are accepted; `None` without encryption.
    pub trust: Option<Trust>,
}

impl ExternalDatabase {
    /// Returns the product that targets of a scheme name.
    pub fn product_of_scheme(scheme: &str) -> Option<DatabaseProduct> {
        database_url::product_of_scheme(scheme)
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

/// Reads `postgres://USER@HOST:PORT/DATABASE`, `mysql://USER@HOST:PORT/DATABASE`, and their other forms.
impl FromStr for ExternalDatabase {
    type Err = DatabaseUrlError;

    fn from_str(text: &str) -> Result<ExternalDatabase, DatabaseUrlError> {
        database_url::read(text)
    }
}

/// Writes the target without the password.
impl fmt::Display for ExternalDatabase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ExternalDatabase { product, host, socket, port, .. } = self;
        let socket = socket.to_string_lossy();
        let [socket, user, database] = [&*socket, &*self.user, &*self.database].map(encoded);
        match (product, host) {
            (DatabaseProduct::PostgreSql, Some(host)) => {
                write!(f, "postgres://{user}@{host}:{port}/{database}")
            }
            (DatabaseProduct::PostgreSql, None) => {
                write!(f, "postgres://{user}@/{database}?host={socket}&port={port}")
            }
            (DatabaseProduct::MariaDb, Some(host)) if self.database.is_empty() => {
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
    /// It as the user names it, or as it would be named.
    pub(super) named: ExternalDatabase,
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
            encryption: UrlEncryption::Unsaid,
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
            named: database.clone(),
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
            DatabaseError::NoSession { problem, .. } => {
                VerifyError::NoSession { target: self.name.clone(), problem, text: error.to_string() }
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

impl LoadTarget for DatabaseTarget {
    fn address(&self) -> Option<SocketAddr> {
        self.socket().is_none().then_some(self.address)
    }

    fn name(&self) -> String {
        self.name.clone()
    }

    fn host(&self) -> Option<&str> {
        Some(&self.host)
    }

    fn socket(&self) -> Option<&Path> {
        match &self.server.place {
            DatabasePlace::Tcp(_) => None,
            DatabasePlace::Unix(path) => Some(path),
        }
    }

    fn is_encrypted(&self) -> bool {
        self.server.encryption.is_some()
    }

    /// Loads the data of a plan into a database in which our schema does not exist.
    fn load(&self, plan: &Plan, observer: &mut dyn Observer, stop: &AtomicBool) -> Result<(), FleetError> {
        let workload = workload(plan).map_err(VerifyError::from)?;
        let n_rows: u64 = OrderTable::ALL.into_iter().map(|table| workload.scale.rows(table)).sum();
        observer
            .event(Event::Preparing(&format!("loading about {n_rows} rows into {}", self.server.product)));
        let n_connections = available_cpus().len().clamp(2, LOADERS_MAX);
        let load = DatabaseLoad { server: &self.server, population: population(workload), n_connections };
        let method = load_database(&load, stop, |done| observer.event(Event::Rows { done, total: n_rows }))
            .map_err(|error| self.not_loaded(error))?;
        if method == LoadMethod::Insert {
            observer.event(Event::Preparing(
                "the rows were loaded by `INSERT` statements, because the server forbids `LOAD DATA LOCAL`",
            ));
        }
        Ok(())
    }

    /// Loads the data of a plan anew into a database that was there already, unless they are not to be reset; what other
    /// runs have left in our schema goes then.
    fn reload(
        &self,
        plan: &Plan,
        clock: RealClock,
        observer: &mut dyn Observer,
        stop: &AtomicBool,
    ) -> Result<Option<String>, FleetError> {
        let (workload, context) = self.context(plan, clock).map_err(VerifyError::from)?;
        if workload.reset == DataReset::Never {
            return Ok(Some(
                "the data are as they were left; the server was not restarted, and its caches are as they were"
                    .to_owned(),
            ));
        }
        unless_stopped(stop, async {
            let refused = |error: DatabaseError| self.unusable(error);
            let mut control = DatabaseControl::open(&context).await.map_err(refused)?;
            if !control.can_make_schema().await.map_err(refused)? {
                let user = &self.server.user;
                return Err(self.wrong_data(format!("`{user}` may not make a schema in the database")));
            }
            has_room(plan, self, &mut control).await?;
            control.drop_schema().await.map_err(refused)
        })?;
        self.load(plan, observer, stop)?;
        Ok(Some(
            "the data were loaded anew; the server was not restarted, and its caches are as the loading left them"
                .to_owned(),
        ))
    }

    fn n_free(&self, plan: &Plan, clock: RealClock, stop: &AtomicBool) -> Option<u64> {
        let (_, context) = self.context(plan, clock).ok()?;
        let asked = unless_stopped(stop, async {
            let mut control = DatabaseControl::open(&context).await.map_err(|error| self.unusable(error))?;
            control.connections().await.map_err(|error| self.unusable(error))
        });
        asked.ok()?.free.checked_sub(n_background(plan).ok()?)
    }

    fn external(&self) -> Option<ServerForm> {
        Some(ServerForm::database(&self.named))
    }

    /// Checks that the database has the data of the plan, and makes a transaction of every kind, which is rolled back.
    fn probe(&self, plan: &Plan, clock: RealClock, stop: &AtomicBool) -> Result<(), VerifyError> {
        let (workload, context) = self.context(plan, clock)?;
        let (probe, requests) = probe_of(plan, workload, self.name.clone(), clock);
        unless_stopped(stop, async {
            let mut control = DatabaseControl::open(&context).await.map_err(|error| self.unusable(error))?;
            has_room(plan, self, &mut control).await?;
            let data = control.data().await.map_err(|error| self.unusable(error))?;
            if let Some(other) = other_rows(workload, &data) {
                return Err(self.wrong_data(other));
            }
            drop(control);
            let driver = DatabaseDriver::without_changes(&context);
            probe.perform_all(driver, &requests, |_| probe.too_slow(), |_| None).await
        })
    }

    /// Checks the consistency conditions; after a load point also that the orders are as many as the terminals counted.
    fn check(
        &self,
        plan: &Plan,
        clock: RealClock,
        moment: CheckMoment,
        counts: &FamilyCounts,
        stop: &AtomicBool,
    ) -> Result<Vec<CheckedRow>, VerifyError> {
        let (workload, context) = self.context(plan, clock)?;
        let before = self.orders_before(workload);
        checked(found_conditions(workload, &context, (moment, counts), &before), stop)
    }

    fn monitor(&self) -> Option<Box<dyn ResourceMonitor>> {
        Some(Box::new(DatabaseMonitor::start(self)))
    }

    fn run(&self, work: ThreadWork<'_>) -> Result<FamilyCounts, ThreadFailure> {
        let (workload, context) = self.context(work.plan, work.clock)?;
        let plan = work.plan;
        let clock = work.clock;
        let terminal = |_| DatabaseDriver::new(&context);
        let mut counts = deferred::run(work, workload, terminal, |background| {
            let (_, context) = self.context(plan, clock)?;
            let deferred = background.perform(|| DatabaseDriver::new(&context))?;
            Ok((deferred, named(&context.counts())))
        })?;
        counts.add(&named(&context.counts()));
        Ok(counts)
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
    Ok(if workload(plan)?.defers_deliveries() {
        BACKGROUND_SESSIONS as u64 * u64::from(plan.load_threads())
    } else {
        0
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
            "found none, and `reset=none` does not load any: run once without it, with the same warehouses"
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

/// Checks the conditions in SQL, with a row about the data before a load point.
async fn found_conditions(
    workload: &OrderEntryWorkload,
    context: &DatabaseContext,
    (moment, counts): (CheckMoment, &FamilyCounts),
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

#[cfg(test)]
mod tests {
    use units::WallTime;

    use super::*;

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
