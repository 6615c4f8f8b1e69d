//! The FastCGI gateway over real sockets.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use model::GeneratedText;
use servers::gateway::{FastCgiGateway, GatewayAddress, GatewayOptions};
use units::{Clock, Nanos, RealClock};

const BEGIN: u8 = 1;
const END: u8 = 3;
const PARAMS: u8 = 4;
const STDIN: u8 = 5;
const STDOUT: u8 = 6;

fn start(workers: usize) -> FastCgiGateway {
    FastCgiGateway::start(&GatewayOptions { listen: "127.0.0.1:0".parse().unwrap(), workers }).unwrap()
}

fn connect(gateway: &FastCgiGateway) -> TcpStream {
    let GatewayAddress::Tcp(address) = gateway.address() else { panic!("not a port") };
    let stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    stream
}

fn record(kind: u8, content: &[u8]) -> Vec<u8> {
    let length = u16::try_from(content.len()).unwrap().to_be_bytes();
    // Padding to a multiple of 8, as web servers send it.
    let padding = content.len().wrapping_neg() % 8;
    let header = [1, kind, 0, 1, length[0], length[1], padding as u8, 0];
    [&header[..], content, &[0; 8][..padding]].concat()
}

fn begin(keep: bool) -> Vec<u8> {
    record(BEGIN, &[0, 1, u8::from(keep), 0, 0, 0, 0, 0])
}

/// Builds the records that follow the begin of a request for this many letters of a seed.
fn rest(size: usize, seed: u64) -> Vec<u8> {
    rest_for(&format!("size={size}&seed={seed}"))
}

fn rest_for(query: &str) -> Vec<u8> {
    let mut pairs = Vec::new();
    for (name, value) in
        [("REQUEST_METHOD", "GET"), ("REQUEST_URI", &*format!("/dyn?{query}")), ("QUERY_STRING", query)]
    {
        pairs.extend_from_slice(&[name.len() as u8, value.len() as u8]);
        pairs.extend_from_slice(name.as_bytes());
        pairs.extend_from_slice(value.as_bytes());
    }
    [record(PARAMS, &pairs), record(PARAMS, b""), record(STDIN, b"")].concat()
}

/// Reads records to the end of the request and returns the body of the response.
fn body(stream: &mut impl Read) -> Vec<u8> {
    let mut output = Vec::new();
    loop {
        let mut header = [0; 8];
        stream.read_exact(&mut header).unwrap();
        let mut content = vec![0; usize::from(u16::from_be_bytes([header[4], header[5]]))];
        stream.read_exact(&mut content).unwrap();
        match header[1] {
            STDOUT => output.extend_from_slice(&content),
            END => break assert_eq!(content, [0; 8]),
            kind => panic!("record of type {kind}"),
        }
    }
    assert!(output.starts_with(b"Status: 200 OK\r\n"));
    let head = output.windows(4).position(|four| four == b"\r\n\r\n").unwrap() + 4;
    output.split_off(head)
}

fn check(stream: &mut (impl Read + Write), keep: bool, size: usize, seed: u64) {
    stream.write_all(&[begin(keep), rest(size, seed)].concat()).unwrap();
    check_answer(stream, size, seed);
}

fn check_answer(stream: &mut impl Read, size: usize, seed: u64) {
    let body = body(stream);
    assert_eq!((body.len(), GeneratedText::new(seed).matches(&body)), (size, Ok(())));
}

fn is_closed(stream: &mut impl Read) -> bool {
    matches!(stream.read(&mut [0]), Ok(0))
}

#[test]
fn connections_are_kept_on_request() {
    let gateway = start(1);
    let mut stream = connect(&gateway);
    for seed in 0..20 {
        check(&mut stream, true, 1000, seed);
    }
    check(&mut stream, false, 1_000_000, 5);
    assert!(is_closed(&mut stream));
    gateway.stop();
}

#[test]
fn a_unix_socket_is_open_to_all_users_and_removed_with_the_gateway() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("gateway.sock");
    let options = GatewayOptions { listen: GatewayAddress::Unix(path.clone()), workers: 2 };
    // A socket without a listener is replaced, one in use is not.
    drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
    let gateway = FastCgiGateway::start(&options).unwrap();
    assert_eq!(FastCgiGateway::start(&options).unwrap_err().kind(), ErrorKind::AddrInUse);
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o666);
    let mut stream = UnixStream::connect(&path).unwrap();
    check(&mut stream, true, 1000, 3);
    gateway.stop();
    assert!(is_closed(&mut stream) && !path.exists());
}

/// Goal: no more requests are answered at once than there are workers. Method: the one worker has an
/// incomplete request; another gets no response before it.
#[test]
fn workers_limit_how_many_requests_are_answered_at_once() {
    let gateway = start(1);
    let mut first = connect(&gateway);
    first.write_all(&begin(false)).unwrap();
    // The answer to this record shows that the worker has taken the begin record, which itself is not
    // answered.
    first.write_all(&[1, 9, 0, 0, 0, 0, 0, 0]).unwrap();
    first.read_exact(&mut [0; 8]).unwrap();
    let mut second = connect(&gateway);
    second.write_all(&[begin(false), rest(10, 2)].concat()).unwrap();
    second.set_read_timeout(Some(Duration::from_millis(50))).unwrap();
    assert_eq!(second.read(&mut [0; 8]).unwrap_err().kind(), ErrorKind::WouldBlock);
    first.write_all(&rest(10, 1)).unwrap();
    check_answer(&mut first, 10, 1);
    second.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    check_answer(&mut second, 10, 2);
}

#[test]
fn a_paused_page_blocks_only_its_worker() {
    for pause in ["wait=10000", "lock=10000"] {
        let gateway = start(2);
        let mut slow = connect(&gateway);
        let mut other = connect(&gateway);
        slow.write_all(&[begin(false), rest_for(pause)].concat()).unwrap();
        (0..5).for_each(|seed| check(&mut other, true, 10, seed));
        slow.set_read_timeout(Some(Duration::from_millis(50))).unwrap();
        assert_eq!(slow.read(&mut [0; 8]).unwrap_err().kind(), ErrorKind::WouldBlock, "{pause}");
    }
}

#[test]
fn pages_with_lock_are_generated_one_at_a_time() {
    let gateway = start(4);
    let mut streams: Vec<TcpStream> = (0..4).map(|_| connect(&gateway)).collect();
    let clock = RealClock::start();
    for stream in &mut streams {
        stream.write_all(&[begin(false), rest_for("size=10&seed=1&lock=30")].concat()).unwrap();
    }
    streams.iter_mut().for_each(|stream| check_answer(stream, 10, 1));
    assert!(Nanos::from_millis(120) <= clock.now());
}

#[test]
fn a_kept_connection_is_closed_when_no_worker_is_free() {
    let gateway = start(1);
    let mut first = connect(&gateway);
    let mut second = connect(&gateway);
    check(&mut first, true, 10, 1);
    check(&mut second, true, 10, 2);
    assert!(is_closed(&mut first));
    gateway.stop();
    assert!(is_closed(&mut second));
}

#[test]
fn kept_connections_stay_open_while_workers_are_free() {
    let gateway = start(3);
    let mut streams: Vec<TcpStream> = (0..3).map(|_| connect(&gateway)).collect();
    for seed in 0..5 {
        streams.iter_mut().for_each(|stream| check(stream, true, 100, seed));
    }
}

#[test]
fn bytes_that_are_not_fastcgi_end_only_their_connection() {
    let gateway = start(1);
    for bytes in [&b"GET / HTTP/1.1\r\nHost: h\r\n\r\n"[..], &[0xff; 100], &[1, 1, 0, 1, 0, 0, 0, 0]] {
        let mut stream = connect(&gateway);
        stream.write_all(bytes).unwrap();
        // Closing with unread bytes resets the connection.
        assert!(matches!(stream.read(&mut [0]), Ok(0) | Err(_)));
        check(&mut connect(&gateway), false, 10, 1);
    }
}

#[test]
fn start_errors_state_the_reason() {
    let failure = |listen: &str, workers| {
        FastCgiGateway::start(&GatewayOptions { listen: listen.parse().unwrap(), workers }).unwrap_err()
    };
    assert_eq!(failure("127.0.0.1:0", 0).to_string(), "expected from 1 to 1024 workers, found 0");
    assert_eq!(failure("unix:/no/such/folder/x", 1).kind(), ErrorKind::NotFound);
    let first = start(1);
    assert_eq!(failure(&first.address().to_string(), 1).kind(), ErrorKind::AddrInUse);
}
