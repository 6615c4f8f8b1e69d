//! File servers: so far directories of this machine, a private one unless the run names another.

use drivers::file::directory::FileRootError;
use fleet::ExternalServer;

use super::command_line::FamilyCommandLine;
use crate::arguments::SutArguments;
use crate::embedded_server::EmbeddedServer;
use crate::exit::Failure;
use crate::paths;

/// The remedy where a directory cannot be used.
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
    own_scheme: Some("file"),
    read_target: |target, _| Ok(ExternalServer::Directory(target.parse().map_err(Failure::usage)?)),
    take_secrets: |_, _| Ok(()),
    is_encrypted: |_, _| false,
    accepts_any_certificate: |_| false,
    trusting: |server, _, _| server.clone(),
    own_flag: |_| None,
    started: None,
    embedded: Some(&DIRECTORY),
    settle: |_, arguments| refuse_for_directories(arguments),
    target_setting: |_, _| None,
    check_plan: |_, _| Ok(()),
    think_time: None,
    calibration: &[],
    calibrated: |_| None,
    unreachable_hint: DATA_HINT,
    wrong_hint: DATA_HINT,
    own_wrong_hint: DATA_HINT,
};

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
