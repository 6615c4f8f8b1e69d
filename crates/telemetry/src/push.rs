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
pub(crate) const EVERY: Duration = Duration::from_secs(10);

/// The longest that a push may take, from the look-up of a name to the last byte of the answer.
const TIME_MAX: Duration = Duration::from_secs(5);

/// The most bytes of an answer that are read.
const ANSWER_BYTES_MAX: usize = 64 * 1024;

/// Pushes metrics until nobody tells any more what happens, and once more then. `warn` hears of the first push that
/// fails; the next one says all that it would have said.
pub(crate) async fn push_until_closed(
    endpoint: &Endpoint,
    mut snapshots: watch::Receiver<Arc<Snapshot>>,
    mut warn: impl FnMut(String),
) {
    let mut has_warned = false;
    loop {
        let is_over = timeout(EVERY, closed(&mut snapshots)).await.is_ok();
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

/// Waits until nobody tells any more what happens.
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
    let answer = exchange.map_err(|_| format!("no answer within {} s", TIME_MAX.as_secs()))?;
    judge(&answer.map_err(|error| error.to_string())?)
}

/// Sends a request and returns the answer, as far as it came.
async fn exchange(endpoint: &Endpoint, request: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut stream = connect(endpoint).await?;
    stream.write_all(request).await?;
    let mut answer = Vec::new();
    // Some keep a connection although they were asked to close it.
    while answer.len() < ANSWER_BYTES_MAX && !is_whole(&answer) && stream.read_buf(&mut answer).await? != 0 {}
    Ok(answer)
}

/// Connects to one of the addresses that the collector has now; all of them were checked.
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

/// Reads the head of the answer, after the interim ones before it (RFC 9110 §15.2). They need no bound of their own:
/// the whole answer has one.
fn final_head(answer: &[u8]) -> Result<Parsed<ResponseHead>, HeadError> {
    let mut start = 0;
    loop {
        match parse_response(&answer[start..], RequestMethod::Post)? {
            Parsed::Complete { head, length } if is_interim(head.status) => start += length,
            Parsed::Complete { head, length } => {
                return Ok(Parsed::Complete { head, length: start + length });
            }
            Parsed::Partial => return Ok(Parsed::Partial),
        }
    }
}

/// Returns whether another answer follows one of this status; after 101 there is no HTTP any more.
fn is_interim(status: u16) -> bool {
    (100..200).contains(&status) && status != 101
}

/// Returns whether the response is complete.
fn is_whole(answer: &[u8]) -> bool {
    match final_head(answer) {
        Ok(Parsed::Partial) => false,
        Ok(Parsed::Complete { head, length }) => body(head, &answer[length..]).1,
        Err(_) => true,
    }
}

/// Checks that a collector accepted everything.
fn judge(answer: &[u8]) -> Result<(), String> {
    let (head, length) = match final_head(answer) {
        Ok(Parsed::Complete { head, length }) => (head, length),
        Ok(Parsed::Partial) if ANSWER_BYTES_MAX <= answer.len() => {
            return Err(format!("no end of its answer within {ANSWER_BYTES_MAX} bytes"));
        }
        Ok(Parsed::Partial) => return Err("it closed the connection before its answer was whole".to_owned()),
        Err(error) => return Err(foreign_text(&error.to_string())),
    };
    if !(200..300).contains(&head.status) {
        return Err(format!("it answered with status {}", head.status));
    }
    match rejected(&body(head, &answer[length..]).0) {
        Some(message) => Err(format!("it did not take all of them: {message}")),
        None => Ok(()),
    }
}

/// Returns the body as far as it came, and whether nothing more has to come.
fn body(head: ResponseHead, mut came: &[u8]) -> (Vec<u8>, bool) {
    let mut reader = BodyReader::new(head.framing);
    let mut body = Vec::new();
    while !came.is_empty() && !reader.is_done() {
        let Ok(piece) = reader.read(came) else { return (body, true) };
        body.extend_from_slice(&came[piece.data]);
        came = &came[piece.consumed..];
    }
    (body, reader.is_done())
}

/// Returns why a collector took not all, if it says so (`partialSuccess`).
fn rejected(body: &[u8]) -> Option<String> {
    let answer: Value = serde_json::from_slice(body).ok()?;
    let partial = answer.get("partialSuccess")?;
    let count = &partial["rejectedDataPoints"];
    let is_some = match count {
        Value::String(text) => text != "0",
        Value::Number(number) => number.as_u64() != Some(0),
        _ => false,
    };
    let why = partial["errorMessage"].as_str().unwrap_or("it does not say why");
    is_some.then(|| foreign_text(&without_credentials(why)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(status: &str, body: &str, expected: Result<(), &str>) {
        let answer = format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\n\r\n{body}", body.len());
        assert_eq!(judge(answer.as_bytes()), expected.map_err(str::to_owned), "{answer}");
    }

    #[test]
    fn an_answer_says_whether_all_was_taken() {
        check("200 OK", "{}", Ok(()));
        check("200 OK", "", Ok(()));
        check("202 Accepted", "not json", Ok(()));
        check("200 OK", r#"{"partialSuccess":{}}"#, Ok(()));
        check("200 OK", r#"{"partialSuccess":{"rejectedDataPoints":"0"}}"#, Ok(()));
        check(
            "200 OK",
            r#"{"partialSuccess":{"rejectedDataPoints":"3","errorMessage":"too old"}}"#,
            Err("it did not take all of them: too old"),
        );
        check("503 Busy", "{}", Err("it answered with status 503"));
    }

    #[test]
    fn what_a_collector_says_commands_no_terminal_and_is_bounded() {
        let said = r"\u001b[31mRED\u001b]0;owned\u0007\nerror: the run failed";
        let body = format!(r#"{{"partialSuccess":{{"rejectedDataPoints":1,"errorMessage":"{said}"}}}}"#);
        check(
            "200 OK",
            &body,
            Err("it did not take all of them: \\u{1b}[31mRED\\u{1b}]0;owned\\u{7}\\nerror: the run failed"),
        );
        let long = "x".repeat(60_000);
        let body = format!(r#"{{"partialSuccess":{{"rejectedDataPoints":1,"errorMessage":"{long}"}}}}"#);
        let answer = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len());
        let told = judge(answer.as_bytes()).unwrap_err();
        assert!(told.len() < 400 && told.ends_with("… (60000 bytes in all)"), "{told}");
    }

    #[test]
    fn interim_answers_are_not_the_answer() {
        let interim =
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n".repeat(20);
        let whole = format!("{interim}HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{{}}");
        assert_eq!(judge(whole.as_bytes()), Ok(()));
        for cut in 1..whole.len() {
            assert!(!is_whole(&whole.as_bytes()[..cut]), "{cut}");
        }
        assert!(is_whole(whole.as_bytes()));
        let refused = format!("{interim}HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n");
        assert_eq!(judge(refused.as_bytes()), Err("it answered with status 503".to_owned()));
        let endless = interim.repeat(200);
        let told = judge(&endless.as_bytes()[..ANSWER_BYTES_MAX]).unwrap_err();
        assert_eq!(told, "no end of its answer within 65536 bytes");
        assert_eq!(
            judge(b"HTTP/1.1 101 Switching Protocols\r\n\r\n"),
            Err("it answered with status 101".to_owned())
        );
    }

    #[test]
    fn what_is_no_answer_is_told() {
        assert_eq!(judge(b""), Err("it closed the connection before its answer was whole".to_owned()));
        assert!(judge(b"SSH-2.0-x\r\n\r\n").is_err());
    }

    #[test]
    fn a_chunked_answer_is_read() {
        let answer = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
        let body = r#"{"partialSuccess":{"rejectedDataPoints":1}}"#;
        let answer = format!("{answer}{:x}\r\n{body}\r\n0\r\n\r\n", body.len());
        assert_eq!(
            judge(answer.as_bytes()),
            Err("it did not take all of them: it does not say why".to_owned())
        );
    }
}
