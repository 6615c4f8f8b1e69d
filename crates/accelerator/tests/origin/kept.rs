//! Connections that are kept for the next request.

use accelerator::message::NoBody;
use accelerator::origin::OriginFailure;
use units::Nanos;

use crate::script::{Scripted, Step, get, get_text, origins, reply, request, run, say, settings};

#[test]
fn a_connection_is_used_again_once_its_body_was_taken() {
    run(async {
        let script = vec![Step::Hear, reply("one"), Step::Hear, reply("two")];
        let server = Scripted::start(vec![script]).await;
        let (origins, servers) = origins(settings(&[server.address]));
        assert_eq!([get_text(&origins).await, get_text(&origins).await], ["one", "two"]);
        let report = &servers.report()[0];
        assert_eq!((report.requests, report.connections, report.failures), (2, 1, 0));
    });
}

#[test]
fn a_connection_that_is_to_be_closed_is_not_kept() {
    let closing = say("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 3\r\n\r\none");
    let old = say("HTTP/1.0 200 OK\r\nContent-Length: 3\r\n\r\none");
    run(async {
        for first in [closing, old] {
            let bad = vec![Step::Hear, first, Step::Hear, reply("bad")];
            let server = Scripted::start(vec![bad, vec![Step::Hear, reply("two")]]).await;
            let (origins, _) = origins(settings(&[server.address]));
            assert_eq!([get_text(&origins).await, get_text(&origins).await], ["one", "two"]);
        }
    });
}

#[test]
fn a_body_that_is_given_up_closes_its_connection() {
    run(async {
        let first = vec![Step::Hear, say("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nbegin"), Step::HearEnd];
        let server = Scripted::start(vec![first, vec![Step::Hear, reply("two")]]).await;
        let (origins, servers) = origins(settings(&[server.address]));
        drop(get(&origins).await.unwrap());
        assert_eq!(server.heard_as_many_as(2).await[1], "");
        assert_eq!((servers.report()[0].in_use, servers.report()[0].failures), (0, 0));
        assert_eq!(get_text(&origins).await, "two");
    });
}

/// The server closes just when the second request arrives, as it may at any time.
fn closing() -> Vec<Step> {
    vec![Step::Hear, reply("one"), Step::Hear]
}

#[test]
fn a_safe_request_is_sent_again_if_a_kept_connection_turns_out_closed() {
    run(async {
        let server = Scripted::start(vec![closing(), vec![Step::Hear, reply("two")]]).await;
        let (origins, servers) = origins(settings(&[server.address]));
        assert_eq!([get_text(&origins).await, get_text(&origins).await], ["one", "two"]);
        assert_eq!(server.heard().len(), 3);
        assert_eq!(servers.report()[0].failures, 0);
    });
}

#[test]
fn an_unsafe_request_is_never_sent_again() {
    run(async {
        let server = Scripted::start(vec![closing(), vec![Step::Hear, reply("two")]]).await;
        let (origins, _) = origins(settings(&[server.address]));
        assert_eq!(get_text(&origins).await, "one");
        let failure = origins.send(&request("POST"), NoBody).await.unwrap_err();
        assert_eq!((failure.status(), failure), (502, OriginFailure::Closed));
        assert_eq!(server.heard().len(), 2);
    });
}

#[test]
fn a_safe_request_is_not_sent_again_if_something_came() {
    run(async {
        let first = [closing(), vec![say("HTTP/1.1 2")]].concat();
        let server = Scripted::start(vec![first, vec![Step::Hear, reply("two")]]).await;
        let (origins, _) = origins(settings(&[server.address]));
        assert_eq!(get_text(&origins).await, "one");
        assert_eq!(get(&origins).await.unwrap_err(), OriginFailure::Truncated);
    });
}

#[test]
fn nothing_is_kept_longer_or_more_than_wanted() {
    run(async {
        for (idle_max, idle_timeout) in [(0, Nanos::from_secs(9)), (9, Nanos::ZERO)] {
            let script = vec![Step::Hear, reply("x"), Step::HearEnd];
            let server = Scripted::start(vec![script.clone(), script]).await;
            let mut settings = settings(&[server.address]);
            (settings.idle_max, settings.idle_timeout) = (idle_max, idle_timeout);
            let (origins, servers) = origins(settings);
            get_text(&origins).await;
            get_text(&origins).await;
            assert_eq!(servers.report()[0].connections, 2);
            origins.sweep();
            server.heard_as_many_as(4).await;
        }
    });
}
