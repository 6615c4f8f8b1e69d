//! Short runs of the engine with real sockets: no operation is lost, nothing hangs, everything is on time or
//! its lateness is recorded. The machine may be busy: only invariants are asserted.

use std::cell::Cell;
use std::io::Write;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::rc::Rc;

use engine::{Driver, SessionError};
use model::{CLOSE_WAIT_MAX, ConnectionLifetime, MeasuredValues, Outcome, Reply, WebRequest, web_measure};
use units::Nanos;

use crate::common::{
    EMPTY, RoundRobin, SMALL, closed, open, phases, read_request, right_reply, run_drivers, run_point, server,
};

const KEEP_ALIVE: ConnectionLifetime = ConnectionLifetime::KeepAlive { requests_max: None };
const KEEP_ALIVE_30: ConnectionLifetime = ConnectionLifetime::KeepAlive { requests_max: Some(30) };

/// Time limit of tests in which no operation may time out.
const GENEROUS: Nanos = Nanos::from_secs(60);

#[test]
fn no_operation_is_lost_with_many_users() {
    for connection in [KEEP_ALIVE, KEEP_ALIVE_30, ConnectionLifetime::PerRequest] {
        let server = server(&[]);
        let steady = phases(Nanos::from_millis(1200));
        let mix = RoundRobin::over(2);
        let (run, _) = run_point(server.address(), closed(500), steady, connection, GENEROUS, mix);
        run.check_conservation();
        let ok = run.sum(|flow| flow.ok);
        let failures = run.sum(|flow| flow.failed + flow.timed_out + flow.abandoned + flow.skipped);
        assert_eq!((failures, run.examples.len()), (0, 0), "{:?}", run.examples);
        assert!(500 <= ok && run.sum(|flow| flow.started) == ok, "every user had its turn: {ok}");
        let report = server.stop().unwrap();
        let kinds = || run.intervals.iter().flat_map(|record| &record.kinds);
        let bytes: u128 = kinds().map(|kind| kind.measure(web_measure::REPLY_BYTES).sum).sum();
        assert_eq!((report.requests, u128::from(report.bytes_sent)), (ok, bytes));
        let connected: u64 = kinds().map(|kind| kind.measure(web_measure::CONNECT).n).sum();
        assert_eq!(report.connections, connected, "connections are counted where they are opened");
        match connection {
            ConnectionLifetime::PerRequest => assert_eq!(report.connections, ok),
            KEEP_ALIVE => assert_eq!(report.connections, 500),
            _ => assert!(ok.div_ceil(30) <= report.connections),
        }
    }
}

/// Goal: connections that the server leaves open are waited for up to the limit and counted, and are not
/// failures; a shorter time limit of the operation ends the wait as well. Method: a server that answers on
/// every connection and closes none.
#[test]
fn connections_left_open_are_waited_for_and_counted() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        let mut open = Vec::new();
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            if read_request(&mut stream).is_empty() {
                return;
            }
            stream.write_all(&right_reply(SMALL, "")).unwrap();
            open.push(stream);
        }
    });
    for (time_limit, waited) in
        [(GENEROUS, CLOSE_WAIT_MAX), (Nanos::from_millis(300), Nanos::from_millis(300))]
    {
        let steady = phases(Nanos::from_millis(2300));
        let (run, _) = run_point(
            address,
            closed(2),
            steady,
            ConnectionLifetime::PerRequest,
            time_limit,
            RoundRobin::over(1),
        );
        run.check_conservation();
        let ok = run.sum(|flow| flow.ok);
        let left_open = run.sum(|flow| flow.left_open);
        let failures = run.sum(|flow| flow.failed + flow.timed_out);
        assert!(
            2 <= ok && left_open == ok && failures == 0,
            "{ok} ok, {left_open} left open: {:?}",
            run.examples
        );
        let least = run.intervals.iter().filter_map(|record| record.response.min()).min().unwrap();
        assert!(waited <= least, "{least} is less than {waited}");
    }
    drop(TcpStream::connect(address));
}

/// Goal: one example of each failure, with its kind; other operations stay correct.
#[test]
fn failures_are_counted_by_kind_with_one_example() {
    let server = server(&["wrong-bytes=/small", "wrong-status=/empty"]);
    let steady = phases(Nanos::from_millis(300));
    let mix = RoundRobin::over(3);
    let (run, _) = run_point(server.address(), closed(10), steady, KEEP_ALIVE, GENEROUS, mix);
    run.check_conservation();
    let bytes = run.n_failed(Outcome::WrongBytes);
    let status = run.n_failed(Outcome::WrongStatus);
    assert!(0 < bytes && 0 < status);
    assert_eq!(run.sum(|flow| flow.failed), bytes + status);
    let mut told: Vec<_> =
        run.examples.iter().map(|example| (example.kind, example.outcome, &*example.text)).collect();
    told.sort_unstable_by_key(|(kind, ..)| *kind);
    assert_eq!(
        told,
        [
            (SMALL, Outcome::WrongBytes, "GET /small.html: wrong byte at position 250 of the body"),
            (EMPTY, Outcome::WrongStatus, "GET /empty.html: status 500, expected 200"),
        ]
    );
}

/// Checks that a run against a server that does not answer in time ends quickly and with timeouts only.
fn check_timeouts(address: std::net::SocketAddr, connection: ConnectionLifetime) {
    let steady = phases(Nanos::from_millis(300));
    let limit = Nanos::from_millis(100);
    let (run, took) = run_point(address, closed(20), steady, connection, limit, RoundRobin::over(1));
    run.check_conservation();
    let timed_out = run.n_failed(Outcome::TimedOut);
    assert!(20 <= timed_out && run.sum(|flow| flow.started) == timed_out, "{timed_out}");
    // 0.3 s of load and one time limit would do; twenty times that is a hang.
    assert!(took < Nanos::from_secs(8), "{took}");
    assert_eq!(run.examples.len(), 1);
    let example = &run.examples[0];
    assert_eq!(example.outcome, Outcome::TimedOut);
    assert!(example.text.starts_with("GET /small.html: no complete reply after "), "{}", example.text);
    let details = run.intervals.iter().filter_map(|record| record.detail.as_ref());
    let shortest = details.filter_map(|detail| detail.failed.get(&(0, Outcome::TimedOut))?.min()).min();
    assert!(limit <= shortest.unwrap(), "nothing is given up before its limit");
}

#[test]
fn a_server_that_never_answers_costs_only_the_time_limit() {
    for connection in [KEEP_ALIVE, ConnectionLifetime::PerRequest] {
        check_timeouts(server(&["stall"]).address(), connection);
    }
}

/// The drip takes 0.3 s: arriving bytes do not extend the limit.
#[test]
fn a_slow_drip_times_out() {
    check_timeouts(server(&["slow-drip"]).address(), KEEP_ALIVE);
}

#[test]
fn a_server_that_accepts_no_connection_costs_only_the_time_limit() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    rustix::net::listen(&listener, 0).unwrap();
    let address = listener.local_addr().unwrap();
    let _filler = TcpStream::connect(address).unwrap();
    check_timeouts(address, ConnectionLifetime::PerRequest);
}

/// Goal: after a timeout the user continues with a new connection.
#[test]
fn a_connection_is_not_reused_after_a_timeout() {
    let server = server(&["stall=/small"]);
    let steady = phases(Nanos::from_millis(400));
    let limit = Nanos::from_millis(100);
    let (run, _) = run_point(server.address(), closed(5), steady, KEEP_ALIVE, limit, RoundRobin::over(2));
    run.check_conservation();
    let ok = run.sum(|flow| flow.ok);
    let timed_out = run.sum(|flow| flow.timed_out);
    assert!(0 < ok && run.sum(|flow| flow.failed) == 0, "{:?}", run.examples);
    // A user's first connection ends with its first timeout, later ones carry an empty object and a stall.
    let report = server.stop().unwrap();
    assert!(timed_out <= report.connections && report.connections <= timed_out + 5);
}

/// Goal: all scheduled operations are started, and the lateness of each is recorded.
#[test]
fn an_open_loop_starts_all_scheduled_operations_and_records_lateness() {
    let server = server(&[]);
    let rate = 2000.0;
    let steady = phases(Nanos::from_secs(2));
    let mix = RoundRobin::over(2);
    let (run, took) = run_point(server.address(), open(rate, 300), steady, KEEP_ALIVE, GENEROUS, mix);
    run.check_conservation();
    let counts = [run.sum(|f| f.due), run.sum(|f| f.started), run.sum(|f| f.ok), run.sum(|f| f.skipped)];
    assert_eq!(counts, [4000, 4000, 4000, 0], "{:?}", run.examples);
    for kind in 0..2 {
        let n: u64 = run.intervals.iter().map(|record| record.kinds[kind].response.n).sum();
        assert_eq!(n, 2000, "kind {kind}");
    }
    let mut response = 0;
    let mut service = 0;
    let mut lateness = 0;
    let mut worst = Nanos::ZERO;
    let mut best = Nanos::MAX;
    for record in &run.intervals {
        assert_eq!(record.lateness.n(), record.flow.started);
        assert_eq!((record.service.n(), record.response.n()), (record.flow.ok, record.flow.ok));
        response += record.response.sum();
        service += record.service.sum();
        lateness += record.lateness.sum();
        worst = worst.max(record.lateness.max().unwrap_or(Nanos::ZERO));
        best = best.min(record.lateness.min().unwrap_or(Nanos::MAX));
    }
    // Done − due = (done − sent) + (sent − due), for each operation and therefore for the sums.
    assert_eq!(response, service + lateness);
    assert!(worst < took, "{worst}");
    // However busy the machine is, some start is on time, far closer than a millisecond timer achieves on
    // average.
    assert!(best < Nanos::from_micros(200), "{best}");
    assert_eq!(server.stop().unwrap().requests, 4000);
}

/// Goal: an operation without a free in-flight slot waits, and its response time includes the wait.
#[test]
fn an_open_loop_with_one_slot_makes_others_wait() {
    let server = server(&["slow-drip=/small"]);
    let steady = phases(Nanos::from_millis(400));
    let mix = RoundRobin::over(1);
    let (run, _) = run_point(server.address(), open(20.0, 1), steady, KEEP_ALIVE, GENEROUS, mix);
    run.check_conservation();
    assert_eq!((run.sum(|flow| flow.due), run.sum(|flow| flow.ok)), (8, 8));
    // Eight drips of 0.3 s one after another, due 50 ms apart: the last is at least 8 × 0.3 − 7 × 0.05 −
    // 0.025 s late.
    let longest = run.intervals.iter().filter_map(|record| record.response.max()).max().unwrap();
    assert!(Nanos::from_millis(2000) < longest, "{longest}");
}

/// A driver with a mistake of its own.
struct Faulty;

impl Driver for Faulty {
    type Operation = WebRequest;

    async fn perform(&mut self, _: &WebRequest, _: Nanos) -> Reply {
        panic!("a mistake of the driver")
    }

    fn give_up(&mut self) {}

    fn describe(&self, _: &WebRequest, _: &Reply) -> String {
        String::new()
    }
}

/// Goal: a mistake of ours stops the load thread; with users missing, its figures would be wrong without a word.
#[test]
#[should_panic(expected = "the task of a virtual user has panicked")]
fn a_panic_in_the_task_of_a_user_stops_the_load_thread() {
    run_drivers(|| Faulty, closed(3), phases(Nanos::from_secs(1)), GENEROUS, RoundRobin::over(1));
}

/// Sessions that were opened before the load, and by operations.
#[derive(Default)]
struct Sessions {
    n_before: Cell<u32>,
    n_by_operations: Cell<u32>,
}

/// A driver whose operations open the session where there is none.
struct Lazy {
    sessions: Rc<Sessions>,
    has_session: bool,
}

impl Driver for Lazy {
    type Operation = WebRequest;

    const OPENS_WHEN_NEEDED: bool = true;

    async fn open(&mut self) -> Result<(), SessionError> {
        self.sessions.n_before.update(|n| n + 1);
        self.has_session = true;
        Ok(())
    }

    async fn perform(&mut self, _: &WebRequest, sent: Nanos) -> Reply {
        if !std::mem::replace(&mut self.has_session, true) {
            self.sessions.n_by_operations.update(|n| n + 1);
        }
        // As every driver does: a closed loop would not end otherwise.
        tokio::task::yield_now().await;
        let measured = MeasuredValues::default();
        Reply { outcome: Outcome::Ok, sent, done: sent, measured, answer: 0, code: 0, detail: 0 }
    }

    fn give_up(&mut self) {}

    fn describe(&self, _: &WebRequest, _: &Reply) -> String {
        String::new()
    }
}

/// Goal: an open loop opens no session before the load, and none for a slot that has no operation; in a closed loop each user
/// has one before the load.
#[test]
fn sessions_of_an_open_loop_are_opened_when_they_are_needed() {
    for (load, n_before, most_by_operations) in [(open(50.0, 64), 0, 5), (closed(8), 8, 0)] {
        let sessions = Rc::new(Sessions::default());
        let driver = || Lazy { sessions: Rc::clone(&sessions), has_session: false };
        let (run, _) =
            run_drivers(driver, load, phases(Nanos::from_millis(100)), GENEROUS, RoundRobin::over(1));
        run.check_conservation();
        assert!(0 < run.sum(|flow| flow.ok));
        assert_eq!(sessions.n_before.get(), n_before, "{load:?}");
        assert!(sessions.n_by_operations.get() <= most_by_operations, "{load:?}");
    }
}
