//! Health of servers, as requests find it.

use std::net::SocketAddr;

use accelerator::message::NoBody;
use accelerator::origin::{OriginClient, OriginFailure, OriginSettings, ServerState, Servers};
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};
use units::Nanos;

use super::script::{
    ScriptedOrigin, Step, body, dead_address, get_text, origins, pieces, play, reply, request, run, settings,
};

/// A long time, so that what it delays does not happen.
const LONG: Nanos = Nanos::from_secs(3600);

/// A server whose pages are good, except `/crash`, `/hang`, and `/big` with a head of 120 KB.
async fn site() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(serve(listener));
    address
}

async fn serve(listener: TcpListener) {
    while let Ok((stream, _)) = listener.accept().await {
        tokio::spawn(serve_pages(stream));
    }
}

async fn serve_pages(mut stream: TcpStream) {
    loop {
        let received = std::sync::Arc::default();
        play(&mut stream, vec![Step::Read], std::sync::Arc::clone(&received)).await;
        let Some(head) = received.lock().unwrap().pop() else { return };
        let page = match head.split(' ').nth(1) {
            Some("/crash") | None => return,
            Some("/hang") => std::future::pending().await,
            Some("/big") => format!("HTTP/1.1 200 OK\r\nA: {}\r\n\r\n", "x".repeat(120_000)),
            Some(_) => "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ngood".to_owned(),
        };
        if stream.write_all(page.as_bytes()).await.is_err() {
            return;
        }
    }
}

/// A server that accepts connections and says nothing.
async fn silent() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        let mut accepted = Vec::new();
        while let Ok((stream, _)) = listener.accept().await {
            accepted.push(stream);
        }
    });
    address
}

async fn get_page(origins: &OriginClient, target: &str) -> Result<Vec<u8>, OriginFailure> {
    let mut get = request("GET");
    get.target = target.as_bytes().to_vec();
    let mut response = origins.send(&get, NoBody).await?;
    Ok(body(&mut response).await.unwrap())
}

/// Requests ten good pages one after another; returns the number of those that came.
async fn good_pages(origins: &OriginClient) -> usize {
    let mut n_good = 0;
    for page in 0..10 {
        n_good += usize::from(get_page(origins, &format!("/{page}")).await.is_ok());
    }
    n_good
}

fn conditions(servers: &Servers) -> Vec<ServerState> {
    servers.report().iter().map(|server| server.condition).collect()
}

async fn wait_for(servers: &Servers, expected: &[ServerState]) {
    while conditions(servers) != expected {
        tokio::task::yield_now().await;
    }
}

/// Goal: one page that always fails costs the others nothing, however often it is requested.
#[test]
fn a_page_that_always_fails_takes_no_server_down() {
    run(async {
        for n_servers in [1, 2] {
            let mut addresses = Vec::new();
            for _ in 0..n_servers {
                addresses.push(site().await);
            }
            for bad_page in ["/crash", "/big"] {
                let (origins, servers) = origins(settings(&addresses));
                for _ in 0..2 {
                    for _ in 0..6 {
                        assert_eq!(get_page(&origins, bad_page).await.unwrap_err().status(), 502);
                    }
                    assert_eq!(good_pages(&origins).await, 10, "{bad_page}");
                }
                assert_eq!(conditions(&servers), vec![ServerState::Up; n_servers]);
                assert!(12 <= servers.report().iter().map(|server| server.failures).sum::<u64>());
            }
        }
    });
}

/// Four visitors wait for the same page, longer than a response is overdue, and nobody asks for another meanwhile.
#[test]
fn a_slow_page_takes_no_server_down() {
    run(async {
        for addresses in [vec![site().await], vec![site().await, site().await]] {
            let mut settings = settings(&addresses);
            settings.health.overdue_after = Nanos::from_millis(5);
            settings.first_byte_timeout = Nanos::from_millis(20);
            let (origins, servers) = origins(settings);
            let slow = || get_page(&origins, "/hang");
            let slow = tokio::join!(slow(), slow(), slow(), slow());
            assert_eq!(slow.0, Err(OriginFailure::TimedOut));
            assert_eq!(good_pages(&origins).await, 10);
            assert_eq!(conditions(&servers), vec![ServerState::Up; addresses.len()]);
        }
    });
}

/// The silent server is left long before its responses time out, and no request is lost in its trials.
#[test]
fn a_server_that_never_answers_is_left() {
    run(async {
        let mut settings = settings(&[silent().await, site().await]);
        (settings.health.overdue_after, settings.health.trial_after) = (Nanos::from_millis(20), Nanos::ZERO);
        let (origins, servers) = origins(settings);
        let client = tokio::task::LocalSet::new();
        client
            .run_until(async {
                for page in 0..6 {
                    let origins = origins.clone();
                    tokio::task::spawn_local(
                        async move { get_page(&origins, &format!("/first/{page}")).await },
                    );
                }
                wait_for(&servers, &[ServerState::Down, ServerState::Up]).await;
                for _ in 0..10 {
                    assert_eq!(good_pages(&origins).await, 10);
                }
            })
            .await;
        assert_eq!(conditions(&servers), [ServerState::Down, ServerState::Up]);
        assert!(4 <= servers.report()[0].requests, "three requests, and trials");
    });
}

/// The same where all clients ask for the same page: the other server answers it.
#[test]
fn a_server_that_never_answers_the_one_page_of_a_site_is_left() {
    run(async {
        let mut settings = settings(&[silent().await, site().await]);
        settings.health.overdue_after = Nanos::from_millis(20);
        let (origins, servers) = origins(settings);
        let client = tokio::task::LocalSet::new();
        let asking = async {
            for _ in 0..10 {
                let origins = origins.clone();
                tokio::task::spawn_local(async move { get_page(&origins, "/").await });
            }
            while conditions(&servers)[0] == ServerState::Up {
                // Each of the servers gets every other request.
                let origins = origins.clone();
                tokio::task::spawn_local(async move { get_page(&origins, "/").await });
                tokio::time::sleep(std::time::Duration::from_millis(1)).await;
            }
            assert_eq!(good_pages(&origins).await, 10);
        };
        client.run_until(asking).await;
        assert_eq!(conditions(&servers), [ServerState::Down, ServerState::Up]);
    });
}

#[test]
fn a_single_server_gets_every_request_whatever_it_does() {
    run(async {
        let (dead, _socket) = dead_address();
        let (origins, servers) = origins(settings(&[dead]));
        for _ in 0..10 {
            let failure = get_page(&origins, "/").await.unwrap_err();
            assert!(matches!(failure, OriginFailure::Unreachable(_)), "{failure}");
        }
        let report = &servers.report()[0];
        assert_eq!((report.connections, report.condition), (10, ServerState::Up));
    });
}

/// A request that no server takes counts against the first of them alone.
#[test]
fn a_retry_is_not_a_second_failure() {
    run(async {
        let ((first, _one), (second, _two)) = (dead_address(), dead_address());
        let mut settings = settings(&[first, second]);
        settings.health.fall = 2;
        let (origins, servers) = origins(settings);
        assert!(get_page(&origins, "/").await.is_err() && get_page(&origins, "/").await.is_err());
        let failures: Vec<_> = servers.report().iter().map(|server| server.failures).collect();
        assert_eq!((failures, conditions(&servers)), (vec![2, 2], vec![ServerState::Up; 2]));
    });
}

/// Settings for a server that refuses connections until it listens, and is down, beside a good one.
async fn recovering(trial_after: Nanos, live: SocketAddr) -> (OriginSettings, tokio::net::TcpSocket) {
    let (dead, socket) = dead_address();
    let mut settings = settings(&[dead, live]);
    (settings.health.fall, settings.health.trial_after) = (1, trial_after);
    (settings, socket)
}

#[test]
fn a_copy_of_a_request_that_worked_brings_a_server_up() {
    run(async {
        let (settings, socket) = recovering(Nanos::ZERO, site().await).await;
        let (origins, servers) = origins(settings);
        assert_eq!(good_pages(&origins).await, 10);
        assert_eq!(conditions(&servers)[0], ServerState::Down);
        tokio::spawn(serve(socket.listen(8).unwrap()));
        assert_eq!(get_page(&origins, "/again").await.unwrap(), b"good");
        wait_for(&servers, &[ServerState::Up; 2]).await;
    });
}

#[test]
fn a_request_that_must_not_be_repeated_is_not_copied() {
    run(async {
        let post = vec![Step::Read, Step::ReadBody(2), reply("done")];
        let live = ScriptedOrigin::start(vec![post.clone(), post]).await;
        let (settings, socket) = recovering(Nanos::ZERO, live.address).await;
        let (origins, servers) = origins(settings);
        let mut post = request("POST");
        (post.has_body, post.content_length) = (true, Some(2));
        assert!(origins.send(&post, pieces(&["hi"], None)).await.is_ok());
        assert_eq!(conditions(&servers)[0], ServerState::Down);
        let listener = socket.listen(8).unwrap();
        assert!(origins.send(&post, pieces(&["hi"], None)).await.is_ok());
        let (mut tried, _) = listener.accept().await.unwrap();
        let received = std::sync::Arc::default();
        play(&mut tried, vec![Step::ReadEnd], std::sync::Arc::clone(&received)).await;
        assert_eq!(*received.lock().unwrap(), [""], "a connection, and no request");
        wait_for(&servers, &[ServerState::Up; 2]).await;
    });
}

/// The one that is up goes away, the one that was down has come back, and no trial is due.
#[test]
fn a_server_that_is_down_is_tried_before_a_request_fails() {
    run(async {
        let live = ScriptedOrigin::start(vec![vec![Step::Read, reply("b")]]).await;
        let (settings, socket) = recovering(LONG, live.address).await;
        let (origins, servers) = origins(settings);
        assert_eq!(get_text(&origins).await, "b");
        assert_eq!(conditions(&servers)[0], ServerState::Down);
        tokio::spawn(serve(socket.listen(8).unwrap()));
        assert_eq!(get_page(&origins, "/again").await.unwrap(), b"good");
        assert_eq!(conditions(&servers), [ServerState::Up; 2]);
    });
}
