//! File servers: directories of this machine, a private one unless the run names another, shares, exports, and servers that
//! are started.

use drivers::file::directory::FileRootError;
use drivers::file::nfs::NfsShareError;
use drivers::file::smb::SmbShareError;
use fleet::{ExternalServer, FileExport, FileShare};
use model::{Family, FileSmbSettings, FileTransport, Plan, Setting};
use testbed::Recipe;

use super::command_line::{FamilyCommandLine, StartedServers};
use crate::arguments::SutArguments;
use crate::candidate::{Candidate, ChosenServer};
use crate::embedded_server::EmbeddedServer;
use crate::exit::Failure;
use crate::paths;
use crate::share_password::password_for;

/// The remedy where a directory or a share cannot be used.
pub(super) const DATA_HINT: &str =
    "check that the directory can be read and written, and that its disk has room and no errors";

/// The directory that is loaded unless the run names another.
static DIRECTORY: EmbeddedServer = EmbeddedServer {
    plan_name: "directory",
    name: "directory",
    is_default: true,
    place: "the load generator calls the kernel itself",
    data_dir: || paths::make_private(&paths::persistent_dir()),
};

/// File servers on the command line.
pub(super) static COMMAND_LINE: FamilyCommandLine = FamilyCommandLine {
    article: "a",
    target_form: "file:///PATH",
    own_schemes: &["file", "nfs", "smb"],
    read_target: |target, _| read_target(target),
    take_secrets: |_, _| Ok(()),
    is_encrypted: |_, _| false,
    accepts_any_certificate: |_| false,
    trusting: |server, _, _| server.clone(),
    own_flag: |_| None,
    started: Some(StartedServers {
        sut_hint: "choose a file server: `--sut samba` or `--sut ganesha`; or omit `--sut` for a directory of this machine",
        check_recipe,
        built_in: None,
    }),
    embedded: Some(&DIRECTORY),
    settle,
    target_setting: |_, _| None,
    check_plan,
    think_time: None,
    calibration: &[],
    calibrated: |_| None,
    unreachable_hint: "check that the file server runs, its address and its port; or start one: `--sut samba` or `--sut ganesha`",
    wrong_hint: DATA_HINT,
    own_wrong_hint: DATA_HINT,
};

/// Reads a target: a directory, an export, or a share with the password of its account.
fn read_target(target: &str) -> Result<ExternalServer, Failure> {
    if FileExport::is_scheme_of(target) {
        return Ok(ExternalServer::Export(target.parse().map_err(Failure::usage)?));
    }
    if !FileShare::is_scheme_of(target) {
        return Ok(ExternalServer::Directory(target.parse().map_err(Failure::usage)?));
    }
    let mut share: FileShare = target.parse().map_err(Failure::usage)?;
    share.account.password = password_for(&share)?;
    Ok(ExternalServer::Share(share))
}

/// Checks that there is a driver for the server of a recipe.
fn check_recipe(name: &str, recipe: &Recipe) -> Result<(), Failure> {
    if recipe.file_transport().is_some() {
        return Ok(());
    }
    let error = format!(
        "this benchmark loads servers whose program is `smbd` or `ganesha.nfsd`, and `{name}` has another"
    );
    Err(Failure::usage(error)
        .hint("choose `--sut samba` or `--sut ganesha`, or omit `--sut` for a directory of this machine"))
}

/// Returns the transport of a candidate: that of its target or its recipe.
fn transport(one: &Candidate) -> FileTransport {
    match &one.server {
        ChosenServer::External(ExternalServer::Share(_)) => FileTransport::Smb,
        ChosenServer::External(ExternalServer::Export(_)) => FileTransport::Nfs,
        ChosenServer::Recipe(recipe) => recipe.file_transport().unwrap_or_default(),
        ChosenServer::External(_) | ChosenServer::BuiltIn | ChosenServer::Embedded(_) => {
            FileTransport::Directory
        }
    }
}

/// Gives a candidate the transport of its server as a setting. A directory has that of the benchmark, which may be wrong.
///
/// # Errors
/// The setting is there with another value, or an argument concerns a server and a directory is loaded.
fn settle(one: &mut Candidate, arguments: &SutArguments) -> Result<(), Failure> {
    match transport(one) {
        FileTransport::Directory => refuse_for_directories(arguments),
        transport => one.settle(Family::File, Setting::FILE_TRANSPORT, &[transport.name()]),
    }
}

/// Refuses a directory for a plan whose clients reach their files on a server, or are to have sessions with one.
fn check_plan(one: &Candidate, plan: &Plan) -> Result<(), Failure> {
    let Some(workload) = plan.workload.file() else { return Ok(()) };
    if transport(one) != FileTransport::Directory {
        return Ok(());
    }
    // What a run sets of them is refused before.
    let settings_of = |transport| {
        format!("the settings of {transport} in `[protocol]` of the benchmark `{}` apply", plan.benchmark.id)
    };
    let name = workload.transport.name();
    let (transport, applies) = match workload.transport {
        FileTransport::Directory if workload.smb == FileSmbSettings::STANDARD => return Ok(()),
        FileTransport::Directory => (FileTransport::Smb, settings_of("SMB")),
        transport if one.has_choice(Setting::FILE_TRANSPORT, name) => {
            (transport, format!("`transport={name}` applies"))
        }
        transport => {
            let id = &plan.benchmark.id;
            (transport, format!("`transport = \"{name}\"` in `[protocol]` of the benchmark `{id}` applies"))
        }
    };
    let (what, target, server) = match transport {
        FileTransport::Nfs => ("an export", "nfs://HOST/EXPORT", "ganesha"),
        FileTransport::Smb | FileTransport::Directory => ("a share", "smb://USER@HOST/SHARE", "samba"),
    };
    let error = format!("{applies} to {what}, but this run loads a directory");
    Err(Failure::usage(error)
        .hint(format!("name {what}: `--target {target}`; or start a server: `--sut {server}`")))
}

/// Refuses arguments that concern a server, or connections to it: a directory has neither. Beside servers that are
/// compared with it they concern these.
fn refuse_for_directories(arguments: &SutArguments) -> Result<(), Failure> {
    match arguments.of_servers().next() {
        Some(flag) if arguments.sut.len() < 2 => {
            let error = format!("`{flag}` applies to a server, but this run loads a directory");
            let hint = format!("omit `{flag}`, or start a server: `--sut samba`");
            Err(Failure::usage(error).hint(hint))
        }
        _ => Ok(()),
    }
}

/// Returns the remedy for a directory that cannot have the files of clients.
pub(crate) fn directory_hint(why: &FileRootError) -> &'static str {
    match why {
        FileRootError::Directory { .. } => "check the path: the directory must be there",
        FileRootError::NotOurs { .. } => {
            "rename it, or choose another directory: `--target file:///PATH`; Plimsoll touches only what it has made"
        }
        FileRootError::InUse { .. } => {
            "wait until that run has ended, or choose another: `--target file:///PATH`"
        }
        FileRootError::Folder { .. } => DATA_HINT,
    }
}

/// Returns the remedy for a share that cannot have the files of clients; `None` where its error has one.
pub(crate) fn share_hint(why: &SmbShareError) -> Option<String> {
    let hint = match why {
        SmbShareError::Session(_) => return None,
        SmbShareError::NotOurs(_) => {
            "rename it, or choose another folder: `--target smb://USER@HOST/SHARE/FOLDER`; Plimsoll touches only what it has made"
        }
        SmbShareError::InUse(_) => {
            "wait until that run has ended, or choose another folder: `--target smb://USER@HOST/SHARE/FOLDER`"
        }
        SmbShareError::Source(_) => "list addresses of this machine with `--source-addresses`",
        SmbShareError::Stopped | SmbShareError::File { .. } | SmbShareError::Slow { .. } => {
            "check that the account can read and write the share, and that its disk has room and no errors"
        }
    };
    Some(hint.to_owned())
}

/// Returns the remedy for an export that cannot have the files of clients; `None` where its error has one.
pub(crate) fn export_hint(why: &NfsShareError) -> Option<String> {
    let hint = match why {
        NfsShareError::Session(_) => return None,
        NfsShareError::NotOurs(_) => {
            "rename it, or choose another folder: `--target nfs://HOST/EXPORT/FOLDER`; Plimsoll touches only what it has made"
        }
        NfsShareError::InUse { .. } => {
            "wait until that run has ended, or choose another folder: `--target nfs://HOST/EXPORT/FOLDER`"
        }
        NfsShareError::Source(_) => "list addresses of this machine with `--source-addresses`",
        NfsShareError::Stopped | NfsShareError::File { .. } | NfsShareError::Slow { .. } => {
            "check that this user can read and write the export (`nfs://UID:GID@HOST/EXPORT` names another one), and that its disk has room and no errors"
        }
    };
    Some(hint.to_owned())
}
