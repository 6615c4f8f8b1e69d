//! Cache tags (surrogate keys), by which responses can be purged.

use cache_policy::FieldLines;

/// The most tags of one response; further ones are ignored.
const TAGS_MAX: usize = 128;

/// The fields that list tags, and their separators.
const FIELDS: [(&str, char); 2] = [("surrogate-key", ' '), ("cache-tag", ',')];

/// Reads the tags of a response from its `Surrogate-Key` and `Cache-Tag` lines: each once, in order of appearance.
///
/// A tag that is not UTF-8 is ignored.
pub fn tags_of<'a>(lines: impl FieldLines<'a>) -> Box<[Box<str>]> {
    let mut tags: Vec<Box<str>> = Vec::new();
    for (name, value) in lines {
        let Some((_, separator)) =
            FIELDS.iter().find(|(field, _)| name.eq_ignore_ascii_case(field.as_bytes()))
        else {
            continue;
        };
        let value = std::str::from_utf8(value).unwrap_or_default();
        for tag in value.split(*separator).map(str::trim).filter(|tag| !tag.is_empty()) {
            if tags.len() < TAGS_MAX && !tags.iter().any(|known| **known == *tag) {
                tags.push(tag.into());
            }
        }
    }
    tags.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tags(lines: &[(&'static str, &'static str)]) -> Vec<String> {
        let lines: Vec<_> = lines.iter().map(|(name, value)| (name.as_bytes(), value.as_bytes())).collect();
        tags_of(lines.iter().copied()).iter().map(|tag| tag.to_string()).collect()
    }

    #[test]
    fn tags_are_collected_from_both_fields_once() {
        assert_eq!(
            tags(&[("Surrogate-Key", "a  b"), ("cache-tag", "b, c d,,"), ("X", "e")]),
            ["a", "b", "c d"]
        );
        assert_eq!(tags(&[("Surrogate-Key", " "), ("Cache-Tag", ",")]), Vec::<String>::new());
    }

    #[test]
    fn tags_are_limited_in_number() {
        let value: Vec<String> = (0..2 * TAGS_MAX).map(|number| number.to_string()).collect();
        let value = value.join(" ");
        let line = [(&b"Surrogate-Key"[..], value.as_bytes())];
        assert_eq!(tags_of(line.iter().copied()).len(), TAGS_MAX);
    }
}
