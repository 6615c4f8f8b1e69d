//! What becomes of a request: the one decision that is taken for each (RFC 9111 §4).

use units::WallTime;

use super::message::Lines;
use super::precondition::{Condition, Precondition, precondition};
use super::range::{Ranges, ranges};
use super::request::Request;
use super::reuse::{Needs, Reuse, reuse};
use super::select::{Selection, select};
use super::settings::Settings;
use super::stored::Stored;

reasons! {
    /// Why a request is none for the cache: it is forwarded as it is, and its response not stored.
    PassReason {
        /// The method is neither GET nor HEAD.
        Method = "method", "RFC 9111 §4";
        /// The request has a body.
        RequestBody = "request-body", "RFC 9110 §9.3.1";
        /// The request asks for another protocol.
        Upgrade = "upgrade", "RFC 9110 §7.8";
        /// The request has a condition that only the origin can judge.
        OriginCondition = "origin-condition", "RFC 9111 §4.3.2";
    }
}

reasons! {
    /// Why there is no stored response for a request.
    MissReason {
        /// Nothing is stored under the key.
        UriMiss = "uri-miss", "RFC 9111 §4";
        /// What is stored depends on fields in which the request differs.
        VaryMiss = "vary-miss", "RFC 9111 §4.1";
    }
}

/// What the client gets of a stored response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// The response with its status, whole or in parts. HEAD gets the same head, and no body.
    Response(Ranges),
    /// 304, because it has the response already.
    NotModified(Condition),
}

/// What becomes of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// Forwarded as it is; its response is not stored.
    Pass(PassReason),
    /// Forwarded, and the response stored if that is allowed.
    Miss(MissReason),
    /// Forwarded with the validators of this stored response, see [`conditional`](super::conditional()).
    Validate {
        /// The stored response, by its index among those under the key.
        index: usize,
        /// Why it cannot be used at once.
        why: Needs,
    },
    /// Answered from the store.
    Serve {
        /// The stored response, by its index among those under the key.
        index: usize,
        /// Fresh, or stale and why; never [`Reuse::Validate`].
        how: Reuse,
        /// What the client gets of it.
        content: Content,
    },
    /// 504: the client wants no request to the origin, and nothing stored will do (RFC 9111 §5.2.1.7).
    OnlyIfCached,
}

/// Decides what becomes of a request, given all responses that are stored under its key.
pub fn answer<'a>(
    request: &Request,
    lines: impl Lines<'a>,
    stored: &[&Stored],
    now: WallTime,
    settings: &Settings,
) -> Answer {
    if let Some(why) = pass_reason(request) {
        return Answer::Pass(why);
    }
    let forwarded = |answer: Answer| {
        let is_unwanted = settings.is_obeying_clients && request.directives.only_if_cached;
        if is_unwanted { Answer::OnlyIfCached } else { answer }
    };
    let index = match select(stored, lines.clone(), settings) {
        Selection::Found(index) => index,
        Selection::UriMiss => return forwarded(Answer::Miss(MissReason::UriMiss)),
        Selection::VaryMiss => return forwarded(Answer::Miss(MissReason::VaryMiss)),
    };
    let found = stored[index];
    match reuse(found, request, now, settings) {
        Reuse::Validate { why, .. } => forwarded(Answer::Validate { index, why }),
        how => Answer::Serve { index, how, content: content(request, lines, found, settings) },
    }
}

fn pass_reason(request: &Request) -> Option<PassReason> {
    let reasons = [
        (!request.is_retrieval(), PassReason::Method),
        (request.has_body, PassReason::RequestBody),
        (request.has_upgrade, PassReason::Upgrade),
        (request.has_origin_condition, PassReason::OriginCondition),
    ];
    reasons.iter().find(|(applies, _)| *applies).map(|(_, why)| *why)
}

/// Decides what the client gets of a stored response that may be used: conditions first, then parts (RFC 9110 §13.2.2).
pub fn content<'a>(
    request: &Request,
    lines: impl Lines<'a>,
    stored: &Stored,
    settings: &Settings,
) -> Content {
    match precondition(request, lines.clone(), stored) {
        Precondition::NotModified(condition) => Content::NotModified(condition),
        Precondition::Absent | Precondition::Modified(_) => {
            Content::Response(ranges(request, lines, stored, settings))
        }
    }
}
