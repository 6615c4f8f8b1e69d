//! Several servers, some of them dead.

use accelerator::message::NoBody;
use accelerator::origin::{Balance, OriginFailure, ServerState};
use units::Nanos;

use super::script::{
    ScriptedOrigin, Step, dead_address, get, get_text, origins, pieces, reply, request, run, settings,
};

#[test]
fn requests_alternate_between_servers() {
    run(async {
        let server = |name| vec![vec![Step::Read, reply(name), Step::Read, reply(name)]];
        let a = ScriptedOrigin::start(server("a")).await;
        let b = ScriptedOrigin::start(server("b")).await;
        let (origins, _) = origins(settings(&[a.address, b.address]));
        let mut order = Vec::new();
        for _ in 0..4 {
            order.push(get_text(&origins).await);
        }
        assert_eq!(order, ["a", "b", "a", "b"]);
    });
}

#[test]
fn hash_sends_a_key_to_the_same_server() {
    run(async {
        let server = |name| vec![vec![[Step::Read, reply(name)]; 40].concat()];
        let a = ScriptedOrigin::start(server("a")).await;
        let b = ScriptedOrigin::start(server("b")).await;
        let mut settings = settings(&[a.address, b.address]);
        settings.balance = Balance::Hash;
        let (origins, _) = origins(settings);
        let mut homes = Vec::new();
        for key_hash in (0..20).chain(0..20) {
            let mut request = request("GET");
            request.key_hash = key_hash;
            let mut reply = origins.send(&request, NoBody).await.unwrap();
            homes.push(super::script::body(&mut reply).await.unwrap());
        }
        assert_eq!(homes[..20], homes[20..]);
        assert!(homes.contains(&b"a".to_vec()) && homes.contains(&b"b".to_vec()));
    });
}

#[test]
fn requests_without_connection_are_retried() {
    run(async {
        let script = vec![Step::Read, Step::ReadBody(2), reply("b"), Step::Read, reply("b")];
        let live = ScriptedOrigin::start(vec![script]).await;
        let (dead, _socket) = dead_address();
        let (origins, servers) = origins(settings(&[dead, live.address]));
        let mut post = request("POST");
        (post.has_body, post.content_length) = (true, Some(2));
        let mut reply = origins.send(&post, pieces(&["hi"], None)).await.unwrap();
        assert_eq!(super::script::body(&mut reply).await.unwrap(), b"b");
        assert_eq!(live.received()[1], "hi");
        assert_eq!(servers.report()[0].failures, 1);
    });
}

#[test]
fn only_safe_requests_are_retried_once_sent() {
    run(async {
        let first = ScriptedOrigin::start(vec![vec![Step::Read]; 2]).await;
        let live = ScriptedOrigin::start(vec![vec![Step::Read, reply("b")]; 2]).await;
        let settings = settings(&[first.address, live.address]);
        assert_eq!(get_text(&origins(settings.clone()).0).await, "b");
        let failure = origins(settings).0.send(&request("DELETE"), NoBody).await.unwrap_err();
        assert_eq!(failure, OriginFailure::Closed);
        assert_eq!((first.received().len(), live.received().len()), (2, 1));
    });
}

#[test]
fn retries_are_limited() {
    run(async {
        let live = ScriptedOrigin::start(vec![vec![Step::Read, reply("c")]]).await;
        let ((first, _one), (second, _two)) = (dead_address(), dead_address());
        let mut settings = settings(&[first, second, live.address]);
        let failure = get(&origins(settings.clone()).0).await.unwrap_err();
        assert!(matches!(failure, OriginFailure::Unreachable(_)), "{failure}");
        settings.retries = 2;
        assert_eq!(get_text(&origins(settings).0).await, "c");
    });
}

#[test]
fn a_server_that_is_down_gets_no_requests() {
    run(async {
        let live = ScriptedOrigin::start(vec![vec![[Step::Read, reply("b")]; 20].concat()]).await;
        let (dead, _socket) = dead_address();
        let mut settings = settings(&[dead, live.address]);
        settings.health.trial_after = Nanos::from_secs(3600);
        let (origins, servers) = origins(settings);
        for _ in 0..20 {
            assert_eq!(get_text(&origins).await, "b");
        }
        let report = &servers.report()[0];
        assert_eq!((report.condition, report.failures, report.connections), (ServerState::Down, 3, 3));
    });
}
