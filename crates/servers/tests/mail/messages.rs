//! Messages of a run: stored by their identities, and read as they were sent.

use mail::{
    MailMessages, MailSizes, MessageDepth, MessageIdentity, MessageKind, MessageNumber, MessageSize,
    MessageVerifier, SizeProfile, VerifiedMessage,
};
use servers::mail::{MailServer, MailServerOptions};

use super::client::{ImapClient, SmtpClient, messages, options};

/// Messages of 20,000 bytes with an attached file of 30,000.
fn large() -> MailMessages {
    let size = MessageSize { body: 20_000, attachment: 30_000 };
    let profile = SizeProfile::fixed(size);
    let sizes = MailSizes { sent: profile.clone(), added: profile.clone(), populated: profile };
    MailMessages { sizes, ..messages() }
}

fn identity(kind: MessageKind, number: u32) -> MessageIdentity {
    MessageIdentity::new(1, kind, MessageNumber { user: 3, number })
}

fn bytes(messages: &MailMessages, identity: MessageIdentity) -> Vec<u8> {
    let message = messages.message(identity);
    let mut bytes = vec![0; message.bytes() as usize];
    assert_eq!(message.fill(0, &mut bytes), bytes.len());
    bytes
}

fn verify(messages: &MailMessages, body: &[u8]) -> VerifiedMessage {
    let mut verifier = MessageVerifier::new(MessageDepth::Full);
    verifier.feed(body, messages);
    verifier.finish()
}

/// Goal: a message is kept by its identity whatever the way by which it comes. Method: an account in which it has no room
/// otherwise.
#[test]
fn messages_of_the_run_need_no_room_and_come_back_unchanged() {
    let messages = large();
    let known = MailServerOptions { messages: Some(messages.clone()), account_bytes_max: 2_000, ..options() };
    let server = MailServer::start(known).unwrap();
    let kinds = [MessageKind::Memo, MessageKind::Document, MessageKind::Invitation, MessageKind::Populated];
    let sent: Vec<MessageIdentity> = kinds.into_iter().zip(0..).map(|(kind, n)| identity(kind, n)).collect();
    let mut lmtp = SmtpClient::lmtp(&server);
    let mut submission = SmtpClient::logged_on(&server);
    let mut reader = ImapClient::selected(&server, 2, "INBOX");
    for (one, index) in sent.iter().zip(0..) {
        let message = bytes(&messages, *one);
        let reply = match index % 3 {
            0 => lmtp.submit(&[2], &message),
            1 => submission.submit(&[2], &message),
            _ => reader.append("INBOX", &message),
        };
        assert!(reply.starts_with("250 2.0.0") || reply.starts_with("OK [APPENDUID"), "{reply}");
    }
    reader.perform("NOOP");
    let reply = reader.perform("UID FETCH 1:* (RFC822.SIZE BODY[])");
    assert_eq!(reply.bodies.len(), sent.len());
    for (body, one) in reply.bodies.iter().zip(&sent) {
        let found = verify(&messages, body);
        assert_eq!((found.identity, found.fault), (Some(*one), None));
    }
    // Any part of one is as that of the whole.
    let whole = &reply.bodies[0];
    for (offset, length) in [(0, 10), (100, 700), (20_500, 9_000), (whole.len() - 5, 100)] {
        let part = reader.perform(&format!("FETCH 1 BODY.PEEK[]<{offset}.{length}>")).bodies;
        let end = whole.len().min(offset + length);
        assert_eq!(part, [&whole[offset..end]]);
    }
    let id = sent[0].message_id(messages.seed).to_string();
    let found = reader.perform(&format!("UID SEARCH HEADER Message-ID {id}"));
    assert_eq!(found.lines, ["* SEARCH 1", "OK done"]);
    let envelope = reader.perform("FETCH 1 ENVELOPE").lines.remove(0);
    assert!(envelope.contains("\"Memo 0 of user 3\"") && envelope.contains(&id), "{envelope}");
}

/// Messages of another seed are anybody's: kept as they came, for which there is no room here.
#[test]
fn messages_of_another_run_are_kept_as_they_came() {
    let other = MailMessages { seed: 43, ..large() };
    let limited = MailServerOptions { messages: Some(large()), account_bytes_max: 70_000, ..options() };
    let server = MailServer::start(limited).unwrap();
    let message = bytes(&other, identity(MessageKind::Document, 1));
    let mut client = ImapClient::selected(&server, 1, "INBOX");
    assert!(client.append("INBOX", &message).starts_with("OK "));
    assert!(client.append("INBOX", &message).starts_with("NO [OVERQUOTA]"));
    assert_eq!(client.perform("FETCH 1 BODY[]").bodies, [message]);
}
