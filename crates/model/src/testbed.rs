//! The testbed as found: facts about hardware and software, for the disclosure.

use serde::{Deserialize, Serialize};

/// Everything that was found out about the machines and the server.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Testbed {
    /// Sections in the order of the report: hardware, software, network, server, load generator…
    pub sections: Vec<FactSection>,
}

/// Facts that belong together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FactSection {
    /// Heading: `System under test`, `Server configuration`.
    pub title: String,
    /// In the order of the report.
    pub facts: Vec<Fact>,
}

/// One fact.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fact {
    /// What it is about: `processor`, `net.core.somaxconn`.
    pub name: String,
    /// The value with its unit; several lines for a file's text.
    pub value: String,
}

impl FactSection {
    /// Makes a section from names and values.
    pub fn new(title: &str, facts: impl IntoIterator<Item = (&'static str, String)>) -> FactSection {
        let facts = facts.into_iter().map(|(name, value)| Fact { name: name.to_owned(), value }).collect();
        FactSection { title: title.to_owned(), facts }
    }
}
