//! The endpoint that Prometheus scrapes: `GET /metrics`, and nothing else.
//!
//! A connection carries one request. Everything that a client could make grow has a limit: concurrent connections
//! (others wait in the accept backlog), bytes of a head, time.

use std::sync::Arc;
use std::time::Duration;

use http1::{
    Framing, Http1Version, Parsed, RequestHead, RequestMethod, ResponseHead, parse_request,
    write_response_head,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio::time::{sleep, timeout};

use crate::prometheus::{CONTENT_TYPE, text};
use crate::totals::Snapshot;

/// The most scrapes that are answered at a time.
const CONNECTIONS_MAX: usize = 16;

/// The time limit of a scrape, from connection to last byte.
const TIME_MAX: Duration = Duration::from_secs(5);

/// The most bytes that a request may have.
const HEAD_BYTES_MAX: usize = 8 * 1024;

/// The pause after the system could not accept a connection.
const PAUSE: Duration = Duration::from_millis(200);

/// The path of the metrics.
const PATH: &str = "/metrics";

/// Serves scrapes until it is dropped.
pub(crate) async fn serve(listener: TcpListener, snapshots: watch::Receiver<Arc<Snapshot>>) {
    let permits = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    loop {
        let Ok(permit) = Arc::clone(&permits).acquire_owned().await else { return };
        let Ok((stream, _)) = listener.accept().await else {
            // Perhaps the process is out of descriptors; retrying at once would only take CPU time from the load.
            sleep(PAUSE).await;
            continue;
        };
        let snapshots = snapshots.clone();
        tokio::spawn(async move {
            // A client that hangs up or is too slow gets no response.
            let _ = timeout(TIME_MAX, serve_connection(stream, &snapshots)).await;
            drop(permit);
        });
    }
}

async fn serve_connection(
    mut stream: TcpStream,
    snapshots: &watch::Receiver<Arc<Snapshot>>,
) -> std::io::Result<()> {
    let mut received = Vec::new();
    let response = loop {
        match parse_request(&received) {
            Err(_) => break response(400, RequestMethod::Get, "text/plain", "not an HTTP/1 request\n"),
            Ok(Parsed::Complete { head, .. }) => break respond(&received, &head, snapshots),
            Ok(Parsed::Partial) if HEAD_BYTES_MAX <= received.len() => {
                break response(431, RequestMethod::Get, "text/plain", "too long\n");
            }
            Ok(Parsed::Partial) if stream.read_buf(&mut received).await? == 0 => return Ok(()),
            Ok(Parsed::Partial) => {}
        }
    };
    stream.write_all(&response).await?;
    stream.shutdown().await
}

fn respond(received: &[u8], head: &RequestHead, snapshots: &watch::Receiver<Arc<Snapshot>>) -> Vec<u8> {
    let target = String::from_utf8_lossy(&received[head.target.clone()]);
    let path = target.split('?').next().unwrap_or_default();
    match (path, head.method) {
        (PATH, RequestMethod::Get | RequestMethod::Head) => {
            // Cloned at once, so that updates do not wait for the text.
            let snapshot = Arc::clone(&snapshots.borrow());
            response(200, head.method, CONTENT_TYPE, &text(&snapshot))
        }
        (PATH, _) => response(405, head.method, "text/plain", "GET only\n"),
        _ => response(404, head.method, "text/plain", "metrics are at /metrics\n"),
    }
}

fn response(status: u16, method: RequestMethod, content_type: &str, body: &str) -> Vec<u8> {
    let framing = Framing::Length(body.len() as u64);
    let head = ResponseHead { status, version: Http1Version::Http11, framing, keep_alive: false };
    let mut out = Vec::new();
    let mut fields: Vec<(&str, &[u8])> = vec![("Content-Type", content_type.as_bytes())];
    if status == 405 {
        fields.push(("Allow", b"GET, HEAD"));
    }
    write_response_head(&mut out, &head, &fields).expect("our own head is valid");
    if method != RequestMethod::Head {
        out.extend_from_slice(body.as_bytes());
    }
    out
}
