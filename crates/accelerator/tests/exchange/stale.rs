//! Stale responses: while they are refreshed, and when the origin fails.

use accelerator::exchange::ExchangeSettings;
use accelerator::message::HitPath;
use accelerator::policy;
use units::Nanos;

use crate::house::{House, run};
use crate::origin::{Gate, Step, lasting, reply, send};

/// A response that has been stale for ten seconds when it comes.
fn stale(directives: &str) -> Vec<Step> {
    reply(200, &format!("Cache-Control: max-age=60{directives}\r\nAge: 70\r\nETag: \"old\"\r\n"), "old")
}

#[test]
fn one_refresh_goes_on_behind_those_who_get_what_is_stale() {
    run(async {
        let gate = Gate::new();
        let script_gate = gate.clone();
        let house = House::new(move |heard| match heard.index {
            0 => stale(", stale-while-revalidate=60"),
            _ => [vec![Step::Wait(script_gate.clone())], lasting("new")].concat(),
        })
        .await;
        house.get("/", &[]).await;
        let answers = house.crowd(50, "/", &[]).await;
        assert!(answers.iter().all(|answer| answer.gist() == (200, "old", HitPath::Stale)), "{answers:?}");
        assert!(answers.iter().all(|answer| answer.reason == "while-revalidating"));
        assert_eq!(answers[0].told(), "plimsoll; hit");
        assert!((-15..=-10).contains(&answers[0].ttl()), "{}", answers[0].ttl());
        house.origin.has_heard(2).await;
        assert_eq!(house.origin.heard()[1].value("if-none-match"), Some("\"old\""));
        gate.open();
        house.settled().await;
        assert_eq!(house.get("/", &[]).await.gist(), (200, "new", HitPath::Memory));
        assert_eq!(house.origin.n_heard(), 2);
    });
}

#[test]
fn a_refresh_is_a_whole_get_whoever_brought_it_about() {
    run(async {
        let house = House::new(|heard| match heard.index {
            0 => stale(", stale-while-revalidate=60"),
            _ => lasting("new"),
        })
        .await;
        house.get("/", &[]).await;
        let wishes = [("Range", "bytes=0-0"), ("If-None-Match", "\"x\""), ("Cache-Control", "no-store")];
        let head = house.ask("HEAD", "/", &wishes).await;
        assert_eq!(head.gist(), (200, "", HitPath::Stale));
        house.origin.has_heard(2).await;
        let refresh = &house.origin.heard()[1];
        assert_eq!((refresh.method(), refresh.value("range")), ("GET", None));
        assert_eq!(refresh.value("cache-control"), None);
        house.settled().await;
        assert_eq!(house.get("/", &[]).await.gist(), (200, "new", HitPath::Memory));
    });
}

#[test]
fn a_dead_origin_is_stood_in_for() {
    run(async {
        let house = House::new(|_| stale("")).await;
        house.get("/", &[]).await;
        house.origin.die().await;
        for answer in house.crowd(3, "/", &[]).await {
            assert_eq!((answer.gist(), answer.reason), ((200, "old", HitPath::Stale), "disconnected"));
            assert_eq!(answer.told(), "plimsoll; fwd=stale");
        }
    });
}

#[test]
fn nobody_stands_in_where_the_origin_forbids_it() {
    run(async {
        let house = House::new(|_| stale(", must-revalidate")).await;
        house.get("/", &[]).await;
        house.origin.die().await;
        let answer = house.get("/", &[]).await;
        assert_eq!((answer.status, answer.path, answer.reason), (502, HitPath::Error, "origin-unreachable"));
    });
}

#[test]
fn errors_are_stood_in_for_where_that_is_allowed() {
    run(async {
        let house = House::new(|heard| match heard.index {
            0 => stale(", stale-if-error=60"),
            1 => reply(503, "", "error"),
            _ => reply(404, "Cache-Control: no-store\r\n", "gone"),
        })
        .await;
        house.get("/", &[]).await;
        let answer = house.get("/", &[]).await;
        assert_eq!((answer.gist(), answer.reason), ((200, "old", HitPath::Stale), "if-error"));
        assert_eq!(answer.told(), "plimsoll; fwd=stale; fwd-status=503");
        // What is no error takes the place of what was stored, stored itself or not.
        assert_eq!(house.get("/", &[]).await.gist(), (404, "gone", HitPath::Pass));
        assert!(house.exchange.shared().store.objects().is_empty());
    });
}

#[test]
fn an_error_that_nothing_stands_in_for_is_passed_on() {
    run(async {
        let house = House::new(|heard| match heard.index {
            0 => stale(""),
            _ => reply(500, "", "error"),
        })
        .await;
        house.get("/", &[]).await;
        assert_eq!(house.get("/", &[]).await.gist(), (500, "error", HitPath::Pass));
        assert_eq!(house.exchange.shared().store.objects().len(), 1, "the origin may recover");
    });
}

#[test]
fn what_may_not_be_used_at_all_is_not_used_stale() {
    run(async {
        let policy = policy::Settings {
            stale: policy::StaleSettings { disconnected: Nanos::ZERO, ..Default::default() },
            ..policy::Settings::default()
        };
        let settings = ExchangeSettings { policy, ..ExchangeSettings::default() };
        let house = House::with(settings, |_| stale("")).await;
        house.get("/", &[]).await;
        house.origin.die().await;
        assert_eq!(house.get("/", &[]).await.status, 502);
    });
}

#[test]
fn a_head_is_stood_in_for_as_a_get_is() {
    run(async {
        let house = House::new(|heard| match heard.index {
            0 => stale(", stale-if-error=60"),
            _ => vec![send("HTTP/1.1 503 x\r\nContent-Length: 5\r\n\r\n")],
        })
        .await;
        house.get("/", &[]).await;
        let head = house.ask("HEAD", "/", &[]).await;
        assert_eq!((head.gist(), head.reason), ((200, "", HitPath::Stale), "if-error"));
    });
}

#[test]
fn what_the_origin_has_replaced_is_gone_whether_or_not_keys_are_marked() {
    run(async {
        let policy = policy::Settings { hit_for_miss: Nanos::ZERO, ..policy::Settings::default() };
        let settings = ExchangeSettings { policy, ..ExchangeSettings::default() };
        let house = House::with(settings, |heard| match heard.index {
            0 => stale(""),
            _ => reply(200, "Cache-Control: no-store\r\n", "new"),
        })
        .await;
        house.get("/", &[]).await;
        assert_eq!(house.get("/", &[]).await.gist(), (200, "new", HitPath::Pass));
        assert!(house.exchange.shared().store.objects().is_empty());
    });
}

/// Regression: with `stale-if-error=0` a stale response was used all the same while the origin could not be reached.
#[test]
fn how_long_an_origin_may_be_stood_in_for_it_says_itself() {
    run(async {
        for (said, expected) in [
            (", stale-if-error=0", (502, HitPath::Error)),
            (", stale-if-error=5", (502, HitPath::Error)),
            (", stale-if-error=60", (200, HitPath::Stale)),
            ("", (200, HitPath::Stale)),
        ] {
            let house = House::new(move |_| stale(said)).await;
            house.get("/", &[]).await;
            house.settled().await;
            house.origin.die().await;
            let answer = house.get("/", &[]).await;
            assert_eq!((answer.status, answer.path), expected, "{said}");
        }
    });
}
