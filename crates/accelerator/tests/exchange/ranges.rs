//! Parts of responses, from the store and on their way into it.

use accelerator::message::{HitPath, NoBody, ReplyBody};
use bytes::Bytes;

use crate::house::{House, inbound, run};
use crate::origin::{Gate, Step, reply, send};

const LINES: &str = "Cache-Control: max-age=60\r\nETag: \"a\"\r\nContent-Type: text/plain\r\n";

async fn filled() -> House {
    let house = House::new(|_| reply(200, LINES, "0123456789")).await;
    house.get("/", &[]).await;
    house
}

#[test]
fn one_part_is_cut_out() {
    run(async {
        let house = filled().await;
        for (range, content_range, body) in [
            ("bytes=2-4", "bytes 2-4/10", "234"),
            ("bytes=7-", "bytes 7-9/10", "789"),
            ("bytes=-1", "bytes 9-9/10", "9"),
        ] {
            let answer = house.get("/", &[("Range", range)]).await;
            assert_eq!(answer.gist(), (206, body, HitPath::Memory));
            assert_eq!(answer.value("content-range"), Some(content_range));
            assert_eq!(answer.value("content-type"), Some("text/plain"));
            assert!(answer.value("etag").is_some() && answer.value("age").is_some());
        }
    });
}

#[test]
fn several_parts_come_in_one_message() {
    run(async {
        let house = filled().await;
        let answer = house.get("/", &[("Range", "bytes=0-1,5-6")]).await;
        assert_eq!((answer.status, answer.path), (206, HitPath::Memory));
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
fn parts_that_are_not_there_are_refused_and_those_of_another_response_ignored() {
    run(async {
        let house = filled().await;
        let beyond = house.get("/", &[("Range", "bytes=10-")]).await;
        assert_eq!(
            (beyond.gist(), beyond.value("content-range")),
            ((416, "", HitPath::Memory), Some("bytes */10"))
        );
        assert_eq!((beyond.value("content-length"), beyond.value("content-type")), (Some("0"), None));
        let other = house.get("/", &[("Range", "bytes=0-1"), ("If-Range", "\"b\"")]).await;
        assert_eq!(other.gist(), (200, "0123456789", HitPath::Memory));
    });
}

#[test]
fn a_part_of_what_is_not_stored_comes_as_the_whole_passes_by() {
    run(async {
        let gate = Gate::new();
        let steps = vec![
            send(&format!("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n{LINES}\r\n01234")),
            Step::Wait(gate.clone()),
            send("56789"),
        ];
        let house = House::new(move |_| steps.clone()).await;
        let reply = house.exchange.handle(inbound("GET", "/", &[("Range", "bytes=1-3")]), NoBody).await;
        assert_eq!((reply.status, reply.lines.get("content-range")), (206, Some(&b"bytes 1-3/10"[..])));
        assert_eq!(reply.lines.get("content-length"), Some(&b"3"[..]));
        let ReplyBody::Stream(mut stream) = reply.body else { panic!("{:?}", reply.body) };
        assert_eq!(stream.next().await, Ok(Some(Bytes::from_static(b"123"))));
        assert_eq!(stream.next().await, Ok(None), "the rest is not waited for");
        assert_eq!(house.origin.heard()[0].value("range"), None);
        gate.open();
        house.settled().await;
        assert_eq!(house.get("/", &[]).await.gist(), (200, "0123456789", HitPath::Memory));
    });
}

#[test]
fn without_a_known_length_the_whole_is_sent() {
    run(async {
        let gate = Gate::new();
        let steps = vec![
            send(&format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n{LINES}\r\n3\r\n012\r\n")),
            Step::Wait(gate.clone()),
            send("0\r\n\r\n"),
        ];
        let house = House::new(move |_| steps.clone()).await;
        let (answer, ()) = tokio::join!(house.get("/", &[("Range", "bytes=1-1")]), async {
            house.origin.has_heard(1).await;
            gate.open();
        });
        assert_eq!((answer.status, answer.text()), (200, "012"));
        house.settled().await;
        let part = house.get("/", &[("Range", "bytes=1-1")]).await;
        assert_eq!(
            (part.gist(), part.value("content-range")),
            ((206, "1", HitPath::Memory), Some("bytes 1-1/3"))
        );
    });
}

#[test]
fn a_refusal_says_nothing_of_the_whole_that_passes_by() {
    run(async {
        let house = House::new(|_| reply(200, LINES, "0123456789")).await;
        let beyond = house.get("/", &[("Range", "bytes=10-")]).await;
        assert_eq!(
            (beyond.gist(), beyond.value("content-range")),
            ((416, "", HitPath::Miss), Some("bytes */10"))
        );
        for name in ["cache-control", "etag", "content-type"] {
            assert_eq!(beyond.value(name), None, "{name}");
        }
        assert!(beyond.value("date").is_some() && beyond.value("via").is_some());
        house.settled().await;
        assert_eq!(house.get("/", &[]).await.path, HitPath::Memory);
    });
}

#[test]
fn who_goes_alone_is_not_sent_the_whole() {
    run(async {
        let house = House::new(|heard| match heard.value("range") {
            Some(_) => reply(206, "Content-Range: bytes 0-1/10\r\n", "01"),
            None => reply(200, LINES, "0123456789"),
        })
        .await;
        for alone in [("Cache-Control", "no-store"), ("Authorization", "ann")] {
            let answer = house.get("/", &[alone, ("Range", "bytes=0-1")]).await;
            assert_eq!(answer.gist(), (206, "01", HitPath::Pass), "{alone:?}");
        }
    });
}

/// Regression: a part of what was private came as the whole, 1,000,000 bytes for ten.
#[test]
fn a_part_of_what_is_not_to_be_stored_is_asked_for_by_itself() {
    run(async {
        for (lines, asked) in [
            ("Cache-Control: private\r\n", 2),
            ("Cache-Control: no-store\r\n", 2),
            ("Set-Cookie: a=b\r\n", 2),
            ("Vary: *\r\n", 2),
            ("Cache-Control: private\r\nAccept-Ranges: none\r\n", 1),
        ] {
            let house = House::new(move |heard| match heard.value("range") {
                Some(_) if asked == 2 => {
                    reply(206, &format!("{lines}Content-Range: bytes 2-4/10\r\n"), "234")
                }
                _ => reply(200, lines, "0123456789"),
            })
            .await;
            let answer = house.get("/", &[("Range", "bytes=2-4")]).await;
            let expected =
                if asked == 2 { (206, "234", HitPath::Pass) } else { (200, "0123456789", HitPath::Pass) };
            assert_eq!((answer.gist(), house.origin.n_heard()), (expected, asked), "{lines}");
            assert!(!answer.told().contains("stored"), "{}", answer.told());
            let again = house.get("/", &[("Range", "bytes=2-4")]).await;
            assert_eq!((again.gist(), house.origin.n_heard()), (expected, asked + 1), "{lines}, at once");
        }
    });
}

#[test]
fn an_error_has_no_parts_to_ask_for() {
    run(async {
        let house = House::new(|_| reply(404, "Cache-Control: no-store\r\n", "none")).await;
        let answer = house.get("/", &[("Range", "bytes=2-4")]).await;
        assert_eq!((answer.gist(), house.origin.n_heard()), ((404, "none", HitPath::Pass), 1));
    });
}
