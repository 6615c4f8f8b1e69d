//! Isolation between clients.

use accelerator::message::{ClientRequest, ClientVersion, NoBody, ResponsePath};
use cache_store::{Purge, Removal};
use tokio::task::spawn_local;
use units::wall;

use super::fixture::{ClientResponse, Fixture, request, run};
use super::origin::{Latch, Step, lasting, reply, send};

#[test]
fn cookies_reach_only_their_client() {
    run(async {
        let fixture = Fixture::new(|received| {
            let lines = match received.target() {
                "/named" => "Cache-Control: max-age=60, private=\"set-cookie\"\r\nSet-Cookie: a=b\r\n",
                _ => "Cache-Control: max-age=60\r\nSet-Cookie: a=b\r\n",
            };
            reply(200, lines, "abc")
        })
        .await;
        // Without a directive about the cookie nothing is stored.
        for _ in 0..2 {
            let answer = fixture.get("/", &[]).await;
            assert_eq!(
                (answer.path, answer.reason, answer.value("set-cookie")),
                (ResponsePath::Pass, "set-cookie", Some("a=b"))
            );
        }
        let answers = fixture.get_concurrently(5, "/named", &[]).await;
        assert!(
            answers.iter().all(|one| (one.path == ResponsePath::Miss) == one.value("set-cookie").is_some())
        );
        assert_eq!(fixture.get("/named", &[]).await.value("set-cookie"), None);
        assert_eq!(fixture.origin.n_received(), 3);
    });
}

#[test]
fn responses_to_authorized_requests_are_not_shared() {
    run(async {
        let fixture = Fixture::new(|received| match received.target() {
            "/shared" => reply(200, "Cache-Control: public, max-age=60\r\n", "all"),
            _ => lasting(received.value("authorization").unwrap_or("nobody")),
        })
        .await;
        let asked = |target, who| {
            let fixture = &fixture;
            async move { fixture.get(target, &[("Authorization", who)]).await }
        };
        let (ann, bob) = tokio::join!(asked("/", "ann"), asked("/", "bob"));
        assert_eq!((ann.text(), bob.text()), ("ann", "bob"));
        assert_eq!(ann.reason, "authorization-without-permission");
        assert_eq!(fixture.get("/", &[]).await.text(), "nobody");
        asked("/shared", "ann").await;
        assert_eq!(asked("/shared", "bob").await.gist(), (200, "all", ResponsePath::Memory));
    });
}

#[test]
fn unkeyed_fields_do_not_poison_the_cache() {
    run(async {
        let fixture = Fixture::new(|received| {
            let poison = [
                "x-forwarded-host",
                "x-forwarded-for",
                "x-rewrite-url",
                "x-http-method-override",
                "forwarded",
            ];
            let found: Vec<_> = poison.iter().filter_map(|name| received.value(name)).collect();
            lasting(&found.join(" "))
        })
        .await;
        let evil = [
            ("X-Forwarded-Host", "evil"),
            ("X-Forwarded-For", "evil"),
            ("X-Rewrite-URL", "/evil"),
            ("X-HTTP-Method-Override", "DELETE"),
            ("Forwarded", "host=evil"),
        ];
        assert_eq!(fixture.get("/", &evil).await.gist(), (200, "example.org", ResponsePath::Miss));
        assert_eq!(fixture.get("/", &[]).await.gist(), (200, "example.org", ResponsePath::Memory));
    });
}

#[test]
fn unsafe_requests_invalidate_what_they_may_have_changed() {
    run(async {
        let fixture = Fixture::new(|received| match (received.method(), received.target()) {
            ("POST", "/fails") => reply(500, "", ""),
            ("POST", _) => reply(201, "Location: /other\r\nContent-Location: http://evil.example/\r\n", ""),
            _ => lasting("abc"),
        })
        .await;
        for target in ["/", "/other", "/third"] {
            fixture.get(target, &[]).await;
        }
        fixture.send(request("POST", "/fails", &[]), "x").await;
        assert_eq!(fixture.get("/", &[]).await.path, ResponsePath::Memory);
        let post = fixture.send(request("POST", "/", &[]), "x").await;
        assert_eq!((post.gist(), post.reason), ((201, "", ResponsePath::Pass), "method"));
        let paths = [
            fixture.get("/", &[]).await.path,
            fixture.get("/other", &[]).await.path,
            fixture.get("/third", &[]).await.path,
        ];
        assert_eq!(paths, [ResponsePath::Miss, ResponsePath::Miss, ResponsePath::Memory]);
    });
}

#[test]
fn responses_fetched_before_an_unsafe_request_are_not_stored() {
    run(async {
        let latch = Latch::new();
        let script_gate = latch.clone();
        let fixture = Fixture::new(move |received| match (received.method(), received.index) {
            ("GET", 0) => [vec![Step::Wait(script_gate.clone())], lasting("old")].concat(),
            ("GET", _) => lasting("new"),
            _ => vec![send("HTTP/1.1 204 x\r\n\r\n")],
        })
        .await;
        let exchange = fixture.exchange.clone();
        let early = spawn_local(async move {
            ClientResponse::read(exchange.handle(request("GET", "/", &[]), NoBody).await).await
        });
        fixture.origin.wait_for_requests(1).await;
        fixture.ask("DELETE", "/", &[]).await;
        // Later requests do not wait for it either.
        assert_eq!(fixture.get("/", &[]).await.gist(), (200, "new", ResponsePath::Miss));
        latch.open();
        assert_eq!(early.await.unwrap().text(), "old");
        assert_eq!(fixture.get("/", &[]).await.gist(), (200, "new", ResponsePath::Memory));
    });
}

#[test]
fn a_purge_reaches_responses_in_progress() {
    run(async {
        let latch = Latch::new();
        let script_gate = latch.clone();
        let fixture = Fixture::new(move |received| match received.index {
            0 => [vec![Step::Wait(script_gate.clone())], lasting("old")].concat(),
            _ => lasting("new"),
        })
        .await;
        let exchange = fixture.exchange.clone();
        let early = spawn_local(async move {
            ClientResponse::read(exchange.handle(request("GET", "/", &[]), NoBody).await).await
        });
        fixture.origin.wait_for_requests(1).await;
        fixture.exchange.shared().store.purge(&Purge::All, Removal::Delete, wall());
        latch.open();
        assert_eq!(early.await.unwrap().text(), "old");
        assert_eq!(fixture.get("/", &[]).await.gist(), (200, "new", ResponsePath::Miss));
    });
}

#[test]
fn an_unsendable_request_does_not_fail_its_followers() {
    run(async {
        let fixture = Fixture::new(|_| lasting("abc")).await;
        let (bad, good) = tokio::join!(fixture.get("/", &[("X-A", "\0")]), fixture.get("/", &[]));
        assert_eq!((bad.status, bad.reason), (400, "request-unsendable"));
        assert_eq!(good.gist(), (200, "abc", ResponsePath::Miss));
    });
}

#[test]
fn forwarding_loops_are_detected() {
    run(async {
        let fixture = Fixture::new(|_| lasting("abc")).await;
        for method in ["GET", "POST"] {
            let answer = fixture.ask(method, "/", &[("Via", "1.1 other, 1.1 plimsoll")]).await;
            assert_eq!((answer.status, answer.reason), (508, "loop"), "{method}");
        }
        assert_eq!(fixture.origin.n_received(), 0);
    });
}

#[test]
fn requests_without_a_key_are_never_forwarded() {
    run(async {
        let fixture = Fixture::new(|_| lasting("abc")).await;
        let nameless = ClientRequest { authority: Vec::new(), ..request("GET", "/", &[]) };
        let nameless = ClientRequest { version: ClientVersion::Http10, ..nameless };
        for (request, status, reason) in [
            (nameless, 400, "empty-host"),
            (request("GET", "/%00", &[]), 400, "null-byte"),
            (request("GET", "/../a", &[]), 400, "above-root"),
            (request("GET", "*", &[]), 400, "target-form"),
            (request("TRACE", "/", &[]), 405, "method"),
            (request("CONNECT", "a:1", &[]), 405, "method"),
        ] {
            let answer = ClientResponse::read(fixture.exchange.handle(request, NoBody).await).await;
            assert_eq!((answer.status, answer.reason, answer.path), (status, reason, ResponsePath::Error));
        }
        assert_eq!(fixture.origin.n_received(), 0);
    });
}

#[test]
fn the_origin_gets_the_normalized_target() {
    run(async {
        let fixture = Fixture::new(|received| {
            lasting(&format!("{} {}", received.target(), received.value("host").unwrap()))
        })
        .await;
        let request =
            ClientRequest { authority: b"EXAMPLE.org:80".to_vec(), ..request("GET", "/a/./b/../%63", &[]) };
        let answer = ClientResponse::read(fixture.exchange.handle(request, NoBody).await).await;
        assert_eq!(answer.text(), "/a/c example.org");
        assert_eq!(fixture.get("/a/c", &[]).await.path, ResponsePath::Memory);
    });
}

#[test]
fn unforwarded_fields_do_not_select_a_variant() {
    const LINES: &str = "Cache-Control: max-age=60\r\nVary: Accept-Language\r\n";
    run(async {
        let fixture =
            Fixture::new(|received| reply(200, LINES, received.value("accept-language").unwrap_or("none")))
                .await;
        let evil = [("Connection", "close, Accept-Language"), ("Accept-Language", "de")];
        assert_eq!(fixture.get("/", &evil).await.gist(), (200, "none", ResponsePath::Miss));
        let german = fixture.get("/", &[("Accept-Language", "de")]).await;
        assert_eq!(german.gist(), (200, "de", ResponsePath::Miss));
        assert_eq!(fixture.get("/", &[]).await.gist(), (200, "none", ResponsePath::Memory));
    });
}
