//! Limits on clients.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use socket2::{Domain, Socket, Type};
use units::Nanos;

use super::client::{Client, get, post};
use super::fixture::Fixture;

#[test]
fn long_heads_get_414_or_431() {
    let fixture = Fixture::start(|settings| settings.limits.head_bytes_max = 1_000);
    for head in [
        format!("GET / HTTP/1.1\r\nHost: h\r\nA: {}\r\n\r\n", "a".repeat(1_000)),
        format!("GET / HTTP/1.1\r\nHost: h\r\nA: {}", "a".repeat(1_000)),
        format!("GET / HTTP/1.1\r\nHost: h\r\n{}\r\n", "A: b\r\n".repeat(200)),
    ] {
        let mut client = fixture.client();
        assert_eq!(client.send(head).answer().status, 431);
        client.expect_end();
    }
    let mut client = fixture.client();
    assert_eq!(client.send(format!("GET /{}", "a".repeat(1_000))).answer().status, 414);
    client.expect_end();
    assert_eq!(fixture.origin.lines(), Vec::<String>::new());
    let target = format!("/{}", "a".repeat(900));
    assert_eq!(fixture.client().get(&target).text(), target);
}

#[test]
fn too_many_header_lines_are_refused() {
    let fixture = Fixture::start(|_| {});
    let head = format!("GET / HTTP/1.1\r\nHost: h\r\n{}\r\n", "A: b\r\n".repeat(http1::HEADERS_MAX));
    assert_eq!(fixture.client().send(head).answer().status, 431);
}

#[test]
fn long_bodies_are_refused_by_announced_or_actual_length() {
    let fixture = Fixture::start(|settings| settings.limits.body_bytes_max = 10);
    let ten = post("/echo", "Content-Length: 10\r\n", "0123456789");
    assert_eq!(fixture.client().send(ten).answer().status, 200);
    let eleven = post("/echo", "Content-Length: 11\r\n", "0123456789a");
    let chunked = post("/echo", "Transfer-Encoding: chunked\r\n", "b\r\n0123456789a\r\n0\r\n\r\n");
    for request in [eleven, chunked] {
        let mut client = fixture.client();
        let answer = client.send(request).answer();
        assert_eq!((answer.status, answer.keep_alive), (413, false));
        client.expect_end();
    }
    assert_eq!(fixture.origin.lines().len(), 1);
}

#[test]
fn an_incomplete_head_times_out() {
    let fixture = Fixture::start(|settings| settings.limits.head_timeout = Nanos(1));
    let mut client = fixture.client();
    assert_eq!(client.send("GET / HTTP/1.1\r\nHost:").answer().status, 408);
    client.expect_end();
    let mut silent = fixture.client();
    silent.expect_end();
}

#[test]
fn an_incomplete_body_times_out() {
    let fixture = Fixture::start(|settings| settings.limits.body_timeout = Nanos(1));
    let mut client = fixture.client();
    let answer = client.send(post("/echo", "Content-Length: 10\r\n", "01234")).answer();
    assert_eq!((answer.status, answer.keep_alive), (408, false));
    client.expect_end();
}

#[test]
fn idle_connections_are_closed() {
    let fixture = Fixture::start(|settings| settings.limits.idle_timeout = Nanos(1));
    let mut client = fixture.client();
    assert_eq!(client.get("/a").text(), "/a");
    client.expect_end();
}

/// Goal: a client that requests much and reads nothing does not hold a connection for long.
#[test]
fn a_client_that_does_not_read_is_closed() {
    let fixture = Fixture::start(|settings| settings.limits.write_timeout = Nanos(1));
    assert_eq!(fixture.client().get("/kept").text(), "/kept");
    for n in 2..4 {
        let mut greedy = fixture.client();
        greedy.send(get("/large"));
        fixture.settled(|totals| (totals.connections_opened, totals.connections_closed) == (n, n));
        let answer = greedy.answer_to(http1::RequestMethod::Get);
        assert!(answer.is_err());
    }
}

/// Asks for a large page with a receive buffer of some kilobytes, so that what is not read stays with the server.
fn ask_for_large(fixture: &Fixture) -> TcpStream {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
    socket.set_recv_buffer_size(16_384).unwrap();
    socket.connect(&fixture.address().into()).unwrap();
    let mut stream = TcpStream::from(socket);
    stream.write_all(get("/large").as_bytes()).unwrap();
    stream
}

/// Reads so many bytes every 20 ms for so many times; returns whether the connection lasted.
fn read_slowly(mut stream: TcpStream, bytes: usize, times: usize) -> bool {
    let mut room = vec![0; bytes];
    (0..times).all(|_| {
        std::thread::sleep(Duration::from_millis(20));
        stream.take_error().unwrap().is_none() && stream.read_exact(&mut room).is_ok()
    })
}

/// Goal: slow clients are told apart by what they have received, not by the megabytes that the kernel takes for each.
/// Method: one reads far below the minimum rate and must be cut off, though the kernel has taken as much as the minimum
/// is in a minute; one reads far above it, but takes longer than the time limit to make room for the kernel to take more.
#[test]
fn slow_clients_are_judged_by_what_they_have_received() {
    let fixture = Fixture::start(|settings| {
        (settings.limits.write_timeout, settings.limits.rate_min) = (Nanos::from_millis(500), 20_000);
    });
    assert_eq!(fixture.client().get("/kept").text(), "/kept");
    let slow = ask_for_large(&fixture);
    let steady = ask_for_large(&fixture);
    let slow = std::thread::spawn(move || read_slowly(slow, 20, 500));
    assert!(read_slowly(steady, 2_000, 100), "100,000 bytes a second");
    assert!(!slow.join().unwrap(), "1,000 bytes a second");
}

#[test]
fn connections_are_limited_in_total_and_per_address() {
    let fixture = Fixture::start(|settings| settings.limits.connections_max = 1);
    let mut first = fixture.client();
    assert_eq!(first.get("/a").text(), "/a");
    fixture.client().expect_end();
    assert_eq!(first.get("/b").text(), "/b");
    let fixture = Fixture::start(|settings| settings.limits.connections_per_address = Some(2));
    let mut both: Vec<Client> = (0..2).map(|_| fixture.client()).collect();
    both.iter_mut().for_each(|client| assert_eq!(client.get("/a").text(), "/a"));
    fixture.client().expect_end();
    drop(both.pop());
    // The permit is returned when the frontend has seen the end, which the next connections wait for.
    let mut third = loop {
        let mut client = fixture.client();
        client.send(get("/c"));
        let mut first = [0];
        match client.stream.peek(&mut first) {
            Ok(1) => break client,
            _ => continue,
        }
    };
    assert_eq!(third.answer().text(), "/c");
    assert!(fixture.totals().refused["connections-per-address"] >= 1);
}

#[test]
fn the_last_request_of_a_connection_gets_connection_close() {
    let fixture = Fixture::start(|settings| settings.limits.requests_per_connection = Some(3));
    for _ in 0..3 {
        let mut client = fixture.client();
        let answers: Vec<_> = (0..3).map(|_| client.get("/kept").keep_alive).collect();
        assert_eq!(answers, [true, true, false]);
        client.expect_end();
        // All at once, as by a client that reads later.
        let mut client = fixture.client();
        client.send(get("/kept").repeat(5));
        let answers: Vec<_> = (0..3).map(|_| client.answer().keep_alive).collect();
        assert_eq!(answers, [true, true, false]);
        client.expect_end();
    }
}
