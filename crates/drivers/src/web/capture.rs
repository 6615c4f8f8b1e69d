//! The parts of a reply that outlive it.

use std::time::SystemTime;

use model::{BUFFERED_BODY_MAX, Redirects};

use super::missing_value::MissingValue;
use crate::net::OperationFailure;

/// The most `Set-Cookie` fields of a reply that are looked at.
const SET_COOKIES_MAX: usize = 100;

/// The memory that is kept for the next body, in bytes.
const KEPT_BYTES_MAX: usize = 16 << 10;

/// The parts of a reply to be kept, and those kept so far.
#[derive(Default)]
pub struct Capture {
    wanted: CapturePlan,
    pub(super) set_cookies: Vec<Vec<u8>>,
    pub(super) date: Option<SystemTime>,
    /// The status and `Location` of a redirect that is to be followed.
    pub(super) redirect: Option<(u16, Vec<u8>)>,
    /// The values of the wanted header fields, in their order.
    pub(super) fields: Vec<Option<Vec<u8>>>,
    pub(super) body: Vec<u8>,
}

/// The parts of a reply to be kept.
#[derive(Debug, Clone, Default)]
pub(super) struct CapturePlan {
    pub(super) cookies: bool,
    pub(super) body: bool,
    pub(super) redirects: Redirects,
    /// Names of header fields.
    pub(super) fields: Vec<String>,
}

impl Capture {
    /// Begins with the next reply.
    pub(super) fn begin(&mut self, wanted: &CapturePlan) {
        self.wanted.clone_from(wanted);
        self.set_cookies.clear();
        self.date = None;
        self.redirect = None;
        self.fields.clear();
        self.fields.resize(wanted.fields.len(), None);
        self.body.clear();
        self.body.shrink_to(KEPT_BYTES_MAX);
    }

    /// Takes the head of the final reply; returns whether it is a redirect to be followed.
    pub(crate) fn take_head<'h>(
        &mut self,
        status: u16,
        fields: impl Iterator<Item = (&'h [u8], &'h [u8])>,
    ) -> bool {
        let mut location = None;
        for (name, value) in fields {
            let is = |known: &str| name.eq_ignore_ascii_case(known.as_bytes());
            if self.wanted.cookies && is("set-cookie") && self.set_cookies.len() < SET_COOKIES_MAX {
                self.set_cookies.push(value.to_owned());
            } else if self.wanted.cookies && is("date") {
                self.date =
                    std::str::from_utf8(value).ok().and_then(|date| httpdate::parse_http_date(date).ok());
            } else if is("location") && location.is_none() {
                location = Some(value.to_owned());
            }
            for (wanted, kept) in self.wanted.fields.iter().zip(&mut self.fields) {
                if kept.is_none() && is(wanted) {
                    *kept = Some(value.to_owned());
                }
            }
        }
        let is_redirect =
            self.wanted.redirects == Redirects::Follow && matches!(status, 301 | 302 | 303 | 307 | 308);
        self.redirect = location.filter(|_| is_redirect).map(|location| (status, location));
        // The body of a redirect on the way is not the one that is looked for.
        self.wanted.body &= self.redirect.is_none();
        self.redirect.is_some()
    }

    /// Returns whether the body is looked at, which it cannot be if it is encoded.
    pub(crate) fn wants_body(&self) -> bool {
        self.wanted.body
    }

    /// Takes a piece of the body.
    pub(crate) fn take_body(&mut self, piece: &[u8]) -> Result<(), OperationFailure> {
        if !self.wanted.body {
            return Ok(());
        }
        if BUFFERED_BODY_MAX < self.body.len() + piece.len() {
            return Err(MissingValue::BodyTooLong.into());
        }
        self.body.extend_from_slice(piece);
        Ok(())
    }
}
