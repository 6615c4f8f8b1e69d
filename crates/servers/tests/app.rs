//! The application server on loopback, by a client that writes its frames itself.

use std::io::{Read, Write};
use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use frame::app::{
    AppOperation, AppServerStats, AppStatus, DataSettings, FORMAT, FileIo, PREPARE, WorkTable, fill_payload,
    sized_content,
};
use frame::{Crc32c, FrameFormat, REPLY_BYTES};
use servers::FrameFaultPlan;
use servers::app::{AppOptions, AppServer, FAULTS};
use units::{Clock, Nanos, Ratio, RealClock, thread_cpu};

use crate::frames::{FrameClient, FrameOperation};

const SETTINGS: DataSettings =
    DataSettings { file_bytes: 64 * 4096, range_bytes: 32 * 4096, io: FileIo::Buffered, is_cold: false };

type Client = FrameClient<AppOperation>;

impl FrameOperation for AppOperation {
    const FORMAT: FrameFormat = FORMAT;

    type Status = AppStatus;

    fn number(self) -> u8 {
        self as u8
    }

    fn status(number: u16) -> Option<AppStatus> {
        AppStatus::from_number(number)
    }
}

impl Client {
    /// Connects and opens a session with files that are ready.
    fn prepared(address: SocketAddr, client: u64) -> Client {
        let mut one = Client::connect(address);
        assert_eq!(one.status(AppOperation::Hello, client, &SETTINGS.to_bytes()), AppStatus::Ok);
        assert_eq!(one.status(AppOperation::Phase, PREPARE, &[]), AppStatus::Ok);
        one
    }

    fn result(&mut self, operation: AppOperation, argument: u64, payload: &[u8]) -> u64 {
        let (header, _) = self.perform(operation, argument, payload);
        assert_eq!(header.status, 0, "{operation:?}");
        header.result
    }

    /// Asks for the load of the server.
    fn stats(&mut self) -> AppServerStats {
        let (_, payload) = self.perform(AppOperation::Stats, 0, &[]);
        AppServerStats::read(&payload).expect("the load of the server")
    }
}

fn options() -> AppOptions {
    AppOptions { service_threads: 2, clients_max: 8, file_bytes_max: 1 << 20, ..AppOptions::new() }
}

/// Starts a server with files in a directory on a disk.
fn with_files(parent: &Path, faults: &[&str]) -> AppServer {
    let faults = FrameFaultPlan::parse(&FAULTS, faults.iter().copied()).unwrap();
    AppServer::start(AppOptions { directory: Some(parent.to_owned()), faults, ..options() }).unwrap()
}

fn on_disk() -> tempfile::TempDir {
    tempfile::tempdir_in("/var/tmp").unwrap()
}

#[test]
fn every_operation_is_performed() {
    let parent = on_disk();
    let server = with_files(parent.path(), &[]);
    let mut client = Client::prepared(server.address(), 3);
    let mut sent = vec![0; 32_768];
    fill_payload(5, &mut sent);
    assert_eq!(client.result(AppOperation::ClientServer, 0, &sent), 32_768);
    let (_, payload) = client.perform(AppOperation::ServerClient, sized_content(32_768, 5), &[]);
    assert!(payload == sent, "the content of a seed is the same on both sides");
    let rounds = 1000_u32.to_le_bytes();
    assert_eq!(client.result(AppOperation::Process, 42, &rounds), WorkTable::default().compute(42, 1000));
    for operation in [AppOperation::RandomRead, AppOperation::RandomWrite] {
        assert_eq!(client.result(operation, 31, &[]), 31);
    }
    for operation in [AppOperation::SequentialRead, AppOperation::SequentialWrite] {
        assert_eq!(client.result(operation, 28, &[]), 28);
    }
    assert_eq!([1, 2].map(|_| client.result(AppOperation::Append, 0, &[])), [4096, 8192]);
    assert_eq!(client.result(AppOperation::Bye, 0, &[]), 0);
    assert!(client.rest().is_empty());
    server.stop().unwrap();
    assert_eq!(std::fs::read_dir(parent.path()).unwrap().count(), 0, "the files are removed");
}

/// Requests that come too early, ask for too much, or are none.
#[test]
fn requests_out_of_their_bounds_are_refused() {
    let parent = on_disk();
    let server = with_files(parent.path(), &[]);
    let mut client = Client::connect(server.address());
    let of_file = |blocks: u64| DataSettings { file_bytes: blocks * 4096, ..SETTINGS }.to_bytes();
    let refused: [(AppOperation, u64, &[u8], AppStatus); 17] = [
        (AppOperation::Stats, 1, &[], AppStatus::BadRequest),
        (AppOperation::Stats, 0, b"x", AppStatus::BadRequest),
        (AppOperation::ClientServer, 0, b"x", AppStatus::OutOfPhase),
        (AppOperation::Phase, PREPARE, &[], AppStatus::OutOfPhase),
        (AppOperation::Hello, 8, &[], AppStatus::OverLimit),
        (AppOperation::Hello, u64::MAX, &[], AppStatus::OverLimit),
        (AppOperation::Hello, 0, &of_file(257), AppStatus::OverLimit),
        (AppOperation::Hello, 0, &of_file(31), AppStatus::BadRequest),
        (AppOperation::Hello, 0, b"x", AppStatus::BadRequest),
        (AppOperation::Hello, 0, &[], AppStatus::Ok),
        (AppOperation::Phase, 2, &[], AppStatus::BadRequest),
        (AppOperation::Phase, PREPARE, &[], AppStatus::Ok),
        (AppOperation::RandomRead, 0, &[], AppStatus::OutOfPhase),
        (AppOperation::RandomRead, 0, b"x", AppStatus::BadRequest),
        (AppOperation::Process, 0, &u32::MAX.to_le_bytes(), AppStatus::OverLimit),
        (AppOperation::Process, 0, &[], AppStatus::BadRequest),
        (AppOperation::ServerClient, sized_content(u32::MAX, 0), &[], AppStatus::OverLimit),
    ];
    for (operation, argument, payload, expected) in refused {
        assert_eq!(
            client.status(operation, argument, payload),
            expected,
            "{operation:?} {argument} {payload:?}"
        );
    }
    // No operation has the number, but the frame is one.
    let unknown = client.frame(77, 0, &[]);
    client.stream.write_all(&unknown).unwrap();
    assert_eq!(client.receive().0.status, AppStatus::BadRequest as u16);
    let mut changed = client.frame(AppOperation::ClientServer as u8, 0, b"hello");
    changed[33] ^= 1;
    client.stream.write_all(&changed).unwrap();
    assert_eq!(client.receive().0.status, AppStatus::WrongChecksum as u16);
    // The session survived all of it; bytes that are no frame end the connection.
    assert_eq!(client.result(AppOperation::ClientServer, 0, b"hello"), 5);
    client.stream.write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
    assert!(client.rest().is_empty());
}

#[test]
fn a_server_without_a_directory_has_no_files() {
    let server = AppServer::start(options()).unwrap();
    let mut client = Client::connect(server.address());
    assert_eq!(client.status(AppOperation::Hello, 0, &SETTINGS.to_bytes()), AppStatus::OverLimit);
    assert_eq!(client.status(AppOperation::Hello, 0, &[]), AppStatus::Ok);
    assert_eq!(client.result(AppOperation::ClientServer, 0, b"x"), 1);
}

/// Requests that arrive in pieces, or several at once, have one reply each, in order.
#[test]
fn requests_are_found_however_they_arrive() {
    let server = AppServer::start(options()).unwrap();
    let mut client = Client::connect(server.address());
    client.result(AppOperation::Hello, 0, &[]);
    for piece in client.frame(AppOperation::ClientServer as u8, 0, b"in pieces").chunks(3) {
        client.stream.write_all(piece).unwrap();
    }
    assert_eq!(client.receive().0.result, 9);
    let mut many = Vec::new();
    for n in 1..=50 {
        many.extend(client.frame(AppOperation::ClientServer as u8, 0, &vec![7; n * 100]));
    }
    client.stream.write_all(&many).unwrap();
    client.stream.shutdown(std::net::Shutdown::Write).unwrap();
    for n in 1..=50 {
        assert_eq!(client.receive().0.result, n * 100);
    }
    assert!(client.rest().is_empty());
}

/// One service thread that computes, one request that waits, and a third one that is turned away at once.
#[test]
fn a_full_queue_answers_busy_and_waiting_is_stamped() {
    let options = AppOptions { service_threads: 1, queue_max: 1, ..options() };
    let server = AppServer::start(options).unwrap();
    let mut clients: Vec<Client> = (0..3).map(|_| Client::connect(server.address())).collect();
    // It needs no `HELLO`.
    let mut observer = Client::connect(server.address());
    for (number, client) in (0..).zip(&mut clients) {
        client.result(AppOperation::Hello, number, &[]);
    }
    let rounds = 20_000_000_u32.to_le_bytes();
    let mut until = |busy_threads, queued| loop {
        let stats = observer.stats();
        if (stats.busy_threads, stats.queued) == (busy_threads, queued) {
            return stats;
        }
        std::thread::yield_now();
    };
    until(0, 0);
    clients[0].send(AppOperation::Process, 1, &rounds);
    until(1, 0);
    clients[1].send(AppOperation::ClientServer, 0, b"waits");
    // The load is told while the only service thread is busy and the queue is full.
    until(1, 1);
    assert_eq!(clients[2].status(AppOperation::ClientServer, 0, b"x"), AppStatus::Busy);
    let expected = AppServerStats {
        threads: 1,
        busy_threads: 1,
        queued: 1,
        queue_max: 1,
        connections: 4,
        performed: 3,
        refused: 1,
    };
    assert_eq!(until(1, 1), expected);
    let (queue, service) = clients[0].receive().0.stamps.times().unwrap();
    assert!(queue < service, "the first request did not wait: {queue} and {service}");
    let (queue, service) = clients[1].receive().0.stamps.times().unwrap();
    assert!(service < queue, "the second did nothing but wait: {queue} and {service}");
}

/// A client that comes back has its files; the session of the connection before is the same client's.
#[test]
fn a_client_finds_its_files_again() {
    let parent = on_disk();
    let server = with_files(parent.path(), &[]);
    let mut first = Client::prepared(server.address(), 1);
    assert_eq!(first.result(AppOperation::Append, 0, &[]), 4096);
    let mut second = Client::connect(server.address());
    second.result(AppOperation::Hello, 1, &SETTINGS.to_bytes());
    assert_eq!(second.status(AppOperation::RandomRead, 0, &[]), AppStatus::OutOfPhase);
    second.result(AppOperation::Phase, PREPARE, &[]);
    assert_eq!(second.result(AppOperation::Append, 0, &[]), 4096, "a phase begins with an empty file");
    assert_eq!(first.result(AppOperation::Append, 0, &[]), 8192);
}

#[test]
fn faults_are_injected_into_operations_alone() {
    let parent = on_disk();
    let server = |fault| with_files(parent.path(), &[fault]);
    let wrong = server("wrong-checksum");
    let mut client = Client::prepared(wrong.address(), 0);
    client.send(AppOperation::ServerClient, sized_content(100, 1), &[]);
    let (header, payload) = client.receive();
    assert_ne!(header.checksum, Crc32c::of(&payload));

    let wrong = server("wrong-block:2");
    let mut client = Client::prepared(wrong.address(), 0);
    assert_eq!([4, 4, 4].map(|block| client.result(AppOperation::RandomRead, block, &[])), [4, 5, 4]);

    for (fault, bytes) in [("short-reply", REPLY_BYTES / 2), ("closed-session", 0)] {
        let wrong = server(fault);
        let mut client = Client::prepared(wrong.address(), 0);
        client.send(AppOperation::RandomRead, 4, &[]);
        assert_eq!(client.rest().len(), bytes, "{fault}");
    }

    let wrong = server("stall");
    let mut client = Client::prepared(wrong.address(), 0);
    client.send(AppOperation::RandomRead, 4, &[]);
    client.stream.set_read_timeout(Some(Duration::from_millis(50))).unwrap();
    assert!(client.stream.read(&mut [0]).is_err(), "no reply, and no end");
}

/// Goal: the threads together use a tenth of a CPU. Method: count what four clients get computed, and multiply by the CPU
/// time that one such computation takes here. Without an allowance it would be many times as much.
#[test]
fn all_threads_together_keep_to_the_allowance() {
    const ROUNDS: u32 = 20_000;
    let options = AppOptions { cpu_allowance: Some(Ratio(0.1)), service_threads: 4, ..options() };
    let server = AppServer::start(options).unwrap();
    let clock = RealClock::start();
    let computed = |number: u64| {
        let mut client = Client::connect(server.address());
        client.result(AppOperation::Hello, number, &[]);
        let mut n = 0;
        while clock.now() < Nanos::from_millis(500) {
            client.result(AppOperation::Process, number, &ROUNDS.to_le_bytes());
            n += 1;
        }
        n
    };
    let n: u64 = std::thread::scope(|scope| {
        let clients: Vec<_> = (0..4).map(|number| scope.spawn(move || computed(number))).collect();
        clients.into_iter().map(|client| client.join().unwrap()).sum()
    });
    let elapsed = clock.now();
    let mut table = WorkTable::default();
    let before = thread_cpu();
    (0..100).for_each(|seed| assert_ne!(table.compute(seed, ROUNDS), 0));
    let used = n * thread_cpu().saturating_sub(before).0 / 100;
    assert!(used < elapsed.0 / 10 * 2, "{used} ns for computing in {elapsed}");
}
