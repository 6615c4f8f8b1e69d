//! From a name or a text to a recipe, or to what is wrong with it.

use std::path::{Path, PathBuf};

use model::{Diagnostic, Diagnostics, nearest};

use super::{BUILT_IN_RECIPES, Recipe};
use crate::sut::Values;

/// The version of the recipe language.
const FORMAT: u32 = 1;

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
    /// The text is not a recipe.
    #[error(transparent)]
    Mistaken(#[from] Diagnostics),
}

impl Recipe {
    /// Returns the recipe that `--sut` names: a built-in one, or a file if the name has a `/` or ends in `.toml`.
    ///
    /// # Errors
    /// If there is none of this name, or the file cannot be read or has a mistake.
    pub fn load(name: &str) -> Result<Recipe, RecipeError> {
        if name.contains('/') || name.ends_with(".toml") {
            let path = Path::new(name);
            let text = std::fs::read_to_string(path)
                .map_err(|source| RecipeError::Unreadable { path: path.to_owned(), source })?;
            return Ok(Recipe::parse(name, &text)?);
        }
        match BUILT_IN_RECIPES.iter().find(|(known, _)| *known == name) {
            Some((_, text)) => Ok(Recipe::parse(&format!("{name}.toml"), text)?),
            None => Err(unknown(name)),
        }
    }

    /// Reads a recipe from a text; `file_name` is what messages call it.
    ///
    /// # Errors
    /// The first mistake, with its place: syntax, unknown keys, wrong types, unknown placeholders.
    pub fn parse(file_name: &str, text: &str) -> Result<Recipe, Diagnostics> {
        let recipe: Recipe = toml::from_str(text)
            .map_err(|error| Diagnostics::new(file_name, text, vec![from_toml(&error)]))?;
        match recipe.mistake() {
            None => Ok(recipe),
            Some((what, problem)) => {
                let start = text.find(&what).unwrap_or(0);
                let span = start..start + what.len();
                Err(Diagnostics::new(file_name, text, vec![Diagnostic { span, ..problem }]))
            }
        }
    }

    /// Returns what no type can say: the piece of text that is wrong, and why.
    fn mistake(&self) -> Option<(String, Diagnostic)> {
        if self.format != FORMAT {
            let message = format!("recipe format {} is not known; this program reads {FORMAT}", self.format);
            return Some(("format".into(), problem(message, None)));
        }
        if self.program.find.is_empty() {
            return Some(("find".into(), problem("`find` names no program".into(), None)));
        }
        let config = self.config.as_ref();
        let inside =
            self.directories.iter().map(String::as_str).chain(config.map(|config| config.file.as_str()));
        for path in inside {
            if !is_below(path) {
                let message = format!("`{path}` does not lie below the work directory");
                return Some((
                    path.to_owned(),
                    problem(message, Some("use a relative path without `..`".into())),
                ));
            }
        }
        let name = self.templates().flat_map(placeholders).find(|name| !Values::NAMES.contains(name))?;
        let hint = match nearest(name, Values::NAMES.iter().copied()) {
            Some(near) => format!("did you mean `{{{near}}}`?"),
            None => format!("there are {}", Values::NAMES.join(", ")),
        };
        Some((format!("{{{name}}}"), problem(format!("unknown placeholder `{{{name}}}`"), Some(hint))))
    }

    /// Returns all texts that may hold placeholders.
    fn templates(&self) -> impl Iterator<Item = &str> {
        let arguments = self.start.arguments.iter().map(String::as_str);
        let config = self.config.iter().map(|config| config.text.as_str());
        arguments.chain(config).chain(self.settings.values().map(String::as_str))
    }

    /// Returns whether the server is given the file set: whether its arguments or its configuration name `{root}`.
    pub fn needs_root(&self) -> bool {
        self.templates().flat_map(placeholders).any(|name| name == "root")
    }
}

/// Returns the names in braces of a template; other uses of braces have blanks or line ends in them.
pub fn placeholders(template: &str) -> impl Iterator<Item = &str> {
    let is_name = |name: &&str| !name.is_empty() && name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_');
    template.split('{').skip(1).filter_map(|rest| Some(rest.split_once('}')?.0)).filter(is_name)
}

fn is_below(path: &str) -> bool {
    let normal = |part| matches!(part, std::path::Component::Normal(_));
    !path.is_empty() && Path::new(path).components().all(normal)
}

fn problem(message: String, hint: Option<String>) -> Diagnostic {
    Diagnostic { message, span: 0..0, label: String::new(), hint }
}

/// Turns an error of the TOML reader into ours. Its text for a wrong name reads ``unknown field `a`, expected one
/// of `b`, `c` ``: what stands in backquotes after the first are the candidates.
fn from_toml(error: &toml::de::Error) -> Diagnostic {
    let message =
        error.message().replace("unknown field", "unknown key").replace("missing field", "missing key");
    let mut quoted = message.split('`').skip(1).step_by(2);
    let is_unknown = message.starts_with("unknown");
    let near = quoted.next().filter(|_| is_unknown).and_then(|written| nearest(written, quoted));
    let hint = near.map(|near| format!("did you mean `{near}`?"));
    Diagnostic { span: error.span().unwrap_or(0..0), ..problem(message.clone(), hint) }
}

fn unknown(name: &str) -> RecipeError {
    let names: Vec<&str> = BUILT_IN_RECIPES.iter().map(|(name, _)| *name).collect();
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
            ("[start]", "[stop]\nseconds = 70000\n[start]", "mine.toml:10:"),
        ] {
            let message = complaint(&SMALL.replace(from, to));
            assert!(message.contains(said), "{to}: {message}");
        }
    }

    #[test]
    fn a_name_that_is_not_known_is_answered_with_the_nearest_or_with_how_to_name_a_file() {
        let near = Recipe::load("ngnix").unwrap_err().to_string();
        assert!(near.contains("did you mean `nginx`?"), "{near}");
        let far = Recipe::load("lighttpd").unwrap_err().to_string();
        assert!(far.contains("./my-server.toml"), "{far}");
        assert!(matches!(Recipe::load("./none.toml"), Err(RecipeError::Unreadable { .. })));
    }

    #[test]
    fn braces_of_a_configuration_are_not_placeholders() {
        let names: Vec<&str> = placeholders("events {\n x {workers};\n}\nif {} {A} {root}/{").collect();
        assert_eq!(names, ["workers", "root"]);
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
