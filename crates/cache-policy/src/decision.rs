//! The decision about a request (RFC 9111 §4).

use units::WallTime;

use crate::message::FieldLines;
use crate::precondition::{Condition, Precondition, precondition};
use crate::range::{Ranges, ranges};
use crate::request_meta::RequestMeta;
use crate::reuse::{ReuseDecision, ValidationReason, reuse};
use crate::select::{Selection, select};
use crate::settings::Settings;
use crate::stored_meta::StoredMeta;

reasons! {
    /// The reason for which a request bypasses the cache: it is forwarded unchanged, and its response not stored.
    PassReason {
        /// The method is neither GET nor HEAD.
        Method = "method", "RFC 9111 §4";
        /// The request has a body.
        RequestBody = "request-body", "RFC 9110 §9.3.1";
        /// The request asks for a protocol upgrade.
        Upgrade = "upgrade", "RFC 9110 §7.8";
        /// The request has a condition that only the origin can evaluate.
        OriginCondition = "origin-condition", "RFC 9111 §4.3.2";
    }
}

reasons! {
    /// The reason for which no stored response matches a request.
    MissReason {
        /// Nothing is stored under the key.
        UriMiss = "uri-miss", "RFC 9111 §4";
        /// The stored responses depend on fields in which the request differs.
        VaryMiss = "vary-miss", "RFC 9111 §4.1";
    }
}

/// The content that a client gets of a stored response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ResponseContent {
    /// The response with its status, whole or in ranges. HEAD gets the same head, and no body.
    Response(Ranges),
    /// 304, because the client has the response already.
    NotModified(Condition),
}

/// The decision about a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CacheDecision {
    /// Forward it unchanged; the response is not stored.
    Pass(PassReason),
    /// Forward it, and store the response if that is allowed.
    Miss(MissReason),
    /// Forward it with the validators of this stored response, see [`conditional`](crate::conditional()).
    Validate {
        /// The stored response, by its index among those under the key.
        index: usize,
        /// The reason why it cannot be used at once.
        why: ValidationReason,
    },
    /// Answer it from the store.
    Serve {
        /// The stored response, by its index among those under the key.
        index: usize,
        /// Fresh, or stale with the reason; never [`ReuseDecision::Validate`].
        how: ReuseDecision,
        /// The content that the client gets.
        content: ResponseContent,
    },
    /// 504: the client forbids a request to the origin, and no stored response will do (RFC 9111 §5.2.1.7).
    OnlyIfCached,
}

/// Decides about a request, given all responses that are stored under its key.
pub fn decide<'a, 's>(
    request: &RequestMeta,
    lines: impl FieldLines<'a>,
    stored: impl IntoIterator<Item = &'s StoredMeta>,
    now: WallTime,
    settings: &Settings,
) -> CacheDecision {
    if let Some(why) = pass_reason(request) {
        return CacheDecision::Pass(why);
    }
    let forwarded = |answer: CacheDecision| {
        let is_unwanted = settings.is_obeying_clients && request.directives.only_if_cached;
        if is_unwanted { CacheDecision::OnlyIfCached } else { answer }
    };
    let (index, found) = match select(stored, lines.clone(), settings) {
        Selection::Found(index, found) => (index, found),
        Selection::UriMiss => return forwarded(CacheDecision::Miss(MissReason::UriMiss)),
        Selection::VaryMiss => return forwarded(CacheDecision::Miss(MissReason::VaryMiss)),
    };
    match reuse(found, request, now, settings) {
        ReuseDecision::Validate { why, .. } => forwarded(CacheDecision::Validate { index, why }),
        how => CacheDecision::Serve { index, how, content: content(request, lines, found, settings) },
    }
}

fn pass_reason(request: &RequestMeta) -> Option<PassReason> {
    let reasons = [
        (!request.is_retrieval(), PassReason::Method),
        (request.has_body, PassReason::RequestBody),
        (request.has_upgrade, PassReason::Upgrade),
        (request.has_origin_condition, PassReason::OriginCondition),
    ];
    reasons.iter().find(|(applies, _)| *applies).map(|(_, why)| *why)
}

/// Decides which content of a usable stored response the client gets: conditions first, then ranges (RFC 9110
/// §13.2.2).
pub fn content<'a>(
    request: &RequestMeta,
    lines: impl FieldLines<'a>,
    stored: &StoredMeta,
    settings: &Settings,
) -> ResponseContent {
    match precondition(request, lines.clone(), stored) {
        Precondition::NotModified(condition) => ResponseContent::NotModified(condition),
        Precondition::Absent | Precondition::Modified(_) => {
            ResponseContent::Response(ranges(request, lines, stored, settings))
        }
    }
}
