//! The protocol families: the only place where benchmark, driver and target meet.
//!
//! A family is a file here, a variant of [`ExternalServer`] and of [`ResolvedTarget`], and an arm in each `match` on
//! them.

mod app;
mod database;
mod database_monitor;
mod database_url;
mod deferred;
#[cfg(feature = "echo")]
mod echo;
mod embedded;
mod order_entry;
mod probe;
mod room;
mod sql;
pub(crate) mod web;

use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use drivers::app::AppSetupError;
use drivers::database::DatabaseSetupError;
use drivers::sql::SqlSetupError;
use drivers::web::{Target, WebSetupError};
use drivers::{SourceAddressError, TargetPolicy, TargetPolicyError, Trust};
use model::{CheckMoment, Family, Plan, Secrets, Workload};
use observe::ResourceMonitor;
use orderstore::StoreError;
use testbed::{DataContents, RunningSut, ServerFamily};
use thiserror::Error;
use units::RealClock;

pub(crate) use app::AppTarget;
pub use app::ApplicationServer;
use database::DatabaseTarget;
pub use database::ExternalDatabase;
use database_monitor::{DatabaseMonitor, EmbeddedMonitor};
pub use database_url::{DatabaseUrlError, UrlEncryption};
#[cfg(feature = "echo")]
pub use echo::EchoServer;
#[cfg(feature = "echo")]
pub(crate) use echo::EchoTarget;
pub(crate) use embedded::EmbeddedTarget;
pub use order_entry::OrderDatabase;
pub(crate) use order_entry::OrderTarget;
pub use room::room_in_flight;
pub(crate) use sql::SqlTarget;
pub(crate) use web::WebTarget;

use crate::checked::CheckedRow;
use crate::counts::Counts;
use crate::disk_use::DiskUse;
use crate::error::FleetError;
use crate::event::Observer;
use crate::order::StepOrder;
use crate::thread::{ThreadFailure, ThreadWork};
use crate::verify::VerifyError;
use crate::wait::{self, first_that_answers};

/// Interval at which a wait for a response checks whether it is interrupted.
const STOP_STEP: Duration = Duration::from_millis(100);

/// A server that was there already, as the user names it.
#[derive(Debug, Clone)]
pub enum ExternalServer {
    /// A web server, and the certificates that are accepted from it over TLS.
    Web(Target, Trust),
    /// An application server.
    App(ApplicationServer),
    /// A server of order-entry data.
    OrderEntry(OrderDatabase),
    /// A database that speaks SQL, for order entry.
    Database(ExternalDatabase),
    /// A database with statements of the user's own.
    Sql(ExternalDatabase),
    /// An echo server.
    #[cfg(feature = "echo")]
    Echo(EchoServer),
}

impl ExternalServer {
    /// Returns the host, by name or address, and the port that connections go to; of a socket of this machine, its loopback
    /// address.
    pub fn host_and_port(&self) -> (&str, u16) {
        match self {
            ExternalServer::Web(target, _) => target.connect_host_and_port(),
            ExternalServer::App(server) => (&server.host, server.port),
            ExternalServer::OrderEntry(server) => (&server.host, server.port),
            ExternalServer::Database(database) | ExternalServer::Sql(database) => {
                (database.host(), database.port)
            }
            #[cfg(feature = "echo")]
            ExternalServer::Echo(server) => (&server.host, server.port),
        }
    }
}

/// A server that load is sent to, at an address that the policy allows; or what stands for one in this process.
#[derive(Debug, Clone)]
pub(crate) enum ResolvedTarget {
    Web(WebTarget),
    App(AppTarget),
    OrderEntry(OrderTarget),
    Database(DatabaseTarget),
    Sql(SqlTarget),
    Embedded(EmbeddedTarget),
    #[cfg(feature = "echo")]
    Echo(EchoTarget),
}

/// A reason why the load side cannot be set up for a workload.
#[derive(Debug, Error)]
pub enum SetupError {
    /// The requests of a web workload cannot be made.
    #[error(transparent)]
    Web(#[from] WebSetupError),
    /// The transactions with an application server cannot be made.
    #[error(transparent)]
    App(#[from] AppSetupError),
    /// Connections cannot be made from a source address.
    #[error(transparent)]
    Source(#[from] SourceAddressError),
    /// Connections to a database cannot be made.
    #[error(transparent)]
    Database(#[from] DatabaseSetupError),
    /// The statements of a user cannot be sent.
    #[error(transparent)]
    Sql(#[from] SqlSetupError),
    /// Those of this process to a file of data cannot.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The server is of another family than the workload.
    #[error("the workload belongs to the family `{0}`, but the server does not")]
    OtherFamily(Family),
}

/// Returns the variant of a server that a workload is for, as recipes name it; `None` of servers without one.
pub fn variant(workload: &Workload) -> Option<&'static str> {
    match workload {
        Workload::Web(workload) => Some(web::variant(workload.protocol)),
        Workload::App(workload) => app::variant(workload.protocol),
        Workload::OrderEntry(workload) => workload.is_encrypted.then_some("tls"),
        // No recipe has the user's data.
        Workload::Sql(_) => None,
        #[cfg(feature = "echo")]
        Workload::Echo(_) => None,
    }
}

/// Returns the order of a load point that a family states. For the web it must not change, or the numbers of its
/// benchmarks would.
pub(crate) fn order(family: Family) -> &'static StepOrder {
    match family {
        Family::Web => &StepOrder::STATELESS,
        // Files are written.
        Family::App => &StepOrder::STATEFUL,
        // Transactions change the data.
        Family::OrderEntry => &StepOrder::STATEFUL,
        // Nothing is put into its first state, whatever statements change.
        Family::Sql => &StepOrder::STATELESS,
        // So that real runs of a test have this order.
        #[cfg(feature = "echo")]
        Family::Echo => &StepOrder::STATEFUL,
    }
}

/// Returns the longest that a server may take until it answers: some load their data before.
pub(crate) fn ready_max(family: Family) -> Duration {
    match family {
        Family::OrderEntry => Duration::from_secs(600),
        _ => Duration::from_secs(20),
    }
}

/// Returns the things of which one of every kind is checked before load begins, in the words of a family.
pub(crate) fn checked_things(family: Family) -> &'static str {
    match family {
        Family::Web => "objects",
        Family::App | Family::OrderEntry | Family::Sql => "transactions",
        #[cfg(feature = "echo")]
        Family::Echo => "messages",
    }
}

/// Returns the directory whose disk a server reads and writes: that of the files it serves, or that of its own data.
pub(crate) fn directory_in_use<'a>(family: Family, files: &'a Path, data: &'a Path) -> &'a Path {
    match family {
        Family::Web => files,
        _ => data,
    }
}

/// Returns the files that users have on a server that a run starts, below a directory; `None` where operations use none.
pub(crate) fn disk_use(plan: &Plan, directory: &Path) -> Option<DiskUse> {
    match &plan.workload {
        Workload::App(workload) => app::disk_use(workload, plan.level_max(), directory),
        _ => None,
    }
}

/// Checks that the disk below a directory has room for the data that a server makes before it answers.
///
/// # Errors
/// It has not.
pub(crate) fn check_room_for_data(plan: &Plan, directory: &Path) -> Result<(), FleetError> {
    match &plan.workload {
        Workload::OrderEntry(workload) => order_entry::check_room(workload, directory),
        _ => Ok(()),
    }
}

/// Returns what a run loads into the data of a server that it starts; `None` where the server makes its data itself, or
/// has none.
pub(crate) fn contents(workload: &Workload) -> Option<DataContents> {
    match workload {
        Workload::OrderEntry(workload) => database::contents(workload),
        _ => None,
    }
}

impl ResolvedTarget {
    /// Resolves a server that was there already.
    ///
    /// # Errors
    /// Its name leads nowhere or to an address that is not allowed, or `stop` is set.
    pub(crate) fn resolve(
        server: &ExternalServer,
        secrets: Secrets,
        clock: RealClock,
        stop: &AtomicBool,
    ) -> Result<ResolvedTarget, FleetError> {
        let (host, port) = server.host_and_port();
        let address = resolve(host, port, clock, stop)?;
        Ok(match server {
            ExternalServer::Web(target, trust) => ResolvedTarget::Web(WebTarget {
                target: target.clone(),
                address,
                trust: trust.clone(),
                secrets,
            }),
            ExternalServer::App(server) => ResolvedTarget::App(AppTarget { address, server: server.clone() }),
            ExternalServer::OrderEntry(server) => {
                ResolvedTarget::OrderEntry(OrderTarget { address, server: server.clone() })
            }
            ExternalServer::Database(database) => {
                ResolvedTarget::Database(DatabaseTarget::of_external(database, address))
            }
            ExternalServer::Sql(database) => {
                let database = DatabaseTarget::of_external(database, address);
                ResolvedTarget::Sql(SqlTarget { database, secrets })
            }
            #[cfg(feature = "echo")]
            ExternalServer::Echo(server) => {
                ResolvedTarget::Echo(EchoTarget { address, server: server.clone() })
            }
        })
    }

    /// Returns the server that this run has started.
    ///
    /// # Errors
    /// Its address is not allowed.
    pub(crate) fn of_sut(sut: &RunningSut, secrets: Secrets) -> Result<ResolvedTarget, TargetPolicyError> {
        let address = sut.addr();
        TargetPolicy.resolve(&host_of(address.ip()), address.port())?;
        Ok(match sut.family() {
            ServerFamily::App => ResolvedTarget::App(AppTarget::of_address(address, sut.app_protocol())),
            ServerFamily::OrderEntry => match sut.database() {
                Some(product) => ResolvedTarget::Database(DatabaseTarget::of_sut(sut, product)),
                None => ResolvedTarget::OrderEntry(OrderTarget::of_address(address)),
            },
            ServerFamily::Web | ServerFamily::File | ServerFamily::Mail => {
                let target: Target = sut.url().parse().expect("our own URL");
                // Without TLS it has no certificate, and none is asked for.
                let trust =
                    sut.certificate_der().map_or(Trust::Any, |der| Trust::Certificate(der.to_owned()));
                ResolvedTarget::Web(WebTarget { target, address, trust, secrets })
            }
        })
    }

    /// Returns the address of the server; `None` of a Unix socket, and of what is in this process.
    pub(crate) fn address(&self) -> Option<SocketAddr> {
        Some(match self {
            ResolvedTarget::Web(web) => return web.target.socket().is_none().then_some(web.address),
            ResolvedTarget::App(app) => app.address,
            ResolvedTarget::OrderEntry(orders) => orders.address,
            ResolvedTarget::Database(database) => database.address,
            ResolvedTarget::Sql(sql) => sql.database.address,
            ResolvedTarget::Embedded(_) => return None,
            #[cfg(feature = "echo")]
            ResolvedTarget::Echo(echo) => echo.address,
        })
    }

    /// Returns the path of the Unix socket that a web server listens on, if load goes there.
    pub(crate) fn socket(&self) -> Option<&Path> {
        match self {
            ResolvedTarget::Web(web) => web.target.socket(),
            _ => None,
        }
    }

    /// Returns whether a client certificate is shown to the server where it asks for one.
    pub(crate) fn shows_identity(&self) -> bool {
        matches!(self, ResolvedTarget::Web(web) if web.target.access.identity.is_some())
    }

    /// Returns the server as it was named.
    pub(crate) fn name(&self) -> String {
        match self {
            ResolvedTarget::Web(web) => web.target.to_string(),
            ResolvedTarget::App(app) => app.server.to_string(),
            ResolvedTarget::OrderEntry(orders) => orders.server.to_string(),
            ResolvedTarget::Database(database) => database.name.clone(),
            ResolvedTarget::Sql(sql) => sql.database.name.clone(),
            ResolvedTarget::Embedded(_) => embedded::NAME.to_owned(),
            #[cfg(feature = "echo")]
            ResolvedTarget::Echo(echo) => echo.server.to_string(),
        }
    }

    /// Returns the host in that name; `None` where there is none.
    pub(crate) fn host(&self) -> Option<&str> {
        Some(match self {
            ResolvedTarget::Web(web) => &web.target.host,
            ResolvedTarget::App(app) => &app.server.host,
            ResolvedTarget::OrderEntry(orders) => &orders.server.host,
            ResolvedTarget::Database(database) => &database.host,
            ResolvedTarget::Sql(sql) => &sql.database.host,
            ResolvedTarget::Embedded(_) => return None,
            #[cfg(feature = "echo")]
            ResolvedTarget::Echo(echo) => &echo.server.host,
        })
    }

    /// Returns the host that connections to a web server go to, where it is not that in its name.
    pub(crate) fn connect_host(&self) -> Option<&str> {
        match self {
            ResolvedTarget::Web(web) => {
                Some(web.target.connect_host_and_port().0).filter(|host| *host != web.target.host)
            }
            _ => None,
        }
    }

    /// Returns whether connections to the server are encrypted.
    pub(crate) fn is_encrypted(&self) -> bool {
        match self {
            ResolvedTarget::Web(web) => web.target.secure,
            ResolvedTarget::Database(database) => database.is_encrypted(),
            ResolvedTarget::Sql(sql) => sql.database.is_encrypted(),
            ResolvedTarget::App(_) | ResolvedTarget::OrderEntry(_) | ResolvedTarget::Embedded(_) => false,
            #[cfg(feature = "echo")]
            ResolvedTarget::Echo(_) => false,
        }
    }

    /// Returns the values of secrets, which are moved to the target that follows.
    pub(crate) fn take_secrets(&mut self) -> Secrets {
        match self {
            ResolvedTarget::Web(web) => std::mem::take(&mut web.secrets),
            ResolvedTarget::Sql(sql) => std::mem::take(&mut sql.secrets),
            ResolvedTarget::App(_)
            | ResolvedTarget::OrderEntry(_)
            | ResolvedTarget::Database(_)
            | ResolvedTarget::Embedded(_) => Secrets::default(),
            #[cfg(feature = "echo")]
            ResolvedTarget::Echo(_) => Secrets::default(),
        }
    }

    /// Loads the data of a plan into a server that was started without.
    ///
    /// # Errors
    /// The server refuses, or `stop` is set.
    pub(crate) fn load(
        &self,
        plan: &Plan,
        observer: &mut dyn Observer,
        stop: &AtomicBool,
    ) -> Result<(), FleetError> {
        match self {
            ResolvedTarget::Database(target) => database::load(plan, target, observer, stop),
            _ => Ok(()),
        }
    }

    /// Puts the data of a server that was there already into their first state. Returns what is to be said of it;
    /// `None` where there is nothing to be done.
    ///
    /// # Errors
    /// The server refuses, or `stop` is set.
    pub(crate) fn reload(
        &self,
        plan: &Plan,
        clock: RealClock,
        observer: &mut dyn Observer,
        stop: &AtomicBool,
    ) -> Result<Option<&'static str>, FleetError> {
        match self {
            ResolvedTarget::Database(target) => {
                database::reload(plan, target, clock, observer, stop).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// Checks operations of every kind before load begins: a server that answers otherwise need not be loaded.
    ///
    /// # Errors
    /// An answer is wrong, or `stop` is set before all of them were checked.
    pub(crate) fn probe(&self, plan: &Plan, clock: RealClock, stop: &AtomicBool) -> Result<(), VerifyError> {
        match self {
            ResolvedTarget::Web(target) => web::probe(plan, target, clock, stop),
            ResolvedTarget::App(target) => app::probe(plan, target, clock, stop),
            ResolvedTarget::OrderEntry(target) => order_entry::probe(plan, target, clock, stop),
            ResolvedTarget::Database(target) => database::probe(plan, target, clock, stop),
            ResolvedTarget::Sql(target) => sql::probe(plan, target, clock, stop),
            ResolvedTarget::Embedded(target) => embedded::probe(plan, target, clock, stop),
            #[cfg(feature = "echo")]
            ResolvedTarget::Echo(target) => echo::probe(plan, target, clock, stop),
        }
    }

    /// Checks the conditions that the benchmark sets on the server before or after a load point; returns what was found.
    /// `counts` are those of the load point after it.
    ///
    /// # Errors
    /// `stop` is set before all of them were checked, or the system refused a socket.
    pub(crate) fn check(
        &self,
        plan: &Plan,
        clock: RealClock,
        moment: CheckMoment,
        counts: &Counts,
        stop: &AtomicBool,
    ) -> Result<Vec<CheckedRow>, VerifyError> {
        match self {
            // Every operation checks all that a web server can be asked.
            ResolvedTarget::Web(_) => Ok(Vec::new()),
            // Every read checks the number of its block.
            ResolvedTarget::App(_) => Ok(Vec::new()),
            ResolvedTarget::OrderEntry(target) => {
                order_entry::check(plan, target, clock, moment, counts, stop)
            }
            ResolvedTarget::Database(target) => database::check(plan, target, clock, moment, counts, stop),
            // What its data must be, only the user knows.
            ResolvedTarget::Sql(_) => Ok(Vec::new()),
            ResolvedTarget::Embedded(target) => embedded::check(plan, target, moment, counts, stop),
            #[cfg(feature = "echo")]
            ResolvedTarget::Echo(target) => echo::check(plan, target, clock, stop),
        }
    }

    /// Returns a monitor of what the server says of itself; `None` of one that does not, or that its recipe has a page for.
    pub(crate) fn monitor(&self) -> Option<Box<dyn ResourceMonitor>> {
        match self {
            ResolvedTarget::Database(target) => Some(Box::new(DatabaseMonitor::start(target))),
            ResolvedTarget::Sql(target) => Some(Box::new(DatabaseMonitor::start(&target.database))),
            ResolvedTarget::Embedded(target) => Some(Box::new(EmbeddedMonitor(target.counts()))),
            _ => None,
        }
    }

    /// Opens the sessions of a load thread's users, waits for the start, and has them perform operations until the load
    /// point is over.
    ///
    /// # Errors
    /// If the thread cannot be set up.
    pub(crate) fn run(&self, work: ThreadWork<'_>) -> Result<Counts, ThreadFailure> {
        match self {
            ResolvedTarget::Web(target) => web::run(work, target),
            ResolvedTarget::App(target) => app::run(work, target),
            ResolvedTarget::OrderEntry(target) => order_entry::run(work, target),
            ResolvedTarget::Database(target) => database::run(work, target),
            ResolvedTarget::Sql(target) => sql::run(work, target),
            ResolvedTarget::Embedded(target) => embedded::run(work, target),
            #[cfg(feature = "echo")]
            ResolvedTarget::Echo(target) => echo::run(work, target),
        }
    }
}

/// Reads what follows the scheme of a target: a host, perhaps with a port, and no path. `expected` begins the error.
fn host_and_port(text: &str, expected: &str) -> Result<(String, Option<u16>), String> {
    languages::host_and_port(text).map_err(|error| match error {
        Some(error) => format!("{expected}; {error}"),
        None => expected.to_owned(),
    })
}

/// Writes an address as targets have it.
fn host_of(address: IpAddr) -> String {
    match address {
        IpAddr::V4(address) => address.to_string(),
        IpAddr::V6(address) => format!("[{address}]"),
    }
}

/// Resolves a host to the address to use.
pub(crate) fn resolve(
    host: &str,
    port: u16,
    clock: RealClock,
    stop: &AtomicBool,
) -> Result<SocketAddr, FleetError> {
    let name = host.to_owned();
    let addresses = wait::unless_stopped(stop, move || TargetPolicy.resolve(&name, port))
        .ok_or(VerifyError::Interrupted)??;
    Ok(first_that_answers(&addresses, clock, stop).ok_or(VerifyError::Interrupted)?)
}

/// Runs a probe on this thread until it is done or `stop` is set.
fn unless_stopped<T>(
    stop: &AtomicBool,
    probe: impl Future<Output = Result<T, VerifyError>>,
) -> Result<T, VerifyError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .enable_time()
        .build_local(tokio::runtime::LocalOptions::default())?;
    // Boxed, so that the runtime is compiled once and not for every probe.
    let work: Pin<Box<dyn Future<Output = Result<T, VerifyError>> + '_>> = Box::pin(async {
        tokio::select! {
            result = probe => result,
            () = stopped(stop) => Err(VerifyError::Interrupted),
        }
    });
    runtime.block_on(work)
}

async fn stopped(stop: &AtomicBool) {
    while !stop.load(Ordering::Relaxed) {
        tokio::time::sleep(STOP_STEP).await;
    }
}
