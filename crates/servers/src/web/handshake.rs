//! The start of connections: protocol selection and the TLS handshake.

use std::cell::Cell;
use std::io;
use std::net::TcpStream;
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;

use rustls::ServerConfig;
use tokio_rustls::TlsAcceptor;

use super::connection::{Liveness, serve_http1, serve_until_idle};
use super::http2::serve_http2;
use super::metered_stream::MeteredStream;
use super::options::WebOptions;
use super::server::SharedState;
use super::socket::Socket;
use super::tls::{ALPN_HTTP2, server_config};
use crate::allowance::WORK_PER_CHECK;

/// The way in which connections of a listener start.
#[derive(Debug)]
pub(super) enum Handshake {
    /// HTTP/1 without TLS.
    Plain,
    /// HTTP/1 or HTTP/2 without TLS, at the client's choice.
    PlainHttp2,
    /// A TLS handshake, which also negotiates the protocol.
    Tls(Arc<ServerConfig>),
}

/// The start of the HTTP/2 preface of a client with prior knowledge (RFC 9113 §3.4), as far as no HTTP/1
/// request starts with it.
const PREFACE_START: &[u8] = b"PRI *";

/// Work charged for each kernel call of a handshake: a full one computes for some 100 µs between its calls,
/// more than the usual CPU time between two checks of the allowance.
const HANDSHAKE_WORK: u32 = WORK_PER_CHECK;

impl Handshake {
    /// Returns the handshake that the options ask for.
    pub(super) fn from_options(options: &WebOptions) -> io::Result<Handshake> {
        Ok(match &options.identity {
            // Connection faults replace everything, including the handshake.
            _ if options.faults.for_connections().is_some() => Handshake::Plain,
            Some(identity) => Handshake::Tls(Arc::new(server_config(identity, options.http2)?)),
            None if options.http2 => Handshake::PlainHttp2,
            None => Handshake::Plain,
        })
    }
}

/// Serves a connection that may start with HTTP/1 or HTTP/2.
///
/// The first bytes are peeked at, not consumed. Clients send the preface in one piece; one that sends it byte
/// by byte is treated as an HTTP/1 client and refused.
pub(super) async fn serve_http1_or_http2(stream: TcpStream, shared: Rc<SharedState>) {
    let liveness = Rc::new(Cell::new(Liveness::Idle));
    let serving = pin!(async {
        let stream = tokio::net::TcpStream::from_std(stream)?;
        let mut start = [0; PREFACE_START.len()];
        stream.peek(&mut start).await?;
        if start == PREFACE_START {
            serve_http2(MeteredStream::new(stream, &shared, &liveness, 1), &shared)
                .await
                .map_err(io::Error::other)
        } else {
            serve_http1(Socket::registered(stream), &shared, &liveness).await
        }
    });
    serve_until_idle(&liveness, shared.idle_timeout, serving).await;
}

/// Serves a connection that starts with TLS.
pub(super) async fn serve_tls(stream: TcpStream, config: Arc<ServerConfig>, shared: Rc<SharedState>) {
    let liveness = Rc::new(Cell::new(Liveness::Idle));
    let serving = pin!(async {
        let stream = tokio::net::TcpStream::from_std(stream)?;
        let stream = MeteredStream::new(stream, &shared, &liveness, HANDSHAKE_WORK);
        let mut stream = TlsAcceptor::from(config).accept(stream).await?;
        stream.get_mut().0.work = 1;
        if stream.get_ref().1.alpn_protocol() == Some(ALPN_HTTP2) {
            serve_http2(stream, &shared).await.map_err(io::Error::other)
        } else {
            serve_http1(stream, &shared, &liveness).await
        }
    });
    serve_until_idle(&liveness, shared.idle_timeout, serving).await;
}
