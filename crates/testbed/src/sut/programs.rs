//! The selection from a recipe with the programs that it needs, found before anything is made.

use std::path::{Path, PathBuf};

use super::account::{Account, takes_other_rights};
use super::launch::{check_installed, find_program};
use super::recipe_selection::RecipeSelection;
use super::web::{ReverseProxySetup, WebLookUp};
use super::{SutError, SutRequest};
use crate::recipe::Recipe;

/// The selection for a start: what is taken from the recipe of the server, and its programs.
pub(super) struct Selection {
    pub recipe: Recipe,
    pub choice: RecipeSelection,
    pub programs: Programs,
    /// The accelerator in front of the server.
    pub proxy: Option<ReverseProxySetup>,
}

impl Selection {
    /// Selects what is requested.
    ///
    /// # Errors
    /// The recipe does not have it, or a program is not installed.
    pub(super) fn make(request: &SutRequest) -> Result<Selection, SutError> {
        let SutRequest { web, program, search_path, .. } = request;
        let recipe = request.server.recipe();
        let proxy = web.find_proxy(request.variant.as_deref(), program, search_path)?;
        // Traffic between an accelerator and its server stays on this machine.
        let variant = request.variant.as_deref().filter(|_| proxy.is_none());
        let choice = web
            .look_up()
            .add_to(RecipeSelection::make(&recipe, request.profile.as_deref(), variant)?, &recipe)?;
        let programs = Programs::find(&recipe, &choice, program, search_path)?;
        Ok(Selection { recipe, choice, programs, proxy })
    }

    /// Returns whether a program gives up root's rights, or is started without them.
    pub(super) fn takes_other_rights(&self) -> bool {
        takes_other_rights(&self.recipe, &self.choice)
            || self.proxy.as_ref().is_some_and(ReverseProxySetup::takes_other_rights)
    }
}

/// The programs of the server and its companions.
pub(super) struct Programs {
    pub server: PathBuf,
    pub companions: Vec<PathBuf>,
}

impl Programs {
    /// Finds them.
    ///
    /// # Errors
    /// The first that is not installed, or an account that this user cannot use.
    pub(super) fn find(
        recipe: &Recipe,
        choice: &RecipeSelection,
        plimsoll: &Path,
        search_path: &[PathBuf],
    ) -> Result<Programs, SutError> {
        let server = find_program(&recipe.title, &recipe.program, plimsoll, search_path)?;
        Account::check(recipe, choice)?;
        choice.web.needs().iter().try_for_each(check_installed)?;
        let companions = choice.companions.iter();
        let companions =
            companions.map(|(_, one)| find_program(&one.title, &one.program, plimsoll, search_path));
        Ok(Programs { server, companions: companions.collect::<Result<_, _>>()? })
    }
}

/// A start to be checked in advance.
#[derive(Debug, Clone, Copy)]
pub struct SutLookUp<'a> {
    /// The server; `None` for Plimsoll itself, which needs nothing.
    pub server: Option<&'a Recipe>,
    /// The profile of the server's recipe; the one for benchmarks if `None`.
    pub profile: Option<&'a str>,
    /// The variant of whichever of them receives requests.
    pub variant: Option<&'a str>,
    /// The parts of a web server.
    pub web: WebLookUp<'a>,
    /// The path of Plimsoll itself.
    pub program: &'a Path,
    /// Search path for programs, before the usual directories.
    pub search_path: &'a [PathBuf],
}

impl SutLookUp<'_> {
    /// Checks that all programs are installed and the recipes have what is requested; starts nothing.
    ///
    /// # Errors
    /// The first missing item.
    pub fn check(&self) -> Result<(), SutError> {
        let variant = self.web.check(self.variant, self.program, self.search_path)?;
        let Some(recipe) = self.server else { return Ok(()) };
        let choice = self.web.add_to(RecipeSelection::make(recipe, self.profile, variant)?, recipe)?;
        Programs::find(recipe, &choice, self.program, self.search_path).map(drop)
    }
}
