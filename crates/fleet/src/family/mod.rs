//! The protocol families: the only place where benchmark, driver and target meet.
//!
//! A family is a file here, with its [`FamilyProfile`](profile::FamilyProfile) and its
//! [`LoadTarget`](target::LoadTarget). The function [`profile()`] finds the former; a variant of [`ExternalServer`] leads
//! to the latter where the server was there already.

mod accounts;
mod app;
mod database;
mod database_monitor;
mod database_url;
mod deferred;
#[cfg(feature = "echo")]
mod echo;
mod embedded;
mod export;
mod file;
mod file_cache;
mod mail;
mod order_entry;
mod probe;
mod profile;
mod remote_folder;
mod room;
mod server_form;
mod share;
mod sql;
mod target;
pub(crate) mod web;

use std::error::Error;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use drivers::web::Target;
use drivers::{TargetPolicy, Trust};
use model::Workload;
use units::RealClock;

pub use accounts::{AccountList, AccountListError};
pub use app::ApplicationServer;
pub use database::ExternalDatabase;
pub use database_url::{DatabaseUrlError, UrlEncryption};
pub use export::FileExport;
pub use file::FileDirectory;
pub use mail::MailHost;
pub use order_entry::OrderDatabase;
pub(crate) use profile::{ServerStart, profile};
pub use room::room_in_flight;
pub(crate) use server_form::ServerForm;
pub use share::FileShare;
pub(crate) use target::ResolvedTarget;
pub(crate) use web::WebTarget;

use app::AppTarget;
use database::DatabaseTarget;
use file::FileTarget;
use mail::MailServerTarget;
use order_entry::OrderTarget;
use remote_folder::RemoteTarget;
use sql::SqlTarget;
use target::{HostTarget, UnresolvedTarget};

use crate::error::FleetError;
use crate::setup_error::SetupError;
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
    /// A directory of this machine.
    Directory(FileDirectory),
    /// A share of a file server.
    Share(FileShare),
    /// An export of a file server.
    Export(FileExport),
    /// A server of order-entry data.
    OrderEntry(OrderDatabase),
    /// A database that speaks SQL, for order entry.
    Database(ExternalDatabase),
    /// A database with statements of the user's own.
    Sql(ExternalDatabase),
    /// A mail server.
    Mail(MailHost),
    /// An echo server.
    #[cfg(feature = "echo")]
    Echo(echo::EchoServer),
}

impl ExternalServer {
    /// Returns the host, by name or address, and the port that connections go to; of a socket of this machine, its loopback
    /// address; `None` of what has no address.
    pub fn host_and_port(&self) -> Option<(&str, u16)> {
        match self.unresolved() {
            UnresolvedTarget::AtHost(HostTarget { host, port, .. }) => Some((host, port)),
            UnresolvedTarget::Here(_) => None,
        }
    }

    /// Returns the host, and how the user can choose one of its addresses; `None` of what has no address.
    pub(crate) fn address_choice(&self) -> Option<(&str, &'static str)> {
        match self.unresolved() {
            UnresolvedTarget::AtHost(HostTarget { host, address_choice, .. }) => Some((host, address_choice)),
            UnresolvedTarget::Here(_) => None,
        }
    }

    /// Returns the target that the server is at any of its addresses.
    fn unresolved(&self) -> UnresolvedTarget<'_> {
        match self {
            ExternalServer::Web(target, trust) => {
                let (host, port) = target.connect_host_and_port();
                let at = move |address, secrets| WebTarget {
                    target: target.clone(),
                    address,
                    trust: trust.clone(),
                    secrets,
                };
                let address_choice = "`--resolve HOST:PORT:ADDRESS` chooses one";
                HostTarget { address_choice, ..HostTarget::new(host, port, at) }.into()
            }
            ExternalServer::App(server) => {
                let at = move |address, _| AppTarget { address, server: server.clone() };
                HostTarget::new(&server.host, server.port, at).into()
            }
            ExternalServer::Directory(directory) => {
                UnresolvedTarget::Here(Box::new(|| Ok(ResolvedTarget::of(FileTarget::open(directory)?))))
            }
            ExternalServer::Share(share) => {
                let at = move |address, _| RemoteTarget::there(share.clone(), address);
                HostTarget::new(&share.host, share.port, at).into()
            }
            ExternalServer::Export(export) => {
                let at = move |address, _| RemoteTarget::there(export.clone(), address);
                HostTarget::new(&export.host, export.port(), at).into()
            }
            ExternalServer::OrderEntry(server) => {
                let at = move |address, _| OrderTarget { address, server: server.clone() };
                HostTarget::new(&server.host, server.port, at).into()
            }
            ExternalServer::Database(database) => {
                let at = move |address, _| DatabaseTarget::of_external(database, address);
                HostTarget::new(database.host(), database.port, at).into()
            }
            ExternalServer::Sql(database) => {
                let at = move |address, secrets| SqlTarget {
                    database: DatabaseTarget::of_external(database, address),
                    secrets,
                };
                HostTarget::new(database.host(), database.port, at).into()
            }
            ExternalServer::Mail(server) => {
                let at = move |address, _| MailServerTarget::of_external(server, address);
                HostTarget::new(&server.host, server.port, at).into()
            }
            #[cfg(feature = "echo")]
            ExternalServer::Echo(server) => {
                let at = move |address, _| echo::EchoTarget { address, server: server.clone() };
                HostTarget::new(&server.host, server.port, at).into()
            }
        }
    }
}

/// Returns the variant of a server that a workload is for, as recipes name it; `None` of servers without one.
pub fn variant(workload: &Workload) -> Option<&'static str> {
    (profile(workload.family()).variant)(workload)
}

/// A text that is no target of a family, with the form that is expected.
#[derive(Debug, thiserror::Error)]
pub enum TargetTextError {
    /// It has another form.
    #[error("{0}")]
    Form(&'static str),
    /// Host or port cannot be read.
    #[error("{expected}; {error}")]
    Place {
        /// The form.
        expected: &'static str,
        /// The fault of the place.
        error: Box<dyn Error + Send + Sync>,
    },
}

/// Reads what follows the scheme of a target: a host, perhaps with a port, and no path. `expected` begins the error.
fn host_and_port(text: &str, expected: &'static str) -> Result<(String, Option<u16>), TargetTextError> {
    languages::host_and_port(text).map_err(|error| match error {
        Some(error) => TargetTextError::Place { expected, error: error.into() },
        None => TargetTextError::Form(expected),
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
