//! What an operator may set about the exchange.

use units::Nanos;

use crate::policy;
use crate::store::Pattern;

/// The settings of an exchange; a plain value, replaced as a whole on reload.
#[derive(Debug, Clone, PartialEq)]
pub struct ExchangeSettings {
    /// What may be stored and reused.
    pub policy: policy::Settings,
    /// How this cache calls itself in `Via` and `Cache-Status`; a token.
    ///
    /// Caches in a row need different names: a request that names this one in its `Via` is taken for a loop.
    pub name: String,
    /// How much responses tell about their handling.
    pub cache_status: Detail,
    /// How long a request waits for the head of a response that another asks for; then it asks by itself.
    pub collapse_wait: Nanos,
    /// How the origin is told what the client asked for, and who it is.
    pub forwarded: Forwarded,
    /// Targets (path and query) that are passed on untouched by the cache.
    pub bypass: Vec<Pattern>,
    /// The host that is meant by HTTP/1.0 requests without one; without it they are refused.
    pub default_host: Option<String>,
}

/// How much responses tell by `Cache-Status` (RFC 9211).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    /// Nothing.
    Off,
    /// Hit or not, and why; time to live.
    On,
    /// Key and the name of the reason as well: for those who look for a fault.
    Detailed,
}

/// The fields by which the origin is told about the client's side.
///
/// The client's address goes only with requests whose response nobody else gets: it is no part of the key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Forwarded {
    /// None.
    Off,
    /// `X-Forwarded-Proto`, `X-Forwarded-Host`, `X-Forwarded-For`.
    Separate,
    /// `Forwarded` (RFC 7239).
    Standard,
}

impl Default for ExchangeSettings {
    fn default() -> ExchangeSettings {
        ExchangeSettings {
            policy: policy::Settings::default(),
            name: "plimsoll".to_owned(),
            cache_status: Detail::On,
            collapse_wait: Nanos::from_secs(10),
            forwarded: Forwarded::Separate,
            bypass: Vec::new(),
            default_host: None,
        }
    }
}
