//! The server that load is sent to, whatever its family.

use std::fmt;
use std::net::SocketAddr;
use std::ops::Deref;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use drivers::TargetPolicy;
use model::{CheckMoment, FactSection, Family, Plan, Secrets};
use observe::ResourceMonitor;
use testbed::RunningSut;
use units::RealClock;

use super::file_cache::CacheState;
use super::profile::profile;
use super::{ExternalServer, ServerForm, host_of, resolve};
use crate::checked::CheckedRow;
use crate::disk_use::DiskUse;
use crate::error::FleetError;
use crate::event::Observer;
use crate::family_counts::FamilyCounts;
use crate::setup_error::SetupError;
use crate::thread::{ThreadFailure, ThreadWork};
use crate::verify::VerifyError;

/// A server that load is sent to, at an address that the policy allows; or what stands for one in this process.
///
/// Methods with a body here have the answer of most families. Only [`run`](LoadTarget::run) is part of the hot path: it is called
/// once for each load thread and load point, and behind it everything is known to the compiler.
pub(crate) trait LoadTarget: fmt::Debug + Send + Sync {
    /// Returns the address of the server; `None` of a Unix socket, and of what is in this process.
    fn address(&self) -> Option<SocketAddr>;

    /// Returns the server as it was named.
    fn name(&self) -> String;

    /// Returns the host in that name; `None` where there is none.
    fn host(&self) -> Option<&str>;

    /// Returns the host that connections go to, where it is not that in its name.
    fn connect_host(&self) -> Option<&str> {
        None
    }

    /// Returns the path of the Unix socket that load goes to, by which the processes behind it are found.
    fn socket(&self) -> Option<&Path> {
        None
    }

    /// Returns whether connections to the server are encrypted.
    fn is_encrypted(&self) -> bool {
        false
    }

    /// Returns whether a client certificate is shown to the server where it asks for one.
    fn shows_identity(&self) -> bool {
        false
    }

    /// Returns the values of secrets.
    fn secrets(&self) -> Secrets {
        Secrets::default()
    }

    /// Returns what is disclosed of a system under test within this process; `None` of a server.
    fn in_process(&self) -> Option<FactSection> {
        None
    }

    /// Opens a session of the protocol with the settings of a plan, and ends it; returns what is disclosed of it.
    /// `None` of a protocol that has nothing to agree upon.
    ///
    /// # Errors
    /// The server does not let the run in with these settings, or `stop` is set.
    fn inspect(&self, _: &Plan, _: &AtomicBool) -> Result<Option<FactSection>, VerifyError> {
        Ok(None)
    }

    /// Returns the files that users of a plan have on a disk of this machine, where the run did not start a server.
    fn disk_use(&self, _: &Plan) -> Option<DiskUse> {
        None
    }

    /// Returns the server by name, as load agents are told of it; `None` of what only this process can load.
    fn external(&self) -> Option<ServerForm> {
        None
    }

    /// Returns the directory of this machine that is loaded; `None` of a server.
    fn directory(&self) -> Option<&Path> {
        None
    }

    /// Returns the state of the cache that each load point begins with.
    fn cache(&self, _: &Plan) -> CacheState {
        CacheState::AsLeft
    }

    /// Loads the data of a plan into a server that was started without.
    ///
    /// # Errors
    /// The server refuses, or `stop` is set.
    fn load(&self, _: &Plan, _: &mut dyn Observer, _: &AtomicBool) -> Result<(), FleetError> {
        Ok(())
    }

    /// Puts the data of a server that was there already, or that a run fills, into their first state. Returns what is
    /// to be said of it; `None` where there is nothing to be done.
    ///
    /// # Errors
    /// The server refuses, or `stop` is set.
    fn reload(
        &self,
        _: &Plan,
        _: RealClock,
        _: &mut dyn Observer,
        _: &AtomicBool,
    ) -> Result<Option<String>, FleetError> {
        Ok(None)
    }

    /// Has a started server read some of the files that users have there, after so many; returns their number, 0 at the
    /// end.
    ///
    /// # Errors
    /// The server refuses, or `stop` is set.
    fn read_files(&self, _: &Plan, _: u64, _: &AtomicBool) -> Result<u64, VerifyError> {
        Ok(0)
    }

    /// Returns the number of connections that a server has for users; `None` of one that does not say.
    fn n_free(&self, _: &Plan, _: RealClock, _: &AtomicBool) -> Option<u64> {
        None
    }

    /// Checks operations of every kind before load begins: a server that answers otherwise need not be loaded.
    ///
    /// # Errors
    /// An answer is wrong, or `stop` is set before all of them were checked.
    fn probe(&self, plan: &Plan, clock: RealClock, stop: &AtomicBool) -> Result<(), VerifyError>;

    /// Checks the conditions that the benchmark sets on the server before or after a load point; returns what was found.
    /// `counts` are those of the load point after it.
    ///
    /// # Errors
    /// `stop` is set before all of them were checked, or the system refused a socket.
    fn check(
        &self,
        plan: &Plan,
        clock: RealClock,
        moment: CheckMoment,
        counts: &FamilyCounts,
        stop: &AtomicBool,
    ) -> Result<Vec<CheckedRow>, VerifyError>;

    /// Returns a monitor of what the server says of itself; `None` of one that does not, or that its recipe has a page for.
    fn monitor(&self) -> Option<Box<dyn ResourceMonitor>> {
        None
    }

    /// Opens the sessions of a load thread's users, waits for the start, and has them perform operations until the load
    /// point is over.
    ///
    /// # Errors
    /// If the thread cannot be set up.
    fn run(&self, work: ThreadWork<'_>) -> Result<FamilyCounts, ThreadFailure>;
}

/// A server that was there already, before it is the target of load.
pub(super) enum UnresolvedTarget<'a> {
    /// At a host, which has addresses.
    AtHost(HostTarget<'a>),
    /// On this machine, without an address.
    Here(Box<dyn Fn() -> Result<ResolvedTarget, FleetError> + 'a>),
}

impl<'a> From<HostTarget<'a>> for UnresolvedTarget<'a> {
    fn from(target: HostTarget<'a>) -> UnresolvedTarget<'a> {
        UnresolvedTarget::AtHost(target)
    }
}

/// A server at a host, and the target that it is at one of its addresses.
pub(super) struct HostTarget<'a> {
    /// A name or an address.
    pub(super) host: &'a str,
    /// The TCP port.
    pub(super) port: u16,
    /// The way to choose one of its addresses.
    pub(super) address_choice: &'static str,
    /// Makes the target at an address.
    pub(super) at: Box<dyn Fn(SocketAddr, Secrets) -> ResolvedTarget + 'a>,
}

impl<'a> HostTarget<'a> {
    /// Makes one of the function that returns the target at an address.
    pub(super) fn new<T: LoadTarget + 'static>(
        host: &'a str,
        port: u16,
        at: impl Fn(SocketAddr, Secrets) -> T + 'a,
    ) -> HostTarget<'a> {
        let at = Box::new(move |address, secrets| ResolvedTarget::of(at(address, secrets)));
        HostTarget { host, port, address_choice: "an address instead of the name chooses one", at }
    }
}

/// A target that the controller and all load threads share.
#[derive(Debug, Clone)]
pub(crate) struct ResolvedTarget(Arc<dyn LoadTarget>);

impl Deref for ResolvedTarget {
    type Target = dyn LoadTarget;

    fn deref(&self) -> &Self::Target {
        &*self.0
    }
}

impl ResolvedTarget {
    /// Makes a target to be shared.
    pub(crate) fn of(target: impl LoadTarget + 'static) -> ResolvedTarget {
        ResolvedTarget(Arc::new(target))
    }

    /// Resolves a server that was there already.
    ///
    /// # Errors
    /// Its name leads nowhere or to an address that is not allowed, it cannot be opened, or `stop` is set.
    pub(crate) fn resolve(
        server: &ExternalServer,
        secrets: Secrets,
        clock: RealClock,
        stop: &AtomicBool,
    ) -> Result<ResolvedTarget, FleetError> {
        match server.unresolved() {
            UnresolvedTarget::AtHost(HostTarget { host, port, at, .. }) => {
                Ok(at(resolve(host, port, clock, stop)?, secrets))
            }
            UnresolvedTarget::Here(open) => open(),
        }
    }

    /// Returns the server that this run has started, as a workload of a family sees it.
    ///
    /// # Errors
    /// Its address is not allowed, or it is a server of another family.
    pub(crate) fn of_sut(
        sut: &RunningSut,
        family: Family,
        secrets: Secrets,
    ) -> Result<ResolvedTarget, FleetError> {
        let address = sut.addr();
        TargetPolicy.resolve(&host_of(address.ip()), address.port())?;
        let started = profile(family).started.filter(|_| sut.family() == Some(family));
        let started = started.ok_or(VerifyError::Setup(SetupError::OtherFamily(family)))?;
        Ok(started(sut, secrets))
    }
}
