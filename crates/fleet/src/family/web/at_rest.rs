//! The server at rest after a load point: whether bodies that nobody has described changed with time or with the load.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use drivers::web::{ComparisonState, FetchedReply, ObjectSeen, fetch};
use model::{Plan, ReplyBody, Request, WebWorkload};
use units::{Nanos, RealClock};

use super::WebTarget;
use crate::family::unless_stopped;
use crate::reply_changes::{ReplyChange, ReplyChanges};

/// The most kinds of requests that are made again at rest.
const FETCHES_MAX: usize = 20;

/// The longest that all of these requests may take.
const TIME_MAX: Duration = Duration::from_secs(2);

/// A load thread whose users have left.
pub(super) struct IdleLoadThread<'a> {
    pub(super) plan: &'a Plan,
    pub(super) clock: RealClock,
    pub(super) stop: &'a AtomicBool,
    /// The start of the load point.
    pub(super) began: Arc<OnceLock<Nanos>>,
}

impl IdleLoadThread<'_> {
    /// Returns the changes of bodies, of which those that came with the load are told from the others by a request of each
    /// kind that changes nothing on the server.
    pub(super) fn changes(&self, target: &WebTarget, seen: &[((u16, u64), ObjectSeen)]) -> ReplyChanges {
        let mut changes = ReplyChanges::default();
        let Some(workload) = self.plan.workload.web() else { return changes };
        let at_rest = self.fetched(target, workload, seen);
        let began = self.began.get().copied().unwrap_or_default();
        for ((kind, number), object) in seen {
            let reply = at_rest.iter().find(|(fetched, _)| *number == 0 && fetched == kind);
            let is_of_load = reply
                .is_some_and(|(_, reply)| object.came_with_the_load(reply.body_bytes, reply.body_digest));
            if let Some(change) = change(object, is_of_load, began) {
                let request = &workload.requests[usize::from(*kind)];
                changes.add_one(&format!("{} {}", request.method, request.path), change);
            }
        }
        changes
    }

    /// Makes the requests again, as far as they can be; a server that does not answer as expected says nothing.
    fn fetched(
        &self,
        target: &WebTarget,
        workload: &WebWorkload,
        seen: &[((u16, u64), ObjectSeen)],
    ) -> Vec<(u16, FetchedReply)> {
        let may_be_fetched = |kind: u16| is_comparable(workload, &workload.requests[usize::from(kind)]);
        let kinds = seen.iter().filter(|((kind, number), _)| *number == 0 && may_be_fetched(*kind));
        let kinds: Vec<u16> = kinds.map(|((kind, _), _)| *kind).take(FETCHES_MAX).collect();
        let Ok((_, context)) = target.context(self.plan, self.clock) else { return Vec::new() };
        let mut replies = Vec::new();
        let _ = unless_stopped(self.stop, async {
            let all = async {
                for kind in kinds {
                    if let Ok(reply) = fetch(&context, &workload.protocol, kind).await
                        && workload.requests[usize::from(kind)].expects_status(reply.status)
                    {
                        replies.push((kind, reply));
                    }
                }
            };
            let _ = tokio::time::timeout(TIME_MAX, all).await;
            Ok(())
        });
        replies
    }
}

/// Returns whether a request can be made by nobody in particular, and is not one that changes the server.
fn is_comparable(workload: &WebWorkload, request: &Request) -> bool {
    !workload.has_sessions() && request.method == "GET" && request.reply == ReplyBody::Seen
}

/// Returns the change of an object's bodies in a load point that began at a time; `None` if there was none.
fn change(object: &ObjectSeen, is_of_load: bool, began: Nanos) -> Option<ReplyChange> {
    let first = object.first_length();
    let changed = |at: Nanos, other, n, is_mixed| {
        let at = Some(at.saturating_sub(began));
        ReplyChange { at, first, other, n, is_mixed, is_of_load }
    };
    match object.stage() {
        ComparisonState::Changed { at, length, n } => Some(changed(at, length, n, false)),
        ComparisonState::Mixed { at, length, n } => Some(changed(at, length, n, true)),
        ComparisonState::Compared if is_of_load => {
            Some(ReplyChange { at: None, first, other: first, n: 0, is_mixed: false, is_of_load })
        }
        ComparisonState::Compared => None,
    }
}
