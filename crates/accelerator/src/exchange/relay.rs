//! Requests that bypass the cache, and responses for one client only.

use std::rc::Rc;

use cache_policy::{Invalidation, invalidation};
use http1::HeaderLines;
use units::wall;

use super::bypass::BypassReason;
use super::cache_request::CacheRequest;
use super::cache_status::CacheStatus;
use super::error_page::LocalError;
use super::handle::Exchange;
use super::lines::{self, is_without_body, push_length};
use super::response::{Response, ResponseBody};
use super::stream::BodyStream;
use super::upstream_request::{Purpose, upstream_request};
use crate::message::{ProxyReason, RequestBody, ResponsePath};
use crate::origin::UpstreamResponse;

impl Exchange {
    /// Forwards a request with its body, and returns the response to its client.
    pub(super) async fn relay<B: RequestBody>(
        self: &Rc<Self>,
        request: CacheRequest,
        body: B,
        bypass: BypassReason,
    ) -> Response {
        if request.is_loop(&self.settings.name) {
            return self.error(LocalError::new(508, ProxyReason::Loop), request.is_head());
        }
        let upstream = upstream_request(&request, &Purpose::Pass, &self.settings);
        let sent = self.origin.send(&upstream, body).await;
        match sent {
            Ok(response) => {
                self.invalidate(&request, &response);
                let cache_status = CacheStatus::forwarded(
                    bypass.why,
                    ResponsePath::Pass,
                    bypass.reason,
                    Some(response.waited),
                );
                self.unless_failed(self.relayed(&request, response, cache_status)).await
            }
            Err(failure) => self.error(LocalError::from(&failure), request.is_head()),
        }
    }

    /// Invalidates the stored responses that an unsafe request may have changed.
    fn invalidate(&self, request: &CacheRequest, response: &UpstreamResponse) {
        let changed = invalidation(&request.meta, &request.key, response.status, response.lines.iter());
        if let Invalidation::Keys(keys) = changed {
            let now = wall();
            for key in &keys {
                self.shared.store.invalidate(key.as_str(), now);
            }
        }
    }

    /// Makes the response that gives one client what the origin has sent.
    pub(super) fn relayed(
        &self,
        request: &CacheRequest,
        response: UpstreamResponse,
        cache_status: CacheStatus,
    ) -> Response {
        let status = response.status;
        let mut lines =
            lines::forwarded(&response.lines, response.version, response.times.received, &self.settings);
        if status != 304 {
            push_length(&mut lines, status, response.content_length);
        }
        cache_status.write(&mut lines, None, &request.key, &self.settings);
        let body = if status == 101 {
            tunnel(response, &mut lines)
        } else if request.is_head() || is_without_body(status) || response.body.is_ended() {
            ResponseBody::Empty
        } else {
            ResponseBody::Stream(BodyStream::of_origin(response.body))
        };
        Response { status, lines, body, handling: cache_status.handling(), memo: None }
    }
}

/// Turns a 101 into a tunnel, and adds `Upgrade`, which is otherwise not forwarded.
fn tunnel(response: UpstreamResponse, lines: &mut HeaderLines) -> ResponseBody {
    response
        .lines
        .iter()
        .filter(|(name, _)| name.eq_ignore_ascii_case(b"upgrade"))
        .for_each(|(name, value)| lines.push(name, value));
    match response.body.into_tunnel() {
        Some(origin) => ResponseBody::Tunnel(Box::new(origin)),
        None => ResponseBody::Empty,
    }
}
