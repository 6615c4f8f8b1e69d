//! The part of a selection that only web servers have: transport and gateway.

use languages::NamedValues;
use model::{Gateway, GatewayKind};

use crate::recipe::{GatewayRecipe, Recipe, RequiredFile, WebVariant, find_companion};
use crate::sut::SutError;
use crate::sut::recipe_selection::{RecipeSelection, lacks};

/// The part of a selection that only web servers have.
#[derive(Debug, Default)]
pub(in crate::sut) struct WebChoice {
    gateway: Option<ChosenGateway>,
}

/// A gateway with its setup.
#[derive(Debug)]
pub(super) struct ChosenGateway {
    /// The gateway, and its number of workers.
    pub asked: Gateway,
    /// Its setup.
    pub recipe: GatewayRecipe,
}

impl WebChoice {
    /// Returns the gateway; `None` of a server without one.
    pub(super) fn gateway(&self) -> Option<&ChosenGateway> {
        self.gateway.as_ref()
    }

    /// Returns the gateway as it was asked for.
    pub(in crate::sut) fn asked(&self) -> Option<Gateway> {
        self.gateway.as_ref().map(|gateway| gateway.asked)
    }

    /// Returns the files that must be installed besides programs.
    pub(in crate::sut) fn needs(&self) -> &[RequiredFile] {
        self.gateway.as_ref().map_or(&[], |gateway| &gateway.recipe.needs)
    }
}

impl RecipeSelection {
    /// Adds a gateway, with its settings and companions.
    ///
    /// # Errors
    /// The recipe does not have it; the error lists those that it has.
    pub(in crate::sut) fn with_web(
        mut self,
        recipe: &Recipe,
        asked: Option<Gateway>,
    ) -> Result<RecipeSelection, SutError> {
        let Some(asked) = asked else { return Ok(self) };
        let gateway = find_gateway(recipe, asked.kind)?;
        self.settings.extend(gateway.settings.clone());
        let names = gateway.companions.iter();
        let companions = names.filter_map(|name| Some((name.clone(), find_companion(recipe, name)?)));
        self.companions.extend(companions);
        self.web = WebChoice { gateway: Some(ChosenGateway { asked, recipe: gateway }) };
        Ok(self)
    }

    /// Returns the variant of a web server.
    pub(in crate::sut) fn web_variant(&self) -> WebVariant {
        self.variant.as_deref().and_then(WebVariant::named).unwrap_or_default()
    }

    /// Returns whether it is that of a web server over TLS.
    pub(in crate::sut) fn is_encrypted_web(&self) -> bool {
        self.web_variant().is_tls()
    }
}

fn find_gateway(recipe: &Recipe, kind: GatewayKind) -> Result<GatewayRecipe, SutError> {
    recipe.gateways.get(&kind).cloned().ok_or_else(|| {
        let known = recipe.gateways.keys().map(GatewayKind::to_string).collect();
        lacks(recipe, "gateway", kind.name(), known)
    })
}
