//! The section `[cache]`: storing and reuse.

use std::borrow::Cow;
use std::collections::BTreeMap;

use cache_policy::{DotSegments, Heuristic, SetCookie, Settings, StaleSettings};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use units::{Nanos, Ratio};

use super::quantity::Time;
use super::time;
use crate::exchange::CacheStatusDetail;

/// Storing and reuse of responses.
///
/// The defaults follow RFC 9111; the only heuristic is a lifetime where nothing but the time of the last change is
/// given.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default, rename_all = "kebab-case", deny_unknown_fields)]
pub struct CacheSection {
    /// Paths, with their queries, that bypass the cache; `*` matches any text.
    pub bypass: Vec<String>,
    /// The lifetime of a response that sets none; by default it is validated before each use, or not stored if it
    /// cannot be validated.
    pub default_lifetime: Option<Time>,
    /// The minimum lifetime of a response that has one; does not apply to `no-cache` or `must-revalidate`.
    pub lifetime_min: Option<Time>,
    /// The maximum lifetime.
    pub lifetime_max: Option<Time>,
    /// The lifetimes of responses with these statuses that set none: `404 = "10 s"`.
    pub statuses: BTreeMap<StatusKey, Time>,
    /// The heuristic lifetime of a response that only has `Last-Modified`; on by default, but off if
    /// `default-lifetime` is set.
    pub heuristic: Option<HeuristicSection>,
    /// Fields that take precedence over `Cache-Control`, the most specific first (RFC 9213).
    pub targets: Option<Vec<String>>,
    /// The treatment of responses that set a cookie.
    pub set_cookie: Option<SetCookieChoice>,
    /// Whether clients may demand fresher responses by `Cache-Control` and `Pragma`.
    pub obey_clients: Option<bool>,
    /// Whether responses are stored whose status blames the request's own fields: 400 or 431, for example.
    pub store_request_errors: Option<bool>,
    /// The content codings that `Accept-Encoding` is reduced to, most wanted first; unchanged by default.
    pub codings: Option<Vec<String>>,
    /// The treatment of paths with the segments `.` and `..`.
    pub dot_segments: Option<DotSegmentsChoice>,
    /// The most variants of one URL (`Vary`).
    pub variants_max: Option<u32>,
    /// The most ranges of one request.
    pub ranges_max: Option<u32>,
    /// The time for which requests are not collapsed after a response that could not be stored.
    pub hit_for_miss: Option<Time>,
    /// The longest time that a collapsed request waits for the response; then it is fetched uncollapsed.
    pub collapse_wait: Option<Time>,
    /// The amount of detail in `Cache-Status` (RFC 9211).
    pub status_detail: Option<DetailChoice>,
    /// The use of stale responses.
    pub stale: StaleSection,
}

/// The use of stale responses.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default, rename_all = "kebab-case", deny_unknown_fields)]
pub struct StaleSection {
    /// The time after expiry while no server can be reached.
    pub disconnected: Option<Time>,
    /// The time after expiry when a server answers with an error; for responses without `stale-if-error`.
    pub if_error: Option<Time>,
    /// The time after expiry while they are refreshed; for responses without `stale-while-revalidate`.
    pub while_revalidating: Option<Time>,
    /// Whether these two apply despite `s-maxage`, which strictly forbids them.
    pub despite_s_maxage: Option<bool>,
}

/// Heuristic lifetimes, from the time that a response has not changed (RFC 9111 §4.2.2); never for a URL with a
/// query.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default, rename_all = "kebab-case", deny_unknown_fields)]
pub struct HeuristicSection {
    /// Whether heuristic lifetimes are used; `true` by default.
    pub enabled: Option<bool>,
    /// The fraction of the time since the last change, above 0 and up to 0.1, which is the default.
    pub fraction: Option<Fraction>,
    /// The longest heuristic lifetime; `1 h` by default.
    pub lifetime_max: Option<Time>,
}

/// A fraction of at most a tenth.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(try_from = "f64")]
pub struct Fraction(f64);

impl TryFrom<f64> for Fraction {
    type Error = String;

    fn try_from(number: f64) -> Result<Fraction, String> {
        if 0.0 < number && number <= Heuristic::FRACTION_MAX.0 {
            Ok(Fraction(number))
        } else {
            Err(format!("expected a number above 0 and up to {}, found {number}", Heuristic::FRACTION_MAX.0))
        }
    }
}

impl JsonSchema for Fraction {
    fn schema_name() -> Cow<'static, str> {
        "Fraction".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "number", "exclusiveMinimum": 0, "maximum": Heuristic::FRACTION_MAX.0 })
    }
}

/// A status code as a key: `404`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(try_from = "String")]
pub struct StatusKey(u16);

impl TryFrom<String> for StatusKey {
    type Error = String;

    fn try_from(text: String) -> Result<StatusKey, String> {
        let status = text.parse().ok().filter(|status| (200..600).contains(status));
        status.map(StatusKey).ok_or_else(|| format!("expected a status from 200 to 599, found `{text}`"))
    }
}

impl JsonSchema for StatusKey {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "StatusKey".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "pattern": "^[2-5][0-9]{2}$" })
    }
}

/// The treatment of responses that set a cookie.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SetCookieChoice {
    /// They are not stored.
    NotStored,
    /// They are stored without it: the rest is the same for all clients.
    StoredWithout,
}

/// The treatment of paths with dot segments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DotSegmentsChoice {
    /// They are resolved.
    Resolved,
    /// The request is refused.
    Refused,
}

/// The amount of detail in `Cache-Status`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DetailChoice {
    /// No `Cache-Status`.
    Off,
    /// Hit or not, the reason, and the time to live.
    On,
    /// The key and the name of the reason as well: for debugging.
    Detailed,
}

impl CacheSection {
    /// Returns the settings of the policy, with defaults for what is not given.
    pub(super) fn settings(&self) -> Settings {
        let default_value = Settings::default();
        let lifetimes = self.statuses.iter().map(|(status, time)| (status.0, time.0));
        Settings {
            heuristic: self.heuristic(default_value.heuristic),
            default_lifetime: self.default_lifetime.map(|time| time.0).or(default_value.default_lifetime),
            lifetimes_of_statuses: lifetimes.collect::<Vec<(u16, Nanos)>>(),
            lifetime_min: time(self.lifetime_min, default_value.lifetime_min),
            lifetime_max: time(self.lifetime_max, default_value.lifetime_max),
            targets: self.targets.as_deref().map_or(default_value.targets, lower_case),
            set_cookie: self.set_cookie.map_or(default_value.set_cookie, SetCookie::from),
            is_obeying_clients: self.obey_clients.unwrap_or(default_value.is_obeying_clients),
            is_storing_request_errors: self
                .store_request_errors
                .unwrap_or(default_value.is_storing_request_errors),
            stale: self.stale.settings(),
            variants_max: self.variants_max.map_or(default_value.variants_max, |n| n as usize),
            ranges_max: self.ranges_max.map_or(default_value.ranges_max, |n| n as usize),
            codings: self.codings.as_deref().map_or(default_value.codings, lower_case),
            dot_segments: self.dot_segments.map_or(default_value.dot_segments, DotSegments::from),
            hit_for_miss: time(self.hit_for_miss, default_value.hit_for_miss),
        }
    }
}

impl CacheSection {
    /// Returns the heuristic. An operator who sets a default lifetime wants that one instead.
    fn heuristic(&self, default_value: Option<Heuristic>) -> Option<Heuristic> {
        match &self.heuristic {
            Some(section) => section.settings(),
            None => default_value.filter(|_| self.default_lifetime.is_none()),
        }
    }
}

impl StaleSection {
    fn settings(&self) -> StaleSettings {
        let default_value = StaleSettings::default();
        StaleSettings {
            disconnected: time(self.disconnected, default_value.disconnected),
            if_error: time(self.if_error, default_value.if_error),
            while_revalidating: time(self.while_revalidating, default_value.while_revalidating),
            is_allowed_by_s_maxage: self.despite_s_maxage.unwrap_or(default_value.is_allowed_by_s_maxage),
        }
    }
}

impl HeuristicSection {
    fn settings(&self) -> Option<Heuristic> {
        let default_value = Heuristic::default();
        let heuristic = Heuristic {
            fraction: self.fraction.map_or(default_value.fraction, |fraction| Ratio(fraction.0)),
            lifetime_max: time(self.lifetime_max, default_value.lifetime_max),
        };
        self.enabled.unwrap_or(true).then_some(heuristic)
    }
}

impl From<SetCookieChoice> for SetCookie {
    fn from(choice: SetCookieChoice) -> SetCookie {
        match choice {
            SetCookieChoice::NotStored => SetCookie::NotStored,
            SetCookieChoice::StoredWithout => SetCookie::StoredWithout,
        }
    }
}

impl From<DotSegmentsChoice> for DotSegments {
    fn from(choice: DotSegmentsChoice) -> DotSegments {
        match choice {
            DotSegmentsChoice::Resolved => DotSegments::Resolved,
            DotSegmentsChoice::Refused => DotSegments::Refused,
        }
    }
}

impl From<DetailChoice> for CacheStatusDetail {
    fn from(choice: DetailChoice) -> CacheStatusDetail {
        match choice {
            DetailChoice::Off => CacheStatusDetail::Off,
            DetailChoice::On => CacheStatusDetail::On,
            DetailChoice::Detailed => CacheStatusDetail::Detailed,
        }
    }
}

fn lower_case(names: &[String]) -> Vec<String> {
    names.iter().map(|name| name.to_ascii_lowercase()).collect()
}
