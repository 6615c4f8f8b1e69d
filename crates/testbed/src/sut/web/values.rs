//! The values of placeholders that only web servers have, and programs around them.

use std::path::PathBuf;

use super::choice::WebChoice;
use super::request::Origin;
use crate::sut::values::PlaceholderValues;

/// The values of placeholders that only web servers have, and programs around them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct WebValues {
    /// The directory of the file set.
    pub root: PathBuf,
    /// The upstream servers of the gateway: a part of the configuration, with placeholders replaced.
    pub upstream: String,
    /// The pages that they generate, likewise.
    pub gateway: String,
    /// Workers of the gateway; 0 if there is none.
    pub workers: u32,
    /// For an accelerator: its origin server, and the maximum size of its cache in bytes.
    pub origin: Option<Origin>,
}

impl WebValues {
    /// Returns them with the parts of a configuration that a selection adds; other values are already known.
    pub(in crate::sut) fn with_parts_of(&self, choice: &WebChoice, known: &PlaceholderValues) -> WebValues {
        let recipe = choice.gateway().map(|gateway| &gateway.recipe);
        WebValues {
            upstream: recipe.map(|recipe| known.fill(&recipe.upstream)).unwrap_or_default(),
            gateway: recipe.map(|recipe| known.fill(&recipe.config)).unwrap_or_default(),
            ..self.clone()
        }
    }
}

impl PlaceholderValues {
    /// Returns the path of the CGI program. Its name selects Plimsoll's role.
    pub(super) fn cgi_program(&self) -> PathBuf {
        self.programs_dir().join("plimsoll-cgi")
    }

    /// Returns the value of one of the web's placeholders; `None` for others.
    pub(in crate::sut) fn of_web(&self, name: &str) -> Option<String> {
        let path = |path: PathBuf| path.to_string_lossy().into_owned();
        let web = &self.web;
        let of_origin = |text: fn(Origin) -> String| web.origin.map(text).unwrap_or_default();
        Some(match name {
            "root" => path(web.root.clone()),
            "upstream" => web.upstream.clone(),
            "gateway" => web.gateway.clone(),
            "gateway_workers" => web.workers.to_string(),
            "cgi_program" => path(self.cgi_program()),
            "origin" => of_origin(|origin| origin.address.to_string()),
            "origin_host" => of_origin(|origin| origin.address.ip().to_string()),
            "origin_port" => of_origin(|origin| origin.address.port().to_string()),
            "cache_bytes" => of_origin(|origin| origin.cache_bytes.to_string()),
            "cache_mib" => of_origin(|origin| (origin.cache_bytes >> 20).to_string()),
            _ => return None,
        })
    }
}
