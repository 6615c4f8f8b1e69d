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
//! - `http`: reading requests, sending answers
//! - `commands`: bodies of commands
//! - `page`: the page

mod commands;
mod guard;
mod http;
mod page;

use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use http1::RequestMethod;
use serde_json::json;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::task::spawn_local;
use tokio::time::{sleep, timeout};
use units::wall;

use self::http::{AdminRequest, AdminResponse};
use super::components::{ActiveConfig, Components};
use super::metrics;
use crate::store::Removal;

/// The most requests that are answered at a time; others wait in the backlog of the listener.
const CONNECTIONS_MAX: usize = 16;

/// The longest time for a request to arrive, and for its response to be taken.
const TIME_MAX: Duration = Duration::from_secs(10);

/// The pause after the system could not accept a connection.
const PAUSE: Duration = Duration::from_millis(200);

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
    let places = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    loop {
        let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
        let Ok((stream, _)) = listener.accept().await else {
            // The process may have run out of descriptors.
            sleep(PAUSE).await;
            continue;
        };
        let (components, current) = (Arc::clone(&components), Arc::clone(&current));
        spawn_local(async move {
            serve_connection(stream, &components, &current).await;
            drop(place);
        });
    }
}

/// Reads one request and answers it; a client that is too slow or hangs up gets no response.
async fn serve_connection<S: AsyncRead + AsyncWrite + Unpin>(
    mut stream: S,
    components: &Components,
    current: &ActiveConfig,
) {
    let (response, method) = match timeout(TIME_MAX, http::read(&mut stream)).await {
        // A command may take as long as it needs.
        Ok(Ok(request)) => (answer(&request, components, current).await, request.method),
        Ok(Err(Some(response))) => (response, RequestMethod::Get),
        Ok(Err(None)) | Err(_) => return,
    };
    let _ = timeout(TIME_MAX, http::send(&mut stream, &response, method)).await;
}

async fn answer(request: &AdminRequest, components: &Components, current: &ActiveConfig) -> AdminResponse {
    use RequestMethod::{Get, Head, Post};
    let is_read_only = matches!(request.method, Get | Head);
    let Some((_, methods)) = PATHS.iter().find(|(path, _)| *path == request.path) else {
        return AdminResponse::refused(404, "there is no such page\nhint: go to `/`");
    };
    if is_read_only && request.path == "/healthz" {
        return AdminResponse::text("text/plain", "ok\n".to_owned());
    }
    if let Err(refusal) = authorize(request, current, is_read_only) {
        return refusal;
    }
    match (request.path.as_str(), request.method) {
        ("/", Get | Head) => {
            AdminResponse::text("text/html; charset=utf-8", page::page(&components.status(HOTTEST)))
        }
        ("/status.json", Get | Head) => AdminResponse::json(200, &components.status(HOTTEST).json()),
        ("/metrics", Get | Head) => {
            AdminResponse::text(metrics::CONTENT_TYPE, metrics::text(&components.status(0)))
        }
        ("/purge", Post) => purge(&request.body, components, current),
        ("/prefill", Post) => prefill(&request.body, components, current).await,
        _ => AdminResponse {
            allow: Some(methods),
            ..AdminResponse::refused(405, &format!("this path accepts {methods}"))
        },
    }
}

/// Authorizes a request to read, or to command.
///
/// # Errors
/// The response to send instead.
fn authorize(
    request: &AdminRequest,
    current: &ActiveConfig,
    is_read_only: bool,
) -> Result<(), AdminResponse> {
    let Some(admin) = &current.settings.admin else {
        return Err(AdminResponse::refused(404, "the admin page is off"));
    };
    let shown = request.authorization.as_deref().and_then(shown_token);
    // Hashes are compared, in constant time: the duration says nothing about the token.
    let is_token =
        |token: &String| shown.is_some_and(|shown| blake3::hash(shown) == blake3::hash(token.as_bytes()));
    if admin.token.as_ref().is_some_and(is_token) {
        return Ok(());
    }
    guard::check(request, admin)?;
    match admin.token {
        None if !is_read_only => Err(AdminResponse::refused(
            403,
            "commands need a token, and none is configured\nhint: set `token-file` in `[admin]`",
        )),
        Some(_) if !is_read_only || !admin.listen.ip().is_loopback() => {
            Err(AdminResponse::refused(401, "expected the token as `Authorization: Bearer TOKEN`"))
        }
        _ => Ok(()),
    }
}

/// Returns the token of `Bearer TOKEN`; the scheme's name is case-insensitive (RFC 9110 §11.1).
fn shown_token(value: &[u8]) -> Option<&[u8]> {
    let (scheme, token) = value.split_at_checked("Bearer ".len())?;
    scheme.eq_ignore_ascii_case(b"Bearer ").then(|| token.trim_ascii())
}

fn purge(body: &[u8], components: &Components, current: &ActiveConfig) -> AdminResponse {
    match commands::purge(body, current.exchange.policy.dot_segments) {
        Ok((what, is_soft)) => {
            let how = if is_soft { Removal::Expire } else { Removal::Delete };
            let purged = components.shared.store.purge(&what, how, wall());
            AdminResponse::json(200, &json!({ "purged": purged }))
        }
        Err(why) => AdminResponse::refused(400, &why),
    }
}

async fn prefill(body: &[u8], components: &Components, current: &ActiveConfig) -> AdminResponse {
    let urls = match commands::prefill(body) {
        Ok(urls) => urls,
        Err(why) => return AdminResponse::refused(400, &why),
    };
    let done = components.exchange(current).prefill(&urls).await;
    let failed: Vec<_> = done.failed.iter().map(|(url, why)| json!({ "url": url, "reason": why })).collect();
    AdminResponse::json(200, &json!({ "stored": done.stored, "passed": done.passed, "failed": failed }))
}
