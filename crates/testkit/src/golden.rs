//! Comparison of documents with stored ones: numbers must not change, words may.

use std::fs;
use std::path::Path;

use serde_json::Value;

/// Compares a document, written as JSON, with the one kept at `path`. With `PLIMSOLL_GOLDEN=write` in the environment it
/// is kept first, so that the difference shows in review.
///
/// # Panics
/// If the documents differ ([`differences`]), or the kept one cannot be used.
#[track_caller]
pub fn assert_kept(path: &Path, found: &str) {
    if std::env::var_os("PLIMSOLL_GOLDEN").is_some_and(|value| value == "write") {
        fs::write(path, found).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    }
    let kept = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let [kept, found] = [&kept, found].map(|text| serde_json::from_str(text).expect("a document is JSON"));
    assert_eq!(differences(&kept, &found), [""; 0], "{}", path.display());
}

/// Compares a document with the stored one, and returns every difference with its position: a number, a
/// boolean, a name, a missing or an additional key or element.
///
/// Numbers are equal bit for bit. A text of several words is prose, which may be rewritten; one without a
/// space is a name, and must not change.
pub fn differences(kept: &Value, found: &Value) -> Vec<String> {
    let mut all = Vec::new();
    compare("", kept, found, &mut all);
    all
}

fn compare(place: &str, kept: &Value, found: &Value, all: &mut Vec<String>) {
    match (kept, found) {
        (Value::Object(kept), Value::Object(found)) => {
            for (key, kept) in kept {
                match found.get(key) {
                    Some(found) => compare(&format!("{place}/{key}"), kept, found, all),
                    None => all.push(format!("{place}/{key}: missing")),
                }
            }
            let new = found.keys().filter(|key| !kept.contains_key(*key));
            all.extend(new.map(|key| format!("{place}/{key}: new")));
        }
        (Value::Array(kept), Value::Array(found)) if kept.len() == found.len() => {
            for (index, (kept, found)) in kept.iter().zip(found).enumerate() {
                compare(&format!("{place}/{index}"), kept, found, all);
            }
        }
        (Value::String(kept), Value::String(found)) if is_prose(kept) && is_prose(found) => {}
        _ if kept == found => {}
        (Value::Array(kept), Value::Array(found)) => {
            all.push(format!("{place}: {} elements instead of {}", found.len(), kept.len()));
        }
        _ => all.push(format!("{place}: {found} instead of {kept}")),
    }
}

fn is_prose(text: &str) -> bool {
    text.contains(char::is_whitespace)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn prose_may_change_and_numbers_names_and_shapes_may_not() {
        let kept = json!({ "rate": 1.5, "rule": "errors", "text": "two of three failed", "points": [1, 2], "ok": true });
        assert_eq!(differences(&kept, &kept), [""; 0]);
        let found = json!({ "rate": 1.5, "rule": "errors", "text": "3 requests failed", "points": [1, 2], "ok": true });
        assert_eq!(differences(&kept, &found), [""; 0]);
        let found = json!({ "rate": 1.6, "rule": "error", "text": null, "points": [1], "more": 0 });
        assert_eq!(
            differences(&kept, &found),
            [
                "/ok: missing",
                "/points: 1 elements instead of 2",
                "/rate: 1.6 instead of 1.5",
                "/rule: \"error\" instead of \"errors\"",
                "/text: null instead of \"two of three failed\"",
                "/more: new",
            ]
        );
    }
}
