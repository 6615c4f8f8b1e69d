//! Targeted fields, `CDN-Cache-Control` for example (RFC 9213): structured fields, unlike `Cache-Control`.

use sfv::{BareItem, Dictionary, ListEntry, Parser};

use crate::directives::ResponseDirectives;

/// An argument that no directive accepts, so that it is read the strictest way.
const UNREADABLE: &str = "?";

/// Reads all lines of a targeted field, joined by commas.
///
/// `None` if the field is empty or not a dictionary, as it does not count then (RFC 9213 §2.1).
pub(crate) fn read(value: &[u8]) -> Option<ResponseDirectives> {
    let dictionary: Dictionary = Parser::new(value).parse().ok()?;
    let mut directives = ResponseDirectives::default();
    for (key, entry) in &dictionary {
        let name = key.as_str().as_bytes();
        match argument(entry) {
            Argument::Denied => {}
            Argument::None => directives.note(name, None),
            Argument::Text(text) => directives.note(name, Some(text.as_bytes())),
        }
    }
    (!dictionary.is_empty()).then_some(directives)
}

/// The argument of a directive.
enum Argument {
    /// False (`?0`), which is the same as absent.
    Denied,
    /// None.
    None,
    /// A text.
    Text(String),
}

/// Returns a directive's argument. A number must not be given as a string (RFC 9213 §2.1).
fn argument(entry: &ListEntry) -> Argument {
    let ListEntry::Item(item) = entry else {
        return Argument::Text(UNREADABLE.to_owned());
    };
    match &item.bare_item {
        BareItem::Boolean(true) => Argument::None,
        BareItem::Boolean(false) => Argument::Denied,
        BareItem::Integer(number) => Argument::Text(number.to_string()),
        BareItem::Token(name) => Argument::Text(name.as_str().to_owned()),
        BareItem::String(text) if !text.as_str().bytes().all(|byte| byte.is_ascii_digit()) => {
            Argument::Text(text.as_str().to_owned())
        }
        _ => Argument::Text(UNREADABLE.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use units::Nanos;

    use super::*;
    use crate::directives::DirectiveScope;

    #[test]
    fn directives_are_read_with_their_types() {
        let found =
            read(b"max-age=60;x=1, no-cache=\"a, b\", private, must-revalidate=?0, other=(1 2)").unwrap();
        assert_eq!(found.max_age, Some(Nanos::from_secs(60)));
        assert_eq!(found.no_cache, DirectiveScope::Fields(vec!["a".to_owned(), "b".to_owned()]));
        assert_eq!(found.private, DirectiveScope::Whole);
        assert!(!found.must_revalidate);
    }

    #[test]
    fn a_lifetime_of_the_wrong_type_is_zero() {
        for value in ["max-age=\"60\"", "max-age=60.5", "max-age=-1", "max-age=a", "max-age=(60)", "max-age"]
        {
            assert_eq!(read(value.as_bytes()).unwrap().max_age, Some(Nanos::ZERO), "{value}");
        }
    }

    #[test]
    fn malformed_dictionaries_are_ignored() {
        for value in [
            "",
            " ",
            "&",
            "max-age=60, &",
            "MAX-AGE=60",
            "max-age =60",
            "max-age= 60",
            "a,",
            "a=\"",
            "\u{fc}",
        ] {
            assert_eq!(read(value.as_bytes()), None, "{value}");
        }
    }
}
