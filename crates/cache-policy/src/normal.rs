//! Request fields in a normal form, in which equivalent values are equal text (RFC 9111 §4.1).

use crate::message::{FieldLines, values};
use crate::weights::{WeightedValue, weighted, write_weighted};

/// The form of a field's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// Codings and charsets: order has no meaning, only weights do.
    Unordered,
    /// Languages and media types: some servers honour the order of those of equal weight (RFC 9110 §12.5.4).
    Ordered,
    /// Pairs of a cookie, which may come in several lines (RFC 9113 §8.2.3).
    Pairs,
    /// All others: lines are joined (RFC 9110 §5.2).
    Text,
}

/// Fields with a known form.
const FORMS: [(&str, Form); 5] = [
    ("accept-encoding", Form::Unordered),
    ("accept-charset", Form::Unordered),
    ("accept-language", Form::Ordered),
    ("accept", Form::Ordered),
    ("cookie", Form::Pairs),
];

/// Returns the values of all lines of this name as one text; `None` if there is no such line.
///
/// `name` in lower case. `accept-encoding` is reduced to `codings` unless that is empty, see [`reduced`].
pub(crate) fn normal<'a>(name: &str, lines: impl FieldLines<'a>, codings: &[String]) -> Option<Vec<u8>> {
    let form = FORMS.iter().find(|(known, _)| *known == name).map_or(Form::Text, |(_, form)| *form);
    let separator: &[u8] = if form == Form::Pairs { b"; " } else { b", " };
    let joined = joined(values(lines, name), separator)?;
    let list = match form {
        Form::Unordered | Form::Ordered => weighted(&joined),
        Form::Pairs | Form::Text => None,
    };
    Some(match list {
        None => joined,
        Some(list) if name == "accept-encoding" && !codings.is_empty() => {
            reduced(&list, codings).into_bytes()
        }
        Some(list) => write_weighted(&sorted(list, form)).into_bytes(),
    })
}

fn joined<'a>(mut lines: impl Iterator<Item = &'a [u8]>, separator: &[u8]) -> Option<Vec<u8>> {
    let mut text = lines.next()?.to_vec();
    for line in lines {
        text.extend_from_slice(separator);
        text.extend_from_slice(line);
    }
    Some(text)
}

/// Sorts by descending weight, and those of equal weight by name if their order has no meaning.
///
/// Obsolete names of codings are replaced by the current ones (RFC 9110 §8.4.1).
fn sorted(mut list: Vec<WeightedValue>, form: Form) -> Vec<WeightedValue> {
    if form == Form::Unordered {
        for one in &mut list {
            if matches!(one.value.as_str(), "x-gzip" | "x-compress") {
                one.value.drain(..2);
            }
        }
        list.sort_by(|one, other| one.value.cmp(&other.value));
    }
    list.sort_by_key(|one| std::cmp::Reverse(one.weight));
    list
}

/// Returns those of `codings` that a list accepts, as a field value; empty if it accepts none of them.
fn reduced(list: &[WeightedValue], codings: &[String]) -> String {
    let weight_of = |name: &str| list.iter().find(|one| one.value == name).map(|one| one.weight);
    let accepts =
        |coding: &&String| weight_of(coding).or_else(|| weight_of("*")).is_some_and(|weight| 0 < weight);
    codings.iter().filter(accepts).map(String::as_str).collect::<Vec<_>>().join(", ")
}

/// Returns the `Accept-Encoding` for the origin, reduced to `codings`; `None` to leave the client's as it is.
///
/// Empty if the client accepts none of them: the field then says that no coding is wanted (RFC 9110 §12.5.3).
pub fn accept_encoding<'a>(lines: impl FieldLines<'a>, codings: &[String]) -> Option<String> {
    if codings.is_empty() {
        return None;
    }
    let value = joined(values(lines, "accept-encoding"), b", ")?;
    Some(reduced(&weighted(&value)?, codings))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(name: &str, lines: &[&str], expected: &str) {
        let lines: Vec<_> = lines.iter().map(|line| (name.as_bytes(), line.as_bytes())).collect();
        let found = normal(name, lines.iter().copied(), &[]).unwrap();
        assert_eq!(String::from_utf8_lossy(&found), expected);
    }

    #[test]
    fn codings_of_equal_weight_are_unordered() {
        check("accept-encoding", &["gzip, deflate, br"], "br,deflate,gzip");
        check("accept-encoding", &["BR", "deflate ,X-GZIP"], "br,deflate,gzip");
        check("accept-encoding", &["gzip;q=0.5, br"], "br,gzip;q=500");
        check("accept-encoding", &[""], "");
    }

    #[test]
    fn languages_of_equal_weight_keep_their_order() {
        check("accept-language", &["en , DE"], "en,de");
        check("accept-language", &["de,en"], "de,en");
        check("accept-language", &["en;q=0.5, de"], "de,en;q=500");
    }

    #[test]
    fn fields_of_unknown_form_are_only_joined() {
        check("x-a", &["1,2", "B"], "1,2, B");
        check("accept", &["text/html;level=1, */*"], "text/html;level=1, */*");
        check("cookie", &["a=1", "b=2"], "a=1; b=2");
    }

    #[test]
    fn accept_encoding_is_reduced_to_the_configured_codings() {
        let codings = ["br".to_owned(), "gzip".to_owned()];
        let reduced = |value: &str| {
            let lines: [(&[u8], &[u8]); 1] = [(b"Accept-Encoding", value.as_bytes())];
            accept_encoding(lines.iter().copied(), &codings)
        };
        for (value, expected) in [
            ("gzip, deflate, br, zstd", "br, gzip"),
            ("gzip;q=0.1", "gzip"),
            ("gzip;q=0, *", "br"),
            ("*", "br, gzip"),
            ("identity", ""),
            ("", ""),
        ] {
            assert_eq!(reduced(value).as_deref(), Some(expected), "{value}");
        }
        assert_eq!(reduced("gzip;q=9"), None);
    }
}
