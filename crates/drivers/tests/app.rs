//! The driver of the application server family against the built-in server, as it should be and with each of its faults.

use std::path::Path;
use std::time::Duration;

use drivers::app::{AppContext, AppDriver};
use engine::Driver;
use model::{
    AppFileIo, AppPayload, AppProtocol, AppRequest, AppSuite, AppWorkload, Outcome, Reply, ThinkTime,
    app_measure,
};
use servers::FrameFaultPlan;
use servers::app::{AppOptions, AppServer, FAULTS};
use units::{Clock, RealClock};

use crate::common::{TRANSACTION_MAX, block_on, perform_all};

const MESSAGE_BYTES: u32 = 32_768;

fn workload(suite: AppSuite) -> AppWorkload {
    AppWorkload {
        suite,
        payloads: vec![AppPayload { bytes: MESSAGE_BYTES, weight: 1 }],
        rounds: 1000,
        range_bytes: 48 << 10,
        auto_range: None,
        io: AppFileIo::Buffered,
        is_cold: false,
        protocol: AppProtocol::Binary,
        think: ThinkTime::None,
    }
}

/// The plan states in its own terms what the protocol has.
#[test]
fn lengths_of_blocks_and_files_are_those_of_the_protocol() {
    assert_eq!(model::APP_BLOCK_BYTES, frame::app::BLOCK_BYTES as u64);
    assert_eq!(model::APP_RANGE_BYTES_MIN, frame::app::RANGE_BYTES_MIN);
    assert_eq!(model::APP_APPENDED_BYTES_MAX, frame::app::APPENDED_BYTES_MAX);
}

/// Returns a transaction of a kind of the suite.
fn request(suite: AppSuite, kind: u16, number: u64) -> AppRequest {
    let (transaction, _) = suite.transactions()[usize::from(kind)];
    let has_message = !transaction.needs_file() && suite != AppSuite::Processor;
    AppRequest { kind, transaction, bytes: if has_message { MESSAGE_BYTES } else { 0 }, number }
}

fn server(parent: &Path, faults: &[&str]) -> AppServer {
    let faults = FrameFaultPlan::parse(&FAULTS, faults.iter().copied()).unwrap();
    let directory = Some(parent.to_owned());
    AppServer::start(AppOptions {
        service_threads: 2,
        clients_max: 2,
        directory,
        faults,
        ..AppOptions::new()
    })
    .unwrap()
}

/// Opens the session of a client and makes these transactions.
fn perform(
    server: &AppServer,
    suite: AppSuite,
    client: u32,
    requests: &[AppRequest],
    limit: Duration,
) -> Result<Vec<Option<(Reply, String)>>, String> {
    let clock = RealClock::start();
    let context = AppContext::new(&workload(suite), "", server.address(), &[], clock).unwrap();
    perform_all(AppDriver::new(context, client), clock, requests, limit)
}

/// The most memory of a transaction in the task of its user, in bytes; 560 were measured.
const TRANSACTION_BYTES_MAX: usize = 576;

#[test]
fn a_transaction_takes_little_memory() {
    let clock = RealClock::start();
    let address = ([127, 0, 0, 1], 1).into();
    let context = AppContext::new(&workload(AppSuite::Network), "", address, &[], clock).unwrap();
    let mut driver = AppDriver::new(context, 0);
    let request = request(AppSuite::Network, CS, 1);
    let bytes = size_of_val(&driver.perform(&request, clock.now()));
    assert!(bytes <= TRANSACTION_BYTES_MAX, "{bytes} bytes");
}

fn on_disk() -> tempfile::TempDir {
    tempfile::tempdir_in("/var/tmp").unwrap()
}

/// All kinds of all suites, more often than the range has places for the sequential ones.
#[test]
fn transactions_succeed_and_have_all_measures() {
    let parent = on_disk();
    let server = server(parent.path(), &[]);
    for suite in [AppSuite::System, AppSuite::Network, AppSuite::Processor, AppSuite::Disk] {
        let catalog = workload(suite).catalog();
        let kinds = 0..suite.transactions().len() as u16;
        let requests: Vec<_> = (0..5)
            .flat_map(|n| kinds.clone().map(move |kind| request(suite, kind, u64::MAX - 7 * n)))
            .collect();
        let replies = perform(&server, suite, 1, &requests, TRANSACTION_MAX).unwrap();
        for (request, reply) in requests.iter().zip(replies) {
            let (reply, text) = reply.expect("in time");
            assert_eq!(reply.outcome, Outcome::Ok, "{text}");
            let value = |measure| reply.measured.get(measure).unwrap();
            let parts = value(app_measure::QUEUE) + value(app_measure::SERVICE);
            assert!(parts <= (reply.done - reply.sent).0, "{parts} ns of {}", reply.done - reply.sent);
            for measure in [app_measure::SENT_BYTES, app_measure::RECEIVED_BYTES] {
                let expected = catalog.expected(usize::from(request.kind), measure).unwrap();
                assert_eq!(value(measure), expected.least, "{request:?}");
            }
        }
    }
}

/// The kinds of the suite of the system.
const CS: u16 = 0;
const PROC: u16 = 1;
const SC: u16 = 2;
const RREAD: u16 = 3;

/// Makes the transaction of a kind with a fault, and once before and once after it without: the session, or a new one, goes on.
/// A fault without an end ends with the operation's time limit.
fn of_fault(fault: &str, kind: u16, limit: Duration) -> (Outcome, u32, String) {
    let parent = on_disk();
    let server = server(parent.path(), &[&format!("{fault}:2")]);
    let requests = [5, 6, 7].map(|number| request(AppSuite::System, kind, number));
    let replies = perform(&server, AppSuite::System, 0, &requests, limit).unwrap();
    let [before, faulty, after] = &replies[..] else { panic!("three replies") };
    for good in [before, after] {
        let (reply, text) = good.as_ref().expect("in time");
        assert_eq!(reply.outcome, Outcome::Ok, "{fault}: {text}");
    }
    match faulty.clone() {
        Some((reply, text)) => (reply.outcome, reply.code, text),
        None => (Outcome::TimedOut, 0, "given up".to_owned()),
    }
}

/// Each row of the table of faults, as `docs/design/hostile-servers.md` has it.
#[test]
fn every_fault_is_a_named_outcome_with_its_code() {
    for fault in &FAULTS {
        // Faults of a payload need one; the number of a block is that of a read.
        let kind = if fault.name == "wrong-block" { RREAD } else { SC };
        let ends = fault.outcome != Outcome::TimedOut;
        let limit = if ends { TRANSACTION_MAX } else { Duration::from_millis(300) };
        let (outcome, code, text) = of_fault(fault.name, kind, limit);
        assert_eq!((outcome, code), (fault.outcome, fault.code), "{}: {text}", fault.name);
    }
}

#[test]
fn failures_are_described() {
    let found = [
        ("wrong-checksum", SC),
        ("short-reply", SC),
        ("closed-session", CS),
        ("wrong-block", CS),
        ("wrong-block", RREAD),
        ("wrong-block", PROC),
        ("wrong-times", CS),
        ("wrong-number", PROC),
        ("busy", PROC),
    ]
    .map(|(fault, kind)| {
        let (outcome, code, text) = of_fault(fault, kind, TRANSACTION_MAX);
        // Times and results of computations are other ones each time.
        let text = text.split([',', '0']).next().unwrap_or_default().trim_end().to_owned();
        format!("{fault}: {} ({code}): {text}", outcome.name())
    });
    insta::assert_snapshot!(found.join("\n"), @"
    wrong-checksum: inconsistent (3): SC: the checksum of the reply does not match its payload
    short-reply: truncated (0): SC: the connection ended after 28 bytes of the reply
    closed-session: session lost (0): CS: the server closed the kept connection instead of replying
    wrong-block: wrong bytes (1): CS: the reply has the wrong result
    wrong-block: wrong bytes (4): RREAD: the reply has the wrong result
    wrong-block: wrong bytes (3): PROC: the reply has the wrong result
    wrong-times: inconsistent (2): CS: the server's times of queue and service
    wrong-number: malformed head (3): PROC: the reply is not a frame of the protocol
    busy: busy (1): PROC: the server answered with status 1: its queue is full
    ");
}

/// A server without files, and one that has no room for the client.
#[test]
fn a_session_that_is_refused_says_why() {
    let without = AppServer::start(AppOptions { service_threads: 1, ..AppOptions::new() }).unwrap();
    let refused = |server: &AppServer, client| {
        perform(server, AppSuite::Disk, client, &[], TRANSACTION_MAX).expect_err("no session")
    };
    let text = "the session could not be opened: the server answered with status 5: a number or size is above its limits";
    assert_eq!(refused(&without, 0), text);
    let parent = on_disk();
    assert_eq!(refused(&server(parent.path(), &[]), 2), text);
    let address = without.address();
    drop(without);
    let clock = RealClock::start();
    let context = AppContext::new(&workload(AppSuite::Network), "", address, &[], clock).unwrap();
    let error = block_on(AppDriver::new(context, 0).open()).unwrap_err().to_string();
    assert!(error.contains("Connection refused"), "{error}");
}
