//! The parts of web servers.
//!
//! - `choice`: the part of a selection; `values`: values of placeholders
//! - `probe`: readiness checks
//! - `page_programs`: programs that generate pages
//! - `reverse_proxy`: the accelerator in front of a server; `warm`: filling its cache
//! - `memory_limit`: proof that a memory limit binds
//! - `running`: all of them as one value

mod choice;
mod memory_limit;
mod page_programs;
mod probe;
mod reverse_proxy;
mod running;
mod values;
mod warm;

use std::net::SocketAddr;

use model::{FileSet, Gateway, GatewayKind};

use crate::populate::Populated;
use crate::recipe::{GatewayRecipe, Recipe, WebVariant};

pub use memory_limit::MemoryLimitProof;

pub(super) use choice::WebChoice;
pub(super) use page_programs::write_page_programs;
pub(super) use probe::ProbeError;
pub(super) use reverse_proxy::{ReverseProxy, ReverseProxySetup};
pub(super) use running::RunningWeb;
pub(super) use values::WebValues;

/// The parts of a web server that is to be started; none by default.
#[derive(Debug, Clone, Default)]
pub struct WebParts<'a> {
    /// The file set of the server; one of its files is requested to check readiness.
    pub files: Option<&'a FileSet>,
    /// The file set already on disk, which is kept afterwards; created in the run's own directory if `None`.
    pub root: Option<Populated>,
    /// The gateway to the programs that generate pages.
    pub gateway: Option<Gateway>,
    /// The accelerator in front of the server, within the same limits.
    pub accelerator: Option<Acceleration>,
    /// The server behind, where the server is itself an accelerator.
    pub origin: Option<Origin>,
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

/// Adds the parts of the built-in web server to its recipe. The author of its arguments decides what its variants need.
pub(super) fn with_parts_of_built_in(recipe: Recipe) -> Recipe {
    Recipe {
        variants: WebVariant::ALL.map(|variant| (variant.name().to_owned(), String::new())).into(),
        gateways: [(GatewayKind::Native, GatewayRecipe::default())].into(),
        ..recipe
    }
}
