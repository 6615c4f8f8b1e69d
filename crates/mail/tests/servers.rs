//! Messages that real servers had delivered: a memo among those of others, with what Dovecot 2.3.19 and Cyrus 3.6.1 put
//! before its fields.

use mail::{
    MailDate, MailDirectory, MailMessages, MailSizes, MessageDepth, MessageIdentity, MessageKind,
    MessageNumber, MessageVerifier, VerifiedMessage,
};
use mailwire::imap::{ImapEvent, ImapReader};

/// Returns the verification of each body in the recorded conversation with a server.
fn bodies(conversation: &[u8]) -> Vec<VerifiedMessage> {
    let directory = MailDirectory::numbered("mail", 100, "bench.test").unwrap();
    let mut messages = MailMessages::new(42, directory, MailDate::from_unix_seconds(1_796_005_800));
    messages.sizes = MailSizes::all(300);
    let mut reader = ImapReader::new();
    let mut verifiers: Vec<MessageVerifier> = Vec::new();
    let mut at = 0;
    while at < conversation.len() {
        // As if they came in packets.
        let packet = &conversation[at..conversation.len().min(at + 100)];
        let progress = reader.read(packet).unwrap();
        at += progress.consumed;
        match progress.event {
            Some(ImapEvent::BodyBegin(_)) => verifiers.push(MessageVerifier::new(MessageDepth::Full)),
            Some(ImapEvent::Body(piece)) => verifiers.last_mut().unwrap().feed(piece, &messages),
            _ => {}
        }
    }
    verifiers.into_iter().map(MessageVerifier::finish).collect()
}

#[test]
fn a_memo_is_found_unchanged_behind_the_fields_of_real_servers() {
    let memo = MessageIdentity::new(3, MessageKind::Memo, MessageNumber { user: 16, number: 3 });
    for (conversation, bytes) in [
        (&include_bytes!("../../mailwire/tests/transcripts/dovecot.imap")[..], 853),
        (&include_bytes!("../../mailwire/tests/transcripts/cyrus.imap")[..], 885),
    ] {
        let found = bodies(conversation);
        assert_eq!(found[0], VerifiedMessage { identity: Some(memo), fault: None, bytes });
        assert!(found[1..].iter().all(|other| other.identity.is_none()));
        assert_eq!(found.len(), 5);
    }
}
