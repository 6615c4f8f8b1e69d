//! Replies of application servers over HTTP, whole and cut.

use drivers::app::untrusted::http_reply;
use frame::app::PAYLOAD_MAX;
use model::Outcome;

/// The first byte says where the rest is cut. A right reply is complete with its last byte and no earlier, and the end of
/// the connection behind it does not change what it says.
pub fn reply(bytes: &[u8]) {
    let Some((at, whole)) = bytes.split_first() else { return };
    let part = &whole[..usize::from(*at).min(whole.len())];
    for has_content in [false, true] {
        let _ = http_reply(part, true, has_content);
        let at_end = http_reply(whole, true, has_content);
        let Some(reply) = http_reply(whole, false, has_content) else { continue };
        assert!(reply.content_bytes <= whole.len().min(PAYLOAD_MAX as usize));
        if reply.outcome == Outcome::Ok {
            assert_eq!(reply.result.is_none(), has_content);
            assert!(part.len() == whole.len() || http_reply(part, false, has_content).is_none());
            assert_eq!(at_end, Some(reply));
        }
    }
}
