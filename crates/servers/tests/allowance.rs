//! The allowance under load: a test program of its own, so that no other test competes for the processors.

mod common;

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};

use common::http2::{self, Http2};
use common::tls::{config, connect, identity};
use common::{Client, start};
use http1::RequestMethod;
use servers::web::ServeReport;
use units::{Clock, Nanos, Ratio, RealClock};

/// A workload that keeps the server busy until told to stop.
type Work = fn(SocketAddr, &AtomicBool);

/// Loads a server with this allowance for half a second, by clients that always have requests waiting.
fn loaded(share: f64, encrypted: bool, work: Work) -> ServeReport {
    let server = start(|options| {
        options.cpu_allowance = Some(Ratio(share));
        options.identity = encrypted.then(identity);
        options.http2 = true;
    });
    let address = server.address();
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| work(address, &over));
        }
        let clock = RealClock::start();
        let config = config(&[], None);
        let mut plain = (!encrypted).then(|| Client::connect(address));
        let mut secure = encrypted.then(|| connect(address, &config));
        while clock.now() < Nanos::from_millis(500) {
            plain.iter_mut().for_each(|client| drop(client.get("/").unwrap()));
            secure.iter_mut().for_each(|client| drop(client.get("/").unwrap()));
        }
        over.store(true, Ordering::Relaxed);
    });
    server.stop().unwrap()
}

fn pipelined(path: &str, address: SocketAddr, over: &AtomicBool) {
    let mut client = Client::connect(address);
    let batch = format!("GET {path} HTTP/1.1\r\nHost: h\r\n\r\n").repeat(32);
    while !over.load(Ordering::Relaxed) {
        client.send(&batch);
        for _ in 0..32 {
            assert_eq!(client.reply(RequestMethod::Get).unwrap().head.status, 200);
        }
    }
}

/// Opens a connection with a full handshake for every request.
fn handshakes(address: SocketAddr, over: &AtomicBool) {
    while !over.load(Ordering::Relaxed) {
        let mut client = connect(address, &config(&[], None));
        assert_eq!(client.get("/small.html").unwrap().head.status, 200);
    }
}

fn encrypted_bytes(address: SocketAddr, over: &AtomicBool) {
    let mut client = connect(address, &config(&[], None));
    while !over.load(Ordering::Relaxed) {
        assert_eq!(client.get("/large.bin").unwrap().body.len(), 5 << 20);
    }
}

/// 32 streams at a time.
fn streams(path: &'static str, address: SocketAddr, over: &AtomicBool, encrypted: bool) {
    http2::run(async {
        let client = if encrypted { Http2::over_tls(address).await } else { Http2::plain(address).await };
        while !over.load(Ordering::Relaxed) {
            let asking: Vec<_> = (0..32)
                .map(|_| {
                    let client = client.clone();
                    tokio::spawn(async move { client.get(path).await.unwrap().status() })
                })
                .collect();
            for asked in asking {
                assert_eq!(asked.await.unwrap(), 200);
            }
        }
    });
}

/// Goal: under load the server uses its allowance. More is always wrong; less is acceptable only where the
/// machine has no spare processor, hence three attempts.
fn check(share: f64, encrypted: bool, work: Work) {
    let reached = (0..3).any(|_| {
        let report = loaded(share, encrypted, work);
        let used = report.cpu.as_secs_f64() / report.elapsed.as_secs_f64();
        assert!(used <= 1.15 * share, "share {share}: used {used}");
        assert!(report.paused < report.elapsed);
        0.85 * share <= used && Nanos::ZERO < report.paused
    });
    assert!(reached, "a server with share {share} never used it");
}

/// One test for all cases, because two at once would compete for the processors.
#[test]
fn a_loaded_server_uses_its_allowance() {
    check(0.2, false, |address, over| pipelined("/small.html", address, over));
    check(0.5, false, |address, over| pipelined("/small.html", address, over));
    check(0.3, false, |address, over| pipelined("/dyn?size=100000", address, over));
    check(0.2, true, handshakes);
    check(0.2, true, encrypted_bytes);
    check(0.2, true, |address, over| streams("/small.html", address, over, true));
    check(0.2, false, |address, over| streams("/small.html", address, over, false));
    check(0.2, false, |address, over| streams("/dyn?size=100000", address, over, false));
}
