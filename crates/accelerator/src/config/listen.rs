//! Sections about clients: `[[listen]]`, `[tls]`, `[http2]`, `[limits]`.

use std::net::SocketAddr;
use std::num::{NonZeroU32, NonZeroU64};
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Deserialize;
use units::Nanos;

use super::quantity::{Peers, Size, Time};
use super::{Base, bytes, count, size, time};
use crate::front::http2::Http2Settings;
use crate::front::tls::{self, CertificateFiles, TlsSettings, UnknownNames};
use crate::front::{Limits, Listen};

/// An address to listen at.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ListenSection {
    /// Address and port: `0.0.0.0:80`, `[::]:443`; port 0 takes a free one.
    #[schemars(with = "String")]
    pub address: SocketAddr,
    /// Whether clients speak TLS; needs `[tls]`.
    #[serde(default)]
    pub tls: bool,
    /// Whether HTTP/2 is spoken: over TLS with clients that offer it, else with those that begin with it.
    #[serde(default)]
    pub http2: bool,
    /// Peers that begin every connection with the PROXY protocol (versions 1 and 2): load balancers before this one.
    ///
    /// An address, or all that begin alike: `10.0.0.0/8`. Nobody else is believed.
    #[serde(default)]
    pub proxy_from: Vec<Peers>,
}

impl ListenSection {
    /// Listens for plain HTTP/1.
    pub fn plain(address: SocketAddr) -> ListenSection {
        ListenSection { address, tls: false, http2: false, proxy_from: Vec::new() }
    }

    /// Returns what the front listens to.
    pub(super) fn settings(&self) -> Listen {
        let proxy_from = self.proxy_from.iter().map(|peers| peers.0).collect();
        Listen { address: self.address, tls: self.tls, http2: self.http2, proxy_from }
    }
}

/// Certificates and what is demanded of clients' TLS.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default, rename_all = "kebab-case", deny_unknown_fields)]
pub struct TlsSection {
    /// The certificates; a client gets the one for the name that it asks for.
    #[serde(rename = "certificate")]
    pub certificates: Vec<CertificateSection>,
    /// What becomes of clients that ask for no name, or one that no certificate is for.
    pub unknown_names: Option<UnknownNamesChoice>,
    /// The oldest version that is spoken, 1.2 by default.
    pub version_min: Option<TlsVersion>,
    /// The longest that a handshake may take.
    pub handshake_timeout: Option<Time>,
}

impl TlsSection {
    /// Returns what the listeners with TLS show and demand.
    pub(super) fn settings(&self, base: &Base) -> TlsSettings {
        let usual = TlsSettings::default();
        let files = |section: &CertificateSection| CertificateFiles {
            certificate: base.path(&section.chain),
            key: base.path(&section.key),
        };
        TlsSettings {
            certificates: self.certificates.iter().map(files).collect(),
            unknown_names: self.unknown_names.map_or(usual.unknown_names, UnknownNames::from),
            version_min: self.version_min.map_or(usual.version_min, tls::TlsVersion::from),
            handshake_timeout: time(self.handshake_timeout, usual.handshake_timeout),
        }
    }
}

/// A certificate with its key; both files are read again on reload.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct CertificateSection {
    /// The certificate and those that it was signed by (PEM).
    pub chain: PathBuf,
    /// Its key (PEM).
    pub key: PathBuf,
}

/// What becomes of clients that ask for an unknown name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum UnknownNamesChoice {
    /// They are shown the first certificate.
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

impl From<TlsVersion> for tls::TlsVersion {
    fn from(version: TlsVersion) -> tls::TlsVersion {
        match version {
            TlsVersion::V12 => tls::TlsVersion::Tls12,
            TlsVersion::V13 => tls::TlsVersion::Tls13,
        }
    }
}

/// What a client may ask of a connection of HTTP/2, besides the limits of every connection.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default, rename_all = "kebab-case", deny_unknown_fields)]
pub struct Http2Section {
    /// Streams that a client may have open at a time.
    pub streams_max: Option<NonZeroU32>,
    /// Requests that a client may take back before their replies; then the connection ends.
    pub resets_max: Option<u32>,
    /// How much of a request's body may be on its way, per stream.
    pub stream_window: Option<Size>,
    /// The same for all streams of a connection together.
    pub connection_window: Option<Size>,
    /// How much of a reply waits to be sent, per stream.
    pub send_buffer: Option<Size>,
    /// How often a silent client is asked whether it is there; `0 s` for never.
    pub ping_interval: Option<Time>,
}

impl Http2Section {
    /// The largest window that HTTP/2 has (RFC 9113 §6.9.1).
    const WINDOW_MAX: u64 = (1 << 31) - 1;

    /// Returns what connections of HTTP/2 may do, with what is not given as it usually is.
    pub(super) fn settings(&self) -> Http2Settings {
        let usual = Http2Settings::default();
        let window = |given: Option<Size>, usual: u32| size(given, usual.into()).min(Self::WINDOW_MAX) as u32;
        Http2Settings {
            streams_max: self.streams_max.map_or(usual.streams_max, NonZeroU32::get),
            resets_max: self.resets_max.unwrap_or(usual.resets_max),
            stream_window_bytes: window(self.stream_window, usual.stream_window_bytes),
            connection_window_bytes: window(self.connection_window, usual.connection_window_bytes),
            send_buffer_bytes: bytes(self.send_buffer, usual.send_buffer_bytes),
            ping_interval: match self.ping_interval {
                None => usual.ping_interval,
                Some(time) => Some(time.0).filter(|time| *time != Nanos::ZERO),
            },
        }
    }
}

/// What clients may ask of us.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default, rename_all = "kebab-case", deny_unknown_fields)]
pub struct LimitsSection {
    /// From the first byte of a request's head to its end.
    pub head_timeout: Option<Time>,
    /// Without any byte of a request's body.
    pub body_timeout: Option<Time>,
    /// Between requests of a connection.
    pub idle_timeout: Option<Time>,
    /// Without the client's taking any byte of a reply.
    pub write_timeout: Option<Time>,
    /// Without any byte in either direction of a connection that has become a tunnel, such as a WebSocket.
    pub tunnel_timeout: Option<Time>,
    /// The least per second, on average, at which bodies are sent and replies taken.
    pub rate_min: Option<Size>,
    /// Connections at a time.
    pub connections_max: Option<NonZeroU64>,
    /// Connections at a time from one address; not limited by default.
    pub connections_per_address: Option<NonZeroU64>,
    /// Requests after which a connection is closed; not limited by default.
    pub requests_per_connection: Option<NonZeroU64>,
    /// The largest head of a request; 64 KiB at most.
    pub head_max: Option<Size>,
    /// The largest body of a request.
    pub body_max: Option<Size>,
}

impl LimitsSection {
    /// Returns the limits, with what is not given as it usually is.
    pub(super) fn settings(&self) -> Limits {
        let usual = Limits::default();
        Limits {
            head_timeout: time(self.head_timeout, usual.head_timeout),
            body_timeout: time(self.body_timeout, usual.body_timeout),
            idle_timeout: time(self.idle_timeout, usual.idle_timeout),
            write_timeout: time(self.write_timeout, usual.write_timeout),
            tunnel_timeout: time(self.tunnel_timeout, usual.tunnel_timeout),
            rate_min: size(self.rate_min, usual.rate_min),
            connections_max: count(self.connections_max, usual.connections_max),
            connections_per_address: self
                .connections_per_address
                .map(|n| count(Some(n), usize::MAX))
                .or(usual.connections_per_address),
            requests_per_connection: self
                .requests_per_connection
                .map(NonZeroU64::get)
                .or(usual.requests_per_connection),
            head_bytes_max: bytes(self.head_max, usual.head_bytes_max),
            body_bytes_max: size(self.body_max, usual.body_bytes_max),
        }
    }
}
