//! Reasons for which requests bypass the cache.

use cache_policy::{Forward, PassReason};

use crate::message::{HandlingReason, ProxyReason};

/// The reason for which a request bypasses the cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct BypassReason {
    pub why: Forward,
    pub reason: HandlingReason,
}

impl BypassReason {
    /// The operator's `bypass` names the target.
    pub(super) const OPERATOR: BypassReason =
        BypassReason { why: Forward::Bypass, reason: HandlingReason::Proxy(ProxyReason::Bypass) };
}

impl From<PassReason> for BypassReason {
    fn from(reason: PassReason) -> BypassReason {
        let why = if reason == PassReason::Method { Forward::Method } else { Forward::Bypass };
        BypassReason { why, reason: reason.into() }
    }
}
