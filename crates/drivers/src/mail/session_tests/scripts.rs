//! Whole scripts of users: every operation succeeds with any server, and every message reaches its recipients as it was sent.

use std::collections::BTreeMap;

use mail::{MailLoad, MailPacing, MailScript, MailStep, Mailbox, MessageVerifier};
use model::mail_measure;

use super::server::{ALL_CAPABILITIES, Act, Deviation, Protocol, ServerSettings};
use super::*;

/// The loops of each user: a memo, an invitation and a response are among them.
const N_LOOPS: u32 = 6;

/// Has users go through a script, one operation of each after another. Returns the ledger and the commands that came.
fn go_through(script: MailScript, settings: ServerSettings) -> (SharedLedger, BTreeMap<String, u32>) {
    let server = TestServer::start(settings);
    let options = options();
    let ledger = options.deliveries.clone().unwrap();
    let context = context(&server, options);
    let load = MailLoad { script, pacing: MailPacing::default(), seed: SEED, epoch: EPOCH, n_users: N_USERS };
    let mut users: Vec<_> = (0..N_USERS)
        .map(|number| (load.user(number), None, MailDriver::new(Rc::clone(&context), number)))
        .collect();
    run(async {
        for (_, _, driver) in &mut users {
            driver.open().await.unwrap();
        }
        while users.iter().any(|(user, ..)| user.n_loops() < N_LOOPS) {
            for (user, last, driver) in &mut users {
                let MailStep::Perform(operation) = user.next(last.take()) else { continue };
                let reply = driver.perform(&operation, context.clock.now()).await;
                let described = driver.describe(&operation, &reply);
                assert_eq!(reply.outcome, Outcome::Ok, "{script:?}: {described}");
                assert!(reply.sent <= reply.done);
                *last = Some(MailAnswer::from_u64(reply.answer));
            }
        }
    });
    let mut commands = BTreeMap::new();
    for name in server.take_commands() {
        *commands.entry(name).or_default() += 1;
    }
    look_through(&server, &ledger);
    (ledger, commands)
}

/// Shows the ledger all that was delivered, as it arrived.
fn look_through(server: &TestServer, ledger: &SharedLedger) {
    let messages = messages();
    let mut store = server.store();
    for user in 0..N_USERS {
        let name = messages.directory.user_name(user).to_string();
        for message in &store.mailbox(&name, Mailbox::Inbox.name()).unwrap().messages {
            let mut verifier = MessageVerifier::new(MessageDepth::Full);
            verifier.feed(&message.text, &messages);
            let found = verifier.finish();
            assert_eq!(found.fault, None);
            let place = mail::MessagePlace { validity: store::VALIDITY, number: message.uid };
            super::super::deliveries::see(ledger, found.identity.unwrap(), user, place);
        }
    }
}

/// Goal: no user needs an extension, and none makes the contents of mailboxes others.
#[test]
fn every_script_is_performed_with_and_without_extensions() {
    let scripts = [
        MailScript::Mail,
        MailScript::MailDb,
        MailScript::SharedDb,
        MailScript::Imap,
        MailScript::Web,
        MailScript::Idle,
        MailScript::MailR6,
        MailScript::Mail8,
        MailScript::SmtpPop,
    ];
    for script in scripts {
        for capabilities in [ALL_CAPABILITIES, "IMAP4rev1"] {
            let settings = ServerSettings { capabilities, ..ServerSettings::default() };
            let (ledger, commands) = go_through(script, settings);
            let totals = ledger.lock().unwrap().totals();
            assert_eq!((totals.refused, totals.doubtful, totals.in_submission), (0, 0, 0), "{totals:?}");
            assert_eq!((totals.awaited, totals.delivered_twice), (0, 0), "{script:?}: {totals:?}");
            assert_eq!(totals.delivered, totals.submitted);
            let sends = !matches!(script, MailScript::SharedDb | MailScript::Idle);
            assert_eq!(0 < totals.submitted, sends, "{script:?}: {totals:?}");
            let asked = commands.get("CAPABILITY").copied().unwrap_or(0);
            // Before and after log-on; those whose sessions are opened at one time may ask, too.
            assert_eq!(asked, 2, "{commands:?}");
            let has_all = capabilities == ALL_CAPABILITIES;
            assert_eq!(commands.contains_key("LOGIN"), !has_all);
            if script == MailScript::Mail8 {
                assert_eq!(commands.contains_key("UID MOVE"), has_all);
            }
        }
    }
}

/// Servers say things that nobody asked for before any answer, also to commands that have no responses.
#[test]
fn unasked_replies_are_in_nobodys_way() {
    let unasked =
        "* OK [ALERT] tea\r\n* X-OWN (1 \"two\" {3}\r\na)b)\r\n* 1 FETCH (FLAGS (\\Seen) MODSEQ (7))\r\n";
    let deviation =
        Deviation { protocol: Protocol::Imap, command: "", act: Act::Prefix(unasked), times: usize::MAX };
    let settings = ServerSettings { deviation: Some(deviation), ..ServerSettings::default() };
    let (ledger, _) = go_through(MailScript::MailDb, settings);
    let totals = ledger.lock().unwrap().totals();
    assert!(0 < totals.submitted && totals.delivered == totals.submitted, "{totals:?}");
}

/// The commands of each action, by which its measure can be checked: SELECT, SEARCH, FETCH, FETCH, STORE, STORE and EXPUNGE,
/// MOVE, APPEND, then six of a submission to three recipients and an APPEND, and UNSELECT.
#[test]
fn an_action_takes_so_many_commands_and_bytes() {
    let server = TestServer::start(ServerSettings::default());
    let context = context(&server, options());
    let page = mail::EntryRange { first: 0, n: 20 };
    let memo = message(MessageKind::Memo, 1, 0);
    assert_eq!(messages().recipients(memo).as_slice().len(), 3);
    let actions = [
        (MailAction::Open(Mailbox::Inbox), 1, MailAnswer::Done),
        (MailAction::OpenView(Mailbox::Inbox), 1, MailAnswer::View(25)),
        // Those of the population are the entries 1, 5 and 9.
        (
            MailAction::ReadPage(Mailbox::Inbox, page),
            1,
            MailAnswer::Page { n: 20, invitations: 1 << 1 | 1 << 5 | 1 << 9 },
        ),
        (MailAction::Read(3), 1, MailAnswer::Done),
        (MailAction::Categorize(3), 1, MailAnswer::Done),
        (MailAction::Delete(3), 2, MailAnswer::Done),
        // The archive is not there before.
        (MailAction::Move(4, Mailbox::Archive), 3, MailAnswer::Done),
        (MailAction::Move(6, Mailbox::Archive), 1, MailAnswer::Done),
        (MailAction::Add(Mailbox::Inbox, message(MessageKind::Document, 1, 1)), 1, MailAnswer::Done),
        (MailAction::MakeAppointment(message(MessageKind::Appointment, 1, 2)), 3, MailAnswer::Done),
        // EHLO, AUTH, MAIL, three RCPT, DATA; a copy in a mailbox that is made.
        (MailAction::Send(memo), 10, MailAnswer::Done),
        // As before with one recipient, without the copy; the invitation is read before and flagged behind.
        (
            MailAction::Respond(mail::InvitationChoice::Entry(5), MessageNumber { user: 1, number: 3 }),
            7,
            MailAnswer::Done,
        ),
        (MailAction::Answer(7, MessageNumber { user: 1, number: 4 }), 6, MailAnswer::Done),
        (MailAction::ListMailboxes, 1, MailAnswer::Done),
        (MailAction::Check, 1, MailAnswer::Done),
        (MailAction::Close(Mailbox::Inbox), 1, MailAnswer::Done),
        (MailAction::Check, 1, MailAnswer::Done),
    ];
    run(async {
        let mut driver = MailDriver::new(Rc::clone(&context), 1);
        driver.open().await.unwrap();
        for (action, n_exchanges, answer) in actions {
            let reply = perform(&mut driver, action).await;
            assert_eq!(summary(&reply), (Outcome::Ok, None, answer), "{action:?}");
            assert_eq!(reply.measured.get(mail_measure::EXCHANGES), Some(n_exchanges), "{action:?}");
        }
        let read = perform(&mut driver, MailAction::ReadPage(Mailbox::Inbox, page)).await;
        // The invitation that was answered is none any more, and two documents before it are gone.
        let answer = MailAnswer::from_u64(read.answer);
        assert!(matches!(answer, MailAnswer::Page { n: 20, .. }), "{answer:?}");
        // SELECT, NOOP and FETCH.
        assert_eq!(read.measured.get(mail_measure::EXCHANGES), Some(3));
        let read = perform(&mut driver, MailAction::Read(0)).await;
        let bytes = messages().message(message(MessageKind::Document, 1, 1)).bytes();
        let received = read.measured.get(mail_measure::RECEIVED_BYTES).unwrap();
        assert!((bytes..bytes + 1000).contains(&received), "{received} bytes for {bytes}");
    });
    let mut store = server.store();
    let archive = store.mailbox("mail2", "Archive").unwrap().messages.len();
    let sent = store.mailbox("mail2", "Sent").unwrap().messages.clone();
    assert_eq!((archive, sent.len()), (2, 1));
    assert!(sent[0].flags.contains("\\Seen"));
    assert_eq!(store.n_delivered, 5);
}

/// A user who drains its mailbox has a session of its own for that, and leaves what came meanwhile.
#[test]
fn a_mailbox_is_drained_to_the_last_message() {
    let server = TestServer::start(ServerSettings::default());
    let context = context(&server, options());
    run(async {
        let mut driver = MailDriver::new(Rc::clone(&context), 0);
        let reply = perform(&mut driver, MailAction::Drain).await;
        assert_eq!(summary(&reply), (Outcome::Ok, None, MailAnswer::Done));
        let again = perform(&mut driver, MailAction::Drain).await;
        assert_eq!(summary(&again), (Outcome::Ok, None, MailAnswer::Done));
        assert!(again.measured.get(mail_measure::EXCHANGES) < reply.measured.get(mail_measure::EXCHANGES));
    });
    assert!(server.store().mailbox("mail1", "INBOX").unwrap().messages.is_empty());
    assert!(server.take_commands().iter().any(|name| name == "LOGOUT"));
}

/// Messages before load come by LMTP, those of the shared mailbox by IMAP.
#[test]
fn mailboxes_are_filled_with_their_messages_in_order() {
    let server = TestServer::start(ServerSettings::default());
    let context = context(&server, options());
    let mut filler = crate::mail::MailboxFiller::new(Rc::clone(&context));
    run(async {
        for message in population().mailbox(2).chain(population().shared_mailbox().take(3)) {
            filler.fill(&message).await.unwrap();
        }
    });
    let commands = server.take_commands();
    let n = |wanted: &str| commands.iter().filter(|name| *name == wanted).count();
    assert_eq!((n("LHLO"), n("DATA"), n("AUTHENTICATE"), n("APPEND")), (1, 25, 1, 3));
    let mut store = server.store();
    assert_eq!(store.n_delivered, 25);
    assert_eq!(store.mailbox("", "Discussion").unwrap().messages.len(), 63);
    let messages = messages();
    let found = store.mailbox("mail3", "INBOX").unwrap().messages[25..].iter().map(|message| {
        let mut verifier = MessageVerifier::new(MessageDepth::Full);
        verifier.feed(&message.text, &messages);
        let found = verifier.finish();
        assert_eq!(found.fault, None);
        found.identity.unwrap()
    });
    let expected = population().mailbox(2).map(|one| one.identity).collect::<Vec<_>>();
    assert_eq!(found.collect::<Vec<_>>(), expected);
}
