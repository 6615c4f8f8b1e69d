//! Why a request goes to the origin, and what for.

use std::sync::Arc;

use units::WallTime;

use super::ask::Ask;
use super::outgoing::Purpose;
use crate::policy::{
    Conditional, Failure, Forward, MissReason, Needs, OnFailure, Response, Settings, StaleReason, Stored,
    Variant, conditional, on_failure,
};
use crate::store::Object;

/// A request that the store does not answer.
#[derive(Debug)]
pub(super) struct Errand {
    /// The request.
    pub ask: Ask,
    /// Why it goes to the origin, as `Cache-Status` has it.
    pub why: Forward,
    /// The reason's name.
    pub reason: &'static str,
    /// What requests have in common that one response may serve: the values of the fields on which responses under the
    /// key depend, as far as that is known.
    pub variant: Variant,
    /// The stored responses that the origin may say are still good, or will do.
    pub against: Vec<Arc<Object>>,
    /// The stored response that suits the request but must be validated.
    pub stale: Option<Arc<Object>>,
    /// Whether what comes back may serve others that want the same: not if each wants to have asked the origin.
    pub is_shareable: bool,
}

impl Errand {
    /// A request that nothing stored suits; `found` is what there is under its key all the same.
    pub fn miss(ask: Ask, why: MissReason, mut found: Vec<Arc<Object>>, settings: &Settings) -> Errand {
        let known = found.first().map(|object| &object.stored.response.vary);
        let variant = known.and_then(|vary| Variant::of(vary, ask.lines(), &settings.codings));
        found.retain(|object| may_do_for_others(&object.stored.response));
        let (why, reason, variant) = (why.into(), why.name(), variant.unwrap_or_default());
        Errand { ask, why, reason, variant, against: found, stale: None, is_shareable: true }
    }

    /// A request that a stored response suits which must be validated.
    pub fn validation(ask: Ask, why: Needs, object: Arc<Object>) -> Errand {
        let (variant, against) = (object.stored.variant.clone(), vec![Arc::clone(&object)]);
        let is_shareable = matches!(why, Needs::Stale | Needs::Invalidated);
        let (why, reason) = (why.into(), why.name());
        Errand { ask, why, reason, variant, against, stale: Some(object), is_shareable }
    }

    /// A request of our own that brings a stale response up to date.
    pub fn refresh(ask: Ask, object: Arc<Object>) -> Errand {
        Errand { reason: "refresh", ..Errand::validation(ask.into_own(), Needs::Stale, object) }
    }

    /// Returns what the origin is asked: whether something stored is still good, else for the whole.
    ///
    /// Whether another variant will do is asked by tags alone: two variants may have changed at the same time.
    pub fn filling(&self) -> Purpose {
        let conditional = conditional(&self.stored());
        let if_modified_since = conditional.if_modified_since.filter(|_| self.stale.is_some());
        Purpose::Fill(Conditional { if_modified_since, ..conditional })
    }

    /// Returns what the origin is asked when it gave no use to the question whether something stored is still good.
    pub fn filling_anew() -> Purpose {
        Purpose::Fill(Conditional::default())
    }

    /// Returns what policy keeps of the stored responses.
    pub fn stored(&self) -> Vec<&Stored> {
        self.against.iter().map(|object| &object.stored).collect()
    }

    /// Returns the stored response that may stand in when the origin fails, and why it may.
    pub fn stand_in(
        &self,
        failure: Failure,
        now: WallTime,
        settings: &Settings,
    ) -> Option<(&Arc<Object>, StaleReason)> {
        let object = self.stale.as_ref()?;
        match on_failure(&object.stored, &self.ask.request, failure, now, settings) {
            OnFailure::Stale { why, .. } => Some((object, why)),
            OnFailure::PassOn(_) => None,
        }
    }
}

/// Tells whether the origin is asked if a response will do for requests that differ in the fields it depends on.
///
/// Not if it depends on the codings that clients take: servers that compress as they send know the plain bytes by their
/// tag, say that these will do, and then nobody would get them compressed any more.
fn may_do_for_others(response: &Response) -> bool {
    response.etag.is_some() && !response.vary.fields().iter().any(|name| name == "accept-encoding")
}
