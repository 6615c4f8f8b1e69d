//! Requests that are none for the cache.

use accelerator::exchange::ExchangeSettings;
use accelerator::message::{HitPath, NoBody, ReplyBody};
use accelerator::store::Pattern;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::house::{House, inbound, run};
use crate::origin::{lasting, reply, send};

#[test]
fn bodies_go_through_both_ways() {
    run(async {
        let house =
            House::new(|heard| reply(200, "X-A: b\r\nKeep-Alive: 5\r\n", &format!("got {}", heard.body)))
                .await;
        let answer = house.send(inbound("PUT", "/a?b", &[("X-C", "d")]), "this").await;
        assert_eq!((answer.gist(), answer.reason), ((200, "got this", HitPath::Pass), "method"));
        assert_eq!((answer.value("x-a"), answer.value("keep-alive")), (Some("b"), None));
        assert_eq!(answer.value("cache-status"), Some("plimsoll; fwd=method"));
        let heard = &house.origin.heard()[0];
        assert_eq!((heard.method(), heard.target(), heard.value("x-c")), ("PUT", "/a?b", Some("d")));
        assert_eq!(
            (heard.value("x-forwarded-for"), heard.value("via")),
            (Some("192.0.2.1"), Some("1.1 plimsoll"))
        );
    });
}

#[test]
fn a_get_with_a_body_is_neither_stored_nor_answered_from_the_store() {
    run(async {
        let house = House::new(|heard| lasting(if heard.body.is_empty() { "plain" } else { "fat" })).await;
        assert_eq!(house.send(inbound("GET", "/", &[]), "x").await.gist(), (200, "fat", HitPath::Pass));
        assert_eq!(house.get("/", &[]).await.gist(), (200, "plain", HitPath::Miss));
        assert_eq!(house.send(inbound("GET", "/", &[]), "x").await.text(), "fat");
    });
}

#[test]
fn conditions_for_the_origin_go_to_the_origin() {
    run(async {
        let house = House::new(|heard| match heard.value("if-match") {
            Some(_) => reply(412, "", ""),
            None => lasting("abc"),
        })
        .await;
        house.get("/", &[]).await;
        let answer = house.get("/", &[("If-Match", "\"x\"")]).await;
        assert_eq!((answer.status, answer.path, answer.reason), (412, HitPath::Pass, "origin-condition"));
    });
}

#[test]
fn targets_that_the_operator_names_pass_by() {
    run(async {
        let bypass = vec![Pattern::new("/admin/*"), Pattern::new("*.php*")];
        let settings = ExchangeSettings { bypass, ..ExchangeSettings::default() };
        let house = House::with(settings, |_| lasting("abc")).await;
        for target in ["/admin/", "/a.php?b", "/admin/", "/%61dmin/"] {
            let answer = house.get(target, &[("Range", "bytes=0-1")]).await;
            assert_eq!((answer.path, answer.reason), (HitPath::Pass, "bypass"), "{target}");
        }
        assert_eq!(house.origin.heard()[0].value("range"), Some("bytes=0-1"));
        assert_eq!(house.get("/administrator", &[]).await.path, HitPath::Miss);
    });
}

#[test]
fn a_connection_that_changes_its_protocol_becomes_a_tunnel() {
    run(async {
        let house =
            House::new(|_| vec![send("HTTP/1.1 101 x\r\nConnection: upgrade\r\nUpgrade: echo\r\n\r\nhello")])
                .await;
        let lines = [("Connection", "Upgrade"), ("Upgrade", "echo")];
        let reply = house.exchange.handle(inbound("GET", "/", &lines), NoBody).await;
        assert_eq!((reply.status, reply.lines.get("upgrade")), (101, Some(&b"echo"[..])));
        assert_eq!((reply.lines.get("connection"), reply.lines.get("content-length")), (None, None));
        let ReplyBody::Tunnel(mut tunnel) = reply.body else { panic!("{:?}", reply.body) };
        let mut first = [0; 5];
        tunnel.read_exact(&mut first).await.unwrap();
        assert_eq!(&first, b"hello");
        tunnel.write_all(b"GET /through HTTP/1.1\r\n\r\n").await.unwrap();
        house.origin.has_heard(2).await;
        assert_eq!(house.origin.heard()[1].target(), "/through");
    });
}

#[test]
fn questions_about_the_server_go_as_far_as_they_may() {
    run(async {
        let house = House::new(|heard| reply(200, "", heard.value("max-forwards").unwrap_or("none"))).await;
        let near = house.ask("OPTIONS", "*", &[("Max-Forwards", "0")]).await;
        assert_eq!((near.status, near.value("content-length")), (200, Some("0")));
        assert!(near.value("allow").unwrap().contains("GET"));
        assert_eq!(house.origin.n_heard(), 0);
        assert_eq!(house.ask("OPTIONS", "*", &[("Max-Forwards", "2")]).await.text(), "1");
        assert_eq!(house.ask("OPTIONS", "*", &[]).await.text(), "none");
        assert!(house.origin.heard().iter().all(|heard| heard.target() == "*"));
    });
}

#[test]
fn a_body_of_the_clients_that_breaks_off_is_its_own_fault() {
    run(async {
        let house = House::new(|_| lasting("abc")).await;
        let short = accelerator::message::Inbound {
            content_length: Some(10),
            has_body: true,
            ..inbound("POST", "/", &[])
        };
        let reply = house.exchange.handle(short, NoBody).await;
        assert_eq!((reply.status, reply.handling.reason), (400, "request-body"));
    });
}
