//! Responses of well-behaved servers.

use accelerator::message::NoBody;
use accelerator::origin::OriginFailure;
use http1::HeaderLines;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::script::{
    ScriptedOrigin, Step, body, get, get_text, origins, reply, request, run, send, settings,
};

#[test]
fn bodies_are_equal_in_any_framing_and_pieces() {
    let chunked =
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nwhol\r\n1;x=y\r\ne\r\n0\r\nT: x\r\n\r\n";
    let cases = [
        ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nwhole", Some(5)),
        (chunked, None),
        ("HTTP/1.1 200 OK\r\n\r\nwhole", None),
        ("HTTP/1.0 200 OK\r\n\r\nwhole", None),
        ("HTTP/1.1 103 x\r\nLink: a\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nwhole", Some(5)),
    ];
    run(async {
        for (text, length) in cases {
            for saying in [send(text), Step::Drip(text.as_bytes().to_vec())] {
                let server = ScriptedOrigin::start(vec![vec![Step::Read, saying]]).await;
                let (origins, _) = origins(settings(&[server.address]));
                let mut reply = get(&origins).await.unwrap();
                assert_eq!((reply.status, reply.content_length), (200, length), "{text}");
                assert_eq!(body(&mut reply).await.unwrap(), b"whole", "{text}");
                assert!(reply.times.requested <= reply.times.received);
            }
        }
    });
}

#[test]
fn large_bodies_are_complete() {
    run(async {
        let large: String = (0..300_000).map(|n| char::from(b'a' + (n % 23) as u8)).collect();
        let chunks: Vec<_> = large.as_bytes().chunks(70_001).collect();
        let mut chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".to_vec();
        chunks.iter().for_each(|chunk| http1::write_chunk(&mut chunked, chunk));
        chunked.extend_from_slice(http1::LAST_CHUNK);
        for saying in [reply(&large), Step::Send(chunked)] {
            let server = ScriptedOrigin::start(vec![vec![Step::Read, saying]]).await;
            let (origins, _) = origins(settings(&[server.address]));
            let mut reply = get(&origins).await.unwrap();
            assert!(body(&mut reply).await.unwrap() == large.as_bytes());
        }
    });
}

#[test]
fn bodiless_responses_end_at_once_and_keep_the_connection() {
    let announced =
        |status: u16| send(&format!("HTTP/1.1 {status} x\r\nContent-Length: 9\r\nETag: \"a\"\r\n\r\n"));
    run(async {
        let script = vec![Step::Read, announced(200), Step::Read, announced(304), Step::Read, reply("x")];
        let server = ScriptedOrigin::start(vec![script]).await;
        let (origins, _) = origins(settings(&[server.address]));
        for (method_name, status) in [("HEAD", 200), ("GET", 304)] {
            let mut reply = origins.send(&request(method_name), NoBody).await.unwrap();
            assert!(reply.body.is_ended());
            assert_eq!((reply.status, reply.content_length), (status, Some(9)));
            assert_eq!(reply.lines.as_bytes(), b"Content-Length: 9\r\nETag: \"a\"\r\n");
            assert_eq!(body(&mut reply).await.unwrap(), b"");
        }
        assert_eq!(body(&mut get(&origins).await.unwrap()).await.unwrap(), b"x");
    });
}

#[test]
fn requests_are_sent_with_new_framing() {
    run(async {
        let script = vec![Step::Read, reply("")];
        let server = ScriptedOrigin::start(vec![script.clone(), script.clone(), script]).await;
        let mut settings = settings(&[server.address]);
        settings.idle_max = 0;
        let (origins, _) = origins(settings.clone());
        let mut request = request("GET");
        request.target = b"/a?b".to_vec();
        for (name, value) in [("Accept", "x/y"), ("Transfer-Encoding", "chunked"), ("Content-Length", "3")] {
            request.lines.push(name.as_bytes(), value.as_bytes());
        }
        origins.send(&request, NoBody).await.unwrap();
        request.authority.clear();
        request.lines = HeaderLines::new();
        origins.send(&request, NoBody).await.unwrap();
        settings.host = Some("inner:8".to_owned());
        super::script::origins(settings).0.send(&request, NoBody).await.unwrap();
        let expected = [
            "GET /a?b HTTP/1.1\r\nHost: example.org\r\nAccept: x/y\r\n\r\n".to_owned(),
            format!("GET /a?b HTTP/1.1\r\nHost: {}\r\n\r\n", server.address),
            "GET /a?b HTTP/1.1\r\nHost: inner:8\r\n\r\n".to_owned(),
        ];
        assert_eq!(server.received(), expected);
    });
}

#[test]
fn requests_that_break_their_head_are_not_sent() {
    run(async {
        let server = ScriptedOrigin::start(vec![vec![Step::Read, reply("")]]).await;
        let (origins, servers) = origins(settings(&[server.address]));
        let mut request = request("GET");
        request.target = b"/ HTTP/1.1\r\nHost: x\r\n\r\nGET /".to_vec();
        let failure = origins.send(&request, NoBody).await.unwrap_err();
        assert_eq!((failure.status(), failure), (400, OriginFailure::Unsendable));
        assert_eq!(servers.report()[0].connections, 0);
    });
}

#[test]
fn an_upgrade_opens_a_tunnel_with_its_first_bytes() {
    run(async {
        let head = "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: echo\r\n\r\nfirst ";
        let server = ScriptedOrigin::start(vec![vec![Step::Read, send(head), Step::Echo]]).await;
        let (origins, servers) = origins(settings(&[server.address]));
        let mut request = request("GET");
        request.upgrade = Some(b"echo".to_vec());
        let reply = origins.send(&request, NoBody).await.unwrap();
        assert_eq!((reply.status, reply.lines.get("upgrade")), (101, Some(&b"echo"[..])));
        let mut tunnel = reply.body.into_tunnel().unwrap();
        assert_eq!(servers.report()[0].in_use, 1);
        tunnel.write_all(b"second").await.unwrap();
        tunnel.shutdown().await.unwrap();
        let mut received = String::new();
        tunnel.read_to_string(&mut received).await.unwrap();
        assert_eq!(received, "first second");
        assert!(server.received()[0].ends_with("\r\nConnection: upgrade\r\nUpgrade: echo\r\n\r\n"));
        drop(tunnel);
        assert_eq!(servers.report()[0].in_use, 0);
    });
}

#[test]
fn a_refused_upgrade_is_an_ordinary_response() {
    run(async {
        let server = ScriptedOrigin::start(vec![vec![Step::Read, reply("no")]]).await;
        let (origins, _) = origins(settings(&[server.address]));
        let mut request = request("GET");
        request.upgrade = Some(b"echo".to_vec());
        let mut reply = origins.send(&request, NoBody).await.unwrap();
        assert_eq!(body(&mut reply).await.unwrap(), b"no");
        assert!(reply.body.into_tunnel().is_none());
    });
}

/// Goal: what other proxies take is taken, and nothing of it is passed on: each line has one blank behind the colon, and
/// no fold. The table is that of `docs/accelerator.md`.
#[test]
fn peculiar_responses_are_taken_and_their_lines_are_clean() {
    const LENGTH: &str = "Content-Length: 2\r\n";
    let chunked = "Transfer-Encoding: chunked\r\n";
    let chunks = "1 \r\no\r\n1\t;a=b\r\nk\r\n0  \r\n\r\n";
    let many = "A: b\r\n".repeat(300);
    let cases = [
        (
            "HTTP/1.1 200 OK\nA:b\nContent-Length: 2\n\nok".to_owned(),
            "A: b\r\nContent-Length: 2\r\n".to_owned(),
            true,
        ),
        (
            format!("HTTP/1.1 200 OK\r\nA: b\r\n\tc\r\n \r\n{LENGTH}\r\nok"),
            format!("A: b  \tc\r\n{LENGTH}"),
            true,
        ),
        (format!("HTTP/1.1 200 OK\nA:\n b\n{LENGTH}\nok"), format!("A: b\r\n{LENGTH}"), true),
        (
            format!("HTTP/1.1 200 OK\r\nA : b\r\nB\t:c\r\n{LENGTH}\r\nok"),
            format!("A: b\r\nB: c\r\n{LENGTH}"),
            true,
        ),
        (format!("HTTP/1.1 200 OK\r\n{chunked}\r\n{chunks}"), chunked.to_owned(), true),
        (format!("HTTP/1.1 200 OK\r\n{LENGTH}{chunked}\r\n{chunks}"), format!("{LENGTH}{chunked}"), false),
        (
            format!("HTTP/1.0 200 OK\r\nConnection: keep-alive\r\n{chunked}\r\n{chunks}"),
            format!("Connection: keep-alive\r\n{chunked}"),
            false,
        ),
        (
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\n\r\nok".to_owned(),
            "Transfer-Encoding: identity\r\n".to_owned(),
            false,
        ),
        (
            format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\n{LENGTH}\r\nok"),
            format!("Transfer-Encoding: identity\r\n{LENGTH}"),
            true,
        ),
        (format!("HTTP/1.1 200 OK\r\n{many}{LENGTH}\r\nok"), format!("{many}{LENGTH}"), true),
    ];
    run(async {
        for (text, lines, is_reused) in cases {
            for step in [send(&text), Step::Drip(text.clone().into_bytes())] {
                let first = vec![Step::Read, step, Step::Read, reply("reused")];
                let closed = if is_reused { first } else { first[..2].to_vec() };
                let server = ScriptedOrigin::start(vec![closed, vec![Step::Read, reply("new")]]).await;
                let (origins, _) = origins(settings(&[server.address]));
                let mut response = get(&origins).await.unwrap_or_else(|failure| panic!("{failure}: {text}"));
                assert_eq!(body(&mut response).await.unwrap(), b"ok", "{text}");
                let clean = String::from_utf8(response.lines.as_bytes().to_vec()).unwrap();
                let blanks = |text: &str| text.replace([' ', '\t'], "");
                assert_eq!(blanks(&clean), blanks(&lines), "{text}");
                assert!(
                    clean.split("\r\n").all(|line| !line.starts_with([' ', '\t']) && !line.contains('\n')),
                    "{clean}"
                );
                assert_eq!(get_text(&origins).await, if is_reused { "reused" } else { "new" }, "{text}");
            }
        }
    });
}
