//! A user's own statements, on a database that was there already.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use benchmarks::sql::SqlTransactions;
use drivers::database::DatabaseError;
use drivers::sql::{SqlDriver, SqlSessions};
use model::{CheckMoment, Family, Load, Plan, Secrets, SqlWorkload, Workload};
use observe::ResourceMonitor;
use units::RealClock;

use super::database::DatabaseTarget;
use super::probe::Probe;
use super::profile::{FamilyProfile, READY_MAX};
use super::room::check_room;
use super::target::LoadTarget;
use super::{ServerForm, SetupError, unless_stopped};
use crate::checked::CheckedRow;
use crate::family_counts::FamilyCounts;
use crate::order::StepOrder;
use crate::thread::{ThreadFailure, ThreadWork};
use crate::verify::VerifyError;

/// A database that statements are sent to.
#[derive(Debug, Clone)]
pub(crate) struct SqlTarget {
    pub(super) database: DatabaseTarget,
    /// The values of the workload's data.
    pub(super) secrets: Secrets,
}

impl SqlTarget {
    /// Sets up what all sessions of a thread share.
    fn sessions<'a>(
        &self,
        plan: &'a Plan,
        clock: RealClock,
    ) -> Result<(&'a SqlWorkload, SqlSessions), SetupError> {
        let Workload::Sql(workload) = &plan.workload else {
            return Err(SetupError::OtherFamily(plan.workload.family()));
        };
        let data = self.secrets.data();
        let server = &self.database.server;
        Ok((workload, SqlSessions::new(workload, data, server, &plan.source_addresses, clock)?))
    }
}

impl LoadTarget for SqlTarget {
    fn address(&self) -> Option<SocketAddr> {
        self.database.address()
    }

    fn name(&self) -> String {
        self.database.name()
    }

    fn host(&self) -> Option<&str> {
        self.database.host()
    }

    fn socket(&self) -> Option<&Path> {
        self.database.socket()
    }

    fn is_encrypted(&self) -> bool {
        self.database.is_encrypted()
    }

    fn secrets(&self) -> Secrets {
        self.secrets.clone()
    }

    fn n_free(&self, plan: &Plan, clock: RealClock, stop: &AtomicBool) -> Option<u64> {
        let (_, sessions) = self.sessions(plan, clock).ok()?;
        let limit = Duration::from_nanos(plan.time_limit.0);
        let name = || self.database.name.clone();
        let asked = unless_stopped(stop, async {
            sessions.connections(limit).await.map_err(|error| no_session(name(), error))
        });
        asked.ok()?.map(|connections| connections.free)
    }

    fn external(&self) -> Option<ServerForm> {
        Some(ServerForm::sql(&self.database.named))
    }

    /// Has the server prepare all statements, and makes a transaction of every kind, which is rolled back.
    fn probe(&self, plan: &Plan, clock: RealClock, stop: &AtomicBool) -> Result<(), VerifyError> {
        let (workload, sessions) = self.sessions(plan, clock)?;
        let family = Family::Sql;
        let name = self.database.name.clone();
        let probe = Probe { family, target: name.clone(), time_limit: plan.time_limit, clock };
        let load = plan.load_max().unwrap_or(Load::Users(1));
        let requests = SqlTransactions::new(workload, plan.seed, load).one_of_each();
        unless_stopped(stop, async {
            let limit = Duration::from_nanos(plan.time_limit.0);
            let refused = sessions.refusals(limit).await.map_err(|error| no_session(name.clone(), error))?;
            if !refused.is_empty() {
                return Err(VerifyError::NotPrepared { target: name, refused });
            }
            let connections =
                sessions.connections(limit).await.map_err(|error| no_session(name.clone(), error))?;
            if let Some(connections) = connections {
                check_room(plan, &name, connections, 0)?;
            }
            let driver = SqlDriver::without_changes(&sessions);
            probe.perform_all(driver, &requests, |request| slow(plan, workload, request.kind), |_| None).await
        })
    }

    fn check(
        &self,
        _: &Plan,
        _: RealClock,
        _: CheckMoment,
        _: &FamilyCounts,
        _: &AtomicBool,
    ) -> Result<Vec<CheckedRow>, VerifyError> {
        // Only the user knows what the data must be.
        Ok(Vec::new())
    }

    fn monitor(&self) -> Option<Box<dyn ResourceMonitor>> {
        self.database.monitor()
    }

    fn run(&self, work: ThreadWork<'_>) -> Result<FamilyCounts, ThreadFailure> {
        let (workload, sessions) = self.sessions(work.plan, work.clock)?;
        let mix = SqlTransactions::new(workload, work.plan.seed, work.setup.point.load);
        work.run_with(mix, |_| SqlDriver::new(&sessions))?;
        Ok(FamilyCounts::default())
    }
}

/// Databases with statements of the user's own as runs know them. Nothing is put into its first state, whatever statements
/// change, and no recipe has the user's data.
pub(super) static PROFILE: FamilyProfile = FamilyProfile {
    order: &StepOrder::STATELESS,
    ready_max: READY_MAX,
    checked_things: "transactions",
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

/// Returns the error of a database with which there is no session.
fn no_session(target: String, error: DatabaseError) -> VerifyError {
    match error {
        DatabaseError::Unreachable { outcome, text } => {
            VerifyError::Unreachable { family: Family::Sql, target, outcome, text }
        }
        DatabaseError::Certificate(problem) => VerifyError::Certificate { target, problem },
        error => VerifyError::NoSession { target, problem: error.session_problem(), text: error.to_string() },
    }
}

/// Names a transaction that took too long.
fn slow(plan: &Plan, workload: &SqlWorkload, kind: u16) -> String {
    let name = workload.transactions.get(usize::from(kind)).map_or("", |one| one.name.as_str());
    format!("{name}: no complete reply within {}", plan.time_limit)
}
