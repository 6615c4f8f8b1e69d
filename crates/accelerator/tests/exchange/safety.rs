//! What one client must not get of another, or bring about for it.

use accelerator::message::{ClientVersion, HitPath, Inbound, NoBody};
use accelerator::store::{Purge, Removal};
use tokio::task::spawn_local;
use units::wall;

use crate::house::{Answer, House, inbound, run};
use crate::origin::{Gate, Step, lasting, reply, send};

#[test]
fn cookies_reach_only_whom_they_are_for() {
    run(async {
        let house = House::new(|heard| {
            let lines = match heard.target() {
                "/named" => "Cache-Control: max-age=60, private=\"set-cookie\"\r\nSet-Cookie: a=b\r\n",
                _ => "Cache-Control: max-age=60\r\nSet-Cookie: a=b\r\n",
            };
            reply(200, lines, "abc")
        })
        .await;
        // Without a word about the cookie nothing is stored.
        for _ in 0..2 {
            let answer = house.get("/", &[]).await;
            assert_eq!(
                (answer.path, answer.reason, answer.value("set-cookie")),
                (HitPath::Pass, "set-cookie", Some("a=b"))
            );
        }
        let answers = house.crowd(5, "/named", &[]).await;
        assert!(answers.iter().all(|one| (one.path == HitPath::Miss) == one.value("set-cookie").is_some()));
        assert_eq!(house.get("/named", &[]).await.value("set-cookie"), None);
        assert_eq!(house.origin.n_heard(), 3);
    });
}

#[test]
fn what_is_for_one_who_has_said_who_asks_is_not_for_others() {
    run(async {
        let house = House::new(|heard| match heard.target() {
            "/shared" => reply(200, "Cache-Control: public, max-age=60\r\n", "all"),
            _ => lasting(heard.value("authorization").unwrap_or("nobody")),
        })
        .await;
        let asked = |target, who| {
            let house = &house;
            async move { house.get(target, &[("Authorization", who)]).await }
        };
        let (ann, bob) = tokio::join!(asked("/", "ann"), asked("/", "bob"));
        assert_eq!((ann.text(), bob.text()), ("ann", "bob"));
        assert_eq!(ann.reason, "authorization-without-permission");
        assert_eq!(house.get("/", &[]).await.text(), "nobody");
        asked("/shared", "ann").await;
        assert_eq!(asked("/shared", "bob").await.gist(), (200, "all", HitPath::Memory));
    });
}

#[test]
fn fields_that_are_no_part_of_the_key_decide_nothing_for_others() {
    run(async {
        let house = House::new(|heard| {
            let poison = [
                "x-forwarded-host",
                "x-forwarded-for",
                "x-rewrite-url",
                "x-http-method-override",
                "forwarded",
            ];
            let found: Vec<_> = poison.iter().filter_map(|name| heard.value(name)).collect();
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
        assert_eq!(house.get("/", &evil).await.gist(), (200, "example.org", HitPath::Miss));
        assert_eq!(house.get("/", &[]).await.gist(), (200, "example.org", HitPath::Memory));
    });
}

#[test]
fn an_unsafe_request_makes_what_it_may_have_changed_unusable() {
    run(async {
        let house = House::new(|heard| match (heard.method(), heard.target()) {
            ("POST", "/fails") => reply(500, "", ""),
            ("POST", _) => reply(201, "Location: /other\r\nContent-Location: http://evil.example/\r\n", ""),
            _ => lasting("abc"),
        })
        .await;
        for target in ["/", "/other", "/third"] {
            house.get(target, &[]).await;
        }
        house.send(inbound("POST", "/fails", &[]), "x").await;
        assert_eq!(house.get("/", &[]).await.path, HitPath::Memory);
        let post = house.send(inbound("POST", "/", &[]), "x").await;
        assert_eq!((post.gist(), post.reason), ((201, "", HitPath::Pass), "method"));
        let paths = [
            house.get("/", &[]).await.path,
            house.get("/other", &[]).await.path,
            house.get("/third", &[]).await.path,
        ];
        assert_eq!(paths, [HitPath::Miss, HitPath::Miss, HitPath::Memory]);
    });
}

#[test]
fn what_was_asked_for_before_a_change_is_not_stored_after_it() {
    run(async {
        let gate = Gate::new();
        let script_gate = gate.clone();
        let house = House::new(move |heard| match (heard.method(), heard.index) {
            ("GET", 0) => [vec![Step::Wait(script_gate.clone())], lasting("old")].concat(),
            ("GET", _) => lasting("new"),
            _ => vec![send("HTTP/1.1 204 x\r\n\r\n")],
        })
        .await;
        let exchange = house.exchange.clone();
        let early = spawn_local(async move {
            Answer::read(exchange.handle(inbound("GET", "/", &[]), NoBody).await).await
        });
        house.origin.has_heard(1).await;
        house.ask("DELETE", "/", &[]).await;
        // Nor does anybody wait for it who comes after.
        assert_eq!(house.get("/", &[]).await.gist(), (200, "new", HitPath::Miss));
        gate.open();
        assert_eq!(early.await.unwrap().text(), "old");
        assert_eq!(house.get("/", &[]).await.gist(), (200, "new", HitPath::Memory));
    });
}

#[test]
fn a_purge_reaches_what_is_on_its_way() {
    run(async {
        let gate = Gate::new();
        let script_gate = gate.clone();
        let house = House::new(move |heard| match heard.index {
            0 => [vec![Step::Wait(script_gate.clone())], lasting("old")].concat(),
            _ => lasting("new"),
        })
        .await;
        let exchange = house.exchange.clone();
        let early = spawn_local(async move {
            Answer::read(exchange.handle(inbound("GET", "/", &[]), NoBody).await).await
        });
        house.origin.has_heard(1).await;
        house.exchange.shared().store.purge(&Purge::All, Removal::Delete, wall());
        gate.open();
        assert_eq!(early.await.unwrap().text(), "old");
        assert_eq!(house.get("/", &[]).await.gist(), (200, "new", HitPath::Miss));
    });
}

#[test]
fn a_request_that_cannot_be_sent_fails_for_nobody_else() {
    run(async {
        let house = House::new(|_| lasting("abc")).await;
        let (bad, good) = tokio::join!(house.get("/", &[("X-A", "\0")]), house.get("/", &[]));
        assert_eq!((bad.status, bad.reason), (400, "request-unsendable"));
        assert_eq!(good.gist(), (200, "abc", HitPath::Miss));
    });
}

#[test]
fn requests_that_go_round_in_circles_are_stopped() {
    run(async {
        let house = House::new(|_| lasting("abc")).await;
        for method in ["GET", "POST"] {
            let answer = house.ask(method, "/", &[("Via", "1.1 other, 1.1 plimsoll")]).await;
            assert_eq!((answer.status, answer.reason), (508, "loop"), "{method}");
        }
        assert_eq!(house.origin.n_heard(), 0);
    });
}

#[test]
fn what_has_no_key_is_refused_and_never_forwarded() {
    run(async {
        let house = House::new(|_| lasting("abc")).await;
        let nameless = Inbound { authority: Vec::new(), ..inbound("GET", "/", &[]) };
        let nameless = Inbound { version: ClientVersion::Http10, ..nameless };
        for (inbound, status, reason) in [
            (nameless, 400, "empty-host"),
            (inbound("GET", "/%00", &[]), 400, "null-byte"),
            (inbound("GET", "/../a", &[]), 400, "above-root"),
            (inbound("GET", "*", &[]), 400, "target-form"),
            (inbound("TRACE", "/", &[]), 405, "method"),
            (inbound("CONNECT", "a:1", &[]), 405, "method"),
        ] {
            let answer = Answer::read(house.exchange.handle(inbound, NoBody).await).await;
            assert_eq!((answer.status, answer.reason, answer.path), (status, reason, HitPath::Error));
        }
        assert_eq!(house.origin.n_heard(), 0);
    });
}

#[test]
fn the_origin_gets_the_normal_form_that_the_key_has() {
    run(async {
        let house =
            House::new(|heard| lasting(&format!("{} {}", heard.target(), heard.value("host").unwrap())))
                .await;
        let inbound =
            Inbound { authority: b"EXAMPLE.org:80".to_vec(), ..inbound("GET", "/a/./b/../%63", &[]) };
        let answer = Answer::read(house.exchange.handle(inbound, NoBody).await).await;
        assert_eq!(answer.text(), "/a/c example.org");
        assert_eq!(house.get("/a/c", &[]).await.path, HitPath::Memory);
    });
}

#[test]
fn fields_that_the_origin_does_not_get_choose_no_variant() {
    const LINES: &str = "Cache-Control: max-age=60\r\nVary: Accept-Language\r\n";
    run(async {
        let house =
            House::new(|heard| reply(200, LINES, heard.value("accept-language").unwrap_or("none"))).await;
        let evil = [("Connection", "close, Accept-Language"), ("Accept-Language", "de")];
        assert_eq!(house.get("/", &evil).await.gist(), (200, "none", HitPath::Miss));
        let german = house.get("/", &[("Accept-Language", "de")]).await;
        assert_eq!(german.gist(), (200, "de", HitPath::Miss));
        assert_eq!(house.get("/", &[]).await.gist(), (200, "none", HitPath::Memory));
    });
}
