//! Sampling of a database's sessions, over a session of its own, between the accounts that the database gives of itself.

use std::time::Duration;

use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::{MissedTickBehavior, interval, timeout};

use super::{DatabaseAccount, DatabaseControl, SessionCounts};
use crate::database::{DatabaseError, DatabaseServer};

/// The longest that a query takes, connecting to a server that was restarted included.
const QUERY_MAX: Duration = Duration::from_secs(2);

/// The period at which sessions are counted: a wait for a lock or for the log is short.
const SAMPLE_EVERY: Duration = Duration::from_millis(100);

/// The most samples between two accounts, which are asked for once a second: an account has one more of its own.
const SAMPLES_BETWEEN: usize = 9;

/// An account of a database, with samples of its sessions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SampledAccount {
    /// The samples since the account before, the sessions of this one last.
    pub samples: Vec<SessionCounts>,
    /// The account.
    pub account: DatabaseAccount,
}

/// A reason why there is no account, or no sample of the sessions.
#[derive(Debug, thiserror::Error)]
pub enum SampleError {
    /// The database cannot be asked.
    #[error(transparent)]
    Database(#[from] DatabaseError),
    /// It does not answer in time.
    #[error("no answer within {} s", QUERY_MAX.as_secs())]
    Slow,
}

/// A sampler of a database's sessions.
pub struct SessionSampler {
    server: DatabaseServer,
    /// `None` before the first account, and after a failure.
    session: Option<DatabaseControl>,
    samples: Vec<SessionCounts>,
    /// The failure of a sample, which is that of the next account.
    failure: Option<SampleError>,
}

impl SessionSampler {
    /// The longest that a request waits for its answer: for the rest of a sample, or while the session is opened and its
    /// first account read.
    pub const ANSWER_MAX: Duration = QUERY_MAX;

    /// Makes a sampler that connects when it is first asked for an account.
    pub fn new(server: DatabaseServer) -> SessionSampler {
        SessionSampler { server, session: None, samples: Vec::new(), failure: None }
    }

    /// Answers each request with an account, and counts the sessions ten times a second between them, until nobody can make
    /// a request or `tell` returns that nobody listens.
    pub async fn serve(
        mut self,
        mut requests: UnboundedReceiver<()>,
        tell: impl Fn(Result<SampledAccount, SampleError>) -> bool,
    ) {
        let mut ticks = interval(SAMPLE_EVERY);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            // A query begins only when the wait for both is over, so that none is cut off.
            tokio::select! {
                request = requests.recv() => {
                    let is_over = request.is_none() || !tell(self.account().await);
                    if is_over {
                        return;
                    }
                    ticks.reset();
                }
                _ = ticks.tick(), if self.is_due() => self.sample().await,
            }
        }
    }

    /// Returns whether a sample is to be taken: a database of which no accounts are wanted is left alone.
    fn is_due(&self) -> bool {
        self.session.is_some() && self.samples.len() < SAMPLES_BETWEEN
    }

    async fn sample(&mut self) {
        let Some(session) = &mut self.session else { return };
        match within(session.sessions()).await {
            Ok(sessions) => self.samples.push(sessions),
            Err(failure) => {
                self.session = None;
                self.failure = Some(failure);
            }
        }
    }

    /// Returns the account, with the samples since the one before. Where one of these has failed, the account fails at once:
    /// a database that hangs is waited for once per account.
    async fn account(&mut self) -> Result<SampledAccount, SampleError> {
        let mut samples = std::mem::take(&mut self.samples);
        if let Some(failure) = self.failure.take() {
            return Err(failure);
        }
        let account = within(read(&self.server, &mut self.session)).await;
        if account.is_err() {
            self.session = None;
        }
        let account = account?;
        samples.push(account.sessions);
        Ok(SampledAccount { samples, account })
    }
}

async fn within<T>(query: impl Future<Output = Result<T, DatabaseError>>) -> Result<T, SampleError> {
    match timeout(QUERY_MAX, query).await {
        Ok(answer) => Ok(answer?),
        Err(_) => Err(SampleError::Slow),
    }
}

async fn read(
    server: &DatabaseServer,
    session: &mut Option<DatabaseControl>,
) -> Result<DatabaseAccount, DatabaseError> {
    let open = match session {
        Some(open) => open,
        None => session.insert(DatabaseControl::connect(server).await?),
    };
    open.account().await
}
