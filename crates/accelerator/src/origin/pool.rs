//! A pool of idle connections.
//!
//! A server may close an idle connection just when a request is sent over it, and then it is unknown whether it saw the
//! request. One that must not be sent twice therefore goes over a connection only if it has been idle for less than
//! half as long as this server has been seen to keep one open, and over a new one otherwise. So servers need not be
//! known to close after 20 ms or after 75 s: nothing is reused at first, and after the first sweep what is in use all
//! the time.

use std::cell::RefCell;
use std::collections::VecDeque;

use units::Nanos;

use super::connection::OriginConnection;
use super::settings::OriginSettings;

/// The longest idle time of a connection for a request that must not be sent twice, however long the server has kept
/// others open.
const RECENT_IDLE_MAX: Nanos = Nanos::from_secs(1);

/// The idle connections of one thread.
#[derive(Debug)]
pub(super) struct Pool {
    /// By server.
    servers: RefCell<Vec<ServerPool>>,
    timeout: Nanos,
    idle_max: usize,
}

/// The idle connections to one server.
#[derive(Debug, Default)]
struct ServerPool {
    /// Those idle for longest first.
    idle: VecDeque<Idle>,
    /// The longest idle time after which a connection was found open; no longer than one that was found closed since.
    kept_open: Nanos,
}

#[derive(Debug)]
struct Idle {
    connection: OriginConnection,
    since: Nanos,
}

impl ServerPool {
    /// Looks whether a connection is open, and learns from it.
    fn is_open(&mut self, index: usize, now: Nanos) -> bool {
        let Idle { connection, since } = &self.idle[index];
        let is_open = connection.is_reusable();
        let age = now.saturating_sub(*since);
        self.kept_open = if is_open { self.kept_open.max(age) } else { self.kept_open.min(age) };
        is_open
    }

    /// Returns the idle time from which on a connection is not used for a request that must not be sent twice.
    fn limit(&self) -> Nanos {
        Nanos(self.kept_open.0 / 2).min(RECENT_IDLE_MAX)
    }
}

impl Pool {
    /// Makes an empty pool.
    pub(super) fn new(settings: &OriginSettings) -> Pool {
        let servers = settings.servers.iter().map(|_| ServerPool::default()).collect();
        Pool { servers: RefCell::new(servers), timeout: settings.idle_timeout, idle_max: settings.idle_max }
    }

    /// Takes the connection to a server that was used last and is still usable, if there is one.
    ///
    /// For a request that is not repeatable only if the server surely does not close it at this moment.
    pub(super) fn take(&self, server: usize, is_repeatable: bool, now: Nanos) -> Option<OriginConnection> {
        let mut servers = self.servers.borrow_mut();
        let pool = servers.get_mut(server)?;
        while let Some(last) = pool.idle.back() {
            let age = now.saturating_sub(last.since);
            if self.timeout <= age {
                return None;
            }
            if !pool.is_open(pool.idle.len() - 1, now) {
                pool.idle.pop_back();
            } else if is_repeatable || age < pool.limit() {
                return pool.idle.pop_back().map(|idle| idle.connection);
            } else {
                return None;
            }
        }
        None
    }

    /// Puts an idle connection into the pool; the one idle for longest is closed if there are too many.
    pub(super) fn put(&self, server: usize, connection: OriginConnection, now: Nanos) {
        let mut servers = self.servers.borrow_mut();
        let Some(ServerPool { idle, .. }) = servers.get_mut(server) else { return };
        idle.push_back(Idle { connection, since: now });
        while self.idle_max < idle.len() {
            idle.pop_front();
        }
    }

    /// Closes the connections that have been idle for too long, or that their servers have closed, those idle for
    /// longest first.
    pub(super) fn sweep(&self, now: Nanos) {
        for pool in self.servers.borrow_mut().iter_mut() {
            while pool.idle.front().is_some_and(|first| self.timeout <= now.saturating_sub(first.since))
                || (!pool.idle.is_empty() && !pool.is_open(0, now))
            {
                pool.idle.pop_front();
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
        let servers = vec![server];
        let idle_timeout = Nanos::from_secs(4);
        Pool::new(&OriginSettings { servers, idle_max: 2, idle_timeout, ..OriginSettings::default() })
    }

    /// Makes a connection; returns both its ends.
    async fn connection() -> (OriginConnection, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let stream = TcpStream::connect(listener.local_addr().expect("an address")).await.expect("connected");
        let (peer, _) = listener.accept().await.expect("accepted");
        (OriginConnection::new(Stream::Plain(stream)), peer)
    }

    fn port(connection: &OriginConnection) -> u16 {
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
            let pool = pool();
            let mut ends = Vec::new();
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
    fn connections_that_are_idle_for_too_long_are_closed() {
        run(async {
            let pool = pool();
            let (connection, _peer) = connection().await;
            pool.put(0, connection, Nanos::ZERO);
            assert!(pool.take(0, true, Nanos::from_secs(4)).is_none());
            pool.sweep(Nanos(4 * SECOND.0 - 1));
            assert!(!pool.servers.borrow()[0].idle.is_empty());
            pool.sweep(Nanos::from_secs(4));
            assert!(pool.servers.borrow()[0].idle.is_empty());
        });
    }

    #[test]
    fn an_unrepeatable_request_needs_a_server_that_keeps_connections_open_for_longer() {
        let ms = Nanos::from_millis;
        run(async {
            let pool = pool();
            let (first, _first_peer) = connection().await;
            let (second, second_peer) = connection().await;
            pool.put(0, first, ms(0));
            assert!(pool.take(0, false, ms(0)).is_none(), "nothing is known about the server");
            pool.sweep(ms(40));
            let mut first = pool.take(0, true, ms(40)).expect("open");
            pool.put(0, first, ms(40));
            assert!(pool.take(0, false, ms(60)).is_none(), "half of 40 ms");
            first = pool.take(0, false, ms(59)).expect("it was used just before");
            drop(second_peer);
            while second.is_reusable() {
                tokio::task::yield_now().await;
            }
            pool.put(0, second, ms(60));
            assert!(pool.take(0, true, ms(90)).is_none());
            assert_eq!(pool.servers.borrow()[0].limit(), ms(15), "the server closes after 30 ms or less");
            pool.put(0, first, ms(100));
            pool.sweep(ms(100 + 3999));
            assert_eq!(pool.servers.borrow()[0].limit(), SECOND, "it has kept one open for nearly 4 s");
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
            assert!(pool.servers.borrow()[0].idle.is_empty());
        });
    }
}
