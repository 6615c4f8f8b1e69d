//! Responses from the store.

use std::sync::Arc;

use cache_policy::{Ranges, RequestDirectives, ResponseContent, Reuse};
use cache_store::StoredResponse;
use units::WallTime;

use super::cache_request::CacheRequest;
use super::cache_status::CacheStatus;
use super::lines::{is_without_body, stored_head};
use super::memo::MemoKind;
use super::ranges::PartialResponse;
use super::response::{Response, ResponseBody};
use super::settings::ExchangeSettings;
use crate::message::HitPath;

/// A stored response that answers a request, as the policy has decided.
#[derive(Debug)]
pub(super) struct Hit {
    /// The stored response.
    pub object: Arc<StoredResponse>,
    /// Whether it is fresh.
    pub reuse: Reuse,
    /// The content that the client gets.
    pub content: ResponseContent,
    /// The tier in which it was found.
    pub path: HitPath,
}

impl Hit {
    /// Returns the cache status to report.
    pub(super) fn cache_status(&self) -> CacheStatus {
        match self.reuse {
            Reuse::Stale { why, .. } => CacheStatus::hit(HitPath::Stale, why.into(), self.object.origin_time),
            _ => CacheStatus::fresh(self.path, &self.object),
        }
    }

    /// Returns the kind of memo that the frontend may remember; `None` if it must not remember any.
    ///
    /// Only for fresh responses to requests without directives: otherwise the answer may depend on the time in more
    /// ways.
    pub(super) fn memo_kind(&self, request: &CacheRequest) -> Option<MemoKind> {
        let is_part =
            matches!(&self.content, ResponseContent::Response(ranges) if *ranges != Ranges::NotAsked);
        let is_plain = !is_part && request.meta.directives == RequestDirectives::default();
        (is_plain && matches!(self.reuse, Reuse::Fresh { .. })).then(|| kind_of(request, &self.content))
    }
}

/// Makes the response that gives a client its part of a stored response.
pub(super) fn serve(
    request: &CacheRequest,
    object: &Arc<StoredResponse>,
    content: &ResponseContent,
    cache_status: CacheStatus,
    now: WallTime,
    settings: &ExchangeSettings,
) -> Response {
    object.note_hit();
    let parts = PartialResponse { object, cache_status, now, settings };
    match content {
        ResponseContent::Response(Ranges::One(range)) => parts.single_range(*range),
        ResponseContent::Response(Ranges::Several(ranges)) => parts.multiple_ranges(ranges),
        ResponseContent::Response(Ranges::Refused(_)) => parts.not_satisfiable(),
        ResponseContent::Response(Ranges::NotAsked | Ranges::Ignored(_))
        | ResponseContent::NotModified(_) => {
            let kind = kind_of(request, content);
            let lines = stored_head(object, kind, now, &cache_status, settings);
            let status = if kind == MemoKind::NotModified { 304 } else { object.status() };
            Response {
                status,
                lines,
                body: body_of(object, kind),
                handling: cache_status.handling(),
                memo: None,
            }
        }
    }
}

fn kind_of(request: &CacheRequest, content: &ResponseContent) -> MemoKind {
    match content {
        ResponseContent::NotModified(_) => MemoKind::NotModified,
        ResponseContent::Response(_) if request.is_head() => MemoKind::HeadOnly,
        ResponseContent::Response(_) => MemoKind::Whole,
    }
}

fn body_of(object: &Arc<StoredResponse>, kind: MemoKind) -> ResponseBody {
    if kind != MemoKind::Whole || is_without_body(object.status()) {
        return ResponseBody::Empty;
    }
    ResponseBody::Pieces(vec![object.lend()])
}
