//! The memory of the process behind clients that read nothing.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

use rustix::net::{AddressFamily, SocketType, connect, socket, sockopt};

use crate::fixture::{RunningAccelerator, get};

/// The memory for stored responses, and the memory for those on their way there.
const SIZE: u64 = 32 << 20;
const FILLING: u64 = 4 << 20;

/// The size of a response: more than the kernel takes for a client that reads nothing.
const LENGTH: usize = 4 << 20;

/// A part of a body.
static PART: [u8; 64 << 10] = [b'x'; 64 << 10];

const CLIENTS: usize = 40;

/// The memory that each client may take besides: buffers on both sides, twice as much as read at a time, and its state.
const CLIENT_BYTES: u64 = 256 << 10;

/// Starts an origin whose every page has its own large body, which may be stored.
fn origin() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            std::thread::spawn(move || answer(&stream.unwrap()));
        }
    });
    url
}

fn answer(mut stream: &TcpStream) {
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line).unwrap();
    let length = if line.starts_with("GET /a ") { 5 } else { LENGTH };
    let head = format!(
        "HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n"
    );
    let parts = (0..length.div_ceil(PART.len())).map(|at| &PART[..PART.len().min(length - at * PART.len())]);
    // The accelerator closes connections that it needs no longer.
    let _ = std::iter::once(head.as_bytes()).chain(parts).try_for_each(|part| stream.write_all(part));
}

/// Asks for a page of its own, and reads nothing.
fn ask(address: SocketAddr, number: usize) -> TcpStream {
    let client = socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
    sockopt::set_socket_recv_buffer_size(&client, 4096).unwrap();
    connect(&client, &address).unwrap();
    let mut client = TcpStream::from(client);
    client.write_all(format!("GET /m?{number} HTTP/1.1\r\nHost: h\r\n\r\n").as_bytes()).unwrap();
    client
}

/// Returns the resident memory of a process in bytes.
fn resident(id: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{id}/status")).unwrap();
    let value = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    value.trim().strip_suffix(" kB").unwrap().parse::<u64>().unwrap() * 1024
}

/// Returns a figure of the metrics page.
fn metric(admin: &str, name: &str) -> u64 {
    let mut stream = TcpStream::connect(admin).unwrap();
    let head = format!("GET /metrics HTTP/1.1\r\nHost: {admin}\r\nConnection: close\r\n\r\n");
    stream.write_all(head.as_bytes()).unwrap();
    let lines = BufReader::new(stream).lines().map(Result::unwrap);
    let start = format!("plimsoll_accelerator_{name} ");
    let mut values = lines.filter_map(|line| line.strip_prefix(&start)?.parse::<f64>().ok());
    values.next().unwrap() as u64
}

/// Goal: however many large responses clients ask for without reading them, the process stays within its limits, its
/// metrics say what is held, and other clients are served.
#[test]
fn clients_that_read_nothing_do_not_exceed_the_memory() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("accelerator.toml");
    let config = format!(
        "workers = 1\n[[listen]]\naddress = \"127.0.0.1:0\"\n[[origin.server]]\nurl = \"{}\"\n\
         [memory]\nsize = \"32 MiB\"\nfilling-max = \"4 MiB\"\n[admin]\nlisten = \"127.0.0.1:0\"\n",
        origin()
    );
    fs::write(&file, config).unwrap();
    let running = RunningAccelerator::start(&["--config", file.to_str().unwrap()]);
    let id = running.child.id();
    let admin = running.admin.clone().unwrap();
    let empty = resident(id);
    let address = running.address.parse().unwrap();
    // The first response is stored and held, because no other is on its way.
    let first = ask(address, 0);
    let is_held = |_| {
        std::thread::sleep(Duration::from_millis(10));
        LENGTH as u64 <= metric(&admin, "held_bytes")
    };
    assert!((0..2000).any(is_held), "the first response is not held");
    let clients: Vec<TcpStream> =
        std::iter::once(first).chain((1..CLIENTS).map(|number| ask(address, number))).collect();
    // Each has been answered once the first byte is there; then the kernel takes some more.
    let mut byte = [0];
    clients.iter().for_each(|client| assert_eq!(client.peek(&mut byte).unwrap(), 1));
    let most = empty + SIZE + FILLING + CLIENTS as u64 * CLIENT_BYTES;
    for _ in 0..10 {
        let now = resident(id);
        assert!(now <= most, "{now} bytes, {most} at most, {empty} at the start");
        assert!(get(&running.address).ends_with("xxxxx"));
        std::thread::sleep(Duration::from_millis(50));
    }
    let memory = metric(&admin, "memory_bytes");
    let held = metric(&admin, "held_bytes");
    assert!(LENGTH as u64 <= held && held <= memory && memory <= SIZE, "{held} of {memory}");
    drop(clients);
    running.stop();
}
