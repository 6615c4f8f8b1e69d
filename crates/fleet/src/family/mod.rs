//! The protocol families: the only place where benchmark, driver and target meet.
//!
//! A family is a file here, a variant of [`ExternalServer`] and of [`ResolvedTarget`], and an arm in each `match` on
//! them.

#[cfg(feature = "echo")]
mod echo;
mod web;

use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use drivers::web::{Target, Trust, WebSetupError};
use drivers::{EndpointError, TargetPolicy, TargetPolicyError};
use engine::{Driver, PointSetup, run_point_on_this_thread};
use model::{Family, Mix, Plan, Secrets};
use testbed::RunningSut;
use thiserror::Error;
use units::RealClock;

#[cfg(feature = "echo")]
pub use echo::EchoServer;
#[cfg(feature = "echo")]
pub(crate) use echo::EchoTarget;
pub use web::transport;
pub(crate) use web::{WebTarget, is_http10};

use crate::error::FleetError;
use crate::load::{Outbox, probe};
use crate::stop::StopSwitch;
use crate::verify::VerifyError;
use crate::wait::{self, first_that_answers};

/// Interval at which a wait for a response checks whether it is interrupted.
const STOP_STEP: Duration = Duration::from_millis(100);

/// A server that was there already, as the user names it.
#[derive(Debug, Clone)]
pub enum ExternalServer {
    /// A web server, and the certificates that are accepted from it over TLS.
    Web(Target, Trust),
    /// An echo server.
    #[cfg(feature = "echo")]
    Echo(EchoServer),
}

/// What load is sent to: a server at an address that the policy allows.
#[derive(Debug, Clone)]
pub(crate) enum ResolvedTarget {
    Web(WebTarget),
    #[cfg(feature = "echo")]
    Echo(EchoTarget),
}

/// A reason why the load side cannot be set up for a workload.
#[derive(Debug, Error)]
pub enum SetupError {
    /// The requests of a web workload cannot be made.
    #[error(transparent)]
    Web(#[from] WebSetupError),
    /// Connections cannot be made from a source address.
    #[error(transparent)]
    Endpoint(#[from] EndpointError),
    /// The server is of another family than the workload.
    #[error("the workload is of the family `{0}`, and the server is not")]
    OtherFamily(Family),
}

/// What a family counts beside the records, by name; the counts of several threads are added.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Counts(BTreeMap<&'static str, u64>);

impl<const N: usize> From<[(&'static str, u64); N]> for Counts {
    fn from(counts: [(&'static str, u64); N]) -> Counts {
        Counts(counts.into())
    }
}

impl Counts {
    /// Adds the counts of another thread.
    pub(crate) fn add(&mut self, other: &Counts) {
        for (name, n) in &other.0 {
            *self.0.entry(name).or_default() += n;
        }
    }

    /// Returns the counts in the order of their names.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&'static str, u64)> {
        self.0.iter().map(|(name, n)| (*name, *n))
    }
}

/// The work of one load thread at one load point.
pub(crate) struct ThreadWork<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) setup: PointSetup,
    /// The clock of the run.
    pub(crate) clock: RealClock,
    pub(crate) stop: &'a StopSwitch<'a>,
}

/// A failure of a load thread.
pub(crate) enum ThreadFailure {
    System(io::Error),
    Setup(SetupError),
}

impl From<io::Error> for ThreadFailure {
    fn from(error: io::Error) -> ThreadFailure {
        ThreadFailure::System(error)
    }
}

impl<E: Into<SetupError>> From<E> for ThreadFailure {
    fn from(error: E) -> ThreadFailure {
        ThreadFailure::Setup(error.into())
    }
}

impl ThreadWork<'_> {
    /// Runs the users of the thread with the drivers of a family.
    fn run_with<D: Driver + 'static>(
        &self,
        mix: impl Mix<Operation = D::Operation, User: 'static> + 'static,
        driver: impl FnMut(u32) -> D,
        outbox: &mut Outbox,
    ) -> io::Result<()> {
        run_point_on_this_thread(&self.setup, self.clock, probe(), mix, driver, outbox, self.stop)
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
        Ok(match server {
            ExternalServer::Web(target, trust) => {
                let address = resolve(&target.host, target.port, clock, stop)?;
                ResolvedTarget::Web(WebTarget {
                    target: target.clone(),
                    address,
                    trust: trust.clone(),
                    secrets,
                })
            }
            #[cfg(feature = "echo")]
            ExternalServer::Echo(server) => ResolvedTarget::Echo(EchoTarget {
                address: resolve(&server.host, server.port, clock, stop)?,
                server: server.clone(),
            }),
        })
    }

    /// Returns the server that this run has started: a web server so far.
    ///
    /// # Errors
    /// Its address is not allowed.
    pub(crate) fn of_sut(sut: &RunningSut, secrets: Secrets) -> Result<ResolvedTarget, TargetPolicyError> {
        // Without TLS it has no certificate, and none is asked for.
        let trust = sut.certificate_der().map_or(Trust::Any, |der| Trust::Certificate(der.to_owned()));
        let target: Target = sut.url().parse().expect("our own URL");
        let addresses = TargetPolicy.resolve(&target.host, target.port)?;
        Ok(ResolvedTarget::Web(WebTarget { target, address: addresses[0], trust, secrets }))
    }

    /// Returns the address of the server.
    pub(crate) fn address(&self) -> SocketAddr {
        match self {
            ResolvedTarget::Web(web) => web.address,
            #[cfg(feature = "echo")]
            ResolvedTarget::Echo(echo) => echo.address,
        }
    }

    /// Returns the server as it was named.
    pub(crate) fn name(&self) -> String {
        match self {
            ResolvedTarget::Web(web) => web.target.to_string(),
            #[cfg(feature = "echo")]
            ResolvedTarget::Echo(echo) => echo.server.to_string(),
        }
    }

    /// Returns the host in that name.
    pub(crate) fn host(&self) -> &str {
        match self {
            ResolvedTarget::Web(web) => &web.target.host,
            #[cfg(feature = "echo")]
            ResolvedTarget::Echo(echo) => &echo.server.host,
        }
    }

    /// Returns whether connections to the server are encrypted.
    pub(crate) fn is_encrypted(&self) -> bool {
        match self {
            ResolvedTarget::Web(web) => web.target.secure,
            #[cfg(feature = "echo")]
            ResolvedTarget::Echo(_) => false,
        }
    }

    /// Returns the values of secrets, which are moved to the target that follows.
    pub(crate) fn take_secrets(&mut self) -> Secrets {
        match self {
            ResolvedTarget::Web(web) => std::mem::take(&mut web.secrets),
            #[cfg(feature = "echo")]
            ResolvedTarget::Echo(_) => Secrets::default(),
        }
    }

    /// Checks operations of every kind before load begins: a server that answers otherwise need not be loaded.
    ///
    /// # Errors
    /// An answer is wrong, or `stop` is set before all of them were checked.
    pub(crate) fn probe(&self, plan: &Plan, clock: RealClock, stop: &AtomicBool) -> Result<(), VerifyError> {
        match self {
            ResolvedTarget::Web(target) => web::probe(plan, target, clock, stop),
            #[cfg(feature = "echo")]
            ResolvedTarget::Echo(target) => echo::probe(plan, target, clock, stop),
        }
    }

    /// Runs the users of one load thread until the load point is over.
    ///
    /// # Errors
    /// If the thread cannot be set up.
    pub(crate) fn run(&self, work: &ThreadWork<'_>, outbox: &mut Outbox) -> Result<Counts, ThreadFailure> {
        match self {
            ResolvedTarget::Web(target) => web::run(work, target, outbox),
            #[cfg(feature = "echo")]
            ResolvedTarget::Echo(target) => echo::run(work, target, outbox),
        }
    }
}

/// Resolves a host to the address to use.
fn resolve(host: &str, port: u16, clock: RealClock, stop: &AtomicBool) -> Result<SocketAddr, FleetError> {
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
    runtime.block_on(async {
        tokio::select! {
            result = probe => result,
            () = stopped(stop) => Err(VerifyError::Interrupted),
        }
    })
}

async fn stopped(stop: &AtomicBool) {
    while !stop.load(Ordering::Relaxed) {
        tokio::time::sleep(STOP_STEP).await;
    }
}
