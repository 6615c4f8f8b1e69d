//! The operator's page: figures for people, programs and Prometheus, and orders from those who know the token.
//!
//! | path | method | what |
//! |---|---|---|
//! | `/` | GET | the page |
//! | `/status.json` | GET | the same as JSON |
//! | `/metrics` | GET | for Prometheus |
//! | `/healthz` | GET | that it runs; needs no token |
//! | `/purge` | POST | removes what is stored |
//! | `/prefill` | POST | fetches URLs, so that they are stored |
//!
//! Whoever gets a browser to load a page of theirs can have it ask here too. So a request is answered only if it names
//! this page as its host (a name of theirs that leads here does not), and if no page of theirs made it: see `guard`.
//!
//! - `guard`: who may ask
//! - `http`: reading requests, sending answers
//! - `orders`: what the bodies of orders say
//! - `page`: the page

mod guard;
mod http;
mod orders;
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

use self::http::{Answer, Asked};
use super::metrics;
use super::parts::{Current, Parts};
use crate::store::Removal;

/// How many requests are answered at a time; others wait in the queue of the listener.
const CONNECTIONS_MAX: usize = 16;

/// The longest that a request may take to come, and an answer to be taken.
const TIME_MAX: Duration = Duration::from_secs(10);

/// How long nothing is accepted after the system could not.
const PAUSE: Duration = Duration::from_millis(200);

/// What there is, and the methods by which it is asked for.
const PATHS: [(&str, &str); 6] = [
    ("/", "GET, HEAD"),
    ("/status.json", "GET, HEAD"),
    ("/metrics", "GET, HEAD"),
    ("/healthz", "GET, HEAD"),
    ("/purge", "POST"),
    ("/prefill", "POST"),
];

/// How many of the objects that are used most are shown.
const HOTTEST: usize = 20;

/// Where the operator's page is, and who may change something.
#[derive(Clone, PartialEq, Eq)]
pub struct AdminSettings {
    /// The address.
    pub listen: SocketAddr,
    /// What orders must show as `Authorization: Bearer …`; nobody may give any if `None`.
    pub token: Option<String>,
    /// The names that requests may give the page besides its address and, on loopback, `localhost`.
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

/// Answers at a listener until it is dropped.
pub(super) async fn serve(listener: Rc<TcpListener>, parts: Arc<Parts>, current: Arc<Current>) {
    let places = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    loop {
        let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
        let Ok((stream, _)) = listener.accept().await else {
            // No descriptor is left, perhaps.
            sleep(PAUSE).await;
            continue;
        };
        let (parts, current) = (Arc::clone(&parts), Arc::clone(&current));
        spawn_local(async move {
            converse(stream, &parts, &current).await;
            drop(place);
        });
    }
}

/// Reads one request and answers it; who is too slow or hangs up gets no answer.
async fn converse<S: AsyncRead + AsyncWrite + Unpin>(mut stream: S, parts: &Parts, current: &Current) {
    let (answer, method) = match timeout(TIME_MAX, http::read(&mut stream)).await {
        // An order may take as long as it takes.
        Ok(Ok(asked)) => (answer(&asked, parts, current).await, asked.method),
        Ok(Err(Some(answer))) => (answer, RequestMethod::Get),
        Ok(Err(None)) | Err(_) => return,
    };
    let _ = timeout(TIME_MAX, http::send(&mut stream, &answer, method)).await;
}

async fn answer(asked: &Asked, parts: &Parts, current: &Current) -> Answer {
    use RequestMethod::{Get, Head, Post};
    let is_looking = matches!(asked.method, Get | Head);
    let Some((_, methods)) = PATHS.iter().find(|(path, _)| *path == asked.path) else {
        return Answer::refused(404, "there is nothing here\nhint: look at `/`");
    };
    if is_looking && asked.path == "/healthz" {
        return Answer::text("text/plain", "ok\n".to_owned());
    }
    if let Err(refusal) = admit(asked, current, is_looking) {
        return refusal;
    }
    match (asked.path.as_str(), asked.method) {
        ("/", Get | Head) => Answer::text("text/html; charset=utf-8", page::page(&parts.status(HOTTEST))),
        ("/status.json", Get | Head) => Answer::json(200, &parts.status(HOTTEST).json()),
        ("/metrics", Get | Head) => Answer::text(metrics::CONTENT_TYPE, metrics::text(&parts.status(0))),
        ("/purge", Post) => purge(&asked.body, parts, current),
        ("/prefill", Post) => prefill(&asked.body, parts, current).await,
        _ => Answer { allow: Some(methods), ..Answer::refused(405, &format!("this path takes {methods}")) },
    }
}

/// Lets in who may look, or order. Errors: what others get.
fn admit(asked: &Asked, current: &Current, is_looking: bool) -> Result<(), Answer> {
    let Some(admin) = &current.settings.admin else { return Err(Answer::refused(404, "there is no page")) };
    let shown = asked.authorization.as_deref().and_then(shown_token);
    // Hashes are compared, in constant time: how long it takes says nothing about the token.
    let is_token =
        |token: &String| shown.is_some_and(|shown| blake3::hash(shown) == blake3::hash(token.as_bytes()));
    if admin.token.as_ref().is_some_and(is_token) {
        return Ok(());
    }
    guard::check(asked, admin)?;
    match admin.token {
        None if !is_looking => Err(Answer::refused(
            403,
            "nothing can be changed without a token\nhint: name a `token-file` in `[admin]`",
        )),
        Some(_) if !is_looking || !admin.listen.ip().is_loopback() => {
            Err(Answer::refused(401, "expected the token as `Authorization: Bearer TOKEN`"))
        }
        _ => Ok(()),
    }
}

/// Returns the token of `Bearer TOKEN`; the name of the scheme is of any case (RFC 9110 §11.1).
fn shown_token(value: &[u8]) -> Option<&[u8]> {
    let (scheme, token) = value.split_at_checked("Bearer ".len())?;
    scheme.eq_ignore_ascii_case(b"Bearer ").then(|| token.trim_ascii())
}

fn purge(body: &[u8], parts: &Parts, current: &Current) -> Answer {
    match orders::purge(body, current.exchange.policy.dot_segments) {
        Ok((what, is_soft)) => {
            let how = if is_soft { Removal::Expire } else { Removal::Delete };
            let purged = parts.shared.store.purge(&what, how, wall());
            Answer::json(200, &json!({ "purged": purged }))
        }
        Err(why) => Answer::refused(400, &why),
    }
}

async fn prefill(body: &[u8], parts: &Parts, current: &Current) -> Answer {
    let urls = match orders::prefill(body) {
        Ok(urls) => urls,
        Err(why) => return Answer::refused(400, &why),
    };
    let done = parts.exchange(current).prefill(&urls).await;
    let failed: Vec<_> = done.failed.iter().map(|(url, why)| json!({ "url": url, "reason": why })).collect();
    Answer::json(200, &json!({ "stored": done.stored, "passed": done.passed, "failed": failed }))
}
