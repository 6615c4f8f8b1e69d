//! Loading of recipes by name.

use std::path::{Path, PathBuf};

use languages::{Diagnostics, nearest};

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
        if recipe.is_accelerator() {
            Err(RecipeError::Accelerator { name: name.to_owned() })
        } else {
            Ok(recipe)
        }
    }

    /// Returns the recipe for `--accelerator`, in the same way.
    ///
    /// # Errors
    /// The recipe does not exist, it is not an accelerator, or the file cannot be read or contains a mistake.
    pub fn load_accelerator(name: &str) -> Result<Recipe, RecipeError> {
        let recipe = load(name, BUILT_IN_ACCELERATORS, BUILT_IN_RECIPES)?;
        if recipe.is_accelerator() {
            Ok(recipe)
        } else {
            Err(RecipeError::NoAccelerator { name: name.to_owned() })
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
    fn an_unknown_name_yields_a_suggestion_or_a_hint_about_files() {
        let near = Recipe::load("ngnix").unwrap_err().to_string();
        assert!(near.contains("did you mean `nginx`?"), "{near}");
        let far = Recipe::load("iis").unwrap_err().to_string();
        assert!(far.contains("./my-server.toml"), "{far}");
        assert!(matches!(Recipe::load("./none.toml"), Err(RecipeError::Unreadable { .. })));
    }
}
