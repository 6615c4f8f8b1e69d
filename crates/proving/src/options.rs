//! Values of command-line options.

use anyhow::{Context, Result, ensure};

/// Parses the value of a counting option: a whole number above 0.
///
/// # Errors
/// The text is not such a number.
pub fn number(name: &str, text: &str) -> Result<u32> {
    let number = text.parse().with_context(|| format!("`{name} {text}`"))?;
    ensure!(0 < number, "`{name}`: expected at least 1");
    Ok(number)
}

/// Parses the value of an option with a list of choices.
pub(crate) fn known(what: &str, name: &str, names: &[&str]) -> Result<String> {
    ensure!(names.contains(&name), "unknown {what} `{name}`\nhint: expected one of {}", names.join(", "));
    Ok(name.to_owned())
}
