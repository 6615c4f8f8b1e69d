//! The settings of the frontend.

use std::net::SocketAddr;

use ipnet::IpNet;
use units::Nanos;

use super::http2::Http2Settings;

/// The settings of the frontend that can change while it runs; the number of workers cannot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FrontendSettings {
    /// The listeners.
    pub listens: Vec<ListenSettings>,
    /// The limits on clients.
    pub limits: ClientLimits,
    /// The settings of HTTP/2.
    pub http2: Http2Settings,
    /// The memory for remembered heads of each worker, in bytes; 0 for none.
    pub memo_bytes_max: usize,
}

impl Default for FrontendSettings {
    fn default() -> FrontendSettings {
        FrontendSettings {
            listens: Vec::new(),
            limits: ClientLimits::default(),
            http2: Http2Settings::default(),
            memo_bytes_max: 4 * 1024 * 1024,
        }
    }
}

/// A listener.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListenSettings {
    /// The address; port 0 lets the kernel choose.
    pub address: SocketAddr,
    /// Whether clients speak TLS.
    pub tls: bool,
    /// Whether HTTP/2 is offered: by ALPN over TLS, with prior knowledge without TLS.
    pub http2: bool,
    /// The peers that send the client's address by the PROXY protocol; each of their connections has to begin with
    /// it.
    pub proxy_from: Vec<IpNet>,
}

impl ListenSettings {
    /// Makes a listener of plain HTTP/1.
    pub fn plain(address: SocketAddr) -> ListenSettings {
        ListenSettings { address, tls: false, http2: false, proxy_from: Vec::new() }
    }
}

/// The limits on clients. Times are kept to a quarter of a second.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClientLimits {
    /// From the first byte of a head, of a TLS handshake or of a PROXY header, to its end.
    pub head_timeout: Nanos,
    /// The longest wait for bytes of a request's body.
    pub body_timeout: Nanos,
    /// The longest time between requests.
    pub idle_timeout: Nanos,
    /// The longest wait for the client to take bytes of a response.
    pub write_timeout: Nanos,
    /// The longest time without a byte in either direction of a tunnel.
    pub tunnel_timeout: Nanos,
    /// The time that tunnels, and HTTP/2 clients that do not respond, get when the accelerator stops.
    pub tunnel_stop_timeout: Nanos,
    /// The minimum rate in bytes per second, on average after the first time limit, at which clients send bodies and
    /// receive responses; 0 for none.
    pub rate_min: u64,
    /// The most connections, of all workers together.
    pub connections_max: usize,
    /// The most connections from one address, of all workers together; `None` for no limit.
    pub connections_per_address: Option<usize>,
    /// The most requests on one connection; `None` for no limit.
    pub requests_per_connection: Option<u64>,
    /// The most bytes of a request's head; at most [`http1::HEAD_BYTES_MAX`].
    pub head_bytes_max: usize,
    /// The most bytes of a request's body.
    pub body_bytes_max: u64,
}

impl Default for ClientLimits {
    fn default() -> ClientLimits {
        ClientLimits {
            head_timeout: Nanos::from_secs(10),
            body_timeout: Nanos::from_secs(30),
            idle_timeout: Nanos::from_secs(60),
            write_timeout: Nanos::from_secs(30),
            tunnel_timeout: Nanos::from_secs(3600),
            tunnel_stop_timeout: Nanos::from_secs(5),
            rate_min: 500,
            connections_max: 50_000,
            connections_per_address: None,
            requests_per_connection: None,
            head_bytes_max: 32 * 1024,
            body_bytes_max: 1024 * 1024 * 1024,
        }
    }
}
