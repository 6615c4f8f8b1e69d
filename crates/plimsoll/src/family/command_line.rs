//! Command lines: the answers of families to the arguments of a run, and to a user whose run does not succeed. Each
//! family states its own in its file.

use drivers::Trust;
use fleet::{ExternalServer, FleetError, SetupError, VerifyError};
use model::{ChosenSetting, Definition, Family, Plan, WorkloadDefinition};
use observe::StatusKind;
use testbed::Recipe;

use super::calibrated::CalibratedWorkload;
use crate::arguments::SutArguments;
use crate::candidate::Candidate;
use crate::embedded_server::EmbeddedServer;
use crate::exit::Failure;

/// The answers of a family to the arguments of a run, and to a user whose run does not succeed.
pub(crate) struct FamilyCommandLine {
    /// The indefinite article of the family's name.
    pub(crate) article: &'static str,

    /// The form of targets, as hints show it.
    pub(crate) target_form: &'static str,
    /// The schemes of targets that no other family has.
    pub(crate) own_schemes: &'static [&'static str],
    /// Reads a target, with the way to it that flags name.
    pub(crate) read_target: fn(&str, &SutArguments) -> Result<ExternalServer, Failure>,
    /// Gives a target the secrets that the definition has a source for.
    pub(crate) take_secrets: fn(&mut ExternalServer, &WorkloadDefinition) -> Result<(), Failure>,
    /// Returns whether connections of a plan to a target are encrypted.
    pub(crate) is_encrypted: fn(&ExternalServer, &Plan) -> bool,
    /// Returns whether the notation of a candidate's target asks for encryption with any certificate, and the run does not
    /// turn encryption off.
    pub(crate) accepts_any_certificate: fn(&Candidate) -> bool,
    /// Returns a target with the certificates that are accepted from it, where connections of a plan are encrypted.
    pub(crate) trusting: fn(&ExternalServer, &Plan, &Trust) -> ExternalServer,

    /// Returns the first flag that was given and is about servers of this family only.
    pub(crate) own_flag: fn(&SutArguments) -> Option<&'static str>,
    /// The answers about servers that Plimsoll starts; `None` of a family of which it starts none.
    pub(crate) started: Option<StartedServers>,

    /// The answers about data within this process, or that it calls itself, in place of a server; `None` of a family without.
    pub(crate) embedded: Option<&'static EmbeddedServer>,

    /// Gives a candidate the settings that follow from its server, so that servers that differ in them are compared as
    /// such.
    pub(crate) settle: fn(&mut Candidate, &SutArguments) -> Result<(), Failure>,
    /// Returns the encryption that the notation of a candidate's target asks for, as a setting; `None` if it asks for
    /// none, or the run sets it.
    pub(crate) target_setting: fn(&Candidate, &Definition) -> Option<ChosenSetting>,
    /// Checks that a candidate can be loaded by a plan.
    pub(crate) check_plan: fn(&Candidate, &Plan) -> Result<(), Failure>,
    /// The settings by which users think; `None` if no think time follows from the capacity of servers.
    pub(crate) think_time: Option<ThinkTimeSettings>,

    /// The workloads by which the load generator is calibrated; without any, no quota of a server follows.
    pub(crate) calibration: &'static [CalibratedWorkload],
    /// Returns the one of these workloads that is most like that of a plan.
    pub(crate) calibrated: fn(&Plan) -> Option<&'static CalibratedWorkload>,

    /// The remedy where a target does not accept connections.
    pub(crate) unreachable_hint: &'static str,
    /// The remedy where operations are not answered as they should be.
    pub(crate) wrong_hint: &'static str,
    /// The remedy for the same where the definition is the user's own.
    pub(crate) own_wrong_hint: &'static str,
}

/// The answers of a family about servers that Plimsoll starts: by their recipes, and perhaps a built-in one.
pub(crate) struct StartedServers {
    /// The remedy where `--sut` names a server of another family.
    pub(crate) sut_hint: &'static str,
    /// Checks that a driver can load the server of a recipe of the family, which the user has named so.
    pub(crate) check_recipe: fn(&str, &Recipe) -> Result<(), Failure>,
    /// The built-in server; `None` of a family without.
    pub(crate) built_in: Option<BuiltInServer>,
}

/// The answers of a family about its built-in server.
pub(crate) struct BuiltInServer {
    /// The operation by which it says how busy it is; `None` if it has none.
    pub(crate) status: Option<StatusKind>,
    /// The environment variables that it is given, with placeholders as those of recipes.
    pub(crate) environment: &'static [(&'static str, &'static str)],
    /// Returns its arguments.
    pub(crate) arguments: BuiltInArguments,
}

/// A function of a benchmark, the filelist that the run names, and a plan, to the arguments of a built-in server.
type BuiltInArguments = fn(&str, Option<&str>, &Plan) -> Result<Vec<String>, Failure>;

/// The settings by which users of a family think.
pub(crate) struct ThinkTimeSettings {
    /// The name of the setting with the think time.
    pub(crate) length: &'static str,
    /// The name of the setting that decides how users pause, and its value for users who do not.
    pub(crate) pacing: (&'static str, &'static str),
}

/// The remedy where `--sut` names a server of another family, in place of the built-in one.
pub(super) const OMIT_SUT: &str = "omit `--sut` for the built-in server; `plimsoll suts` lists the others";

/// The remedy where operations of a protocol of our own are not answered as they should be.
pub(super) const OTHER_SERVER: &str = "check which server answers at the target";

/// The remedy where a target does not accept connections, and Plimsoll can start another server.
pub(super) const START_OR_OMIT: &str = "start the server first, or omit `--target` for the built-in server";

/// Returns the failure of a plan that is not of the family that it was given to.
pub(super) fn other_family(family: Family) -> Failure {
    FleetError::from(VerifyError::from(SetupError::OtherFamily(family))).into()
}
