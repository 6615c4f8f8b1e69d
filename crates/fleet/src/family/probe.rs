//! The check of a server before load begins: operations of every kind, one after another.

use std::time::Duration;

use engine::Driver;
use model::{Family, Outcome, Reply};
use units::{Clock, Nanos, RealClock};

use super::profile::profile;
use crate::verify::{VerifyError, WrongObject};

/// Maximum number of wrong objects that are named; usually one explains the others.
const NAMED_MAX: usize = 5;

/// Says that an operation took longer than a time limit.
pub(super) fn no_reply_within(time_limit: Nanos) -> String {
    format!("no complete reply within {time_limit}")
}

/// A check of a server.
pub(super) struct Probe {
    /// The family of the benchmark.
    pub(super) family: Family,
    /// The server as given.
    pub(super) target: String,
    /// Time limit of an operation.
    pub(super) time_limit: Nanos,
    /// The clock of the run.
    pub(super) clock: RealClock,
}

impl Probe {
    /// Says that an operation took too long, where it needs no name.
    pub(super) fn too_slow(&self) -> String {
        no_reply_within(self.time_limit)
    }

    /// Performs operations by one driver. `slow` names an operation that took too long, `refusal` says what a failure
    /// means for the whole server.
    ///
    /// # Errors
    /// There is no connection, or the first operations that failed.
    pub(super) async fn perform_all<D: Driver>(
        &self,
        mut driver: D,
        operations: &[D::Operation],
        slow: impl Fn(&D::Operation) -> String,
        refusal: impl Fn(&Reply) -> Option<VerifyError>,
    ) -> Result<(), VerifyError> {
        let limit = Duration::from_nanos(self.time_limit.0);
        let mut wrong = Vec::new();
        for operation in operations {
            let work = driver.perform(operation, self.clock.now());
            match tokio::time::timeout(limit, work).await {
                Ok(reply) if reply.outcome == Outcome::Ok => {}
                Ok(reply) => {
                    let text = driver.describe(operation, &reply);
                    if matches!(reply.outcome, Outcome::Refused | Outcome::Unreachable) {
                        return Err(VerifyError::Unreachable {
                            family: self.family,
                            target: self.target.clone(),
                            outcome: reply.outcome,
                            text,
                        });
                    }
                    if let Some(refusal) = refusal(&reply) {
                        return Err(refusal);
                    }
                    wrong.push(WrongObject { outcome: reply.outcome, text });
                }
                Err(_) => {
                    driver.give_up();
                    wrong.push(WrongObject { outcome: Outcome::TimedOut, text: slow(operation) });
                    // The others would take as much time again.
                    break;
                }
            }
        }
        if wrong.is_empty() {
            return Ok(());
        }
        let n_wrong = wrong.len();
        let n_objects = operations.len();
        wrong.truncate(NAMED_MAX);
        let things = profile(self.family).checked_things;
        Err(VerifyError::Wrong { family: self.family, things, n_wrong, n_objects, named: wrong })
    }
}
