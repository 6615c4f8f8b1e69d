//! The testbed as found: facts about hardware and software, for the disclosure.

use languages::{REDACTED, is_credential_name, names, without_credentials};
use serde::{Deserialize, Serialize};

/// The prefix of the titles of sections about a machine that made the load and did not run the server.
pub const LOAD_MACHINE: &str = "Load machine: ";

/// The prefix of the name of an environment variable that a program was started with.
const ENVIRONMENT_VARIABLE: &str = "environment variable ";

/// The title of the section with the values that the program chose for one run alone: ports and folders.
///
/// The name of such a fact identifies the value (`port`); the value replaces its placeholder in the recipe's texts as
/// a whole token. Comparisons of configurations ignore these values.
pub const RUN_VALUES: &str = "Values chosen for this run";

/// The facts found about the machines and the server.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Testbed {
    /// Sections in the order of the report: hardware, software, network, server, load generator…
    pub sections: Vec<FactSection>,
}

/// A section of related facts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FactSection {
    /// Heading: `System under test`, `Server configuration`.
    pub title: String,
    /// The facts in the order of the report.
    pub facts: Vec<Fact>,
}

/// One fact.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fact {
    /// The name: `processor`, `net.core.somaxconn`.
    pub name: String,
    /// The value with its unit; several lines for a file's text; the reason, if the fact is not disclosed.
    pub value: String,
    /// The source: `/proc/cpuinfo`, `dpkg status`; empty where that was not recorded.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub source: String,
    /// The state of the fact.
    #[serde(default, skip_serializing_if = "FactState::is_found")]
    pub state: FactState,
}

names! {
    /// The state of a fact: found, told by the operator, or not disclosed.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
    pub enum FactState {
        /// Found on the machine.
        #[default]
        Found = "found",
        /// Found, with the system's default value.
        Usual = "usual",
        /// Found, but redacted: the value is without credentials and without names of persons, machines and networks.
        Redacted = "redacted",
        /// A fact that was not found; the value says why.
        NotDisclosed = "not-disclosed",
        /// Told by the operator in the notes.
        Told = "told",
    }
}

impl FactState {
    fn is_found(&self) -> bool {
        *self == FactState::Found
    }
}

impl Fact {
    /// Makes a fact that was found, without its source.
    pub fn found(name: &str, value: &str) -> Fact {
        Fact {
            name: name.to_owned(),
            value: value.to_owned(),
            source: String::new(),
            state: FactState::Found,
        }
    }

    /// Returns the fact with a source.
    pub fn from(self, source: &str) -> Fact {
        Fact { source: source.to_owned(), ..self }
    }

    /// Returns whether the value is a text of several lines, such as a file.
    pub fn is_text(&self) -> bool {
        self.value.trim_end().contains('\n')
    }
}

impl FactSection {
    /// Returns the names of the facts that are not disclosed, by reason, in the order in which reasons occur.
    pub fn missing(&self) -> Vec<(&str, Vec<&str>)> {
        let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
        for fact in self.facts.iter().filter(|fact| fact.state == FactState::NotDisclosed) {
            match reasons.iter_mut().find(|(why, _)| *why == fact.value) {
                Some((_, names)) => names.push(&fact.name),
                None => reasons.push((&fact.value, vec![&fact.name])),
            }
        }
        reasons
    }

    /// Removes credentials from values: of environment variables with such names, and in texts such as
    /// configurations. An operator's notes stay, because they are disclosed on purpose.
    pub fn leave_out_credentials(&mut self) {
        let is_shown = |fact: &&mut Fact| !matches!(fact.state, FactState::Told | FactState::NotDisclosed);
        for fact in self.facts.iter_mut().filter(is_shown) {
            let variable = fact.name.strip_prefix(ENVIRONMENT_VARIABLE);
            let value = if variable.is_some_and(is_credential_name) && !fact.value.is_empty() {
                REDACTED.to_owned()
            } else {
                without_credentials(&fact.value)
            };
            if value != fact.value {
                fact.value = value;
                fact.state = FactState::Redacted;
            }
        }
    }

    /// Makes a section from names and values that were found.
    pub fn new(title: &str, facts: impl IntoIterator<Item = (&'static str, String)>) -> FactSection {
        let facts = facts.into_iter().map(|(name, value)| Fact::found(name, &value)).collect();
        FactSection { title: title.to_owned(), facts }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Older readers of the JSON form know only name and value, so a plain fact is stored with these alone.
    #[test]
    fn a_plain_fact_is_written_as_before() {
        let plain = serde_json::to_string(&Fact::found("memory", "8 GiB")).unwrap();
        assert_eq!(plain, r#"{"name":"memory","value":"8 GiB"}"#);
        assert_eq!(serde_json::from_str::<Fact>(&plain).unwrap(), Fact::found("memory", "8 GiB"));
        let missing =
            Fact { state: FactState::NotDisclosed, ..Fact::found("serial", "no such file").from("/sys/x") };
        let text = serde_json::to_string(&missing).unwrap();
        assert!(text.contains(r#""source":"/sys/x","state":"not-disclosed""#), "{text}");
        assert_eq!(serde_json::from_str::<Fact>(&text).unwrap(), missing);
    }

    #[test]
    fn credentials_are_removed_from_facts_that_are_not_notes() {
        let told = Fact { state: FactState::Told, ..Fact::found("remark", "token=abc") };
        let mut section = FactSection {
            title: "Server".into(),
            facts: vec![
                Fact::found("command line", "/usr/sbin/x --admin-token abc -p 1"),
                Fact::found("environment variable DB_PASSWORD", "abc"),
                Fact::found("environment variable LANG", "C"),
                Fact::found("x.conf", "listen 1;\nproxy_set_header X-Api-Key abc;\n"),
                told.clone(),
            ],
        };
        section.leave_out_credentials();
        let values: Vec<&str> = section.facts.iter().map(|fact| fact.value.as_str()).collect();
        assert_eq!(
            values,
            [
                "/usr/sbin/x --admin-token [redacted] -p 1",
                REDACTED,
                "C",
                "listen 1;\nproxy_set_header X-Api-Key [redacted];\n",
                "token=abc",
            ]
        );
        assert_eq!(section.facts[1].state, FactState::Redacted);
        assert_eq!((section.facts[2].state, &section.facts[4]), (FactState::Found, &told));
    }

    #[test]
    fn missing_facts_are_grouped_by_reason() {
        let fact = |name: &str, value: &str, state| Fact { state, ..Fact::found(name, value) };
        let facts = vec![
            fact("a", "no such file", FactState::NotDisclosed),
            fact("b", "no such file", FactState::Found),
            fact("c", "permission denied", FactState::NotDisclosed),
            fact("d", "no such file", FactState::NotDisclosed),
        ];
        let section = FactSection { title: "x".to_owned(), facts };
        assert_eq!(section.missing(), [("no such file", vec!["a", "d"]), ("permission denied", vec!["c"])]);
    }

    #[test]
    fn states_are_stored_by_their_json_names() {
        for state in FactState::ALL {
            assert_eq!(serde_json::to_value(state).unwrap(), state.name());
        }
    }
}
