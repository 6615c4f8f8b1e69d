//! HTTP/2: the same site, many streams per connection.
//!
//! | a stream is | when | then |
//! |---|---|---|
//! | accepted | its head has arrived | files and errors are handed over at once, as a whole |
//! | being generated | a page is asked for | a task generates it, piece by piece as the client's windows open |
//! | sent | everything is handed over | `h2` sends it as the windows allow |
//! | reset | the client resets it | the rest of the response is dropped |
//!
//! **Bounds.** Files are handed over by reference and take no memory until they are sent. At most
//! [`PIECE_BYTES`] of a page and [`HEAD_BYTES_MAX`] of a head are in memory, and a connection has at most
//! [`STREAMS_MAX`] streams. Request bodies are not read: their window never reopens. Floods of resets,
//! settings and pings end the connection by the limits of `h2`.

use std::future::poll_fn;
use std::rc::Rc;

use bytes::Bytes;
use h2::server::{Builder, SendResponse};
use h2::{Error, RecvStream};
use http::header::{CONTENT_LENGTH, IF_MODIFIED_SINCE, IF_NONE_MATCH};
use http::{HeaderMap, HeaderName, HeaderValue, Request, Response, StatusCode};
use http1::{HEAD_BYTES_MAX, RequestMethod};
use tokio::io::{AsyncRead, AsyncWrite};

use super::connection::{LETTERS_PER_TURN, LETTERS_PER_WORK};
use super::modified::is_current;
use super::server::SharedState;
use super::site::{Field, ReadyReply, Resource, SERVER};
use crate::gateway::GeneratedPage;

/// The most streams that a client may have open at a time, as with nginx and Apache (128 and 100).
const STREAMS_MAX: u32 = 100;

/// The most bytes of a page that wait to be sent.
const PIECE_BYTES: usize = LETTERS_PER_TURN;

/// The work of a request besides reading and writing.
const WORK_PER_REQUEST: u32 = 1;

/// Serves a connection until either side ends it.
pub(super) async fn serve_http2<S>(stream: S, shared: &Rc<SharedState>) -> Result<(), Error>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let mut connection = Builder::new()
        .max_concurrent_streams(STREAMS_MAX)
        .max_header_list_size(HEAD_BYTES_MAX as u32)
        .max_send_buffer_size(PIECE_BYTES)
        .handshake::<S, Bytes>(stream)
        .await?;
    while let Some(accepted) = connection.accept().await {
        let (request, respond) = accepted?;
        shared.count(|counts| counts.requests += 1);
        shared.spend(WORK_PER_REQUEST);
        // A stream that fails has been reset by the client, which does not affect the others.
        let _ = answer(&request, respond, shared);
    }
    Ok(())
}

fn answer(
    request: &Request<RecvStream>,
    mut respond: SendResponse<Bytes>,
    shared: &Rc<SharedState>,
) -> Result<(), Error> {
    let method = RequestMethod::from_name(request.method().as_str().as_bytes());
    let target = request.uri().path_and_query().map_or("", |target| target.as_str());
    match shared.site.find(method, target.as_bytes()) {
        Resource::File(_) if is_unmodified(request.headers()) => {
            send(&shared.site.not_modified, method, &mut respond)
        }
        Resource::File(reply) | Resource::Other(reply) => send(reply, method, &mut respond),
        Resource::Page(page) => {
            tokio::task::spawn_local(make(page, method, respond, Rc::clone(shared)));
            Ok(())
        }
    }
}

fn is_unmodified(headers: &HeaderMap) -> bool {
    let since = headers.get(IF_MODIFIED_SINCE).map(HeaderValue::as_bytes);
    since.is_some() && is_current(since, headers.contains_key(IF_NONE_MATCH))
}

fn send(reply: &ReadyReply, method: RequestMethod, respond: &mut SendResponse<Bytes>) -> Result<(), Error> {
    let head = head(reply.status, &reply.fields, reply.length());
    let is_head_only = method == RequestMethod::Head || reply.body.is_empty();
    let mut stream = respond.send_response(head, is_head_only)?;
    if is_head_only { Ok(()) } else { stream.send_data(reply.body.clone(), true) }
}

/// Generates a page and sends it, no faster than the client reads it.
async fn make(
    mut page: GeneratedPage,
    method: RequestMethod,
    mut respond: SendResponse<Bytes>,
    shared: Rc<SharedState>,
) -> Result<(), Error> {
    shared.lock.pause_task(page.pause).await;
    let head = head(page.status, page.fields(), Some(page.body.left() as u64));
    let is_head_only = method == RequestMethod::Head || page.body.left() == 0;
    let mut stream = respond.send_response(head, is_head_only)?;
    while !is_head_only && 0 < page.body.left() {
        stream.reserve_capacity(page.body.left().min(PIECE_BYTES));
        while stream.capacity() == 0 {
            match poll_fn(|context| stream.poll_capacity(context)).await {
                Some(room) => room?,
                None => return Ok(()),
            };
        }
        let mut piece = Vec::new();
        page.body.append(&mut piece, stream.capacity().min(PIECE_BYTES));
        shared.spend((piece.len() / LETTERS_PER_WORK) as u32);
        stream.send_data(piece.into(), page.body.left() == 0)?;
        tokio::task::yield_now().await;
    }
    Ok(())
}

fn head(status: u16, fields: &[Field], length: Option<u64>) -> Response<()> {
    let mut head = Response::new(());
    *head.status_mut() = StatusCode::from_u16(status).expect("the server's own statuses are valid");
    let headers = head.headers_mut();
    for (name, value) in [SERVER].iter().chain(fields) {
        let name = HeaderName::from_bytes(name.as_bytes()).expect("the server's own fields are valid");
        let value = HeaderValue::from_maybe_shared(Bytes::from_static(value));
        headers.append(name, value.expect("the server's own fields are valid"));
    }
    headers.extend(length.map(|length| (CONTENT_LENGTH, HeaderValue::from(length))));
    head
}
