//! The sections about clients: `[[listen]]`, `[tls]`, `[http2]`, `[limits]`.

use std::net::{Ipv4Addr, SocketAddr};

use languages::reader::ValueError;
use languages::spec::{NamedChoice, TableSpec, ValueSpec, flag, key, one_of, tables};
use units::Nanos;

use super::values::{address, count, memory_count, memory_size, number, path, peers, size, time, time_limit};
use crate::frontend::http2::Http2Settings;
use crate::frontend::tls::{CertificateFiles, MinTlsVersion, TlsSettings, UnknownNames};
use crate::frontend::{ClientLimits, ListenSettings};

/// The address of a listener until its own is read.
pub(super) const NO_ADDRESS: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::UNSPECIFIED), 0);

/// The largest flow-control window (RFC 9113 §6.9.1).
const WINDOW_MAX: u64 = (1 << 31) - 1;

const UNKNOWN_NAMES: &[NamedChoice<UnknownNames>] = &[
    NamedChoice("first-certificate", "They get the first certificate.", UnknownNames::FirstCertificate),
    NamedChoice("refused", "The handshake ends with an alert.", UnknownNames::Refused),
];

const TLS_VERSIONS: &[NamedChoice<MinTlsVersion>] = &[
    NamedChoice("1.2", "Of 2008.", MinTlsVersion::Tls12),
    NamedChoice("1.3", "Of 2018.", MinTlsVersion::Tls13),
];

/// `[[listen]]`.
pub(super) fn listen() -> TableSpec<ListenSettings> {
    TableSpec::new(
        "ListenSection",
        "A listener.",
        [
            key(
                "address",
                "Address and port: `0.0.0.0:80`, `[::]:443`; port 0 takes a free one.",
                address(),
                |listen: &mut ListenSettings, address| listen.address = address,
            )
            .required(),
            key(
                "tls",
                "Whether clients speak TLS; needs `[tls]`.",
                flag(),
                |listen: &mut ListenSettings, tls| {
                    listen.tls = tls;
                },
            )
            .default_value(false),
            key(
                "http2",
                "Whether HTTP/2 is offered: by ALPN over TLS, with prior knowledge without TLS.",
                flag(),
                |listen: &mut ListenSettings, http2| listen.http2 = http2,
            )
            .default_value(false),
            key(
                "proxy-from",
                "Peers that begin every connection with the PROXY protocol (versions 1 and 2): load balancers in \
                 front of this one.\n\nAn address or a network: `10.0.0.0/8`. No other peer may send the header.",
                peers().list(),
                |listen, peers| listen.proxy_from = peers,
            ),
        ],
    )
}

/// `[tls]`.
pub(super) fn tls() -> TableSpec<TlsSettings> {
    TableSpec::new(
        "TlsSection",
        "Certificates and TLS settings.",
        [
            tables(
                "certificate",
                "The certificates; a client gets the one for the server name that it sends.",
                certificate(),
                || CertificateFiles { certificate: "".into(), key: "".into() },
                |tls, certificates| tls.certificates = certificates,
            ),
            key(
                "unknown-names",
                "The treatment of clients that send no server name, or one without a certificate.",
                one_of(
                    "UnknownNamesChoice",
                    "The treatment of clients that send an unknown server name.",
                    UNKNOWN_NAMES,
                ),
                |tls, choice| tls.unknown_names = choice,
            ),
            key(
                "version-min",
                "The oldest version that is accepted, 1.2 by default.",
                one_of("TlsVersion", "A version of TLS.", TLS_VERSIONS),
                |tls, version| tls.version_min = version,
            ),
            key("handshake-timeout", "The longest time for a handshake.", time_limit(), |tls, time| {
                tls.handshake_timeout = time;
            }),
        ],
    )
}

/// `[[tls.certificate]]`.
fn certificate() -> TableSpec<CertificateFiles> {
    TableSpec::new(
        "CertificateSection",
        "A certificate with its key; both files are read again on reload.",
        [
            key(
                "chain",
                "The certificate and its intermediate certificates (PEM).",
                path(),
                |files: &mut CertificateFiles, path| files.certificate = path,
            )
            .required(),
            key("key", "Its key (PEM).", path(), |files: &mut CertificateFiles, path| files.key = path)
                .required(),
        ],
    )
}

/// `[http2]`.
pub(super) fn http2() -> TableSpec<Http2Settings> {
    let window = || size().and_then(|size| Ok(size.min(WINDOW_MAX) as u32));
    TableSpec::new(
        "Http2Section",
        "The settings of HTTP/2, besides the limits of every connection.",
        [
            key(
                "streams-max",
                "The most streams that a client may have open at a time.",
                number(1),
                |http2, streams| http2.streams_max = streams,
            ),
            key(
                "resets-max",
                "The most requests that a client may reset before their responses; then the connection ends.",
                number(0),
                |http2, resets| http2.resets_max = resets,
            ),
            key(
                "stream-window",
                "The flow-control window of a stream, for request bodies.",
                window(),
                |http2, size| http2.stream_window_bytes = size,
            ),
            key("connection-window", "The flow-control window of a connection.", window(), |http2, size| {
                http2.connection_window_bytes = size;
            }),
            key(
                "send-buffer",
                "The send buffer of a stream, for responses.",
                memory_size(),
                |http2, size| {
                    http2.send_buffer_bytes = size;
                },
            ),
            key(
                "ping-interval",
                "The interval of pings to a silent client; `0 s` for none.",
                time(),
                |http2, time| http2.ping_interval = Some(time).filter(|time| *time != Nanos::ZERO),
            ),
        ],
    )
}

/// `[limits]`.
pub(super) fn limits() -> TableSpec<ClientLimits> {
    TableSpec::new(
        "LimitsSection",
        "The limits on clients.",
        [
            key(
                "head-timeout",
                "From the first byte of a request's head to its end.",
                time_limit(),
                |limits, time| limits.head_timeout = time,
            ),
            key(
                "body-timeout",
                "The longest wait for bytes of a request's body.",
                time_limit(),
                |limits, time| {
                    limits.body_timeout = time;
                },
            ),
            key(
                "idle-timeout",
                "The longest time between requests of a connection.",
                time_limit(),
                |limits, time| {
                    limits.idle_timeout = time;
                },
            ),
            key(
                "write-timeout",
                "The longest time without a byte of a response that the client has taken: that its machine has acknowledged.",
                time_limit(),
                |limits, time| limits.write_timeout = time,
            ),
            key(
                "tunnel-timeout",
                "The longest time without a byte in either direction of a tunnel, a WebSocket for example.",
                time_limit(),
                |limits, time| limits.tunnel_timeout = time,
            ),
            key(
                "tunnel-stop-timeout",
                "The time that tunnels, and HTTP/2 clients that do not respond, get when it is asked to stop.",
                time(),
                |limits, time| limits.tunnel_stop_timeout = time,
            ),
            key(
                "rate-min",
                "The minimum rate per second, on average, at which clients send bodies and receive responses.",
                size(),
                |limits, rate| limits.rate_min = rate,
            ),
            key(
                "connections-max",
                "The most connections at a time.",
                memory_count(),
                |limits, connections| {
                    limits.connections_max = connections;
                },
            ),
            key(
                "connections-per-address",
                "The most connections at a time from one address; unlimited by default.",
                memory_count(),
                |limits, connections| limits.connections_per_address = Some(connections),
            ),
            key(
                "requests-per-connection",
                "The most requests on one connection; unlimited by default.",
                count(),
                |limits, requests| limits.requests_per_connection = Some(requests),
            ),
            key("head-max", "The largest head of a request; 64 KiB at most.", head_size(), |limits, size| {
                limits.head_bytes_max = size;
            }),
            key("body-max", "The largest body of a request.", size(), |limits, size| {
                limits.body_bytes_max = size;
            }),
        ],
    )
}

fn head_size() -> ValueSpec<usize> {
    memory_size().and_then(|size| {
        if size <= http1::HEAD_BYTES_MAX {
            Ok(size)
        } else {
            Err(ValueError::new("`head-max` of `[limits]` is more than `64 KiB`")
                .hint("larger heads are never read"))
        }
    })
}
