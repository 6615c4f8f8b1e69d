//! Mail users of the built-in mail server: what they send arrives, and each of its faults has its outcome.

use std::rc::Rc;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use drivers::Trust;
use drivers::mail::{
    Acknowledgment, MailAccounts, MailClientOptions, MailContext, MailDriver, MailEncryption, MailEndpoint,
    MailLogin, MailPassword, MailTarget, MailboxFiller, MailboxNames,
};
use engine::Driver;
use mail::{
    CountedItem, DeliveryLedger, EntryDraw, EntryRange, MailAction, MailAnswer, MailDate, MailDirectory,
    MailLoad, MailMessages, MailOperation, MailPacing, MailPopulation, MailScript, MailSizes, MailStep,
    Mailbox, MessageDepth, MessageIdentity, MessageKind, MessageNumber,
};
use model::Outcome;
use servers::mail::{FAULTS, MailFaultPlan, MailServer, MailServerOptions};
use tokio::runtime::Builder;
use tokio::time::{sleep, timeout};
use units::{Clock, Nanos, RealClock};

const SEED: u64 = 11;
const N_USERS: u32 = 3;

/// The loops of each user.
const N_LOOPS: u32 = 4;

/// Time limit for the delivery of everything.
const DELIVERY_MAX: Duration = Duration::from_secs(20);

/// Time limit of an operation at a server with a fault.
const FAULT_MAX: Duration = Duration::from_millis(400);

/// The faults that concern what is sent; the others concern what is read.
const OF_SENDING: [&str; 9] = [
    "refused-recipient",
    "full",
    "deferred",
    "closing",
    "lost-reply",
    "lost",
    "duplicate",
    "late",
    "altered",
];

fn messages() -> MailMessages {
    let directory = MailDirectory::numbered("user", N_USERS, "plimsoll.test").unwrap();
    let mut messages = MailMessages::new(SEED, directory, MailDate::from_unix_seconds(1_796_005_800));
    messages.sizes = MailSizes::all(2_000);
    messages
}

fn client(epoch: u32) -> MailClientOptions {
    MailClientOptions {
        messages: Arc::new(messages()),
        epoch,
        depth: MessageDepth::Full,
        accounts: MailAccounts::with_password(MailLogin::Address, MailPassword::new("pass")),
        names: MailboxNames::default(),
        acknowledgment: Acknowledgment::AtOnce,
        deliveries: Some(Arc::new(Mutex::new(DeliveryLedger::new(Nanos::from_secs(60))))),
    }
}

/// A server that knows the messages of the run.
fn options() -> MailServerOptions {
    MailServerOptions { messages: Some(messages()), ..MailServerOptions::new(N_USERS, "pass".to_owned()) }
}

fn target(server: &MailServer) -> MailTarget {
    let place = |address| MailEndpoint { address, encryption: MailEncryption::None };
    let addresses = server.addresses();
    MailTarget {
        host: "127.0.0.1".to_owned(),
        mailboxes: place(addresses.imap),
        submission: place(addresses.submission),
        delivery: Some(place(addresses.lmtp)),
        trust: Trust::Any,
    }
}

fn in_runtime<T>(future: impl Future<Output = T>) -> T {
    Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

/// Goal: every script is performed without a failure, and every message arrives once, in mailboxes with so little room that
/// the server must keep messages of the run by their identities.
#[test]
fn what_users_of_the_built_in_server_send_arrives() {
    let server = MailServer::start(MailServerOptions { account_bytes_max: 40_000, ..options() }).unwrap();
    let target = target(&server);
    in_runtime(async {
        let scripts =
            [(MailScript::Mail, Some(0)), (MailScript::Mail8, None), (MailScript::MailDb, Some(60))];
        for ((script, n_shared), epoch) in scripts.into_iter().zip(1..) {
            perform(&target, script, n_shared, epoch).await;
        }
    });
}

/// Fills mailboxes unless they are to stay as they are, performs the loops of a script, and awaits what was sent.
async fn perform(target: &MailTarget, script: MailScript, n_shared: Option<u32>, epoch: u32) {
    let clock = RealClock::start();
    let options = client(epoch);
    let ledger = options.deliveries.clone().unwrap();
    let totals = || ledger.lock().unwrap().totals();
    let context = MailContext::new(target, &[], options, clock).unwrap();
    if let Some(n_shared) = n_shared {
        let population = MailPopulation::new(N_USERS, 25, n_shared).unwrap();
        let mut filler = MailboxFiller::new(Rc::clone(&context));
        let own = (0..N_USERS).flat_map(|user| population.mailbox(user));
        for message in own.chain(population.shared_mailbox()) {
            filler.fill(&message).await.unwrap_or_else(|error| panic!("{error}"));
        }
    }
    let mut drivers: Vec<MailDriver> =
        (0..N_USERS).map(|user| MailDriver::new(Rc::clone(&context), user)).collect();
    for driver in &mut drivers {
        driver.open().await.unwrap_or_else(|error| panic!("{error}"));
    }
    let load = MailLoad { script, pacing: MailPacing::default(), seed: SEED, epoch, n_users: N_USERS };
    let mut users: Vec<_> = (0..N_USERS).map(|number| (load.user(number), None)).collect();
    while users.iter().any(|(user, _)| user.n_loops() < N_LOOPS) {
        for ((user, last), driver) in users.iter_mut().zip(&mut drivers) {
            let MailStep::Perform(operation) = user.next(last.take()) else { continue };
            let reply = driver.perform(&operation, clock.now()).await;
            let described = driver.describe(&operation, &reply);
            assert_eq!(reply.outcome, Outcome::Ok, "{script:?}: {operation:?} {described}");
            *last = Some(MailAnswer::from_u64(reply.answer));
        }
    }
    let drain = MailOperation { item: CountedItem::CheckMail, action: MailAction::Drain };
    let all_arrive = async {
        while 0 < totals().awaited {
            for driver in &mut drivers {
                let reply = driver.perform(&drain, Nanos::ZERO).await;
                assert_eq!(reply.outcome, Outcome::Ok, "{}", driver.describe(&drain, &reply));
            }
            sleep(Duration::from_millis(20)).await;
        }
    };
    timeout(DELIVERY_MAX, all_arrive).await.unwrap();
    let totals = totals();
    assert!(0 < totals.submitted && totals.delivered == totals.submitted, "{script:?}: {totals:?}");
    assert_eq!((totals.refused, totals.doubtful, totals.delivered_twice), (0, 0, 0), "{totals:?}");
}

/// Goal: documents that others have put into the shared mailbox are not deleted. Method: all 60 are of a run with another seed.
#[test]
fn documents_of_others_stay() {
    let server = MailServer::start(MailServerOptions { messages: None, ..options() }).unwrap();
    let (target, clock) = (target(&server), RealClock::start());
    let mut of_others = messages();
    of_others.seed += 1;
    let of_others = MailClientOptions { messages: Arc::new(of_others), ..client(1) };
    in_runtime(async {
        let mut filler = MailboxFiller::new(MailContext::new(&target, &[], of_others, clock).unwrap());
        for message in MailPopulation::new(N_USERS, 25, 60).unwrap().shared_mailbox() {
            filler.fill(&message).await.unwrap();
        }
        let mut driver = MailDriver::new(MailContext::new(&target, &[], client(1), clock).unwrap(), 0);
        let view = MailAction::OpenView(Mailbox::Discussion);
        let actions =
            [MailAction::Open(Mailbox::Discussion), view, MailAction::DeleteOld(EntryDraw(7)), view];
        let mut replies = Vec::new();
        for action in actions {
            let operation = MailOperation { item: CountedItem::OpenShared, action };
            let reply = driver.perform(&operation, clock.now()).await;
            let answer = MailAnswer::from_u64(reply.answer);
            replies.push((reply.outcome, answer, driver.describe(&operation, &reply)));
        }
        let [_, (Outcome::Ok, before, _), (refused, _, why), (Outcome::Ok, after, _)] = &replies[..] else {
            panic!("{replies:?}")
        };
        assert_eq!((before, after), (&MailAnswer::View(60), &MailAnswer::View(60)));
        assert_ne!(*refused, Outcome::Ok);
        assert!(why.contains("none of the run's"), "{why}");
    });
}

/// Goal: driver and server agree about what each fault is.
#[test]
fn faults_of_the_built_in_server_have_the_outcomes_of_its_table() {
    let wrong: Vec<String> = FAULTS
        .iter()
        .filter_map(|fault| {
            let (found, text) = in_runtime(outcome(fault.name));
            let is_right = found == fault.outcome;
            (!is_right).then(|| format!("{}: {found:?}, not {:?} ({text})", fault.name, fault.outcome))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Returns the first outcome other than success of a user's operations at a server with a fault, and what it was.
async fn outcome(fault: &str) -> (Outcome, String) {
    let faults = MailFaultPlan::parse([fault]).unwrap();
    let server = MailServer::start(MailServerOptions { faults, ..options() }).unwrap();
    let context = MailContext::new(&target(&server), &[], client(1), RealClock::start()).unwrap();
    let mut filler = MailboxFiller::new(Rc::clone(&context));
    for message in MailPopulation::new(N_USERS, 25, 0).unwrap().mailbox(0) {
        // A fault may concern this, too.
        if !matches!(timeout(FAULT_MAX, filler.fill(&message)).await, Ok(Ok(()))) {
            break;
        }
    }
    let mut driver = MailDriver::new(Rc::clone(&context), 0);
    let note = MessageIdentity::new(1, MessageKind::Note, MessageNumber { user: 0, number: 0 });
    let reads = [
        MailAction::Open(Mailbox::Inbox),
        MailAction::OpenView(Mailbox::Inbox),
        MailAction::ReadPage(Mailbox::Inbox, EntryRange { first: 0, n: 20 }),
        MailAction::Read(3),
        MailAction::Close(Mailbox::Inbox),
        MailAction::Send(note),
        MailAction::Open(Mailbox::Inbox),
    ];
    let actions = if OF_SENDING.contains(&fault) { vec![MailAction::Send(note)] } else { reads.to_vec() };
    for action in actions {
        let operation = MailOperation { item: CountedItem::CheckMail, action };
        match timeout(FAULT_MAX, driver.perform(&operation, Nanos::ZERO)).await {
            Ok(reply) if reply.outcome == Outcome::Ok => {}
            Ok(reply) => {
                return (reply.outcome, format!("{operation:?}: {}", driver.describe(&operation, &reply)));
            }
            Err(_) => return (Outcome::TimedOut, format!("{operation:?}")),
        }
    }
    (Outcome::Ok, String::new())
}
