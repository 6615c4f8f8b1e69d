//! The echo family: messages that come back, for tests.

#[cfg(test)]
mod tests;

use std::fmt;
use std::net::SocketAddr;
use std::rc::Rc;
use std::str::FromStr;
use std::sync::atomic::AtomicBool;

use benchmarks::echo::Messages;
use drivers::echo::{EchoContext, EchoDriver};
use model::echo::{EchoMessage, EchoWorkload};
use model::{CheckMoment, Family, Plan, Workload};
use units::RealClock;

use super::probe::Probe;
use super::profile::{FamilyProfile, READY_MAX};
use super::target::LoadTarget;
use super::{SetupError, unless_stopped};
use crate::checked::CheckedRow;
use crate::family_counts::FamilyCounts;
use crate::order::StepOrder;
use crate::thread::{ThreadFailure, ThreadWork};
use crate::verify::VerifyError;

/// An echo server, as the user names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EchoServer {
    /// A name or an address.
    pub host: String,
    /// The TCP port.
    pub port: u16,
}

/// Reads `HOST:PORT`.
impl FromStr for EchoServer {
    type Err = String;

    fn from_str(text: &str) -> Result<EchoServer, String> {
        let parts = text.rsplit_once(':').and_then(|(host, port)| Some((host, port.parse().ok()?)));
        let named = parts.filter(|(host, port)| !host.is_empty() && *port != 0);
        let (host, port) = named.ok_or_else(|| format!("expected `HOST:PORT`, found `{text}`"))?;
        Ok(EchoServer { host: host.to_owned(), port })
    }
}

impl fmt::Display for EchoServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.host, self.port)
    }
}

/// An echo server that load is sent to.
#[derive(Debug, Clone)]
pub(crate) struct EchoTarget {
    /// The server as named.
    pub(super) server: EchoServer,
    /// One of its addresses, allowed by the policy.
    pub(super) address: SocketAddr,
}

impl EchoTarget {
    /// Sets up what all connections of a thread share.
    fn context<'a>(
        &self,
        plan: &'a Plan,
        clock: RealClock,
    ) -> Result<(&'a EchoWorkload, Rc<EchoContext>), SetupError> {
        let Workload::Echo(workload) = &plan.workload else {
            return Err(SetupError::OtherFamily(plan.workload.family()));
        };
        Ok((workload, EchoContext::new(workload, self.address, &plan.source_addresses, clock)?))
    }
}

impl LoadTarget for EchoTarget {
    fn address(&self) -> Option<SocketAddr> {
        Some(self.address)
    }

    fn name(&self) -> String {
        self.server.to_string()
    }

    fn host(&self) -> Option<&str> {
        Some(&self.server.host)
    }

    /// Sends a message of every kind.
    fn probe(&self, plan: &Plan, clock: RealClock, stop: &AtomicBool) -> Result<(), VerifyError> {
        let (workload, context) = self.context(plan, clock)?;
        let kinds = 0..workload.messages.len() as u16;
        let messages: Vec<_> = kinds.map(|kind| workload.message(kind, 0)).collect();
        let target = self.server.to_string();
        let time_limit = plan.time_limit;
        let slow = |_: &EchoMessage| format!("no complete message within {time_limit}");
        let probe = Probe { family: Family::Echo, target, time_limit, clock };
        unless_stopped(stop, probe.perform_all(EchoDriver::new(context), &messages, slow, |_| None))
    }

    /// Checks that messages of every kind come back.
    fn check(
        &self,
        plan: &Plan,
        clock: RealClock,
        _: CheckMoment,
        _: &FamilyCounts,
        stop: &AtomicBool,
    ) -> Result<Vec<CheckedRow>, VerifyError> {
        let (holds, found) = match self.probe(plan, clock, stop) {
            Ok(()) => (true, "messages of all kinds came back".to_owned()),
            Err(error @ (VerifyError::Wrong { .. } | VerifyError::Unreachable { .. })) => {
                (false, error.to_string().replace('\n', " "))
            }
            Err(error) => return Err(error),
        };
        Ok(vec![("messages come back".to_owned(), holds, found)])
    }

    fn run(&self, work: ThreadWork<'_>) -> Result<FamilyCounts, ThreadFailure> {
        let (workload, context) = self.context(work.plan, work.clock)?;
        let mix = Messages::new(workload, work.plan.seed);
        work.run_with(mix, |_| EchoDriver::new(Rc::clone(&context)))?;
        Ok(FamilyCounts::default())
    }
}

/// Echo servers as runs know them. They have the order of those whose data operations change, so that real runs of a test
/// have it.
pub(super) static PROFILE: FamilyProfile = FamilyProfile {
    order: &StepOrder::STATEFUL,
    ready_max: READY_MAX,
    checked_things: "messages",
    files: None,
    built_in_restores: false,
    variant: |_| None,
    embedded: None,
    fills_started: false,
    prove_memory_limit: None,
    started: None,
    disk_use: |_, _| None,
    check_room: |_, _| Ok(()),
    contents: |_| None,
};
