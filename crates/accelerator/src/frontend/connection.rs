//! The setup of an accepted connection, up to the protocol that is spoken on it.
//!
//! | step | listeners | refused as |
//! |---|---|---|
//! | PROXY header | that trust the peer to send one | `proxy-header` |
//! | connection limits | all | `connections-max`, `connections-per-address` |
//! | TLS | with `tls`; plain HTTP gets 400 (`plain-http`) | `tls-handshake`, `tls-timeout` |
//! | HTTP/2 | that offer it: agreed on by TLS, or with prior knowledge | `http2-preface`, `http2-resets`, `http2-gone`, `http2-failed` |
//! | HTTP/1 | all | |

use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use cache_policy::Scheme;
use tokio::net::TcpStream;
use units::Nanos;

use super::http1::{self, Http1Outcome, InitialState};
use super::http2;
use super::peer::{ClientStream, Peer};
use super::proxy_protocol::read_proxy_header;
use super::rewind::Rewind;
use super::settings::ListenSettings;
use super::tls::TlsContext;
use super::worker::{ConnectionGuard, Worker};
use crate::message::{DisconnectReason, ProxyReason};

/// A connection that was just accepted.
#[derive(Debug)]
pub(super) struct AcceptedConnection {
    pub(super) socket: OwnedFd,
    pub(super) address: SocketAddr,
    pub(super) config: Rc<ListenerConfig>,
}

/// The settings of one listener.
#[derive(Debug)]
pub(super) struct ListenerConfig {
    listen: ListenSettings,
    /// Set if the listener speaks TLS.
    tls: Option<Arc<TlsContext>>,
}

impl ListenerConfig {
    /// Makes the settings; `tls` is used if the listener speaks TLS.
    pub(super) fn new(listen: ListenSettings, tls: Option<&Arc<TlsContext>>) -> ListenerConfig {
        let tls = tls.filter(|_| listen.tls).map(Arc::clone);
        ListenerConfig { listen, tls }
    }

    /// Returns whether the first byte from this peer belongs to an HTTP message.
    #[inline]
    pub(super) fn is_plain_for(&self, address: SocketAddr) -> bool {
        !self.listen.tls && !self.is_proxy(address)
    }

    /// Returns whether the listener offers HTTP/2.
    pub(super) fn speaks_http2(&self) -> bool {
        self.listen.http2
    }

    /// Returns the scheme of the URLs that clients of this listener use.
    pub(super) fn scheme(&self) -> Scheme {
        if self.listen.tls { Scheme::Https } else { Scheme::Http }
    }

    fn is_proxy(&self, address: SocketAddr) -> bool {
        // An IPv4 address mapped into IPv6 counts as IPv4.
        let address = address.ip().to_canonical();
        self.listen.proxy_from.iter().any(|network| network.contains(&address))
    }
}

/// Serves a connection until it ends, and counts the reason if it is refused.
pub(super) async fn serve_connection(
    connection: AcceptedConnection,
    mut start: InitialState,
    guard: ConnectionGuard,
) {
    let worker = guard.worker();
    let AcceptedConnection { socket, address, config } = connection;
    let Ok(mut stream) = TcpStream::from_std(socket.into()) else {
        return worker.refused(DisconnectReason::NotRegistered);
    };
    let limits = worker.limits();
    let mut client = address;
    if config.is_proxy(address) {
        client = match Box::pin(read_proxy_header(&mut stream, &mut start.kept, limits.head_timeout)).await {
            Ok(header) => header.unwrap_or(address),
            Err(_) => return worker.refused(DisconnectReason::ProxyHeader),
        };
    }
    let _permit = match worker.connection_limiter.acquire(client.ip(), &limits) {
        Ok(permit) => permit,
        Err(reason) => return worker.refused(reason),
    };
    let peer = Peer { client, scheme: config.scheme() };
    if config.listen.tls {
        if let Err(reason) = serve_tls(stream, peer, &config, start.kept, &worker).await {
            worker.refused(reason);
        }
        return;
    }
    start.speaks_http2 = config.speaks_http2();
    let served = http1::serve(stream, peer, Rc::clone(&worker), start).await;
    // An I/O error concerns the client alone.
    if let Ok(Http1Outcome::Http2(stream, first)) = served {
        Box::pin(serve_http2(Rewind::new(first, stream), peer, &worker)).await;
    }
}

/// Makes the TLS handshake and serves the connection, of which `kept` has been read already.
async fn serve_tls(
    stream: TcpStream,
    peer: Peer,
    config: &ListenerConfig,
    kept: Vec<u8>,
    worker: &Rc<Worker>,
) -> Result<(), DisconnectReason> {
    let tls = config.tls.as_ref().ok_or(DisconnectReason::TlsNotSetUp)?;
    let first = within(tls.handshake_timeout(), first_byte(&stream, &kept)).await;
    let is_plain_http =
        first.ok_or(DisconnectReason::TlsTimeout)?.is_some_and(|byte| byte.is_ascii_uppercase());
    let stream = Rewind::new(kept, stream);
    if is_plain_http {
        let refusal = (400, ProxyReason::PlainHttp);
        Box::pin(http1::refuse(stream, peer, Rc::clone(worker), refusal)).await;
        return Ok(());
    }
    let accepted =
        Box::pin(tls.accept(stream, config.speaks_http2())).await.map_err(|failure| failure.reason())?;
    if accepted.is_http2 {
        Box::pin(serve_http2(accepted.stream, peer, worker)).await;
    } else {
        // An I/O error concerns the client alone.
        let start = InitialState::default();
        let _ = Box::pin(http1::serve(accepted.stream, peer, Rc::clone(worker), start)).await;
    }
    Ok(())
}

/// Waits for the first byte of a connection, and leaves it there; `None` if there is none. A method of HTTP begins with
/// a capital letter; the first record of TLS is a handshake, which is the number 22.
async fn first_byte(stream: &TcpStream, kept: &[u8]) -> Option<u8> {
    if let Some(first) = kept.first() {
        return Some(*first);
    }
    let mut byte = [0];
    stream.peek(&mut byte).await.is_ok_and(|length| length == 1).then_some(byte[0])
}

async fn within<T>(limit: Nanos, future: impl Future<Output = T>) -> Option<T> {
    tokio::time::timeout(Duration::from_nanos(limit.0), future).await.ok()
}

async fn serve_http2<W: ClientStream + 'static>(stream: W, peer: Peer, worker: &Rc<Worker>) {
    let limits = worker.limits();
    let settings = worker.http2();
    let Peer { client, scheme } = peer;
    let stream = (stream, W::unacknowledged as fn(&W) -> u64);
    let ended = http2::serve(stream, (client, scheme), worker, &limits, &settings, worker.draining()).await;
    if let Some(reason) = ended.reason() {
        worker.refused(reason);
    }
}
