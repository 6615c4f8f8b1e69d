//! Selection of profile and variant from a recipe.

use std::collections::BTreeMap;

use model::Family;

use super::SutError;
use super::web::WebChoice;
use crate::recipe::{
    BENCHMARK_PROFILE, CompanionRecipe, ProfileRecipe, Recipe, StatusRecipe, WebVariant, find_companion,
    placeholder::placeholders,
};

/// A selection from a recipe.
#[derive(Debug)]
pub(super) struct RecipeSelection {
    /// The profile.
    pub profile: String,
    /// The template of the configuration; `None` if the server has none.
    pub config_text: Option<String>,
    /// Settings that the disclosure shows, including those of a gateway.
    pub settings: BTreeMap<String, String>,
    /// The status page of the server.
    pub status: Option<StatusRecipe>,
    /// The name of the variant; `None` of a server that has none or is started without.
    pub variant: Option<String>,
    /// The template of `{variant}`.
    pub variant_text: String,
    /// Programs beside the server, by name.
    pub companions: Vec<(String, CompanionRecipe)>,
    /// The part that only web servers have.
    pub web: WebChoice,
}

impl RecipeSelection {
    /// Selects from a recipe.
    ///
    /// # Errors
    /// The recipe does not have what was requested; the error lists what it has.
    pub(super) fn make(
        recipe: &Recipe,
        profile: Option<&str>,
        variant: Option<&str>,
    ) -> Result<RecipeSelection, SutError> {
        let profile = profile.unwrap_or(BENCHMARK_PROFILE);
        let is_web = recipe.is_of(Family::Web);
        let variant = variant.or(is_web.then_some(WebVariant::Http1.name()));
        let other = find_profile(recipe, profile)?;
        let names = recipe.beside.iter();
        let companions = names.filter_map(|name| Some((name.clone(), find_companion(recipe, name)?)));
        let config_text =
            recipe.config.as_ref().map(|config| other.map_or(&config.text, |other| &other.text));
        Ok(RecipeSelection {
            profile: profile.to_owned(),
            config_text: config_text.cloned(),
            settings: other.map_or(&recipe.settings, |other| &other.settings).clone(),
            status: other.map_or(&recipe.status, |other| &other.status).clone(),
            variant: variant.map(str::to_owned),
            variant_text: find_variant(recipe, other, variant)?,
            companions: companions.collect(),
            web: WebChoice::default(),
        })
    }
}

impl RecipeSelection {
    /// Returns whether the server is given a certificate: a web server over TLS, and any whose selected texts name it.
    pub(super) fn has_certificate(&self, recipe: &Recipe) -> bool {
        let arguments = recipe.start.arguments.iter().chain(recipe.files.values());
        let texts = arguments.chain(&self.config_text).chain([&self.variant_text]);
        let is_of_certificate = |name: &str| name == "tls_certificate" || name == "tls_key";
        self.is_encrypted_web() || texts.flat_map(|text| placeholders(text)).any(is_of_certificate)
    }
}

fn find_profile<'a>(recipe: &'a Recipe, name: &str) -> Result<Option<&'a ProfileRecipe>, SutError> {
    match recipe.profiles.get(name) {
        None if name != BENCHMARK_PROFILE => {
            Err(lacks(recipe, "profile", name, recipe.profile_names().map(str::to_owned).collect()))
        }
        found => Ok(found),
    }
}

fn find_variant(
    recipe: &Recipe,
    profile: Option<&ProfileRecipe>,
    variant: Option<&str>,
) -> Result<String, SutError> {
    let Some(variant) = variant else { return Ok(String::new()) };
    let own = profile.and_then(|profile| profile.variants.get(variant));
    let known = recipe.variant_names();
    match own.or_else(|| recipe.variants.get(variant)) {
        Some(text) => Ok(text.clone()),
        None if known.contains(&variant) => Ok(String::new()),
        None => Err(lacks(recipe, "variant", variant, known.into_iter().map(str::to_owned).collect())),
    }
}

pub(super) fn lacks(recipe: &Recipe, what: &'static str, asked: &str, known: Vec<String>) -> SutError {
    SutError::Lacks { title: recipe.title.clone(), what, asked: asked.to_owned(), known }
}

#[cfg(test)]
mod tests {
    use model::{Gateway, GatewayKind};

    use super::*;

    fn refused(
        recipe: &str,
        profile: Option<&str>,
        variant: Option<&str>,
        gateway: Option<GatewayKind>,
    ) -> String {
        let recipe = Recipe::load(recipe).unwrap();
        let gateway = gateway.map(|kind| Gateway { kind, workers: 1 });
        let choice = RecipeSelection::make(&recipe, profile, variant);
        choice.and_then(|choice| choice.with_web(&recipe, gateway)).unwrap_err().to_string()
    }

    #[test]
    fn errors_list_the_alternatives_of_a_recipe() {
        assert_eq!(
            refused("nginx", Some("defualt"), None, None),
            "nginx has no profile `defualt`; expected one of `benchmark`, `default`, `direct-io`"
        );
        assert_eq!(
            refused("apache-prefork", None, Some("h2"), None),
            "Apache (prefork MPM) has no variant `h2`; expected one of `h1`, `tls`"
        );
        let message = refused("caddy", None, None, Some(GatewayKind::Cgi));
        assert!(message.contains("has no gateway `cgi`; expected one of `fastcgi`, `php-fpm`"), "{message}");
    }

    #[test]
    fn a_profile_replaces_the_settings_and_a_gateway_extends_them() {
        let recipe = Recipe::load("nginx").unwrap();
        let gateway = Gateway { kind: GatewayKind::Proxy, workers: 3 };
        let choice = RecipeSelection::make(&recipe, Some("default"), None).unwrap();
        let choice = choice.with_web(&recipe, Some(gateway)).unwrap();
        assert!(choice.variant_text.contains("default_server"), "{}", choice.variant_text);
        assert!(choice.config_text.unwrap().contains("worker_connections 768"));
        assert!(choice.settings["access log"].starts_with("on"));
        assert!(choice.settings["gateway"].contains("{gateway_workers}"));
        assert_eq!(choice.companions[0].0, "plimsoll-pages");
        let usual = RecipeSelection::make(&recipe, None, Some("tls")).unwrap();
        assert!(usual.variant_text.contains("reuseport") && usual.companions.is_empty());
    }
}
