//! Sessions of submission and LMTP, and delivery.

use servers::mail::{MailServer, MailServerOptions};

use super::client::{ImapClient, SmtpClient, options, start};

const MESSAGE: &[u8] = b"Subject: s\r\n\r\n..dots\r\n";

#[test]
fn a_message_is_submitted_and_delivered_at_once() {
    let server = start();
    let mut client = SmtpClient::connect(server.addresses().submission);
    let extensions =
        "250 plimsoll.invalid | PIPELINING | SIZE 33554432 | AUTH PLAIN | 8BITMIME | ENHANCEDSTATUSCODES";
    assert_eq!(client.perform("EHLO me"), extensions);
    client.check(&[
        ("MAIL FROM:<user1@plimsoll.test>", "530 5.7.0"),
        ("AUTH LOGIN", "504 5.5.4"),
        ("AUTH PLAIN AHVzZXIxAHdyb25n", "535 5.7.8"),
        ("AUTH PLAIN *", "501 5.5.2"),
        ("AUTH PLAIN", "334 "),
        ("AHVzZXIxAHNlY3JldCB3b3Jk", "235 2.7.0"),
        ("AUTH PLAIN AHVzZXIxAHNlY3JldCB3b3Jk", "503 5.5.1"),
        ("RCPT TO:<user2@plimsoll.test>", "503 5.5.1"),
        ("DATA", "503 5.5.1"),
        ("MAIL FROM:<user1@plimsoll.test> SIZE=22 BODY=8BITMIME", "250 2.1.0"),
        ("MAIL FROM:<user1@plimsoll.test>", "503 5.5.1"),
        ("DATA", "503 5.5.1"),
        ("RCPT TO:<user21@plimsoll.test>", "550 5.1.1"),
        ("RCPT TO:<user2@elsewhere.test>", "550 5.7.1"),
        ("RCPT TO:user2@plimsoll.test", "501 5.5.4"),
        ("RCPT TO:<user2@plimsoll.test> NOTIFY=NEVER", "555 5.5.4"),
        ("RCPT TO:<user2@plimsoll.test>", "250 2.1.5"),
        ("RCPT TO:<USER3@PLIMSOLL.TEST>", "250 2.1.5"),
        ("RCPT TO:<user2@plimsoll.test>", "250 2.1.5"),
        ("DATA", "354 "),
    ]);
    client.send(&[MESSAGE, b".\r\n"].concat());
    assert_eq!(client.reply(), "250 2.0.0 delivered");
    // Once to each, behind what the server says of its way.
    for number in [2, 3] {
        let mut reader = ImapClient::selected(&server, number, "INBOX");
        let reply = reader.perform("FETCH 1:* (BODY.PEEK[] RFC822.SIZE)");
        assert_eq!(reply.bodies.len(), 1);
        let text = String::from_utf8(reply.bodies[0].clone()).unwrap();
        let trace = "Return-Path: <user1@plimsoll.test>\r\nReceived: by plimsoll.invalid with ESMTPA; ";
        assert!(text.starts_with(trace) && text.ends_with("+0000\r\nSubject: s\r\n\r\n.dots\r\n"), "{text}");
        assert!(reply.lines[0].contains(&format!("RFC822.SIZE {}", text.len())));
    }
    client.check(&[("NOOP", "250"), ("VRFY user1", "252"), ("RSET", "250"), ("QUIT", "221")]);
    assert_eq!(client.reply(), "");
    server.stop().unwrap();
}

#[test]
fn commands_of_a_message_may_come_together() {
    let server = start();
    let mut client = SmtpClient::logged_on(&server);
    client.send(
        b"MAIL FROM:<>\r\nRCPT TO:<user2@plimsoll.test>\r\nDATA\r\nhello\r\n.\r\nRSET\r\nMAIL FROM:<a@b>\r\nNOOP\r\n",
    );
    let codes = [(); 7].map(|()| client.reply().split(' ').next().unwrap().to_owned());
    assert_eq!(codes, ["250", "250", "354", "250", "250", "250", "250"]);
    assert_eq!(ImapClient::user(&server, 2).n_messages("INBOX"), 1);
}

/// By LMTP each recipient has a reply, and room of its own.
#[test]
fn recipients_of_lmtp_have_replies_of_their_own() {
    let server = MailServer::start(MailServerOptions { account_bytes_max: 1_000, ..options() }).unwrap();
    let mut client = SmtpClient::connect(server.addresses().lmtp);
    client.check(&[("EHLO me", "500 5.5.1"), ("HELO me", "500 5.5.1"), ("MAIL FROM:<a@b>", "503 5.5.1")]);
    let extensions = "250 plimsoll.invalid | PIPELINING | SIZE 33554432 | 8BITMIME | ENHANCEDSTATUSCODES";
    assert_eq!(client.perform("LHLO me"), extensions);
    client.check(&[("AUTH PLAIN AHVzZXIxAHNlY3JldCB3b3Jk", "502")]);
    let large = [&b"x".repeat(500)[..], b"\r\n"].concat();
    assert_eq!(client.submit(&[2], &large), "250 2.0.0 delivered");
    assert_eq!(client.submit(&[1, 2, 2, 3], &large), "250 2.0.0 delivered");
    let full = "552 5.2.2 the mailbox is full";
    assert_eq!([(); 3].map(|()| client.reply()), [full, full, "250 2.0.0 delivered"]);
    let n_messages = [1, 2, 3].map(|number| ImapClient::user(&server, number).n_messages("INBOX"));
    assert_eq!(n_messages, [1, 1, 1]);
}

/// By submission all recipients have room, or nobody gets the message.
#[test]
fn a_full_mailbox_refuses_the_message() {
    let server = MailServer::start(MailServerOptions { account_bytes_max: 1_000, ..options() }).unwrap();
    let mut client = SmtpClient::logged_on(&server);
    let large = [&b"x".repeat(500)[..], b"\r\n"].concat();
    assert_eq!(client.submit(&[2], &large), "250 2.0.0 delivered");
    assert_eq!(client.submit(&[1, 2, 3], &large), "552 5.2.2 the mailbox is full");
    let n_messages = [1, 2, 3].map(|number| ImapClient::user(&server, number).n_messages("INBOX"));
    assert_eq!(n_messages, [0, 1, 0]);
    // The room that was held for the others is free again.
    assert_eq!(client.submit(&[1, 3], &large), "250 2.0.0 delivered");
}

#[test]
fn messages_and_recipients_are_bounded() {
    let server = MailServer::start(MailServerOptions { message_bytes_max: 100, ..options() }).unwrap();
    let mut client = SmtpClient::logged_on(&server);
    client.check(&[
        ("MAIL FROM:<a@b> SIZE=101", "552 5.3.4"),
        ("MAIL FROM:<a@b> SIZE=x", "501"),
        ("MAIL FROM:<a@b> SMTPUTF8", "555"),
    ]);
    let line = |n| [&b"x".repeat(n)[..], b"\r\n"].concat();
    assert_eq!(client.submit(&[2], &line(98)), "250 2.0.0 delivered");
    assert_eq!(client.submit(&[2], &line(99)), "552 5.3.4 the message is too large");
    client.check(&[("MAIL FROM:<a@b>", "250")]);
    client.send(&b"RCPT TO:<user2@plimsoll.test>\r\n".repeat(1001));
    let replies: Vec<String> = (0..1001).map(|_| client.reply()).collect();
    assert!(replies[..1000].iter().all(|reply| reply.starts_with("250 ")));
    assert_eq!(replies[1000], "452 4.5.3 there are too many recipients");
}

#[test]
fn greetings_come_before_anything_else() {
    let server = start();
    let mut client = SmtpClient::connect(server.addresses().submission);
    client.check(&[
        ("AUTH PLAIN AHVzZXIxAHNlY3JldCB3b3Jk", "503"),
        ("MAIL FROM:<a@b>", "503"),
        ("LHLO me", "500"),
        ("EHLO", "501"),
        ("HELO me", "250 plimsoll.invalid"),
        ("FROB", "500 5.5.2"),
    ]);
}
