//! Responses from the store.

use std::sync::Arc;

use cache_policy::{Ranges, RequestDirectives, ResponseContent, ReuseDecision};
use cache_store::{EpochSnapshot, StoredResponse};
use units::WallTime;

use super::cache_request::CacheRequest;
use super::cache_status::CacheStatus;
use super::lines::{is_without_body, stored_head};
use super::memo::{Memo, MemoKind};
use super::ranges::PartialResponse;
use super::response::{Response, ResponseBody};
use super::settings::ExchangeSettings;

/// A stored response that answers a request, as the policy has decided.
#[derive(Debug, Clone, Copy)]
pub(super) struct Hit<'a> {
    /// The request.
    pub request: &'a CacheRequest,
    /// The stored response.
    pub object: &'a Arc<StoredResponse>,
    /// The content that the client gets.
    pub content: &'a ResponseContent,
}

impl Hit<'_> {
    /// Makes the response that gives the client its part of the stored response.
    pub(super) fn serve(
        &self,
        cache_status: CacheStatus,
        now: WallTime,
        settings: &ExchangeSettings,
    ) -> Response {
        let object = self.object;
        object.note_hit();
        let parts = PartialResponse { object, cache_status, now, settings };
        match self.content {
            ResponseContent::Response(Ranges::One(range)) => parts.single_range(*range),
            ResponseContent::Response(Ranges::Several(ranges)) => parts.multiple_ranges(ranges),
            ResponseContent::Response(Ranges::Refused(_)) => parts.not_satisfiable(),
            ResponseContent::Response(Ranges::NotAsked | Ranges::Ignored(_))
            | ResponseContent::NotModified(_) => {
                let kind = self.kind();
                let lines = stored_head(object, kind, now, &cache_status, settings);
                let status = if kind == MemoKind::NotModified { 304 } else { object.status() };
                let handling = cache_status.handling();
                Response { status, lines, body: body_of(object, kind), handling, memo: None }
            }
        }
    }

    /// Makes the memo of the response, with which the frontend may repeat it; `None` if it must not.
    ///
    /// Only for fresh responses to requests without directives: otherwise the answer may depend on the time in more
    /// ways.
    pub(super) fn memo(&self, how: ReuseDecision, epoch: EpochSnapshot, now: WallTime) -> Option<Memo> {
        let is_part =
            matches!(self.content, ResponseContent::Response(ranges) if *ranges != Ranges::NotAsked);
        let is_plain = !is_part && self.request.meta.directives == RequestDirectives::default();
        (is_plain && matches!(how, ReuseDecision::Fresh { .. }))
            .then(|| Memo::new(self.object, epoch, now, self.kind()))
    }

    fn kind(&self) -> MemoKind {
        match self.content {
            ResponseContent::NotModified(_) => MemoKind::NotModified,
            ResponseContent::Response(_) if self.request.is_head() => MemoKind::HeadOnly,
            ResponseContent::Response(_) => MemoKind::Whole,
        }
    }
}

fn body_of(object: &Arc<StoredResponse>, kind: MemoKind) -> ResponseBody {
    if kind != MemoKind::Whole || is_without_body(object.status()) {
        return ResponseBody::Empty;
    }
    ResponseBody::Pieces(vec![object.lend()])
}
