//! The settings of the exchange.

use cache_store::Pattern;
use units::Nanos;

/// The settings of an exchange; a plain value, replaced as a whole on reload.
#[derive(Debug, Clone, PartialEq)]
pub struct ExchangeSettings {
    /// The settings of the cache policy.
    pub policy: cache_policy::Settings,
    /// The name of this cache in `Via` and `Cache-Status`; a token.
    ///
    /// Caches in a chain need different names: a request whose `Via` has this name is considered a loop.
    pub name: String,
    /// The amount of detail in `Cache-Status`.
    pub cache_status: CacheStatusDetail,
    /// The longest time that a collapsed request waits for the head of the response; then it is fetched uncollapsed.
    pub collapse_wait: Nanos,
    /// The fields that tell the origin about the client's side.
    pub forwarded: ForwardedFields,
    /// The targets (path and query) that bypass the cache.
    pub bypass: Vec<Pattern>,
    /// The host of HTTP/1.0 requests without one; `None` refuses them.
    pub default_host: Option<String>,
}

/// The amount of detail in `Cache-Status` (RFC 9211).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CacheStatusDetail {
    /// No `Cache-Status`.
    Off,
    /// Hit or not, and the reason; time to live.
    On,
    /// The key and the name of the reason as well: for debugging.
    Detailed,
}

/// The fields that tell the origin about the client's side.
///
/// The client's address is forwarded only with requests whose response is not shared: it is not part of the key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ForwardedFields {
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
            policy: cache_policy::Settings::default(),
            name: "plimsoll".to_owned(),
            cache_status: CacheStatusDetail::On,
            collapse_wait: Nanos::from_secs(10),
            forwarded: ForwardedFields::Separate,
            bypass: Vec::new(),
            default_host: None,
        }
    }
}
