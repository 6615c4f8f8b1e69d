//! Ranges of a stored response (RFC 9110 §14, §15.3.7, §15.5.17).

use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

use bytes::Bytes;
use cache_policy::{ByteRange, content_range};
use cache_store::StoredResponse;
use http1::HeaderLines;
use units::WallTime;

use super::cache_status::CacheStatus;
use super::lines::{finish_stored, of_range_refused};
use super::response::{Response, ResponseBody};
use super::settings::ExchangeSettings;

/// A maker of partial responses.
#[derive(Debug, Clone, Copy)]
pub(super) struct PartialResponse<'a> {
    /// The stored response.
    pub object: &'a Arc<StoredResponse>,
    /// The cache status to report.
    pub cache_status: CacheStatus,
    /// The current time.
    pub now: WallTime,
    /// The settings of the exchange.
    pub settings: &'a ExchangeSettings,
}

impl PartialResponse<'_> {
    /// Returns a 206 with a single range.
    pub(super) fn single_range(&self, range: ByteRange) -> Response {
        let body = part(&self.object.lend(), range);
        let mut lines = self.object.lines.with_room(256);
        lines.push(b"Content-Range", self.content_range(Some(range)).as_bytes());
        self.response(206, lines, vec![body])
    }

    /// Returns a 206 with several ranges, as `multipart/byteranges` (RFC 9110 §14.6).
    pub(super) fn multiple_ranges(&self, ranges: &[ByteRange]) -> Response {
        let boundary = boundary();
        let content_type = self.object.lines.get("content-type");
        let body = self.object.lend();
        let mut pieces = Vec::with_capacity(2 * ranges.len() + 1);
        for range in ranges {
            let mut head = format!("\r\n--{boundary}\r\n").into_bytes();
            if let Some(value) = content_type {
                head.extend_from_slice(&[b"Content-Type: ", value, b"\r\n"].concat());
            }
            let position = self.content_range(Some(*range));
            head.extend_from_slice(format!("Content-Range: {position}\r\n\r\n").as_bytes());
            pieces.extend([Bytes::from(head), part(&body, *range)]);
        }
        pieces.push(Bytes::from(format!("\r\n--{boundary}--\r\n")));
        let mut lines = self.object.lines.with_room(256);
        lines.remove("content-type");
        lines.push(b"Content-Type", format!("multipart/byteranges; boundary={boundary}").as_bytes());
        self.response(206, lines, pieces)
    }

    /// Returns a 416, which tells the length of the whole.
    pub(super) fn not_satisfiable(&self) -> Response {
        let mut lines = of_range_refused(&self.object.lines);
        lines.push(b"Content-Range", self.content_range(None).as_bytes());
        self.response(416, lines, Vec::new())
    }

    fn content_range(&self, range: Option<ByteRange>) -> String {
        content_range(range, self.object.body.len() as u64)
    }

    fn response(&self, status: u16, mut lines: HeaderLines, pieces: Vec<Bytes>) -> Response {
        let length: usize = pieces.iter().map(Bytes::len).sum();
        lines.push_number(b"Content-Length", length as u64);
        finish_stored(&mut lines, self.object, self.now, &self.cache_status, self.settings);
        Response {
            status,
            lines,
            body: ResponseBody::Pieces(pieces),
            handling: self.cache_status.handling(),
            memo: None,
        }
    }
}

/// Returns a range of a body; the policy has found it within.
fn part(body: &Bytes, range: ByteRange) -> Bytes {
    let end = (range.last as usize).saturating_add(1).min(body.len());
    body.slice((range.first as usize).min(end)..end)
}

/// Returns a boundary that occurs in no body but by a chance of 2⁻¹²⁸, whoever wrote it.
fn boundary() -> String {
    let random = || RandomState::new().hash_one(0_u64);
    format!("{:016x}{:016x}", random(), random())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_never_exceeds_its_body() {
        let body = Bytes::from_static(b"abcdef");
        let range = |first, last| ByteRange { first, last };
        assert_eq!(part(&body, range(1, 3)), "bcd");
        assert_eq!(part(&body, range(4, 99)), "ef");
        assert_eq!(part(&body, range(9, 99)), "");
        assert_eq!(part(&body, range(0, u64::MAX)), "abcdef");
    }

    #[test]
    fn multipart_boundaries_differ_and_are_tokens() {
        let one = boundary();
        let other = boundary();
        assert_ne!(one, other);
        assert!(one.len() == 32 && one.bytes().all(|byte| byte.is_ascii_alphanumeric()));
    }
}
