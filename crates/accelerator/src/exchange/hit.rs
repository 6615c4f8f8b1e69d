//! Answers from the store.

use std::sync::Arc;

use units::WallTime;

use super::ask::Ask;
use super::lines::{is_without_body, stored_head};
use super::memo::MemoKind;
use super::ranges::Parts;
use super::settings::ExchangeSettings;
use super::told::Told;
use crate::message::{HitPath, Reply, ReplyBody};
use crate::policy::{Content, Ranges, RequestDirectives, Reuse};
use crate::store::Object;

/// A stored response that answers a request, as policy has decided.
#[derive(Debug)]
pub(super) struct Hit {
    /// The stored response.
    pub object: Arc<Object>,
    /// Whether it is fresh.
    pub how: Reuse,
    /// What the client gets of it.
    pub content: Content,
    /// Where it was found.
    pub path: HitPath,
}

impl Hit {
    /// Returns how it is told.
    pub fn told(&self) -> Told {
        match self.how {
            Reuse::Stale { why, .. } => Told::hit(HitPath::Stale, why.name(), self.object.origin_time),
            _ => Told::fresh(self.path, &self.object),
        }
    }

    /// Returns what a front may remember of it; `None` if it is not to remember it.
    ///
    /// Only what is fresh, and was asked for without any special wish: else the answer may depend on the time in more
    /// ways.
    pub fn memorable(&self, ask: &Ask) -> Option<MemoKind> {
        let is_part = matches!(&self.content, Content::Response(ranges) if *ranges != Ranges::NotAsked);
        let is_plain = !is_part && ask.request.directives == RequestDirectives::default();
        (is_plain && matches!(self.how, Reuse::Fresh { .. })).then(|| kind_of(ask, &self.content))
    }
}

/// Makes the reply that gives a client what it gets of a stored response.
pub(super) fn serve(
    ask: &Ask,
    object: &Arc<Object>,
    content: &Content,
    told: Told,
    now: WallTime,
    settings: &ExchangeSettings,
) -> Reply {
    object.note_hit();
    let parts = Parts { object, told, now, settings };
    match content {
        Content::Response(Ranges::One(range)) => parts.one(*range),
        Content::Response(Ranges::Several(ranges)) => parts.several(ranges),
        Content::Response(Ranges::Refused(_)) => parts.none(),
        Content::Response(Ranges::NotAsked | Ranges::Ignored(_)) | Content::NotModified(_) => {
            let kind = kind_of(ask, content);
            let lines = stored_head(object, kind, now, &told, settings);
            let status = if kind == MemoKind::NotModified { 304 } else { object.status() };
            Reply { status, lines, body: body_of(object, kind), handling: told.handling(), memo: None }
        }
    }
}

fn kind_of(ask: &Ask, content: &Content) -> MemoKind {
    match content {
        Content::NotModified(_) => MemoKind::NotModified,
        Content::Response(_) if ask.is_head() => MemoKind::HeadOnly,
        Content::Response(_) => MemoKind::Whole,
    }
}

fn body_of(object: &Object, kind: MemoKind) -> ReplyBody {
    if kind != MemoKind::Whole || is_without_body(object.status()) {
        return ReplyBody::Empty;
    }
    ReplyBody::Pieces(vec![object.body.clone()])
}
