//! The allowance under load: alone in its program, so that no other test competes for the processors.

mod common;

use std::sync::atomic::{AtomicBool, Ordering};

use common::{Client, start};
use http1::RequestMethod;
use servers::web::ServeReport;
use units::{Clock, Nanos, Ratio, RealClock};

/// Loads a server with this allowance for a second, by clients that always have requests waiting.
fn loaded(share: f64, path: &str) -> ServeReport {
    let server = start(|options| options.cpu_allowance = Some(Ratio(share)));
    let (address, over) = (server.address(), AtomicBool::new(false));
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let mut client = Client::connect(address);
                let batch = format!("GET {path} HTTP/1.1\r\nHost: h\r\n\r\n").repeat(32);
                while !over.load(Ordering::Relaxed) {
                    client.send(&batch);
                    for _ in 0..32 {
                        assert_eq!(client.reply(RequestMethod::Get).unwrap().head.status, 200);
                    }
                }
            });
        }
        let clock = RealClock::start();
        let mut client = Client::connect(address);
        while clock.now() < Nanos::from_secs(1) {
            client.get("/").unwrap();
        }
        over.store(true, Ordering::Relaxed);
    });
    server.stop().unwrap()
}

/// Goal: what the server uses under load is its allowance. More is never right; less only where
/// the machine has no processor left for it, hence three attempts.
#[test]
fn a_loaded_server_uses_its_allowance() {
    for (share, path) in [(0.2, "/small.html"), (0.5, "/small.html"), (0.3, "/dyn?size=100000")] {
        let reached = (0..3).any(|_| {
            let report = loaded(share, path);
            let used = report.cpu.as_secs_f64() / report.elapsed.as_secs_f64();
            assert!(used <= 1.15 * share, "share {share}: used {used}");
            assert!(Nanos::ZERO < report.paused && report.paused < report.elapsed);
            0.85 * share <= used
        });
        assert!(reached, "a server with share {share} never used it for {path}");
    }
}
