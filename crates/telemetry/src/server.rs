//! The endpoint that Prometheus scrapes: `GET /metrics`, and nothing else.

use std::sync::Arc;
use std::time::Duration;

use http_lite::prometheus::CONTENT_TYPE;
use http_lite::{RequestRejection, ServerLimits, ServerRequest, ServerResponse};
use http1::RequestMethod;
use tokio::net::TcpListener;
use tokio::sync::watch;

use crate::prometheus::text;
use crate::totals::Snapshot;

/// Limits of scrapes, which have no body.
const LIMITS: ServerLimits = ServerLimits {
    connections_max: 16,
    head_bytes_max: 8 * 1024,
    body_bytes_max: 8 * 1024,
    time_max: Duration::from_secs(5),
};

/// The path of the metrics.
const PATH: &str = "/metrics";

/// Serves scrapes until it is dropped. Must run on a `LocalSet`.
pub(crate) async fn serve(listener: TcpListener, snapshots: watch::Receiver<Arc<Snapshot>>) {
    let respond = move |request: Result<ServerRequest, RequestRejection>| {
        let response = match request {
            Ok(request) => respond(&request, &snapshots),
            Err(rejection @ RequestRejection::Malformed(_)) => {
                plain_text(rejection.status(), "not an HTTP/1 request\n")
            }
            Err(rejection) => plain_text(rejection.status(), "too long\n"),
        };
        std::future::ready(response)
    };
    http_lite::serve(&listener, LIMITS, respond).await;
}

fn respond(request: &ServerRequest, snapshots: &watch::Receiver<Arc<Snapshot>>) -> ServerResponse {
    match (request.path.as_str(), request.method) {
        (PATH, RequestMethod::Get | RequestMethod::Head) => {
            // Cloned at once, so that updates do not wait for the text.
            let snapshot = Arc::clone(&snapshots.borrow());
            ServerResponse::new(200, CONTENT_TYPE, text(&snapshot))
        }
        (PATH, _) => plain_text(405, "GET only\n").with("Allow", "GET, HEAD"),
        _ => plain_text(404, "metrics are at /metrics\n"),
    }
}

fn plain_text(status: u16, text: &str) -> ServerResponse {
    ServerResponse::new(status, "text/plain", text)
}
