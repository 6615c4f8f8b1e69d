//! The accelerator in front of a server.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};

use super::request::{Acceleration, Origin};
use super::values::WebValues;
use crate::recipe::{Recipe, WebVariant};
use crate::sut::SutError;
use crate::sut::account::takes_other_rights;
use crate::sut::certificate::Certificate;
use crate::sut::launch::{find_program, version_of};
use crate::sut::managed_process::ManagedProcess;
use crate::sut::ports::free_port;
use crate::sut::processes::ProcessBuilder;
use crate::sut::recipe_selection::RecipeSelection;
use crate::sut::values::{PlaceholderValues, config_file};
use crate::sut::work_dir::WorkDir;

/// A reverse proxy in front of a server: it receives the requests, and forwards those that it cannot answer
/// from its cache. It shares the server's limits, and keeps running when the server is restarted.
#[derive(Debug)]
pub(in crate::sut) struct ReverseProxy {
    pub recipe: Recipe,
    pub choice: RecipeSelection,
    pub values: PlaceholderValues,
    pub process: ManagedProcess,
    /// Number of files requested before load began.
    pub n_warmed: u64,
}

impl ReverseProxy {
    /// Creates one that is not running yet.
    fn new(
        recipe: Recipe,
        choice: RecipeSelection,
        values: PlaceholderValues,
        mut process: ManagedProcess,
    ) -> ReverseProxy {
        // Its address is known in advance; its output goes to its log.
        process.launch.announces = false;
        ReverseProxy { recipe, choice, values, process, n_warmed: 0 }
    }

    /// Returns its address.
    pub(in crate::sut) fn address(&self) -> SocketAddr {
        SocketAddr::from((self.values.address, self.values.port))
    }

    /// Returns its variant.
    pub(in crate::sut) fn variant(&self) -> WebVariant {
        self.choice.web_variant()
    }
}

/// A reverse proxy whose program was found.
pub(in crate::sut) struct ReverseProxySetup {
    recipe: Recipe,
    choice: RecipeSelection,
    program: PathBuf,
    cache_bytes: u64,
}

impl ReverseProxySetup {
    pub(super) fn look_up(
        Acceleration { recipe, cache_bytes }: Acceleration,
        variant: Option<&str>,
        plimsoll: &Path,
        search_path: &[PathBuf],
    ) -> Result<ReverseProxySetup, SutError> {
        let choice = RecipeSelection::make(&recipe, None, variant)?;
        let program = find_program(&recipe.title, &recipe.program, plimsoll, search_path)?;
        Ok(ReverseProxySetup { recipe: *recipe, choice, program, cache_bytes })
    }

    /// Returns whether the proxy gives up root's rights.
    pub(in crate::sut) fn takes_other_rights(&self) -> bool {
        takes_other_rights(&self.recipe, &self.choice)
    }

    /// Creates its own directory within the server's, and the address of that server.
    pub(in crate::sut) fn prepare(
        self,
        server: &PlaceholderValues,
        port: Option<u16>,
        work_dir: &WorkDir,
        cpus: &[u32],
    ) -> Result<(ReverseProxy, Option<Certificate>), SutError> {
        let origin = SocketAddr::from((server.address, server.port));
        let values = PlaceholderValues {
            address: Ipv4Addr::LOCALHOST,
            port: free_port(Ipv4Addr::LOCALHOST, port.unwrap_or(0))?,
            work_dir: server.work_dir.join("accelerator"),
            config_file: config_file(&self.recipe),
            variant: String::new(),
            companion_port: 0,
            web: WebValues {
                root: server.web.root.clone(),
                origin: Some(Origin { address: origin, cache_bytes: self.cache_bytes }),
                ..WebValues::default()
            },
            ..server.clone()
        };
        let values = values.with_parts_of(&self.choice);
        work_dir.make_directory(&values.work_dir)?;
        let maker = ProcessBuilder { values: &values, work_dir, cpus, search_path: &[] };
        maker.make_directories(&self.recipe)?;
        let certificate = maker.certificate(&self.recipe, &self.choice)?;
        let version = version_of(&self.program, &self.recipe.program);
        let process = maker.server(&self.recipe, &self.choice, self.program, version)?;
        Ok((ReverseProxy::new(self.recipe, self.choice, values, process), certificate))
    }
}
