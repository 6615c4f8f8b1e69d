//! Ranges of responses, from the store and on their way into it.

use accelerator::exchange::ResponseBody;
use accelerator::message::{NoBody, ResponsePath};
use bytes::Bytes;

use super::fixture::{Fixture, request, run};
use super::origin::{Latch, Step, reply, send};

const LINES: &str = "Cache-Control: max-age=60\r\nETag: \"a\"\r\nContent-Type: text/plain\r\n";

async fn filled() -> Fixture {
    let fixture = Fixture::new(|_| reply(200, LINES, "0123456789")).await;
    fixture.get("/", &[]).await;
    fixture
}

#[test]
fn a_single_range_is_cut_out() {
    run(async {
        let fixture = filled().await;
        for (range, content_range, body) in [
            ("bytes=2-4", "bytes 2-4/10", "234"),
            ("bytes=7-", "bytes 7-9/10", "789"),
            ("bytes=-1", "bytes 9-9/10", "9"),
        ] {
            let answer = fixture.get("/", &[("Range", range)]).await;
            assert_eq!(answer.gist(), (206, body, ResponsePath::Memory));
            assert_eq!(answer.value("content-range"), Some(content_range));
            assert_eq!(answer.value("content-type"), Some("text/plain"));
            assert!(answer.value("etag").is_some() && answer.value("age").is_some());
        }
    });
}

#[test]
fn several_ranges_come_as_multipart() {
    run(async {
        let fixture = filled().await;
        let answer = fixture.get("/", &[("Range", "bytes=0-1,5-6")]).await;
        assert_eq!((answer.status, answer.path), (206, ResponsePath::Memory));
        let boundary =
            answer.value("content-type").unwrap().strip_prefix("multipart/byteranges; boundary=").unwrap();
        let part = |range: &str, body: &str| {
            format!(
                "\r\n--{boundary}\r\nContent-Type: text/plain\r\nContent-Range: bytes {range}/10\r\n\r\n{body}"
            )
        };
        let expected = format!("{}{}\r\n--{boundary}--\r\n", part("0-1", "01"), part("5-6", "56"));
        assert_eq!(answer.text(), expected);
        assert_eq!(answer.value("content-length"), Some(expected.len().to_string().as_str()));
        assert_eq!(answer.value("content-range"), None);
    });
}

#[test]
fn unsatisfiable_ranges_are_refused_and_other_if_range_ignored() {
    run(async {
        let fixture = filled().await;
        let beyond = fixture.get("/", &[("Range", "bytes=10-")]).await;
        assert_eq!(
            (beyond.gist(), beyond.value("content-range")),
            ((416, "", ResponsePath::Memory), Some("bytes */10"))
        );
        assert_eq!((beyond.value("content-length"), beyond.value("content-type")), (Some("0"), None));
        let other = fixture.get("/", &[("Range", "bytes=0-1"), ("If-Range", "\"b\"")]).await;
        assert_eq!(other.gist(), (200, "0123456789", ResponsePath::Memory));
    });
}

#[test]
fn a_range_of_a_response_in_progress_is_cut_out_as_it_passes() {
    run(async {
        let latch = Latch::new();
        let steps = vec![
            send(&format!("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n{LINES}\r\n01234")),
            Step::Wait(latch.clone()),
            send("56789"),
        ];
        let fixture = Fixture::new(move |_| steps.clone()).await;
        let reply = fixture.exchange.handle(request("GET", "/", &[("Range", "bytes=1-3")]), NoBody).await;
        assert_eq!((reply.status, reply.lines.get("content-range")), (206, Some(&b"bytes 1-3/10"[..])));
        assert_eq!(reply.lines.get("content-length"), Some(&b"3"[..]));
        let ResponseBody::Stream(mut stream) = reply.body else { panic!("{:?}", reply.body) };
        assert_eq!(stream.next().await, Ok(Some(Bytes::from_static(b"123"))));
        assert_eq!(stream.next().await, Ok(None), "the rest is not waited for");
        assert_eq!(fixture.origin.received()[0].value("range"), None);
        latch.open();
        fixture.settled().await;
        assert_eq!(fixture.get("/", &[]).await.gist(), (200, "0123456789", ResponsePath::Memory));
    });
}

#[test]
fn ranges_of_unknown_length_get_the_whole() {
    run(async {
        let latch = Latch::new();
        let steps = vec![
            send(&format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n{LINES}\r\n3\r\n012\r\n")),
            Step::Wait(latch.clone()),
            send("0\r\n\r\n"),
        ];
        let fixture = Fixture::new(move |_| steps.clone()).await;
        let (answer, ()) = tokio::join!(fixture.get("/", &[("Range", "bytes=1-1")]), async {
            fixture.origin.wait_for_requests(1).await;
            latch.open();
        });
        assert_eq!((answer.status, answer.text()), (200, "012"));
        fixture.settled().await;
        let part = fixture.get("/", &[("Range", "bytes=1-1")]).await;
        assert_eq!(
            (part.gist(), part.value("content-range")),
            ((206, "1", ResponsePath::Memory), Some("bytes 1-1/3"))
        );
    });
}

#[test]
fn a_416_has_no_fields_of_the_whole_response() {
    run(async {
        let fixture = Fixture::new(|_| reply(200, LINES, "0123456789")).await;
        let beyond = fixture.get("/", &[("Range", "bytes=10-")]).await;
        assert_eq!(
            (beyond.gist(), beyond.value("content-range")),
            ((416, "", ResponsePath::Miss), Some("bytes */10"))
        );
        for name in ["cache-control", "etag", "content-type"] {
            assert_eq!(beyond.value(name), None, "{name}");
        }
        assert!(beyond.value("date").is_some() && beyond.value("via").is_some());
        fixture.settled().await;
        assert_eq!(fixture.get("/", &[]).await.path, ResponsePath::Memory);
    });
}

#[test]
fn uncollapsed_range_requests_are_forwarded_as_ranges() {
    run(async {
        let fixture = Fixture::new(|received| match received.value("range") {
            Some(_) => reply(206, "Content-Range: bytes 0-1/10\r\n", "01"),
            None => reply(200, LINES, "0123456789"),
        })
        .await;
        for alone in [("Cache-Control", "no-store"), ("Authorization", "ann")] {
            let answer = fixture.get("/", &[alone, ("Range", "bytes=0-1")]).await;
            assert_eq!(answer.gist(), (206, "01", ResponsePath::Pass), "{alone:?}");
        }
    });
}

/// Regression: a range of a private response came as the whole, 1,000,000 bytes for ten.
#[test]
fn ranges_of_unstorable_responses_are_fetched_as_ranges() {
    run(async {
        for (lines, asked) in [
            ("Cache-Control: private\r\n", 2),
            ("Cache-Control: no-store\r\n", 2),
            ("Set-Cookie: a=b\r\n", 2),
            ("Vary: *\r\n", 2),
            ("Cache-Control: private\r\nAccept-Ranges: none\r\n", 1),
        ] {
            let fixture = Fixture::new(move |received| match received.value("range") {
                Some(_) if asked == 2 => {
                    reply(206, &format!("{lines}Content-Range: bytes 2-4/10\r\n"), "234")
                }
                _ => reply(200, lines, "0123456789"),
            })
            .await;
            let answer = fixture.get("/", &[("Range", "bytes=2-4")]).await;
            let expected = if asked == 2 {
                (206, "234", ResponsePath::Pass)
            } else {
                (200, "0123456789", ResponsePath::Pass)
            };
            assert_eq!((answer.gist(), fixture.origin.n_received()), (expected, asked), "{lines}");
            assert!(!answer.told().contains("stored"), "{}", answer.told());
            let again = fixture.get("/", &[("Range", "bytes=2-4")]).await;
            assert_eq!(
                (again.gist(), fixture.origin.n_received()),
                (expected, asked + 1),
                "{lines}, at once"
            );
        }
    });
}

#[test]
fn ranges_of_errors_are_not_fetched_again() {
    run(async {
        let fixture = Fixture::new(|_| reply(404, "Cache-Control: no-store\r\n", "none")).await;
        let answer = fixture.get("/", &[("Range", "bytes=2-4")]).await;
        assert_eq!((answer.gist(), fixture.origin.n_received()), ((404, "none", ResponsePath::Pass), 1));
    });
}
