//! A place with a server, for one request.

use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::OwnedSemaphorePermit;

use super::connection::Connection;
use super::deadline::within;
use super::failure::OriginFailure;
use super::health::Event;
use super::pool::Pool;
use super::servers::{Server, Servers};

/// A place with a server: the right to have one request under way.
#[derive(Debug)]
pub(super) struct Seat {
    servers: Arc<Servers>,
    pool: Rc<Pool>,
    pub(super) index: usize,
    place: OwnedSemaphorePermit,
}

impl Seat {
    /// Takes a place with the server of this index; waits for one if all are taken, but not for long.
    pub(super) async fn take(
        servers: &Arc<Servers>,
        pool: &Rc<Pool>,
        index: usize,
    ) -> Result<Seat, OriginFailure> {
        let server = servers.all.get(index).ok_or(OriginFailure::AllDown)?;
        let place = match Arc::clone(&server.places).try_acquire_owned() {
            Ok(place) => place,
            Err(_) => wait(servers, server).await?,
        };
        server.counts.requests.fetch_add(1, Ordering::Relaxed);
        Ok(Seat { servers: Arc::clone(servers), pool: Rc::clone(pool), index, place })
    }

    /// Returns the server.
    pub(super) fn server(&self) -> &Server {
        &self.servers.all[self.index]
    }

    /// Takes note that the server has replied.
    pub(super) fn replied(&self) {
        self.servers.note(self.index, Event::Success, || "a request that was tried has succeeded".to_owned());
    }

    /// Takes note that the server has failed.
    pub(super) fn failed(&self, failure: &OriginFailure) {
        self.broke_off();
        self.servers.note(self.index, Event::Failure, || failure.to_string());
    }

    /// Counts a request or reply that broke off. Says little about the server, as a slow client may have led to it.
    pub(super) fn broke_off(&self) {
        self.server().counts.failures.fetch_add(1, Ordering::Relaxed);
    }

    /// Gives the place back, and a connection if there is one that may be kept.
    pub(super) fn leave(self, connection: Option<Connection>) {
        if let Some(Connection { stream, .. }) = connection {
            // Without its buffer: an idle connection needs none.
            self.pool.put(self.index, Connection::new(stream), self.servers.now());
        }
    }

    /// Returns the place, for as long as the connection is used otherwise.
    pub(super) fn into_place(self) -> OwnedSemaphorePermit {
        self.place
    }
}

/// Waits for a place with a server as long as for a connection.
async fn wait(servers: &Servers, server: &Server) -> Result<OwnedSemaphorePermit, OriginFailure> {
    let settings = &servers.settings;
    let _waiting = Waiting::begin(&servers.waiting, settings.waiting_max).ok_or(OriginFailure::Busy)?;
    let place = Arc::clone(&server.places).acquire_owned();
    let taken = async { place.await.map_err(|_| OriginFailure::Busy) };
    within(settings.connect_timeout, taken, || OriginFailure::Busy).await
}

/// Counts one that waits, as long as it does.
struct Waiting<'a>(&'a AtomicUsize);

impl Waiting<'_> {
    fn begin(count: &AtomicUsize, most: usize) -> Option<Waiting<'_>> {
        let waiting = Waiting(count);
        (count.fetch_add(1, Ordering::Relaxed) < most).then_some(waiting)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn those_who_wait_are_counted_as_long_as_they_do() {
        let count = AtomicUsize::new(0);
        let first = Waiting::begin(&count, 1);
        assert!(first.is_some() && Waiting::begin(&count, 1).is_none());
        assert_eq!(count.load(Ordering::Relaxed), 1);
        drop(first);
        assert!(Waiting::begin(&count, 1).is_some());
        assert!(Waiting::begin(&count, 0).is_none());
    }
}
