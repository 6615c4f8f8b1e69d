//! A listing of installed servers, and of the commands that install the others.

use std::path::{Path, PathBuf};

use model::Family;

use super::launch::{find_program, version_of};
use super::web::listing as web;
use crate::recipe::{BUILT_IN_RECIPES, Recipe};

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
    pub installed: Option<InstalledServer>,
    /// The command that installs it.
    pub install: Option<String>,
    /// The profiles, the default one first.
    pub profiles: Vec<String>,
    /// The names of its variants.
    pub variants: Vec<String>,
    /// The gateways.
    pub gateways: Vec<web::GatewayListing>,
}

/// An installed server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstalledServer {
    /// The program.
    pub program: PathBuf,
    /// The first line of its version output.
    pub version: Option<String>,
}

/// A program that is not installed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingProgram {
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

/// Returns the listing of a server.
pub(super) fn listing(recipe: &Recipe, search_path: &[PathBuf], program: &Path) -> SutListing {
    let server = &recipe.program;
    let found = find_program(&recipe.title, server, program, search_path).ok();
    SutListing {
        name: recipe.name.clone(),
        title: recipe.title.clone(),
        family: recipe.family,
        installed: found.map(|program| InstalledServer { version: version_of(&program, server), program }),
        install: server.install.clone(),
        profiles: recipe.profile_names().map(str::to_owned).collect(),
        variants: recipe.variant_names().into_iter().map(str::to_owned).collect(),
        gateways: web::gateways(recipe, search_path, program),
    }
}

#[cfg(test)]
mod tests {
    use model::GatewayKind;

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
}
