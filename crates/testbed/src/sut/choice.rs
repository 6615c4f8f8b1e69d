//! Selection of profile, transport and gateway from a recipe.

use std::collections::BTreeMap;

use model::{Gateway, GatewayKind};

use super::SutError;
use crate::recipe::{
    BENCHMARK_PROFILE, CompanionRecipe, GatewayRecipe, ProfileRecipe, Recipe, StatusRecipe, Transport,
    find_companion,
};

/// A selection from a recipe.
#[derive(Debug)]
pub(super) struct Choice {
    /// The profile.
    pub profile: String,
    /// The template of the configuration; `None` if the server has none.
    pub config_text: Option<String>,
    /// Settings that the disclosure shows, including those of the gateway.
    pub settings: BTreeMap<String, String>,
    /// The status page of the server.
    pub status: Option<StatusRecipe>,
    /// The transport.
    pub transport: Transport,
    /// The template of `{listen}`.
    pub listen: String,
    /// The gateway, and its number of workers.
    pub gateway: Option<(Gateway, GatewayRecipe)>,
    /// Programs beside the server, by name.
    pub companions: Vec<(String, CompanionRecipe)>,
}

impl Choice {
    /// Selects from a recipe.
    ///
    /// # Errors
    /// The recipe does not have what was requested; the error lists what it has.
    pub(super) fn make(
        recipe: &Recipe,
        profile: Option<&str>,
        transport: Transport,
        gateway: Option<Gateway>,
    ) -> Result<Choice, SutError> {
        let profile = profile.unwrap_or(BENCHMARK_PROFILE);
        let other = find_profile(recipe, profile)?;
        let gateway = match gateway {
            Some(asked) => Some((asked, find_gateway(recipe, asked.kind)?)),
            None => None,
        };
        let mut settings = other.map_or(&recipe.settings, |other| &other.settings).clone();
        settings.extend(gateway.iter().flat_map(|(_, recipe)| recipe.settings.clone()));
        let names = recipe.beside.iter().chain(gateway.iter().flat_map(|(_, recipe)| &recipe.companions));
        let companions =
            names.filter_map(|name| Some((name.clone(), find_companion(recipe, name)?))).collect();
        let config_text =
            recipe.config.as_ref().map(|config| other.map_or(&config.text, |other| &other.text));
        Ok(Choice {
            profile: profile.to_owned(),
            config_text: config_text.cloned(),
            settings,
            status: other.map_or(&recipe.status, |other| &other.status).clone(),
            transport,
            listen: find_listen(recipe, other, transport)?,
            gateway,
            companions,
        })
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

fn find_listen(
    recipe: &Recipe,
    profile: Option<&ProfileRecipe>,
    transport: Transport,
) -> Result<String, SutError> {
    let own = profile.and_then(|profile| profile.transports.get(&transport));
    match own.or_else(|| recipe.transports.get(&transport)) {
        Some(listen) => Ok(listen.clone()),
        None if recipe.transports().contains(&transport) => Ok(String::new()),
        None => {
            let known = recipe.transports().iter().map(Transport::to_string).collect();
            Err(lacks(recipe, "transport", transport.name(), known))
        }
    }
}

fn find_gateway(recipe: &Recipe, kind: GatewayKind) -> Result<GatewayRecipe, SutError> {
    recipe.gateways.get(&kind).cloned().ok_or_else(|| {
        let known = recipe.gateways.keys().map(GatewayKind::to_string).collect();
        lacks(recipe, "gateway", kind.name(), known)
    })
}

fn lacks(recipe: &Recipe, what: &'static str, asked: &str, known: Vec<String>) -> SutError {
    SutError::Lacks { title: recipe.title.clone(), what, asked: asked.to_owned(), known }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(
        recipe: &str,
        profile: Option<&str>,
        transport: Transport,
        gateway: Option<GatewayKind>,
    ) -> String {
        let recipe = Recipe::load(recipe).unwrap();
        let gateway = gateway.map(|kind| Gateway { kind, workers: 1 });
        Choice::make(&recipe, profile, transport, gateway).unwrap_err().to_string()
    }

    #[test]
    fn errors_list_the_alternatives_of_a_recipe() {
        assert_eq!(
            refused("nginx", Some("defualt"), Transport::Plain, None),
            "nginx has no profile `defualt`; expected one of `benchmark`, `default`, `direct-io`"
        );
        assert_eq!(
            refused("apache-prefork", None, Transport::TlsHttp2, None),
            "Apache (prefork MPM) has no transport `tls-http2`; expected one of `plain`, `tls`"
        );
        let message = refused("caddy", None, Transport::Plain, Some(GatewayKind::Cgi));
        assert!(message.contains("has no gateway `cgi`; expected one of `fastcgi`, `php-fpm`"), "{message}");
    }

    #[test]
    fn a_profile_replaces_the_settings_and_a_gateway_extends_them() {
        let recipe = Recipe::load("nginx").unwrap();
        let gateway = Gateway { kind: GatewayKind::Proxy, workers: 3 };
        let choice = Choice::make(&recipe, Some("default"), Transport::Plain, Some(gateway)).unwrap();
        assert!(choice.listen.contains("default_server"), "{}", choice.listen);
        assert!(choice.config_text.unwrap().contains("worker_connections 768"));
        assert!(choice.settings["access log"].starts_with("on"));
        assert!(choice.settings["gateway"].contains("{gateway_workers}"));
        assert_eq!(choice.companions[0].0, "plimsoll-pages");
        let usual = Choice::make(&recipe, None, Transport::Tls, None).unwrap();
        assert!(usual.listen.contains("reuseport") && usual.companions.is_empty());
    }
}
