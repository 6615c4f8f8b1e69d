//! Permits for requests to a server.

use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::OwnedSemaphorePermit;
use units::Nanos;

use super::connection::OriginConnection;
use super::deadline::within;
use super::failure::OriginFailure;
use super::health::HealthEvent;
use super::pool::Pool;
use super::servers::{Servers, UpstreamServer};
use crate::message::BodyError;

/// A permit for one request to a server, within the server's request limit.
#[derive(Debug)]
pub(super) struct ServerPermit {
    servers: Arc<Servers>,
    pool: Rc<Pool>,
    pub(super) index: usize,
    permit: OwnedSemaphorePermit,
}

impl ServerPermit {
    /// Acquires a permit for the server with this index; waits for one if all are taken, up to the connect timeout.
    pub(super) async fn acquire(
        servers: &Arc<Servers>,
        pool: &Rc<Pool>,
        index: usize,
    ) -> Result<ServerPermit, OriginFailure> {
        let server = servers.all.get(index).ok_or(OriginFailure::AllDown)?;
        let permit = match Arc::clone(&server.permits).try_acquire_owned() {
            Ok(permit) => permit,
            Err(_) => wait(servers, server).await?,
        };
        server.counts.requests.fetch_add(1, Ordering::Relaxed);
        Ok(ServerPermit { servers: Arc::clone(servers), pool: Rc::clone(pool), index, permit })
    }

    /// Returns the server.
    pub(super) fn server(&self) -> &UpstreamServer {
        &self.servers.all[self.index]
    }

    /// Notes that the server has responded to a request for a URL.
    pub(super) fn note_response(&self, url: u64) {
        self.servers.answers.note(url, self.servers.now());
        self.servers.note(self.index, HealthEvent::Success, || "it has answered a request".to_owned());
    }

    /// Counts a request that the server has not answered.
    pub(super) fn note_failure(&self, failure: &OriginFailure) {
        self.note_aborted();
        if let OriginFailure::Malformed(head) = failure {
            self.servers.note_fault(self.index, head.to_string());
        }
    }

    /// Notes what a failure says about the server's health; returns whether it says anything. The request for this URL
    /// was made at `since`.
    pub(super) fn note_health(&self, failure: &OriginFailure, url: u64, since: Nanos) -> bool {
        // Only what counts while this server is silent asks for it, so another one has answered.
        let is_url_answered = self.servers.answers.has_since(url, since);
        let event = failure.health_event(url, since, is_url_answered);
        if let Some(event) = event {
            self.servers.note(self.index, event, || failure.to_string());
        }
        event.is_some()
    }

    /// Notes that the body of a response has ended with an error.
    pub(super) fn note_body_error(&self, error: &BodyError) {
        self.note_aborted();
        if let BodyError::Malformed(_) = error {
            self.servers.note_fault(self.index, error.to_string());
        }
    }

    /// Counts a request or response that broke off. It says little about the server, as a slow client may be the
    /// cause.
    pub(super) fn note_aborted(&self) {
        self.server().counts.failures.fetch_add(1, Ordering::Relaxed);
    }

    /// Releases the permit, and returns a connection to the pool if there is one.
    pub(super) fn release(self, connection: Option<OriginConnection>) {
        if let Some(OriginConnection { stream, .. }) = connection {
            // Without its buffer: an idle connection needs none.
            self.pool.put(self.index, OriginConnection::new(stream), self.servers.now());
        }
    }

    /// Returns the semaphore permit, for a connection that is used as a tunnel.
    pub(super) fn into_permit(self) -> OwnedSemaphorePermit {
        self.permit
    }
}

/// Waits for a permit, as long as for a connection.
async fn wait(servers: &Servers, server: &UpstreamServer) -> Result<OwnedSemaphorePermit, OriginFailure> {
    let settings = &servers.settings;
    let _waiting = WaitingGuard::begin(&servers.waiting, settings.waiting_max).ok_or(OriginFailure::Busy)?;
    let permit = Arc::clone(&server.permits).acquire_owned();
    let taken = async { permit.await.map_err(|_| OriginFailure::Busy) };
    within(settings.connect_timeout, taken, || OriginFailure::Busy).await
}

/// A guard that counts a waiting request.
struct WaitingGuard<'a>(&'a AtomicUsize);

impl WaitingGuard<'_> {
    fn begin(count: &AtomicUsize, most: usize) -> Option<WaitingGuard<'_>> {
        let waiting = WaitingGuard(count);
        (count.fetch_add(1, Ordering::Relaxed) < most).then_some(waiting)
    }
}

impl Drop for WaitingGuard<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_requests_are_counted_while_they_wait() {
        let count = AtomicUsize::new(0);
        let first = WaitingGuard::begin(&count, 1);
        assert!(first.is_some() && WaitingGuard::begin(&count, 1).is_none());
        assert_eq!(count.load(Ordering::Relaxed), 1);
        drop(first);
        assert!(WaitingGuard::begin(&count, 1).is_some());
        assert!(WaitingGuard::begin(&count, 0).is_none());
    }
}
