//! Monitors of the account that a database gives of itself: over a session of its own, or of what SQLite counts in this
//! process.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use drivers::database::DatabaseServer;
use drivers::orders::{DatabaseAccount, DatabaseControl};
use model::{Counter, Reading};
use observe::{MonitorError, ResourceMonitor};
use orderstore::StoreCounts;

use super::database::DatabaseTarget;

/// The longest that a reading takes, connecting to a server that was restarted included.
const READING_MAX: Duration = Duration::from_secs(2);

/// A monitor of a database. Its session is in a thread of its own, because no other thread can go on with it.
pub(super) struct DatabaseMonitor {
    /// The server as named.
    name: String,
    requests: Sender<()>,
    accounts: Receiver<Result<DatabaseAccount, String>>,
    /// Whether it has been read: a database that never tells is run without.
    has_told: bool,
}

impl DatabaseMonitor {
    /// Starts the thread, which ends with the monitor. It connects at the first reading.
    pub(super) fn start(target: &DatabaseTarget) -> DatabaseMonitor {
        let ((requests, asked), (tell, accounts)) = (channel(), channel());
        let server = target.server.clone();
        std::thread::spawn(move || answer(&server, &asked, &tell));
        DatabaseMonitor { name: target.name.clone(), requests, accounts, has_told: false }
    }

    fn account(&self) -> Result<DatabaseAccount, String> {
        // An account that came too late is none of this reading.
        while self.accounts.try_recv().is_ok() {}
        let ended = || "its session has ended".to_owned();
        self.requests.send(()).map_err(|_| ended())?;
        self.accounts.recv_timeout(2 * READING_MAX).unwrap_or_else(|_| Err(ended()))
    }
}

/// Answers requests for an account until nobody can make one.
fn answer(server: &DatabaseServer, asked: &Receiver<()>, tell: &Sender<Result<DatabaseAccount, String>>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build();
    let Ok(runtime) = runtime else { return };
    let mut session = None;
    while asked.recv().is_ok() {
        let late = |_| Err(format!("no answer within {} s", READING_MAX.as_secs()));
        // A timer is made within the runtime.
        let account = runtime.block_on(async {
            tokio::time::timeout(READING_MAX, read(server, &mut session)).await.unwrap_or_else(late)
        });
        if account.is_err() {
            session = None;
        }
        if tell.send(account).is_err() {
            return;
        }
    }
}

async fn read(
    server: &DatabaseServer,
    session: &mut Option<DatabaseControl>,
) -> Result<DatabaseAccount, String> {
    let open = match session {
        Some(open) => open,
        None => session.insert(DatabaseControl::connect(server).await.map_err(|error| error.to_string())?),
    };
    open.account().await.map_err(|error| error.to_string())
}

impl ResourceMonitor for DatabaseMonitor {
    fn read(&mut self, into: &mut Vec<Reading>) -> Result<(), MonitorError> {
        match self.account() {
            Ok(account) => {
                self.has_told = true;
                for (counter, value) in [
                    (Counter::SessionsActive, account.active),
                    (Counter::SessionsAtLock, account.at_lock),
                    (Counter::SessionsAtLog, account.at_log),
                ] {
                    into.push(Reading::of(counter, String::new(), value));
                }
                let own = account.counters.into_iter();
                into.extend(own.map(|(name, n)| Reading::of(Counter::DatabaseCount, name.to_owned(), n)));
                Ok(())
            }
            Err(reason) if self.has_told => Err(MonitorError { watched: self.name.clone(), reason }),
            Err(_) => Ok(()),
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
