//! Interim responses: for the client that gets the origin's response, and for no other.

use std::rc::Rc;

use accelerator::message::ResponsePath;

use super::fixture::{ClientResponse, Fixture, InterimRecorder, request, run};
use super::origin::{Latch, Step, lasting, reply, send};

const HINTS: &str =
    "HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\nConnection: x\r\nX: 1\r\n\r\n";

/// Returns the form of [`HINTS`] that a client gets.
fn hints() -> (u16, String) {
    (103, "Link: </a.css>; rel=preload\r\n".to_owned())
}

fn after_hints(steps: Vec<Step>) -> Vec<Step> {
    [vec![send(HINTS)], steps].concat()
}

async fn ask(
    fixture: &Fixture,
    method: &str,
    lines: &[(&str, &str)],
) -> (ClientResponse, Vec<(u16, String)>) {
    let client = InterimRecorder::default();
    let reply = fixture.exchange.handle(request(method, "/", lines), client.clone()).await;
    (ClientResponse::read(reply).await, client.0.take())
}

#[test]
fn clients_of_the_origins_response_get_its_interim_responses() {
    run(async {
        let fixture = Fixture::new(|received| match received.method() {
            "GET" => after_hints(reply(200, "Cache-Control: no-store\r\n", "a")),
            _ => after_hints(reply(200, "", "b")),
        })
        .await;
        // The first leads a flight, the second finds a hit-for-miss mark, the third bypasses the cache.
        for (method, lines, path) in [
            ("GET", &[][..], ResponsePath::Pass),
            ("GET", &[], ResponsePath::Pass),
            ("POST", &[], ResponsePath::Pass),
        ] {
            let (answer, interims) = ask(&fixture, method, lines).await;
            assert_eq!((answer.status, answer.path, interims), (200, path, vec![hints()]), "{method}");
        }
    });
}

#[test]
fn interim_responses_are_neither_stored_nor_sent_with_hits() {
    run(async {
        let fixture = Fixture::new(|_| after_hints(lasting("a"))).await;
        let (answer, interims) = ask(&fixture, "GET", &[]).await;
        assert_eq!((answer.gist(), interims), ((200, "a", ResponsePath::Miss), vec![hints()]));
        fixture.settled().await;
        let (answer, interims) = ask(&fixture, "GET", &[]).await;
        assert_eq!((answer.gist(), interims), ((200, "a", ResponsePath::Memory), vec![]));
    });
}

/// Goal: a client whose stored response is validated gets the origin's interim responses.
#[test]
fn interim_responses_precede_a_validated_response() {
    run(async {
        let fixture = Fixture::new(|received| match received.index {
            0 => reply(200, "Cache-Control: max-age=0\r\nETag: \"a\"\r\n", "a"),
            _ => after_hints(reply(304, "ETag: \"a\"\r\n", "")),
        })
        .await;
        fixture.get("/", &[]).await;
        fixture.settled().await;
        let (answer, interims) = ask(&fixture, "GET", &[]).await;
        assert_eq!((answer.gist(), interims), ((200, "a", ResponsePath::Revalidated), vec![hints()]));
    });
}

/// Goal: early hints are useful before the response, and only for the leader: followers may have come later.
#[test]
fn the_leader_gets_interim_responses_at_once_and_followers_do_not() {
    run(async {
        let latch = Latch::new();
        let script_gate = latch.clone();
        let fixture = Fixture::new(move |_| {
            [vec![send(HINTS), Step::Wait(script_gate.clone())], lasting("a")].concat()
        })
        .await;
        let leader = InterimRecorder::default();
        let follower = InterimRecorder::default();
        let start = |client: &InterimRecorder| {
            let exchange = Rc::clone(&fixture.exchange);
            let client = client.clone();
            tokio::task::spawn_local(async move {
                ClientResponse::read(exchange.handle(request("GET", "/", &[]), client).await).await
            })
        };
        let leading = start(&leader);
        while leader.0.borrow().is_empty() {
            tokio::task::yield_now().await;
        }
        assert!(!leading.is_finished());
        let following = start(&follower);
        tokio::task::yield_now().await;
        latch.open();
        assert_eq!(leading.await.unwrap().gist(), (200, "a", ResponsePath::Miss));
        assert_eq!(following.await.unwrap().gist(), (200, "a", ResponsePath::Collapsed));
        assert_eq!((leader.0.take(), follower.0.take()), (vec![hints()], vec![]));
        assert_eq!(fixture.origin.n_received(), 1);
    });
}

#[test]
fn any_number_of_interim_responses_is_forwarded_in_order() {
    run(async {
        let fixture = Fixture::new(|_| {
            let many = (0..1000).map(|k| format!("HTTP/1.1 102 Processing\r\nN: {k}\r\n\r\n"));
            [vec![send(&many.collect::<String>())], lasting("a")].concat()
        })
        .await;
        let (answer, interims) = ask(&fixture, "GET", &[]).await;
        assert_eq!(answer.status, 200);
        assert_eq!(interims, (0..1000).map(|k| (102, format!("N: {k}\r\n"))).collect::<Vec<_>>());
    });
}
