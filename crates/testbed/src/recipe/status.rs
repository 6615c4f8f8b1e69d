//! The place where a server says how busy it is.

use observe::StatusKind;

/// The place where a server says how busy it is, on the port that it serves: a status page, read over plain HTTP only, or
/// the operation `STATS` of application servers and of those of order-entry data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatusRecipe {
    /// The form.
    pub kind: StatusKind,
    /// The path of a page, including a query.
    pub path: Option<String>,
    /// The maximum number of connections of one worker, if the page does not state it: a number or a
    /// placeholder.
    pub connections_per_worker: Option<String>,
}

impl StatusRecipe {
    /// Returns the recipe of a built-in server that has no page.
    pub(crate) fn of_built_in(kind: StatusKind) -> StatusRecipe {
        StatusRecipe { kind, path: None, connections_per_worker: None }
    }
}
