//! An HTTP/2 server that handles each request by a rule.

use std::net::{Ipv4Addr, SocketAddr, TcpListener as StdListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::JoinHandle;

use bytes::Bytes;
use h2::server::SendResponse;
use h2::{Reason, server};
use http::{Request, Response};
use rustls::ServerConfig;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio_rustls::TlsAcceptor;

use super::fixture::{EMPTY, LARGE, SMALL, content};

/// The handling of a request.
pub(crate) enum Action {
    /// Sends the correct response.
    Answer,
    /// Sends the correct response; the connection accepts no further requests.
    AnswerLast,
    /// Sends the correct response after this many interim ones.
    AnswerAfterHints(usize),
    /// Sends another response.
    Reply(Response<Vec<u8>>),
    /// Sends the first bytes of a body of 500, then resets the stream.
    BreakOff(Reason),
    /// Ends the connection with this reason.
    GoAway(Reason),
    /// Closes the connection without sending anything.
    Close,
    /// Never answers.
    Stall,
}

type Rule = Arc<dyn Fn(usize, usize, &Request<h2::RecvStream>) -> Action + Send + Sync>;

/// A server whose rule is called for each request with the number of its connection and its number on it.
pub(crate) struct Http2Server {
    pub address: SocketAddr,
    connections: Arc<AtomicUsize>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Http2Server {
    pub(crate) fn start(
        tls: Option<Arc<ServerConfig>>,
        rule: impl Fn(usize, usize, &Request<h2::RecvStream>) -> Action + Send + Sync + 'static,
    ) -> Http2Server {
        let listener = StdListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let (stop, stopped) = oneshot::channel();
        let connections = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&connections);
        let rule: Rule = Arc::new(rule);
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                tokio::select! {
                    () = accept_all(listener, tls, counter, rule) => {}
                    _ = stopped => {}
                }
            });
        });
        Http2Server { address, connections, stop: Some(stop), thread: Some(thread) }
    }

    /// Returns the number of connections so far.
    pub(crate) fn connections(&self) -> usize {
        self.connections.load(Ordering::Relaxed)
    }
}

impl Drop for Http2Server {
    fn drop(&mut self) {
        drop(self.stop.take());
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

async fn accept_all(
    listener: StdListener,
    tls: Option<Arc<ServerConfig>>,
    counter: Arc<AtomicUsize>,
    rule: Rule,
) {
    listener.set_nonblocking(true).unwrap();
    let listener = TcpListener::from_std(listener).unwrap();
    loop {
        let (stream, _) = listener.accept().await.unwrap();
        stream.set_nodelay(true).unwrap();
        let number = counter.fetch_add(1, Ordering::Relaxed);
        let tls = tls.clone();
        let rule = Arc::clone(&rule);
        tokio::spawn(async move {
            match tls {
                None => serve(stream, number, rule).await,
                Some(config) => {
                    if let Ok(stream) = TlsAcceptor::from(config).accept(stream).await {
                        serve(stream, number, rule).await;
                    }
                }
            }
        });
    }
}

async fn serve(stream: impl AsyncRead + AsyncWrite + Unpin, number: usize, rule: Rule) {
    let Ok(mut connection) = server::Builder::new().handshake::<_, Bytes>(stream).await else { return };
    let mut stalled = Vec::new();
    let mut n_requests = 0;
    while let Some(Ok((request, respond))) = connection.accept().await {
        let action = rule(number, n_requests, &request);
        n_requests += 1;
        match action {
            Action::Answer => send(respond, right(&request)),
            Action::AnswerLast => {
                send(respond, right(&request));
                connection.graceful_shutdown();
            }
            Action::AnswerAfterHints(n) => {
                let mut respond = respond;
                for _ in 0..n {
                    let hints = Response::builder().status(103).header("link", "</a.css>").body(()).unwrap();
                    respond.send_informational(hints).unwrap();
                }
                send(respond, right(&request));
            }
            Action::Reply(reply) => send(respond, reply),
            Action::BreakOff(reason) => reset_stream(respond, reason),
            Action::GoAway(reason) => connection.abrupt_shutdown(reason),
            Action::Close => return,
            Action::Stall => stalled.push(respond),
        }
    }
}

fn right(request: &Request<h2::RecvStream>) -> Response<Vec<u8>> {
    let object = match request.uri().path() {
        "/empty.html" => EMPTY,
        "/large.bin" => LARGE,
        _ => SMALL,
    };
    Response::new(content(object))
}

fn send(mut respond: SendResponse<Bytes>, reply: Response<Vec<u8>>) {
    let (head, body) = reply.into_parts();
    let mut stream = respond.send_response(Response::from_parts(head, ()), body.is_empty()).unwrap();
    if !body.is_empty() {
        stream.send_data(body.into(), true).unwrap();
    }
}

fn reset_stream(mut respond: SendResponse<Bytes>, reason: Reason) {
    let mut stream = respond.send_response(Response::new(()), false).unwrap();
    stream.send_data(Bytes::from(content(SMALL)).slice(..100), false).unwrap();
    stream.send_reset(reason);
}
