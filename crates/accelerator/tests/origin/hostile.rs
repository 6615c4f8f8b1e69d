//! Invalid responses. Each ends in a failure, and its connection is never reused.

use accelerator::message::BodyError;
use accelerator::origin::OriginFailure;
use units::Nanos;

use super::script::{ScriptedOrigin, Step, body, get, get_text, origins, reply, run, send, settings};

#[test]
fn invalid_or_ambiguous_heads_are_failures() {
    let long = format!("HTTP/1.1 200 OK\r\nA: {}\r\n", "x".repeat(70_000));
    let many = format!("HTTP/1.1 200 OK\r\n{}\r\n", "A: x\r\n".repeat(1_025));
    let flood =
        format!("{}HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", "HTTP/1.1 102 x\r\n\r\n".repeat(20_000));
    let cases = [
        ("", "origin-closed"),
        ("HTTP/1.1 200 OK\r\nContent-Le", "origin-truncated"),
        ("HTTP/1.1 100 Continue\r\n\r\n", "origin-truncated"),
        ("SSH-2.0-OpenSSH\r\n\r\n", "origin-malformed"),
        ("HTTP/2.0 200 OK\r\n\r\n", "origin-malformed"),
        ("\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", "origin-malformed"),
        ("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab", "origin-malformed"),
        ("HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", "origin-malformed"),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", "origin-malformed"),
        ("HTTP/1.1 200 OK\r\n A: b\r\n\r\n", "origin-malformed"),
        ("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n 2\r\n\r\n", "origin-malformed"),
        ("HTTP/1.1 200 OK\r\nA: b\rSet-Cookie: c\r\n\r\n", "origin-malformed"),
        ("HTTP/1.1 101 x\r\nUpgrade: y\r\n\r\n", "origin-upgrade"),
        (&long[..], "origin-malformed"),
        (&many[..], "origin-malformed"),
        (&flood[..], "origin-interim"),
    ];
    run(async {
        for (text, name) in cases {
            let bad = vec![Step::Read, send(text)];
            let server = ScriptedOrigin::start(vec![bad, vec![Step::Read, reply("good")]]).await;
            let (origins, servers) = origins(settings(&[server.address]));
            let failure = get(&origins).await.unwrap_err();
            assert_eq!((failure.reason().name(), failure.status()), (name, 502), "{failure}: {text:.80}");
            assert_eq!(servers.report()[0].failures, 1);
            assert_eq!(get_text(&origins).await, "good");
        }
    });
}

#[test]
fn the_operator_is_told_about_faulty_responses_and_the_line_at_fault() {
    let line = format!("X Bad\u{e9} Name: {}", "x".repeat(100));
    let head = format!("HTTP/1.1 200 OK\r\nA: b\r\n{line}\r\n\r\n");
    let chunks = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-5\r\n";
    run(async {
        for (text, reason) in [
            (
                &head[..],
                "malformed head: header line does not begin with `name:`, in line 3: `X Bad\\xc3\\xa9 Name: x",
            ),
            (chunks, "body has invalid framing: expected a chunk size of 1 to 16 hexadecimal digits"),
        ] {
            let server = ScriptedOrigin::start(vec![vec![Step::Read, send(text)]]).await;
            let (origins, servers) = origins(settings(&[server.address]));
            if let Ok(mut response) = get(&origins).await {
                body(&mut response).await.unwrap_err();
            }
            let [fault] = &servers.take_faults()[..] else { panic!("one server is at fault") };
            assert_eq!((&fault.address, fault.responses), (&server.address.to_string(), 1));
            assert!(fault.reason.starts_with(reason) && fault.reason.len() < 200, "{}", fault.reason);
        }
    });
}

#[test]
fn truncated_or_malformed_bodies_stay_errors() {
    let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    let cases = [
        ("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nshort".to_owned(), true),
        ("HTTP/1.1 200 OK\r\nContent-Length: 18446744073709551615\r\n\r\nshort".to_owned(), true),
        (format!("{chunked}5\r\nsho"), true),
        (format!("{chunked}5\r\nshort\r\n"), true),
        (format!("{chunked}5\r\nshort\r\n0\r\n"), true),
        (format!("{chunked}5\r\nshorter\r\n0\r\n\r\n"), false),
        (format!("{chunked}-5\r\nshort\r\n0\r\n\r\n"), false),
        (format!("{chunked}0x5\r\nshort\r\n0\r\n\r\n"), false),
        (format!("{chunked}5\nshort\n0\n\n"), false),
        (format!("{chunked}11111111111111111\r\n"), false),
        (format!("{chunked}1;{}\r\na\r\n", "x".repeat(20_000)), false),
        (format!("{chunked}0\r\nA: {}\r\n\r\n", "x".repeat(20_000)), false),
    ];
    run(async {
        for (text, is_truncated) in cases {
            let bad = vec![Step::Read, send(&text)];
            let server = ScriptedOrigin::start(vec![bad, vec![Step::Read, reply("good")]]).await;
            let (origins, servers) = origins(settings(&[server.address]));
            let mut reply = get(&origins).await.unwrap();
            let error = body(&mut reply).await.unwrap_err();
            assert_eq!(error == BodyError::Truncated, is_truncated, "{error}: {text:.80}");
            assert_eq!(reply.body.next().await, Err(error));
            assert!(!reply.body.is_ended());
            assert_eq!((servers.report()[0].failures, servers.report()[0].in_use), (1, 0));
            assert_eq!(get_text(&origins).await, "good");
        }
    });
}

#[test]
fn an_unresponsive_server_times_out() {
    let head = "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nbegin";
    let flood = "HTTP/1.1 100 x\r\n\r\n";
    run(async {
        let silences =
            [vec![Step::Read, Step::Hold], vec![Step::Read, send(flood), send(&head[..20]), Step::Hold]];
        for silence in silences {
            let server = ScriptedOrigin::start(vec![silence]).await;
            let mut settings = settings(&[server.address]);
            settings.first_byte_timeout = Nanos::from_millis(30);
            let failure = get(&origins(settings).0).await.unwrap_err();
            assert_eq!((failure.status(), failure), (504, OriginFailure::TimedOut));
        }
        let server = ScriptedOrigin::start(vec![vec![Step::Read, send(head), Step::Hold]]).await;
        let mut settings = settings(&[server.address]);
        settings.between_bytes_timeout = Nanos::from_millis(30);
        let mut reply = get(&origins(settings).0).await.unwrap();
        assert_eq!(body(&mut reply).await, Err(BodyError::TimedOut));
    });
}

#[test]
fn bytes_after_a_body_close_the_connection() {
    run(async {
        let two =
            "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\noneHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil";
        let bad = vec![Step::Read, send(two), Step::Read, reply("worse")];
        let server = ScriptedOrigin::start(vec![bad, vec![Step::Read, reply("good")]]).await;
        let (origins, _) = origins(settings(&[server.address]));
        assert_eq!(get_text(&origins).await, "one");
        assert_eq!(get_text(&origins).await, "good");
    });
}
