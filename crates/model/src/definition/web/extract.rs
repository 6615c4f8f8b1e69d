//! Reading `extract.NAME`: values that are taken from a reply.

use languages::reader::{TomlTable, ValueError};
use languages::spec::{ValueSpec, flag, line, text};

use super::request::is_field_name;
use crate::workload::is_name;
use crate::{ExtractSource, Extraction, compile_regex, is_json_pointer};

/// The longest regular expression in bytes.
const REGEX_MAX: usize = 2000;

/// Reads all values that are taken from a reply.
pub(super) fn read_extracts(mut table: TomlTable) -> Vec<Extraction> {
    let inner = table.named_tables();
    table.finish();
    inner.into_iter().filter_map(|(name, table)| read_one(name, table)).collect()
}

fn read_one(name: &str, mut table: TomlTable) -> Option<Extraction> {
    if !is_name(name) {
        let error = ValueError::new(format!("`{name}` cannot be the name of a value"));
        table.reject_all(error.hint("use letters, digits, `-` and `_`"));
    }
    table.describe("Extract", "The place of a value in a reply: one of `json`, `header` and `regex`.");
    let about = "A JSON pointer (RFC 6901) to a string, number or truth value of the body.";
    let json = table.optional("json", about, json_pointer()).map(ExtractSource::Json);
    let header = table.optional("header", "The name of a header field.", header_name());
    let header = header.map(ExtractSource::Header);
    let about = "A regular expression; the value is its first group, or the whole match. It is matched in linear time.";
    let regex = table.optional("regex", about, regex()).map(ExtractSource::Regex);
    let about = "Whether the user keeps the value after the page; if absent: `false`.";
    let keep = table.optional("keep", about, flag()).unwrap_or(false);
    let n_given = ["json", "header", "regex"].into_iter().filter(|key| table.value(key).is_some()).count();
    if n_given != 1 {
        table.reject_all(ValueError::new("expected one of `json`, `header` and `regex`"));
    }
    table.finish();
    Some(Extraction { name: name.to_owned(), from: json.or(header).or(regex)?, keep })
}

/// JSON pointers.
pub(super) fn json_pointer() -> ValueSpec<String> {
    text().rule("pattern", "^(/.*)?$").and_then(|pointer| {
        check_pointer(&pointer)?;
        Ok(pointer)
    })
}

/// Checks a JSON pointer.
pub(super) fn check_pointer(pointer: &str) -> Result<(), ValueError> {
    if is_json_pointer(pointer) {
        Ok(())
    } else {
        Err(ValueError::new("expected a JSON pointer").hint(
            "write a slash before each step, such as `/user/name` or `/items/0/id`; `~1` stands for a slash",
        ))
    }
}

fn header_name() -> ValueSpec<String> {
    line().and_then(|name| {
        if !is_field_name(&name) {
            return Err(ValueError::new("this is not the name of a header field"));
        }
        if name.eq_ignore_ascii_case("set-cookie") {
            return Err(ValueError::new("cookies are not extracted")
                .hint("write `cookies = \"user\"` in `[workload]`"));
        }
        Ok(name)
    })
}

/// Regular expressions.
pub(in crate::definition) fn regex() -> ValueSpec<String> {
    text().rule("maxLength", REGEX_MAX).and_then(|pattern| {
        if REGEX_MAX < pattern.len() {
            return Err(ValueError::new(format!("expected at most {REGEX_MAX} bytes")));
        }
        match compile_regex(&pattern) {
            Ok(_) => Ok(pattern),
            Err(reason) => Err(ValueError::new(format!("not a regular expression: {reason}")).hint(
                "write it in single quotes, as in `'name=\"token\" value=\"([^\"]+)\"'`; without look-around and back-references",
            )),
        }
    })
}
