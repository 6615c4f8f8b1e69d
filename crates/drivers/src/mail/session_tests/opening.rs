//! The opening of sessions: encryption, log-on, and what servers offer.

use mail::Mailbox;

use super::server::{Act, Identity, Protocol, ServerSettings};
use super::*;

/// Opens a session and submits a message, both with encryption and log-on. Returns the description of the failure; empty if
/// there is none.
fn failure(server: &TestServer, encryption: MailEncryption, trust: Trust, password: &str) -> String {
    let accounts = MailAccounts::with_password(MailLogin::Name, MailPassword::new(password));
    let target = target(server, encryption, trust);
    let options = MailClientOptions { accounts, ..options() };
    let context = MailContext::new(&target, &[], options, RealClock::start()).unwrap();
    run(async {
        let mut driver = MailDriver::new(Rc::clone(&context), 0);
        if let Err(error) = driver.open().await {
            return error.to_string();
        }
        let send = MailAction::Send(message(MessageKind::Note, 0, 0));
        let reply = perform(&mut driver, send).await;
        if reply.outcome == Outcome::Ok { String::new() } else { driver.describe(&operation(send), &reply) }
    })
}

#[test]
fn sessions_are_encrypted_from_the_first_byte_or_from_the_agreement_on() {
    let identity = Identity::create();
    for (settings, encryption) in [
        (ServerSettings::with_implicit_tls(&identity), MailEncryption::Implicit),
        (ServerSettings::with_start_tls(&identity), MailEncryption::StartTls),
    ] {
        let server = TestServer::start(settings);
        assert_eq!(failure(&server, encryption, identity.trust.clone(), PASSWORD), "");
        assert_eq!(server.store().n_delivered, 1, "{encryption:?}");
        let starts = server.take_commands().iter().filter(|name| *name == "STARTTLS").count();
        let expected = if encryption == MailEncryption::StartTls { 2 } else { 0 };
        assert_eq!(starts, expected, "of mailboxes and of the submission");
        let another = Identity::create().authority;
        let error = failure(&server, encryption, another, PASSWORD);
        assert!(error.contains("its certificate is not accepted"), "{error}");
    }
}

/// Each row: what a server does, over which the client wants which encryption, and what it then says.
#[test]
fn sessions_that_cannot_be_opened_say_why() {
    let identity = Identity::create();
    let plain = ServerSettings::default;
    let starting = || ServerSettings::with_start_tls(&identity);
    let deviating = |protocol, command, act| ServerSettings {
        start_tls: starting().start_tls,
        ..ServerSettings::once(protocol, command, act)
    };
    let injected = Act::End("$TAG OK begin\r\n* OK [CAPABILITY IMAP4rev1 AUTH=PLAIN] hello\r\n");
    let no_mechanism = "the server offers no way to log on that Plimsoll has";
    let rows = [
        (plain(), MailEncryption::StartTls, "the server does not offer STARTTLS"),
        (starting(), MailEncryption::None, no_mechanism),
        (
            deviating(Protocol::Imap, "STARTTLS", injected),
            MailEncryption::StartTls,
            "46 unencrypted bytes follow the reply to STARTTLS, where the handshake must begin",
        ),
        (
            deviating(Protocol::Smtp, "STARTTLS", Act::End("220 begin\r\n250 hello\r\n")),
            MailEncryption::StartTls,
            "11 unencrypted bytes follow the reply to STARTTLS, where the handshake must begin",
        ),
        (
            deviating(Protocol::Imap, "STARTTLS", Act::Say("$TAG NO [UNAVAILABLE] not today\r\n")),
            MailEncryption::StartTls,
            "the server answered NO [UNAVAILABLE]: not today",
        ),
        (
            deviating(Protocol::Smtp, "STARTTLS", Act::Say("454 4.7.0 not today\r\n")),
            MailEncryption::StartTls,
            "the server replied 454: 4.7.0 not today",
        ),
        (
            ServerSettings::once(Protocol::Imap, "GREETING", Act::End("* BYE too many\r\n")),
            MailEncryption::None,
            "the server ended the session: too many",
        ),
        (
            ServerSettings::once(Protocol::Imap, "GREETING", Act::End("* PREAUTH as somebody\r\n")),
            MailEncryption::None,
            "the server sent a reply that cannot come here",
        ),
        (
            ServerSettings::once(Protocol::Imap, "CAPABILITY", Act::Say("$TAG OK\r\n")),
            MailEncryption::None,
            "the reply lacks what was asked for",
        ),
        (
            ServerSettings::once(Protocol::Imap, "AUTHENTICATE", Act::Say("$TAG BAD what\r\n")),
            MailEncryption::None,
            "the server answered BAD: what",
        ),
        (
            ServerSettings::once(
                Protocol::Imap,
                "CAPABILITY",
                Act::Say("* CAPABILITY IMAP4rev1 LOGINDISABLED\r\n$TAG OK\r\n"),
            ),
            MailEncryption::None,
            no_mechanism,
        ),
        (
            ServerSettings::once(Protocol::Smtp, "EHLO", Act::Say("250-mail\r\n250 SIZE 10\r\n")),
            MailEncryption::None,
            no_mechanism,
        ),
    ];
    for (settings, encryption, expected) in rows {
        let deviation = settings.deviation;
        let server = TestServer::start(settings);
        let error = failure(&server, encryption, identity.trust.clone(), PASSWORD);
        assert!(error.contains(expected), "{deviation:?} {encryption:?}: {error}");
    }
}

/// A wrong password is named, without the password and without the name of its user.
#[test]
fn a_user_who_is_not_let_in_is_told_without_name_and_password() {
    for capabilities in ["IMAP4rev1", "IMAP4rev1 AUTH=PLAIN", "IMAP4rev1 AUTH=PLAIN SASL-IR"] {
        let server = TestServer::start(ServerSettings { capabilities, ..ServerSettings::default() });
        let error = failure(&server, MailEncryption::None, Trust::Any, "not it");
        let expected = "the session could not be opened: the server answered NO [AUTHENTICATIONFAILED]: ";
        assert!(error.starts_with(expected), "{capabilities}: {error}");
        assert!(!error.contains("not it") && !error.contains("mail1"), "{error}");
        assert_eq!(failure(&server, MailEncryption::None, Trust::Any, PASSWORD), "");
    }
}

/// A session that was lost is opened by the next operation, which finds its mailbox again.
#[test]
fn a_lost_session_is_opened_again() {
    let act = Act::End("* BYE shutting down\r\n");
    let server = TestServer::start(ServerSettings::once(Protocol::Imap, "UID SEARCH", act));
    let context = context(&server, options());
    run(async {
        let mut driver = MailDriver::new(Rc::clone(&context), 0);
        driver.open().await.unwrap();
        let view = MailAction::OpenView(Mailbox::Inbox);
        let lost = perform(&mut driver, view).await;
        assert_eq!(summary(&lost), (Outcome::SessionLost, Some("MAIL_BYE"), MailAnswer::SessionLost));
        let text = driver.describe(&operation(view), &lost);
        assert!(text.starts_with("user 0: ") && text.ends_with("ended the session: shutting down"), "{text}");
        let found = perform(&mut driver, view).await;
        assert_eq!(summary(&found), (Outcome::Ok, None, MailAnswer::View(25)));
    });
}

/// Goal: an operation that is given up leaves a connection on which nothing of it is completed.
#[test]
fn an_append_that_is_given_up_appends_nothing() {
    let capabilities = "IMAP4rev1";
    let deviation = ServerSettings::once(Protocol::Imap, "AWAIT", Act::Nothing).deviation;
    let server = TestServer::start(ServerSettings { capabilities, deviation, ..ServerSettings::default() });
    let context = context(&server, options());
    run(async {
        let mut driver = MailDriver::new(Rc::clone(&context), 0);
        driver.open().await.unwrap();
        let add = MailAction::Add(Mailbox::Inbox, message(MessageKind::Document, 0, 0));
        let limit = std::time::Duration::from_millis(100);
        assert!(tokio::time::timeout(limit, perform(&mut driver, add)).await.is_err());
        driver.give_up();
        assert_eq!(summary(&perform(&mut driver, add).await), (Outcome::Ok, None, MailAnswer::Done));
        let commands = server.take_commands();
        let has_farewell = commands.iter().any(|name| name == "LOGOUT");
        assert!(!has_farewell, "it would be a part of the message: {commands:?}");
    });
    assert_eq!(server.store().mailbox("mail1", "INBOX").unwrap().messages.len(), 26);
}

/// Goal: a server that sends answers in parts, and each when the one before was acknowledged, does not wait for the system's delayed
/// acknowledgments (40 ms) unless the setting says so. Medians, because the machine may be busy.
#[test]
fn parts_of_an_answer_are_acknowledged_as_the_setting_says() {
    let server = TestServer::start(ServerSettings { in_parts: true, ..ServerSettings::default() });
    let median = |acknowledgment| {
        let context = context(&server, MailClientOptions { acknowledgment, ..options() });
        let clock = context.clock;
        let mut times = run(async {
            let mut driver = MailDriver::new(Rc::clone(&context), 0);
            driver.open().await.unwrap();
            let mut times = Vec::new();
            // The first are acknowledged at once, whatever is wanted.
            for _ in 0..45 {
                let begun = clock.now();
                assert_eq!(perform(&mut driver, MailAction::ListMailboxes).await.outcome, Outcome::Ok);
                times.push(clock.now() - begun);
            }
            times.split_off(24)
        });
        times.sort_unstable();
        times[times.len() / 2]
    };
    let at_once = median(Acknowledgment::AtOnce);
    let as_system = median(Acknowledgment::AsSystem);
    assert!(at_once < Nanos::from_millis(20), "{at_once}");
    assert!(Nanos::from_millis(30) < as_system, "{as_system}");
}

/// Goal: 100,000 users who are logged on and idle fit into memory: what each has beside the buffers of its socket is small.
#[test]
fn an_idle_user_is_small() {
    assert!(size_of::<super::super::actions::UserSession>() <= 640);
    assert!(size_of::<MailDriver>() <= 32);
}
