//! Reading values that may be secrets: `{ env = "TOKEN", prefix = "Bearer " }`, `{ file = "token.txt" }`, and literal
//! ones with `disclose`.

use languages::reader::{TomlTable, ValueError, flag, line, text};
use toml::de::DeValue;

use crate::SecretSource;

/// The longest name of an environment variable.
const NAME_MAX: usize = 200;

/// A value as a definition has it.
pub(super) enum WrittenValue {
    /// A literal; the definition says whether it is disclosed, or its name decides.
    Literal {
        /// The value.
        text: String,
        /// Whether it is shown, if the definition says.
        disclose: Option<bool>,
    },
    /// A value from the environment or a file.
    Elsewhere {
        /// The text before it.
        prefix: String,
        /// The source of the value.
        source: SecretSource,
    },
}

/// Reads a value that is written as a table; `literal` reads a literal value.
pub(super) fn read_value(
    mut table: TomlTable,
    literal: impl Fn(&DeValue) -> Result<String, ValueError>,
) -> Option<WrittenValue> {
    let (prefix, source) = read_source(&mut table);
    let value = table.optional_undescribed("value", literal);
    let disclose = table.optional_undescribed("disclose", flag);
    let given: Vec<&str> =
        ["env", "file", "value"].into_iter().filter(|key| table.value(key).is_some()).collect();
    if given.len() != 1 {
        table.reject_all(ValueError::new("expected one of `env`, `file` and `value`"));
    } else if given == ["value"] && table.value("prefix").is_some() {
        table.reject("prefix", ValueError::new("`prefix` is valid only with `env` or `file`"));
    } else if given != ["value"] && table.value("disclose").is_some() {
        let error = ValueError::new("a value from `env` or `file` is never shown");
        table.reject("disclose", error.hint("`disclose` belongs to `value`"));
    }
    table.finish();
    match (value, source) {
        (Some(text), _) => Some(WrittenValue::Literal { text, disclose }),
        (None, source) => Some(WrittenValue::Elsewhere { prefix, source: source? }),
    }
}

/// Reads `env`, `file` and `prefix`.
pub(super) fn read_source(table: &mut TomlTable) -> (String, Option<SecretSource>) {
    let env = table.optional_undescribed("env", variable).map(SecretSource::Env);
    let file = table.optional_undescribed("file", line).map(SecretSource::File);
    let prefix = table.optional_undescribed("prefix", one_line).unwrap_or_default();
    (prefix, env.or(file))
}

/// Reads the name of an environment variable (POSIX.1-2024, 8.1: no `=`).
pub(in crate::definition) fn variable(value: &DeValue) -> Result<String, ValueError> {
    let name = line(value)?;
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
    match name.chars().all(is_plain) && name.len() <= NAME_MAX {
        true => Ok(name),
        false => Err(ValueError::new("expected the name of an environment variable")
            .hint("write it without `$`: `{ env = \"TOKEN\" }`")),
    }
}

fn one_line(value: &DeValue) -> Result<String, ValueError> {
    let prefix = text(value)?;
    match prefix.chars().all(|c| c == ' ' || c.is_ascii_graphic()) {
        true => Ok(prefix),
        false => Err(ValueError::new("expected one line of ASCII")),
    }
}
