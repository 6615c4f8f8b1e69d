//! A pool of idle connections.

use std::cell::RefCell;
use std::collections::VecDeque;

use units::Nanos;

use super::connection::Connection;
use super::settings::OriginSettings;

/// The longest idle time of a connection for a request that must not be sent twice. Servers close connections that
/// have been idle for seconds, and if that crosses with the request it is unknown whether the server saw it.
const RECENT_IDLE_MAX: Nanos = Nanos::from_secs(1);

/// The idle connections of one thread.
#[derive(Debug)]
pub(super) struct Pool {
    /// By server, those idle for longest first.
    idle: RefCell<Vec<VecDeque<Idle>>>,
    timeout: Nanos,
    idle_max: usize,
}

#[derive(Debug)]
struct Idle {
    connection: Connection,
    since: Nanos,
}

impl Pool {
    /// Makes an empty pool.
    pub(super) fn new(settings: &OriginSettings) -> Pool {
        let idle = settings.servers.iter().map(|_| VecDeque::new()).collect();
        Pool { idle: RefCell::new(idle), timeout: settings.idle_timeout, idle_max: settings.idle_max }
    }

    /// Takes the connection to a server that was used last and is still usable, if there is one.
    ///
    /// For a request that is not repeatable only if it was used recently.
    pub(super) fn take(&self, server: usize, is_repeatable: bool, now: Nanos) -> Option<Connection> {
        let limit = if is_repeatable { self.timeout } else { self.timeout.min(RECENT_IDLE_MAX) };
        let mut idle = self.idle.borrow_mut();
        let queue = idle.get_mut(server)?;
        while queue.back().is_some_and(|last| now.saturating_sub(last.since) < limit) {
            let connection = queue.pop_back()?.connection;
            if connection.is_reusable() {
                return Some(connection);
            }
        }
        None
    }

    /// Puts an idle connection into the pool; the one idle for longest is closed if there are too many.
    pub(super) fn put(&self, server: usize, connection: Connection, now: Nanos) {
        let mut idle = self.idle.borrow_mut();
        let Some(queue) = idle.get_mut(server) else { return };
        queue.push_back(Idle { connection, since: now });
        while self.idle_max < queue.len() {
            queue.pop_front();
        }
    }

    /// Closes the connections that have been idle for too long.
    pub(super) fn sweep(&self, now: Nanos) {
        for queue in self.idle.borrow_mut().iter_mut() {
            while queue.front().is_some_and(|first| self.timeout <= now.saturating_sub(first.since)) {
                queue.pop_front();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncWriteExt;
    use tokio::net::{TcpListener, TcpStream};

    use super::super::stream::Stream;
    use super::*;

    const SECOND: Nanos = Nanos::from_secs(1);

    fn pool() -> Pool {
        let server = "127.0.0.1:1".parse().expect("an address");
        let (servers, idle_timeout) = (vec![server], Nanos::from_secs(4));
        Pool::new(&OriginSettings { servers, idle_max: 2, idle_timeout, ..OriginSettings::default() })
    }

    /// Makes a connection; returns both its ends.
    async fn connection() -> (Connection, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let stream = TcpStream::connect(listener.local_addr().expect("an address")).await.expect("connected");
        let (peer, _) = listener.accept().await.expect("accepted");
        (Connection::new(Stream::Plain(stream)), peer)
    }

    fn port(connection: &Connection) -> u16 {
        let Stream::Plain(stream) = &connection.stream else { panic!("no TLS here") };
        stream.local_addr().expect("an address").port()
    }

    fn run(test: impl Future<Output = ()>) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.expect("a runtime").block_on(test);
    }

    #[test]
    fn the_pool_reuses_the_newest_and_evicts_the_oldest() {
        run(async {
            let (pool, mut ends) = (pool(), Vec::new());
            for _ in 0..3 {
                ends.push(connection().await);
            }
            let (connections, _peers): (Vec<_>, Vec<_>) = ends.into_iter().unzip();
            let ports: Vec<_> = connections.iter().map(port).collect();
            connections.into_iter().for_each(|one| pool.put(0, one, Nanos::ZERO));
            let taken = || pool.take(0, true, SECOND).as_ref().map(port);
            assert_eq!([taken(), taken(), taken()], [Some(ports[2]), Some(ports[1]), None]);
        });
    }

    #[test]
    fn unrepeatable_requests_need_a_recently_used_connection() {
        run(async {
            let pool = pool();
            let (connection, _peer) = connection().await;
            pool.put(0, connection, Nanos::ZERO);
            assert!(pool.take(0, false, SECOND).is_none());
            assert!(pool.take(0, true, Nanos::from_secs(4)).is_none());
            let connection = pool.take(0, false, Nanos(SECOND.0 - 1)).expect("young enough");
            pool.put(0, connection, Nanos::ZERO);
            pool.sweep(Nanos(4 * SECOND.0 - 1));
            assert!(!pool.idle.borrow()[0].is_empty());
            pool.sweep(Nanos::from_secs(4));
            assert!(pool.idle.borrow()[0].is_empty());
        });
    }

    #[test]
    fn closed_or_readable_idle_connections_are_not_reused() {
        run(async {
            let pool = pool();
            let (first, ended) = connection().await;
            let (second, mut talking) = connection().await;
            drop(ended);
            talking.write_all(b"HTTP/1.1 408 x\r\n\r\n").await.expect("written");
            pool.put(0, first, Nanos::ZERO);
            pool.put(0, second, Nanos::ZERO);
            assert!(pool.take(0, true, Nanos::ZERO).is_none());
            assert!(pool.idle.borrow()[0].is_empty());
        });
    }
}
