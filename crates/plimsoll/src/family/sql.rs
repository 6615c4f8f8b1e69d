//! Databases with a user's own statements: only targets, as no server that is started has the user's data.

use drivers::database::DatabasePassword;
use fleet::{ExternalDatabase, ExternalServer};
use model::{Family, Setting, SqlDefinition, WorkloadDefinition};

use super::command_line::FamilyCommandLine;
use super::database::{accepts_any_certificate, read_database, target_setting, trusting};
use crate::candidate::Candidate;
use crate::exit::Failure;
use crate::paths;

/// The remedy where a transaction does not succeed.
const CHECK_STATEMENTS: &str = "check the statements, their `rows`, and the time limit in the definition";

/// Databases with a user's own statements on the command line.
pub(super) static COMMAND_LINE: FamilyCommandLine = FamilyCommandLine {
    article: "an",
    target_form: "postgres://USER@HOST:PORT/DATABASE",
    own_schemes: &[],
    read_target: |target, _| Ok(ExternalServer::Sql(read_database(target)?)),
    take_secrets,
    is_encrypted: |_, plan| plan.workload.is_encrypted(),
    accepts_any_certificate: |candidate| {
        accepts_any_certificate(candidate.external().and_then(database), candidate)
    },
    trusting: |server, plan, trust| match database(server) {
        Some(database) => ExternalServer::Sql(trusting(database, plan, trust)),
        None => server.clone(),
    },
    own_flag: |_| None,
    started: None,
    embedded: None,
    settle: |candidate, _| refuse_for_socket(candidate),
    target_setting: |candidate, definition| {
        target_setting(candidate.external().and_then(database), candidate, definition)
    },
    check_plan: |_, _| Ok(()),
    think_time: None,
    calibration: &[],
    calibrated: |_| None,
    unreachable_hint: "check that the database runs, its address and its port",
    wrong_hint: CHECK_STATEMENTS,
    own_wrong_hint: CHECK_STATEMENTS,
};

fn database(server: &ExternalServer) -> Option<&ExternalDatabase> {
    if let ExternalServer::Sql(database) = server { Some(database) } else { None }
}

/// Gives a database the password that the definition has a source for: the environment variable that it names.
///
/// # Errors
/// The variable is not set.
fn take_secrets(server: &mut ExternalServer, definition: &WorkloadDefinition) -> Result<(), Failure> {
    let WorkloadDefinition::Sql(SqlDefinition { password: Some(name), .. }) = definition else {
        return Ok(());
    };
    let value = paths::variable(name).map_err(|why| {
        Failure::usage(format!("`workload.password` has no value: the environment variable `{name}` {why}"))
            .hint(format!("set it for the run: `{name}=… plimsoll run …`"))
    })?;
    if let ExternalServer::Sql(database) = server {
        database.password = Some(DatabasePassword::new(value));
    }
    Ok(())
}

/// Refuses encryption of a socket of this machine.
///
/// # Errors
/// The setting is there.
fn refuse_for_socket(one: &mut Candidate) -> Result<(), Failure> {
    match one.external().and_then(database) {
        Some(ExternalDatabase { host: None, .. }) => one.settle(Family::Sql, Setting::DATABASE_TLS, &["off"]),
        _ => Ok(()),
    }
}
