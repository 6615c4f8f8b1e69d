//! Connections that were to end with their reply and did not, so that the driver waited for them.

use model::CLOSE_WAIT_MAX;

use super::{Evidence, Finding};

/// Remarks on connections that the server left open after a complete reply.
pub(super) fn check(evidence: &Evidence) -> Vec<Finding> {
    let (left_open, n) = (evidence.result.left_open, evidence.result.total.n);
    if left_open == 0 {
        return Vec::new();
    }
    let text = format!(
        "the server left {left_open} of {n} connections open after a complete reply that was to be their last; each was \
         waited for up to {CLOSE_WAIT_MAX} and then closed by the load generator, and the wait is part of the response time"
    );
    vec![Finding::remark("left-open", text).hint(
        "let the server close a connection when it is asked to (RFC 9112 section 9.6), or measure with `--keep-alive`",
    )]
}
