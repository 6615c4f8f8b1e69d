//! The load of an application server, or of one of order-entry data, asked for with `STATS` on a session of its own.

use std::fmt;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::str::FromStr;

use frame::app::{AppOperation, AppServerStats, AppStatus, FORMAT, STATS_BYTES};
use frame::{Crc32c, FrameError, FrameFormat, REPLY_BYTES, ReplyHeader, RequestHeader, STATUS_OK};
use languages::HttpUrl;
use model::{Counter, ForbiddenObserver, Reading, check_observer};
use orders::wire::{self, OrderEntryOperation, OrderEntryStatus, OrderServerStats};
use units::{Clock, Nanos, RealClock};

use super::{MonitorError, ResourceMonitor};

/// Longest time of one answer, connecting included: the server answers beside its queue.
const ANSWER_MAX: Nanos = Nanos::from_millis(500);

/// The address of an application server: `HOST:PORT`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AppServerAddress(String);

/// A text that is not the address of an application server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("expected `app=HOST:PORT`, such as `app=127.0.0.1:7000`")]
pub struct AppServerAddressError;

/// A reason why a server has not reported its load.
#[derive(Debug, thiserror::Error)]
enum StatsError {
    #[error(transparent)]
    System(#[from] io::Error),
    #[error(transparent)]
    Forbidden(#[from] ForbiddenObserver),
    #[error("the name has no address")]
    NoAddress,
    #[error("no complete reply within {ANSWER_MAX}")]
    Time,
    #[error("the server closed the connection")]
    Closed,
    #[error(transparent)]
    Header(#[from] FrameError),
    #[error("the server answered another request")]
    OtherRequest,
    #[error("the server answered with status {status}: {meaning}")]
    Status { status: u16, meaning: &'static str },
    #[error("expected {expected} bytes, found {found}")]
    Length { expected: usize, found: u32 },
    #[error("the reply has a wrong checksum")]
    Checksum,
    #[error("the reply has an unexpected length")]
    Payload,
}

/// A monitor of an application server, or of one of order-entry data. Its own connection is not counted.
#[derive(Debug)]
pub struct AppServerMonitor {
    address: AppServerAddress,
    dialect: &'static StatsDialect,
    session: Option<TcpStream>,
    /// The number of the last request.
    number: u64,
}

/// The way in which the servers of a family are asked for their load.
#[derive(Debug)]
struct StatsDialect {
    format: FrameFormat,
    operation: u8,
    /// Length of the answer.
    bytes: usize,
    read: fn(&[u8]) -> Option<ServerStats>,
    /// The meaning of a status.
    describe: fn(u16) -> Option<&'static str>,
}

/// The answer of a server.
#[derive(Debug)]
struct ServerStats {
    /// The load that all servers have.
    load: AppServerStats,
    /// The counts of its database, by name.
    database: Vec<(&'static str, u64)>,
}

/// Application servers.
static APPLICATION: StatsDialect = StatsDialect {
    format: FORMAT,
    operation: AppOperation::Stats as u8,
    bytes: STATS_BYTES,
    read: |payload| Some(ServerStats { load: AppServerStats::read(payload)?, database: Vec::new() }),
    describe: |status| AppStatus::from_number(status).map(AppStatus::describe),
};

/// Servers of order-entry data.
static ORDER_ENTRY: StatsDialect = StatsDialect {
    format: FrameFormat { magic: wire::MAGIC, version: wire::VERSION, payload_max: wire::PAYLOAD_MAX },
    operation: OrderEntryOperation::Stats as u8,
    bytes: wire::STATS_BYTES,
    read: order_stats,
    describe: |status| OrderEntryStatus::from_number(status).map(OrderEntryStatus::describe),
};

/// Reads the load of a server of order-entry data.
fn order_stats(payload: &[u8]) -> Option<ServerStats> {
    let stats = OrderServerStats::read(payload).ok()?;
    let database = stats.sqlite_counts().into();
    let OrderServerStats {
        threads, busy_threads, queued, queue_max, connections, performed, refused, ..
    } = stats;
    let load = AppServerStats { threads, busy_threads, queued, queue_max, connections, performed, refused };
    Some(ServerStats { load, database })
}

/// Reads `HOST:PORT`.
impl FromStr for AppServerAddress {
    type Err = AppServerAddressError;

    fn from_str(text: &str) -> Result<AppServerAddress, AppServerAddressError> {
        let is_bare = |url: &HttpUrl| url.scheme.is_none() && url.port.is_some() && url.target.is_empty();
        match text.parse().ok().filter(is_bare) {
            Some(_) => Ok(AppServerAddress(text.to_owned())),
            None => Err(AppServerAddressError),
        }
    }
}

impl From<SocketAddr> for AppServerAddress {
    fn from(address: SocketAddr) -> AppServerAddress {
        AppServerAddress(address.to_string())
    }
}

impl AppServerAddress {
    /// Returns the address as given.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Resolves the host and checks its addresses; of a name without addresses, those that it has later are checked then.
    ///
    /// # Errors
    /// An address is forbidden.
    pub fn check(&self) -> Result<(), ForbiddenObserver> {
        let addresses = self.0.to_socket_addrs();
        check_observer(&addresses.map_or_else(|_| Vec::new(), Iterator::collect::<Vec<_>>))
    }
}

impl AppServerMonitor {
    /// Creates a monitor; the first reading connects.
    pub fn new(address: AppServerAddress) -> AppServerMonitor {
        AppServerMonitor { address, dialect: &APPLICATION, session: None, number: 0 }
    }

    /// Creates a monitor of a server of order-entry data.
    pub fn of_orders(address: AppServerAddress) -> AppServerMonitor {
        AppServerMonitor { dialect: &ORDER_ENTRY, ..AppServerMonitor::new(address) }
    }

    /// Asks for the load, on the kept session or, if that has ended, on a new one.
    fn ask(&mut self) -> Result<ServerStats, StatsError> {
        let deadline = Deadline::start();
        if let Some(session) = self.session.take()
            && let Ok(stats) = self.ask_on(session, &deadline)
        {
            return Ok(stats);
        }
        let session = self.connect(&deadline)?;
        self.ask_on(session, &deadline)
    }

    fn connect(&self, deadline: &Deadline) -> Result<TcpStream, StatsError> {
        let addresses: Vec<SocketAddr> = self.address.0.to_socket_addrs()?.collect();
        // The checked addresses are used for the connection: the name is resolved once.
        check_observer(&addresses)?;
        let mut failure = StatsError::NoAddress;
        for address in addresses {
            match TcpStream::connect_timeout(&address, deadline.left()?) {
                Ok(stream) => {
                    stream.set_nodelay(true)?;
                    return Ok(stream);
                }
                Err(error) => failure = error.into(),
            }
        }
        Err(failure)
    }

    /// Asks on a session, which is kept if it answers.
    fn ask_on(&mut self, mut session: TcpStream, deadline: &Deadline) -> Result<ServerStats, StatsError> {
        self.number += 1;
        let &StatsDialect { format, operation, bytes, read, describe } = self.dialect;
        let request = RequestHeader {
            operation,
            flags: 0,
            number: self.number,
            argument: 0,
            payload_bytes: 0,
            checksum: 0,
        };
        session.set_write_timeout(Some(deadline.left()?))?;
        session.write_all(&request.to_bytes(format))?;
        let mut header = [0; REPLY_BYTES];
        deadline.fill(&mut session, &mut header)?;
        let header = ReplyHeader::read(&header, format)?.ok_or(StatsError::Payload)?;
        if (header.operation, header.number) != (operation, self.number) {
            return Err(StatsError::OtherRequest);
        }
        if header.status != STATUS_OK {
            let meaning = describe(header.status).unwrap_or("an unknown one");
            return Err(StatsError::Status { status: header.status, meaning });
        }
        if header.payload_bytes as usize != bytes {
            return Err(StatsError::Length { expected: bytes, found: header.payload_bytes });
        }
        let mut payload = vec![0; bytes];
        deadline.fill(&mut session, &mut payload)?;
        if Crc32c::of(&payload) != header.checksum {
            return Err(StatsError::Checksum);
        }
        self.session = Some(session);
        read(&payload).ok_or(StatsError::Payload)
    }
}

impl ResourceMonitor for AppServerMonitor {
    fn read(&mut self, into: &mut Vec<Reading>) -> Result<(), MonitorError> {
        let ServerStats { load: stats, database } = self
            .ask()
            .map_err(|why| MonitorError { watched: self.address.0.clone(), reason: why.to_string() })?;
        let levels = [
            (Counter::ServiceWorkers, stats.threads),
            (Counter::ServiceBusy, stats.busy_threads),
            (Counter::ServiceIdle, stats.threads.saturating_sub(stats.busy_threads)),
            (Counter::ServiceConnections, stats.connections.saturating_sub(1)),
            (Counter::ServiceQueue, stats.queued),
            (Counter::ServiceQueueMax, stats.queue_max),
        ];
        into.extend(levels.map(|(counter, value)| Reading::new(counter, value.into())));
        into.push(Reading::new(Counter::ServiceRequests, stats.performed));
        into.push(Reading::new(Counter::ServiceRefused, stats.refused));
        let database = database.into_iter();
        into.extend(database.map(|(name, n)| Reading::of(Counter::DatabaseCount, name.to_owned(), n)));
        Ok(())
    }
}

/// The end of an answer's time.
struct Deadline(RealClock);

impl Deadline {
    fn start() -> Deadline {
        Deadline(RealClock::start())
    }

    /// Returns the time that is left.
    fn left(&self) -> Result<std::time::Duration, StatsError> {
        match ANSWER_MAX.saturating_sub(self.0.now()) {
            Nanos::ZERO => Err(StatsError::Time),
            left => Ok(std::time::Duration::from_nanos(left.0)),
        }
    }

    /// Reads a part of the reply.
    fn fill(&self, session: &mut TcpStream, mut part: &mut [u8]) -> Result<(), StatsError> {
        while !part.is_empty() {
            session.set_read_timeout(Some(self.left()?))?;
            match session.read(part) {
                Ok(0) => return Err(StatsError::Closed),
                Ok(n) => part = &mut part[n..],
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                // The time is over: the next turn says so.
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }
}

impl fmt::Display for AppServerAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    const STATS: AppServerStats = AppServerStats {
        threads: 4,
        busy_threads: 3,
        queued: 5,
        queue_max: 1024,
        connections: 9,
        performed: 1000,
        refused: 2,
    };

    fn reply(request: &RequestHeader, stats: AppServerStats) -> Vec<u8> {
        let payload = stats.to_bytes();
        let payload_bytes = payload.len() as u32;
        let checksum = Crc32c::of(&payload);
        let header = ReplyHeader { payload_bytes, checksum, ..request.reply(0, 0) };
        [&header.to_bytes(FORMAT)[..], &payload].concat()
    }

    /// Starts a server that answers so many requests on each connection, one connection after another.
    fn serve(
        connections: Vec<usize>,
        answer: fn(&RequestHeader) -> Vec<u8>,
    ) -> (AppServerMonitor, std::thread::JoinHandle<()>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let server = std::thread::spawn(move || {
            for n in connections {
                let (mut stream, _) = listener.accept().unwrap();
                for _ in 0..n {
                    let mut request = [0; frame::REQUEST_BYTES];
                    stream.read_exact(&mut request).unwrap();
                    let request = RequestHeader::read(&request, FORMAT).unwrap().unwrap();
                    stream.write_all(&answer(&request)).unwrap();
                }
            }
        });
        (AppServerMonitor::new(address.into()), server)
    }

    /// The session is kept, and opened again when the server was started anew.
    #[test]
    fn the_load_is_read_again_and_again() {
        let (mut monitor, server) = serve(vec![2, 1], |request| reply(request, STATS));
        for _ in 0..3 {
            let mut readings = Vec::new();
            monitor.read(&mut readings).unwrap();
            let expected = [
                (Counter::ServiceWorkers, 4),
                (Counter::ServiceBusy, 3),
                (Counter::ServiceIdle, 1),
                (Counter::ServiceConnections, 8),
                (Counter::ServiceQueue, 5),
                (Counter::ServiceQueueMax, 1024),
                (Counter::ServiceRequests, 1000),
                (Counter::ServiceRefused, 2),
            ];
            assert_eq!(readings, expected.map(|(counter, value)| Reading::new(counter, value)));
        }
        server.join().unwrap();
    }

    /// Goal: what SQLite counts in the built-in server is a count of the database, as those of other databases are.
    #[test]
    fn the_load_of_a_server_of_orders_has_the_counts_of_its_database() {
        let stats = OrderServerStats {
            threads: 3,
            lock_waits: 7,
            checkpoints: 2,
            checkpoint_pages: 2010,
            ..OrderServerStats::default()
        };
        let mut payload = Vec::new();
        stats.write(&mut payload);
        let read = order_stats(&payload).unwrap();
        assert_eq!(read.load.threads, 3);
        let expected = [("SQLITE_BUSY", 7), ("wal_checkpoints", 2), ("wal_checkpoint_pages", 2010)];
        assert_eq!(read.database, expected);
        assert!(order_stats(&payload[1..]).is_none());
    }

    #[test]
    fn other_answers_are_errors_with_the_address() {
        type Answer = fn(&RequestHeader) -> Vec<u8>;
        let answers: [(Answer, &str); 5] = [
            (
                |request| request.reply(2, 0).to_bytes(FORMAT).to_vec(),
                "with status 2: it does not understand",
            ),
            (|request| request.reply(0, 0).to_bytes(FORMAT).to_vec(), "expected 40 bytes, found 0"),
            (
                |request| reply(&RequestHeader { number: 9, ..*request }, STATS),
                "the server answered another request",
            ),
            (|_| b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\nx".repeat(2), "the magic number"),
            (|request| reply(request, STATS)[..60].to_vec(), "the server closed the connection"),
        ];
        for (answer, expected) in answers {
            let (mut monitor, server) = serve(vec![1], answer);
            let error = monitor.read(&mut Vec::new()).unwrap_err().to_string();
            assert!(error.starts_with("127.0.0.1:") && error.contains(expected), "{error}");
            server.join().unwrap();
        }
    }

    #[test]
    fn a_server_that_does_not_answer_is_given_up() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut monitor = AppServerMonitor::new(listener.local_addr().unwrap().into());
        let error = monitor.read(&mut Vec::new()).unwrap_err().to_string();
        assert!(error.ends_with("no complete reply within 500 ms"), "{error}");
    }

    /// Goal: the time of one answer is not spent twice.
    #[test]
    fn a_server_that_stops_to_answer_is_not_asked_on_another_session() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let session = TcpStream::connect(address).unwrap();
        let _silent = listener.accept().unwrap();
        let mut monitor =
            AppServerMonitor { session: Some(session), ..AppServerMonitor::new(address.into()) };
        let error = monitor.read(&mut Vec::new()).unwrap_err().to_string();
        assert!(error.ends_with("no complete reply within 500 ms"), "{error}");
        listener.set_nonblocking(true).unwrap();
        assert_eq!(listener.accept().unwrap_err().kind(), io::ErrorKind::WouldBlock);
    }

    #[test]
    fn addresses_have_a_host_and_a_port() {
        for text in ["127.0.0.1:7000", "[::1]:7", "name.example:65535"] {
            assert_eq!(text.parse::<AppServerAddress>().unwrap().as_str(), text);
        }
        for text in ["", "a", "a:0", ":1", "a:b", "u@a:1", "a:1/b", "a b:1", "http://a:1", "::1:7"] {
            assert!(text.parse::<AppServerAddress>().is_err(), "{text}");
        }
        let metadata: AppServerAddress = "169.254.169.254:80".parse().unwrap();
        assert!(metadata.check().is_err());
        let error = AppServerMonitor::new(metadata).read(&mut Vec::new()).unwrap_err();
        assert!(error.reason.starts_with("no connection is made to `"), "{error}");
    }
}
