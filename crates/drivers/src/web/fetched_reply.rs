//! A reply as it came, compared with nothing.

use languages::foreign_bytes;

use super::body_check::BodyDigest;
use super::media_type::media_type;

/// A reply as it came.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FetchedReply {
    /// The status.
    pub status: u16,
    /// Type and subtype of the body, in lower case; `None` without a valid `Content-Type`.
    pub content_type: Option<String>,
    /// The `Location` field, escaped for people; `None` without one.
    pub location: Option<String>,
    /// Whether the body is compressed or encoded in another way.
    pub is_encoded: bool,
    /// Length of the body.
    pub body_bytes: u64,
    /// A hash of the body.
    pub body_digest: u64,
    /// Whether the server has asked for a client certificate and got none.
    pub lacks_identity: bool,
}

impl FetchedReply {
    /// Makes a reply without a body from the parts of its head.
    pub(super) fn of_head(
        status: u16,
        is_encoded: bool,
        field: impl Fn(&'static str) -> Option<Vec<u8>>,
    ) -> FetchedReply {
        let content_type = field("content-type");
        let content_type = content_type.map(|value| media_type(&value).to_ascii_lowercase());
        FetchedReply {
            status,
            content_type: content_type
                .and_then(|value| String::from_utf8(value).ok())
                .filter(|value| is_media_type(value)),
            location: field("location").map(|value| foreign_bytes(&value)),
            is_encoded,
            ..FetchedReply::default()
        }
    }

    /// Adds the body that was read.
    pub(super) fn with_body(self, body_bytes: u64, digest: &BodyDigest) -> FetchedReply {
        FetchedReply { body_bytes, body_digest: digest.value(), ..self }
    }
}

fn is_media_type(text: &str) -> bool {
    let is_token = |part: &str| {
        !part.is_empty() && part.bytes().all(|c| c.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&c))
    };
    text.split_once('/').is_some_and(|(kind, subtype)| is_token(kind) && is_token(subtype))
}
