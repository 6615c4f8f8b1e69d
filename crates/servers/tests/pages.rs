//! Generated pages, from the web server itself and from the page server.

use std::io::{ErrorKind, Read};
use std::net::SocketAddr;
use std::time::Duration;

use http1::{Framing, RequestMethod};
use model::GeneratedText;
use servers::gateway::GeneratedPage;
use servers::web::{FaultPlan, PagesOptions, PagesServer};
use units::{Clock, Nanos, RealClock};

use crate::common::{self, Client, start};

const QUERIES: [(&str, &str); 6] = [
    ("/dyn", "size=1000&seed=77"),
    ("/dyn", "size=0"),
    ("/dyn", "size=300000&seed=4"),
    ("/a/file.dyn-send", ""),
    ("/cgi-bin/simple", "seed=5"),
    ("/cgi-bin/simple", "seed=x"),
];

/// Gets all pages over one connection.
fn check_all(client: &mut Client) {
    for (path, query) in QUERIES {
        let reply = client.get(&format!("{path}?{query}")).unwrap();
        let page = GeneratedPage::find(path.as_bytes(), query.as_bytes()).unwrap();
        assert_eq!((reply.head.status, reply.head.keep_alive), (page.status, true), "{path}?{query}");
        assert!(reply.body == page.body.into_bytes(), "{path}?{query}");
    }
}

#[test]
fn the_web_server_generates_pages_besides_files() {
    let server = start(|_| {});
    let mut client = Client::connect(server.address());
    check_all(&mut client);
    assert_eq!(client.get("/small.html").unwrap().body, common::content("/small.html"));
    check_all(&mut client);
    assert_eq!(client.get("/dynamic").unwrap().head.status, 404);
}

#[test]
fn pages_have_a_content_type_and_no_store() {
    let server = start(|_| {});
    let mut client = Client::connect(server.address());
    client.send("GET /cgi-bin/simple?size=64 HTTP/1.0\r\n\r\n");
    assert_eq!(
        client.rest(),
        "HTTP/1.0 200 OK\r\nContent-Length: 64\r\nConnection: close\r\nServer: plimsoll\r\n\
         Content-Type: text/html\r\nCache-Control: no-store\r\n\r\n\
         <!DOCTYPE html><title>Made by a program</title><p>ASEROBDHGMPMRI"
    );
}

#[test]
fn pages_are_generated_for_get_only() {
    let server = start(|_| {});
    let mut client = Client::connect(server.address());
    client.send("HEAD /dyn HTTP/1.1\r\nHost: h\r\n\r\nDELETE /dyn HTTP/1.1\r\nHost: h\r\n\r\n");
    assert_eq!(client.reply(RequestMethod::Head).unwrap().head.status, 405);
    assert_eq!(client.reply(RequestMethod::Get).unwrap().head.status, 405);
    check_all(&mut client);
}

#[test]
fn faults_affect_pages_as_well_as_files() {
    let plan = FaultPlan::parse(["wrong-bytes=/dyn"]).unwrap();
    let server = start(|options| options.faults = plan);
    let reply = Client::connect(server.address()).get("/dyn?size=1000&seed=3").unwrap();
    assert_eq!(reply.head.framing, Framing::Length(1000));
    assert_eq!(GeneratedText::new(3).matches(&reply.body), Err(500));
}

/// Goal: a large page with a slow reader does not block others.
#[test]
fn a_slow_reader_of_a_page_does_not_block_others() {
    let server = start(|_| {});
    let mut slow = Client::connect(server.address());
    slow.send("GET /dyn?size=10485760&seed=1 HTTP/1.1\r\nHost: h\r\n\r\n");
    check_all(&mut Client::connect(server.address()));
    let body = slow.reply(RequestMethod::Get).unwrap().body;
    assert_eq!((body.len(), GeneratedText::new(1).matches(&body)), (10_485_760, Ok(())));
}

fn start_app(workers: usize) -> PagesServer {
    PagesServer::start(&PagesOptions { listen: "127.0.0.1:0".parse().unwrap(), workers }).unwrap()
}

/// Goal: one event loop generates other pages, and serves files, while a page is paused.
fn check_paused(address: SocketAddr) {
    for pause in ["wait=10000", "lock=10000"] {
        let mut slow = Client::connect(address);
        let mut other = Client::connect(address);
        slow.send(&format!("GET /dyn?{pause} HTTP/1.1\r\nHost: h\r\n\r\n"));
        check_all(&mut other);
        slow.stream.set_read_timeout(Some(Duration::from_millis(50))).unwrap();
        assert_eq!(slow.stream.read(&mut [0]).unwrap_err().kind(), ErrorKind::WouldBlock, "{pause}");
    }
}

#[test]
fn a_paused_page_blocks_only_its_connection() {
    check_paused(start(|_| {}).address());
    check_paused(start_app(1).address());
}

/// Goal: pages with the lock are generated one at a time, across event loops; others wait concurrently.
fn check_turns(address: SocketAddr) {
    let mut clients: Vec<Client> = (0..4).map(|_| Client::connect(address)).collect();
    let clock = RealClock::start();
    for client in &mut clients {
        client.send("GET /dyn?size=8&wait=5&lock=30 HTTP/1.1\r\nHost: h\r\n\r\n");
    }
    for client in &mut clients {
        assert_eq!(client.reply(RequestMethod::Get).unwrap().body, b"ASEROBDH");
    }
    assert!(Nanos::from_millis(5 + 4 * 30) <= clock.now());
}

#[test]
fn pages_with_lock_are_generated_one_at_a_time() {
    check_turns(start(|_| {}).address());
    check_turns(start_app(4).address());
}

#[test]
fn an_app_server_serves_more_connections_than_it_has_workers() {
    let server = start_app(3);
    let mut clients: Vec<Client> = (0..8).map(|_| Client::connect(server.address())).collect();
    for _ in 0..2 {
        clients.iter_mut().for_each(check_all);
    }
    assert_eq!(clients[0].get("/small.html").unwrap().head.status, 404);
    drop(clients);
    let reports = server.stop().unwrap();
    let sum = |count: fn(&servers::web::ServeReport) -> u64| reports.iter().map(count).sum::<u64>();
    assert_eq!((reports.len(), sum(|one| one.connections), sum(|one| one.requests)), (3, 8, 8 * 12 + 1));
}

#[test]
fn a_number_of_workers_out_of_range_is_refused() {
    for workers in [0, 1025] {
        let listen = "127.0.0.1:0".parse().unwrap();
        let error = PagesServer::start(&PagesOptions { listen, workers }).unwrap_err();
        assert_eq!(error.to_string(), format!("expected from 1 to 1024 workers, found {workers}"));
    }
}
