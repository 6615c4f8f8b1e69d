//! Users with a mail server in the test, over sockets.
//!
//! - `server`: the server, which does what a test says in place of the usual
//! - `store`: its mailboxes
//! - `scripts`: whole scripts of users, with every message followed to its recipient
//! - `opening`: encryption, log-on, and the capabilities of servers
//! - `submission`: recipients that are refused, and servers that fail in between
//! - `hostile`: a table of servers that break the protocol, and what becomes of an operation

mod hostile;
mod opening;
mod scripts;
mod server;
mod store;
mod submission;

use std::rc::Rc;
use std::sync::{Arc, Mutex};

use engine::Driver;
use mail::{
    CountedItem, DeliveryLedger, MailAction, MailAnswer, MailDate, MailDirectory, MailMessages,
    MailOperation, MailPopulation, MailSizes, MessageDepth, MessageIdentity, MessageKind, MessageNumber,
};
use model::{Outcome, Reply};
use tokio::runtime::Builder;
use units::{Clock, Nanos, RealClock};

use self::server::TestServer;
use super::{
    Acknowledgment, MailAccounts, MailClientOptions, MailContext, MailDriver, MailEncryption, MailEndpoint,
    MailLogin, MailPassword, MailTarget, MailboxNames, SharedLedger, code_name,
};
use crate::net::Trust;

const SEED: u64 = 7;
const N_USERS: u32 = 6;
const EPOCH: u32 = 1;
const PASSWORD: &str = "secret of all";

/// The messages of each mailbox before load, of which the first page has three invitations.
fn population() -> MailPopulation {
    MailPopulation::new(N_USERS, 25, 60).unwrap()
}

fn messages() -> MailMessages {
    let directory = MailDirectory::numbered("mail", N_USERS, "bench.test").unwrap();
    let mut messages = MailMessages::new(SEED, directory, MailDate::from_unix_seconds(1_796_005_800));
    messages.sizes = MailSizes::all(300);
    messages
}

fn options() -> MailClientOptions {
    let ledger = DeliveryLedger::new(Nanos::from_secs(60));
    MailClientOptions {
        messages: Arc::new(messages()),
        epoch: EPOCH,
        depth: MessageDepth::Full,
        accounts: MailAccounts::with_password(MailLogin::Name, MailPassword::new(PASSWORD)),
        names: MailboxNames::default(),
        acknowledgment: Acknowledgment::AtOnce,
        deliveries: Some(Arc::new(Mutex::new(ledger))),
    }
}

fn target(server: &TestServer, encryption: MailEncryption, trust: Trust) -> MailTarget {
    let place = |address| MailEndpoint { address, encryption };
    MailTarget {
        host: "localhost".to_owned(),
        mailboxes: place(server.imap),
        submission: place(server.smtp),
        delivery: Some(place(server.lmtp)),
        trust,
    }
}

/// Prepares users of a server without encryption.
fn context(server: &TestServer, options: MailClientOptions) -> Rc<MailContext> {
    let target = target(server, MailEncryption::None, Trust::Any);
    MailContext::new(&target, &[], options, RealClock::start()).unwrap()
}

/// Runs a test's asynchronous part.
fn run<T>(work: impl Future<Output = T>) -> T {
    Builder::new_current_thread().enable_all().build().unwrap().block_on(work)
}

/// Makes an operation of an action; the item matters to nobody here.
fn operation(action: MailAction) -> MailOperation {
    MailOperation { item: CountedItem::CheckMail, action }
}

/// Performs an action of a driver's user.
async fn perform(driver: &mut MailDriver, action: MailAction) -> Reply {
    driver.perform(&operation(action), RealClock::start().now()).await
}

/// The outcome of a reply, the name of its code, and its answer.
type ReplySummary = (Outcome, Option<&'static str>, MailAnswer);

fn summary(reply: &Reply) -> ReplySummary {
    let name = code_name(reply.code);
    assert!(name.is_some() || reply.code == 0, "the code {} has no name", reply.code);
    (reply.outcome, name, MailAnswer::from_u64(reply.answer))
}

/// Returns a new message of a user.
fn message(kind: MessageKind, user: u32, number: u32) -> MessageIdentity {
    MessageIdentity::new(EPOCH, kind, MessageNumber { user, number })
}
