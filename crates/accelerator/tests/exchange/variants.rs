//! Responses that depend on fields of the request.

use accelerator::message::HitPath;

use crate::house::{House, run};
use crate::origin::{Heard, Step, reply, send};

/// A response in the language that is asked for.
fn translated(heard: &Heard) -> Vec<Step> {
    let language = heard.value("accept-language").unwrap_or("none").to_owned();
    let lines = format!("Cache-Control: max-age=60\r\nVary: Accept-Language\r\nETag: \"{language}\"\r\n");
    reply(200, &lines, &language)
}

#[test]
fn each_variant_is_stored_by_itself() {
    run(async {
        let house = House::new(translated).await;
        for path in [HitPath::Miss, HitPath::Memory] {
            for language in ["de", "en"] {
                let answer = house.get("/", &[("Accept-Language", language)]).await;
                assert_eq!(answer.gist(), (200, language, path));
            }
        }
        assert_eq!(house.get("/", &[]).await.gist(), (200, "none", HitPath::Miss));
        assert_eq!(house.origin.n_heard(), 3);
    });
}

#[test]
fn the_origin_may_say_that_another_variant_will_do() {
    run(async {
        let house = House::new(|heard| match heard.index {
            0 | 1 => translated(heard),
            _ => vec![send("HTTP/1.1 304 x\r\nETag: \"de\"\r\nVary: Accept-Language\r\n\r\n")],
        })
        .await;
        house.get("/", &[("Accept-Language", "de")]).await;
        house.get("/", &[("Accept-Language", "en")]).await;
        let answer = house.get("/", &[("Accept-Language", "de-at")]).await;
        assert_eq!((answer.gist(), answer.reason), ((200, "de", HitPath::Revalidated), "vary-miss"));
        let asked = house.origin.heard()[2].value("if-none-match").unwrap().to_owned();
        assert!(asked.contains("\"de\"") && asked.contains("\"en\""), "{asked}");
        for (language, body) in [("de-at", "de"), ("de", "de"), ("en", "en")] {
            let answer = house.get("/", &[("Accept-Language", language)]).await;
            assert_eq!(answer.gist(), (200, body, HitPath::Memory), "{language}");
        }
    });
}

#[test]
fn a_cold_crowd_asks_once_for_each_variant() {
    run(async {
        let house = House::new(translated).await;
        let (german, english, french) = tokio::join!(
            house.crowd(10, "/", &[("Accept-Language", "de")]),
            house.crowd(10, "/", &[("Accept-Language", "en")]),
            house.crowd(10, "/", &[("Accept-Language", "fr")]),
        );
        for (answers, language) in [(german, "de"), (english, "en"), (french, "fr")] {
            assert!(answers.iter().all(|answer| answer.text() == language));
        }
        assert_eq!(house.origin.n_heard(), 3);
    });
}

#[test]
fn what_varies_by_everything_is_not_stored() {
    run(async {
        let house = House::new(|_| reply(200, "Cache-Control: max-age=60\r\nVary: *\r\n", "abc")).await;
        for _ in 0..2 {
            let answer = house.get("/", &[]).await;
            assert_eq!((answer.gist(), answer.reason), ((200, "abc", HitPath::Pass), "varies-by-everything"));
        }
    });
}

#[test]
fn another_variant_is_not_asked_about_by_its_date() {
    const LINES: &str = "Cache-Control: max-age=60\r\nVary: Accept-Language\r\n\
                         Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT\r\n";
    run(async {
        let house = House::new(|heard| match heard.value("if-modified-since") {
            Some(_) => vec![send("HTTP/1.1 304 x\r\n\r\n")],
            None => reply(200, LINES, heard.value("accept-language").unwrap_or("none")),
        })
        .await;
        for language in ["de", "en"] {
            let answer = house.get("/", &[("Accept-Language", language)]).await;
            assert_eq!(answer.gist(), (200, language, HitPath::Miss));
        }
    });
}

#[test]
fn plain_bytes_do_not_keep_others_from_compressed_ones() {
    const LINES: &str = "Cache-Control: max-age=60\r\nVary: Accept-Encoding\r\n";
    run(async {
        // As servers do that compress as they send: the tag is that of the plain bytes.
        let house =
            House::new(|heard| match (heard.value("if-none-match"), heard.value("accept-encoding")) {
                (Some(_), _) => vec![send("HTTP/1.1 304 x\r\nETag: \"a\"\r\n\r\n")],
                (None, None) => reply(200, &format!("{LINES}ETag: \"a\"\r\n"), "plain"),
                (None, Some(coding)) => reply(200, &format!("{LINES}ETag: W/\"a\"\r\n"), coding),
            })
            .await;
        for path in [HitPath::Miss, HitPath::Memory] {
            assert_eq!(house.get("/", &[]).await.gist(), (200, "plain", path));
            assert_eq!(house.get("/", &[("Accept-Encoding", "gzip")]).await.gist(), (200, "gzip", path));
        }
    });
}

#[test]
fn what_is_not_stored_leaves_other_variants_where_they_are() {
    run(async {
        let house = House::new(|heard| match heard.value("cookie") {
            Some(_) => reply(200, "Cache-Control: private\r\nVary: Cookie\r\n", "own"),
            None => reply(200, "Cache-Control: max-age=60\r\nVary: Cookie\r\n", "all"),
        })
        .await;
        house.get("/", &[]).await;
        assert_eq!(house.get("/", &[("Cookie", "a=b")]).await.gist(), (200, "own", HitPath::Pass));
        assert_eq!(house.get("/", &[]).await.gist(), (200, "all", HitPath::Memory));
    });
}
