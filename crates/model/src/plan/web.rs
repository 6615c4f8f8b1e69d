//! The parts of web servers in a plan.

use languages::names;
use serde::{Deserialize, Serialize};

use super::{Plan, SutPlan};
use crate::FileSet;

/// The parts of a web server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WebSut {
    /// The gateway to the programs that generate pages; `None` where the workload needs none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    gateway: Option<Gateway>,
    /// The accelerator in front of the server, within the same limits; `None` if the load goes to the server itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    accelerator: Option<AcceleratorPlan>,
}

impl WebSut {
    /// Returns the parts of a web server; `None` if it has neither.
    pub fn of(gateway: Option<Gateway>, accelerator: Option<AcceleratorPlan>) -> Option<WebSut> {
        (gateway.is_some() || accelerator.is_some()).then_some(WebSut { gateway, accelerator })
    }
}

impl SutPlan {
    /// Returns the gateway to the programs that generate pages; `None` of a server without one.
    pub fn gateway(&self) -> Option<Gateway> {
        self.web.as_ref().and_then(|web| web.gateway)
    }

    /// Returns the accelerator in front of a web server; `None` if the load goes to the server itself.
    pub fn accelerator(&self) -> Option<&AcceleratorPlan> {
        self.web.as_ref().and_then(|web| web.accelerator.as_ref())
    }

    /// Returns the name with that of the accelerator in front of the server: `nginx behind varnish`.
    pub fn full_name(&self) -> String {
        match self.accelerator() {
            Some(accelerator) => format!("{} behind {}", self.name, accelerator.name),
            None => self.name.clone(),
        }
    }
}

impl Plan {
    /// Lists the files that a web server must hold; none of other families.
    pub fn file_set(&self) -> FileSet {
        self.workload.file_set(self.level_max())
    }
}

/// A caching reverse proxy in front of a web server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AcceleratorPlan {
    /// The name or path of its recipe.
    pub name: String,
    /// The most bytes of the server's replies that it may keep.
    pub cache_bytes: u64,
}

/// The gateway of a web server to the programs that generate pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Gateway {
    /// The interface between server and program.
    pub kind: GatewayKind,
    /// Number of pages that can be generated at once; at least 1. CGI on some servers ignores it.
    pub workers: u32,
}

names! {
    /// An interface between a web server and the programs that generate pages.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
    pub enum GatewayKind {
        /// A process per request.
        Cgi = "cgi",
        /// Persistent workers behind FastCGI.
        FastCgi = "fastcgi",
        /// PHP scripts by the FastCGI process manager.
        PhpFpm = "php-fpm",
        /// A Python application behind WSGI.
        Wsgi = "wsgi",
        /// A handler within the server.
        Native = "native",
        /// An HTTP application behind a reverse proxy.
        Proxy = "proxy",
    }
}
