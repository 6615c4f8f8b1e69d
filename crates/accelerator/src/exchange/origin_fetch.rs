//! A fetch from the origin, and its reasons.

use std::sync::Arc;

use cache_policy::{
    FailureDecision, FetchFailure, Forward, MissReason, ResponseMeta, Settings, StaleReason, StoredMeta,
    ValidationConditions, ValidationReason, Variant, conditional, on_failure,
};
use cache_store::StoredResponse;
use units::WallTime;

use super::cache_request::CacheRequest;
use super::upstream_request::Purpose;
use crate::message::{HandlingReason, ProxyReason};

/// A request that the store cannot answer.
#[derive(Debug)]
pub(super) struct OriginFetch {
    /// The client's request.
    pub request: CacheRequest,
    /// The reason for forwarding, as `Cache-Status` reports it.
    pub why: Forward,
    /// The reason, for logs and metrics.
    pub reason: HandlingReason,
    /// The variant by which requests are collapsed: the values of the fields on which responses under the key depend,
    /// as far as those are known.
    pub variant: Variant,
    /// The stored responses that the origin may validate or select.
    pub against: Vec<Arc<StoredResponse>>,
    /// The stored response that matches the request but must be validated.
    pub stale: Option<Arc<StoredResponse>>,
    /// Whether the response may serve collapsed requests: not if each of them has to be validated by itself.
    pub is_shareable: bool,
}

impl OriginFetch {
    /// Makes a fetch for a request without a matching response; `found` is what is stored under its key all the same.
    pub(super) fn miss(
        request: CacheRequest,
        why: MissReason,
        mut found: Vec<Arc<StoredResponse>>,
        settings: &Settings,
    ) -> OriginFetch {
        let known = found.first().map(|object| &object.stored.response.vary);
        let variant = known.and_then(|vary| Variant::of(vary, request.lines(), &settings.codings));
        found.retain(|object| may_serve_other_variants(&object.stored.response));
        let (why, reason, variant) = (why.into(), why.into(), variant.unwrap_or_default());
        OriginFetch { request, why, reason, variant, against: found, stale: None, is_shareable: true }
    }

    /// Makes a fetch for a request whose matching response must be validated.
    pub(super) fn validation(
        request: CacheRequest,
        why: ValidationReason,
        object: Arc<StoredResponse>,
    ) -> OriginFetch {
        let variant = object.stored.variant.clone();
        let against = vec![Arc::clone(&object)];
        let is_shareable = matches!(why, ValidationReason::Stale | ValidationReason::Invalidated);
        let (why, reason) = (why.into(), why.into());
        OriginFetch { request, why, reason, variant, against, stale: Some(object), is_shareable }
    }

    /// Makes a background fetch that refreshes a stale response.
    pub(super) fn refresh(request: CacheRequest, object: Arc<StoredResponse>) -> OriginFetch {
        OriginFetch {
            reason: ProxyReason::Refresh.into(),
            ..OriginFetch::validation(request.into_background_get(), ValidationReason::Stale, object)
        }
    }

    /// Returns the purpose of the first request to the origin: to validate what is stored, else to get the whole
    /// response.
    ///
    /// Other variants are validated by entity tag alone: two variants may have changed at the same time.
    pub(super) fn fill_purpose(&self) -> Purpose {
        let conditional = conditional(&self.stored());
        let if_modified_since = conditional.if_modified_since.filter(|_| self.stale.is_some());
        Purpose::Fill(ValidationConditions { if_modified_since, ..conditional })
    }

    /// Returns the purpose of a repeated request, after a validation that led to nothing.
    pub(super) fn fill_unconditionally() -> Purpose {
        Purpose::Fill(ValidationConditions::default())
    }

    /// Returns the metadata of the stored responses.
    pub(super) fn stored(&self) -> Vec<&StoredMeta> {
        self.against.iter().map(|object| &object.stored).collect()
    }

    /// Returns the stored response that may be served when the origin fails, with the reason.
    pub(super) fn stale_substitute(
        &self,
        failure: FetchFailure,
        now: WallTime,
        settings: &Settings,
    ) -> Option<(&Arc<StoredResponse>, StaleReason)> {
        let object = self.stale.as_ref()?;
        match on_failure(&object.stored, &self.request.meta, failure, now, settings) {
            FailureDecision::Stale { why, .. } => Some((object, why)),
            FailureDecision::PassOn(_) => None,
        }
    }
}

/// Returns whether the origin is asked if a response also serves requests with other values in its `Vary` fields.
///
/// Not if it varies by content coding: servers that compress on the fly give the identity response the tag, confirm
/// it for every client, and nobody would get a compressed response any more.
fn may_serve_other_variants(meta: &ResponseMeta) -> bool {
    meta.etag.is_some() && !meta.vary.fields().iter().any(|name| name == "accept-encoding")
}
