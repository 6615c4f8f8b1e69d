//! The push to a collector: every ten seconds, and once more at the end.

use std::io::{Error, ErrorKind};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use http1::{BodyReader, HeadError, Parsed, RequestMethod, ResponseHead, parse_response};
use model::{check_observer, foreign_text, without_credentials};
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
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

/// The most bytes of a response that are read.
const RESPONSE_BYTES_MAX: usize = 64 * 1024;

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
///
/// # Errors
///
/// A clause about what went wrong.
async fn push(endpoint: &Endpoint, snapshot: &Snapshot) -> Result<(), String> {
    let body = request(snapshot, wall()).to_string();
    let request = endpoint.request(body.as_bytes()).map_err(|error| error.to_string())?;
    let exchange = timeout(TIME_MAX, exchange(endpoint, &request)).await;
    let response = exchange.map_err(|_| format!("no response within {} s", TIME_MAX.as_secs()))?;
    check_response(&response.map_err(|error| error.to_string())?)
}

/// Sends a request and returns the response, as far as it arrived.
async fn exchange(endpoint: &Endpoint, request: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut stream = connect(endpoint).await?;
    stream.write_all(request).await?;
    let mut response = Vec::new();
    // Some collectors keep the connection open although the request asks to close it.
    while response.len() < RESPONSE_BYTES_MAX
        && !is_complete(&response)
        && stream.read_buf(&mut response).await? != 0
    {}
    Ok(response)
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

/// Reads the head of the final response, after the interim ones before it (RFC 9110 §15.2). They need no limit of
/// their own, because the whole response has one.
fn final_head(response: &[u8]) -> Result<Parsed<ResponseHead>, HeadError> {
    let mut start = 0;
    loop {
        match parse_response(&response[start..], RequestMethod::Post)? {
            Parsed::Complete { head, length } if is_interim(head.status) => start += length,
            Parsed::Complete { head, length } => {
                return Ok(Parsed::Complete { head, length: start + length });
            }
            Parsed::Partial => return Ok(Parsed::Partial),
        }
    }
}

/// Returns whether another response follows one of this status; after 101 HTTP has ended.
fn is_interim(status: u16) -> bool {
    (100..200).contains(&status) && status != 101
}

/// Returns whether the response is complete.
fn is_complete(response: &[u8]) -> bool {
    match final_head(response) {
        Ok(Parsed::Partial) => false,
        Ok(Parsed::Complete { head, length }) => body(head, &response[length..]).1,
        Err(_) => true,
    }
}

/// Checks that a collector accepted everything.
fn check_response(response: &[u8]) -> Result<(), String> {
    let (head, length) = match final_head(response) {
        Ok(Parsed::Complete { head, length }) => (head, length),
        Ok(Parsed::Partial) if RESPONSE_BYTES_MAX <= response.len() => {
            return Err(format!("its response does not end within {RESPONSE_BYTES_MAX} bytes"));
        }
        Ok(Parsed::Partial) => {
            return Err("it closed the connection before its response was complete".to_owned());
        }
        Err(error) => return Err(foreign_text(&error.to_string())),
    };
    if !(200..300).contains(&head.status) {
        return Err(format!("it responded with status {}", head.status));
    }
    match rejected(&body(head, &response[length..]).0) {
        Some(message) => Err(format!("it rejected some of them: {message}")),
        None => Ok(()),
    }
}

/// Returns the body as far as it arrived, and whether it is complete.
fn body(head: ResponseHead, mut received: &[u8]) -> (Vec<u8>, bool) {
    let mut reader = BodyReader::new(head.framing);
    let mut body = Vec::new();
    while !received.is_empty() && !reader.is_done() {
        let Ok(piece) = reader.read(received) else { return (body, true) };
        body.extend_from_slice(&received[piece.data]);
        received = &received[piece.consumed..];
    }
    (body, reader.is_done())
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

    fn check(status: &str, body: &str, expected: Result<(), &str>) {
        let response = format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\n\r\n{body}", body.len());
        assert_eq!(check_response(response.as_bytes()), expected.map_err(str::to_owned), "{response}");
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
            Err("it rejected some of them: too old"),
        );
        check("503 Busy", "{}", Err("it responded with status 503"));
    }

    #[test]
    fn texts_of_a_collector_are_sanitized_and_bounded() {
        let said = r"\u001b[31mRED\u001b]0;owned\u0007\nerror: the run failed";
        let body = format!(r#"{{"partialSuccess":{{"rejectedDataPoints":1,"errorMessage":"{said}"}}}}"#);
        check(
            "200 OK",
            &body,
            Err("it rejected some of them: \\u{1b}[31mRED\\u{1b}]0;owned\\u{7}\\nerror: the run failed"),
        );
        let long = "x".repeat(60_000);
        let body = format!(r#"{{"partialSuccess":{{"rejectedDataPoints":1,"errorMessage":"{long}"}}}}"#);
        let response = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len());
        let message = check_response(response.as_bytes()).unwrap_err();
        assert!(message.len() < 400 && message.ends_with("… (60000 bytes in all)"), "{message}");
    }

    #[test]
    fn interim_responses_are_skipped() {
        let interim =
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n".repeat(20);
        let whole = format!("{interim}HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{{}}");
        assert_eq!(check_response(whole.as_bytes()), Ok(()));
        for cut in 1..whole.len() {
            assert!(!is_complete(&whole.as_bytes()[..cut]), "{cut}");
        }
        assert!(is_complete(whole.as_bytes()));
        let refused = format!("{interim}HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n");
        assert_eq!(check_response(refused.as_bytes()), Err("it responded with status 503".to_owned()));
        let endless = interim.repeat(200);
        let message = check_response(&endless.as_bytes()[..RESPONSE_BYTES_MAX]).unwrap_err();
        assert_eq!(message, "its response does not end within 65536 bytes");
        assert_eq!(
            check_response(b"HTTP/1.1 101 Switching Protocols\r\n\r\n"),
            Err("it responded with status 101".to_owned())
        );
    }

    #[test]
    fn other_bytes_are_an_error() {
        assert_eq!(
            check_response(b""),
            Err("it closed the connection before its response was complete".to_owned())
        );
        assert!(check_response(b"SSH-2.0-x\r\n\r\n").is_err());
    }

    #[test]
    fn a_chunked_response_is_read() {
        let response = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
        let body = r#"{"partialSuccess":{"rejectedDataPoints":1}}"#;
        let response = format!("{response}{:x}\r\n{body}\r\n0\r\n\r\n", body.len());
        assert_eq!(
            check_response(response.as_bytes()),
            Err("it rejected some of them: no reason given".to_owned())
        );
    }
}
