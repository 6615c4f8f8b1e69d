//! Submissions: recipients that are refused, servers that fail in between, and what the ledger then says.

use mail::{DeliveryTotals, EntryRange, Mailbox};

use super::server::{Act, Protocol, ServerSettings};
use super::*;

/// Has a user send a memo to three recipients, with and without commands at once. Returns the summaries of both, and the ledger.
fn sent(settings: &ServerSettings) -> Vec<(ReplySummary, DeliveryTotals)> {
    let with_pipelining = ["IMAP4rev1 AUTH=PLAIN", "IMAP4rev1 AUTH=PLAIN PIPELINING"].map(|capabilities| {
        let server = TestServer::start(ServerSettings { capabilities, ..settings.clone() });
        let options = options();
        let ledger = options.deliveries.clone().unwrap();
        let context = context(&server, options);
        let reply = run(async {
            let mut driver = MailDriver::new(Rc::clone(&context), 0);
            driver.open().await.unwrap();
            let reply = perform(&mut driver, MailAction::Send(message(MessageKind::Memo, 0, 0))).await;
            // The mailboxes are open all the same.
            let check = perform(&mut driver, MailAction::Check).await;
            assert_eq!(check.measured.get(model::mail_measure::EXCHANGES), Some(1));
            reply
        });
        let totals = ledger.lock().unwrap().totals();
        assert!(totals.sides().into_iter().all(|[one, other]| one == other), "{totals:?}");
        (summary(&reply), totals)
    });
    with_pipelining.into()
}

/// Returns the recipients of the memo, as they are named.
fn recipients() -> Vec<String> {
    let messages = messages();
    let recipients = messages.recipients(message(MessageKind::Memo, 0, 0));
    recipients.as_slice().iter().map(|one| format!("TO:<{}>", messages.directory.address(*one))).collect()
}

/// Each row: what the server does, the outcome with its code, and the copies that were accepted, refused, and are in doubt.
#[test]
fn each_copy_has_the_answer_that_its_recipient_got() {
    let smtp = |command, act| ServerSettings::once(Protocol::Smtp, command, act);
    let first: &'static str = recipients().swap_remove(0).leak();
    let rows: &[(ServerSettings, Outcome, Option<&'static str>, [u64; 3])] = &[
        (ServerSettings::default(), Outcome::Ok, None, [3, 0, 0]),
        (smtp(first, Act::Say("550 5.1.1 nobody\r\n")), Outcome::Gone, Some("SMTP_550"), [2, 1, 0]),
        (smtp(first, Act::Say("452 4.2.2 full\r\n")), Outcome::Full, Some("SMTP_452"), [2, 1, 0]),
        (smtp(first, Act::End("421 4.3.2 closing\r\n")), Outcome::Busy, Some("SMTP_421"), [0, 3, 0]),
        (smtp("MAIL", Act::Say("451 4.3.0 later\r\n")), Outcome::WrongStatus, Some("SMTP_451"), [0, 3, 0]),
        (smtp("MAIL", Act::Say("552 5.3.4 too long\r\n")), Outcome::Denied, Some("SMTP_552"), [0, 3, 0]),
        (smtp("DATA", Act::Say("454 4.3.0 later\r\n")), Outcome::Busy, Some("SMTP_454"), [0, 3, 0]),
        (smtp("DATA", Act::End("")), Outcome::SessionLost, None, [0, 3, 0]),
        (smtp("END", Act::Say("554 5.6.0 no\r\n")), Outcome::Denied, Some("SMTP_554"), [0, 3, 0]),
        (smtp("END", Act::Say("452 4.3.1 disk full\r\n")), Outcome::Full, Some("SMTP_452"), [0, 3, 0]),
        // Nobody can say what became of the message.
        (smtp("END", Act::End("")), Outcome::SessionLost, None, [0, 0, 3]),
        (smtp("END", Act::End("250 2.0")), Outcome::Truncated, None, [0, 0, 3]),
        (smtp("GREETING", Act::End("421 4.3.2 too many\r\n")), Outcome::Busy, Some("SMTP_421"), [0, 0, 0]),
        (smtp("GREETING", Act::End("554 5.7.1 no\r\n")), Outcome::Denied, Some("SMTP_554"), [0, 0, 0]),
        (smtp("AUTH", Act::Say("535 5.7.8 wrong\r\n")), Outcome::Denied, Some("SMTP_535"), [0, 0, 0]),
    ];
    for (settings, outcome, code, copies) in rows {
        for (found, totals) in sent(settings) {
            let name = settings.deviation;
            let answer = if *outcome == Outcome::Ok { MailAnswer::Done } else { MailAnswer::Failed };
            assert_eq!(found, (*outcome, *code, answer), "{name:?}");
            assert_eq!([totals.accepted, totals.refused, totals.doubtful], *copies, "{name:?}");
        }
    }
}

/// A server that puts every message off is asked for the next one all the same: each is a failure with its code.
#[test]
fn a_storm_of_temporary_failures_is_counted_one_by_one() {
    let mut settings = ServerSettings::once(Protocol::Smtp, "MAIL", Act::Say("450 4.7.1 later\r\n"));
    settings.deviation = settings.deviation.map(|deviation| server::Deviation { times: 20, ..deviation });
    let server = TestServer::start(settings);
    let context = context(&server, options());
    run(async {
        let mut driver = MailDriver::new(Rc::clone(&context), 0);
        driver.open().await.unwrap();
        for number in 0..20 {
            let note = MailAction::Send(message(MessageKind::Note, 0, number));
            let reply = perform(&mut driver, note).await;
            assert_eq!(summary(&reply), (Outcome::Busy, Some("SMTP_450"), MailAnswer::Failed));
        }
        let note = MailAction::Send(message(MessageKind::Note, 0, 20));
        assert_eq!(summary(&perform(&mut driver, note).await), (Outcome::Ok, None, MailAnswer::Done));
    });
}

/// Over LMTP each recipient has its own answer, and the session goes on.
#[test]
fn a_user_without_a_mailbox_is_named_and_the_next_message_is_delivered() {
    let server = TestServer::start(ServerSettings { refused: &["mail1"], ..ServerSettings::default() });
    let context = context(&server, options());
    let mut filler = crate::mail::MailboxFiller::new(Rc::clone(&context));
    let [refused, taken] = [0, 1].map(|user| population().mailbox(user).next().unwrap());
    run(async {
        let error = filler.fill(&refused).await.unwrap_err();
        assert_eq!(
            error.to_string(),
            "the mailbox of user 0 cannot be filled: the server replied 550: 5.1.1 nobody"
        );
        filler.fill(&taken).await.unwrap();
    });
    assert_eq!(server.store().n_delivered, 1);
}

/// Goal: what a server takes and does not deliver is lost, and what it delivers twice is found where its recipient looks.
#[test]
fn what_was_lost_and_what_came_twice_are_in_the_ledger() {
    let lose = Act::Say("250 2.0.0 taken\r\n");
    let server = TestServer::start(ServerSettings::once(Protocol::Smtp, "END", lose));
    let options = options();
    let ledger = options.deliveries.clone().unwrap();
    let context = context(&server, options);
    // The second of two notes, for one recipient each, is delivered, and the server puts another copy beside it.
    let notes = [0, 1].map(|number| message(MessageKind::Note, 0, number));
    let messages = messages();
    let mail::Recipient::User(recipient) = messages.recipients(notes[1]).as_slice()[0] else { panic!() };
    let name = messages.directory.user_name(recipient).to_string();
    run(async {
        let mut driver = MailDriver::new(Rc::clone(&context), 0);
        for note in notes {
            assert_eq!(perform(&mut driver, MailAction::Send(note)).await.outcome, Outcome::Ok);
        }
        let double = |store: &mut store::MailStore| {
            let copy = store.mailbox(&name, "INBOX").unwrap().messages.last().unwrap().text.clone();
            store.deliver(&name, &copy);
        };
        double(&mut server.store());
        let mut driver = MailDriver::new(Rc::clone(&context), recipient);
        let page = MailAction::ReadPage(Mailbox::Inbox, EntryRange { first: 0, n: 20 });
        assert_eq!(perform(&mut driver, page).await.outcome, Outcome::Ok);
    });
    let mut ledger = ledger.lock().unwrap();
    assert_eq!(ledger.next_lost(Nanos::MAX).map(|lost| lost.delivery.message), Some(notes[0].message));
    let totals = ledger.totals();
    assert_eq!((totals.submitted, totals.delivered, totals.lost, totals.delivered_twice), (2, 1, 1, 1));
}
