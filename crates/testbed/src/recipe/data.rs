//! The data of a server, and the programs that make them.

use languages::names;
use schemars::JsonSchema;

/// The data that a server keeps.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema)]
#[schemars(rename_all = "kebab-case", deny_unknown_fields)]
pub struct DataRecipe {
    /// Their directory below the work directory, which is `{data}`. It belongs to the server's account alone.
    #[schemars(length(min = 1))]
    pub directory: String,
}

/// A command that runs to its end, under the account of the server.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema)]
#[schemars(rename_all = "kebab-case", deny_unknown_fields)]
pub struct StepRecipe {
    /// The time at which it runs.
    pub when: StepTime,
    /// The program and its arguments, with placeholders.
    #[schemars(length(min = 1))]
    pub run: Vec<String>,
    /// Its standard input, with placeholders.
    #[schemars(default)]
    pub input: String,
}

names! {
    /// The time at which a step runs.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema)]
    pub enum StepTime {
        /// Once, before the first start; afterwards the data are copied if they are restored later.
        Made = "made",
        /// After each start, when the server is ready.
        Started = "started",
    }
}
