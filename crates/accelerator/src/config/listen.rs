//! The sections about clients: `[[listen]]`, `[tls]`, `[http2]`, `[limits]`.

use std::net::SocketAddr;
use std::num::{NonZeroU32, NonZeroU64};
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Deserialize;
use units::Nanos;

use super::quantity::{Peers, Size, Time};
use super::{Base, bytes, count, size, time};
use crate::frontend::http2::Http2Settings;
use crate::frontend::tls::{self, CertificateFiles, TlsSettings, UnknownNames};
use crate::frontend::{ClientLimits, ListenSettings};

/// A listener.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ListenSection {
    /// Address and port: `0.0.0.0:80`, `[::]:443`; port 0 takes a free one.
    #[schemars(with = "String")]
    pub address: SocketAddr,
    /// Whether clients speak TLS; needs `[tls]`.
    #[serde(default)]
    pub tls: bool,
    /// Whether HTTP/2 is offered: by ALPN over TLS, with prior knowledge without TLS.
    #[serde(default)]
    pub http2: bool,
    /// Peers that begin every connection with the PROXY protocol (versions 1 and 2): load balancers in front of this
    /// one.
    ///
    /// An address or a network: `10.0.0.0/8`. No other peer may send the header.
    #[serde(default)]
    pub proxy_from: Vec<Peers>,
}

impl ListenSection {
    /// Makes a listener of plain HTTP/1.
    pub fn plain(address: SocketAddr) -> ListenSection {
        ListenSection { address, tls: false, http2: false, proxy_from: Vec::new() }
    }

    /// Returns the settings of the listener.
    pub(super) fn settings(&self) -> ListenSettings {
        let proxy_from = self.proxy_from.iter().map(|peers| peers.0).collect();
        ListenSettings { address: self.address, tls: self.tls, http2: self.http2, proxy_from }
    }
}

/// Certificates and TLS settings.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default, rename_all = "kebab-case", deny_unknown_fields)]
pub struct TlsSection {
    /// The certificates; a client gets the one for the server name that it sends.
    #[serde(rename = "certificate")]
    pub certificates: Vec<CertificateSection>,
    /// The treatment of clients that send no server name, or one without a certificate.
    pub unknown_names: Option<UnknownNamesChoice>,
    /// The oldest version that is accepted, 1.2 by default.
    pub version_min: Option<TlsVersion>,
    /// The longest time for a handshake.
    pub handshake_timeout: Option<Time>,
}

impl TlsSection {
    /// Returns the TLS settings.
    pub(super) fn settings(&self, base: &Base) -> TlsSettings {
        let default_value = TlsSettings::default();
        let files = |section: &CertificateSection| CertificateFiles {
            certificate: base.path(&section.chain),
            key: base.path(&section.key),
        };
        TlsSettings {
            certificates: self.certificates.iter().map(files).collect(),
            unknown_names: self.unknown_names.map_or(default_value.unknown_names, UnknownNames::from),
            version_min: self.version_min.map_or(default_value.version_min, tls::MinTlsVersion::from),
            handshake_timeout: time(self.handshake_timeout, default_value.handshake_timeout),
        }
    }
}

/// A certificate with its key; both files are read again on reload.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct CertificateSection {
    /// The certificate and its intermediate certificates (PEM).
    pub chain: PathBuf,
    /// Its key (PEM).
    pub key: PathBuf,
}

/// The treatment of clients that send an unknown server name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum UnknownNamesChoice {
    /// They get the first certificate.
    FirstCertificate,
    /// The handshake ends with an alert.
    Refused,
}

impl From<UnknownNamesChoice> for UnknownNames {
    fn from(choice: UnknownNamesChoice) -> UnknownNames {
        match choice {
            UnknownNamesChoice::FirstCertificate => UnknownNames::FirstCertificate,
            UnknownNamesChoice::Refused => UnknownNames::Refused,
        }
    }
}

/// A version of TLS.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
pub enum TlsVersion {
    /// Of 2008.
    #[serde(rename = "1.2")]
    V12,
    /// Of 2018.
    #[serde(rename = "1.3")]
    V13,
}

impl From<TlsVersion> for tls::MinTlsVersion {
    fn from(version: TlsVersion) -> tls::MinTlsVersion {
        match version {
            TlsVersion::V12 => tls::MinTlsVersion::Tls12,
            TlsVersion::V13 => tls::MinTlsVersion::Tls13,
        }
    }
}

/// The settings of HTTP/2, besides the limits of every connection.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default, rename_all = "kebab-case", deny_unknown_fields)]
pub struct Http2Section {
    /// The most streams that a client may have open at a time.
    pub streams_max: Option<NonZeroU32>,
    /// The most requests that a client may reset before their responses; then the connection ends.
    pub resets_max: Option<u32>,
    /// The flow-control window of a stream, for request bodies.
    pub stream_window: Option<Size>,
    /// The flow-control window of a connection.
    pub connection_window: Option<Size>,
    /// The send buffer of a stream, for responses.
    pub send_buffer: Option<Size>,
    /// The interval of pings to a silent client; `0 s` for none.
    pub ping_interval: Option<Time>,
}

impl Http2Section {
    /// The largest flow-control window (RFC 9113 §6.9.1).
    const WINDOW_MAX: u64 = (1 << 31) - 1;

    /// Returns the settings of HTTP/2, with defaults for what is not given.
    pub(super) fn settings(&self) -> Http2Settings {
        let default_value = Http2Settings::default();
        let window = |given: Option<Size>, default_value: u32| {
            size(given, default_value.into()).min(Self::WINDOW_MAX) as u32
        };
        Http2Settings {
            streams_max: self.streams_max.map_or(default_value.streams_max, NonZeroU32::get),
            resets_max: self.resets_max.unwrap_or(default_value.resets_max),
            stream_window_bytes: window(self.stream_window, default_value.stream_window_bytes),
            connection_window_bytes: window(self.connection_window, default_value.connection_window_bytes),
            send_buffer_bytes: bytes(self.send_buffer, default_value.send_buffer_bytes),
            ping_interval: match self.ping_interval {
                None => default_value.ping_interval,
                Some(time) => Some(time.0).filter(|time| *time != Nanos::ZERO),
            },
        }
    }
}

/// The limits on clients.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default, rename_all = "kebab-case", deny_unknown_fields)]
pub struct LimitsSection {
    /// From the first byte of a request's head to its end.
    pub head_timeout: Option<Time>,
    /// The longest wait for bytes of a request's body.
    pub body_timeout: Option<Time>,
    /// The longest time between requests of a connection.
    pub idle_timeout: Option<Time>,
    /// The longest wait for the client to take bytes of a response.
    pub write_timeout: Option<Time>,
    /// The longest time without a byte in either direction of a tunnel, a WebSocket for example.
    pub tunnel_timeout: Option<Time>,
    /// The minimum rate per second, on average, at which clients send bodies and receive responses.
    pub rate_min: Option<Size>,
    /// The most connections at a time.
    pub connections_max: Option<NonZeroU64>,
    /// The most connections at a time from one address; unlimited by default.
    pub connections_per_address: Option<NonZeroU64>,
    /// The most requests on one connection; unlimited by default.
    pub requests_per_connection: Option<NonZeroU64>,
    /// The largest head of a request; 64 KiB at most.
    pub head_max: Option<Size>,
    /// The largest body of a request.
    pub body_max: Option<Size>,
}

impl LimitsSection {
    /// Returns the limits, with defaults for what is not given.
    pub(super) fn settings(&self) -> ClientLimits {
        let default_value = ClientLimits::default();
        ClientLimits {
            head_timeout: time(self.head_timeout, default_value.head_timeout),
            body_timeout: time(self.body_timeout, default_value.body_timeout),
            idle_timeout: time(self.idle_timeout, default_value.idle_timeout),
            write_timeout: time(self.write_timeout, default_value.write_timeout),
            tunnel_timeout: time(self.tunnel_timeout, default_value.tunnel_timeout),
            rate_min: size(self.rate_min, default_value.rate_min),
            connections_max: count(self.connections_max, default_value.connections_max),
            connections_per_address: self
                .connections_per_address
                .map(|n| count(Some(n), usize::MAX))
                .or(default_value.connections_per_address),
            requests_per_connection: self
                .requests_per_connection
                .map(NonZeroU64::get)
                .or(default_value.requests_per_connection),
            head_bytes_max: bytes(self.head_max, default_value.head_bytes_max),
            body_bytes_max: size(self.body_max, default_value.body_bytes_max),
        }
    }
}
