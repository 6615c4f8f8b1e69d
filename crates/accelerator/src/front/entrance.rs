//! From a connection that was accepted to the protocol that is spoken on it.
//!
//! | step | on listeners | refused as |
//! |---|---|---|
//! | PROXY header | with peers that are trusted to send one, from those | `proxy-header` |
//! | admission | all | `connections-max`, `connections-per-address` |
//! | TLS | that want it | `tls-handshake`, `tls-timeout` |
//! | HTTP/2 | that speak it: agreed on by TLS, or begun with | `http2-preface`, `http2-resets`, `http2-gone`, `http2-failed` |
//! | HTTP/1 | all | |

use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::Arc;

use tokio::net::TcpStream;

use super::http1::{self, Left, Start};
use super::http2::{self, Ended};
use super::peer::{Peer, Wire};
use super::prefixed::Prefixed;
use super::proxy_protocol::read_proxy_header;
use super::settings::Listen;
use super::tls::Tls;
use super::worker::{Attendance, Worker};
use crate::policy::Scheme;

/// How the connections of one listener are treated.
#[derive(Debug)]
pub(super) struct Gate {
    listen: Listen,
    /// There is one if the listener wants TLS.
    tls: Option<Arc<Tls>>,
}

impl Gate {
    /// Makes a gate; `tls` is used if the listener wants TLS.
    pub(super) fn new(listen: Listen, tls: Option<&Arc<Tls>>) -> Gate {
        let tls = tls.filter(|_| listen.tls).map(Arc::clone);
        Gate { listen, tls }
    }

    /// Tells whether the first byte from this peer is one of HTTP.
    #[inline]
    pub(super) fn is_plain_for(&self, address: SocketAddr) -> bool {
        !self.listen.tls && !self.is_proxy(address)
    }

    /// Tells whether HTTP/2 is spoken.
    pub(super) fn speaks_http2(&self) -> bool {
        self.listen.http2
    }

    /// Returns by what scheme clients ask.
    pub(super) fn scheme(&self) -> Scheme {
        if self.listen.tls { Scheme::Https } else { Scheme::Http }
    }

    fn is_proxy(&self, address: SocketAddr) -> bool {
        self.listen.proxy_from.iter().any(|network| network.contains(address.ip()))
    }
}

/// Serves a connection until it ends.
pub(super) async fn enter(
    stream: TcpStream,
    address: SocketAddr,
    gate: Rc<Gate>,
    start: Start,
    attendance: Attendance,
) {
    let worker = attendance.worker();
    // What was refused is counted by its reason.
    if let Err(reason) = pass(stream, address, &gate, start, &worker).await {
        worker.refused(reason);
    }
}

async fn pass(
    mut stream: TcpStream,
    address: SocketAddr,
    gate: &Gate,
    mut start: Start,
    worker: &Rc<Worker>,
) -> Result<(), &'static str> {
    let limits = worker.limits();
    let mut client = address;
    if gate.is_proxy(address) {
        let header = Box::pin(read_proxy_header(&mut stream, &mut start.kept, limits.head_timeout)).await;
        client = header.map_err(|_| "proxy-header")?.unwrap_or(address);
    }
    let _admission = worker.census.admit(client.ip(), &limits)?;
    let peer = Peer { client, scheme: gate.scheme() };
    if !gate.listen.tls {
        start.speaks_http2 = gate.speaks_http2();
        if let Left::Http2(stream, first) = http1::serve(stream, peer, Rc::clone(worker), start).await {
            Box::pin(serve_http2(Prefixed::new(first, stream), peer, worker)).await;
        }
        return Ok(());
    }
    let tls = gate.tls.as_ref().ok_or("tls-not-set-up")?;
    let stream = Prefixed::new(start.kept, stream);
    let accepted =
        Box::pin(tls.accept(stream, gate.speaks_http2())).await.map_err(|failure| failure.name())?;
    if accepted.is_http2 {
        Box::pin(serve_http2(accepted.stream, peer, worker)).await;
    } else {
        Box::pin(http1::serve(accepted.stream, peer, Rc::clone(worker), Start::default())).await;
    }
    Ok(())
}

async fn serve_http2(stream: impl Wire, peer: Peer, worker: &Rc<Worker>) {
    let (limits, settings) = (worker.limits(), worker.http2());
    let Peer { client, scheme } = peer;
    let ended = http2::serve(stream, (client, scheme), worker, &limits, &settings, worker.draining()).await;
    if !matches!(ended, Ended::Closed | Ended::Idle) {
        worker.refused(ended.name());
    }
}
