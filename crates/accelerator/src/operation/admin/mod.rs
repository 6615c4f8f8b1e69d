//! The admin page: metrics for people, programs and Prometheus, and commands from operators with the token.
//!
//! | path | method | function |
//! |---|---|---|
//! | `/` | GET | the page |
//! | `/status.json` | GET | the same as JSON |
//! | `/metrics` | GET | the same for Prometheus |
//! | `/healthz` | GET | liveness; needs no token |
//! | `/purge` | POST | removes stored responses |
//! | `/prefill` | POST | fetches URLs into the store |
//!
//! A browser on the operator's machine may load any page, and that page may send requests here. So a request is
//! answered only if it names this page as its host (with DNS rebinding it names another one), and if no other site's
//! page made it: see `guard`.
//!
//! - `guard`: protection against other sites
//! - `response`: forms of responses
//! - `commands`: bodies of commands
//! - `page`: the page

mod commands;
mod guard;
mod page;
mod response;

use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use cache_store::Removal;
use http_lite::prometheus::CONTENT_TYPE;
use http_lite::{RequestRejection, ServerLimits, ServerRequest, ServerResponse};
use http1::RequestMethod;
use serde_json::json;
use tokio::net::TcpListener;
use units::wall;

use self::response::{json_response, refused, response};
use super::components::{ActiveConfig, Components};
use super::metrics;

/// Limits of requests. A body may have ten thousand URLs of a hundred bytes.
const LIMITS: ServerLimits = ServerLimits {
    connections_max: 16,
    head_bytes_max: 16 << 10,
    body_bytes_max: 1 << 20,
    time_max: Duration::from_secs(10),
};

/// The paths, and the allowed methods of each.
const PATHS: [(&str, &str); 6] = [
    ("/", "GET, HEAD"),
    ("/status.json", "GET, HEAD"),
    ("/metrics", "GET, HEAD"),
    ("/healthz", "GET, HEAD"),
    ("/purge", "POST"),
    ("/prefill", "POST"),
];

/// The number of most used objects that are shown.
const HOTTEST: usize = 20;

/// The settings of the admin page.
#[derive(Clone, PartialEq, Eq)]
pub struct AdminSettings {
    /// The address.
    pub listen: SocketAddr,
    /// The token that commands must show as `Authorization: Bearer …`; no commands are accepted if `None`.
    pub token: Option<String>,
    /// The names by which requests may call the page besides its address and, on loopback, `localhost`.
    pub hosts: Vec<String>,
}

impl std::fmt::Debug for AdminSettings {
    /// Leaves out the token.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let token = self.token.as_ref().map(|_| "…");
        let mut shown = f.debug_struct("AdminSettings");
        shown.field("listen", &self.listen).field("token", &token).field("hosts", &self.hosts).finish()
    }
}

/// Serves a listener until it is dropped.
pub(super) async fn serve(
    listener: Rc<TcpListener>,
    components: Arc<Components>,
    current: Arc<ActiveConfig>,
) {
    let respond = move |request| {
        let components = Arc::clone(&components);
        let current = Arc::clone(&current);
        async move {
            match request {
                Ok(request) => answer(&request, &components, &current).await,
                Err(rejection) => rejected(&rejection),
            }
        }
    };
    http_lite::serve(&listener, LIMITS, respond).await;
}

fn rejected(rejection: &RequestRejection) -> ServerResponse {
    let why = match rejection {
        RequestRejection::Malformed(why) => why,
        RequestRejection::HeadTooLong => "the head is too long",
        RequestRejection::BodyTooLong => "the body is longer than 1 MiB",
    };
    refused(rejection.status(), why)
}

async fn answer(request: &ServerRequest, components: &Components, current: &ActiveConfig) -> ServerResponse {
    use RequestMethod::{Get, Head, Post};
    let is_read_only = matches!(request.method, Get | Head);
    let Some((_, methods)) = PATHS.iter().find(|(path, _)| *path == request.path) else {
        return refused(404, "there is no such page\nhint: go to `/`");
    };
    if is_read_only && request.path == "/healthz" {
        return response(200, "text/plain", "ok\n".to_owned());
    }
    if let Err(refusal) = authorize(request, current, is_read_only) {
        return refusal;
    }
    match (request.path.as_str(), request.method) {
        ("/", Get | Head) => {
            response(200, "text/html; charset=utf-8", page::page(&components.status(HOTTEST)))
        }
        ("/status.json", Get | Head) => json_response(200, &components.status(HOTTEST).json()),
        ("/metrics", Get | Head) => response(200, CONTENT_TYPE, metrics::text(&components.status(0))),
        ("/purge", Post) => purge(&request.body, components, current),
        ("/prefill", Post) => prefill(&request.body, components, current).await,
        _ => refused(405, &format!("this path accepts {methods}")).with("Allow", methods),
    }
}

/// Authorizes a request to read, or to command.
///
/// # Errors
/// The response to send instead.
fn authorize(
    request: &ServerRequest,
    current: &ActiveConfig,
    is_read_only: bool,
) -> Result<(), ServerResponse> {
    let Some(admin) = &current.settings.admin else {
        return Err(refused(404, "the admin page is off"));
    };
    let shown = request.header("authorization").and_then(shown_token);
    // Hashes are compared, in constant time: the duration says nothing about the token.
    let is_token =
        |token: &String| shown.is_some_and(|shown| blake3::hash(shown) == blake3::hash(token.as_bytes()));
    if admin.token.as_ref().is_some_and(is_token) {
        return Ok(());
    }
    guard::check(request, admin)?;
    match admin.token {
        None if !is_read_only => Err(refused(
            403,
            "commands need a token, and none is configured\nhint: set `token-file` in `[admin]`",
        )),
        Some(_) if !is_read_only || !admin.listen.ip().is_loopback() => {
            Err(refused(401, "expected the token as `Authorization: Bearer TOKEN`"))
        }
        _ => Ok(()),
    }
}

/// Returns the token of `Bearer TOKEN`; the scheme's name is case-insensitive (RFC 9110 §11.1).
fn shown_token(value: &[u8]) -> Option<&[u8]> {
    let (scheme, token) = value.split_at_checked("Bearer ".len())?;
    scheme.eq_ignore_ascii_case(b"Bearer ").then(|| token.trim_ascii())
}

fn purge(body: &[u8], components: &Components, current: &ActiveConfig) -> ServerResponse {
    match commands::purge(body, current.exchange.policy.dot_segments) {
        Ok((what, is_soft)) => {
            let how = if is_soft { Removal::Expire } else { Removal::Delete };
            let purged = components.shared.store.purge(&what, how, wall());
            json_response(200, &json!({ "purged": purged }))
        }
        Err(error) => refused(400, &error.to_string()),
    }
}

async fn prefill(body: &[u8], components: &Components, current: &ActiveConfig) -> ServerResponse {
    let urls = match commands::prefill(body) {
        Ok(urls) => urls,
        Err(error) => return refused(400, &error.to_string()),
    };
    let done = components.exchange(current).prefill(&urls).await;
    let failed: Vec<_> =
        done.failed.iter().map(|(url, why)| json!({ "url": url, "reason": why.name() })).collect();
    json_response(200, &json!({ "stored": done.stored, "passed": done.passed, "failed": failed }))
}
