//! The questions that cases ask.

use cache_policy::{
    CacheStatusMember, DotSegments, Forward, Freshness, HitOrForward, Key, RequestField, Scheme, StoredMeta,
    request_field,
};

use super::case::Case;
use super::words;

/// Asks a case's question and returns the decision in words.
pub(crate) fn decide(case: &Case) -> String {
    match case.ask.as_str() {
        "store" => store(case),
        "lifetime" => words::lifetime(cache_policy::lifetime(&only(case).response, &case.settings())),
        "age" => words::seconds(only(case).age(case.now())),
        "answer" => words::answer(&answer(case)),
        "failure" => failure(case),
        "conditional" => words::conditional(&cache_policy::conditional(&refs(&case.all_stored()))),
        "freshen" => words::freshened(&cache_policy::freshen(&refs(&case.all_stored()), &case.reply())),
        "merge" => merge(case),
        "head" => words::head_update(cache_policy::head_update(&only(case), &case.reply())),
        "superseded" => superseded(case),
        "invalidation" => invalidation(case),
        "key" => key(case)
            .map_or_else(|reason| format!("refused: {}", reason.name()), |key| key.as_str().to_owned()),
        "cache-status" => cache_status(case),
        "stored-fields" => stored_fields(case),
        "filling-request" => filling_request(case),
        "not-modified" => not_modified(case),
        other => panic!("{}: no such question: {other}", case.file),
    }
}

fn only(case: &Case) -> StoredMeta {
    let mut stored = case.all_stored();
    assert_eq!(stored.len(), 1, "{}", case.name);
    stored.remove(0)
}

fn refs(stored: &[StoredMeta]) -> Vec<&StoredMeta> {
    stored.iter().collect()
}

fn store(case: &Case) -> String {
    let response = case.exchanges().remove(0).response(&case.settings());
    words::store(cache_policy::store(&case.request(), &response, &case.settings()))
}

fn answer(case: &Case) -> cache_policy::CacheDecision {
    let stored = case.all_stored();
    cache_policy::decide(&case.request(), case.request_head().lines(), &stored, case.now(), &case.settings())
}

fn failure(case: &Case) -> String {
    let failure = match case.failure {
        0 => cache_policy::FetchFailure::NoAnswer,
        status => cache_policy::FetchFailure::Status(status),
    };
    words::on_failure(cache_policy::on_failure(
        &only(case),
        &case.request(),
        failure,
        case.now(),
        &case.settings(),
    ))
}

fn merge(case: &Case) -> String {
    let stored = case.exchanges().remove(0).response_head();
    let reply = case.reply_head();
    let merged = cache_policy::merge(stored.lines(), reply.lines(), &case.reply());
    words::fields(merged.iter().map(|(name, value)| (name.as_slice(), value.as_slice())))
}

/// The last exchange is the new one.
fn superseded(case: &Case) -> String {
    let mut stored = case.all_stored();
    let new = stored.pop().unwrap();
    words::superseded(&cache_policy::superseded(&refs(&stored), &new, &case.settings()))
}

fn key(case: &Case) -> Result<Key, cache_policy::KeyRefused> {
    let scheme = if case.scheme.as_deref() == Some("https") { Scheme::Https } else { Scheme::Http };
    let authority = case.authority.as_deref().unwrap_or("example.org");
    Key::new(scheme, authority.as_bytes(), case.target().as_bytes(), case.settings().dot_segments)
}

fn invalidation(case: &Case) -> String {
    let key =
        Key::new(Scheme::Http, b"example.org", case.target().as_bytes(), DotSegments::Resolved).unwrap();
    let reply = case.reply_head();
    words::invalidation(&cache_policy::invalidation(&case.request(), &key, reply.status(), reply.lines()))
}

fn cache_status(case: &Case) -> String {
    let forwarded =
        |why: Forward| HitOrForward::Forwarded { why, status: None, is_stored: false, collapsed: None };
    let (handled, freshness) = match answer(case) {
        cache_policy::CacheDecision::Pass(cache_policy::PassReason::Method) => {
            (forwarded(Forward::Method), None)
        }
        cache_policy::CacheDecision::Pass(_) => (forwarded(Forward::Bypass), None),
        cache_policy::CacheDecision::Miss(why) => (forwarded(why.into()), None),
        cache_policy::CacheDecision::Validate { why, .. } => (forwarded(why.into()), None),
        cache_policy::CacheDecision::Serve { how, .. } => (HitOrForward::Hit, freshness(how)),
        cache_policy::CacheDecision::OnlyIfCached => return "504".to_owned(),
    };
    let status = CacheStatusMember { cache: "plimsoll", handled, freshness, key: None, detail: None };
    let mut text = String::new();
    status.write(&mut text);
    text
}

fn freshness(how: cache_policy::ReuseDecision) -> Option<Freshness> {
    match how {
        cache_policy::ReuseDecision::Fresh { ttl, .. } => Some(Freshness::Fresh(ttl)),
        cache_policy::ReuseDecision::Stale { past, .. } => Some(Freshness::Stale(past)),
        cache_policy::ReuseDecision::Validate { .. } => None,
    }
}

fn stored_fields(case: &Case) -> String {
    let exchange = case.exchanges().remove(0);
    let head = exchange.response_head();
    words::fields(cache_policy::stored_lines(head.lines(), &exchange.response(&case.settings())).into_iter())
}

/// Returns the fields of the request that are forwarded if its response may be stored.
fn filling_request(case: &Case) -> String {
    let head = case.request_head();
    let settings = case.settings();
    let ended = cache_policy::names_of_connection(head.lines());
    let is_sent = |name: &[u8]| {
        let is_ended = ended.iter().any(|one| one.as_bytes().eq_ignore_ascii_case(name));
        request_field(name) == RequestField::Forwarded && !is_ended
    };
    let codings = cache_policy::accept_encoding(head.lines(), &settings.codings);
    let is_reduced = |name: &[u8]| codings.is_some() && name.eq_ignore_ascii_case(b"accept-encoding");
    let sent = head.lines().filter(|(name, _)| is_sent(name) && !is_reduced(name));
    let reduced = codings.iter().map(|value| (&b"Accept-Encoding"[..], value.as_bytes()));
    words::fields(sent.chain(reduced))
}

/// Returns the fields of the stored response that a 304 made here keeps.
fn not_modified(case: &Case) -> String {
    let head = case.exchanges().remove(0).response_head();
    words::fields(head.lines().filter(|(name, _)| cache_policy::stays_in_not_modified(name)))
}
