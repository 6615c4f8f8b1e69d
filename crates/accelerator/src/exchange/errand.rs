//! Why a request goes to the origin, and what for.

use std::sync::Arc;

use super::ask::Ask;
use super::outgoing::Purpose;
use crate::policy::{
    Conditional, Failure, Forward, MissReason, Needs, OnFailure, Settings, StaleReason, Stored, Variant,
    conditional, on_failure,
};
use crate::store::Object;
use units::WallTime;

/// A request that the store does not answer.
#[derive(Debug)]
pub(super) struct Errand {
    /// The request.
    pub ask: Ask,
    /// Why it goes to the origin, as `Cache-Status` has it.
    pub why: Forward,
    /// The reason's name.
    pub reason: &'static str,
    /// The stored responses that the origin may say are still good.
    pub against: Vec<Arc<Object>>,
    /// The stored response that suits the request but must be validated.
    pub stale: Option<Arc<Object>>,
    /// Whether what comes back may serve others that want the same: not if each wants to have asked the origin.
    pub is_shareable: bool,
}

impl Errand {
    /// A request that nothing stored suits; `found` is what there is under its key all the same.
    pub fn miss(ask: Ask, why: MissReason, found: Vec<Arc<Object>>) -> Errand {
        Errand { ask, why: why.into(), reason: why.name(), against: found, stale: None, is_shareable: true }
    }

    /// A request that a stored response suits which must be validated.
    pub fn validation(ask: Ask, why: Needs, object: Arc<Object>) -> Errand {
        let against = vec![Arc::clone(&object)];
        let is_shareable = matches!(why, Needs::Stale | Needs::Invalidated);
        Errand { ask, why: why.into(), reason: why.name(), against, stale: Some(object), is_shareable }
    }

    /// A request of our own that brings a stale response up to date.
    pub fn refresh(ask: Ask, object: Arc<Object>) -> Errand {
        Errand { reason: "refresh", ..Errand::validation(ask.into_own(), Needs::Stale, object) }
    }

    /// Returns what the origin is asked: whether something stored is still good, else for the whole.
    pub fn filling(&self) -> Purpose {
        Purpose::Fill(conditional(&self.stored()))
    }

    /// Returns what the origin is asked when it gave no use to the question whether something stored is still good.
    pub fn filling_anew() -> Purpose {
        Purpose::Fill(Conditional::default())
    }

    /// Returns what policy keeps of the stored responses.
    pub fn stored(&self) -> Vec<&Stored> {
        self.against.iter().map(|object| &object.stored).collect()
    }

    /// Returns what requests have in common that one response may serve: the values of the fields on which responses
    /// under the key depend, as far as that is known.
    pub fn variant(&self, settings: &Settings) -> Variant {
        let known = self.against.first().map(|object| &object.stored.response.vary);
        let variant = known.and_then(|vary| Variant::of(vary, self.ask.lines(), &settings.codings));
        variant.unwrap_or_default()
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
