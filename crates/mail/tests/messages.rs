//! Messages, made and verified.

use std::num::NonZeroU8;

use mail::{
    MailDate, MailDestination, MailDirectory, MailMessages, MailPopulation, MailSizes, Mailbox, Message,
    MessageDepth, MessageFault, MessageIdentity, MessageKind, MessageNumber, MessageSize, MessageVerifier,
    R6_SENT, Recipient, SizeProfile, VerifiedMessage,
};
use proptest::prelude::*;

fn messages() -> MailMessages {
    let directory = MailDirectory::numbered("mail", 100, "bench.test").unwrap();
    MailMessages::new(42, directory, MailDate::from_unix_seconds(1_796_005_800))
}

fn identity(kind: MessageKind, user: u32, number: u32) -> MessageIdentity {
    MessageIdentity::new(3, kind, MessageNumber { user, number })
}

fn text(message: &Message) -> Vec<u8> {
    let mut bytes = vec![0; message.bytes() as usize];
    assert_eq!(message.fill(0, &mut bytes), bytes.len());
    bytes
}

fn verified(bytes: &[u8], depth: MessageDepth, piece: usize) -> VerifiedMessage {
    let messages = messages();
    let mut verifier = MessageVerifier::new(depth);
    for piece in bytes.chunks(piece) {
        verifier.feed(piece, &messages);
    }
    verifier.finish()
}

#[test]
fn a_memo_is_a_message_with_its_fields_and_a_body_of_its_size() {
    let mut messages = messages();
    messages.sizes = MailSizes::all(100);
    let bytes = text(&messages.message(identity(MessageKind::Memo, 16, 3)));
    let text = String::from_utf8(bytes).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    assert_eq!(body.len(), 100);
    assert_eq!(body.lines().map(str::len).collect::<Vec<_>>(), [72, 24]);
    let expected = "\
        Message-ID: <00000003.m.00000010.00000003.00000000.00000000.de82a1ea@plimsoll.invalid>\n\
        Date: Mon, 30 Nov 2026 02:30:03 +0000\n\
        From: mail17@bench.test\n\
        To: mail35@bench.test,\n mail90@bench.test,\n mail30@bench.test\n\
        Subject: Memo 3 of user 16\n\
        MIME-Version: 1.0\n\
        Content-Type: text/plain; charset=us-ascii";
    assert_eq!(head.replace("\r\n", "\n"), expected);
}

#[test]
fn invitations_and_responses_are_calendar_objects_of_one_meeting() {
    let messages = messages();
    let invitation = identity(MessageKind::Invitation, 16, 3);
    let text_of = |identity| String::from_utf8(text(&messages.message(identity))).unwrap();
    let sent = text_of(invitation);
    let author = MessageNumber { user: 7, number: 9 };
    let response = invitation.reply(3, author, messages.author(invitation));
    let answered = text_of(response);
    assert_eq!(messages.recipients(response).as_slice(), [Recipient::User(16)]);
    for (text, method, people) in [
        (&sent, "REQUEST", "ATTENDEE;PARTSTAT=NEEDS-ACTION;RSVP=TRUE:mailto:mail"),
        (&answered, "REPLY", "ATTENDEE;PARTSTAT=ACCEPTED:mailto:mail8@bench.test\r\n"),
    ] {
        assert!(
            text.contains(&format!("Content-Type: text/calendar; charset=us-ascii; method={method}\r\n"))
        );
        assert!(text.contains(&format!("METHOD:{method}\r\n")) && text.contains(people), "{text}");
        assert!(text.contains("ORGANIZER:mailto:mail17@bench.test\r\n"));
    }
    let line = |text: &str, name: &str| text.lines().find(|line| line.starts_with(name)).unwrap().to_owned();
    for name in ["UID:", "DTSTART:", "DTEND:"] {
        assert_eq!(line(&sent, name), line(&answered, name));
    }
    assert_eq!(sent.matches("ATTENDEE").count(), 3);
    assert!("DTSTART:20261130T235959Z" < line(&sent, "DTSTART:").as_str(), "not before tomorrow");
    let stored = messages.calendar_object(identity(MessageKind::Appointment, 1, 2)).unwrap();
    assert!(
        stored.starts_with("BEGIN:VCALENDAR\r\n")
            && !stored.contains("METHOD")
            && !stored.contains("ATTENDEE")
    );
    assert_eq!(messages.calendar_object(identity(MessageKind::Memo, 1, 2)), None);
}

#[test]
fn an_answer_goes_to_the_author_of_what_it_answers() {
    let messages = messages();
    for kind in [MessageKind::Populated, MessageKind::Note, MessageKind::PopulatedInvitation] {
        let mut original = identity(kind, 5, 1);
        if kind == MessageKind::PopulatedInvitation {
            original.about = MessageNumber { user: 44, number: 8 };
        }
        let author = messages.author(original);
        let answer = original.reply(3, MessageNumber { user: 5, number: 2 }, author);
        assert_eq!(messages.recipients(answer).as_slice(), [Recipient::User(author)]);
        assert_eq!(answer.kind == MessageKind::Response, kind.is_invitation());
    }
}

/// 30,000 copies for 100 users: 300 each, within four and a half deviations, 4.5 · √(30,000 · 0.01 · 0.99) = 78.
#[test]
fn recipients_are_different_and_each_user_is_one_equally_often() {
    let messages = messages();
    let mut counts = [0_u32; 100];
    for number in 0..10_000 {
        let recipients = messages.recipients(identity(MessageKind::Memo, number % 100, number));
        let list = recipients.as_slice();
        assert_eq!(list.len(), 3);
        assert!(list[0] != list[1] && list[1] != list[2] && list[0] != list[2]);
        for recipient in list {
            let Recipient::User(user) = recipient else { panic!("of this server") };
            counts[*user as usize] += 1;
        }
    }
    assert!(counts.iter().all(|count| count.abs_diff(300) < 78), "{counts:?}");
}

#[test]
fn recipients_are_of_the_range_and_no_more_than_there_are() {
    let mut messages = messages();
    messages.recipients = 10..12;
    let mut list = messages.recipients(identity(MessageKind::Memo, 1, 1)).as_slice().to_vec();
    list.sort();
    assert_eq!(list, [Recipient::User(10), Recipient::User(11)]);
    messages.recipients = 0..0;
    assert_eq!(messages.recipients(identity(MessageKind::Memo, 1, 1)).as_slice(), []);
}

#[test]
fn addresses_are_spread_evenly_over_destination_servers() {
    let mut messages = messages();
    messages.destination = MailDestination::Sinks(NonZeroU8::new(3).unwrap());
    let mut counts = [0_u32; 3];
    for number in 0..10_000 {
        for recipient in messages.recipients(identity(MessageKind::Memo, 0, number)).as_slice() {
            let Recipient::Sink { server, user } = recipient else { panic!("of another server") };
            assert_eq!(u32::from(*server), user % 3);
            counts[usize::from(*server)] += 1;
        }
    }
    // 34, 33 and 33 of 100 users have each; four deviations of the count are 4 · √(30,000 · ⅓ · ⅔) = 327.
    for (count, share) in counts.into_iter().zip([0.34, 0.33, 0.33]) {
        assert!((f64::from(count) - 30_000.0 * share).abs() < 327.0, "{counts:?}");
    }
}

/// Load points have the same messages but for their identities, so that one is comparable with another.
#[test]
fn sizes_and_recipients_do_not_depend_on_the_epoch() {
    let mut messages = messages();
    messages.sizes.sent = SizeProfile::new(&R6_SENT).unwrap();
    for number in 0..50 {
        let one = identity(MessageKind::Memo, 4, number);
        let other = MessageIdentity { epoch: 9, ..one };
        assert_eq!(messages.recipients(one), messages.recipients(other));
        assert_eq!(messages.message(one).bytes(), messages.message(other).bytes());
        assert_ne!(one.message_id(42).to_string(), other.message_id(42).to_string());
    }
}

#[test]
fn a_message_with_an_attachment_has_two_parts() {
    let mut messages = messages();
    let size = MessageSize { body: 500, attachment: 1000 };
    messages.sizes.sent = SizeProfile::fixed(size);
    let message = messages.message(identity(MessageKind::Memo, 1, 1));
    let text = String::from_utf8(text(&message)).unwrap();
    let parts: Vec<&str> = text.split("--=_plimsoll_part").collect();
    assert_eq!(parts.len(), 4);
    assert!(parts[3] == "--\r\n" && parts[0].ends_with("\r\n\r\n"));
    let body = parts[1].split_once("\r\n\r\n").unwrap().1;
    assert_eq!(body.len(), 500 + 2, "the line end before a boundary belongs to it");
    let file = parts[2].split_once("\r\n\r\n").unwrap().1;
    // 334 groups of four digits in 18 lines.
    assert_eq!(file.len(), 4 * 334 + 2 * 18);
}

/// No line begins with a dot or is longer than servers take, and no field of a head either, whatever the message.
#[test]
fn lines_travel_as_they_are() {
    let mut messages = messages();
    messages.sizes.sent = SizeProfile::fixed(MessageSize { body: 5_000, attachment: 5_000 });
    for kind in MessageKind::ALL {
        for number in 0..20 {
            let bytes = text(&messages.message(identity(kind, 3, number)));
            assert!(bytes.ends_with(b"\r\n") && bytes.is_ascii());
            for line in bytes.split_inclusive(|byte| *byte == b'\n') {
                assert!(line.ends_with(b"\r\n") && line.len() <= 100);
                assert!(!line.starts_with(b".") && !line.starts_with(b"From "));
            }
        }
    }
}

#[test]
fn a_message_is_verified_behind_the_fields_that_servers_add() {
    let sent = text(&messages().message(identity(MessageKind::Memo, 16, 3)));
    let added = b"Return-Path: <mail17@bench.test>\r\nReceived: from a\r\n\tby b; Message-ID: <x>\r\n";
    let read = [&added[..], &sent].concat();
    let expected = VerifiedMessage {
        identity: Some(identity(MessageKind::Memo, 16, 3)),
        fault: None,
        bytes: read.len() as u64,
    };
    for piece in [1, 2, 7, 100, 10_000] {
        assert_eq!(verified(&read, MessageDepth::Full, piece), expected);
        assert_eq!(verified(&read, MessageDepth::Identity, piece), expected);
        assert_eq!(verified(&read, MessageDepth::Off, piece), VerifiedMessage { identity: None, ..expected });
    }
}

#[test]
fn every_difference_is_found() {
    let sent = text(&messages().message(identity(MessageKind::Memo, 16, 3)));
    let fault = |bytes: &[u8]| verified(bytes, MessageDepth::Full, 333).fault;
    for offset in [150, 700, sent.len() - 1] {
        let mut altered = sent.clone();
        altered[offset] ^= 1;
        assert_eq!(fault(&altered), Some(MessageFault::Altered { offset: offset as u64 }));
        assert_eq!(verified(&altered, MessageDepth::Identity, 333).fault, None);
    }
    assert_eq!(fault(&sent[..sent.len() - 5]), Some(MessageFault::Short { missing: 5 }));
    assert_eq!(fault(&[&sent[..], b"--\r\n"].concat()), Some(MessageFault::Long { extra: 4 }));
}

#[test]
fn messages_of_others_have_no_identity() {
    let bytes = text(&messages().message(identity(MessageKind::Memo, 16, 3)));
    let sent = String::from_utf8(bytes).unwrap();
    let long = format!("X: {}\r\n{sent}", "y".repeat(70_000));
    for other in [
        sent.replace("plimsoll.invalid", "plimsoll.example"),
        sent.replace("Message-ID", "message-id"),
        sent.replace("Message-ID: <0", "Message-ID: <00"),
        format!("Message-ID: <1@example.com>\r\n{sent}"),
        format!("message-id: <1@example.com>\r\n{sent}"),
        format!("\r\n{sent}"),
        format!("\n{sent}"),
        sent.replace("\r\n", "\n"),
        sent[..80].to_owned(),
        long,
        String::new(),
    ] {
        let found = verified(other.as_bytes(), MessageDepth::Full, 50);
        assert_eq!((found.identity, found.fault), (None, None), "{:.60}", other);
        assert_eq!(found.bytes, other.len() as u64);
    }
}

#[test]
fn populated_messages_can_be_made_and_verified() {
    let messages = messages();
    let population = MailPopulation::new(100, 30, 60).unwrap();
    for one in population.mailbox(4).chain(population.shared_mailbox()) {
        let bytes = text(&messages.message(one.identity));
        let found = verified(&bytes, MessageDepth::Full, 4096);
        assert_eq!((found.identity, found.fault), (Some(one.identity), None));
        if one.mailbox == Mailbox::Inbox {
            assert_eq!(messages.recipients(one.identity).as_slice(), [Recipient::User(4)]);
        }
    }
}

fn any_message() -> impl Strategy<Value = (MessageIdentity, MailMessages)> {
    let number = || (any::<u32>(), any::<u32>()).prop_map(|(user, number)| MessageNumber { user, number });
    let kind = (0..MessageKind::ALL.len()).prop_map(|index| MessageKind::ALL[index]);
    let identity = (any::<u32>(), kind, number(), number())
        .prop_map(|(epoch, kind, message, about)| MessageIdentity { epoch, kind, message, about });
    let sizes = (2_u32..3_000, 0_u32..2_000, 8_u16..996, 0_u8..20);
    (identity, sizes).prop_map(|(identity, (body, attachment, line_bytes, n_recipients))| {
        let size = SizeProfile::fixed(MessageSize { body, attachment });
        let sizes = MailSizes { sent: size.clone(), added: size.clone(), populated: size };
        (identity, MailMessages { sizes, line_bytes, n_recipients, ..messages() })
    })
}

proptest! {
    /// The size of a message is known before it is made, and any part of it is that of the whole.
    #[test]
    fn any_part_has_the_bytes_of_the_whole((identity, messages) in any_message(), at in 0.0..1.0, length in 0_usize..900) {
        let message = messages.message(identity);
        let whole = text(&message);
        let from = (whole.len() as f64 * at) as usize;
        let mut piece = vec![0; length];
        let n = message.fill(from as u64, &mut piece);
        prop_assert_eq!(n, length.min(whole.len() - from));
        prop_assert_eq!(&piece[..n], &whole[from..from + n]);
        prop_assert_eq!(message.fill(whole.len() as u64, &mut piece), 0);
    }

    #[test]
    fn any_message_is_found_to_be_as_it_was_sent((identity, messages) in any_message(), piece in 1_usize..2_000) {
        let bytes = text(&messages.message(identity));
        let mut verifier = MessageVerifier::new(MessageDepth::Full);
        bytes.chunks(piece).for_each(|piece| verifier.feed(piece, &messages));
        let found = VerifiedMessage { identity: Some(identity), fault: None, bytes: bytes.len() as u64 };
        prop_assert_eq!(verifier.finish(), found);
    }

    #[test]
    fn any_bytes_are_read_without_panic(bytes in prop::collection::vec(any::<u8>(), 0..2_000), piece in 1_usize..200) {
        let found = verified(&bytes, MessageDepth::Full, piece);
        prop_assert_eq!(found, VerifiedMessage { identity: None, fault: None, bytes: bytes.len() as u64 });
    }
}
