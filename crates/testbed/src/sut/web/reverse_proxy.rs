//! The accelerator in front of a server.

use std::net::SocketAddr;

use crate::recipe::{Recipe, WebVariant};
use crate::sut::choice::Choice;
use crate::sut::managed_process::ManagedProcess;
use crate::sut::values::Values;

/// A reverse proxy in front of a server: it receives the requests, and forwards those that it cannot answer
/// from its cache. It shares the server's limits, and keeps running when the server is restarted.
#[derive(Debug)]
pub(in crate::sut) struct ReverseProxy {
    pub recipe: Recipe,
    pub choice: Choice,
    pub values: Values,
    pub process: ManagedProcess,
    /// Number of files requested before load began.
    pub n_warmed: u64,
}

impl ReverseProxy {
    /// Creates one that is not running yet.
    pub(in crate::sut) fn new(
        recipe: Recipe,
        choice: Choice,
        values: Values,
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
