//! The page on which a server tells how busy it is.

use schemars::JsonSchema;
use serde::Deserialize;

/// A page on which a server tells how busy it is, at the port at which it serves; read over plain HTTP only.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct StatusRecipe {
    /// What the page looks like.
    pub kind: StatusKind,
    /// Its path, with what is to be asked for.
    pub path: String,
    /// The connections that one worker can have, where the page does not say it: a number or a placeholder.
    pub connections_per_worker: Option<String>,
}

/// What a status page looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum StatusKind {
    /// That of nginx' `stub_status`.
    NginxStub,
    /// That of Apache's mod_status, asked for with `?auto`.
    ApacheAuto,
}
