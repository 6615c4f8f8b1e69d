//! How connections begin.

use std::cell::Cell;
use std::io;
use std::net::TcpStream;
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;

use rustls::ServerConfig;
use tokio_rustls::TlsAcceptor;

use super::allowance::WORK_PER_CHECK;
use super::connection::{Pulse, converse, while_alive};
use super::http2::serve_http2;
use super::metered::Metered;
use super::options::WebOptions;
use super::server::Shared;
use super::socket::Socket;
use super::tls::{ALPN_HTTP2, server_config};

/// How the connections of a listener begin.
#[derive(Debug)]
pub(super) enum Entrance {
    /// With HTTP/1.
    Plain,
    /// With HTTP/1 or HTTP/2, as the client likes.
    PlainHttp2,
    /// With a handshake of TLS, which also agrees on what follows.
    Tls(Arc<ServerConfig>),
}

/// The first bytes of a client that speaks HTTP/2 without having asked (RFC 9113 §3.4), as far as no request of
/// HTTP/1 begins like it.
const PREFACE_START: &[u8] = b"PRI *";

/// How much is done for each call of a handshake: a full one computes for some 100 µs between its calls, more
/// than what usually passes between two looks at the allowance.
const HANDSHAKE_WORK: u32 = WORK_PER_CHECK;

impl Entrance {
    /// Returns how connections begin with these options.
    pub(super) fn of(options: &WebOptions) -> io::Result<Entrance> {
        Ok(match &options.identity {
            // They come in place of everything, the handshake included.
            _ if options.faults.for_connections().is_some() => Entrance::Plain,
            Some(identity) => Entrance::Tls(Arc::new(server_config(identity, options.http2)?)),
            None if options.http2 => Entrance::PlainHttp2,
            None => Entrance::Plain,
        })
    }
}

/// Serves a connection that may begin with either version.
///
/// The bytes that tell are looked at, not taken. They are in one piece with whatever sends the rest of the preface:
/// who sends it byte by byte is taken for a client of HTTP/1, and refused.
pub(super) async fn serve_either(stream: TcpStream, shared: Rc<Shared>) {
    let pulse = Rc::new(Cell::new(Pulse::Still));
    let serving = pin!(async {
        let stream = tokio::net::TcpStream::from_std(stream)?;
        let mut start = [0; PREFACE_START.len()];
        stream.peek(&mut start).await?;
        if start == PREFACE_START {
            serve_http2(Metered::new(stream, &shared, &pulse, 1), &shared).await.map_err(io::Error::other)
        } else {
            converse(Socket::registered(stream), &shared, &pulse).await
        }
    });
    while_alive(&pulse, shared.idle_timeout, serving).await;
}

/// Serves a connection that begins with TLS.
pub(super) async fn serve_tls(stream: TcpStream, config: Arc<ServerConfig>, shared: Rc<Shared>) {
    let pulse = Rc::new(Cell::new(Pulse::Still));
    let serving = pin!(async {
        let stream = tokio::net::TcpStream::from_std(stream)?;
        let stream = Metered::new(stream, &shared, &pulse, HANDSHAKE_WORK);
        let mut stream = TlsAcceptor::from(config).accept(stream).await?;
        stream.get_mut().0.work = 1;
        if stream.get_ref().1.alpn_protocol() == Some(ALPN_HTTP2) {
            serve_http2(stream, &shared).await.map_err(io::Error::other)
        } else {
            converse(stream, &shared, &pulse).await
        }
    });
    while_alive(&pulse, shared.idle_timeout, serving).await;
}
