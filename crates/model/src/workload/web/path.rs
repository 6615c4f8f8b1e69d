//! Paths with parameters: `/spec/dir{directory:5}/class0_{file}`.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::template::{TemplatePiece, path_pieces};

/// A path, its query included, in which `{name}` stands for the value of a parameter and `{name:5}` for the
/// value with leading zeros up to five digits; `{data.column}` and `{extract.name}` stand for values that the user has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct PathPattern {
    text: String,
    pieces: Vec<Piece>,
    names: Vec<String>,
}

/// A value that replaces a parameter's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PathValue<'a> {
    /// A number, with as many leading zeros as the pattern asks for.
    Number(u64),
    /// A text, as it is.
    Text(&'a str),
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    Text(String),
    /// The value of a parameter, by its index among the names.
    Value {
        parameter: usize,
        digits: usize,
    },
    /// A value that the user has, as its placeholder.
    Session(String),
}

/// A reason why a text is not a path pattern.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{problem} at `{rest}`")]
pub struct PathPatternError {
    /// The mistake.
    pub problem: &'static str,
    /// The text from there on.
    pub rest: String,
}

impl PathPattern {
    /// Returns the names of its parameters in the order of their first appearance.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Returns whether it has values that the user has: columns of data, extracted values.
    pub fn has_session_values(&self) -> bool {
        self.pieces.iter().any(|piece| matches!(piece, Piece::Session(_)))
    }

    /// Appends the path; `value` gives the values of parameters, by their indexes among the names. Values that the user
    /// has are left as their placeholders.
    pub fn write<'a>(&self, value: impl Fn(usize) -> PathValue<'a>, out: &mut Vec<u8>) {
        for piece in &self.pieces {
            match piece {
                Piece::Text(text) => out.extend_from_slice(text.as_bytes()),
                Piece::Value { parameter, digits } => value(*parameter).write(*digits, out),
                Piece::Session(placeholder) => out.extend_from_slice(placeholder.as_bytes()),
            }
        }
    }
}

impl PathValue<'_> {
    /// Appends the value; a number has at least so many digits, at most 20.
    #[inline]
    pub fn write(self, digits: usize, out: &mut Vec<u8>) {
        match self {
            PathValue::Number(number) => write_number(number, digits, out),
            PathValue::Text(text) => out.extend_from_slice(text.as_bytes()),
        }
    }
}

fn write_number(mut value: u64, digits: usize, out: &mut Vec<u8>) {
    let mut buffer = [b'0'; 20];
    let mut at = buffer.len();
    while value != 0 || at == buffer.len() {
        at -= 1;
        buffer[at] = b'0' + (value % 10) as u8;
        value /= 10;
    }
    at = at.min(buffer.len().saturating_sub(digits));
    out.extend_from_slice(&buffer[at..]);
}

impl FromStr for PathPattern {
    type Err = PathPatternError;

    fn from_str(text: &str) -> Result<PathPattern, PathPatternError> {
        let fail = |problem, rest: &str| PathPatternError { problem, rest: rest.to_owned() };
        if !text.starts_with('/') {
            return Err(fail("expected a path that begins with `/`", text));
        }
        let mut names: Vec<String> = Vec::new();
        let pieces = path_pieces(text)?.into_iter().map(|piece| match piece {
            TemplatePiece::Text(text) => Piece::Text(text.to_owned()),
            TemplatePiece::Parameter { name, digits } => {
                let known = names.iter().position(|known| known == name);
                let parameter = known.unwrap_or_else(|| {
                    names.push(name.to_owned());
                    names.len() - 1
                });
                Piece::Value { parameter, digits }
            }
            TemplatePiece::Session(value) => Piece::Session(value.to_string()),
        });
        let pieces = pieces.collect();
        Ok(PathPattern { text: text.to_owned(), pieces, names })
    }
}

impl TryFrom<String> for PathPattern {
    type Error = PathPatternError;

    fn try_from(text: String) -> Result<PathPattern, PathPatternError> {
        text.parse()
    }
}

impl From<PathPattern> for String {
    fn from(pattern: PathPattern) -> String {
        pattern.text
    }
}

impl fmt::Display for PathPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn written(pattern: &str, values: &[u64]) -> String {
        let mut out = Vec::new();
        pattern.parse::<PathPattern>().unwrap().write(|index| PathValue::Number(values[index]), &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn values_replace_their_names_in_the_path() {
        assert_eq!(written("/plain", &[]), "/plain");
        assert_eq!(written("/spec/dir{d:5}/class0_{f}", &[7, 3]), "/spec/dir00007/class0_3");
        assert_eq!(
            written("/{a}/{b}?x={a:2}", &[u64::MAX, 0]),
            "/18446744073709551615/0?x=18446744073709551615"
        );
        assert_eq!(written("/{a:20}", &[1]), "/00000000000000000001");
        let pattern: PathPattern = "/{b}/{a}/{b}".parse().unwrap();
        assert_eq!(pattern.names(), ["b", "a"]);
    }

    #[test]
    fn errors_have_a_position() {
        let problem = |text: &str| text.parse::<PathPattern>().unwrap_err().to_string();
        let found =
            ["", "a", "/{", "/}", "/{}", "/a{b c}", "/{a:x}", "/{a:21}", "/{a{b}}"].map(problem).join("\n");
        insta::assert_snapshot!(found, @r"
        expected a path that begins with `/` at ``
        expected a path that begins with `/` at `a`
        `{` without `}` at `{`
        `}` without `{` at `}`
        expected the name of a parameter, such as `{id}`, at `{}`
        expected the name of a parameter, such as `{id}`, at `{b c}`
        expected a number of digits up to 20 at `{a:x}`
        expected a number of digits up to 20 at `{a:21}`
        expected the name of a parameter, such as `{id}`, at `{a{b}}`
        ");
    }

    proptest! {
        #[test]
        fn any_text_is_a_pattern_or_an_error(text in "/?[a-z{}:0-9?]{0,30}") {
            if let Ok(pattern) = text.parse::<PathPattern>() {
                prop_assert_eq!(pattern.to_string(), text);
                pattern.write(|_| PathValue::Number(5), &mut Vec::new());
            }
        }
    }
}
