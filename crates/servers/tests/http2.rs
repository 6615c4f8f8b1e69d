//! The web origin over HTTP/2, with TLS and without.

use std::io::Read;
use std::time::Duration;

use bytes::Bytes;
use h2::Reason;
use h2::client::Builder;
use http::{Method, Request, Response, StatusCode};
use servers::web::{FaultPlan, WebOptions, WebServer};
use units::Nanos;

use crate::common::tls::identity;
use crate::common::{
    self,
    http2::{Http2, get, run, whole},
};
use crate::common::{Client, OBJECTS, content, start};

fn start_plain(change: impl FnOnce(&mut WebOptions)) -> WebServer {
    start(|options| {
        options.http2 = true;
        change(options);
    })
}

fn field<'a, T>(reply: &'a Response<T>, name: &str) -> &'a str {
    reply.headers().get(name).map_or("", |value| value.to_str().unwrap())
}

async fn check_objects(client: &Http2) {
    for (path, bytes) in OBJECTS.into_iter().chain(OBJECTS) {
        let reply = client.get(path).await.unwrap();
        assert_eq!((reply.status(), field(&reply, "content-length")), (StatusCode::OK, &*bytes.to_string()));
        assert_eq!(field(&reply, "server"), "plimsoll");
        assert!(*reply.body() == content(path), "{path}");
    }
}

#[test]
fn every_object_arrives_byte_for_byte_with_and_without_tls() {
    let server = start_plain(|options| options.identity = Some(identity()));
    run(async { check_objects(&Http2::over_tls(server.address()).await).await });
    let report = server.stop().unwrap();
    assert_eq!((report.connections, report.requests), (1, 8));
    assert!(2 * 5 * 1024 * 1024 < report.bytes_sent, "{report:?}");

    let server = start_plain(|_| {});
    run(async { check_objects(&Http2::plain(server.address()).await).await });
    assert_eq!(server.stop().unwrap().requests, 8);
}

#[test]
fn a_plain_listener_also_serves_http1() {
    let server = start_plain(|_| {});
    let mut client = Client::connect(server.address());
    for (path, _) in OBJECTS {
        assert!(client.get(path).unwrap().body == content(path), "{path}");
    }
    // A start too short to decide is treated as HTTP/1.
    let mut client = Client::connect(server.address());
    client.stream.set_nodelay(true).unwrap();
    for byte in "PRINT / HTTP/1.1\r\nHost: h\r\n\r\n".chars() {
        client.send(&byte.to_string());
    }
    assert_eq!(client.reply(http1::RequestMethod::Other).unwrap().head.status, 405);
}

#[test]
fn http2_is_refused_unless_enabled() {
    let server = start(|_| {});
    let mut client = Client::connect(server.address());
    client.send("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
    assert_eq!(client.reply(http1::RequestMethod::Get).unwrap().head.status, 505);
}

/// Goal: as many streams as the server allows are answered at once, files and pages interleaved.
#[test]
fn many_streams_share_a_connection() {
    let server = start_plain(|_| {});
    let paths = ["/small.html", "/dyn?size=8", "/large.bin", "/empty.html", "/dyn?size=200000&seed=1"];
    run(async {
        let client = Http2::plain(server.address()).await;
        // The client learns the limit with the first response.
        client.get("/").await.unwrap();
        let asking: Vec<_> = (0..300)
            .map(|number| {
                let client = client.clone();
                let path = paths[if number < 10 { number % 5 } else { number % 2 }];
                tokio::spawn(async move { (path, client.get(path).await.unwrap()) })
            })
            .collect();
        for asked in asking {
            let (path, reply) = asked.await.unwrap();
            match path {
                "/dyn?size=8" => assert_eq!(reply.body(), b"ASEROBDH"),
                "/dyn?size=200000&seed=1" => assert!(reply.body().starts_with(b"QMZRHLAJ")),
                path => assert!(*reply.body() == content(path), "{path}"),
            }
        }
        assert_eq!(client.sender.current_max_send_streams(), 100);
    });
    let report = server.stop().unwrap();
    assert_eq!((report.connections, report.requests), (1, 301));
}

#[test]
fn small_windows_are_respected() {
    let server = start_plain(|_| {});
    run(async {
        let mut builder = Builder::new();
        let client = Http2::with(server.address(), builder.initial_window_size(10_000)).await;
        assert!(*client.get("/large.bin").await.unwrap().body() == content("/large.bin"));
        let page = client.get("/dyn?size=1000000").await.unwrap();
        assert_eq!((page.body().len(), field(&page, "content-length")), (1_000_000, "1000000"));
        assert!(page.body().starts_with(b"ASEROBDH"));
    });
}

#[test]
fn a_paused_page_blocks_only_its_stream() {
    let server = start_plain(|_| {});
    run(async {
        let client = Http2::plain(server.address()).await;
        let slow = client.ask(get("/dyn?wait=10000")).await.unwrap();
        assert_eq!(client.get("/dyn?size=8&wait=1&lock=1").await.unwrap().body(), b"ASEROBDH");
        assert!(tokio::time::timeout(Duration::from_millis(50), slow).await.is_err());
    });
}

/// Goal: streams with a full window do not block others.
#[test]
fn unread_streams_do_not_block_others() {
    let server = start_plain(|_| {});
    run(async {
        let mut builder = Builder::new();
        builder.initial_window_size(1000).initial_connection_window_size(1 << 20);
        let client = Http2::with(server.address(), &builder).await;
        let mut slow = Vec::new();
        for path in ["/large.bin", "/dyn?size=5000000", "/large.bin", "/dyn?size=5000000"] {
            slow.push(client.ask(get(path)).await.unwrap().await.unwrap());
        }
        for _ in 0..50 {
            assert_eq!(*client.get("/small.html").await.unwrap().body(), content("/small.html"));
        }
        let large = whole(slow.remove(0)).await.unwrap();
        assert!(*large.body() == content("/large.bin"));
        // The others are dropped, and so reset.
        drop(slow);
        assert_eq!(client.get("/dyn?size=8").await.unwrap().body(), b"ASEROBDH");
    });
}

#[test]
fn conditions_methods_and_refusals_match_http1() {
    let server = start_plain(|_| {});
    let request = |method: Method, path: &str, since: &str| {
        let uri = format!("http://127.0.0.1{path}");
        let builder = Request::builder().method(method).uri(uri).header("if-modified-since", since);
        builder.body(()).unwrap()
    };
    let same = "Sat, 01 Jan 2000 00:00:00 GMT";
    let before = "Fri, 31 Dec 1999 23:59:59 GMT";
    let cases = [
        (request(Method::GET, "/small.html", same), 304, ""),
        (request(Method::GET, "/small.html?x=1", before), 200, "500"),
        (request(Method::HEAD, "/large.bin", before), 200, "5242880"),
        (request(Method::GET, "/none", same), 404, "14"),
        (request(Method::DELETE, "/small.html", before), 405, "23"),
        (request(Method::HEAD, "/dyn", before), 405, "23"),
        (request(Method::GET, "/dyn?size=0", before), 400, "75"),
    ];
    run(async {
        let client = Http2::plain(server.address()).await;
        for (request, status, length) in cases {
            let asked = format!("{} {}", request.method(), request.uri());
            let has_body = request.method() != Method::HEAD && status != 304;
            let reply = client.request(request).await.unwrap();
            assert_eq!(
                (reply.status().as_u16(), field(&reply, "content-length")),
                (status, length),
                "{asked}"
            );
            assert_eq!(!reply.body().is_empty(), has_body, "{asked}");
        }
        let reply = client.get("/small.html").await.unwrap();
        assert_eq!(field(&reply, "last-modified"), same);
        assert_eq!(field(&reply, "content-type"), "text/html");
    });
}

/// Goal: a request body is not read, and the connection goes on.
#[test]
fn an_unread_request_body_does_not_block_the_connection() {
    let server = start_plain(|_| {});
    run(async {
        let client = Http2::plain(server.address()).await;
        for _ in 0..20 {
            let post = Request::post("http://127.0.0.1/small.html").body(()).unwrap();
            let mut sender = client.sender.clone().ready().await.unwrap();
            let (reply, mut body) = sender.send_request(post, false).unwrap();
            // The stream may be reset in the middle.
            let _ = body.send_data(Bytes::from(vec![0; 60_000]), false);
            assert_eq!(reply.await.unwrap().status(), 405);
        }
        assert_eq!(*client.get("/small.html").await.unwrap().body(), content("/small.html"));
    });
}

#[test]
fn a_large_head_is_refused_and_the_connection_goes_on() {
    let server = start_plain(|_| {});
    run(async {
        let client = Http2::plain(server.address()).await;
        let mut request = get("/");
        for number in 0..40 {
            let name = http::HeaderName::try_from(format!("x-{number}")).unwrap();
            request.headers_mut().insert(name, "x".repeat(2000).try_into().unwrap());
        }
        assert_eq!(client.request(request).await.unwrap().status(), 431);
        assert_eq!(*client.get("/").await.unwrap().body(), content("/"));
    });
}

/// Goal: a client that opens streams only to reset them is cut off, and does not affect others.
#[test]
fn a_flood_of_resets_does_not_affect_others() {
    let server = start_plain(|_| {});
    run(async {
        let flooding = Http2::plain(server.address()).await;
        for _ in 0..5000 {
            let Ok(reply) = flooding.ask(get("/dyn?size=10485760")).await else { break };
            drop(reply);
        }
        let client = Http2::plain(server.address()).await;
        assert_eq!(*client.get("/").await.unwrap().body(), content("/"));
    });
    server.stop().unwrap();
}

#[test]
fn connections_without_progress_are_closed() {
    let server = start_plain(|options| options.idle_timeout = Nanos::from_millis(100));
    assert!(Client::connect(server.address()).is_closed());
    let mut half = Client::connect(server.address());
    half.send("PRI * HTTP/2.0\r\n\r\nSM");
    // Settings arrive, then the end.
    let mut all = Vec::new();
    let _ = half.stream.read_to_end(&mut all);
    assert!(all.len() < 200);
    run(async {
        let mut builder = Builder::new();
        let client = Http2::with(server.address(), builder.initial_window_size(0)).await;
        let stalled = client.ask(get("/large.bin")).await.unwrap().await.unwrap();
        assert!(whole(stalled).await.is_err());
    });
}

#[test]
fn a_stopped_server_closes_its_connections() {
    let server = start_plain(|_| {});
    let address = server.address();
    run(async {
        let client = Http2::plain(address).await;
        client.get("/").await.unwrap();
        server.stop().unwrap();
        assert!(client.get("/").await.is_err());
    });
}

#[test]
fn invalid_frames_end_the_connection_with_goaway() {
    let server = start_plain(|_| {});
    let mut client = Client::connect(server.address());
    client.send("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\nthese are no frames at all");
    let mut all = Vec::new();
    let _ = client.stream.read_to_end(&mut all);
    const GOAWAY: u8 = 7;
    let reasons = [Reason::PROTOCOL_ERROR, Reason::FRAME_SIZE_ERROR].map(u32::from);
    let end = all.windows(17).find(|frame| frame[..4] == [0, 0, 8, GOAWAY]).expect("a farewell");
    assert!(reasons.contains(&u32::from_be_bytes(end[13..].try_into().unwrap())));
}

#[test]
fn http1_faults_are_refused_for_http2() {
    let faults = FaultPlan::parse(["truncated"]).unwrap();
    let options = WebOptions { http2: true, faults, ..WebOptions::new(common::files()) };
    let problem = WebServer::start(options).unwrap_err().to_string();
    assert_eq!(problem, "`truncated` is a fault of HTTP/1 and cannot be combined with HTTP/2");
}
