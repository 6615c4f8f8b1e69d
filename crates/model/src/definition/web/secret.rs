//! Reading values that may be secrets: `{ env = "TOKEN", prefix = "Bearer " }`, `{ file = "token.txt" }`, and literal
//! ones with `disclose`.

use languages::reader::{TomlTable, ValueError};
use languages::spec::{ValueSpec, flag, line, text};

use crate::{SecretSource, capitalized};

/// The longest name of an environment variable.
const NAME_MAX: usize = 200;

/// The words for a value that may be a secret, for descriptions.
#[derive(Debug, Clone, Copy)]
pub(super) struct SecretWords {
    /// The value: `the body`.
    pub(super) value: &'static str,
    /// A remark on a file that has it.
    pub(super) of_file: &'static str,
}

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

/// Reads a value that is written as a table; `literal` is the kind of values that stand in the definition itself.
pub(super) fn read_value(
    table: &mut TomlTable,
    words: SecretWords,
    literal: ValueSpec<String>,
) -> Option<WrittenValue> {
    let (prefix, source) = read_source(table, words);
    let value = table.optional("value", &format!("{} itself.", capitalized(words.value)), literal);
    let about = "Whether `value` is shown in results; if absent: unless it looks like a credential.";
    let disclose = table.optional("disclose", about, flag());
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
    match (value, source) {
        (Some(text), _) => Some(WrittenValue::Literal { text, disclose }),
        (None, source) => Some(WrittenValue::Elsewhere { prefix, source: source? }),
    }
}

/// Reads `env`, `file` and `prefix`.
pub(super) fn read_source(table: &mut TomlTable, words: SecretWords) -> (String, Option<SecretSource>) {
    let SecretWords { value, of_file } = words;
    let about = format!("The environment variable that has {value} when a run begins; it is never stored.");
    let env = table.optional("env", &about, variable()).map(SecretSource::Env);
    let about = format!(
        "The file that has {value} when a run begins, by its path from the definition; it is never stored{of_file}."
    );
    let file = table.optional("file", &about, line()).map(SecretSource::File);
    let about = "The text before the value of `env` or `file`, in clear: `Bearer `.";
    let prefix = table.optional("prefix", about, one_line()).unwrap_or_default();
    (prefix, env.or(file))
}

/// Names of environment variables (POSIX.1-2024, 8.1: no `=`).
pub(in crate::definition) fn variable() -> ValueSpec<String> {
    line().rule("pattern", "^[A-Za-z0-9_]{1,200}$").and_then(|name| {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
        if name.chars().all(is_plain) && name.len() <= NAME_MAX {
            return Ok(name);
        }
        Err(ValueError::new("expected the name of an environment variable")
            .hint("write it without `$`: `{ env = \"TOKEN\" }`"))
    })
}

fn one_line() -> ValueSpec<String> {
    text().and_then(|prefix| {
        if prefix.chars().all(|c| c == ' ' || c.is_ascii_graphic()) {
            return Ok(prefix);
        }
        Err(ValueError::new("expected one line of ASCII"))
    })
}
