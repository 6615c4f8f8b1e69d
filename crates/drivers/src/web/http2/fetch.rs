//! Fetching a page over HTTP/2 without expectations.

use std::future::poll_fn;
use std::rc::Rc;

use http::header::CONTENT_ENCODING;
use http1::names_content_coding;
use model::WebRequest;

use super::driver::Http2Driver;
use super::failure::failure;
use crate::net::OperationFailure;
use crate::web::body_check::BodyDigest;
use crate::web::context::WebContext;
use crate::web::fetched_reply::FetchedReply;

/// Fetches the object of an operation; the context's protocol is HTTP/2.
pub(in crate::web) async fn fetch(
    web: &Rc<WebContext>,
    operation: &WebRequest,
) -> Result<FetchedReply, OperationFailure> {
    let response = Http2Driver::new(Rc::clone(web)).fetch(web, operation).await?;
    let headers = response.headers();
    let mut codings = headers.get_all(CONTENT_ENCODING).iter();
    let is_encoded = codings.any(|value| names_content_coding(value.as_bytes()));
    let field = |name| headers.get(name).map(|value| value.as_bytes().to_vec());
    let reply = FetchedReply::of_head(response.status().as_u16(), is_encoded, field);
    let mut body = response.into_body();
    let mut n_bytes = 0;
    let mut digest = BodyDigest::default();
    while !body.is_end_stream() {
        let Some(data) = poll_fn(|context| body.poll_data(context)).await else { break };
        let data = data.map_err(|error| failure(web, &error, n_bytes))?;
        digest.take(&data);
        n_bytes += data.len() as u64;
        // The stream may have ended; then no capacity need be released.
        let _ = body.flow_control().release_capacity(data.len());
    }
    Ok(reply.with_body(n_bytes, &digest))
}
