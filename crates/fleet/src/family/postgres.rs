//! Order entry on PostgreSQL: transactions in SQL, with a database that this run has started and loaded, or that was
//! there already.
//!
//! Of a server that this run has started, the loaded data are in the golden copy that is restored before each load
//! point. Those of another one are loaded anew.

use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::rc::Rc;
use std::str::FromStr;
use std::sync::atomic::AtomicBool;

use benchmarks::orderentry::OrderTerminals;
use drivers::orders::postgres::{
    PostgresContext, PostgresControl, PostgresData, PostgresDriver, PostgresError, PostgresLoad,
    PostgresPassword, PostgresPlace, PostgresServer, contents_of, load_postgres,
};
use languages::host_and_port;
use model::{CheckMoment, ConsistencyCheck, Family, LoadPoint, OrderEntryWorkload, OrderSql, Plan};
use observe::available_cpus;
use orders::wire::ConditionResult;
use orders::{ConsistencyCondition, DataScale, OrderTable, OrderTotals, Population};
use testbed::RunningSut;
use units::{RealClock, wall};

use super::order_entry::{CheckedRow, ConditionSource, checked_conditions, named, rows, workload};
use super::probe::Probe;
use super::{SetupError, host_of, unless_stopped};
use crate::counts::Counts;
use crate::error::FleetError;
use crate::event::{Event, Observer};
use crate::thread::{ThreadFailure, ThreadWork};
use crate::verify::VerifyError;

/// The notation of a target. A text before `@` may be a password, so the error does not repeat the target.
const EXPECTED: &str = "expected `postgres://USER@HOST:PORT/DATABASE`, or `postgres://USER@/DATABASE?host=/DIRECTORY` \
                        for a socket of this machine";

/// The schemes of targets.
const SCHEMES: [&str; 2] = ["postgres", "postgresql"];

/// The port of targets that name none.
const PORT: u16 = 5432;

/// User and database of servers that are started by a recipe.
const OWN_NAME: &str = "plimsoll";

/// The most connections that load data at once.
const LOADERS_MAX: usize = 4;

/// A PostgreSQL database that was there already, as the user names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PostgresDatabase {
    /// A name or an address; an IPv6 address in brackets. `None` for a socket of this machine.
    pub host: Option<String>,
    /// The directory of the socket, where there is no host.
    pub socket_directory: PathBuf,
    /// The TCP port, which is also part of the name of a socket.
    pub port: u16,
    /// The user.
    pub user: String,
    /// The database.
    pub database: String,
    /// The user's password, which is no part of the target's notation.
    pub password: Option<PostgresPassword>,
}

impl PostgresDatabase {
    /// Returns the host; of a socket of this machine, its loopback address.
    pub(crate) fn host(&self) -> &str {
        self.host.as_deref().unwrap_or("127.0.0.1")
    }
}

/// Reads `postgres://USER@HOST:PORT/DATABASE`, or `postgres://USER@/DATABASE?host=/DIRECTORY`, perhaps with
/// `&port=PORT`.
impl FromStr for PostgresDatabase {
    type Err = String;

    fn from_str(text: &str) -> Result<PostgresDatabase, String> {
        read_target(text).ok_or_else(|| match text.split_once("://").map(|(_, rest)| rest.split_once('@')) {
            Some(Some((user, _))) if user.contains(':') => {
                format!("{EXPECTED}; the password comes from `PGPASSWORD` or the file of `PGPASSFILE`")
            }
            _ => EXPECTED.to_owned(),
        })
    }
}

fn read_target(text: &str) -> Option<PostgresDatabase> {
    let (scheme, rest) = text.split_once("://")?;
    let (authority, path) = rest.split_once('/')?;
    let (user, place) = authority.split_once('@')?;
    let (database, query) = path.split_once('?').unwrap_or((path, ""));
    let is_name =
        |name: &str| !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || "_-.".contains(c));
    let is_scheme = SCHEMES.iter().any(|one| scheme.eq_ignore_ascii_case(one));
    if !is_scheme || !is_name(user) || !is_name(database) {
        return None;
    }
    let (host, socket_directory, port) = match place {
        "" => {
            let (directory, port) = socket(query)?;
            (None, directory, port)
        }
        _ if !query.is_empty() => return None,
        place => {
            let (host, port) = host_and_port(place).ok()?;
            (Some(host), PathBuf::new(), port.unwrap_or(PORT))
        }
    };
    let (user, database) = (user.to_owned(), database.to_owned());
    Some(PostgresDatabase { host, socket_directory, port, user, database, password: None })
}

/// Reads the directory of a socket, perhaps with a port.
fn socket(query: &str) -> Option<(PathBuf, u16)> {
    let (mut directory, mut port) = (None, PORT);
    for part in query.split('&') {
        match part.split_once('=')? {
            ("host", path) if path.starts_with('/') => directory = Some(PathBuf::from(path)),
            ("port", number) => port = number.parse().ok().filter(|port| *port != 0)?,
            _ => return None,
        }
    }
    Some((directory?, port))
}

/// Writes the target without the password.
impl fmt::Display for PostgresDatabase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let PostgresDatabase { host, socket_directory, port, user, database, password: _ } = self;
        match host {
            Some(host) => write!(f, "postgres://{user}@{host}:{port}/{database}"),
            None => {
                let directory = socket_directory.display();
                write!(f, "postgres://{user}@/{database}?host={directory}&port={port}")
            }
        }
    }
}

/// A PostgreSQL database that load is sent to.
#[derive(Debug, Clone)]
pub(crate) struct PostgresTarget {
    /// The server as named, without the password.
    pub(super) name: String,
    /// The host in that name.
    pub(super) host: String,
    /// Its address; of a socket of this machine, that of its port there.
    pub(super) address: SocketAddr,
    server: PostgresServer,
}

impl PostgresTarget {
    /// Makes the target of a server that this run has started.
    pub(super) fn of_sut(sut: &RunningSut) -> PostgresTarget {
        let (address, host) = (sut.addr(), host_of(sut.addr().ip()));
        PostgresTarget {
            name: format!("postgres://{OWN_NAME}@{host}:{}/{OWN_NAME}", address.port()),
            host,
            address,
            server: PostgresServer {
                place: PostgresPlace::Tcp(address),
                user: OWN_NAME.to_owned(),
                password: Some(PostgresPassword::new(sut.password())),
                database: OWN_NAME.to_owned(),
            },
        }
    }

    /// Makes the target of a database that was there already, at the address of its host.
    pub(super) fn of_external(database: &PostgresDatabase, address: SocketAddr) -> PostgresTarget {
        let place = match database.host {
            Some(_) => PostgresPlace::Tcp(address),
            None => {
                let name = format!(".s.PGSQL.{}", database.port);
                PostgresPlace::Unix(database.socket_directory.join(name))
            }
        };
        PostgresTarget {
            name: database.to_string(),
            host: database.host().to_owned(),
            address,
            server: PostgresServer {
                place,
                user: database.user.clone(),
                password: database.password.clone(),
                database: database.database.clone(),
            },
        }
    }

    /// Sets up what all sessions of a thread share.
    fn context<'a>(
        &self,
        plan: &'a Plan,
        clock: RealClock,
    ) -> Result<(&'a OrderEntryWorkload, Rc<PostgresContext>), SetupError> {
        let workload = workload(plan)?;
        let context = PostgresContext::new(workload, &self.server, &plan.source_addresses, clock)?;
        Ok((workload, context))
    }

    fn wrong_data(&self, text: String) -> VerifyError {
        VerifyError::WrongData { target: self.name.clone(), text }
    }

    /// Returns the error of a database that cannot be used.
    fn unusable(&self, error: PostgresError) -> VerifyError {
        match error {
            PostgresError::Unreachable { outcome, text } => {
                let target = self.name.clone();
                VerifyError::Unreachable { family: Family::OrderEntry, target, outcome, text }
            }
            error => self.wrong_data(error.to_string()),
        }
    }

    /// Returns the error of a run whose data cannot be loaded.
    fn not_loaded(&self, error: PostgresError) -> FleetError {
        match error {
            PostgresError::Stopped => VerifyError::Interrupted.into(),
            error => self.unusable(error).into(),
        }
    }
}

/// Returns the population of a workload, loaded now.
fn population(workload: &OrderEntryWorkload) -> Population {
    Population::new(workload.population_seed, workload.scale, wall())
}

/// Returns what is loaded into the data of a server that a run starts; `None` of a server that does so itself.
pub(super) fn contents(workload: &OrderEntryWorkload) -> Option<String> {
    (workload.sql != OrderSql::Request).then(|| contents_of(&population(workload)))
}

/// Loads the data of a plan into a database in which our schema does not exist.
pub(super) fn load(
    plan: &Plan,
    target: &PostgresTarget,
    observer: &mut dyn Observer,
    stop: &AtomicBool,
) -> Result<(), FleetError> {
    let workload = workload(plan).map_err(VerifyError::from)?;
    let n_rows: u64 = OrderTable::ALL.into_iter().map(|table| workload.scale.rows(table)).sum();
    observer.event(Event::Preparing(&format!("loading about {n_rows} rows into PostgreSQL")));
    let n_connections = available_cpus().len().clamp(2, LOADERS_MAX);
    let load = PostgresLoad { server: &target.server, population: population(workload), n_connections };
    load_postgres(&load, stop, |_| {}).map_err(|error| target.not_loaded(error))
}

/// Loads the data of a plan anew into a database that was there already; what other runs have left in our schema goes.
pub(super) fn reload(
    plan: &Plan,
    target: &PostgresTarget,
    clock: RealClock,
    observer: &mut dyn Observer,
    stop: &AtomicBool,
) -> Result<(), FleetError> {
    let (_, context) = target.context(plan, clock).map_err(VerifyError::from)?;
    unless_stopped(stop, async {
        let refused = |error: PostgresError| target.unusable(error);
        let mut control = PostgresControl::open(&context).await.map_err(refused)?;
        if !control.can_make_schema().await.map_err(refused)? {
            let user = &target.server.user;
            return Err(target.wrong_data(format!("`{user}` may not make a schema in the database")));
        }
        has_room(plan, target, &mut control).await?;
        control.drop_schema().await.map_err(refused)
    })?;
    load(plan, target, observer, stop)
}

/// Checks that the server has a connection for each user.
async fn has_room(
    plan: &Plan,
    target: &PostgresTarget,
    control: &mut PostgresControl,
) -> Result<(), VerifyError> {
    let connections = control.connections().await.map_err(|error| target.unusable(error))?;
    let n_users = plan.level_max().ceil() as u64;
    if connections.free < n_users {
        let (most, free) = (connections.most, connections.free);
        let text =
            format!("its `max_connections` of {most} leaves {free} for the {n_users} users of the plan");
        return Err(target.wrong_data(text));
    }
    Ok(())
}

/// Checks that the database has the data of the plan, and makes a transaction of every kind, which is rolled back.
pub(super) fn probe(
    plan: &Plan,
    target: &PostgresTarget,
    clock: RealClock,
    stop: &AtomicBool,
) -> Result<(), VerifyError> {
    let (workload, context) = target.context(plan, clock)?;
    let requests = OrderTerminals::new(workload, plan.seed).one_of_each();
    let time_limit = plan.time_limit;
    let probe = Probe { family: Family::OrderEntry, target: target.name.clone(), time_limit, clock };
    unless_stopped(stop, async {
        let mut control = PostgresControl::open(&context).await.map_err(|error| target.unusable(error))?;
        has_room(plan, target, &mut control).await?;
        let data = control.data().await.map_err(|error| target.unusable(error))?;
        if let Some(other) = other_rows(workload, &data) {
            return Err(target.wrong_data(other));
        }
        drop(control);
        let driver = PostgresDriver::without_changes(Rc::clone(&context));
        probe.perform_all(driver, &requests, |_| probe.too_slow(), |_| None).await
    })
}

/// Returns what shows that data are not those of the workload.
fn other_rows(workload: &OrderEntryWorkload, data: &PostgresData) -> Option<String> {
    let expected = population(workload);
    match data {
        PostgresData::Loaded(found) if contents_of(found) == contents_of(&expected) => None,
        PostgresData::Loaded(found) => {
            Some(format!("expected {}, found {}", contents_of(&expected), contents_of(found)))
        }
        PostgresData::Unusable(found) => Some(format!("found {found}")),
        PostgresData::None => Some("found none".to_owned()),
    }
}

impl ConditionSource for PostgresControl {
    type Error = PostgresError;

    async fn violations(
        &mut self,
        condition: ConsistencyCondition,
        scale: &DataScale,
    ) -> Result<ConditionResult, PostgresError> {
        PostgresControl::violations(self, condition, scale).await
    }

    async fn totals(&mut self) -> Result<OrderTotals, PostgresError> {
        PostgresControl::totals(self).await
    }
}

/// Checks the consistency conditions; after a load point also that the orders are as many as the terminals counted.
pub(super) fn check(
    plan: &Plan,
    target: &PostgresTarget,
    clock: RealClock,
    (point, moment): (LoadPoint, CheckMoment),
    counts: &Counts,
    stop: &AtomicBool,
) -> Result<Vec<ConsistencyCheck>, VerifyError> {
    let (workload, context) = target.context(plan, clock)?;
    let checked = unless_stopped(stop, async {
        Ok(found_conditions(&workload.scale, &context, moment, counts).await)
    })?;
    Ok(rows(point, moment, checked.map_err(|error| error.to_string())))
}

/// Checks the conditions in SQL, with a row about the data before a load point.
async fn found_conditions(
    scale: &DataScale,
    context: &PostgresContext,
    moment: CheckMoment,
    counts: &Counts,
) -> Result<Vec<CheckedRow>, PostgresError> {
    let mut control = PostgresControl::open(context).await?;
    let mut found = Vec::new();
    if moment == CheckMoment::Before {
        found.push(("data restored".to_owned(), true, control.description().await?));
    }
    found.extend(checked_conditions(scale, &mut control, moment, counts).await?);
    Ok(found)
}

/// Runs the users of a load thread.
pub(super) fn run(work: ThreadWork<'_>, target: &PostgresTarget) -> Result<Counts, ThreadFailure> {
    let (workload, context) = target.context(work.plan, work.clock)?;
    let mix = OrderTerminals::new(workload, work.plan.seed);
    work.run_with(mix, |_| PostgresDriver::new(Rc::clone(&context)))?;
    Ok(named(&context.counts()))
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
        ] {
            let database: PostgresDatabase = text.parse().unwrap();
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
        ] {
            let error = text.parse::<PostgresDatabase>().unwrap_err();
            assert!(
                error.starts_with("expected `postgres://") && !error.contains("secret"),
                "{text}: {error}"
            );
        }
        let error = "postgres://me:secret@a/shop".parse::<PostgresDatabase>().unwrap_err();
        assert!(
            error.ends_with("the password comes from `PGPASSWORD` or the file of `PGPASSFILE`"),
            "{error}"
        );
    }

    #[test]
    fn other_rows_are_told_by_what_they_are() {
        let workload = OrderEntryWorkload { sql: OrderSql::Client, ..OrderEntryWorkload::default() };
        let with = |seed, warehouses| {
            PostgresData::Loaded(Population::new(seed, DataScale::new(warehouses, 100).unwrap(), WallTime(5)))
        };
        assert_eq!(other_rows(&workload, &with(1, 800)), None);
        let found = other_rows(&workload, &with(7, 800)).unwrap();
        assert!(
            found.contains("format 1, seed 1, ") && found.contains("found order entry: format 1, seed 7, ")
        );
        assert!(other_rows(&workload, &with(1, 2)).is_some());
        let interrupted = PostgresData::Unusable("data whose loading was interrupted".to_owned());
        assert_eq!(other_rows(&workload, &interrupted).unwrap(), "found data whose loading was interrupted");
    }

    #[test]
    fn only_databases_that_speak_sql_are_loaded_by_the_run() {
        let contents = |sql| contents(&OrderEntryWorkload { sql, ..OrderEntryWorkload::default() });
        assert_eq!(contents(OrderSql::Request), None);
        assert_eq!(contents(OrderSql::Client), contents(OrderSql::Stored));
        assert!(contents(OrderSql::Stored).unwrap().contains("warehouses 800, divisor 100"));
    }
}
