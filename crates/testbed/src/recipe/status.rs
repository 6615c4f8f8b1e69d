//! The status page of a server.

use observe::StatusKind;
use schemars::JsonSchema;

/// A status page, which shows how busy a server is, on the port that it serves; read over plain HTTP only.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema)]
#[schemars(rename_all = "kebab-case", deny_unknown_fields)]
pub struct StatusRecipe {
    /// The format of the page.
    pub kind: StatusKind,
    /// Its path, including a query.
    pub path: String,
    /// The maximum number of connections of one worker, if the page does not state it: a number or a
    /// placeholder.
    pub connections_per_worker: Option<String>,
}
