//! Limits on requests in progress and waiting requests.

use accelerator::origin::OriginFailure;
use units::Nanos;

use super::script::{ScriptedOrigin, Step, body, get, get_text, origins, reply, run, settings};

#[test]
fn requests_wait_for_a_permit() {
    run(async {
        let server =
            ScriptedOrigin::start(vec![vec![Step::Read, reply("one"), Step::Read, reply("two")]]).await;
        let mut settings = settings(&[server.address]);
        settings.connections_max = 1;
        let (origins, servers) = origins(settings);
        let mut first = get(&origins).await.unwrap();
        let taking = async {
            // The other one waits now: it was polled first.
            assert_eq!((servers.report()[0].in_use, servers.report()[0].requests), (1, 1));
            body(&mut first).await.unwrap()
        };
        let (two, one) = tokio::join!(biased; get_text(&origins), taking);
        assert_eq!((&one[..], &two[..]), (&b"one"[..], "two"));
        assert_eq!(servers.report()[0].connections, 1);
    });
}

#[test]
fn waiting_is_limited_in_time_and_number() {
    run(async {
        for (waiting_max, connect_timeout) in [(0, Nanos::from_secs(60)), (9, Nanos::from_millis(30))] {
            let server = ScriptedOrigin::start(vec![vec![Step::Read, reply("one"), Step::Hold]]).await;
            let mut settings = settings(&[server.address]);
            settings.connections_max = 1;
            (settings.waiting_max, settings.connect_timeout) = (waiting_max, connect_timeout);
            let (origins, servers) = origins(settings);
            let _first = get(&origins).await.unwrap();
            let failure = get(&origins).await.unwrap_err();
            assert_eq!((failure.status(), failure), (503, OriginFailure::Busy));
            assert_eq!(servers.report()[0].failures, 0);
        }
    });
}

#[test]
fn servers_below_their_limit_are_preferred() {
    run(async {
        let full = ScriptedOrigin::start(vec![vec![Step::Read, reply("full")]]).await;
        let free = ScriptedOrigin::start(vec![vec![Step::Read, reply("a"), Step::Read, reply("b")]]).await;
        let mut settings = settings(&[full.address, free.address]);
        settings.connections_max = 1;
        let (origins, _) = origins(settings);
        let mut first = get(&origins).await.unwrap();
        assert_eq!([get_text(&origins).await, get_text(&origins).await], ["a", "b"]);
        assert_eq!(body(&mut first).await.unwrap(), b"full");
    });
}
