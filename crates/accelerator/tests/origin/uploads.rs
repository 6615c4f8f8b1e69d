//! Requests with a body.

use accelerator::message::BodyError;
use accelerator::origin::{OriginFailure, Outgoing};
use units::Nanos;

use crate::script::{Scripted, Step, body, get_text, origins, pieces, reply, request, run, say, settings};

fn post(content_length: Option<u64>) -> Outgoing {
    Outgoing { has_body: true, content_length, ..request("POST") }
}

#[test]
fn bodies_are_framed_anew() {
    let cases = [
        (Some(5), "Content-Length: 5\r\n\r\n", "whole"),
        (None, "Transfer-Encoding: chunked\r\n\r\n", "3\r\nwho\r\n2\r\nle\r\n0\r\n\r\n"),
    ];
    run(async {
        for (length, framing, text) in cases {
            let script = vec![Step::Hear, Step::HearBody(text.len()), reply("a"), Step::Hear, reply("b")];
            let server = Scripted::start(vec![script]).await;
            let (origins, servers) = origins(settings(&[server.address]));
            let mut reply = origins.send(&post(length), pieces(&["who", "le"], None)).await.unwrap();
            assert_eq!(body(&mut reply).await.unwrap(), b"a");
            assert!(server.heard()[0].ends_with(framing));
            assert_eq!(server.heard()[1], text);
            // The connection is in order, and is used again.
            assert_eq!(get_text(&origins).await, "b");
            assert_eq!(servers.report()[0].connections, 1);
        }
    });
}

#[test]
fn an_empty_body_is_a_length_of_zero() {
    run(async {
        let server = Scripted::start(vec![vec![Step::Hear, reply("a")]]).await;
        let (origins, _) = origins(settings(&[server.address]));
        origins.send(&post(Some(0)), pieces(&[], None)).await.unwrap();
        assert!(server.heard()[0].ends_with("Content-Length: 0\r\n\r\n"));
    });
}

#[test]
fn a_body_that_is_not_as_announced_or_breaks_off_fails_and_is_not_completed() {
    let cases = [
        (Some(4), None, 400, "abc", "malformed"),
        (Some(9), None, 400, "abcde", "short"),
        (Some(9), Some(BodyError::TimedOut), 408, "abcde", "slow"),
        (None, Some(BodyError::TooLong(5)), 413, "3\r\nabc\r\n2\r\nde\r\n", "long"),
        (None, Some(BodyError::Truncated), 400, "3\r\nabc\r\n2\r\nde\r\n", "broken"),
    ];
    run(async {
        for (length, error, status, sent, name) in cases {
            let server = Scripted::start(vec![vec![Step::Hear, Step::HearEnd]]).await;
            let (origins, servers) = origins(settings(&[server.address]));
            let failure = origins.send(&post(length), pieces(&["abc", "de"], error)).await.unwrap_err();
            assert!(matches!(failure, OriginFailure::RequestBody(_)), "{name}: {failure}");
            assert_eq!(failure.status(), status, "{name}");
            assert_eq!(server.heard_as_many_as(2).await[1], sent, "{name}");
            assert_eq!(servers.report()[0].failures, 0, "{name}");
        }
    });
}

#[test]
fn a_refusal_ends_the_upload() {
    run(async {
        let refusal = say("HTTP/1.1 413 x\r\nContent-Length: 2\r\n\r\nno");
        let server =
            Scripted::start(vec![vec![Step::Hear, refusal, Step::HearEnd], vec![Step::Hear, reply("next")]])
                .await;
        let (origins, _) = origins(settings(&[server.address]));
        let mut reply = origins.send(&post(None), Endless).await.unwrap();
        assert_eq!((reply.status, body(&mut reply).await.unwrap()), (413, b"no".to_vec()));
        server.heard_as_many_as(2).await;
        assert_eq!(get_text(&origins).await, "next");
    });
}

#[test]
fn a_refusal_is_seen_though_the_server_closed_without_reading() {
    run(async {
        let refusal = say("HTTP/1.1 403 x\r\nContent-Length: 2\r\n\r\nno");
        let server = Scripted::start(vec![vec![Step::Hear, refusal]]).await;
        let (origins, _) = origins(settings(&[server.address]));
        let mut reply = origins.send(&post(None), Endless).await.unwrap();
        assert_eq!(reply.status, 403);
        assert_eq!(body(&mut reply).await.unwrap(), b"no");
    });
}

#[test]
fn any_other_early_reply_waits_for_the_rest_of_the_upload() {
    run(async {
        let script = vec![Step::Hear, reply("early"), Step::HearBody(5), Step::Hear, reply("next")];
        let server = Scripted::start(vec![script]).await;
        let (origins, servers) = origins(settings(&[server.address]));
        let mut reply = origins.send(&post(Some(5)), pieces(&["who", "le"], None)).await.unwrap();
        assert_eq!(server.heard_as_many_as(2).await[1], "whole");
        assert_eq!(body(&mut reply).await.unwrap(), b"early");
        assert_eq!(get_text(&origins).await, "next");
        assert_eq!(servers.report()[0].connections, 1);
    });
}

#[test]
fn a_server_that_breaks_off_uploads_is_still_up() {
    run(async {
        let scripts = [vec![vec![Step::Hear]; 3], vec![vec![Step::Hear, reply("well")]]].concat();
        let server = Scripted::start(scripts).await;
        let (origins, servers) = origins(settings(&[server.address]));
        for _ in 0..3 {
            let failure = origins.send(&post(None), Endless).await.unwrap_err();
            assert_eq!((failure.status(), failure), (502, OriginFailure::NotTaken));
        }
        assert_eq!(get_text(&origins).await, "well");
        assert_eq!(servers.report()[0].failures, 3);
    });
}

#[test]
fn a_server_that_does_not_read_is_given_up() {
    run(async {
        let server = Scripted::start(vec![vec![Step::Hear, Step::Hold]]).await;
        let mut settings = settings(&[server.address]);
        settings.between_bytes_timeout = Nanos::from_millis(50);
        let failure = origins(settings).0.send(&post(None), Endless).await.unwrap_err();
        assert_eq!((failure.status(), failure), (504, OriginFailure::SendTimedOut));
    });
}

/// A body without an end.
struct Endless;

impl accelerator::message::RequestBody for Endless {
    async fn next(&mut self) -> Result<Option<bytes::Bytes>, BodyError> {
        tokio::task::yield_now().await;
        Ok(Some(bytes::Bytes::from_static(&[b'x'; 65_536])))
    }
}
