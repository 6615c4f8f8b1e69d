//! Echo servers: only targets.

use fleet::ExternalServer;

use super::command_line::{FamilyCommandLine, OTHER_SERVER};
use crate::exit::Failure;

/// Echo servers on the command line.
pub(super) static COMMAND_LINE: FamilyCommandLine = FamilyCommandLine {
    article: "an",
    target_form: "HOST:PORT",
    own_schemes: &[],
    read_target: |target, _| Ok(ExternalServer::Echo(target.parse().map_err(Failure::usage)?)),
    take_secrets: |_, _| Ok(()),
    is_encrypted: |_, _| false,
    accepts_any_certificate: |_| false,
    trusting: |server, _, _| server.clone(),
    own_flag: |_| None,
    started: None,
    embedded: None,
    settle: |_, _| Ok(()),
    target_setting: |_, _| None,
    check_plan: |_, _| Ok(()),
    think_time: None,
    calibration: &[],
    calibrated: |_| None,
    unreachable_hint: "start the server first",
    wrong_hint: OTHER_SERVER,
    own_wrong_hint: OTHER_SERVER,
};
