//! An HTTP/2 client, for tests with a runtime of their own.

use std::net::SocketAddr;
use std::time::Duration;

use bytes::Bytes;
use h2::client::{Builder, ResponseFuture, SendRequest};
use h2::{Error, RecvStream};
use http::{Request, Response};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use super::tls;

/// An HTTP/2 connection.
#[derive(Clone)]
pub(crate) struct Http2 {
    pub sender: SendRequest<Bytes>,
}

/// Runs a test to completion.
pub(crate) fn run<T>(test: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async { tokio::time::timeout(Duration::from_secs(20), test).await.unwrap() })
}

async fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).await.unwrap();
    // Window updates must not wait for acknowledgements.
    stream.set_nodelay(true).unwrap();
    stream
}

impl Http2 {
    /// Connects over TLS, where ALPN must select HTTP/2.
    pub(crate) async fn over_tls(address: SocketAddr) -> Http2 {
        let stream = connect(address).await;
        let connector = TlsConnector::from(tls::config(&["h2", "http/1.1"], None));
        let stream = connector.connect(tls::name(), stream).await.unwrap();
        assert_eq!(stream.get_ref().1.alpn_protocol(), Some(&b"h2"[..]));
        Http2::speak(stream, &Builder::new()).await
    }

    /// Connects with prior knowledge.
    pub(crate) async fn plain(address: SocketAddr) -> Http2 {
        Http2::with(address, &Builder::new()).await
    }

    /// Connects with prior knowledge and these settings.
    pub(crate) async fn with(address: SocketAddr, builder: &Builder) -> Http2 {
        Http2::speak(connect(address).await, builder).await
    }

    async fn speak<S: AsyncRead + AsyncWrite + Unpin + Send + 'static>(
        stream: S,
        builder: &Builder,
    ) -> Http2 {
        let (sender, connection) = builder.handshake(stream).await.unwrap();
        tokio::spawn(async {
            // The streams report how the connection ends.
            let _ = connection.await;
        });
        Http2 { sender }
    }

    /// Sends a request without a body.
    pub(crate) async fn ask(&self, request: Request<()>) -> Result<ResponseFuture, Error> {
        let mut sender = self.sender.clone().ready().await?;
        Ok(sender.send_request(request, true)?.0)
    }

    /// Sends a request without a body and reads the whole response.
    pub(crate) async fn request(&self, request: Request<()>) -> Result<Response<Vec<u8>>, Error> {
        whole(self.ask(request).await?.await?).await
    }

    pub(crate) async fn get(&self, path: &str) -> Result<Response<Vec<u8>>, Error> {
        self.request(get(path)).await
    }
}

pub(crate) fn get(path: &str) -> Request<()> {
    Request::get(format!("http://127.0.0.1{path}")).body(()).unwrap()
}

/// Reads the body of a response.
pub(crate) async fn whole(reply: Response<RecvStream>) -> Result<Response<Vec<u8>>, Error> {
    let (head, mut body) = reply.into_parts();
    let mut bytes = Vec::new();
    while let Some(piece) = body.data().await {
        let piece = piece?;
        bytes.extend_from_slice(&piece);
        body.flow_control().release_capacity(piece.len())?;
    }
    Ok(Response::from_parts(head, bytes))
}
