//! The push to a collector: every ten seconds, and once more at the end.

use std::sync::Arc;
use std::time::Duration;

use http1::{BodyReader, Parsed, RequestMethod, ResponseHead, parse_response};
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::time::timeout;
use units::wall;

use crate::endpoint::Endpoint;
use crate::otlp::request;
use crate::totals::Snapshot;

/// How often metrics are pushed.
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

/// Pushes once. Errors: what went wrong, a clause.
async fn push(endpoint: &Endpoint, snapshot: &Snapshot) -> Result<(), String> {
    let body = request(snapshot, wall()).to_string();
    let request = endpoint.request(body.as_bytes()).map_err(|error| error.to_string())?;
    let exchange = timeout(TIME_MAX, exchange(endpoint, &request)).await;
    let answer = exchange.map_err(|_| format!("no answer within {} s", TIME_MAX.as_secs()))?;
    judge(&answer.map_err(|error| error.to_string())?)
}

/// Sends a request and returns the answer, as far as it came.
async fn exchange(endpoint: &Endpoint, request: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut stream = TcpStream::connect(endpoint.address()).await?;
    stream.write_all(request).await?;
    let mut answer = Vec::new();
    // Some keep a connection although they were asked to close it.
    while answer.len() < ANSWER_BYTES_MAX && !is_whole(&answer) && stream.read_buf(&mut answer).await? != 0 {}
    Ok(answer)
}

/// Says whether nothing more has to come.
fn is_whole(answer: &[u8]) -> bool {
    match parse_response(answer, RequestMethod::Post) {
        Ok(Parsed::Partial) => false,
        Ok(Parsed::Complete { head, length }) => body(head, &answer[length..]).1,
        Err(_) => true,
    }
}

/// Says whether a collector took everything.
fn judge(answer: &[u8]) -> Result<(), String> {
    let (head, length) = match parse_response(answer, RequestMethod::Post) {
        Ok(Parsed::Complete { head, length }) => (head, length),
        Ok(Parsed::Partial) => return Err("it closed the connection before its answer was whole".to_owned()),
        Err(error) => return Err(error.to_string()),
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
    is_some.then(|| partial["errorMessage"].as_str().unwrap_or("it does not say why").to_owned())
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
