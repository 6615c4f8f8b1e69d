//! A listing of accelerators, and of the gateways of web servers.

use std::path::{Path, PathBuf};

use model::GatewayKind;

use crate::recipe::{BUILT_IN_ACCELERATORS, GatewayRecipe, Recipe, find_companion};
use crate::sut::SutError;
use crate::sut::launch::{check_installed, find_program};
use crate::sut::listing::{MissingProgram, SutListing, listing};

/// A gateway to programs that generate pages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GatewayListing {
    /// Its kind.
    pub kind: GatewayKind,
    /// Missing programs besides the server itself; empty if it can be used.
    pub missing: Vec<MissingProgram>,
}

/// Lists the gateways of a server.
pub(in crate::sut) fn gateways(
    recipe: &Recipe,
    search_path: &[PathBuf],
    program: &Path,
) -> Vec<GatewayListing> {
    let listed = recipe.gateways.iter().map(|(kind, gateway)| GatewayListing {
        kind: *kind,
        missing: missing(recipe, gateway, search_path, program),
    });
    listed.collect()
}

/// Returns all accelerators with a built-in recipe, as [`crate::suts`] does.
pub fn accelerators(search_path: &[PathBuf], program: &Path) -> Vec<SutListing> {
    let recipes = BUILT_IN_ACCELERATORS.iter().filter_map(|(name, _)| Recipe::load_accelerator(name).ok());
    recipes.map(|recipe| listing(&recipe, search_path, program)).collect()
}

fn missing(
    recipe: &Recipe,
    gateway: &GatewayRecipe,
    search_path: &[PathBuf],
    program: &Path,
) -> Vec<MissingProgram> {
    let needs = gateway.needs.iter().map(check_installed);
    let companions = gateway.companions.iter().filter_map(|name| find_companion(recipe, name));
    let programs =
        companions.map(|one| find_program(&one.title, &one.program, program, search_path).map(drop));
    let errors = needs.chain(programs).filter_map(Result::err);
    let names = errors.filter_map(|error| match error {
        SutError::NotInstalled { title, install, .. } => Some(MissingProgram { title, install }),
        _ => None,
    });
    names.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_accelerator_is_listed_with_its_install_command() {
        let listed = accelerators(&[], Path::new("/no/such/program"));
        assert_eq!(listed.len(), BUILT_IN_ACCELERATORS.len());
        let ours = listed.iter().find(|one| one.name == "plimsoll").unwrap();
        assert_eq!((ours.installed.as_ref(), ours.install.as_ref()), (None, None), "the program itself");
        let others = listed.iter().filter(|one| one.name != "plimsoll");
        for other in others {
            assert!(other.install.as_ref().is_some_and(|line| line.starts_with("apt-get ")), "{other:?}");
        }
    }
}
