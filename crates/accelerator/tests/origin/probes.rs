//! Health probes.

use std::sync::Arc;

use accelerator::origin::{OriginClient, OriginFailure, Probe, ServerState, Servers, run_probes};
use tokio::sync::mpsc;
use units::Nanos;

use super::script::{ScriptedOrigin, Step, get, get_text, reply, run, send, settings};

fn answer(status: u16) -> Vec<Step> {
    vec![Step::Read, send(&format!("HTTP/1.1 {status} x\r\nContent-Length: 0\r\n\r\n"))]
}

#[test]
fn probes_bring_a_server_down_and_up_again() {
    run(async {
        let statuses = [200, 500, 404, 200, 500, 302, 200];
        let mut scripts = Vec::from(statuses.map(answer));
        scripts.push(vec![Step::Read, Step::Hold]); // The next probe waits, so that nothing changes any more.
        scripts.push(vec![Step::Read, reply("well")]);
        let server = ScriptedOrigin::start(scripts).await;
        let mut settings = settings(&[server.address]);
        (settings.health.fall, settings.health.rise) = (2, 2);
        settings.health.probe = Some(Probe {
            path: "/health".to_owned(),
            interval: Nanos::from_millis(1),
            timeout: Nanos::from_secs(60),
            statuses: 200..=399,
        });
        let (sender, mut changes) = mpsc::unbounded_channel();
        let notice = move |change: &accelerator::origin::ServerChange<'_>| {
            sender.send((change.condition, change.reason.to_owned())).unwrap();
        };
        let servers = Servers::new(settings, Box::new(notice)).unwrap();
        let origins = OriginClient::new(Arc::clone(&servers));
        let watching = tokio::spawn(run_probes(servers));
        assert_eq!(changes.recv().await.unwrap(), (ServerState::Down, "probe returned 404".to_owned()));
        assert_eq!(get(&origins).await.unwrap_err(), OriginFailure::AllDown);
        assert_eq!(changes.recv().await.unwrap(), (ServerState::Up, "probe returned 200".to_owned()));
        let received = server.wait_for_received(statuses.len() + 1).await;
        let probe = "GET /health HTTP/1.1\r\n";
        assert!(
            received.iter().all(|one| one.starts_with(probe) && one.contains("\r\nConnection: close\r\n"))
        );
        assert_eq!(get_text(&origins).await, "well");
        watching.abort();
    });
}

#[test]
fn local_probe_errors_do_not_affect_health() {
    run(async {
        // The system refuses to connect to a link-local address without an interface.
        let mut settings = settings(&["[fe80::1]:80".parse().unwrap()]);
        settings.health.probe = Some(Probe { interval: Nanos::from_millis(1), ..Probe::default() });
        let servers = Servers::new(settings, Box::new(|_| ())).unwrap();
        let watching = tokio::spawn(run_probes(Arc::clone(&servers)));
        while servers.report()[0].connections < 9 {
            tokio::task::yield_now().await;
        }
        assert_eq!(servers.report()[0].condition, ServerState::Up);
        watching.abort();
    });
}

#[test]
fn without_a_probe_run_probes_ends() {
    run(async {
        let server = ScriptedOrigin::start(vec![vec![Step::Read]]).await;
        run_probes(Servers::new(settings(&[server.address]), Box::new(|_| ())).unwrap()).await;
        assert!(server.received().is_empty());
    });
}
