//! Selection among several responses under one key (RFC 9111 §4.1).

use std::cmp::Reverse;

use units::WallTime;

use crate::message::FieldLines;
use crate::settings::Settings;
use crate::stored_meta::StoredMeta;
use crate::vary::{Variant, Vary};

/// The stored response that a request selects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Selection<'s> {
    /// This one, with its index: of those that match, the most recent by `Date` (RFC 9111 §4).
    Found(usize, &'s StoredMeta),
    /// None of them: the request differs in a field that they depend on.
    VaryMiss,
    /// There is none under the key.
    UriMiss,
}

/// Selects the stored response that matches a request.
pub fn select<'a, 's>(
    stored: impl IntoIterator<Item = &'s StoredMeta>,
    request: impl FieldLines<'a>,
    settings: &Settings,
) -> Selection<'s> {
    // Responses under one key depend on the same fields except after an update, so the request is mostly read once.
    let mut read: Option<(&Vary, Option<Variant>)> = None;
    let suiting = stored.into_iter().enumerate().filter(|(_, one)| {
        let vary = &one.response.vary;
        if read.as_ref().is_none_or(|(known, _)| *known != vary) {
            read = Some((vary, Variant::of(vary, request.clone(), &settings.codings)));
        }
        read.as_ref().is_some_and(|(_, variant)| variant.as_ref() == Some(&one.variant))
    });
    match suiting.max_by_key(|(_, one)| recency(one)) {
        Some((index, found)) => Selection::Found(index, found),
        None if read.is_none() => Selection::UriMiss,
        None => Selection::VaryMiss,
    }
}

fn recency(stored: &StoredMeta) -> (WallTime, WallTime) {
    (stored.response.date, stored.response.times.received)
}

reasons! {
    /// The reason for which a stored response is superseded by a new one.
    Superseded {
        /// It answers the same requests.
        SameVariant = "same-variant", "RFC 9111 §4";
        /// It depends on other fields: the origin has changed its `Vary`.
        OtherFields = "other-fields", "RFC 9111 §4.1";
        /// It is the oldest, and there are as many as the operator allows.
        TooMany = "too-many", "RFC 9111 §4.1";
    }
}

/// Returns the responses under a key that a new one supersedes, with the reason; indices rise.
pub fn superseded(stored: &[&StoredMeta], new: &StoredMeta, settings: &Settings) -> Vec<(usize, Superseded)> {
    let replaced = |one: &StoredMeta| {
        if one.response.vary != new.response.vary {
            return Some(Superseded::OtherFields);
        }
        (one.variant == new.variant).then_some(Superseded::SameVariant)
    };
    let mut gone: Vec<_> = Vec::new();
    let mut kept: Vec<usize> = Vec::new();
    for (index, one) in stored.iter().enumerate() {
        match replaced(one) {
            Some(why) => gone.push((index, why)),
            None => kept.push(index),
        }
    }
    // The new one needs a slot as well.
    let n_kept_max = settings.variants_max.saturating_sub(1);
    kept.sort_by_key(|&index| Reverse(recency(stored[index])));
    gone.extend(kept.iter().skip(n_kept_max).map(|&index| (index, Superseded::TooMany)));
    gone.sort_unstable_by_key(|(index, _)| *index);
    gone
}
