//! The parts of a web server that are asked for.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use model::{FileSet, Gateway, GatewayKind};

use super::reverse_proxy::ReverseProxySetup;
use super::values::WebValues;
use crate::populate::{PopulatedFiles, populate};
use crate::recipe::{GatewayRecipe, Recipe, WebVariant};
use crate::sut::SutError;
use crate::sut::launch::find_program;
use crate::sut::recipe_selection::RecipeSelection;

/// The parts of a web server that is to be started; none by default.
#[derive(Debug, Clone, Default)]
pub struct WebParts {
    /// The file set of the server; one of its files is requested to check readiness.
    pub files: Option<FileSet>,
    /// The file set already on disk, which is kept afterwards; created in the run's own directory if `None`.
    pub root: Option<PopulatedFiles>,
    /// The gateway to the programs that generate pages.
    pub gateway: Option<Gateway>,
    /// The accelerator in front of the server, within the same limits.
    pub accelerator: Option<Acceleration>,
    /// The server behind, where the server is itself an accelerator.
    pub origin: Option<Origin>,
}

impl WebParts {
    /// Finds the accelerator; `None` if none is asked for.
    ///
    /// # Errors
    /// It is not installed, or its recipe does not have the variant.
    pub(in crate::sut) fn find_proxy(
        &self,
        variant: Option<&str>,
        plimsoll: &Path,
        search_path: &[PathBuf],
    ) -> Result<Option<ReverseProxySetup>, SutError> {
        let found = self.accelerator.as_ref().map(|accelerator| {
            ReverseProxySetup::look_up(accelerator.clone(), variant, plimsoll, search_path)
        });
        found.transpose()
    }

    /// Returns the parts that are looked up in recipes.
    pub(in crate::sut) fn look_up(&self) -> WebLookUp<'_> {
        WebLookUp { accelerator: self.accelerator.as_ref().map(|one| &*one.recipe), gateway: self.gateway }
    }

    /// Returns the values of the parts. The file set is in the folder of the start, if it is not on disk already.
    pub(in crate::sut) fn values(&self, work_dir: &Path) -> WebValues {
        let on_disk = self.root.as_ref().map(|populated| populated.directory.clone());
        WebValues {
            root: on_disk.unwrap_or_else(|| work_dir.join("root")),
            workers: self.gateway.map_or(0, |gateway| gateway.workers),
            origin: self.origin,
            ..WebValues::default()
        }
    }

    /// Lays out the file set in a directory, if the server is given one and it is not on disk already.
    ///
    /// # Errors
    /// A file cannot be written.
    pub(in crate::sut) fn lay_out(
        &self,
        recipe: &Recipe,
        root: &Path,
    ) -> Result<Option<PopulatedFiles>, SutError> {
        if !recipe.needs_root() {
            return Ok(None);
        }
        let none = FileSet::default();
        match &self.root {
            Some(populated) => Ok(Some(populated.clone())),
            None => Ok(Some(populate(root, self.files.as_ref().unwrap_or(&none), |_| {})?)),
        }
    }
}

/// An accelerator with its memory.
#[derive(Debug, Clone)]
pub struct Acceleration {
    /// Its recipe.
    pub recipe: Box<Recipe>,
    /// Maximum size of its cache, in bytes.
    pub cache_bytes: u64,
}

/// The origin server of an accelerator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Origin {
    /// Its address.
    pub address: SocketAddr,
    /// Maximum number of bytes of its responses in the cache.
    pub cache_bytes: u64,
}

/// The parts of a web server whose start is checked in advance; none by default.
#[derive(Debug, Clone, Copy, Default)]
pub struct WebLookUp<'a> {
    /// The accelerator in front of it.
    pub accelerator: Option<&'a Recipe>,
    /// The gateway.
    pub gateway: Option<Gateway>,
}

impl WebLookUp<'_> {
    /// Checks the accelerator, and returns the variant of the server: that of a server behind an accelerator is the
    /// usual one.
    ///
    /// # Errors
    /// It is not installed, or its recipe does not have the variant.
    pub(in crate::sut) fn check<'v>(
        &self,
        variant: Option<&'v str>,
        plimsoll: &Path,
        search_path: &[PathBuf],
    ) -> Result<Option<&'v str>, SutError> {
        let Some(recipe) = self.accelerator else { return Ok(variant) };
        RecipeSelection::make(recipe, None, variant)?;
        find_program(&recipe.title, &recipe.program, plimsoll, search_path)?;
        Ok(None)
    }

    /// Adds the gateway to the selection from a recipe.
    ///
    /// # Errors
    /// The recipe does not have it.
    pub(in crate::sut) fn add_to(
        &self,
        choice: RecipeSelection,
        recipe: &Recipe,
    ) -> Result<RecipeSelection, SutError> {
        choice.with_web(recipe, self.gateway)
    }
}

/// Adds the parts of the built-in web server to its recipe. The author of its arguments decides what its variants need.
pub(in crate::sut) fn with_parts_of_built_in(recipe: Recipe) -> Recipe {
    Recipe {
        variants: WebVariant::ALL.map(|variant| (variant.name().to_owned(), String::new())).into(),
        gateways: [(GatewayKind::Native, GatewayRecipe::default())].into(),
        ..recipe
    }
}
