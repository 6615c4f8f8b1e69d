//! Decisions in words.

use cache_policy::{
    ByteRange, CacheDecision, FailureDecision, FreshenedResponses, HeadUpdate, Invalidation, Lifetime,
    Ranges, ResponseContent, ReuseDecision, StoreDecision, Superseded, ValidationConditions,
};
use units::Nanos;

/// Whole seconds, or tenths where there are any.
pub(crate) fn seconds(time: Nanos) -> String {
    format!("{} s", time.as_secs_f64())
}

pub(crate) fn lifetime(lifetime: Lifetime) -> String {
    format!("{} by {}", seconds(lifetime.length), lifetime.source.name())
}

pub(crate) fn store(decision: StoreDecision) -> String {
    match decision {
        StoreDecision::Yes(found) => format!("stored, {}", lifetime(found)),
        StoreDecision::No(why) => format!("not stored: {}", why.name()),
    }
}

pub(crate) fn answer(answer: &CacheDecision) -> String {
    match answer {
        CacheDecision::Pass(why) => format!("pass: {}", why.name()),
        CacheDecision::Miss(why) => format!("miss: {}", why.name()),
        CacheDecision::Validate { index, why } => format!("{}validate: {}", which(*index), why.name()),
        CacheDecision::Serve { index, how, content: found } => {
            format!("{}{}{}", which(*index), reuse(*how), content(found))
        }
        CacheDecision::OnlyIfCached => "504".to_owned(),
    }
}

/// Names one of several by its index; the first is not named.
fn which(index: usize) -> String {
    if index == 0 { String::new() } else { format!("#{index} ") }
}

fn reuse(how: ReuseDecision) -> String {
    match how {
        ReuseDecision::Fresh { age, ttl } => format!("fresh, age {}, ttl {}", seconds(age), seconds(ttl)),
        ReuseDecision::Stale { past, why, .. } => format!("stale by {}: {}", seconds(past), why.name()),
        ReuseDecision::Validate { why, .. } => format!("validate: {}", why.name()),
    }
}

fn content(content: &ResponseContent) -> String {
    match content {
        ResponseContent::NotModified(why) => format!("; 304 by {}", why.name()),
        ResponseContent::Response(Ranges::NotAsked) => String::new(),
        ResponseContent::Response(Ranges::Ignored(why)) => format!("; whole: {}", why.name()),
        ResponseContent::Response(Ranges::One(part)) => format!("; part {}", range(part)),
        ResponseContent::Response(Ranges::Several(parts)) => {
            format!("; parts {}", parts.iter().map(range).collect::<Vec<_>>().join(" "))
        }
        ResponseContent::Response(Ranges::Refused(why)) => format!("; 416: {}", why.name()),
    }
}

fn range(range: &ByteRange) -> String {
    format!("{}-{}", range.first, range.last)
}

pub(crate) fn on_failure(decision: FailureDecision) -> String {
    match decision {
        FailureDecision::Stale { past, why, .. } => format!("stale by {}: {}", seconds(past), why.name()),
        FailureDecision::PassOn(why) => format!("passed on: {}", why.name()),
    }
}

pub(crate) fn conditional(conditional: &ValidationConditions) -> String {
    let tags = conditional
        .if_none_match
        .as_deref()
        .map(|tags| ("If-None-Match", String::from_utf8_lossy(tags).into()));
    let date = conditional.if_modified_since.clone().map(|date| ("If-Modified-Since", date));
    let lines = tags.into_iter().chain(date);
    lines.map(|(name, value): (&str, String)| format!("{name}: {value}")).collect::<Vec<_>>().join(" | ")
}

pub(crate) fn freshened(decision: &FreshenedResponses) -> String {
    match decision {
        FreshenedResponses::Update(indices) => {
            let indices: Vec<_> = indices.iter().map(|index| format!("#{index}")).collect();
            format!("update {}", indices.join(" "))
        }
        FreshenedResponses::No(why) => format!("no: {}", why.name()),
    }
}

pub(crate) fn head_update(decision: HeadUpdate) -> String {
    match decision {
        HeadUpdate::Update => "update".to_owned(),
        HeadUpdate::Stale(why) => format!("stale: {}", why.name()),
        HeadUpdate::Nothing => "nothing".to_owned(),
    }
}

pub(crate) fn superseded(gone: &[(usize, Superseded)]) -> String {
    let words: Vec<_> = gone.iter().map(|(index, why)| format!("#{index} {}", why.name())).collect();
    words.join(", ")
}

pub(crate) fn invalidation(decision: &Invalidation) -> String {
    match decision {
        Invalidation::Keys(keys) => keys.iter().map(|key| key.as_str()).collect::<Vec<_>>().join(" "),
        Invalidation::No(why) => format!("kept: {}", why.name()),
    }
}

pub(crate) fn fields<'a>(lines: impl Iterator<Item = (&'a [u8], &'a [u8])>) -> String {
    let write = |(name, value): (&[u8], &[u8])| {
        format!("{}: {}", String::from_utf8_lossy(name), String::from_utf8_lossy(value))
    };
    lines.map(write).collect::<Vec<_>>().join(" | ")
}
