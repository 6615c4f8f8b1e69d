//! Reading `extract.NAME`: values that are taken from a reply.

use languages::reader::{TomlTable, ValueError, flag, line, text};
use toml::de::DeValue;

use super::request::is_field_name;
use crate::workload::is_name;
use crate::{Extract, ExtractSource, compile_regex, is_json_pointer};

/// The longest regular expression in bytes.
const REGEX_MAX: usize = 2000;

/// Reads all values that are taken from a reply.
pub(super) fn read_extracts(mut table: TomlTable) -> Vec<Extract> {
    let inner = table.named_tables_undescribed();
    table.finish();
    inner.into_iter().filter_map(|(name, table)| read_one(name, table)).collect()
}

fn read_one(name: &str, mut table: TomlTable) -> Option<Extract> {
    if !is_name(name) {
        let error = ValueError::new(format!("`{name}` cannot be the name of a value"));
        table.reject_all(error.hint("take letters, digits, `-` and `_`"));
    }
    let json = table.optional_undescribed("json", json_pointer).map(ExtractSource::Json);
    let header = table.optional_undescribed("header", header_name).map(ExtractSource::Header);
    let regex = table.optional_undescribed("regex", regex).map(ExtractSource::Regex);
    let keep = table.optional_undescribed("keep", flag).unwrap_or(false);
    let n_given = ["json", "header", "regex"].into_iter().filter(|key| table.value(key).is_some()).count();
    if n_given != 1 {
        table.reject_all(ValueError::new("expected one of `json`, `header` and `regex`"));
    }
    table.finish();
    Some(Extract { name: name.to_owned(), from: json.or(header).or(regex)?, keep })
}

/// Reads a JSON pointer.
pub(super) fn json_pointer(value: &DeValue) -> Result<String, ValueError> {
    let pointer = text(value)?;
    check_pointer(&pointer)?;
    Ok(pointer)
}

/// Checks a JSON pointer.
pub(super) fn check_pointer(pointer: &str) -> Result<(), ValueError> {
    match is_json_pointer(pointer) {
        true => Ok(()),
        false => Err(ValueError::new("expected a JSON pointer").hint(
            "write a slash before each step, such as `/user/name` or `/items/0/id`; `~1` stands for a slash",
        )),
    }
}

fn header_name(value: &DeValue) -> Result<String, ValueError> {
    let name = line(value)?;
    if !is_field_name(&name) {
        return Err(ValueError::new("this is not the name of a header field"));
    }
    match name.eq_ignore_ascii_case("set-cookie") {
        true => {
            Err(ValueError::new("cookies are not extracted")
                .hint("write `cookies = \"user\"` in `[workload]`"))
        }
        false => Ok(name),
    }
}

/// Reads a regular expression.
pub(in crate::definition) fn regex(value: &DeValue) -> Result<String, ValueError> {
    let pattern = text(value)?;
    if REGEX_MAX < pattern.len() {
        return Err(ValueError::new(format!("expected at most {REGEX_MAX} bytes")));
    }
    match compile_regex(&pattern) {
        Ok(_) => Ok(pattern),
        Err(reason) => Err(ValueError::new(format!("not a regular expression: {reason}"))
            .hint("write it in single quotes, as in `'name=\"token\" value=\"([^\"]+)\"'`; without look-around and back-references")),
    }
}
