//! Sessions of clients who pause.

use futures::FutureExt;
use model::Outcome;

use super::server::{Act, GETATTR, LEASE_SECONDS, SEQUENCE, Serve, start};
use super::*;

/// Goal: the session of a client who pauses is kept alive, three times in each lease; whoever stops waiting, even in the middle
/// of a renewal, loses nothing of it.
#[test]
fn the_session_of_a_client_who_pauses_is_kept_alive() {
    // Replies come late enough that whoever sends has none yet. The second renewal is answered in fragments, so that it arrives
    // in pieces.
    let serve: Serve = |call, n| {
        std::thread::sleep(std::time::Duration::from_millis(50));
        (n == 2).then(|| Act::Record(call.reply().bytes(), 10))
    };
    let (address, server) = start(1, SEQUENCE, serve);
    let runtime = runtime();
    runtime.block_on(async {
        let mut driver = NfsDriver::new(context(address, Verify::Off, Durability::Flush), 3);
        driver.open().await.unwrap();
        assert!(driver.rest().now_or_never().is_none());
        let heard = driver.last_heard;
        for _ in 0..2 {
            let session = driver.session.as_mut().unwrap();
            let before = session.client.connection.n_exchanges;
            // It sends, and whoever waits gives up before the reply.
            assert!(session.client.renew(&driver.context.pool).now_or_never().is_none());
            assert!(session.client.connection.owes_reply());
            assert_eq!(session.client.connection.n_exchanges, before + 1);
            let replies = perform(&mut driver, &[FileAction::Open(HANDLE, path())]).await;
            assert_eq!(replies[0].0.outcome, Outcome::Ok, "{}", replies[0].1);
        }
        assert!(heard <= driver.last_heard);
    });
    server.join().unwrap();
}

/// Goal: a session that the server has forgotten meanwhile, without open files, is opened again in silence; with open files,
/// the operation that finds it says that they are lost.
#[test]
fn a_forgotten_session_is_opened_again() {
    let serve: Serve = |_, _| None;
    let (address, server) = start(2, GETATTR, serve);
    runtime().block_on(async {
        let mut driver = NfsDriver::new(context(address, Verify::Off, Durability::Flush), 3);
        driver.open().await.unwrap();
        let later = driver.last_heard + super::super::seconds(u64::from(LEASE_SECONDS) + 1);
        let before = driver.session.as_ref().unwrap().client.connection.n_exchanges;
        driver.drop_forgotten(driver.last_heard);
        assert!(driver.session.is_some() && 0 < before);
        driver.drop_forgotten(later);
        assert!(driver.session.is_none());
        let opened = perform(&mut driver, &[FileAction::Open(HANDLE, path())]).await;
        assert_eq!(opened[0].0.outcome, Outcome::Ok);
        driver.drop_forgotten(later + super::super::seconds(1_000));
        assert!(driver.session.is_some(), "its file would be lost");
    });
    server.join().unwrap();
}
