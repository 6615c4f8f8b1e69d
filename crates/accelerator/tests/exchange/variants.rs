//! Variants of responses (`Vary`).

use accelerator::message::ResponsePath;

use super::fixture::{Fixture, run};
use super::origin::{ReceivedRequest, Step, reply, send};

/// A response in the requested language.
fn translated(received: &ReceivedRequest) -> Vec<Step> {
    let language = received.value("accept-language").unwrap_or("none").to_owned();
    let lines = format!("Cache-Control: max-age=60\r\nVary: Accept-Language\r\nETag: \"{language}\"\r\n");
    reply(200, &lines, &language)
}

#[test]
fn each_variant_is_stored_by_itself() {
    run(async {
        let fixture = Fixture::new(translated).await;
        for path in [ResponsePath::Miss, ResponsePath::Memory] {
            for language in ["de", "en"] {
                let answer = fixture.get("/", &[("Accept-Language", language)]).await;
                assert_eq!(answer.gist(), (200, language, path));
            }
        }
        assert_eq!(fixture.get("/", &[]).await.gist(), (200, "none", ResponsePath::Miss));
        assert_eq!(fixture.origin.n_received(), 3);
    });
}

#[test]
fn the_origin_may_select_another_variant_by_etag() {
    run(async {
        let fixture = Fixture::new(|received| match received.index {
            0 | 1 => translated(received),
            _ => vec![send("HTTP/1.1 304 x\r\nETag: \"de\"\r\nVary: Accept-Language\r\n\r\n")],
        })
        .await;
        fixture.get("/", &[("Accept-Language", "de")]).await;
        fixture.get("/", &[("Accept-Language", "en")]).await;
        let answer = fixture.get("/", &[("Accept-Language", "de-at")]).await;
        assert_eq!((answer.gist(), answer.reason), ((200, "de", ResponsePath::Revalidated), "vary-miss"));
        let asked = fixture.origin.received()[2].value("if-none-match").unwrap().to_owned();
        assert!(asked.contains("\"de\"") && asked.contains("\"en\""), "{asked}");
        for (language, body) in [("de-at", "de"), ("de", "de"), ("en", "en")] {
            let answer = fixture.get("/", &[("Accept-Language", language)]).await;
            assert_eq!(answer.gist(), (200, body, ResponsePath::Memory), "{language}");
        }
    });
}

#[test]
fn concurrent_requests_collapse_per_variant() {
    run(async {
        let fixture = Fixture::new(translated).await;
        let (german, english, french) = tokio::join!(
            fixture.get_concurrently(10, "/", &[("Accept-Language", "de")]),
            fixture.get_concurrently(10, "/", &[("Accept-Language", "en")]),
            fixture.get_concurrently(10, "/", &[("Accept-Language", "fr")]),
        );
        for (answers, language) in [(german, "de"), (english, "en"), (french, "fr")] {
            assert!(answers.iter().all(|answer| answer.text() == language));
        }
        assert_eq!(fixture.origin.n_received(), 3);
    });
}

#[test]
fn vary_asterisk_is_not_stored() {
    run(async {
        let fixture = Fixture::new(|_| reply(200, "Cache-Control: max-age=60\r\nVary: *\r\n", "abc")).await;
        for _ in 0..2 {
            let answer = fixture.get("/", &[]).await;
            assert_eq!(
                (answer.gist(), answer.reason),
                ((200, "abc", ResponsePath::Pass), "varies-by-everything")
            );
        }
    });
}

#[test]
fn other_variants_are_not_validated_by_date() {
    const LINES: &str = "Cache-Control: max-age=60\r\nVary: Accept-Language\r\n\
                         Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT\r\n";
    run(async {
        let fixture = Fixture::new(|received| match received.value("if-modified-since") {
            Some(_) => vec![send("HTTP/1.1 304 x\r\n\r\n")],
            None => reply(200, LINES, received.value("accept-language").unwrap_or("none")),
        })
        .await;
        for language in ["de", "en"] {
            let answer = fixture.get("/", &[("Accept-Language", language)]).await;
            assert_eq!(answer.gist(), (200, language, ResponsePath::Miss));
        }
    });
}

#[test]
fn identity_responses_do_not_hide_compressed_ones() {
    const LINES: &str = "Cache-Control: max-age=60\r\nVary: Accept-Encoding\r\n";
    run(async {
        // As with servers that compress on the fly: the tag is that of the identity response.
        let fixture = Fixture::new(|received| {
            match (received.value("if-none-match"), received.value("accept-encoding")) {
                (Some(_), _) => vec![send("HTTP/1.1 304 x\r\nETag: \"a\"\r\n\r\n")],
                (None, None) => reply(200, &format!("{LINES}ETag: \"a\"\r\n"), "plain"),
                (None, Some(coding)) => reply(200, &format!("{LINES}ETag: W/\"a\"\r\n"), coding),
            }
        })
        .await;
        for path in [ResponsePath::Miss, ResponsePath::Memory] {
            assert_eq!(fixture.get("/", &[]).await.gist(), (200, "plain", path));
            assert_eq!(fixture.get("/", &[("Accept-Encoding", "gzip")]).await.gist(), (200, "gzip", path));
        }
    });
}

#[test]
fn unstorable_responses_leave_other_variants_stored() {
    run(async {
        let fixture = Fixture::new(|received| match received.value("cookie") {
            Some(_) => reply(200, "Cache-Control: private\r\nVary: Cookie\r\n", "own"),
            None => reply(200, "Cache-Control: max-age=60\r\nVary: Cookie\r\n", "all"),
        })
        .await;
        fixture.get("/", &[]).await;
        assert_eq!(fixture.get("/", &[("Cookie", "a=b")]).await.gist(), (200, "own", ResponsePath::Pass));
        assert_eq!(fixture.get("/", &[]).await.gist(), (200, "all", ResponsePath::Memory));
    });
}
