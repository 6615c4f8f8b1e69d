//! Responses to clients.

use std::future::poll_fn;

use accelerator::message::{ClientVersion, ResponsePath};
use bytes::Bytes;
use cache_policy::Scheme;
use http::{HeaderMap, Method, Request};

use super::service::{connect, get, large, limits, run, take, usual};

#[test]
fn an_http2_request_reaches_the_service_like_http1() {
    run(async {
        let mut client = usual().await;
        let mut request = get("/hello?a=b");
        *request.method_mut() = Method::DELETE;
        for (name, value) in [("cookie", "a=1"), ("accept", "*/*"), ("cookie", "b=2"), ("te", "trailers")] {
            request.headers_mut().append(name, value.parse().unwrap());
        }
        assert_eq!(client.ask(request).await.unwrap().head.status, 404);
        let requests = client.script.requests.borrow();
        let [request] = &requests[..] else { panic!("{requests:?}") };
        assert_eq!((&*request.method_name, &*request.target), (&b"DELETE"[..], &b"/hello?a=b"[..]));
        assert_eq!((&*request.authority, request.scheme), (&b"example.org"[..], Scheme::Https));
        assert_eq!(request.lines.get("cookie"), Some(&b"a=1; b=2"[..]));
        assert_eq!((request.version, request.has_body), (ClientVersion::Http2, false));
        assert_eq!(request.client.to_string(), "192.0.2.1:4711");
    });
}

#[test]
fn responses_arrive_with_fields_and_bodies() {
    run(async {
        let mut client = usual().await;
        let got = client.ask(get("/hello")).await.unwrap();
        assert_eq!((got.head.status.as_u16(), &*got.body), (200, &b"hello"[..]));
        let twice: Vec<_> = got.head.headers.get_all("x-two").iter().collect();
        assert_eq!(twice, ["1", "2"]);
        let got = client.ask(get("/nothing")).await.unwrap();
        assert_eq!((&got.head.headers["content-length"], got.body.len()), (&"0".parse().unwrap(), 0));
        let got = client.ask(get("/current")).await.unwrap();
        assert_eq!((got.head.status.as_u16(), &got.head.headers["etag"]), (304, &"\"a\"".parse().unwrap()));
        let mut request = get("/hello");
        *request.method_mut() = Method::HEAD;
        let got = client.ask(request).await.unwrap();
        assert_eq!((&got.head.headers["content-length"], got.body.len()), (&"5".parse().unwrap(), 0));
    });
}

/// Goal: a body larger than window and buffer arrives whole, several at a time.
#[test]
fn large_bodies_arrive_as_the_windows_open() {
    run(async {
        let client = connect(limits(), Default::default(), 20_000).await;
        let mut responses = tokio::task::JoinSet::new();
        for _ in 0..4 {
            let mut send = client.send.clone().ready().await.unwrap();
            let (response, _) = send.send_request(get("/large"), true).unwrap();
            responses.spawn_local(async { take(response.await.unwrap()).await.unwrap().body });
        }
        let expected = large();
        while let Some(body) = responses.join_next().await {
            assert!(body.unwrap() == expected);
        }
    });
}

#[test]
fn bodies_of_requests_arrive_and_trailers_are_dropped() {
    run(async {
        let mut client = usual().await;
        for announced in [Some("600000"), None] {
            let mut request = http::Request::post("https://example.org/echo").body(()).unwrap();
            if let Some(length) = announced {
                request.headers_mut().insert("content-length", length.parse().unwrap());
            }
            client.send = client.send.ready().await.unwrap();
            let (response, mut body) = client.send.send_request(request, false).unwrap();
            for _ in 0..6 {
                body.send_data(Bytes::from(vec![b'x'; 100_000]), false).unwrap();
            }
            let mut trailers = HeaderMap::new();
            trailers.insert("host", "other".parse().unwrap());
            body.send_trailers(trailers).unwrap();
            let got = take(response.await.unwrap()).await.unwrap();
            assert!(got.body == vec![b'x'; 600_000], "{} bytes", got.body.len());
        }
        let requests = client.script.requests.borrow();
        let told: Vec<_> =
            requests.iter().map(|request| (request.has_body, request.content_length)).collect();
        assert_eq!(told, [(true, Some(600_000)), (true, None)]);
        assert!(requests.iter().all(|request| request.lines.get("host").is_none()));
    });
}

#[test]
fn expect_continue_gets_a_100_response() {
    run(async {
        let mut client = usual().await;
        let mut request = http::Request::post("https://example.org/echo").body(()).unwrap();
        request.headers_mut().insert("expect", "100-continue".parse().unwrap());
        client.send = client.send.ready().await.unwrap();
        let (mut response, mut body) = client.send.send_request(request, false).unwrap();
        let interim = poll_fn(|context| response.poll_informational(context)).await.unwrap().unwrap();
        assert_eq!(interim.status(), 100);
        body.send_data(Bytes::from_static(b"now"), true).unwrap();
        assert_eq!(take(response.await.unwrap()).await.unwrap().body, b"now");
    });
}

#[test]
fn refusals_have_their_status_and_do_not_reach_the_service() {
    run(async {
        let mut client = usual().await;
        let mut two_hosts = get("/hello");
        two_hosts.headers_mut().insert("host", "other".parse().unwrap());
        assert_eq!(client.ask(two_hosts).await.unwrap().head.headers["x-reason"], "two-hosts");
        let connect = Request::connect("example.org:443").body(()).unwrap();
        assert_eq!(client.ask(connect).await.unwrap().head.status, 405);
        let mut long = http::Request::post("https://example.org/echo").body(()).unwrap();
        long.headers_mut().insert("content-length", "1000001".parse().unwrap());
        client.send = client.send.ready().await.unwrap();
        let (response, _body) = client.send.send_request(long, false).unwrap();
        assert_eq!(response.await.unwrap().status(), 413);
        let mut wide = get("/hello");
        wide.headers_mut().insert("x-wide", "x".repeat(20_000).parse().unwrap());
        assert_eq!(client.ask(wide).await.unwrap().head.status, 431);
        assert!(client.script.requests.borrow().is_empty());
        let statuses: Vec<_> = client.script.notes.borrow().iter().map(|(_, status, _)| *status).collect();
        assert_eq!(statuses, [400, 405, 413], "431 is said by the library");
        assert_eq!(client.ask(get("/hello")).await.unwrap().body, b"hello", "the connection goes on");
    });
}

#[test]
fn responses_are_counted_and_logged() {
    run(async {
        let mut client = usual().await;
        let mut request = get("/hello");
        request.headers_mut().insert("user-agent", "h2-test".parse().unwrap());
        client.ask(request).await.unwrap();
        client.ask(get("/no-status")).await.unwrap_err();
        let head_bytes = "Content-Length: 5\r\nX-Two: 1\r\nX-Two: 2\r\n".len() as u64;
        let notes = [(ResponsePath::Memory, 200, head_bytes + 5), (ResponsePath::Memory, 7, 0)];
        assert_eq!(*client.script.notes.borrow(), notes);
        let lines = ["GET example.org /hello 200 5 h2-test", "GET example.org /no-status 7 0 -"];
        assert_eq!(*client.script.lines.borrow(), lines);
    });
}
