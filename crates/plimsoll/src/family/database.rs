//! Databases that speak SQL, whatever is executed on them: targets, passwords, encryption and sessions.

use drivers::Trust;
use drivers::database::SessionProblem;
use fleet::{DatabaseUrlError, ExternalDatabase, UrlEncryption};
use model::{ChosenSetting, Definition, Plan, Setting};

use crate::candidate::Candidate;
use crate::database_password::password_for;
use crate::exit::Failure;

/// Returns whether a target is a database that speaks SQL.
pub(super) fn is_database(target: &str) -> bool {
    target.split_once("://").is_some_and(|(scheme, _)| ExternalDatabase::product_of_scheme(scheme).is_some())
}

/// Reads a target: the URL of a database, with its password.
pub(super) fn read_database(target: &str) -> Result<ExternalDatabase, Failure> {
    let refused = |error: DatabaseUrlError| Failure::usage(error.text).hint(error.hint);
    let mut database: ExternalDatabase = target.parse().map_err(refused)?;
    database.password = password_for(&database)?;
    Ok(database)
}

/// Returns a database with the certificates that are accepted from it, where connections to it are encrypted.
pub(super) fn trusting(database: &ExternalDatabase, plan: &Plan, trust: &Trust) -> ExternalDatabase {
    let trust = plan.workload.is_encrypted().then(|| trust.clone());
    ExternalDatabase { trust, ..database.clone() }
}

/// Returns whether the URL of a candidate's database asks for encryption with any certificate, unless the run turns
/// encryption off.
pub(super) fn accepts_any_certificate(database: Option<&ExternalDatabase>, candidate: &Candidate) -> bool {
    let is_any = database.is_some_and(|database| database.encryption == UrlEncryption::Unverified);
    is_any && !candidate.has_choice(Setting::DATABASE_TLS, "off")
}

/// Returns the TLS setting that follows from the URL of a candidate's database, unless the run sets it.
pub(super) fn target_setting(
    database: Option<&ExternalDatabase>,
    candidate: &Candidate,
    definition: &Definition,
) -> Option<ChosenSetting> {
    let is_asked = database.is_some_and(|database| database.encryption != UrlEncryption::Unsaid);
    let encrypted = || definition.family().choose_setting(Setting::DATABASE_TLS, "on").ok();
    (is_asked && candidate.setting(Setting::DATABASE_TLS).is_none()).then(encrypted).flatten()
}

/// Returns the remedy where there is no session with a database, by the cause.
pub(crate) fn session_hint(problem: SessionProblem, target: &str) -> &'static str {
    let is_postgresql = target.starts_with("postgres:");
    match problem {
        SessionProblem::NoPassword | SessionProblem::Denied if is_postgresql => {
            "set `PGPASSWORD` or `PGPASSFILE`, or write the password into `~/.pgpass`; check the user and its \
             entry in `pg_hba.conf`"
        }
        SessionProblem::NoPassword | SessionProblem::Denied => {
            "set `MYSQL_PWD`; check the user, and from which hosts it may connect (`SHOW GRANTS`)"
        }
        SessionProblem::NoDatabase => "end the target with the name of a database that exists",
        SessionProblem::Full => "raise `max_connections`, or close some of the existing sessions",
        SessionProblem::NoTls => "turn on TLS in the server, or leave out `tls` and `sslmode`",
        SessionProblem::Authentication if is_postgresql => {
            "allow the user by `scram-sha-256` in `pg_hba.conf`, at least from this machine"
        }
        SessionProblem::Authentication => {
            "create a user for the benchmark with `mysql_native_password`: `CREATE USER … IDENTIFIED BY …`"
        }
        SessionProblem::ClearPassword => {
            "encrypt the connection (`--set tls=on`), or allow the user by `scram-sha-256` in `pg_hba.conf`"
        }
        SessionProblem::OtherProduct => "name a PostgreSQL or MariaDB server; others are not supported",
        SessionProblem::Protocol => {
            "check that the port is that of the product in the target (`postgres://` or `mysql://`), and not of a \
             web server"
        }
        SessionProblem::Slow => "check the database: it accepts connections but does not answer",
        SessionProblem::Other => "check user and database in the target",
    }
}
