//! Built-in companions: programs that run beside a server.

use super::{CompanionRecipe, Recipe};

/// Name and text of each.
const BUILT_IN: &[(&str, &str)] = &[
    ("fcgiwrap", include_str!("../../../../recipes/companions/fcgiwrap.toml")),
    ("gunicorn", include_str!("../../../../recipes/companions/gunicorn.toml")),
    ("php-fpm", include_str!("../../../../recipes/companions/php-fpm.toml")),
    ("plimsoll-gateway", include_str!("../../../../recipes/companions/plimsoll-gateway.toml")),
    ("plimsoll-pages", include_str!("../../../../recipes/companions/plimsoll-pages.toml")),
];

/// Returns the companion with this name: the recipe's own one, otherwise the built-in one.
pub(crate) fn find(recipe: &Recipe, name: &str) -> Option<CompanionRecipe> {
    recipe.companions.get(name).cloned().or_else(|| {
        let (_, text) = BUILT_IN.iter().find(|(known, _)| *known == name)?;
        Some(CompanionRecipe::parse(name, text).expect("a test reads them all"))
    })
}

/// Returns the names of the built-in companions.
pub(super) fn built_in_names<'a>() -> impl Iterator<Item = &'a str> {
    BUILT_IN.iter().map(|(name, _)| *name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_built_in_companion_is_valid() {
        for (name, text) in BUILT_IN {
            CompanionRecipe::parse(name, text).unwrap_or_else(|error| panic!("{error}"));
        }
    }
}
