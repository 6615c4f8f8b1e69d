//! Monitors of the account that a database gives of itself: over a session of its own, or of what SQLite counts in this
//! process.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};

use drivers::database::DatabaseServer;
use drivers::orders::{SampleError, SampledAccount, SessionCounts, SessionSampler};
use model::{Counter, Reading};
use observe::{MonitorError, ResourceMonitor};
use orderstore::StoreCounts;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::database::DatabaseTarget;

/// Reads a level of a sample.
type ReadLevel = fn(&SessionCounts) -> u64;

/// The levels of a sample.
const LEVELS: [(Counter, ReadLevel); 3] = [
    (Counter::SessionsActive, |sessions| sessions.active),
    (Counter::SessionsAtLock, |sessions| sessions.at_lock),
    (Counter::SessionsAtLog, |sessions| sessions.at_log),
];

/// A monitor of a database. Its session is in a thread of its own, because no other thread can go on with it.
pub(super) struct DatabaseMonitor {
    /// The server as named.
    name: String,
    requests: UnboundedSender<()>,
    accounts: Receiver<Result<SampledAccount, SampleError>>,
    means: [RoundedMean; LEVELS.len()],
    /// Whether it has been read: a database that never tells is run without.
    has_told: bool,
}

impl DatabaseMonitor {
    /// Starts the thread, which ends with the monitor. It connects at the first reading.
    pub(super) fn start(target: &DatabaseTarget) -> DatabaseMonitor {
        let ((requests, asked), (tell, accounts)) = (unbounded_channel(), channel());
        let server = target.server.clone();
        std::thread::spawn(move || answer(server, asked, &tell));
        let means = Default::default();
        DatabaseMonitor { name: target.name.clone(), requests, accounts, means, has_told: false }
    }

    /// Asks for an account; `None` if the session has ended.
    fn account(&self) -> Option<Result<SampledAccount, SampleError>> {
        // An account that came too late is none of this reading.
        while self.accounts.try_recv().is_ok() {}
        self.requests.send(()).ok()?;
        self.accounts.recv_timeout(2 * SessionSampler::ANSWER_MAX).ok()
    }
}

/// Answers requests for an account until nobody can make one.
fn answer(
    server: DatabaseServer,
    asked: UnboundedReceiver<()>,
    accounts: &Sender<Result<SampledAccount, SampleError>>,
) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build();
    let Ok(runtime) = runtime else { return };
    runtime.block_on(SessionSampler::new(server).serve(asked, |account| accounts.send(account).is_ok()));
}

/// A mean of counts as a whole number. What rounding leaves of it is added to the next one, so that the mean over n readings
/// is right within 1 ÷ n.
#[derive(Debug, Default)]
struct RoundedMean {
    rest: f64,
}

impl RoundedMean {
    /// Returns the next mean, Σ counts ÷ n, of at least one.
    fn next(&mut self, counts: impl ExactSizeIterator<Item = u64>) -> u64 {
        let n = counts.len() as f64;
        let mean = counts.map(|count| count as f64).sum::<f64>() / n + self.rest;
        let rounded = mean.round().max(0.0);
        self.rest = mean - rounded;
        rounded as u64
    }
}

impl ResourceMonitor for DatabaseMonitor {
    fn read(&mut self, into: &mut Vec<Reading>) -> Result<(), MonitorError> {
        match self.account() {
            Some(Ok(SampledAccount { samples, account })) => {
                self.has_told = true;
                for ((counter, of), mean) in LEVELS.into_iter().zip(&mut self.means) {
                    into.push(Reading::of(counter, String::new(), mean.next(samples.iter().map(of))));
                }
                let own = account.counters.into_iter();
                into.extend(own.map(|(name, n)| Reading::of(Counter::DatabaseCount, name.to_owned(), n)));
                Ok(())
            }
            failed if self.has_told => {
                let ended = || "its session has ended".to_owned();
                let reason = failed.and_then(Result::err).map_or_else(ended, |error| error.to_string());
                Err(MonitorError { watched: self.name.clone(), reason })
            }
            Some(Err(_)) | None => Ok(()),
        }
    }
}

/// A monitor of a database within this process.
pub(super) struct EmbeddedMonitor(pub(super) Arc<StoreCounts>);

impl ResourceMonitor for EmbeddedMonitor {
    fn read(&mut self, into: &mut Vec<Reading>) -> Result<(), MonitorError> {
        let counts = self.0.named().into_iter();
        into.extend(counts.map(|(name, n)| Reading::of(Counter::DatabaseCount, name.to_owned(), n)));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: 4 of 10 samples are 1, a mean of 0.4, so that five readings have 2 in sum: 0, 1, 0, 1, 0.
    #[test]
    fn rounded_means_add_up() {
        let mut mean = RoundedMean::default();
        let samples = [1, 0, 0, 1, 0, 1, 0, 0, 1, 0];
        let rounded: Vec<u64> = (0..5).map(|_| mean.next(samples.into_iter())).collect();
        assert_eq!(rounded, [0, 1, 0, 1, 0]);
        assert_eq!(mean.next([7, 8].into_iter()), 8, "7.5, and nothing is left");
    }
}
