//! A listing of installed servers, and of the commands that install the others.

use std::path::{Path, PathBuf};

use super::SutError;
use super::launch::{check_installed, find_program, version_of};
use model::{Family, GatewayKind};

use crate::recipe::{BUILT_IN_ACCELERATORS, BUILT_IN_RECIPES, GatewayRecipe, Recipe, find_companion};

/// A server with a built-in recipe.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SutListing {
    /// The name that users type.
    pub name: String,
    /// The name for people.
    pub title: String,
    /// The family of benchmarks that load it; `None` if none does.
    pub family: Option<Family>,
    /// The installation; `None` if it is not installed.
    pub installed: Option<Installed>,
    /// The command that installs it.
    pub install: Option<String>,
    /// The profiles, the default one first.
    pub profiles: Vec<String>,
    /// The names of its variants.
    pub variants: Vec<String>,
    /// The gateways.
    pub gateways: Vec<GatewayListing>,
}

/// An installed server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Installed {
    /// The program.
    pub program: PathBuf,
    /// The first line of its version output.
    pub version: Option<String>,
}

/// A gateway to programs that generate pages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GatewayListing {
    /// Its kind.
    pub kind: GatewayKind,
    /// Missing programs besides the server itself; empty if it can be used.
    pub missing: Vec<Missing>,
}

/// A program that is not installed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Missing {
    /// The name for people.
    pub title: String,
    /// The command that installs it.
    pub install: Option<String>,
}

/// Returns all servers with a built-in recipe. Programs are searched in `search_path` and the usual
/// directories; `program` is Plimsoll itself. Starts each installed server to determine its version.
pub fn suts(search_path: &[PathBuf], program: &Path) -> Vec<SutListing> {
    recipes().map(|recipe| listing(&recipe, search_path, program)).collect()
}

/// Returns the names of the servers of a family with a built-in recipe, each with whether it is installed. Starts none of
/// them.
pub fn suts_of(family: Family, search_path: &[PathBuf], program: &Path) -> Vec<(String, bool)> {
    let recipes = recipes().filter(|recipe| recipe.is_of(family));
    let is_installed =
        |recipe: &Recipe| find_program(&recipe.title, &recipe.program, program, search_path).is_ok();
    recipes.map(|recipe| (recipe.name.clone(), is_installed(&recipe))).collect()
}

fn recipes() -> impl Iterator<Item = Recipe> {
    BUILT_IN_RECIPES.iter().filter_map(|(name, _)| Recipe::load(name).ok())
}

/// Returns all accelerators with a built-in recipe, in the same way.
pub fn accelerators(search_path: &[PathBuf], program: &Path) -> Vec<SutListing> {
    let recipes = BUILT_IN_ACCELERATORS.iter().filter_map(|(name, _)| Recipe::load_accelerator(name).ok());
    recipes.map(|recipe| listing(&recipe, search_path, program)).collect()
}

fn listing(recipe: &Recipe, search_path: &[PathBuf], program: &Path) -> SutListing {
    let server = &recipe.program;
    let found = find_program(&recipe.title, server, program, search_path).ok();
    let gateways = recipe.gateways.iter();
    SutListing {
        name: recipe.name.clone(),
        title: recipe.title.clone(),
        family: recipe.family,
        installed: found.map(|program| Installed { version: version_of(&program, server), program }),
        install: server.install.clone(),
        profiles: recipe.profile_names().map(str::to_owned).collect(),
        variants: recipe.variant_names().into_iter().map(str::to_owned).collect(),
        gateways: gateways
            .map(|(kind, gateway)| GatewayListing {
                kind: *kind,
                missing: missing(recipe, gateway, search_path, program),
            })
            .collect(),
    }
}

fn missing(
    recipe: &Recipe,
    gateway: &GatewayRecipe,
    search_path: &[PathBuf],
    program: &Path,
) -> Vec<Missing> {
    let needs = gateway.needs.iter().map(check_installed);
    let companions = gateway.companions.iter().filter_map(|name| find_companion(recipe, name));
    let programs =
        companions.map(|one| find_program(&one.title, &one.program, program, search_path).map(drop));
    let errors = needs.chain(programs).filter_map(Result::err);
    let names = errors.filter_map(|error| match error {
        SutError::NotInstalled { title, install, .. } => Some(Missing { title, install }),
        _ => None,
    });
    names.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_recipe_is_listed_with_the_missing_programs_of_its_gateways() {
        let listed = suts(&[], Path::new("/no/such/program"));
        assert_eq!(listed.len(), BUILT_IN_RECIPES.len());
        let nginx = listed.iter().find(|one| one.name == "nginx").unwrap();
        assert_eq!(nginx.profiles, ["benchmark", "default", "direct-io"]);
        assert_eq!(nginx.variants, ["h1", "tls", "h2"]);
        let proxy = nginx.gateways.iter().find(|gateway| gateway.kind == GatewayKind::Proxy).unwrap();
        let titles: Vec<&str> = proxy.missing.iter().map(|missing| missing.title.as_str()).collect();
        assert_eq!(titles, ["Plimsoll's page server"]);
    }

    /// Goal: of one family alone, and a server counts as installed by its program, which is not run.
    #[test]
    fn the_servers_of_a_family_are_told_without_starting_them() {
        let all = suts(&[], Path::new("/no/such/program"));
        for family in all.iter().filter_map(|one| one.family) {
            let of_family = all.iter().filter(|one| one.family == Some(family));
            let expected: Vec<_> = of_family.map(|one| (one.name.clone(), one.installed.is_some())).collect();
            assert_eq!(suts_of(family, &[], Path::new("/no/such/program")), expected, "{family}");
        }
    }

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
