//! The words of a benchmark: its nouns for what is counted, and the names of its score.

use languages::is_terminal_control;
use serde::{Deserialize, Serialize};

/// The greatest length of a word in bytes.
const WORD_MAX: usize = 64;

/// A noun in both numbers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Noun {
    /// The singular: `client`.
    pub one: String,
    /// The plural: `clients`.
    pub many: String,
}

/// The words of a benchmark, in lower case but for headings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Words {
    /// The noun for an operation: `request`.
    pub operation: Noun,
    /// The noun for a user of a closed loop: `client`.
    pub user: Noun,
    /// The noun for a unit, a group of operations: `page`.
    pub unit: Noun,
    /// The unit of the score in full, as it follows a number: `connections per second`.
    pub score: String,
    /// The score as the heading of a column: `Conn/second`.
    pub score_heading: String,
    /// The heading of the mean response time: `Latency`.
    pub response_heading: String,
}

impl Noun {
    /// Makes a noun whose plural ends with an s.
    pub fn regular(one: &str) -> Noun {
        Noun { one: one.to_owned(), many: format!("{one}s") }
    }

    /// Returns whether both words can be used.
    pub(crate) fn is_usable(&self) -> bool {
        is_word(&self.one) && is_word(&self.many)
    }

    /// Returns the number that fits a count.
    pub fn of(&self, n: u64) -> &str {
        if n == 1 { &self.one } else { &self.many }
    }
}

impl Default for Words {
    /// The general words, those of the glossary.
    fn default() -> Words {
        Words::of_rate("operation", "user")
    }
}

impl Words {
    /// Makes the words of a benchmark whose score is the rate of its operations per second, from regular nouns.
    pub fn of_rate(operation: &str, user: &str) -> Words {
        let operation = Noun::regular(operation);
        Words {
            score: format!("{} per second", operation.many),
            score_heading: format!("{}/second", capitalized(&operation.many)),
            operation,
            user: Noun::regular(user),
            unit: Noun::regular("unit"),
            response_heading: "Response time".to_owned(),
        }
    }

    /// Returns the rate of all operations as the heading of a column, where that is not the score: `Requests/second`.
    pub fn rate_heading(&self) -> String {
        format!("{}/second", capitalized(&self.operation.many))
    }

    /// Returns the rate of units as the heading of a column: `Pages/minute`.
    pub fn unit_rate_heading(&self) -> String {
        format!("{}/minute", capitalized(&self.unit.many))
    }

    /// Returns all words, each with the thing that it is for; of nouns first the singular.
    pub fn entries(&self) -> [(&'static str, &str); 9] {
        let Words { operation, user, unit, score, score_heading, response_heading } = self;
        [
            ("operation", &operation.one),
            ("operation", &operation.many),
            ("user", &user.one),
            ("user", &user.many),
            ("unit", &unit.one),
            ("unit", &unit.many),
            ("score", score),
            ("score heading", score_heading),
            ("response heading", response_heading),
        ]
    }

    /// Returns the first word, by the thing that it is for, that cannot be used: empty, too long, or not printable.
    pub(crate) fn fault(&self) -> Option<&'static str> {
        self.entries().into_iter().find(|(_, word)| !is_word(word)).map(|(place, _)| place)
    }
}

/// Returns whether a word can be used: neither empty nor too long, and printable.
fn is_word(word: &str) -> bool {
    !word.is_empty() && word.len() <= WORD_MAX && !word.contains(is_terminal_control)
}

/// Returns a text with its first letter in upper case.
pub fn capitalized(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}
