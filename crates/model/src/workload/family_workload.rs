//! The answers of a workload to a plan, whatever its family. Each family gives all of them, in its own file.

use crate::{Catalog, Family, ThinkTime};

/// The most operations in flight of an open loop where nobody has chosen a number.
pub(super) const IN_FLIGHT_MAX: u32 = 1000;

/// That of databases: each operation in flight may have a session of its own, of which servers have few.
pub(super) const SESSIONS_MAX: u32 = 64;

/// The workload of a family.
pub(super) trait FamilyWorkload {
    /// Returns the family.
    fn family(&self) -> Family;

    /// Returns the most operations in flight of an open loop where nobody has chosen a number.
    fn in_flight_max(&self) -> u32;

    /// Returns what a run of the workload counts and measures.
    fn catalog(&self) -> Catalog;

    /// Returns the pause of users.
    fn think(&self) -> ThinkTime;

    /// Returns whether users have state that their next operation depends on ([`crate::Mix::has_user_state`]).
    fn has_user_state(&self) -> bool;

    /// Returns whether connections are encrypted.
    fn is_encrypted(&self) -> bool;

    /// Returns whether a system under test of a name has its data in SQLite, which has one writer at a time.
    fn has_one_writer(&self, sut: &str) -> bool;

    /// Returns whether a higher load needs more data on the server.
    fn grows_with_load(&self) -> bool;

    /// Describes the data of users on the server; `None` of a workload that has none, and of the web, whose files the
    /// file set has.
    fn data_text(&self) -> Option<String>;

    /// Describes the way in which operations are made, beside which alone figures of the workload are to be shown;
    /// `None` where the settings say it all.
    fn mode_text(&self) -> Option<String>;

    /// Returns the sentence that every report of the workload ends with; `None` of workloads that derive from no
    /// protected name.
    fn notice(&self) -> Option<&'static str>;
}
