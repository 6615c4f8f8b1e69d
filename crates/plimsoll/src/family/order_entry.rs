//! Servers of order-entry data: databases, the built-in server, and a database within this process.

use std::path::PathBuf;

use drivers::Trust;
use fleet::{ExternalDatabase, ExternalServer, UrlEncryption};
use model::{DataReset, DatabaseMode, DatabaseProduct, Family, OrderSql, Plan, Setting, Workload};
use observe::StatusKind;
use testbed::Recipe;

use super::command_line::{
    BuiltInServer, FamilyCommandLine, OMIT_SUT, OTHER_SERVER, START_OR_OMIT, StartedServers,
    ThinkTimeSettings, other_family,
};
use super::database::{accepts_any_certificate, is_database, read_database, trusting};
use crate::arguments::SutArguments;
use crate::candidate::{Candidate, ChosenServer};
use crate::embedded_server::EmbeddedServer;
use crate::exit::Failure;
use crate::paths;
use crate::placement::BUILT_IN;

/// Directory of order-entry data on SQLite, of the built-in server or embedded, below the persistent private one.
const FILES: &str = "order-files";

/// The fewest requests that may wait in the built-in order-entry server; there is room for one of each user.
const QUEUE_MIN: u32 = 1024;

/// The embedded database.
static EMBEDDED: EmbeddedServer = EmbeddedServer {
    plan_name: "embedded",
    name: "embedded SQLite",
    is_default: false,
    place: "the database is in the process of the load generator",
    data_dir: order_data_dir,
};

/// Servers of order-entry data on the command line.
pub(super) static COMMAND_LINE: FamilyCommandLine = FamilyCommandLine {
    article: "an",
    target_form: "orders://HOST:PORT",
    own_schemes: &["orders"],
    read_target: |target, _| read_target(target),
    take_secrets: |_, _| Ok(()),
    is_encrypted: |server, plan| database(server).is_some() && plan.workload.is_encrypted(),
    accepts_any_certificate: |candidate| {
        accepts_any_certificate(candidate.external().and_then(database), candidate)
    },
    trusting: trusting_database,
    own_flag: |_| None,
    started: Some(StartedServers {
        sut_hint: OMIT_SUT,
        check_recipe,
        built_in: Some(BuiltInServer {
            status: Some(StatusKind::OrderStats),
            environment: &[],
            arguments: |_, _, plan| arguments(plan),
        }),
    }),
    embedded: Some(&EMBEDDED),
    settle,
    target_setting: |_, _| None,
    check_plan: |_, _| Ok(()),
    think_time: Some(ThinkTimeSettings { length: "think-time", pacing: ("pacing", "flat") }),
    calibration: &[],
    calibrated: |_| None,
    unreachable_hint: START_OR_OMIT,
    wrong_hint: OTHER_SERVER,
    own_wrong_hint: OTHER_SERVER,
};

/// Returns the database that order entry is executed on; `None` of a server with a protocol of our own.
fn database(server: &ExternalServer) -> Option<&ExternalDatabase> {
    if let ExternalServer::Database(database) = server { Some(database) } else { None }
}

fn trusting_database(server: &ExternalServer, plan: &Plan, trust: &Trust) -> ExternalServer {
    match database(server) {
        Some(database) => ExternalServer::Database(trusting(database, plan, trust)),
        None => server.clone(),
    }
}

/// Reads a target: the URL of a database, or of a server with a protocol of our own.
fn read_target(target: &str) -> Result<ExternalServer, Failure> {
    if !is_database(target) {
        return Ok(ExternalServer::OrderEntry(target.parse().map_err(Failure::usage)?));
    }
    let database = read_database(target)?;
    if database.product == DatabaseProduct::MariaDb && !database.database.is_empty() {
        let error = "order entry creates its own database, but the target names one";
        return Err(Failure::usage(error).hint("end the target after the port"));
    }
    Ok(ExternalServer::Database(database))
}

/// Refuses a database whose protocol no driver speaks.
fn check_recipe(name: &str, recipe: &Recipe) -> Result<(), Failure> {
    if recipe.database().is_some() {
        return Ok(());
    }
    let error = format!("this benchmark loads PostgreSQL, MariaDB and the built-in server, not `{name}`");
    Err(Failure::usage(error)
        .hint("choose `--sut postgresql` or `--sut mariadb`, or omit `--sut` for the built-in server"))
}

/// Gives a server of order-entry data the encryption and the form of SQL that it understands as settings; of a
/// database, a call of a stored procedure, which is most like the one request of our own servers. Where the database
/// is to be embedded, there is no server.
///
/// # Errors
/// The setting is there with another value, or an argument concerns a server that there is not.
fn settle(one: &mut Candidate, arguments: &SutArguments) -> Result<(), Failure> {
    if one.has_choice(Setting::ORDER_DATABASE, DatabaseMode::Embedded.name()) {
        refuse_for_embedded(one, arguments)?;
        one.server = ChosenServer::Embedded(&EMBEDDED);
        for name in [&mut one.label, &mut one.title] {
            *name = name.replacen(BUILT_IN, EMBEDDED.name, 1);
        }
    }
    let named = one.external().and_then(database);
    let product = match &one.server {
        ChosenServer::Recipe(recipe) => recipe.database(),
        ChosenServer::External(_) | ChosenServer::BuiltIn | ChosenServer::Embedded(_) => {
            named.map(|database| database.product)
        }
    };
    if named.is_none() {
        refuse_unreset(one)?;
    }
    if let Some(possible) = encryption(product, named) {
        one.settle(Family::OrderEntry, Setting::DATABASE_TLS, possible)?;
    }
    let forms = product.map_or(&[OrderSql::Request][..], DatabaseProduct::forms);
    let names: Vec<&'static str> = forms.iter().map(|form| form.name()).collect();
    one.settle(Family::OrderEntry, Setting::ORDER_SQL, &names)
}

/// Returns how connections to a server can be encrypted, if that follows from the server, with what it is asked for first:
/// only databases are encrypted, and a socket of this machine needs none. Where the URL of a database does not say, the
/// definition does.
fn encryption(
    product: Option<DatabaseProduct>,
    named: Option<&ExternalDatabase>,
) -> Option<&'static [&'static str]> {
    let is_socket = named.is_some_and(|database| database.host.is_none());
    if product.is_none() || is_socket {
        return Some(&["off"]);
    }
    let is_asked = named.is_some_and(|database| database.encryption != UrlEncryption::Unsaid);
    is_asked.then_some(&["on", "off"])
}

/// Refuses to leave the data of a server as they are which is not a database that was there already.
fn refuse_unreset(one: &Candidate) -> Result<(), Failure> {
    if !one.has_choice(Setting::ORDER_RESET, DataReset::Never.name()) {
        return Ok(());
    }
    let error = format!(
        "`reset=none` applies to a PostgreSQL or MariaDB that is already running, not to {}",
        one.title
    );
    Err(Failure::usage(error).hint(
        "name the database by `--target postgres://USER@HOST:PORT/DATABASE` or `--target mysql://USER@HOST:PORT`, or \
         omit `--set reset=none`",
    ))
}

/// Refuses arguments and settings that concern a server, or connections to it, where the database is embedded.
fn refuse_for_embedded(one: &Candidate, arguments: &SutArguments) -> Result<(), Failure> {
    let of_choice = [("--target", !arguments.target.is_empty()), ("--sut", !arguments.sut.is_empty())];
    let given = of_choice.into_iter().filter(|(_, is_given)| *is_given).map(|(flag, _)| flag);
    let given = given.chain(arguments.of_servers()).map(str::to_owned);
    let is_of_server = |name: &str| [Setting::ORDER_SQL, Setting::DATABASE_TLS].contains(&name);
    let set = one.settings.iter().filter(|set| is_of_server(set.setting.name));
    let set = set.map(|set| format!("--set {}={}", set.setting.name, set.value()));
    match given.chain(set).next() {
        None => Ok(()),
        Some(flag) => {
            let error = format!(
                "`{flag}` applies to a database server; with `database=embedded` the database is in the process \
                 of the load generator"
            );
            Err(Failure::usage(error).hint(format!("omit `{flag}`, or `--set database=embedded`")))
        }
    }
}

/// Returns the directory of order-entry data on SQLite, of the built-in server or embedded.
pub(super) fn order_data_dir() -> Result<PathBuf, Failure> {
    paths::built_in_dir(FILES)
}

/// Returns the arguments of the built-in order-entry server, with the data of a plan and for its highest load.
fn arguments(plan: &Plan) -> Result<Vec<String>, Failure> {
    let Workload::OrderEntry(orders) = &plan.workload else {
        return Err(other_family(plan.workload.family()));
    };
    let users = plan.level_max().ceil() as u32;
    let mut args = vec!["orders".to_owned()];
    let mut add = |name: &str, value: String| args.extend([name.to_owned(), value]);
    add("--warehouses", orders.scale.warehouses().to_string());
    add("--divisor", orders.scale.divisor().to_string());
    add("--seed", orders.population_seed.to_string());
    add("--directory", order_data_dir()?.to_string_lossy().into_owned());
    // One more has the data restored and checked.
    add("--terminals-max", users.saturating_add(1).to_string());
    add("--queue-max", users.max(QUEUE_MIN).to_string());
    Ok(args)
}

/// Returns the remedy for data that cannot be used.
pub(crate) fn data_hint(target: &str) -> &'static str {
    match target.split_once("://") {
        // Not a target, but in this process.
        None => "check that the disk below `/var/tmp` can be read and written",
        Some(("postgres", _)) => {
            "set `PGPASSWORD` or `PGPASSFILE` if it asks for a password; its user must be allowed to create a schema"
        }
        Some(("file", _)) => super::file::DATA_HINT,
        Some(("imap" | "imaps", _)) => super::mail::DATA_HINT,
        Some(("mysql", _)) => {
            "set `MYSQL_PWD` if it asks for a password; its user must be allowed to create the database \
             `plimsoll_orderentry`"
        }
        _ => {
            "start it with the data of the benchmark: `plimsoll show BENCHMARK` has `warehouses` and `divisor`"
        }
    }
}
