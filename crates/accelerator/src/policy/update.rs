//! Stored responses brought up to date by 304 and by replies to HEAD (RFC 9111 §3.2, §4.3.4, §4.3.5).

use super::date::write_date;
use super::message::Lines;
use super::outgoing::stored_lines;
use super::response::Response;
use super::stored::Stored;

reasons! {
    /// Why a 304 updates nothing; the request is then repeated without conditions.
    NotFreshened {
        /// It is about a response with another strong validator.
        OtherStrongValidator = "other-strong-validator", "RFC 9111 §4.3.4";
        /// It is about a response with another weak validator.
        OtherWeakValidator = "other-weak-validator", "RFC 9111 §4.3.4";
        /// It does not say which of several responses it is about.
        Ambiguous = "ambiguous", "RFC 9111 §4.3.4";
    }
}

/// Which stored responses a 304 is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Freshened {
    /// These, by their indices; at least one.
    Update(Vec<usize>),
    /// None.
    No(NotFreshened),
}

/// Decides which of the responses that were asked about a 304 updates.
///
/// A strong tag stands for all responses that have it; a weak one, or a date of change, for the most recent. Without
/// any, the reply is about the response that was asked about, if that was one: the condition was its own.
///
/// An update can make a response one that must not be stored; look at the merged head with [`store`](super::store()).
pub fn freshen(asked: &[&Stored], reply: &Response) -> Freshened {
    let found = |is_same: &dyn Fn(&Response) -> bool| -> Vec<usize> {
        let same = asked.iter().enumerate().filter(|(_, one)| is_same(&one.response));
        same.map(|(index, _)| index).collect()
    };
    let (indices, otherwise) = match (&reply.etag, reply.last_modified) {
        (Some(tag), _) if !tag.is_weak => {
            let same = found(&|one| one.etag.as_ref().is_some_and(|own| own.is_strongly(tag)));
            (same, NotFreshened::OtherStrongValidator)
        }
        (Some(tag), _) => {
            let same = found(&|one| one.etag.as_ref().is_some_and(|own| own.is_weakly(tag)));
            (most_recent(asked, same), NotFreshened::OtherWeakValidator)
        }
        (None, Some(changed)) => {
            let same = found(&|one| one.last_modified == Some(changed));
            (most_recent(asked, same), NotFreshened::OtherWeakValidator)
        }
        (None, None) => {
            let only = if asked.len() == 1 { vec![0] } else { Vec::new() };
            (only, NotFreshened::Ambiguous)
        }
    };
    if indices.is_empty() { Freshened::No(otherwise) } else { Freshened::Update(indices) }
}

fn most_recent(asked: &[&Stored], indices: Vec<usize>) -> Vec<usize> {
    indices.into_iter().max_by_key(|&index| asked[index].response.date).into_iter().collect()
}

/// Fields that describe the stored bytes: a reply without them cannot change them (RFC 9111 §3.2).
const OF_THE_BYTES: [&[u8]; 3] = [b"content-encoding", b"content-length", b"content-range"];

/// Fields that are about one transfer: they come from the reply or not at all.
const OF_THE_TRANSFER: [&[u8]; 2] = [b"age", b"date"];

/// One header line that is kept.
pub type Line = (Vec<u8>, Vec<u8>);

/// Returns the lines of a stored response after an update: those of the reply take the place of their namesakes.
///
/// What describes the stored bytes stays; what is not stored of any response, cookies among it, is not taken over.
/// Without a `Date` the reply has that of its arrival (RFC 9110 §6.6.1).
pub fn merge<'a, 'b>(stored: impl Lines<'a>, lines: impl Lines<'b>, reply: &Response) -> Vec<Line> {
    let is_one_of = |names: &[&[u8]], name: &[u8]| names.iter().any(|one| one.eq_ignore_ascii_case(name));
    let mut updates = stored_lines(lines, reply);
    updates.retain(|(name, _)| !is_one_of(&OF_THE_BYTES, name));
    let is_replaced = |name: &[u8]| {
        is_one_of(&OF_THE_TRANSFER, name)
            || updates.iter().any(|(other, _)| other.eq_ignore_ascii_case(name))
            || reply.withheld().any(|other| other.as_bytes().eq_ignore_ascii_case(name))
    };
    let mut merged: Vec<Line> = stored.filter(|(name, _)| !is_replaced(name)).map(owned).collect();
    merged.extend(updates.iter().copied().map(owned));
    if !merged.iter().any(|(name, _)| name.eq_ignore_ascii_case(b"date")) {
        merged.push((b"Date".to_vec(), write_date(reply.times.received).into_bytes()));
    }
    merged
}

fn owned((name, value): (&[u8], &[u8])) -> Line {
    (name.to_vec(), value.to_vec())
}

reasons! {
    /// In what a reply to HEAD differs from the stored response to GET.
    Mismatch {
        /// It has another entity tag.
        EntityTag = "entity-tag", "RFC 9111 §4.3.5";
        /// It was changed at another time.
        LastModified = "last-modified", "RFC 9111 §4.3.5";
        /// It has another length.
        ContentLength = "content-length", "RFC 9111 §4.3.5";
    }
}

/// What a reply to HEAD does to a stored response that would have suited the request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeadUpdate {
    /// Its lines are updated, see [`merge`].
    Update,
    /// It is stale from now on, see [`Stored::expire`].
    Stale(Mismatch),
    /// Nothing: the reply is no 200.
    Nothing,
}

/// Compares a reply to HEAD with a stored response to GET: all that it says about the content must be the same.
pub fn head_update(stored: &Stored, reply: &Response) -> HeadUpdate {
    if reply.status != 200 {
        return HeadUpdate::Nothing;
    }
    let own = &stored.response;
    let differences = [
        (reply.etag.is_some() && reply.etag != own.etag, Mismatch::EntityTag),
        (reply.last_modified.is_some() && reply.last_modified != own.last_modified, Mismatch::LastModified),
        (reply.content_length.is_some_and(|length| length != stored.body_bytes), Mismatch::ContentLength),
    ];
    match differences.iter().find(|(applies, _)| *applies) {
        Some((_, why)) => HeadUpdate::Stale(*why),
        None => HeadUpdate::Update,
    }
}
