//! The section about what is stored and reused: `[cache]`.

use std::borrow::Cow;
use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use units::{Nanos, Ratio};

use super::quantity::Time;
use super::time;
use crate::exchange::Detail;
use crate::policy::{DotSegments, Heuristic, SetCookie, Settings, StaleSettings};

/// What is stored, for how long, and when it is used.
///
/// The defaults do what RFC 9111 says; all that they guess is a lifetime where only the date of change is given.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default, rename_all = "kebab-case", deny_unknown_fields)]
pub struct CacheSection {
    /// Paths, with their queries, that are passed on and never stored; `*` stands for any text.
    pub bypass: Vec<String>,
    /// How long a response lives that does not say so; by default it is validated before each use, or not stored if it
    /// cannot be.
    pub default_lifetime: Option<Time>,
    /// The least lifetime of a response that has one; never that of one with `no-cache` or `must-revalidate`.
    pub lifetime_min: Option<Time>,
    /// The longest lifetime.
    pub lifetime_max: Option<Time>,
    /// How long responses with these statuses live that do not say so: `404 = "10 s"`.
    pub statuses: BTreeMap<StatusKey, Time>,
    /// Guess the lifetime of a response that only says when it was last changed; on by default, but not beside a
    /// `default-lifetime`.
    pub heuristic: Option<HeuristicSection>,
    /// Fields to heed before `Cache-Control`, the most specific first (RFC 9213).
    pub targets: Option<Vec<String>>,
    /// What happens to responses that set a cookie.
    pub set_cookie: Option<SetCookieChoice>,
    /// Whether clients may demand fresher answers by `Cache-Control` and `Pragma`.
    pub obey_clients: Option<bool>,
    /// Whether responses are stored that say that the request's own fields were at fault, such as 400 or 431.
    pub store_request_errors: Option<bool>,
    /// The content codings that `Accept-Encoding` is reduced to, most wanted first; left as it is by default.
    pub codings: Option<Vec<String>>,
    /// What happens to paths with the segments `.` and `..`.
    pub dot_segments: Option<DotSegmentsChoice>,
    /// Responses that one URL may have beside each other because of `Vary`.
    pub variants_max: Option<u32>,
    /// Ranges that one request may ask for.
    pub ranges_max: Option<u32>,
    /// How long requests do not wait for each other after a response that could not be stored.
    pub hit_for_miss: Option<Time>,
    /// How long a request waits for a response that another one asks for; then it asks by itself.
    pub collapse_wait: Option<Time>,
    /// How much replies tell by `Cache-Status` (RFC 9211).
    pub status_detail: Option<DetailChoice>,
    /// When stale responses are used.
    pub stale: StaleSection,
}

/// When stale responses are used.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default, rename_all = "kebab-case", deny_unknown_fields)]
pub struct StaleSection {
    /// For so long after their end, while no server can be reached.
    pub disconnected: Option<Time>,
    /// For so long when a server answers with an error; for responses without `stale-if-error`.
    pub if_error: Option<Time>,
    /// For so long while they are fetched anew; for responses without `stale-while-revalidate`.
    pub while_revalidating: Option<Time>,
    /// Whether these two count beside `s-maxage`, which strictly forbids them.
    pub despite_s_maxage: Option<bool>,
}

/// A lifetime guessed from how long a response has not changed (RFC 9111 §4.2.2); never that of a URL with a query.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default, rename_all = "kebab-case", deny_unknown_fields)]
pub struct HeuristicSection {
    /// Whether lifetimes are guessed; `true` by default.
    pub enabled: Option<bool>,
    /// The part of the time since the last change, above 0 and up to 0.1, which is the default.
    pub fraction: Option<Fraction>,
    /// The longest lifetime that is guessed; `1 h` by default.
    pub lifetime_max: Option<Time>,
}

/// A part of at most a tenth.
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

/// A status as a key: `404`.
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

/// What happens to responses that set a cookie.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SetCookieChoice {
    /// They are not stored.
    NotStored,
    /// They are stored without it: the rest is for everybody.
    StoredWithout,
}

/// What happens to paths with dot segments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DotSegmentsChoice {
    /// They are resolved.
    Resolved,
    /// The request is refused.
    Refused,
}

/// How much replies tell by `Cache-Status`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DetailChoice {
    /// Nothing.
    Off,
    /// Hit or not, why not, and for how long.
    On,
    /// The key and the reason as well: to look for a fault.
    Detailed,
}

impl CacheSection {
    /// Returns what is stored and reused, with what is not given as it usually is.
    pub(super) fn settings(&self) -> Settings {
        let usual = Settings::default();
        let lifetimes = self.statuses.iter().map(|(status, time)| (status.0, time.0));
        Settings {
            heuristic: self.heuristic(usual.heuristic),
            default_lifetime: self.default_lifetime.map(|time| time.0).or(usual.default_lifetime),
            lifetimes_of_statuses: lifetimes.collect::<Vec<(u16, Nanos)>>(),
            lifetime_min: time(self.lifetime_min, usual.lifetime_min),
            lifetime_max: time(self.lifetime_max, usual.lifetime_max),
            targets: self.targets.as_deref().map_or(usual.targets, lower_case),
            set_cookie: self.set_cookie.map_or(usual.set_cookie, SetCookie::from),
            is_obeying_clients: self.obey_clients.unwrap_or(usual.is_obeying_clients),
            is_storing_request_errors: self.store_request_errors.unwrap_or(usual.is_storing_request_errors),
            stale: self.stale.settings(),
            variants_max: self.variants_max.map_or(usual.variants_max, |n| n as usize),
            ranges_max: self.ranges_max.map_or(usual.ranges_max, |n| n as usize),
            codings: self.codings.as_deref().map_or(usual.codings, lower_case),
            dot_segments: self.dot_segments.map_or(usual.dot_segments, DotSegments::from),
            hit_for_miss: time(self.hit_for_miss, usual.hit_for_miss),
        }
    }
}

impl CacheSection {
    /// Returns how lifetimes are guessed. An operator who has named a lifetime for what gives none meant that one.
    fn heuristic(&self, usual: Option<Heuristic>) -> Option<Heuristic> {
        match &self.heuristic {
            Some(section) => section.settings(),
            None => usual.filter(|_| self.default_lifetime.is_none()),
        }
    }
}

impl StaleSection {
    fn settings(&self) -> StaleSettings {
        let usual = StaleSettings::default();
        StaleSettings {
            disconnected: time(self.disconnected, usual.disconnected),
            if_error: time(self.if_error, usual.if_error),
            while_revalidating: time(self.while_revalidating, usual.while_revalidating),
            is_allowed_by_s_maxage: self.despite_s_maxage.unwrap_or(usual.is_allowed_by_s_maxage),
        }
    }
}

impl HeuristicSection {
    fn settings(&self) -> Option<Heuristic> {
        let usual = Heuristic::default();
        let heuristic = Heuristic {
            fraction: self.fraction.map_or(usual.fraction, |fraction| Ratio(fraction.0)),
            lifetime_max: time(self.lifetime_max, usual.lifetime_max),
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

impl From<DetailChoice> for Detail {
    fn from(choice: DetailChoice) -> Detail {
        match choice {
            DetailChoice::Off => Detail::Off,
            DetailChoice::On => Detail::On,
            DetailChoice::Detailed => Detail::Detailed,
        }
    }
}

fn lower_case(names: &[String]) -> Vec<String> {
    names.iter().map(|name| name.to_ascii_lowercase()).collect()
}
