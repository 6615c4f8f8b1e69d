//! Loading of recipes by name or from text.

use std::path::{Path, PathBuf};

use languages::{Diagnostic, Diagnostics, nearest};
use serde::de::DeserializeOwned;

use super::check::problem;
use super::{BUILT_IN_ACCELERATORS, BUILT_IN_RECIPES, Recipe};

/// A recipe that cannot be loaded.
#[derive(Debug, thiserror::Error)]
pub enum RecipeError {
    /// Neither a built-in recipe nor a file.
    #[error("no recipe `{name}`; expected one of {known}\nhint: {hint}")]
    Unknown {
        /// The requested name.
        name: String,
        /// The built-in ones.
        known: String,
        /// The nearest one, or how to write one.
        hint: String,
    },
    /// The file cannot be read.
    #[error("recipe `{path}`: {source}")]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// It is an accelerator, and a server was requested.
    #[error(
        "`{name}` is an accelerator, which runs in front of a server\nhint: `--sut nginx --accelerator {name}`"
    )]
    Accelerator {
        /// The requested name.
        name: String,
    },
    /// It is a server, and an accelerator was requested.
    #[error(
        "`{name}` is not an accelerator: its recipe uses no `{{origin}}`\nhint: `--sut {name}` runs it as a server"
    )]
    NoAccelerator {
        /// The requested name.
        name: String,
    },
    /// The text is not a recipe.
    #[error(transparent)]
    Mistaken(#[from] Diagnostics),
}

impl Recipe {
    /// Returns the recipe for `--sut`: a built-in one, or a file if the name contains a `/` or ends in
    /// `.toml`.
    ///
    /// # Errors
    /// The recipe does not exist, it is an accelerator, or the file cannot be read or contains a mistake.
    pub fn load(name: &str) -> Result<Recipe, RecipeError> {
        let recipe = load(name, BUILT_IN_RECIPES, BUILT_IN_ACCELERATORS)?;
        match recipe.is_accelerator() {
            true => Err(RecipeError::Accelerator { name: name.to_owned() }),
            false => Ok(recipe),
        }
    }

    /// Returns the recipe for `--accelerator`, in the same way.
    ///
    /// # Errors
    /// The recipe does not exist, it is not an accelerator, or the file cannot be read or contains a mistake.
    pub fn load_accelerator(name: &str) -> Result<Recipe, RecipeError> {
        let recipe = load(name, BUILT_IN_ACCELERATORS, BUILT_IN_RECIPES)?;
        match recipe.is_accelerator() {
            true => Ok(recipe),
            false => Err(RecipeError::NoAccelerator { name: name.to_owned() }),
        }
    }

    /// Parses a recipe; `file_name` is used in messages.
    ///
    /// # Errors
    /// The first mistake, with its position: syntax, unknown keys, wrong types, unknown placeholders.
    pub fn parse(file_name: &str, text: &str) -> Result<Recipe, Diagnostics> {
        let recipe: Recipe = read(file_name, text)?;
        match recipe.mistake() {
            None => Ok(recipe),
            Some((what, problem)) => {
                let start = text.find(&what).unwrap_or(0);
                let span = start..start + what.len();
                Err(Diagnostics::new(file_name, text, vec![Diagnostic { span, ..problem }]))
            }
        }
    }
}

/// Names and texts of built-in recipes.
type BuiltIn = [(&'static str, &'static str)];

/// Returns the recipe with this name: one of `wanted`, or one of `others`, so that the caller can report the
/// wrong kind.
fn load(name: &str, wanted: &BuiltIn, others: &BuiltIn) -> Result<Recipe, RecipeError> {
    if name.contains('/') || name.ends_with(".toml") {
        let path = Path::new(name);
        let text = std::fs::read_to_string(path)
            .map_err(|source| RecipeError::Unreadable { path: path.to_owned(), source })?;
        return Ok(Recipe::parse(name, &text)?);
    }
    match wanted.iter().chain(others).find(|(known, _)| *known == name) {
        Some((_, text)) => Ok(Recipe::parse(&format!("{name}.toml"), text)?),
        None => Err(unknown(name, wanted)),
    }
}

/// Parses a TOML text; `file_name` is used in messages.
pub(super) fn read<T: DeserializeOwned>(file_name: &str, text: &str) -> Result<T, Diagnostics> {
    toml::from_str(text).map_err(|error| Diagnostics::new(file_name, text, vec![from_toml(text, &error)]))
}

/// Converts an error of the TOML parser. Its text for a wrong name reads ``unknown field `a`, expected one of
/// `b`, `c` ``: the names in backquotes after the first are the candidates. Unquoted text is taken for a
/// number if it begins with `n` or `i`.
fn from_toml(text: &str, error: &toml::de::Error) -> Diagnostic {
    let span = error.span().unwrap_or(0..0);
    let message =
        error.message().replace("unknown field", "unknown key").replace("missing field", "missing key");
    let mut quoted = message.split('`').skip(1).step_by(2);
    let is_unknown = message.starts_with("unknown");
    let near = quoted.next().filter(|_| is_unknown).and_then(|written| nearest(written, quoted));
    let is_value =
        message.starts_with("string values must be quoted") || message.starts_with("invalid float");
    let word = text.get(span.clone()).filter(|word| is_value && word.starts_with(char::is_alphabetic));
    let hint = near
        .map(|near| format!("did you mean `{near}`?"))
        .or_else(|| word.map(|word| format!("texts must be quoted: `\"{word}\"`")));
    Diagnostic { span, ..problem(message.clone(), hint) }
}

fn unknown(name: &str, built_in: &BuiltIn) -> RecipeError {
    let names: Vec<&str> = built_in.iter().map(|(name, _)| *name).collect();
    let hint = match nearest(name, names.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => "specify your own recipe by its path, such as `./my-server.toml`".to_owned(),
    };
    RecipeError::Unknown { name: name.to_owned(), known: names.join(", "), hint }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recipe::StopSignal;

    const SMALL: &str = r#"
format = 1
name = "mine"
title = "Mine"
ready = "connect"
reset = "none"
[program]
find = ["mine"]
[start]
arguments = ["--port", "{port}"]
"#;

    fn complaint(text: &str) -> String {
        Recipe::parse("mine.toml", text).unwrap_err().to_string()
    }

    #[test]
    fn every_built_in_recipe_is_valid_and_has_its_name() {
        for (name, _) in BUILT_IN_RECIPES {
            assert_eq!(Recipe::load(name).unwrap().name, *name);
        }
        assert!(Recipe::load("nginx").unwrap().needs_root());
        for (name, _) in BUILT_IN_ACCELERATORS {
            let recipe = Recipe::load_accelerator(name).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(recipe.name, *name);
            assert!(!recipe.needs_root(), "{name}");
        }
    }

    #[test]
    fn accelerators_and_servers_are_not_interchangeable() {
        for name in ["varnish", concat!(env!("CARGO_MANIFEST_DIR"), "/../../recipes/accelerators/nginx.toml")]
        {
            let message = Recipe::load(name).unwrap_err().to_string();
            assert!(message.contains(&format!("hint: `--sut nginx --accelerator {name}`")), "{message}");
        }
        for name in ["apache", concat!(env!("CARGO_MANIFEST_DIR"), "/../../recipes/nginx.toml")] {
            let message = Recipe::load_accelerator(name).unwrap_err().to_string();
            assert!(message.contains("uses no `{origin}`"), "{message}");
            assert!(message.contains(&format!("hint: `--sut {name}`")), "{message}");
        }
        let near = Recipe::load_accelerator("varnsih").unwrap_err().to_string();
        assert!(near.contains("did you mean `varnish`?"), "{near}");
    }

    #[test]
    fn a_small_recipe_has_defaults() {
        let recipe = Recipe::parse("mine.toml", SMALL).unwrap();
        assert_eq!((recipe.stop.signal, recipe.stop.seconds), (StopSignal::Term, 3));
        assert!(recipe.config.is_none() && !recipe.needs_root());
    }

    #[test]
    fn a_mistyped_key_is_reported_in_its_line_with_the_nearest_one() {
        let message = complaint(&SMALL.replace("find =", "fnid ="));
        assert!(message.contains("mine.toml:8:1"), "{message}");
        assert!(
            message.contains("unknown key `fnid`") && message.contains("did you mean `find`?"),
            "{message}"
        );
    }

    #[test]
    fn a_mistyped_choice_is_reported_with_the_nearest_one() {
        let message = complaint(&SMALL.replace("\"none\"", "\"restrat\""));
        assert!(
            message.contains("mine.toml:6:9") && message.contains("did you mean `restart`?"),
            "{message}"
        );
    }

    #[test]
    fn a_mistyped_placeholder_is_reported_at_its_position() {
        let message = complaint(&SMALL.replace("{port}", "{prot}"));
        assert!(message.contains("mine.toml:10:") && message.contains("did you mean `{port}`?"), "{message}");
    }

    #[test]
    fn missing_wrong_and_outside_values_are_refused() {
        for (from, to, said) in [
            ("title = \"Mine\"", "", "missing key `title`"),
            ("format = 1", "format = 2", "format 2 is not supported"),
            ("format = 1", "format = -1", "mine.toml:2:10"),
            ("format = 1", "format = 1\ndirectories = [\"../x\"]", "is not below"),
            ("format = 1", "format = 1\ndirectories = [\"/etc\"]", "is not below"),
            ("[\"mine\"]", "[]", "lists no program"),
            ("[start]", "[start", "mine.toml:9:"),
            ("\"mine\"", "mine", "texts must be quoted: `\"mine\"`"),
            ("name = \"mine\"", "name = nginx", "texts must be quoted: `\"nginx\"`"),
            ("[start]", "[stop]\nseconds = 70000\n[start]", "mine.toml:10:"),
            ("[start]", "[profiles.benchmark]\ntext = \"\"\n[start]", "mine.toml:9:2"),
            ("[start]", "[profiles.other]\ntext = \"{prot}\"\n[start]", "did you mean `{port}`?"),
            ("[start]", "[transports]\ntls = \"\"\n[start]", "lacks `plain`"),
            ("[start]", "[transports]\nssl = \"\"\n[start]", "mine.toml:10:1"),
            ("[start]", "[gateways.cgi]\ncompanions = [\"php-fmp\"]\n[start]", "did you mean `php-fpm`?"),
            ("[start]", "[gateways.cig]\n[start]", "did you mean `cgi`?"),
            ("[start]", "[status]\nkind = \"nginx-stub\"\npath = \"a b\"\n[start]", "mine.toml:11:9"),
            (
                "[start]",
                "[status]\nkind = \"ngnix-stub\"\npath = \"/\"\n[start]",
                "did you mean `nginx-stub`?",
            ),
        ] {
            let message = complaint(&SMALL.replace(from, to));
            assert!(message.contains(said), "{to}: {message}");
        }
    }

    #[test]
    fn an_unknown_name_yields_a_suggestion_or_a_hint_about_files() {
        let near = Recipe::load("ngnix").unwrap_err().to_string();
        assert!(near.contains("did you mean `nginx`?"), "{near}");
        let far = Recipe::load("iis").unwrap_err().to_string();
        assert!(far.contains("./my-server.toml"), "{far}");
        assert!(matches!(Recipe::load("./none.toml"), Err(RecipeError::Unreadable { .. })));
    }

    /// Goal: the published schema matches the types. Regenerate: `UPDATE_SCHEMA=1 cargo test -p testbed`.
    #[test]
    fn the_published_schema_is_up_to_date() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../schemas/recipe.schema.json");
        let schema = serde_json::to_string_pretty(&schemars::schema_for!(Recipe)).unwrap() + "\n";
        if std::env::var_os("UPDATE_SCHEMA").is_some() {
            std::fs::write(path, &schema).unwrap();
        }
        assert_eq!(std::fs::read_to_string(path).unwrap(), schema);
    }
}
