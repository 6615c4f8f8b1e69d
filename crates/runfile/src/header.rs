//! The header of a run file: all that is known when a run begins.

use model::{Plan, Testbed};
use units::WallTime;

/// The description of a run, recorded before its first second.
#[derive(Debug, Clone, PartialEq)]
pub struct Header {
    /// Name, version and build of the program: `plimsoll 0.1.0 (7c1f)`.
    pub program: String,
    /// The time at which the file was made.
    pub created: WallTime,
    /// The command as it was typed.
    pub command_line: String,
    /// The plan.
    pub plan: Plan,
    /// The machines and the server as found. Facts found later are added to it; sections without facts are
    /// not kept.
    pub testbed: Testbed,
}
