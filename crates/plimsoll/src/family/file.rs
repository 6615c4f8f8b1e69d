//! File servers: directories of this machine, a private one unless the run names another, and shares.

use drivers::file::directory::FileRootError;
use drivers::file::smb::SmbShareError;
use fleet::{ExternalServer, FileShare};
use model::{Family, FileTransport, Setting};

use super::command_line::FamilyCommandLine;
use crate::arguments::SutArguments;
use crate::candidate::Candidate;
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
    own_schemes: &["file", "smb"],
    read_target: |target, _| read_target(target),
    take_secrets: |_, _| Ok(()),
    is_encrypted: |_, _| false,
    accepts_any_certificate: |_| false,
    trusting: |server, _, _| server.clone(),
    own_flag: |_| None,
    started: None,
    embedded: Some(&DIRECTORY),
    settle,
    target_setting: |_, _| None,
    check_plan: |_, _| Ok(()),
    think_time: None,
    calibration: &[],
    calibrated: |_| None,
    unreachable_hint: "check that the file server runs, its address and its port",
    wrong_hint: DATA_HINT,
    own_wrong_hint: DATA_HINT,
};

/// Reads a target: a directory, or a share with the password of its account.
fn read_target(target: &str) -> Result<ExternalServer, Failure> {
    if !FileShare::is_scheme_of(target) {
        return Ok(ExternalServer::Directory(target.parse().map_err(Failure::usage)?));
    }
    let mut share: FileShare = target.parse().map_err(Failure::usage)?;
    share.account.password = password_for(&share)?;
    Ok(ExternalServer::Share(share))
}

/// Gives a candidate the transport of its target as a setting.
///
/// # Errors
/// The setting is there with another value, or an argument concerns a server and a directory is loaded.
fn settle(one: &mut Candidate, arguments: &SutArguments) -> Result<(), Failure> {
    if let Some(ExternalServer::Share(_)) = one.external() {
        return one.settle(Family::File, Setting::FILE_TRANSPORT, &[FileTransport::Smb.name()]);
    }
    refuse_for_directories(arguments)?;
    if one.has_choice(Setting::FILE_TRANSPORT, FileTransport::Smb.name()) {
        let error = "`transport=smb` applies to a share, but this run loads a directory";
        return Err(Failure::usage(error).hint("name a share: `--target smb://USER@HOST/SHARE`"));
    }
    one.settle(Family::File, Setting::FILE_TRANSPORT, &[FileTransport::Directory.name()])
}

/// Refuses arguments that concern a server, or connections to it: a directory has neither.
fn refuse_for_directories(arguments: &SutArguments) -> Result<(), Failure> {
    match arguments.of_servers().next() {
        None => Ok(()),
        Some(flag) => {
            let error = format!("`{flag}` applies to a server, but this run loads a directory");
            Err(Failure::usage(error).hint(format!("omit `{flag}`")))
        }
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
