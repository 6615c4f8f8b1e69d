//! The programs of a start, found before anything is made.

use std::path::{Path, PathBuf};

use super::SutError;
use super::account::Account;
use super::choice::Choice;
use super::launch::{check_installed, find_program};
use super::web::WebLookUp;
use crate::recipe::Recipe;

/// The programs of the server and its companions.
pub(super) struct Programs {
    pub server: PathBuf,
    pub companions: Vec<PathBuf>,
}

impl Programs {
    pub(super) fn find(
        recipe: &Recipe,
        choice: &Choice,
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
        let variant = match self.web.accelerator {
            Some(recipe) => {
                Choice::make(recipe, None, self.variant)?;
                find_program(&recipe.title, &recipe.program, self.program, self.search_path)?;
                None
            }
            None => self.variant,
        };
        let Some(recipe) = self.server else { return Ok(()) };
        let choice = Choice::make(recipe, self.profile, variant)?.with_web(recipe, self.web.gateway)?;
        Programs::find(recipe, &choice, self.program, self.search_path).map(drop)
    }
}
