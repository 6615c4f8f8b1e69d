//! The data of a server, and the programs that make them.

use languages::names;

/// The data that a server keeps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DataRecipe {
    /// Their directory, which is `{data}`, below a folder that is made for the run on disk. It belongs to the server's
    /// account alone.
    pub directory: String,
}

/// A command that runs to its end, under the account of the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepRecipe {
    /// The time at which it runs.
    pub when: StepTime,
    /// The program and its arguments, with placeholders.
    pub run: Vec<String>,
    /// Its standard input, with placeholders.
    pub input: String,
}

impl StepRecipe {
    /// Returns the step that warms data of which the recipe does not say how: all files are read.
    pub(crate) fn read_all() -> StepRecipe {
        let command = r#"find "$0" -type f -exec cat {} + >/dev/null"#;
        StepRecipe {
            when: StepTime::Warm,
            run: ["sh", "-c", command, "{data}"].map(str::to_owned).to_vec(),
            input: String::new(),
        }
    }
}

names! {
    /// The time at which a step runs.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum StepTime without serde {
        /// Before the first start, unless the data come from a copy that an earlier run kept; afterwards they are copied if
        /// they are restored later.
        Made = "made",
        /// Before the first start of every run: for what the server needs beside its data.
        Prepared = "prepared",
        /// After each start, when the server is ready.
        Started = "started",
        /// Before each load point, repeatedly, until the data are in memory: reads all data.
        Warm = "warm",
    }
}
