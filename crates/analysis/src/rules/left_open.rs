//! Connections that were to end with their reply and did not, so that the driver waited for them.

use model::CLOSE_WAIT_MAX;

use super::{Evidence, RuleFinding};

/// Remarks on connections that the server left open after a complete reply.
pub(super) fn check(evidence: &Evidence) -> Vec<RuleFinding> {
    let (left_open, n) = (evidence.fold.steady.left_open, evidence.figures.n);
    if left_open == 0 {
        return Vec::new();
    }
    let text = format!(
        "the server left {left_open} of {n} connections open after a complete last reply; the load generator waited up to \
         {CLOSE_WAIT_MAX} for each and then closed it, and the wait is part of the response time"
    );
    vec![RuleFinding::remark("left-open", text).hint(
        "make the server close connections on request (RFC 9112 section 9.6), or measure with `--keep-alive`",
    )]
}
