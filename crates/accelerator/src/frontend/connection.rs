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
    stream: TcpStream,
    address: SocketAddr,
    config: Rc<ListenerConfig>,
    start: InitialState,
    guard: ConnectionGuard,
) {
    let worker = guard.worker();
    // A refused connection is counted by its reason.
    if let Err(reason) = handshake_and_serve(stream, address, &config, start, &worker).await {
        worker.refused(reason);
    }
}

async fn handshake_and_serve(
    mut stream: TcpStream,
    address: SocketAddr,
    config: &ListenerConfig,
    mut start: InitialState,
    worker: &Rc<Worker>,
) -> Result<(), DisconnectReason> {
    let limits = worker.limits();
    let mut client = address;
    if config.is_proxy(address) {
        let header = Box::pin(read_proxy_header(&mut stream, &mut start.kept, limits.head_timeout)).await;
        client = header.map_err(|_| DisconnectReason::ProxyHeader)?.unwrap_or(address);
    }
    let _permit = worker.connection_limiter.acquire(client.ip(), &limits)?;
    let peer = Peer { client, scheme: config.scheme() };
    if !config.listen.tls {
        start.speaks_http2 = config.speaks_http2();
        if let Http1Outcome::Http2(stream, first) = http1::serve(stream, peer, Rc::clone(worker), start).await
        {
            Box::pin(serve_http2(Rewind::new(first, stream), peer, worker)).await;
        }
        return Ok(());
    }
    let tls = config.tls.as_ref().ok_or(DisconnectReason::TlsNotSetUp)?;
    let first = within(tls.handshake_timeout(), first_byte(&stream, &start.kept)).await;
    if first.ok_or(DisconnectReason::TlsTimeout)?.is_some_and(|byte| byte.is_ascii_uppercase()) {
        let refusal = (400, ProxyReason::PlainHttp);
        let stream = Rewind::new(start.kept, stream);
        Box::pin(http1::refuse(stream, peer, Rc::clone(worker), refusal)).await;
        return Ok(());
    }
    let stream = Rewind::new(start.kept, stream);
    let accepted =
        Box::pin(tls.accept(stream, config.speaks_http2())).await.map_err(|failure| failure.reason())?;
    if accepted.is_http2 {
        Box::pin(serve_http2(accepted.stream, peer, worker)).await;
    } else {
        Box::pin(http1::serve(accepted.stream, peer, Rc::clone(worker), InitialState::default())).await;
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
    let (limits, settings) = (worker.limits(), worker.http2());
    let Peer { client, scheme } = peer;
    let stream = (stream, W::unacknowledged as fn(&W) -> u64);
    let ended = http2::serve(stream, (client, scheme), worker, &limits, &settings, worker.draining()).await;
    if let Some(reason) = ended.reason() {
        worker.refused(reason);
    }
}
