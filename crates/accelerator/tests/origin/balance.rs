//! Several servers, of which some are dead.

use accelerator::message::NoBody;
use accelerator::origin::{Balance, Condition, OriginFailure};
use units::Nanos;

use crate::script::{
    Scripted, Step, dead_address, get, get_text, origins, pieces, reply, request, run, settings,
};

#[test]
fn servers_take_turns() {
    run(async {
        let server = |name| vec![vec![Step::Hear, reply(name), Step::Hear, reply(name)]];
        let (a, b) = (Scripted::start(server("a")).await, Scripted::start(server("b")).await);
        let (origins, _) = origins(settings(&[a.address, b.address]));
        let mut order = Vec::new();
        for _ in 0..4 {
            order.push(get_text(&origins).await);
        }
        assert_eq!(order, ["a", "b", "a", "b"]);
    });
}

#[test]
fn a_key_always_goes_to_the_same_server_by_hash() {
    run(async {
        let server = |name| vec![vec![[Step::Hear, reply(name)]; 40].concat()];
        let (a, b) = (Scripted::start(server("a")).await, Scripted::start(server("b")).await);
        let mut settings = settings(&[a.address, b.address]);
        settings.balance = Balance::Hash;
        let (origins, _) = origins(settings);
        let mut homes = Vec::new();
        for key_hash in (0..20).chain(0..20) {
            let mut request = request("GET");
            request.key_hash = key_hash;
            let mut reply = origins.send(&request, NoBody).await.unwrap();
            homes.push(crate::script::body(&mut reply).await.unwrap());
        }
        assert_eq!(homes[..20], homes[20..]);
        assert!(homes.contains(&b"a".to_vec()) && homes.contains(&b"b".to_vec()));
    });
}

#[test]
fn another_server_is_asked_if_nothing_can_have_happened() {
    run(async {
        let script = vec![Step::Hear, Step::HearBody(2), reply("b"), Step::Hear, reply("b")];
        let live = Scripted::start(vec![script]).await;
        let (dead, _socket) = dead_address();
        let (origins, servers) = origins(settings(&[dead, live.address]));
        let mut post = request("POST");
        (post.has_body, post.content_length) = (true, Some(2));
        let mut reply = origins.send(&post, pieces(&["hi"], None)).await.unwrap();
        assert_eq!(crate::script::body(&mut reply).await.unwrap(), b"b");
        assert_eq!(live.heard()[1], "hi");
        assert_eq!(servers.report()[0].failures, 1);
    });
}

#[test]
fn another_server_is_asked_only_for_what_is_safe_once_it_was_sent() {
    run(async {
        let first = Scripted::start(vec![vec![Step::Hear]; 2]).await;
        let live = Scripted::start(vec![vec![Step::Hear, reply("b")]; 2]).await;
        let settings = settings(&[first.address, live.address]);
        assert_eq!(get_text(&origins(settings.clone()).0).await, "b");
        let failure = origins(settings).0.send(&request("DELETE"), NoBody).await.unwrap_err();
        assert_eq!(failure, OriginFailure::Closed);
        assert_eq!((first.heard().len(), live.heard().len()), (2, 1));
    });
}

#[test]
fn attempts_are_limited() {
    run(async {
        let live = Scripted::start(vec![vec![Step::Hear, reply("c")]]).await;
        let ((first, _one), (second, _two)) = (dead_address(), dead_address());
        let mut settings = settings(&[first, second, live.address]);
        let failure = get(&origins(settings.clone()).0).await.unwrap_err();
        assert!(matches!(failure, OriginFailure::Unreachable(_)), "{failure}");
        settings.retries = 2;
        assert_eq!(get_text(&origins(settings).0).await, "c");
    });
}

#[test]
fn a_server_that_has_failed_too_often_is_left_alone() {
    run(async {
        let live = Scripted::start(vec![vec![[Step::Hear, reply("b")]; 20].concat()]).await;
        let (dead, _socket) = dead_address();
        let mut settings = settings(&[dead, live.address]);
        settings.health.trial_after = Nanos::from_secs(3600);
        let (origins, servers) = origins(settings);
        for _ in 0..20 {
            assert_eq!(get_text(&origins).await, "b");
        }
        let report = &servers.report()[0];
        assert_eq!((report.condition, report.failures, report.connections), (Condition::Down, 3, 3));
    });
}

/// A server that closes two connections without a word, then answers over a third.
async fn recovering() -> Scripted {
    Scripted::start(vec![vec![Step::Hear], vec![Step::Hear], vec![Step::Hear, reply("well")]]).await
}

#[test]
fn when_all_are_down_nobody_is_asked() {
    run(async {
        let server = recovering().await;
        let mut settings = settings(&[server.address]);
        (settings.health.fall, settings.health.trial_after) = (2, Nanos::from_secs(3600));
        let (origins, servers) = origins(settings);
        for failure in [OriginFailure::Closed, OriginFailure::Closed, OriginFailure::AllDown] {
            assert_eq!(get(&origins).await.unwrap_err(), failure);
        }
        let report = &servers.report()[0];
        assert_eq!((report.requests, report.condition, report.times_down), (2, Condition::Down, 1));
    });
}

#[test]
fn a_server_that_is_down_is_tried_again_and_comes_up_if_it_replies() {
    run(async {
        let server = recovering().await;
        let mut settings = settings(&[server.address]);
        (settings.health.fall, settings.health.trial_after) = (2, Nanos::ZERO);
        let (origins, servers) = origins(settings);
        assert!(get(&origins).await.is_err() && get(&origins).await.is_err());
        assert_eq!(servers.report()[0].condition, Condition::Down);
        assert_eq!(get_text(&origins).await, "well");
        assert_eq!(servers.report()[0].condition, Condition::Up);
    });
}
