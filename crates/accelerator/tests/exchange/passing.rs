//! Requests that bypass the cache.

use accelerator::exchange::{ExchangeSettings, ResponseBody};
use accelerator::message::{NoBody, ResponsePath};
use cache_store::Pattern;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::fixture::{Fixture, request, run};
use super::origin::{lasting, reply, send};

#[test]
fn bodies_are_relayed_both_ways() {
    run(async {
        let fixture = Fixture::new(|received| {
            reply(200, "X-A: b\r\nKeep-Alive: 5\r\n", &format!("got {}", received.body))
        })
        .await;
        let answer = fixture.send(request("PUT", "/a?b", &[("X-C", "d")]), "this").await;
        assert_eq!((answer.gist(), answer.reason), ((200, "got this", ResponsePath::Pass), "method"));
        assert_eq!((answer.value("x-a"), answer.value("keep-alive")), (Some("b"), None));
        assert_eq!(answer.value("cache-status"), Some("plimsoll; fwd=method"));
        let received = &fixture.origin.received()[0];
        assert_eq!((received.method(), received.target(), received.value("x-c")), ("PUT", "/a?b", Some("d")));
        assert_eq!(
            (received.value("x-forwarded-for"), received.value("via")),
            (Some("192.0.2.1"), Some("1.1 plimsoll"))
        );
    });
}

#[test]
fn a_get_with_a_body_is_neither_stored_nor_answered_from_the_store() {
    run(async {
        let fixture =
            Fixture::new(|received| lasting(if received.body.is_empty() { "plain" } else { "fat" })).await;
        assert_eq!(
            fixture.send(request("GET", "/", &[]), "x").await.gist(),
            (200, "fat", ResponsePath::Pass)
        );
        assert_eq!(fixture.get("/", &[]).await.gist(), (200, "plain", ResponsePath::Miss));
        assert_eq!(fixture.send(request("GET", "/", &[]), "x").await.text(), "fat");
    });
}

#[test]
fn conditions_for_the_origin_bypass_the_cache() {
    run(async {
        let fixture = Fixture::new(|received| match received.value("if-match") {
            Some(_) => reply(412, "", ""),
            None => lasting("abc"),
        })
        .await;
        fixture.get("/", &[]).await;
        let answer = fixture.get("/", &[("If-Match", "\"x\"")]).await;
        assert_eq!(
            (answer.status, answer.path, answer.reason),
            (412, ResponsePath::Pass, "origin-condition")
        );
    });
}

#[test]
fn configured_targets_bypass_the_cache() {
    run(async {
        let bypass = vec![Pattern::new("/admin/*"), Pattern::new("*.php*")];
        let settings = ExchangeSettings { bypass, ..ExchangeSettings::default() };
        let fixture = Fixture::with(settings, |_| lasting("abc")).await;
        for target in ["/admin/", "/a.php?b", "/admin/", "/%61dmin/"] {
            let answer = fixture.get(target, &[("Range", "bytes=0-1")]).await;
            assert_eq!((answer.path, answer.reason), (ResponsePath::Pass, "bypass"), "{target}");
        }
        assert_eq!(fixture.origin.received()[0].value("range"), Some("bytes=0-1"));
        assert_eq!(fixture.get("/administrator", &[]).await.path, ResponsePath::Miss);
    });
}

#[test]
fn an_upgraded_connection_becomes_a_tunnel() {
    run(async {
        let fixture = Fixture::new(|_| {
            vec![send("HTTP/1.1 101 x\r\nConnection: upgrade\r\nUpgrade: echo\r\n\r\nhello")]
        })
        .await;
        let lines = [("Connection", "Upgrade"), ("Upgrade", "echo")];
        let reply = fixture.exchange.handle(request("GET", "/", &lines), NoBody).await;
        assert_eq!((reply.status, reply.lines.get("upgrade")), (101, Some(&b"echo"[..])));
        assert_eq!((reply.lines.get("connection"), reply.lines.get("content-length")), (None, None));
        let ResponseBody::Tunnel(mut tunnel) = reply.body else { panic!("{:?}", reply.body) };
        let mut first = [0; 5];
        tunnel.read_exact(&mut first).await.unwrap();
        assert_eq!(&first, b"hello");
        tunnel.write_all(b"GET /through HTTP/1.1\r\n\r\n").await.unwrap();
        fixture.origin.wait_for_requests(2).await;
        assert_eq!(fixture.origin.received()[1].target(), "/through");
    });
}

#[test]
fn options_requests_respect_max_forwards() {
    run(async {
        let fixture =
            Fixture::new(|received| reply(200, "", received.value("max-forwards").unwrap_or("none"))).await;
        let near = fixture.ask("OPTIONS", "*", &[("Max-Forwards", "0")]).await;
        assert_eq!((near.status, near.value("content-length")), (200, Some("0")));
        assert!(near.value("allow").unwrap().contains("GET"));
        assert_eq!(fixture.origin.n_received(), 0);
        assert_eq!(fixture.ask("OPTIONS", "*", &[("Max-Forwards", "2")]).await.text(), "1");
        assert_eq!(fixture.ask("OPTIONS", "*", &[]).await.text(), "none");
        assert!(fixture.origin.received().iter().all(|received| received.target() == "*"));
    });
}

#[test]
fn a_truncated_request_body_is_a_client_error() {
    run(async {
        let fixture = Fixture::new(|_| lasting("abc")).await;
        let short = accelerator::message::ClientRequest {
            content_length: Some(10),
            has_body: true,
            ..request("POST", "/", &[])
        };
        let reply = fixture.exchange.handle(short, NoBody).await;
        assert_eq!((reply.status, reply.handling.reason.name()), (400, "request-body"));
    });
}
