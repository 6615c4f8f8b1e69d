//! Requests with a body.

use accelerator::message::BodyError;
use accelerator::origin::{OriginFailure, UpstreamRequest};
use units::Nanos;

use super::script::{
    ScriptedOrigin, Step, body, get_text, origins, pieces, reply, request, run, send, settings,
};

fn post(content_length: Option<u64>) -> UpstreamRequest {
    UpstreamRequest { has_body: true, content_length, ..request("POST") }
}

#[test]
fn request_bodies_are_reframed() {
    let cases = [
        (Some(5), "Content-Length: 5\r\n\r\n", "whole"),
        (None, "Transfer-Encoding: chunked\r\n\r\n", "3\r\nwho\r\n2\r\nle\r\n0\r\n\r\n"),
    ];
    run(async {
        for (length, framing, text) in cases {
            let script = vec![Step::Read, Step::ReadBody(text.len()), reply("a"), Step::Read, reply("b")];
            let server = ScriptedOrigin::start(vec![script]).await;
            let (origins, servers) = origins(settings(&[server.address]));
            let mut reply = origins.send(&post(length), pieces(&["who", "le"], None)).await.unwrap();
            assert_eq!(body(&mut reply).await.unwrap(), b"a");
            assert!(server.received()[0].ends_with(framing));
            assert_eq!(server.received()[1], text);
            // The connection is intact, and is reused.
            assert_eq!(get_text(&origins).await, "b");
            assert_eq!(servers.report()[0].connections, 1);
        }
    });
}

#[test]
fn an_empty_body_has_content_length_zero() {
    run(async {
        let server = ScriptedOrigin::start(vec![vec![Step::Read, reply("a")]]).await;
        let (origins, _) = origins(settings(&[server.address]));
        origins.send(&post(Some(0)), pieces(&[], None)).await.unwrap();
        assert!(server.received()[0].ends_with("Content-Length: 0\r\n\r\n"));
    });
}

#[test]
fn truncated_or_wrong_length_uploads_fail() {
    let cases = [
        (Some(4), None, 400, "abc", "malformed"),
        (Some(9), None, 400, "abcde", "short"),
        (Some(9), Some(BodyError::TimedOut), 408, "abcde", "slow"),
        (None, Some(BodyError::TooLong(5)), 413, "3\r\nabc\r\n2\r\nde\r\n", "long"),
        (None, Some(BodyError::Truncated), 400, "3\r\nabc\r\n2\r\nde\r\n", "broken"),
    ];
    run(async {
        for (length, error, status, sent, name) in cases {
            let server = ScriptedOrigin::start(vec![vec![Step::Read, Step::ReadEnd]]).await;
            let (origins, servers) = origins(settings(&[server.address]));
            let failure = origins.send(&post(length), pieces(&["abc", "de"], error)).await.unwrap_err();
            assert!(matches!(failure, OriginFailure::RequestBody(_)), "{name}: {failure}");
            assert_eq!(failure.status(), status, "{name}");
            assert_eq!(server.wait_for_received(2).await[1], sent, "{name}");
            assert_eq!(servers.report()[0].failures, 0, "{name}");
        }
    });
}

#[test]
fn an_error_response_ends_the_upload() {
    run(async {
        let refusal = send("HTTP/1.1 413 x\r\nContent-Length: 2\r\n\r\nno");
        let server = ScriptedOrigin::start(vec![
            vec![Step::Read, refusal, Step::ReadEnd],
            vec![Step::Read, reply("next")],
        ])
        .await;
        let (origins, _) = origins(settings(&[server.address]));
        let mut reply = origins.send(&post(None), Endless).await.unwrap();
        assert_eq!((reply.status, body(&mut reply).await.unwrap()), (413, b"no".to_vec()));
        server.wait_for_received(2).await;
        assert_eq!(get_text(&origins).await, "next");
    });
}

#[test]
fn an_error_response_is_read_after_a_write_failure() {
    run(async {
        let refusal = send("HTTP/1.1 403 x\r\nContent-Length: 2\r\n\r\nno");
        let server = ScriptedOrigin::start(vec![vec![Step::Read, refusal]]).await;
        let (origins, _) = origins(settings(&[server.address]));
        let mut reply = origins.send(&post(None), Endless).await.unwrap();
        assert_eq!(reply.status, 403);
        assert_eq!(body(&mut reply).await.unwrap(), b"no");
    });
}

#[test]
fn other_early_responses_wait_for_the_upload() {
    run(async {
        let script = vec![Step::Read, reply("early"), Step::ReadBody(5), Step::Read, reply("next")];
        let server = ScriptedOrigin::start(vec![script]).await;
        let (origins, servers) = origins(settings(&[server.address]));
        let mut reply = origins.send(&post(Some(5)), pieces(&["who", "le"], None)).await.unwrap();
        assert_eq!(server.wait_for_received(2).await[1], "whole");
        assert_eq!(body(&mut reply).await.unwrap(), b"early");
        assert_eq!(get_text(&origins).await, "next");
        assert_eq!(servers.report()[0].connections, 1);
    });
}

#[test]
fn aborted_uploads_do_not_affect_health() {
    run(async {
        let scripts = [vec![vec![Step::Read]; 3], vec![vec![Step::Read, reply("well")]]].concat();
        let server = ScriptedOrigin::start(scripts).await;
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
fn a_server_that_does_not_read_times_out() {
    run(async {
        let server = ScriptedOrigin::start(vec![vec![Step::Read, Step::Hold]]).await;
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
