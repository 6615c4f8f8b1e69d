//! The parts of web servers in a plan.

use languages::names;
use serde::{Deserialize, Serialize};

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
