//! Freshening of stored responses by 304 and by responses to HEAD (RFC 9111 §3.2, §4.3.4, §4.3.5).

use crate::date::write_date;
use crate::message::FieldLines;
use crate::outgoing::stored_lines;
use crate::response_meta::ResponseMeta;
use crate::stored_meta::StoredMeta;

reasons! {
    /// The reason for which a 304 freshens nothing; the request is then repeated without conditions.
    NotFreshened {
        /// Its strong validator is that of another response.
        OtherStrongValidator = "other-strong-validator", "RFC 9111 §4.3.4";
        /// Its weak validator is that of another response.
        OtherWeakValidator = "other-weak-validator", "RFC 9111 §4.3.4";
        /// It does not say which of several responses it validates.
        Ambiguous = "ambiguous", "RFC 9111 §4.3.4";
    }
}

/// The stored responses that a 304 freshens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FreshenedResponses {
    /// These, by their indices; at least one.
    Update(Vec<usize>),
    /// None.
    No(NotFreshened),
}

/// Decides which of the validated responses a 304 freshens.
///
/// A strong tag selects all responses that have it; a weak one, or `Last-Modified`, the most recent. Without any, the
/// 304 is about the response that was validated, if that was one: the condition was its own.
///
/// An update can make a response one that must not be stored; check the merged head with [`store`](crate::store()).
pub fn freshen(validated: &[&StoredMeta], update: &ResponseMeta) -> FreshenedResponses {
    let found = |is_same: &dyn Fn(&ResponseMeta) -> bool| -> Vec<usize> {
        let same = validated.iter().enumerate().filter(|(_, one)| is_same(&one.response));
        same.map(|(index, _)| index).collect()
    };
    let (indices, otherwise) = match (&update.etag, update.last_modified) {
        (Some(tag), _) if !tag.is_weak => {
            let same = found(&|one| one.etag.as_ref().is_some_and(|own| own.strongly_matches(tag)));
            (same, NotFreshened::OtherStrongValidator)
        }
        (Some(tag), _) => {
            let same = found(&|one| one.etag.as_ref().is_some_and(|own| own.weakly_matches(tag)));
            (most_recent(validated, same), NotFreshened::OtherWeakValidator)
        }
        (None, Some(changed)) => {
            let same = found(&|one| one.last_modified == Some(changed));
            (most_recent(validated, same), NotFreshened::OtherWeakValidator)
        }
        (None, None) => {
            let only = if validated.len() == 1 { vec![0] } else { Vec::new() };
            (only, NotFreshened::Ambiguous)
        }
    };
    if indices.is_empty() { FreshenedResponses::No(otherwise) } else { FreshenedResponses::Update(indices) }
}

fn most_recent(validated: &[&StoredMeta], indices: Vec<usize>) -> Vec<usize> {
    indices.into_iter().max_by_key(|&index| validated[index].response.date).into_iter().collect()
}

/// Fields that describe the stored bytes: a response without a body cannot change them (RFC 9111 §3.2).
const CONTENT_FIELDS: [&[u8]; 3] = [b"content-encoding", b"content-length", b"content-range"];

/// Fields that describe one transfer: they come from the update or not at all.
const TRANSFER_FIELDS: [&[u8]; 2] = [b"age", b"date"];

/// One stored header line.
pub type StoredLine = (Vec<u8>, Vec<u8>);

/// Returns the lines of a stored response after an update: those of the update replace their namesakes.
///
/// Fields that describe the stored bytes stay; fields that are never stored, cookies among them, are not taken over.
/// Without a `Date` the update has that of its receipt (RFC 9110 §6.6.1).
pub fn merge<'a, 'b>(
    stored: impl FieldLines<'a>,
    lines: impl FieldLines<'b>,
    update: &ResponseMeta,
) -> Vec<StoredLine> {
    let is_one_of = |names: &[&[u8]], name: &[u8]| names.iter().any(|one| one.eq_ignore_ascii_case(name));
    let mut updates = stored_lines(lines, update);
    updates.retain(|(name, _)| !is_one_of(&CONTENT_FIELDS, name));
    let is_replaced = |name: &[u8]| {
        is_one_of(&TRANSFER_FIELDS, name)
            || updates.iter().any(|(other, _)| other.eq_ignore_ascii_case(name))
            || update.withheld().any(|other| other.as_bytes().eq_ignore_ascii_case(name))
    };
    let mut merged: Vec<StoredLine> = stored.filter(|(name, _)| !is_replaced(name)).map(owned).collect();
    merged.extend(updates.iter().copied().map(owned));
    if !merged.iter().any(|(name, _)| name.eq_ignore_ascii_case(b"date")) {
        merged.push((b"Date".to_vec(), write_date(update.times.received).into_bytes()));
    }
    merged
}

fn owned((name, value): (&[u8], &[u8])) -> StoredLine {
    (name.to_vec(), value.to_vec())
}

reasons! {
    /// The difference between a response to HEAD and the stored response to GET.
    Mismatch {
        /// It has another entity tag.
        EntityTag = "entity-tag", "RFC 9111 §4.3.5";
        /// It was changed at another time.
        LastModified = "last-modified", "RFC 9111 §4.3.5";
        /// It has another length.
        ContentLength = "content-length", "RFC 9111 §4.3.5";
    }
}

/// The effect of a response to HEAD on the stored response that matches the request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeadUpdate {
    /// Its lines are updated, see [`merge`].
    Update,
    /// It is stale from now on, see [`StoredMeta::expire`].
    Stale(Mismatch),
    /// None: the response is not a 200.
    Nothing,
}

/// Compares a response to HEAD with a stored response to GET: all that it says about the content must be the same.
pub fn head_update(stored: &StoredMeta, update: &ResponseMeta) -> HeadUpdate {
    if update.status != 200 {
        return HeadUpdate::Nothing;
    }
    let own = &stored.response;
    let differences = [
        (update.etag.is_some() && update.etag != own.etag, Mismatch::EntityTag),
        (update.last_modified.is_some() && update.last_modified != own.last_modified, Mismatch::LastModified),
        (update.content_length.is_some_and(|length| length != stored.body_bytes), Mismatch::ContentLength),
    ];
    match differences.iter().find(|(applies, _)| *applies) {
        Some((_, why)) => HeadUpdate::Stale(*why),
        None => HeadUpdate::Update,
    }
}
