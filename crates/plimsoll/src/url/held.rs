//! Values that a run holds in place of environment variables, and stores nowhere.

use std::collections::BTreeMap;

/// Values that a run holds, by the names of the environment variables from which a definition takes them.
#[derive(Default)]
pub(super) struct HeldValues {
    values: BTreeMap<String, String>,
}

impl HeldValues {
    /// Holds a value under this name.
    pub(super) fn insert(&mut self, variable: &str, value: &str) {
        self.values.insert(variable.to_owned(), value.to_owned());
    }

    /// Holds the value of a part of a request, and returns the name of its variable: equal values of a part share one.
    pub(super) fn hold(&mut self, part: &str, value: &str) -> String {
        let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' };
        let first = format!("PLIMSOLL_{}", part.chars().map(plain).collect::<String>());
        let numbered = (2..).map(|n| format!("{first}_{n}"));
        let is_usable = |name: &String| self.values.get(name).is_none_or(|other| other == value);
        let name = std::iter::once(first.clone()).chain(numbered).find(is_usable).unwrap_or(first);
        self.insert(&name, value);
        name
    }

    /// Returns the values by the names of their variables.
    pub(super) fn into_values(self) -> BTreeMap<String, String> {
        self.values
    }
}
