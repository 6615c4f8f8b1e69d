//! Application servers: their protocol, and the built-in one with its threads and files.

use fleet::{ExternalServer, NoMemoryLimit};
use model::{AppProtocol, Family, Plan, Setting, Workload};
use observe::StatusKind;

use super::command_line::{
    BuiltInServer, FamilyCommandLine, OMIT_SUT, OTHER_SERVER, START_OR_OMIT, StartedServers, other_family,
};
use crate::candidate::{Candidate, ChosenServer};
use crate::exit::Failure;
use crate::paths;

/// Directory of the built-in application server below the persistent private one.
const FILES: &str = "app-files";

/// Application servers on the command line.
pub(super) static COMMAND_LINE: FamilyCommandLine = FamilyCommandLine {
    article: "an",
    target_form: "app://HOST:PORT",
    own_schemes: &["app"],
    read_target: |target, _| Ok(ExternalServer::App(target.parse().map_err(Failure::usage)?)),
    take_secrets: |_, _| Ok(()),
    is_encrypted: |_, _| false,
    accepts_any_certificate: |_| false,
    trusting: |server, _, _| server.clone(),
    own_flag: |_| None,
    started: Some(StartedServers {
        sut_hint: OMIT_SUT,
        check_recipe: |_, _| Ok(()),
        built_in: Some(BuiltInServer {
            status: Some(StatusKind::AppStats),
            environment: &[],
            arguments: |_, _, plan| arguments(plan),
        }),
    }),
    embedded: None,
    settle: |candidate, _| settle_protocol(candidate),
    target_setting: |_, _| None,
    check_plan: |_, _| Ok(()),
    think_time: None,
    calibration: &[],
    calibrated: |_| None,
    unreachable_hint: START_OR_OMIT,
    wrong_hint: OTHER_SERVER,
    own_wrong_hint: OTHER_SERVER,
};

/// Gives an application server the protocol that it speaks as a setting.
///
/// # Errors
/// The setting is there with another value.
fn settle_protocol(one: &mut Candidate) -> Result<(), Failure> {
    let protocol = match &one.server {
        ChosenServer::External(ExternalServer::App(server)) => server.protocol,
        ChosenServer::Recipe(recipe) => recipe.app_protocol(),
        ChosenServer::External(_) | ChosenServer::BuiltIn | ChosenServer::Embedded(_) => AppProtocol::Binary,
    };
    one.settle(Family::App, Setting::APP_PROTOCOL, &[protocol.name()])
}

/// Returns the arguments of the built-in application server, with service threads for the highest load of a plan.
fn arguments(plan: &Plan) -> Result<Vec<String>, Failure> {
    let Workload::App(app) = &plan.workload else { return Err(other_family(plan.workload.family())) };
    let clients = plan.level_max().ceil() as u32;
    let cpus = match plan.sut.cpus.len() {
        0 => observe::available_cpus().len(),
        n => n,
    };
    let threads = servers::app::service_threads(clients, cpus as u32);
    let mut args = vec!["app".to_owned()];
    let mut add = |name: &str, value: String| args.extend([name.to_owned(), value]);
    add("--threads", threads.to_string());
    add("--clients-max", clients.to_string());
    if app.needs_files() {
        add("--file-max", format!("{} B", app.file_bytes_max()));
        add("--directory", paths::built_in_dir(FILES)?.to_string_lossy().into_owned());
    }
    Ok(args)
}

/// Returns the remedy where a size does not follow from the server's memory limit.
pub(crate) fn memory_limit_hint(why: &NoMemoryLimit) -> &'static str {
    match why {
        NoMemoryLimit::OfStarted => {
            "limit the server with `--sut-memory 512MiB`, or give a size: `--set range=8MiB`"
        }
        NoMemoryLimit::OfRunning => {
            "start the server with a limit, for example by `systemd-run --scope -p MemoryMax=512M COMMAND`, or give a \
            size: `--set range=8MiB`"
        }
        NoMemoryLimit::Elsewhere | NoMemoryLimit::Unseen(_) => {
            "give a size, such as `--set range=8MiB`: `auto` is 0.78 of the server's memory limit ÷ 40"
        }
    }
}
