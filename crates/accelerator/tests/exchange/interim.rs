//! Interim responses: to the one who is answered by what the origin says, and to nobody else.

use std::rc::Rc;

use accelerator::message::HitPath;

use crate::house::{Answer, House, Listening, inbound, run};
use crate::origin::{Gate, Step, lasting, reply, send};

const HINTS: &str =
    "HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\nConnection: x\r\nX: 1\r\n\r\n";

/// What a client gets of [`HINTS`].
fn hints() -> (u16, String) {
    (103, "Link: </a.css>; rel=preload\r\n".to_owned())
}

fn after_hints(steps: Vec<Step>) -> Vec<Step> {
    [vec![send(HINTS)], steps].concat()
}

async fn ask(house: &House, method: &str, lines: &[(&str, &str)]) -> (Answer, Vec<(u16, String)>) {
    let client = Listening::default();
    let reply = house.exchange.handle(inbound(method, "/", lines), client.clone()).await;
    (Answer::read(reply).await, client.0.take())
}

#[test]
fn whoever_is_answered_by_the_origin_gets_what_comes_before_the_answer() {
    run(async {
        let house = House::new(|heard| match heard.method() {
            "GET" => after_hints(reply(200, "Cache-Control: no-store\r\n", "a")),
            _ => after_hints(reply(200, "", "b")),
        })
        .await;
        // The first leads a flight, the second is marked, the third bypasses the store.
        for (method, lines, path) in
            [("GET", &[][..], HitPath::Pass), ("GET", &[], HitPath::Pass), ("POST", &[], HitPath::Pass)]
        {
            let (answer, interims) = ask(&house, method, lines).await;
            assert_eq!((answer.status, answer.path, interims), (200, path, vec![hints()]), "{method}");
        }
    });
}

#[test]
fn they_are_neither_stored_nor_sent_with_what_is() {
    run(async {
        let house = House::new(|_| after_hints(lasting("a"))).await;
        let (answer, interims) = ask(&house, "GET", &[]).await;
        assert_eq!((answer.gist(), interims), ((200, "a", HitPath::Miss), vec![hints()]));
        house.settled().await;
        let (answer, interims) = ask(&house, "GET", &[]).await;
        assert_eq!((answer.gist(), interims), ((200, "a", HitPath::Memory), vec![]));
    });
}

/// Goal: a client that has the stored response validated gets what the origin says meanwhile.
#[test]
fn they_come_before_a_stored_response_that_is_validated() {
    run(async {
        let house = House::new(|heard| match heard.index {
            0 => reply(200, "Cache-Control: max-age=0\r\nETag: \"a\"\r\n", "a"),
            _ => after_hints(reply(304, "ETag: \"a\"\r\n", "")),
        })
        .await;
        house.get("/", &[]).await;
        house.settled().await;
        let (answer, interims) = ask(&house, "GET", &[]).await;
        assert_eq!((answer.gist(), interims), ((200, "a", HitPath::Revalidated), vec![hints()]));
    });
}

/// Goal: hints are of use while the answer is awaited, and only to the one who leads: who follows may have come later.
#[test]
fn the_leader_gets_them_at_once_and_followers_do_not() {
    run(async {
        let gate = Gate::new();
        let script_gate = gate.clone();
        let house =
            House::new(move |_| [vec![send(HINTS), Step::Wait(script_gate.clone())], lasting("a")].concat())
                .await;
        let (leader, follower) = (Listening::default(), Listening::default());
        let start = |client: &Listening| {
            let (exchange, client) = (Rc::clone(&house.exchange), client.clone());
            tokio::task::spawn_local(async move {
                Answer::read(exchange.handle(inbound("GET", "/", &[]), client).await).await
            })
        };
        let leading = start(&leader);
        while leader.0.borrow().is_empty() {
            tokio::task::yield_now().await;
        }
        assert!(!leading.is_finished());
        let following = start(&follower);
        tokio::task::yield_now().await;
        gate.open();
        assert_eq!(leading.await.unwrap().gist(), (200, "a", HitPath::Miss));
        assert_eq!(following.await.unwrap().gist(), (200, "a", HitPath::Collapsed));
        assert_eq!((leader.0.take(), follower.0.take()), (vec![hints()], vec![]));
        assert_eq!(house.origin.n_heard(), 1);
    });
}

#[test]
fn any_number_of_them_goes_on_in_order() {
    run(async {
        let house = House::new(|_| {
            let many = (0..1000).map(|k| format!("HTTP/1.1 102 Processing\r\nN: {k}\r\n\r\n"));
            [vec![send(&many.collect::<String>())], lasting("a")].concat()
        })
        .await;
        let (answer, interims) = ask(&house, "GET", &[]).await;
        assert_eq!(answer.status, 200);
        assert_eq!(interims, (0..1000).map(|k| (102, format!("N: {k}\r\n"))).collect::<Vec<_>>());
    });
}
