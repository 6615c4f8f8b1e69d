//! A workload with known content, and single operations on it.

use std::net::SocketAddr;
use std::rc::Rc;
use std::time::Duration;

use drivers::Policy;
use drivers::web::{Origin, Target, WebDriver};
use engine::Driver;
use model::{
    Connection, Content, HttpVersion, Outcome, Page, Protocol, Reply, Request, Think, Tls, WebRequest,
    Workload,
};
use servers::web::{FaultPlan, WebOptions, WebServer};
use tokio::runtime::{Builder, LocalOptions};
use units::{Clock, Nanos, RealClock};

/// Content seed of the workload.
pub const SEED: u64 = 1999;

/// The objects, by number.
pub const SMALL: u32 = 0;
pub const EMPTY: u32 = 1;
/// Takes many reads.
pub const LARGE: u32 = 2;

const OBJECTS: [(&str, u64); 3] = [("/small.html", 500), ("/empty.html", 0), ("/large.bin", 5_000_000)];

/// How long a single operation may take before the test is given up: nothing may hang.
const PATIENCE: Duration = Duration::from_secs(60);

pub fn workload() -> Workload {
    let object = |(path, bytes): (&str, u64)| Request::file(path, bytes);
    Workload {
        content_seed: SEED,
        requests: OBJECTS.into_iter().map(object).collect(),
        pages: vec![Page { weight: 1, requests: vec![0, 1, 2] }],
        counts_pages: false,
        think: Think::None,
    }
}

/// The length of an object's body.
pub fn object_bytes(object: u32) -> u64 {
    OBJECTS[object as usize].1
}

/// The right body of an object.
pub fn content(object: u32) -> Vec<u8> {
    let mut body = vec![0; object_bytes(object) as usize];
    Content::new(SEED).fill(object, 0, &mut body);
    body
}

/// HTTP/1.0 with a connection per request as WebStone has it, HTTP/1.1 otherwise.
pub fn protocol(connection: Connection) -> Protocol {
    let http = match connection {
        Connection::PerRequest => HttpVersion::Http10,
        Connection::KeepAlive { .. } => HttpVersion::Http11,
    };
    Protocol { http, connection, time_limit: Nanos::from_secs(60) }
}

/// One driver, with what is needed to use it by hand.
pub struct Bench {
    driver: WebDriver,
    clock: RealClock,
}

impl Bench {
    pub fn new(address: SocketAddr, connection: Connection) -> Bench {
        Bench::of(address, &protocol(connection), &workload())
    }

    pub fn kept(address: SocketAddr) -> Bench {
        Bench::new(address, Connection::KeepAlive { requests_max: None })
    }

    pub fn of(address: SocketAddr, protocol: &Protocol, workload: &Workload) -> Bench {
        let clock = RealClock::start();
        let target = Target { host: "localhost".to_owned(), port: address.port() };
        let origin = Origin::new(&target, address, Policy, workload, protocol, clock).unwrap();
        Bench { driver: WebDriver::new(Rc::clone(&origin)), clock }
    }

    /// Runs `work` with this bench inside a runtime as a load thread has it.
    pub fn run<T>(mut self, work: impl AsyncFnOnce(&mut Bench) -> T) -> T {
        let runtime =
            Builder::new_current_thread().enable_all().build_local(LocalOptions::default()).unwrap();
        let limited = async { tokio::time::timeout(PATIENCE, work(&mut self)).await };
        runtime.block_on(limited).expect("no operation hangs")
    }

    /// Fetches an object. Whatever comes of it, the marks are in order as far as they were reached.
    pub async fn get(&mut self, object: u32) -> Reply {
        // What has arrived since the last operation is known to the runtime before the next one, as it is
        // after a think time.
        tokio::task::yield_now().await;
        let sent = self.clock.now();
        let reply = self.driver.perform(&WebRequest::first(object), sent).await;
        let marks = reply.marks;
        assert!(marks.sent == sent && sent <= marks.done && marks.done <= self.clock.now(), "{marks:?}");
        if reply.outcome == Outcome::Ok {
            assert!(sent <= marks.connected && marks.connected <= marks.first_byte, "{marks:?}");
            assert!(marks.first_byte <= marks.last_byte && marks.last_byte <= marks.done, "{marks:?}");
            assert_eq!(reply.body_bytes, object_bytes(object));
        }
        reply
    }

    /// Fetches an object; returns the outcome with what people are told of it.
    pub async fn told(&mut self, object: u32) -> (Outcome, String) {
        let reply = self.get(object).await;
        (reply.outcome, self.driver.describe(&WebRequest::first(object), &reply))
    }
}

/// Starts a built-in server with this workload that misbehaves as told.
pub fn server(faults: &[&str]) -> WebServer {
    let mut options = WebOptions::new(workload());
    options.faults = FaultPlan::parse(faults.iter().copied()).unwrap();
    WebServer::start(options).unwrap()
}

/// The right reply to a request for an object, with these lines in its head besides the length.
pub fn right_reply(object: u32, lines: &str) -> Vec<u8> {
    let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n{lines}\r\n", object_bytes(object));
    [head.as_bytes(), &content(object)].concat()
}
