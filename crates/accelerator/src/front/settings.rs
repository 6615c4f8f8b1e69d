//! What a front listens to and what it puts up with.

use std::net::SocketAddr;

use units::Nanos;

use super::http2::Http2Settings;
use super::network::Network;

/// All that can be set about fronts and changed while they run, but for the number of workers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FrontSettings {
    /// Where to listen.
    pub listens: Vec<Listen>,
    /// What clients may ask of us.
    pub limits: Limits,
    /// What they may ask of a connection of HTTP/2.
    pub http2: Http2Settings,
    /// How many bytes of heads each worker remembers with the answer to them; 0 for none.
    pub memo_bytes_max: usize,
}

impl Default for FrontSettings {
    fn default() -> FrontSettings {
        FrontSettings {
            listens: Vec::new(),
            limits: Limits::default(),
            http2: Http2Settings::default(),
            memo_bytes_max: 4 * 1024 * 1024,
        }
    }
}

/// An address to listen at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listen {
    /// The address; port 0 lets the kernel choose.
    pub address: SocketAddr,
    /// Whether clients speak TLS.
    pub tls: bool,
    /// Whether HTTP/2 is spoken: over TLS if the client wants it, without TLS to those who begin with it.
    pub http2: bool,
    /// The peers that say by the PROXY protocol whom they speak for; each of their connections has to begin with it.
    pub proxy_from: Vec<Network>,
}

impl Listen {
    /// Listens for plain HTTP/1 at an address.
    pub fn plain(address: SocketAddr) -> Listen {
        Listen { address, tls: false, http2: false, proxy_from: Vec::new() }
    }
}

/// What clients may ask of a front. Times are kept to a quarter of a second.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// From the first byte of a head, of a TLS handshake or of a PROXY header, to its end.
    pub head_timeout: Nanos,
    /// Without any byte of a request's body.
    pub body_timeout: Nanos,
    /// Between requests.
    pub idle_timeout: Nanos,
    /// Without the client's taking any byte of a reply.
    pub write_timeout: Nanos,
    /// Without any byte in either direction of a connection that has become a tunnel.
    pub tunnel_timeout: Nanos,
    /// The least bytes per second, on average after the first time limit, at which bodies are sent and replies taken; 0
    /// for none.
    pub rate_min: u64,
    /// Connections, of all workers together.
    pub connections_max: usize,
    /// Connections from one address, of all workers together, if that is to be limited.
    pub connections_per_address: Option<usize>,
    /// Requests after which a connection is closed, if ever.
    pub requests_per_connection: Option<u64>,
    /// Bytes of a request's head; at most [`http1::HEAD_BYTES_MAX`] count.
    pub head_bytes_max: usize,
    /// Bytes of a request's body.
    pub body_bytes_max: u64,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            head_timeout: Nanos::from_secs(10),
            body_timeout: Nanos::from_secs(30),
            idle_timeout: Nanos::from_secs(60),
            write_timeout: Nanos::from_secs(30),
            tunnel_timeout: Nanos::from_secs(3600),
            rate_min: 500,
            connections_max: 50_000,
            connections_per_address: None,
            requests_per_connection: None,
            head_bytes_max: 32 * 1024,
            body_bytes_max: 1024 * 1024 * 1024,
        }
    }
}
