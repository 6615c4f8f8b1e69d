//! Drivers against servers that do what they like.
//!
//! - `server`: a server of version 4.1 that does what a test says
//! - `hostile`: what each wrong reply leads to
//! - `idle`: sessions of clients who pause
//! - `window`: several requests in flight
//! - `v3`: calls and replies of version 3, held against the crate `nfs3_types`

mod hostile;
mod idle;
mod server;
mod v3;
mod window;

use std::net::SocketAddr;
use std::rc::Rc;

use engine::Driver;
use files::{
    Baseline, Entry, FileAction, FileContent, FileOperation, FilePath, FileRange, Folder, Handle, Owner,
    Verify,
};
use model::Reply;
use tokio::runtime::{Builder, Runtime};
use units::{Clock, RealClock};

use super::{NfsContext, NfsDriver, NfsOwner, NfsTarget, NfsVersion};
use crate::file::{Durability, FileClientOptions};

const CONTENT_SEED: u64 = 5;

fn runtime() -> Runtime {
    Builder::new_current_thread().enable_all().build().unwrap()
}

fn target(address: SocketAddr) -> NfsTarget {
    let owner = NfsOwner { uid: 1000, gid: 100, machine: "here".to_owned() };
    NfsTarget { address, mount_port: None, path: "export".to_owned(), version: NfsVersion::V4_1, owner }
}

fn context(address: SocketAddr, verify: Verify, durability: Durability) -> Rc<NfsContext> {
    let clients = FileClientOptions {
        times_first_data: false,
        content: FileContent::new(CONTENT_SEED, 50),
        verify,
        baseline: Baseline::Populated,
        last_generation: 0,
        durability,
        loadfile: None,
    };
    NfsContext::new(target(address), &[], clients, RealClock::start()).unwrap()
}

fn path() -> FilePath {
    FilePath::new(Owner::Client(1), Folder::Bulk, Entry::File(0))
}

const HANDLE: Handle = Handle(0);
const RANGE: FileRange = FileRange { offset: 4096, length: 20_000 };

/// Performs actions one after another; returns the replies with their descriptions.
async fn perform(driver: &mut NfsDriver, actions: &[FileAction]) -> Vec<(Reply, String)> {
    let clock = RealClock::start();
    let mut replies = Vec::new();
    for action in actions {
        let operation = FileOperation::of(*action);
        let reply = driver.perform(&operation, clock.now()).await;
        replies.push((reply, driver.describe(&operation, &reply)));
    }
    replies
}
