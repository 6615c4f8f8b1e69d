//! Kinds of values of a recipe, with the errors for invalid ones.

use std::path::{Component, Path};

use languages::nearest;
use languages::reader::ValueError;
use languages::spec::{ValueSpec, text, whole_u32};
use observe::leftovers::LOCK;
use serde_json::json;
use toml::de::DeValue;

use super::placeholder::{PLACEHOLDERS, is_port, placeholders, port_placeholder};

/// The version of the format, which must be `current`.
pub(super) fn format(current: u32) -> ValueSpec<u32> {
    let schema = move || json!({ "type": "integer", "const": current });
    let old = whole_u32(1..=1);
    let known = whole_u32(current..=current);
    let read = move |value: &DeValue| {
        match old.read(value) {
        Ok(_) => Err(ValueError::new("expected a recipe of format 2, found one of format 1").hint(
            "write `format = 2`, and below it the line `family = \"web\"`; what else changes is shown as well",
        )),
        Err(_) => known.read(value),
    }
    };
    ValueSpec::new(schema, read)
}

/// Names of ports, which make the placeholders `{NAME_port}`.
pub(super) fn port_name() -> ValueSpec<String> {
    text().rule("pattern", "^[a-z]+$").and_then(|name| {
        if name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_lowercase()) {
            let error = ValueError::new(format!("expected the name of a port, found `{name}`"));
            return Err(error.hint("write lowercase letters, such as `imap`"));
        }
        if PLACEHOLDERS.contains(&port_placeholder(&name).as_str()) {
            return Err(ValueError::new(format!(
                "`{{{}}}` is already a placeholder",
                port_placeholder(&name)
            )));
        }
        Ok(name)
    })
}

/// Texts with placeholders. Those of named ports are checked when the whole recipe is known.
pub(super) fn template() -> ValueSpec<String> {
    text().and_then(|template| {
        let unknown = placeholders(&template).find(|name| !PLACEHOLDERS.contains(name) && !is_port(name));
        match unknown.map(|name| unknown_placeholder(&template, name)) {
            None => Ok(template),
            Some(error) => Err(error),
        }
    })
}

/// Paths below the work directory.
pub(super) fn path_below() -> ValueSpec<String> {
    text().rule("minLength", 1).and_then(|path| check_path_below(&path).map(|()| path))
}

/// Checks that a path is below the work directory.
pub(super) fn check_path_below(path: &str) -> Result<(), ValueError> {
    let is_normal = |part| matches!(part, Component::Normal(_));
    if !path.is_empty() && Path::new(path).components().all(is_normal) {
        return check_free(path);
    }
    let error = ValueError::new(format!("expected a path below the work directory, found `{path}`"));
    Err(error.hint("write a relative path without `..`"))
}

/// Checks that the work directory has no file of its own at a path.
fn check_free(path: &str) -> Result<(), ValueError> {
    if Path::new(path).starts_with(LOCK) {
        let error = ValueError::new(format!("`{LOCK}` is Plimsoll's own file in the work directory"));
        return Err(error.hint("write another name"));
    }
    Ok(())
}

/// Paths of requests, including a query.
pub(super) fn request_path() -> ValueSpec<String> {
    text().rule("pattern", "^/").and_then(|path| {
        if path.starts_with('/') && path.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'#') {
            return Ok(path);
        }
        let error = ValueError::new(format!("expected the path of a request, found `{path}`"));
        Err(error.hint("write a path that begins with `/`, without blanks and `#`"))
    })
}

/// Names of companions, which are some of `known`.
pub(super) fn companion_name(known: Vec<String>) -> ValueSpec<String> {
    text().and_then(move |name| {
        if known.contains(&name) {
            return Ok(name);
        }
        let hint = match nearest(&name, known.iter().map(String::as_str)) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("companions are {}; others are described in `[companions]`", known.join(", ")),
        };
        Err(ValueError::new(format!("expected a companion, found `{name}`")).hint(hint))
    })
}

fn unknown_placeholder(template: &str, name: &str) -> ValueError {
    let braced = format!("{{{name}}}");
    let start = template.find(&braced).unwrap_or(0);
    let hint = match nearest(name, PLACEHOLDERS.iter().copied()) {
        // Its name in recipes with transports.
        _ if name == "listen" => "write `{variant}`".to_owned(),
        Some(near) => format!("did you mean `{{{near}}}`?"),
        None => format!("placeholders are {}", PLACEHOLDERS.join(", ")),
    };
    ValueError::new(format!("unknown placeholder `{braced}`")).at(start..start + braced.len()).hint(hint)
}
