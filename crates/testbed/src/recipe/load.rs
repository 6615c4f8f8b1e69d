//! From a name or a text to a recipe, or to what is wrong with it.

use std::path::{Path, PathBuf};

use model::{Diagnostic, Diagnostics, nearest};
use serde::de::DeserializeOwned;

use super::check::problem;
use super::{BUILT_IN_ACCELERATORS, BUILT_IN_RECIPES, Recipe};

/// Why there is no recipe.
#[derive(Debug, thiserror::Error)]
pub enum RecipeError {
    /// Neither a built-in recipe nor a file.
    #[error("no recipe `{name}`; there are {known}\nhint: {hint}")]
    Unknown {
        /// The name as asked for.
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
        /// What the system says.
        source: std::io::Error,
    },
    /// It stands in front of a server, and a server was asked for.
    #[error(
        "`{name}` is an accelerator, which stands in front of a server\nhint: `--sut nginx --accelerator {name}`"
    )]
    Accelerator {
        /// The name as asked for.
        name: String,
    },
    /// It names no origin, and an accelerator was asked for.
    #[error(
        "`{name}` is no accelerator: its recipe uses no `{{origin}}`\nhint: `--sut {name}` runs it as a server"
    )]
    NoAccelerator {
        /// The name as asked for.
        name: String,
    },
    /// The text is not a recipe.
    #[error(transparent)]
    Mistaken(#[from] Diagnostics),
}

impl Recipe {
    /// Returns the recipe that `--sut` names: a built-in one, or a file if the name has a `/` or ends in `.toml`.
    ///
    /// # Errors
    /// If there is none of this name, it is an accelerator, or the file cannot be read or has a mistake.
    pub fn load(name: &str) -> Result<Recipe, RecipeError> {
        let recipe = load(name, BUILT_IN_RECIPES, BUILT_IN_ACCELERATORS)?;
        match recipe.is_accelerator() {
            true => Err(RecipeError::Accelerator { name: name.to_owned() }),
            false => Ok(recipe),
        }
    }

    /// Returns the recipe that `--accelerator` names, likewise.
    ///
    /// # Errors
    /// If there is none of this name, it is none of an accelerator, or the file cannot be read or has a mistake.
    pub fn load_accelerator(name: &str) -> Result<Recipe, RecipeError> {
        let recipe = load(name, BUILT_IN_ACCELERATORS, BUILT_IN_RECIPES)?;
        match recipe.is_accelerator() {
            true => Ok(recipe),
            false => Err(RecipeError::NoAccelerator { name: name.to_owned() }),
        }
    }

    /// Reads a recipe from a text; `file_name` is what messages call it.
    ///
    /// # Errors
    /// The first mistake, with its place: syntax, unknown keys, wrong types, unknown placeholders.
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

/// Returns the recipe of this name: one of `wanted`, or one of `others`, so that whoever mistakes one sort for the other
/// is told so.
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

/// Reads a TOML text; `file_name` is what messages call it.
pub(super) fn read<T: DeserializeOwned>(file_name: &str, text: &str) -> Result<T, Diagnostics> {
    toml::from_str(text).map_err(|error| Diagnostics::new(file_name, text, vec![from_toml(text, &error)]))
}

/// Turns an error of the TOML reader into ours. Its text for a wrong name reads ``unknown field `a`, expected one
/// of `b`, `c` ``: what stands in backquotes after the first are the candidates. A text without quotes is taken for
/// a number if it begins with `n` or `i`.
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
        .or_else(|| word.map(|word| format!("a text stands in quotes: `\"{word}\"`")));
    Diagnostic { span, ..problem(message.clone(), hint) }
}

fn unknown(name: &str, built_in: &BuiltIn) -> RecipeError {
    let names: Vec<&str> = built_in.iter().map(|(name, _)| *name).collect();
    let hint = match nearest(name, names.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => "a recipe of your own is named by its path, such as `./my-server.toml`".to_owned(),
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
    fn every_built_in_recipe_is_one_and_has_the_name_it_is_known_by() {
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
    fn an_accelerator_is_no_server_and_a_server_is_no_accelerator() {
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
    fn a_mistyped_key_is_shown_in_its_line_with_the_nearest_one() {
        let message = complaint(&SMALL.replace("find =", "fnid ="));
        assert!(message.contains("mine.toml:8:1"), "{message}");
        assert!(
            message.contains("unknown key `fnid`") && message.contains("did you mean `find`?"),
            "{message}"
        );
    }

    #[test]
    fn a_mistyped_choice_is_shown_with_the_nearest_one() {
        let message = complaint(&SMALL.replace("\"none\"", "\"restrat\""));
        assert!(
            message.contains("mine.toml:6:9") && message.contains("did you mean `restart`?"),
            "{message}"
        );
    }

    #[test]
    fn a_mistyped_placeholder_is_shown_where_it_stands() {
        let message = complaint(&SMALL.replace("{port}", "{prot}"));
        assert!(message.contains("mine.toml:10:") && message.contains("did you mean `{port}`?"), "{message}");
    }

    #[test]
    fn what_is_missing_wrong_or_outside_is_refused() {
        for (from, to, said) in [
            ("title = \"Mine\"", "", "missing key `title`"),
            ("format = 1", "format = 2", "format 2 is not known"),
            ("format = 1", "format = -1", "mine.toml:2:10"),
            ("format = 1", "format = 1\ndirectories = [\"../x\"]", "does not lie below"),
            ("format = 1", "format = 1\ndirectories = [\"/etc\"]", "does not lie below"),
            ("[\"mine\"]", "[]", "names no program"),
            ("[start]", "[start", "mine.toml:9:"),
            ("\"mine\"", "mine", "a text stands in quotes: `\"mine\"`"),
            ("name = \"mine\"", "name = nginx", "a text stands in quotes: `\"nginx\"`"),
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
    fn a_name_that_is_not_known_is_answered_with_the_nearest_or_with_how_to_name_a_file() {
        let near = Recipe::load("ngnix").unwrap_err().to_string();
        assert!(near.contains("did you mean `nginx`?"), "{near}");
        let far = Recipe::load("iis").unwrap_err().to_string();
        assert!(far.contains("./my-server.toml"), "{far}");
        assert!(matches!(Recipe::load("./none.toml"), Err(RecipeError::Unreadable { .. })));
    }

    /// Goal: the published schema is the one that the types say. Regenerate: `UPDATE_SCHEMA=1 cargo test -p testbed`.
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
