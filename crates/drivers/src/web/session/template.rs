//! Texts of a request with the user's values in them.

use languages::{UNRESERVED_MARKS, push_percent_encoded};
use model::{BodyEncoding, PathValue, Request, SessionValue, TemplatePiece, template_pieces};

use super::SessionContext;
use super::user::UserValues;
use crate::web::missing_value::MissingValue;

/// The encoding of a text, which decides how values are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ValueEncoding {
    /// In a path or its query: values that a user has are percent-encoded, those of parameters are not.
    Path,
    /// In a header: as they are.
    Header,
    /// In a body.
    Body(BodyEncoding),
}

/// A text with placeholders, each resolved to the number of its value.
#[derive(Debug)]
pub(super) struct Template {
    pieces: Vec<Piece>,
    encoding: ValueEncoding,
}

#[derive(Debug)]
enum Piece {
    Text(Box<str>),
    Parameter {
        index: usize,
        digits: usize,
    },
    /// A column of the row in some data.
    Column {
        data: usize,
        column: usize,
    },
    Extracted(usize),
}

impl Template {
    /// Resolves the placeholders of a text. One that stands for nothing is text.
    pub(super) fn new(
        text: &str,
        encoding: ValueEncoding,
        request: &Request,
        session: &SessionContext,
    ) -> Template {
        let resolve = |piece: TemplatePiece| {
            let resolved = match piece {
                TemplatePiece::Text(text) => Some(Piece::Text(text.into())),
                TemplatePiece::Parameter { name, digits } => {
                    request.parameter_index(name).map(|index| Piece::Parameter { index, digits })
                }
                TemplatePiece::Session(SessionValue::Column { data, column }) => {
                    session.column(data, column).map(|(data, column)| Piece::Column { data, column })
                }
                TemplatePiece::Session(SessionValue::Extracted(name)) => {
                    session.extracted_number(name).map(Piece::Extracted)
                }
            };
            resolved.unwrap_or_else(|| Piece::Text(piece.to_string().into()))
        };
        Template { pieces: template_pieces(text).into_iter().map(resolve).collect(), encoding }
    }

    /// Returns whether it has a value.
    pub(super) fn varies(&self) -> bool {
        self.pieces.iter().any(|piece| !matches!(piece, Piece::Text(_)))
    }

    /// Writes the text of an object of a request.
    pub(super) fn write(
        &self,
        request: &Request,
        number: u64,
        user: &UserValues,
    ) -> Result<String, MissingValue> {
        let mut out = String::new();
        for piece in &self.pieces {
            match piece {
                Piece::Text(text) => out += text,
                Piece::Parameter { index, digits } => match request.written_value(*index, number) {
                    PathValue::Number(number) => out += &format!("{number:0digits$}"),
                    PathValue::Text(text) if self.encoding == ValueEncoding::Path => out += text,
                    PathValue::Text(text) => self.push(text, &mut out),
                },
                Piece::Column { data, column } => self.push(user.value(*data, *column)?, &mut out),
                Piece::Extracted(slot) => self.push(user.extracted(*slot)?, &mut out),
            }
        }
        Ok(out)
    }

    fn push(&self, value: &str, out: &mut String) {
        match self.encoding {
            ValueEncoding::Header | ValueEncoding::Body(BodyEncoding::Text) => *out += value,
            ValueEncoding::Path => push_percent_encoded(value, UNRESERVED_MARKS, out),
            ValueEncoding::Body(BodyEncoding::Form) => push_percent_encoded(value, "*-._", out),
            ValueEncoding::Body(BodyEncoding::Json) => {
                let quoted = serde_json::Value::from(value).to_string();
                *out += quoted.get(1..quoted.len() - 1).unwrap_or_default();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_encoded_for_their_place() {
        let pushed = |encoding| {
            let mut out = String::new();
            Template { pieces: Vec::new(), encoding }.push("a b\"&=/\u{e4}\n", &mut out);
            out
        };
        assert_eq!(pushed(ValueEncoding::Path), "a%20b%22%26%3D%2F%C3%A4%0A");
        assert_eq!(pushed(ValueEncoding::Body(BodyEncoding::Form)), "a%20b%22%26%3D%2F%C3%A4%0A");
        assert_eq!(pushed(ValueEncoding::Body(BodyEncoding::Json)), "a b\\\"&=/\u{e4}\\n");
        assert_eq!(pushed(ValueEncoding::Header), "a b\"&=/\u{e4}\n");
    }
}
