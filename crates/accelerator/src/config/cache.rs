//! The section `[cache]`: storing and reuse.

use std::collections::BTreeMap;

use cache_policy::{DotSegments, Heuristic, SetCookie, StaleSettings};
use cache_store::Pattern;
use languages::spec::{NamedChoice, TableSpec, flag, key, named_values, one_of, table, text};

use super::values::{fraction, number, status, time};
use crate::exchange::{CacheStatusDetail, ExchangeSettings};

const SET_COOKIE: &[NamedChoice<SetCookie>] = &[
    NamedChoice("not-stored", "They are not stored.", SetCookie::NotStored),
    NamedChoice(
        "stored-without",
        "They are stored without it: the rest is the same for all clients.",
        SetCookie::StoredWithout,
    ),
];

const DOT_SEGMENTS: &[NamedChoice<DotSegments>] = &[
    NamedChoice("resolved", "They are resolved.", DotSegments::Resolved),
    NamedChoice("refused", "The request is refused.", DotSegments::Refused),
];

const STATUS_DETAILS: &[NamedChoice<CacheStatusDetail>] = &[
    NamedChoice("off", "No `Cache-Status`.", CacheStatusDetail::Off),
    NamedChoice("on", "Hit or not, the reason, and the time to live.", CacheStatusDetail::On),
    NamedChoice(
        "detailed",
        "The key and the name of the reason as well: for debugging.",
        CacheStatusDetail::Detailed,
    ),
];

/// `[cache]`.
pub(super) fn cache() -> TableSpec<ExchangeSettings> {
    TableSpec::new(
        "CacheSection",
        "Storing and reuse of responses.\n\nThe defaults follow RFC 9111; the only heuristic is a lifetime where \
         nothing but the time of the last change is given.",
        [
            key(
                "bypass",
                "Paths, with their queries, that bypass the cache; `*` matches any text.",
                text().list(),
                |exchange: &mut ExchangeSettings, patterns: Vec<String>| {
                    exchange.bypass = patterns.iter().map(|text| Pattern::new(text)).collect();
                },
            )
            .default_value(Vec::<String>::new()),
            key(
                "default-lifetime",
                "The lifetime of a response that sets none; by default it is validated before each use, or not stored \
                 if it cannot be validated.",
                time(),
                |exchange, time| exchange.policy.default_lifetime = Some(time),
            ),
            key(
                "lifetime-min",
                "The minimum lifetime of a response that has one; does not apply to `no-cache` or `must-revalidate`.",
                time(),
                |exchange, time| exchange.policy.lifetime_min = time,
            ),
            key("lifetime-max", "The maximum lifetime.", time(), |exchange, time| {
                exchange.policy.lifetime_max = time;
            }),
            named_values(
                "statuses",
                "The lifetimes of responses with these statuses that set none: `404 = \"10 s\"`.",
                "^[2-5][0-9]{2}$",
                status,
                time(),
                |exchange, lifetimes| {
                    let by_status: BTreeMap<u16, _> = lifetimes.into_iter().collect();
                    exchange.policy.lifetimes_of_statuses = by_status.into_iter().collect();
                },
            ),
            table(
                "heuristic",
                "The heuristic lifetime of a response that only has `Last-Modified`; on by default, but off if \
                 `default-lifetime` is set.",
                heuristic(),
                |exchange| &mut exchange.policy.heuristic,
            ),
            key(
                "targets",
                "Fields that take precedence over `Cache-Control`, the most specific first (RFC 9213).",
                text().list(),
                |exchange, names| exchange.policy.targets = lower_case(&names),
            ),
            key(
                "set-cookie",
                "The treatment of responses that set a cookie.",
                one_of(
                    "SetCookieChoice",
                    "The treatment of responses that set a cookie.",
                    SET_COOKIE,
                ),
                |exchange, choice| exchange.policy.set_cookie = choice,
            ),
            key(
                "obey-clients",
                "Whether clients may demand fresher responses by `Cache-Control` and `Pragma`.",
                flag(),
                |exchange, is_on| exchange.policy.is_obeying_clients = is_on,
            ),
            key(
                "store-request-errors",
                "Whether responses are stored whose status blames the request's own fields: 400 or 431, for example.",
                flag(),
                |exchange, is_on| exchange.policy.is_storing_request_errors = is_on,
            ),
            key(
                "codings",
                "The content codings that `Accept-Encoding` is reduced to, most wanted first; unchanged by default.",
                text().list(),
                |exchange, names| exchange.policy.codings = lower_case(&names),
            ),
            key(
                "dot-segments",
                "The treatment of paths with the segments `.` and `..`.",
                one_of(
                    "DotSegmentsChoice",
                    "The treatment of paths with dot segments.",
                    DOT_SEGMENTS,
                ),
                |exchange, choice| exchange.policy.dot_segments = choice,
            ),
            key("variants-max", "The most variants of one URL (`Vary`).", number(0), |exchange, variants| {
                exchange.policy.variants_max = variants as usize;
            }),
            key("ranges-max", "The most ranges of one request.", number(0), |exchange, ranges| {
                exchange.policy.ranges_max = ranges as usize;
            }),
            key(
                "hit-for-miss",
                "The time for which requests are not collapsed after a response that could not be stored.",
                time(),
                |exchange, time| exchange.policy.hit_for_miss = time,
            ),
            key(
                "collapse-wait",
                "The longest time that a collapsed request waits for the response; then it is fetched uncollapsed.",
                time(),
                |exchange, time| exchange.collapse_wait = time,
            ),
            key(
                "status-detail",
                "The amount of detail in `Cache-Status` (RFC 9211).",
                one_of("DetailChoice", "The amount of detail in `Cache-Status`.", STATUS_DETAILS),
                |exchange, choice| exchange.cache_status = choice,
            ),
            table("stale", "The use of stale responses.", stale(), |exchange| &mut exchange.policy.stale),
        ],
    )
    .then(|table, exchange| {
        // An operator who sets a default lifetime wants that one, unless the section says otherwise.
        if exchange.policy.default_lifetime.is_some() && table.value("heuristic").is_none() {
            exchange.policy.heuristic = None;
        }
    })
}

/// `[cache.heuristic]`.
fn heuristic() -> TableSpec<Option<Heuristic>> {
    TableSpec::new(
        "HeuristicSection",
        "Heuristic lifetimes, from the time that a response has not changed (RFC 9111 §4.2.2); never for a URL with a \
         query.",
        [
            key(
                "fraction",
                "The fraction of the time since the last change, above 0 and up to 0.1, which is the default.",
                fraction(),
                |heuristic: &mut Option<Heuristic>, fraction| {
                    heuristic.get_or_insert_default().fraction = fraction;
                },
            ),
            key(
                "lifetime-max",
                "The longest heuristic lifetime; `1 h` by default.",
                time(),
                |heuristic, time| heuristic.get_or_insert_default().lifetime_max = time,
            ),
            // Read last, because it may leave nothing of the others.
            key(
                "enabled",
                "Whether heuristic lifetimes are used; `true` by default.",
                flag(),
                |heuristic, is_on| *heuristic = heuristic.filter(|_| is_on),
            ),
        ],
    )
}

/// `[cache.stale]`.
fn stale() -> TableSpec<StaleSettings> {
    TableSpec::new(
        "StaleSection",
        "The use of stale responses.",
        [
            key(
                "disconnected",
                "The time after expiry while no server can be reached.",
                time(),
                |stale, time| {
                    stale.disconnected = time;
                },
            ),
            key(
                "if-error",
                "The time after expiry when a server answers with an error; for responses without `stale-if-error`.",
                time(),
                |stale, time| stale.if_error = time,
            ),
            key(
                "while-revalidating",
                "The time after expiry while they are refreshed; for responses without `stale-while-revalidate`.",
                time(),
                |stale, time| stale.while_revalidating = time,
            ),
            key(
                "despite-s-maxage",
                "Whether these two apply despite `s-maxage`, which strictly forbids them.",
                flag(),
                |stale, is_on| stale.is_allowed_by_s_maxage = is_on,
            ),
        ],
    )
}

fn lower_case(names: &[String]) -> Vec<String> {
    names.iter().map(|name| name.to_ascii_lowercase()).collect()
}
