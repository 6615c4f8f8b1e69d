//! A workload with known content, and single operations on it.

use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::OnceLock;
use std::time::Duration;

use drivers::web::{PlainDriver, Target, TargetAccess, WebContext, WebContextOptions};
use drivers::{TargetPolicy, Trust};
use engine::Driver;
use model::{
    CLOSE_WAIT_MAX, ConnectionLifetime, Content, HttpVersion, Outcome, Page, Reply, Request, Secrets,
    ThinkTime, Tls, WebProtocol, WebRequest, WebWorkload, web_measure,
};
use servers::web::{FaultPlan, WebOptions, WebServer};
use units::{Clock, Nanos, RealClock};

use super::session::block_on;

/// Content seed of the workload.
pub(super) const SEED: u64 = 1999;

/// The objects, by number.
pub(crate) const SMALL: u16 = 0;
pub(crate) const EMPTY: u16 = 1;
/// A body that takes many reads.
pub(crate) const LARGE: u16 = 2;

const OBJECTS: [(&str, u64); 3] = [("/small.html", 500), ("/empty.html", 0), ("/large.bin", 5_000_000)];

/// Time limit of a test for a single operation, which must never hang.
const TEST_TIMEOUT: Duration = Duration::from_secs(60);

pub(crate) fn workload() -> WebWorkload {
    let object = |(path, bytes): (&str, u64)| Request::file(path, bytes);
    WebWorkload {
        content_seed: SEED,
        requests: OBJECTS.into_iter().map(object).collect(),
        pages: vec![Page { weight: 1, requests: vec![0, 1, 2] }],
        counts_pages: false,
        think: ThinkTime::None,
        cookies: model::Cookies::None,
        data: Vec::new(),
        protocol: protocol(ConnectionLifetime::PerRequest),
    }
}

/// The length of an object's body.
pub(crate) fn object_bytes(object: u16) -> u64 {
    OBJECTS[object as usize].1
}

/// Returns the correct body of an object.
pub(crate) fn content(object: u16) -> Vec<u8> {
    let mut body = vec![0; object_bytes(object) as usize];
    Content::new(SEED).fill(u32::from(object), 0, &mut body);
    body
}

/// HTTP/1.0 with a connection per request as in WebStone, HTTP/1.1 otherwise.
pub(crate) fn protocol(connection: ConnectionLifetime) -> WebProtocol {
    WebProtocol::plain(connection)
}

/// The clock of the test program.
pub(crate) fn clock() -> RealClock {
    static CLOCK: OnceLock<RealClock> = OnceLock::new();
    *CLOCK.get_or_init(RealClock::start)
}

/// Prepares a workload for a local server, named `localhost`.
pub(crate) fn context(
    address: SocketAddr,
    protocol: &WebProtocol,
    workload: &WebWorkload,
    trust: &Trust,
) -> Rc<WebContext> {
    let secure = protocol.tls != Tls::Off;
    let target = Target {
        host: "localhost".to_owned(),
        port: address.port(),
        secure,
        access: TargetAccess::default(),
    };
    let setup = WebContextOptions {
        target: &target,
        address,
        policy: TargetPolicy,
        workload: &WebWorkload { protocol: *protocol, ..workload.clone() },
        secrets: &Secrets::default(),
        source_addresses: &[],
        trust,
        clock: clock(),
    };
    WebContext::new(setup).unwrap()
}

/// Returns the time to connect; `None` for a request on a kept connection.
pub(crate) fn connect_time(reply: &Reply) -> Option<Nanos> {
    reply.measured.get(web_measure::CONNECT).map(Nanos)
}

/// Returns the time to the first byte of the reply.
pub(crate) fn first_byte_time(reply: &Reply) -> Nanos {
    Nanos(reply.measured.get(web_measure::FIRST_BYTE).unwrap())
}

/// Returns the length of head and body.
pub(crate) fn reply_bytes(reply: &Reply) -> u64 {
    reply.measured.get(web_measure::REPLY_BYTES).unwrap()
}

/// Returns the length of the body.
pub(crate) fn body_bytes(reply: &Reply) -> u64 {
    reply.measured.get(web_measure::BODY_BYTES).unwrap()
}

/// A driver and the means to use it directly.
pub(crate) struct Fixture<D = PlainDriver> {
    driver: D,
    clock: RealClock,
    complete: Nanos,
    left_open: u32,
}

impl Fixture {
    pub(crate) fn new(address: SocketAddr, connection: ConnectionLifetime) -> Fixture {
        Fixture::of(address, &protocol(connection), &workload())
    }

    pub(crate) fn kept(address: SocketAddr) -> Fixture {
        Fixture::new(address, ConnectionLifetime::KeepAlive { requests_max: None })
    }

    pub(crate) fn of(address: SocketAddr, protocol: &WebProtocol, workload: &WebWorkload) -> Fixture {
        Fixture::with(PlainDriver::new(context(address, protocol, workload, &Trust::Any)))
    }
}

impl<D: Driver<Operation = WebRequest>> Fixture<D> {
    pub(crate) fn with(driver: D) -> Fixture<D> {
        Fixture { driver, clock: clock(), complete: Nanos::ZERO, left_open: 0 }
    }

    /// Runs `work` with this fixture in a runtime like that of a load thread.
    pub(crate) fn run<T>(mut self, work: impl AsyncFnOnce(&mut Fixture<D>) -> T) -> T {
        let limited = async { tokio::time::timeout(TEST_TIMEOUT, work(&mut self)).await };
        block_on(limited).expect("no operation hangs")
    }

    /// Fetches an object. Whatever the outcome, the moments that were reached are in order.
    pub(crate) async fn get(&mut self, object: u16) -> Reply {
        let reply = self.perform(&WebRequest::first(object)).await;
        if reply.outcome == Outcome::Ok {
            assert_eq!(body_bytes(&reply), object_bytes(object));
        }
        reply
    }

    /// Does the same for any request of any workload.
    pub(crate) async fn perform(&mut self, request: &WebRequest) -> Reply {
        // Bytes that arrived since the last operation are known to the runtime before the next one, as after
        // a think time.
        tokio::task::yield_now().await;
        let sent = self.clock.now();
        let mut reply = self.driver.perform(request, sent).await;
        self.complete = reply.done;
        if self.driver.is_closing() {
            self.close(&mut reply).await;
        }
        assert!(reply.sent == sent && sent <= reply.done && reply.done <= self.clock.now(), "{reply:?}");
        if reply.outcome == Outcome::Ok {
            let first_byte = first_byte_time(&reply);
            assert!(connect_time(&reply).unwrap_or_default() <= first_byte, "{reply:?}");
            assert!(sent + first_byte <= self.complete && self.complete <= reply.done, "{reply:?}");
        }
        reply
    }

    /// Waits for the end of the connection as long as the engine does.
    async fn close(&mut self, reply: &mut Reply) {
        let limit = Duration::from_nanos(CLOSE_WAIT_MAX.0);
        if tokio::time::timeout(limit, self.driver.close(reply)).await.is_err() {
            self.driver.give_up();
            reply.done = self.clock.now();
            self.left_open += 1;
        }
    }

    /// Returns the moment at which the last reply was complete, whatever was still to be waited for.
    pub(crate) fn complete(&self) -> Nanos {
        self.complete
    }

    /// Returns how many connections the peers left open.
    pub(crate) fn left_open(&self) -> u32 {
        self.left_open
    }

    /// Gives up the operation in progress, as the engine does after the time limit.
    pub(crate) fn give_up(&mut self) {
        self.driver.give_up();
    }

    /// Describes the reply to a request.
    pub(crate) fn describe(&self, request: &WebRequest, reply: &Reply) -> String {
        self.driver.describe(request, reply)
    }

    /// Performs a request; returns the outcome with its description.
    pub(crate) async fn perform_described(&mut self, request: &WebRequest) -> (Outcome, String) {
        let reply = self.perform(request).await;
        (reply.outcome, self.driver.describe(request, &reply))
    }

    /// Fetches an object; returns the outcome with its description.
    pub(crate) async fn get_described(&mut self, object: u16) -> (Outcome, String) {
        self.perform_described(&WebRequest::first(object)).await
    }
}

/// Starts a built-in server with this workload and these faults.
pub(crate) fn server(faults: &[&str]) -> WebServer {
    let mut options = WebOptions::new(workload().file_set(1.0));
    options.faults = FaultPlan::parse(faults.iter().copied()).unwrap();
    WebServer::start(options).unwrap()
}

/// Returns the correct response for an object, with additional header lines.
pub(crate) fn right_reply(object: u16, lines: &str) -> Vec<u8> {
    let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n{lines}\r\n", object_bytes(object));
    [head.as_bytes(), &content(object)].concat()
}
