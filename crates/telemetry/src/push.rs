//! The push to a collector: every ten seconds, and once more at the end.

use std::io::{Error, ErrorKind};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use http_lite::{ClientError, ResponseReader};
use http1::{RequestError, RequestMethod};
use languages::{foreign_text, without_credentials};
use model::check_observer;
use serde_json::Value;
use tokio::net::{TcpStream, lookup_host};
use tokio::sync::watch;
use tokio::time::timeout;
use units::wall;

use crate::endpoint::Endpoint;
use crate::otlp::request;
use crate::totals::Snapshot;

/// The period of pushes.
pub(crate) const PUSH_PERIOD: Duration = Duration::from_secs(10);

/// The time limit of a push, from name resolution to the last byte of the response.
const TIME_MAX: Duration = Duration::from_secs(5);

/// The most bytes of a response's body that are read.
const RESPONSE_BYTES_MAX: usize = 64 * 1024;

/// A reason why metrics were not pushed.
#[derive(Debug, thiserror::Error)]
enum PushError {
    #[error(transparent)]
    Request(#[from] RequestError),
    #[error("no response within {} s", TIME_MAX.as_secs())]
    Slow,
    #[error("{}", foreign_text(&.0.to_string()))]
    Exchange(#[from] ClientError),
    #[error("the collector responded with status {0}")]
    Status(u16),
    /// The collector's reason for rejecting a part.
    #[error("the collector rejected some metrics: {0}")]
    Rejected(String),
}

/// Pushes metrics until the channel is closed, and then once more. `warn` receives the error of the first failed
/// push; the next push includes all that the failed one had.
pub(crate) async fn push_until_closed(
    endpoint: &Endpoint,
    mut snapshots: watch::Receiver<Arc<Snapshot>>,
    mut warn: impl FnMut(String),
) {
    let mut has_warned = false;
    loop {
        let is_over = timeout(PUSH_PERIOD, closed(&mut snapshots)).await.is_ok();
        let snapshot = Arc::clone(&snapshots.borrow());
        if let Err(why) = push(endpoint, &snapshot).await
            && !std::mem::replace(&mut has_warned, true)
        {
            warn(format!("metrics are not pushed to `{endpoint}`: {why}"));
        }
        if is_over {
            return;
        }
    }
}

/// Waits until the channel is closed.
pub(crate) async fn closed(snapshots: &mut watch::Receiver<Arc<Snapshot>>) {
    while snapshots.changed().await.is_ok() {}
}

/// Pushes once.
async fn push(endpoint: &Endpoint, snapshot: &Snapshot) -> Result<(), PushError> {
    let body = request(snapshot, wall()).to_string();
    let request = endpoint.request(body.as_bytes())?;
    let exchange = timeout(TIME_MAX, exchange(endpoint, &request)).await;
    check_response(&exchange.map_err(|_| PushError::Slow)??)
}

/// Sends a request and returns the response, as far as it arrived: at least a head.
async fn exchange(endpoint: &Endpoint, request: &[u8]) -> Result<ResponseReader, ClientError> {
    let mut stream = connect(endpoint).await?;
    let mut response = ResponseReader::new(RequestMethod::Post, RESPONSE_BYTES_MAX);
    match http_lite::exchange(&mut stream, request, &mut response).await {
        // The status tells whether the metrics were accepted, whatever is wrong with the body.
        Err(ClientError::Chunk(_) | ClientError::Truncated(_) | ClientError::BodyTooLong(_)) => Ok(response),
        outcome => outcome.map(|()| response),
    }
}

/// Connects to one of the collector's current addresses, after checking all of them.
async fn connect(endpoint: &Endpoint) -> std::io::Result<TcpStream> {
    let addresses: Vec<SocketAddr> = lookup_host(endpoint.address()).await?.collect();
    check_observer(&addresses).map_err(|why| Error::new(ErrorKind::PermissionDenied, why))?;
    let mut last = Error::new(ErrorKind::NotFound, "its name has no address");
    for address in addresses {
        match TcpStream::connect(address).await {
            Ok(stream) => return Ok(stream),
            Err(error) => last = error,
        }
    }
    Err(last)
}

/// Checks that a collector accepted everything.
fn check_response(response: &ResponseReader) -> Result<(), PushError> {
    let status = response.head().map_or(0, |head| head.status);
    if !(200..300).contains(&status) {
        return Err(PushError::Status(status));
    }
    match rejected(response.body()) {
        Some(message) => Err(PushError::Rejected(message)),
        None => Ok(()),
    }
}

/// Returns the collector's reason for rejecting a part, if it rejected one (`partialSuccess`).
fn rejected(body: &[u8]) -> Option<String> {
    let response: Value = serde_json::from_slice(body).ok()?;
    let partial = response.get("partialSuccess")?;
    let count = &partial["rejectedDataPoints"];
    let is_some = match count {
        Value::String(text) => text != "0",
        Value::Number(number) => number.as_u64() != Some(0),
        _ => false,
    };
    let why = partial["errorMessage"].as_str().unwrap_or("no reason given");
    is_some.then(|| foreign_text(&without_credentials(why)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks a response with this status line and body.
    fn checked(status: &str, body: &str) -> Result<(), String> {
        let response = format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\n\r\n{body}", body.len());
        let mut reader = ResponseReader::new(RequestMethod::Post, RESPONSE_BYTES_MAX);
        reader.read(response.as_bytes()).unwrap();
        check_response(&reader).map_err(|error| error.to_string())
    }

    fn check(status: &str, body: &str, expected: Result<(), &str>) {
        assert_eq!(checked(status, body), expected.map_err(str::to_owned), "{status} {body}");
    }

    #[test]
    fn a_response_tells_whether_all_was_accepted() {
        check("200 OK", "{}", Ok(()));
        check("200 OK", "", Ok(()));
        check("202 Accepted", "not json", Ok(()));
        check("200 OK", r#"{"partialSuccess":{}}"#, Ok(()));
        check("200 OK", r#"{"partialSuccess":{"rejectedDataPoints":"0"}}"#, Ok(()));
        check(
            "200 OK",
            r#"{"partialSuccess":{"rejectedDataPoints":"3","errorMessage":"too old"}}"#,
            Err("the collector rejected some metrics: too old"),
        );
        check("503 Busy", "{}", Err("the collector responded with status 503"));
    }

    #[test]
    fn texts_of_a_collector_are_sanitized_and_bounded() {
        let said = r"\u001b[31mRED\u001b]0;owned\u0007\nerror: the run failed";
        let body = format!(r#"{{"partialSuccess":{{"rejectedDataPoints":1,"errorMessage":"{said}"}}}}"#);
        check(
            "200 OK",
            &body,
            Err(
                "the collector rejected some metrics: \\u{1b}[31mRED\\u{1b}]0;owned\\u{7}\\nerror: the run failed",
            ),
        );
        let long = "x".repeat(60_000);
        let body = format!(r#"{{"partialSuccess":{{"rejectedDataPoints":1,"errorMessage":"{long}"}}}}"#);
        let message = checked("200 OK", &body).unwrap_err();
        assert!(message.len() < 400 && message.ends_with("… (60000 bytes in all)"), "{message}");
    }

    /// Pushes an empty request to a collector that responds with these bytes and closes the connection.
    fn pushed(response: String) -> Result<(), String> {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let endpoint: Endpoint = format!("http://{}", listener.local_addr().unwrap()).parse().unwrap();
        let collector = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            // The sender may have closed already.
            let _ = std::io::Write::write_all(&mut stream, response.as_bytes());
        });
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let response = runtime.block_on(exchange(&endpoint, b""));
        collector.join().unwrap();
        response
            .map_err(PushError::from)
            .and_then(|response| check_response(&response))
            .map_err(|error| error.to_string())
    }

    #[test]
    fn the_final_response_tells_whether_the_metrics_were_accepted() {
        let interim =
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n".repeat(20);
        let accepted = format!("{interim}HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{{}}");
        assert_eq!(pushed(accepted), Ok(()));
        let refused = format!("{interim}HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n");
        assert_eq!(pushed(refused), Err("the collector responded with status 503".to_owned()));
        let switched = "HTTP/1.1 101 Switching Protocols\r\n\r\n";
        assert_eq!(pushed(switched.to_owned()), Err("the collector responded with status 101".to_owned()));
    }

    #[test]
    fn a_body_that_does_not_arrive_is_no_reason_to_warn() {
        assert_eq!(pushed("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n{}".to_owned()), Ok(()));
        let long = "x".repeat(RESPONSE_BYTES_MAX + 1);
        assert_eq!(pushed(format!("HTTP/1.0 200 OK\r\n\r\n{long}")), Ok(()));
        assert_eq!(
            pushed(format!("HTTP/1.0 404 Not Found\r\n\r\n{long}")),
            Err("the collector responded with status 404".to_owned())
        );
    }

    #[test]
    fn other_bytes_are_an_error() {
        assert_eq!(
            pushed(String::new()),
            Err("the server closed the connection before the response was complete".to_owned())
        );
        assert!(pushed("SSH-2.0-x\r\n\r\n".to_owned()).is_err());
    }

    #[test]
    fn a_chunked_response_is_read() {
        let response = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
        let body = r#"{"partialSuccess":{"rejectedDataPoints":1}}"#;
        assert_eq!(
            pushed(format!("{response}{:x}\r\n{body}\r\n0\r\n\r\n", body.len())),
            Err("the collector rejected some metrics: no reason given".to_owned())
        );
    }
}
