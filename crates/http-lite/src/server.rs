//! A server of a few requests, one per connection.

use std::future::Future;
use std::io;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use http1::{
    BodyReader, Framing, HeadError, Http1Version, ParseStatus, RequestMethod, ResponseHead, header,
    parse_request, write_response_head,
};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::task::spawn_local;
use tokio::time::{sleep, timeout};

/// The pause after the system could not accept a connection.
const PAUSE: Duration = Duration::from_millis(200);

/// Limits of a server.
#[derive(Debug, Clone, Copy)]
pub struct ServerLimits {
    /// The most connections at a time; others wait in the backlog of the listener.
    pub connections_max: usize,
    /// The most bytes of a request's head.
    pub head_bytes_max: usize,
    /// The most bytes of a request's body.
    pub body_bytes_max: usize,
    /// The longest time for a request to arrive, and for its response to be taken.
    pub time_max: Duration,
}

/// A request that has arrived completely.
#[derive(Debug)]
pub struct ServerRequest {
    /// The method.
    pub method: RequestMethod,
    /// The path, without the query.
    pub path: String,
    /// The requested host, with its port if given; `None` if an HTTP/1.0 client sent none.
    pub host: Option<String>,
    /// The bytes of the head.
    pub head: Vec<u8>,
    /// The body.
    pub body: Vec<u8>,
}

impl ServerRequest {
    /// Returns the value of a header field.
    pub fn header(&self, name: &str) -> Option<&[u8]> {
        header(&self.head, name)
    }

    /// Returns the value of a header field as text; bytes that are not UTF-8 are replaced.
    pub fn header_text(&self, name: &str) -> Option<String> {
        self.header(name).map(text)
    }
}

/// A reason why bytes from a client are no acceptable request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RequestRejection {
    /// They are malformed; the text says how.
    Malformed(String),
    /// The head is too long.
    HeadTooLong,
    /// The body is too long.
    BodyTooLong,
}

impl RequestRejection {
    /// Returns the status of the response to it.
    pub fn status(&self) -> u16 {
        match self {
            RequestRejection::Malformed(_) => 400,
            RequestRejection::HeadTooLong => 431,
            RequestRejection::BodyTooLong => 413,
        }
    }
}

/// A response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerResponse {
    /// The status code.
    pub status: u16,
    /// The header fields, except those about the connection and the length of the body.
    pub fields: Vec<(&'static str, &'static str)>,
    /// The body.
    pub body: String,
}

impl ServerResponse {
    /// Makes a response.
    pub fn new(status: u16, content_type: &'static str, body: impl Into<String>) -> ServerResponse {
        ServerResponse { status, fields: vec![("Content-Type", content_type)], body: body.into() }
    }

    /// Returns the response with another header field.
    pub fn with(mut self, name: &'static str, value: &'static str) -> ServerResponse {
        self.fields.push((name, value));
        self
    }

    /// Returns the bytes to send; without the body for HEAD.
    fn bytes(&self, method: RequestMethod) -> Vec<u8> {
        let framing = Framing::Length(self.body.len() as u64);
        let head =
            ResponseHead { status: self.status, version: Http1Version::Http11, framing, keep_alive: false };
        let fields: Vec<(&str, &[u8])> =
            self.fields.iter().map(|(name, value)| (*name, value.as_bytes())).collect();
        let mut out = Vec::new();
        write_response_head(&mut out, &head, &fields).expect("the program's own head is valid");
        if method != RequestMethod::Head {
            out.extend_from_slice(self.body.as_bytes());
        }
        out
    }
}

/// Serves a listener until it is dropped. Must run on a `LocalSet`; connections that are open when it is dropped are
/// served to their end, or that of the `LocalSet`.
pub async fn serve<F>(
    listener: &TcpListener,
    limits: ServerLimits,
    respond: impl Fn(Result<ServerRequest, RequestRejection>) -> F + Clone + 'static,
) where
    F: Future<Output = ServerResponse> + 'static,
{
    let permits = Arc::new(Semaphore::new(limits.connections_max));
    loop {
        let Ok(permit) = Arc::clone(&permits).acquire_owned().await else { return };
        let Ok((stream, _)) = listener.accept().await else {
            // The process may be out of descriptors; retrying at once would only take CPU time from others.
            sleep(PAUSE).await;
            continue;
        };
        let respond = respond.clone();
        spawn_local(async move {
            serve_connection(stream, limits, respond).await;
            drop(permit);
        });
    }
}

/// Reads one request and responds to it, which may take as long as it needs. A client that is too slow or hangs up gets
/// no response.
pub async fn serve_connection<S, F>(
    mut stream: S,
    limits: ServerLimits,
    respond: impl FnOnce(Result<ServerRequest, RequestRejection>) -> F,
) where
    S: AsyncRead + AsyncWrite + Unpin,
    F: Future<Output = ServerResponse>,
{
    let request = match timeout(limits.time_max, read_request(&mut stream, limits)).await {
        Ok(Ok(request)) => Ok(request),
        Ok(Err(ReadError::Rejected(rejection))) => Err(rejection),
        Ok(Err(ReadError::Gone)) | Err(_) => return,
    };
    let method = request.as_ref().map_or(RequestMethod::Get, |request| request.method);
    let response = respond(request).await.bytes(method);
    let sent = async {
        stream.write_all(&response).await?;
        stream.shutdown().await
    };
    let _ = timeout(limits.time_max, sent).await;
}

/// A reason why there is no request.
enum ReadError {
    /// The client has gone.
    Gone,
    Rejected(RequestRejection),
}

impl From<io::Error> for ReadError {
    fn from(_: io::Error) -> ReadError {
        ReadError::Gone
    }
}

impl From<RequestRejection> for ReadError {
    fn from(rejection: RequestRejection) -> ReadError {
        ReadError::Rejected(rejection)
    }
}

async fn read_request<S>(stream: &mut S, limits: ServerLimits) -> Result<ServerRequest, ReadError>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let mut received = Vec::new();
    let (head, length) = loop {
        match parse_request(&received) {
            Ok(ParseStatus::Complete { head, length }) => break (head, length),
            Ok(ParseStatus::Partial) if received.len() < limits.head_bytes_max => {
                receive(stream, &mut received).await?;
            }
            Ok(ParseStatus::Partial) | Err(HeadError::Oversized(_)) => {
                return Err(RequestRejection::HeadTooLong.into());
            }
            Err(why) => return Err(RequestRejection::Malformed(why.to_string()).into()),
        }
    };
    let beginning_of_body = received.split_off(length);
    if header(&received, "expect").is_some_and(|value| value.eq_ignore_ascii_case(b"100-continue")) {
        stream.write_all(b"HTTP/1.1 100 Continue\r\n\r\n").await?;
    }
    let body = read_body(stream, head.framing, beginning_of_body, limits.body_bytes_max).await?;
    let part = |range: Range<usize>| text(received.get(range).unwrap_or_default());
    let target = part(head.target);
    Ok(ServerRequest {
        method: head.method,
        path: target.split('?').next().unwrap_or_default().to_owned(),
        host: head.host.map(part),
        head: received,
        body,
    })
}

async fn read_body<S: AsyncRead + Unpin>(
    stream: &mut S,
    framing: Framing,
    mut received: Vec<u8>,
    bytes_max: usize,
) -> Result<Vec<u8>, ReadError> {
    let mut reader = BodyReader::new(framing);
    let mut body = Vec::new();
    while !reader.is_done() {
        if received.is_empty() {
            receive(stream, &mut received).await?;
        }
        let piece = reader.read(&received).map_err(|why| RequestRejection::Malformed(why.to_string()))?;
        body.extend_from_slice(received.get(piece.data).unwrap_or_default());
        if bytes_max < body.len() {
            return Err(RequestRejection::BodyTooLong.into());
        }
        received.drain(..piece.consumed);
    }
    Ok(body)
}

/// Receives more bytes.
async fn receive<S: AsyncRead + Unpin>(stream: &mut S, received: &mut Vec<u8>) -> Result<(), ReadError> {
    match stream.read_buf(received).await? {
        0 => Err(ReadError::Gone),
        _ => Ok(()),
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use tokio::io::duplex;

    use super::*;
    use crate::{ResponseReader, exchange};

    const LIMITS: ServerLimits = ServerLimits {
        connections_max: 1,
        head_bytes_max: 100,
        body_bytes_max: 10,
        time_max: Duration::from_secs(5),
    };

    /// Describes a request.
    async fn respond(request: Result<ServerRequest, RequestRejection>) -> ServerResponse {
        match request {
            Ok(request) => {
                let body = String::from_utf8_lossy(&request.body);
                let ServerRequest { method, path, host, .. } = &request;
                let text = format!("{method:?} {path} {host:?} {:?} {body}", request.header_text("x"));
                ServerResponse::new(200, "text/plain", text).with("X-Test", "yes")
            }
            Err(rejection) => ServerResponse::new(rejection.status(), "text/plain", format!("{rejection:?}")),
        }
    }

    /// Sends a request; returns the status and body of the response.
    async fn response(request: &str) -> (u16, String) {
        let (mut client, server) = duplex(64);
        let method = RequestMethod::from_name(request.split(' ').next().unwrap().as_bytes());
        let mut reader = ResponseReader::new(method, 1000);
        let (_, received) = tokio::join!(serve_connection(server, LIMITS, respond), async {
            exchange(&mut client, request.as_bytes(), &mut reader).await
        });
        received.unwrap();
        assert_eq!(header(reader.head_bytes(), "connection"), Some(&b"close"[..]));
        (reader.head().unwrap().status, String::from_utf8(reader.body().to_vec()).unwrap())
    }

    #[tokio::test]
    async fn requests_are_read_whole() {
        let (status, body) = response("GET /a/b?c HTTP/1.1\r\nHost: h:1\r\nX: y\r\n\r\n").await;
        assert_eq!((status, body.as_str()), (200, "Get /a/b Some(\"h:1\") Some(\"y\") "));
        let (_, body) = response("GET / HTTP/1.0\r\n\r\n").await;
        assert_eq!(body, "Get / None None ");
        let chunked =
            "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\n\r\n";
        assert_eq!(response(chunked).await.1, "Post / Some(\"h\") None abc");
        assert_eq!(response("HEAD / HTTP/1.0\r\n\r\n").await, (200, String::new()));
    }

    #[tokio::test]
    async fn a_client_that_waits_for_permission_gets_it() {
        let (mut client, server) = duplex(64);
        let head = b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n";
        let wanted = b"HTTP/1.1 100 Continue\r\n\r\n";
        let wait = async {
            client.write_all(head).await.unwrap();
            let mut received = vec![0; wanted.len()];
            client.read_exact(&mut received).await.unwrap();
            assert_eq!(received, wanted);
            client.write_all(b"ab").await.unwrap();
            let mut rest = String::new();
            client.read_to_string(&mut rest).await.unwrap();
            assert!(rest.starts_with("HTTP/1.1 200 OK\r\n") && rest.ends_with(" ab"), "{rest}");
        };
        tokio::join!(serve_connection(server, LIMITS, respond), wait);
    }

    #[tokio::test]
    async fn malformed_and_oversized_requests_are_rejected() {
        assert_eq!(response("nonsense\r\n\r\n").await.0, 400);
        let long = format!("GET / HTTP/1.0\r\nX: {}", "x".repeat(100));
        assert_eq!(response(&long).await, (431, "HeadTooLong".to_owned()));
        let body = "POST / HTTP/1.0\r\nContent-Length: 11\r\n\r\n01234567890";
        assert_eq!(response(body).await, (413, "BodyTooLong".to_owned()));
    }

    #[tokio::test]
    async fn slow_clients_and_those_that_hang_up_get_no_response() {
        let limits = ServerLimits { time_max: Duration::from_millis(20), ..LIMITS };
        let (mut client, server) = duplex(64);
        serve_connection(server, limits, respond).await;
        let mut received = Vec::new();
        client.read_to_end(&mut received).await.unwrap();
        assert_eq!(received, b"");
        let (mut client, server) = duplex(64);
        client.write_all(b"GET / HT").await.unwrap();
        client.shutdown().await.unwrap();
        serve_connection(server, LIMITS, respond).await;
        client.read_to_end(&mut received).await.unwrap();
        assert_eq!(received, b"");
    }
}
