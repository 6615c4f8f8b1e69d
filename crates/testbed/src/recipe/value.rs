//! Readers of single values of a recipe, with the errors for invalid ones.

use std::path::{Component, Path};

use languages::nearest;
use languages::reader::{ValueError, text, whole_u32};
use observe::leftovers::LOCK;
use toml::de::DeValue;

use super::placeholder::{PLACEHOLDERS, is_port, placeholders, port_placeholder};

/// Reads the version of the format, which must be `current`.
pub(super) fn format(current: u32) -> impl Fn(&DeValue) -> Result<u32, ValueError> {
    move |value| {
        match whole_u32(1..=1)(value) {
        Ok(_) => Err(ValueError::new("expected a recipe of format 2, found one of format 1").hint(
            "write `format = 2`, and below it the line `family = \"web\"`; what else changes is shown as well",
        )),
        Err(_) => whole_u32(current..=current)(value),
    }
    }
}

/// Reads the name of a port, which makes the placeholder `{NAME_port}`.
pub(super) fn port_name(value: &DeValue) -> Result<String, ValueError> {
    let name = text(value)?;
    if name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_lowercase()) {
        let error = ValueError::new(format!("expected the name of a port, found `{name}`"));
        return Err(error.hint("write lowercase letters, such as `imap`"));
    }
    if PLACEHOLDERS.contains(&port_placeholder(&name).as_str()) {
        return Err(ValueError::new(format!("`{{{}}}` is already a placeholder", port_placeholder(&name))));
    }
    Ok(name)
}

/// Reads a text with placeholders. Those of named ports are checked when the whole recipe is known.
pub(super) fn template(value: &DeValue) -> Result<String, ValueError> {
    let template = text(value)?;
    let unknown = placeholders(&template).find(|name| !PLACEHOLDERS.contains(name) && !is_port(name));
    match unknown.map(|name| unknown_placeholder(&template, name)) {
        None => Ok(template),
        Some(error) => Err(error),
    }
}

/// Reads a path below the work directory.
pub(super) fn path_below(value: &DeValue) -> Result<String, ValueError> {
    let path = text(value)?;
    check_path_below(&path).map(|()| path)
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

/// Reads the path of a request, including a query.
pub(super) fn request_path(value: &DeValue) -> Result<String, ValueError> {
    let path = text(value)?;
    if path.starts_with('/') && path.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'#') {
        return Ok(path);
    }
    let error = ValueError::new(format!("expected the path of a request, found `{path}`"));
    Err(error.hint("write a path that begins with `/`, without blanks and `#`"))
}

/// Reads the name of a companion, one of `known`.
pub(super) fn companion_name(known: &[&str]) -> impl Fn(&DeValue) -> Result<String, ValueError> {
    move |value| {
        let name = text(value)?;
        if known.contains(&name.as_str()) {
            return Ok(name);
        }
        let hint = match nearest(&name, known.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("companions are {}; others are described in `[companions]`", known.join(", ")),
        };
        Err(ValueError::new(format!("expected a companion, found `{name}`")).hint(hint))
    }
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
