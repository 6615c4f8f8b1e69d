//! The identities of messages, and the Message-IDs that carry them.
//!
//! A Message-ID has all that whoever finds a message needs to know of it: `EPOCH.KIND.USER.NUMBER.USER.NUMBER.TAG`, in
//! hexadecimal digits of a fixed number, so that every message can be made again from it, and be compared.

use std::fmt;

use units::mix_bits;

/// The domain of Message-IDs: a name that is nobody's (RFC 2606).
const DOMAIN: &str = "plimsoll.invalid";

/// The number of bytes of a Message-ID with its angle brackets.
pub const MESSAGE_ID_BYTES: usize = 2 + 8 + 1 + 1 + 5 * 9 + 1 + DOMAIN.len();

/// The kind of a message, by how it comes to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MessageKind {
    /// A document of a user's mailbox that is there before load.
    Populated,
    /// A document of the shared mailbox that is there before load.
    PopulatedShared,
    /// An invitation of a user's mailbox that is there before load.
    PopulatedInvitation,
    /// A document that its user adds to its own mailbox.
    Document,
    /// A document that a user adds to the shared mailbox.
    SharedDocument,
    /// A memo to several recipients.
    Memo,
    /// A memo to one recipient.
    Note,
    /// An appointment in the calendar of its user.
    Appointment,
    /// An invitation to a meeting.
    Invitation,
    /// The response to an invitation.
    Response,
    /// The reply to a message.
    Answer,
}

impl MessageKind {
    /// All kinds, each with its letter in Message-IDs and its word in subjects.
    const NAMES: [(MessageKind, u8, &'static str); 11] = [
        (MessageKind::Populated, b'p', "Document"),
        (MessageKind::PopulatedShared, b'q', "Topic"),
        (MessageKind::PopulatedInvitation, b'j', "Invitation"),
        (MessageKind::Document, b'd', "Document"),
        (MessageKind::SharedDocument, b's', "Topic"),
        (MessageKind::Memo, b'm', "Memo"),
        (MessageKind::Note, b'n', "Note"),
        (MessageKind::Appointment, b'a', "Appointment"),
        (MessageKind::Invitation, b'i', "Invitation"),
        (MessageKind::Response, b'r', "Accepted"),
        (MessageKind::Answer, b'w', "Re"),
    ];

    /// All kinds, in the order of their declaration.
    pub const ALL: [MessageKind; 11] = {
        let mut all = [MessageKind::Populated; 11];
        let mut index = 0;
        while index < all.len() {
            all[index] = MessageKind::NAMES[index].0;
            index += 1;
        }
        all
    };

    /// Returns whether the message is there before load.
    pub fn is_populated(self) -> bool {
        matches!(
            self,
            MessageKind::Populated | MessageKind::PopulatedShared | MessageKind::PopulatedInvitation
        )
    }

    /// Returns whether the message is an invitation to a meeting.
    pub fn is_invitation(self) -> bool {
        matches!(self, MessageKind::Invitation | MessageKind::PopulatedInvitation)
    }

    /// Returns whether the message is sent, and not put into a mailbox by its user or before load.
    pub fn is_sent(self) -> bool {
        matches!(
            self,
            MessageKind::Memo
                | MessageKind::Note
                | MessageKind::Invitation
                | MessageKind::Response
                | MessageKind::Answer
        )
    }

    fn letter(self) -> u8 {
        MessageKind::NAMES[self as usize].1
    }

    fn from_letter(letter: u8) -> Option<MessageKind> {
        let known = MessageKind::NAMES.into_iter().find(|(_, known, _)| *known == letter);
        known.map(|(kind, ..)| kind)
    }

    /// Returns its word in subjects.
    pub(crate) fn word(self) -> &'static str {
        MessageKind::NAMES[self as usize].2
    }
}

/// The user who made a message, and its number among those of that user.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MessageNumber {
    /// The user.
    pub user: u32,
    /// The number, from 0; messages that are there before load have numbers of their own.
    pub number: u32,
}

/// The identity of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MessageIdentity {
    /// The number of a load point; 0 of messages that are there before load. No two load points that a server has seen, of
    /// any run, should have the same, because servers drop what has a Message-ID that they know.
    pub epoch: u32,
    /// The kind.
    pub kind: MessageKind,
    /// The user and the number.
    pub message: MessageNumber,
    /// The message that a response or an answer is about; else zeros.
    pub about: MessageNumber,
}

impl MessageIdentity {
    /// Makes the identity of a message that is about no other.
    pub fn new(epoch: u32, kind: MessageKind, message: MessageNumber) -> MessageIdentity {
        MessageIdentity { epoch, kind, message, about: MessageNumber::default() }
    }

    /// Returns the number from which recipients, size and bytes follow. It is the same in each epoch, so that load points
    /// have the same messages.
    pub(crate) fn content_key(&self) -> u64 {
        let of = |key: u64, MessageNumber { user, number }: MessageNumber| {
            mix_bits(key ^ (u64::from(user) << 32 | u64::from(number)))
        };
        of(of(mix_bits(self.kind as u64), self.message), self.about)
    }

    /// Returns the meeting that an appointment, an invitation or a response is about.
    pub(crate) fn meeting(&self) -> MessageNumber {
        match self.kind {
            MessageKind::PopulatedInvitation | MessageKind::Response => self.about,
            _ => self.message,
        }
    }

    /// Returns the number from which the time of that meeting follows.
    pub(crate) fn meeting_key(&self) -> u64 {
        let MessageNumber { user, number } = self.meeting();
        mix_bits(u64::from(user) << 32 | u64::from(number))
    }

    /// Returns the identity of a response to an invitation, or of an answer to any message, by its author.
    pub fn reply(&self, epoch: u32, author: MessageNumber, organizer: u32) -> MessageIdentity {
        let kind = if self.kind.is_invitation() { MessageKind::Response } else { MessageKind::Answer };
        let about = MessageNumber { user: organizer, ..self.meeting() };
        MessageIdentity { epoch, kind, message: author, about }
    }

    /// Returns the tag by which messages of another seed are told apart.
    fn tag(&self, seed: u64) -> u32 {
        (mix_bits(mix_bits(seed ^ u64::from(self.epoch)) ^ self.content_key()) >> 32) as u32
    }

    /// Returns the Message-ID of a run with this seed, as it is written, with angle brackets.
    pub fn message_id(&self, seed: u64) -> MessageId {
        MessageId { identity: *self, tag: self.tag(seed) }
    }

    /// Reads a Message-ID with its angle brackets. `None` if it is no message of a run with this seed.
    pub fn from_message_id(text: &[u8], seed: u64) -> Option<MessageIdentity> {
        let inner = text.strip_prefix(b"<")?.strip_suffix(b">")?;
        let local = inner.strip_suffix(DOMAIN.as_bytes())?.strip_suffix(b"@")?;
        let mut parts = local.split(|byte| *byte == b'.');
        let epoch = hexadecimal(parts.next()?)?;
        let [letter] = parts.next()? else { return None };
        let kind = MessageKind::from_letter(*letter)?;
        let mut numbers = [0; 5];
        for number in &mut numbers {
            *number = hexadecimal(parts.next()?)?;
        }
        let [user, number, about_user, about_number, tag] = numbers;
        let message = MessageNumber { user, number };
        let about = MessageNumber { user: about_user, number: about_number };
        let identity = MessageIdentity { epoch, kind, message, about };
        (parts.next().is_none() && identity.tag(seed) == tag).then_some(identity)
    }
}

/// Reads eight hexadecimal digits, the letters of which are small.
fn hexadecimal(digits: &[u8]) -> Option<u32> {
    let mut value = 0_u32;
    for digit in digits {
        let digit = match digit {
            b'0'..=b'9' => digit - b'0',
            b'a'..=b'f' => digit - b'a' + 10,
            _ => return None,
        };
        value = value.wrapping_shl(4) | u32::from(digit);
    }
    (digits.len() == 8).then_some(value)
}

/// A Message-ID, as it is written: always [`MESSAGE_ID_BYTES`] long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MessageId {
    identity: MessageIdentity,
    tag: u32,
}

impl MessageId {
    /// Returns it as bytes.
    pub fn to_bytes(&self) -> [u8; MESSAGE_ID_BYTES] {
        let MessageIdentity { epoch, kind, message, about } = self.identity;
        let mut bytes = [0; MESSAGE_ID_BYTES];
        let mut at = 0;
        let mut put = |text: &[u8]| {
            bytes[at..at + text.len()].copy_from_slice(text);
            at += text.len();
        };
        put(b"<");
        put(&digits(epoch));
        put(&[b'.', kind.letter()]);
        for number in [message.user, message.number, about.user, about.number, self.tag] {
            put(b".");
            put(&digits(number));
        }
        put(b"@");
        put(DOMAIN.as_bytes());
        put(b">");
        bytes
    }
}

/// Returns eight hexadecimal digits.
fn digits(number: u32) -> [u8; 8] {
    let mut rest = number;
    let mut digits = [b'0'; 8];
    for digit in digits.iter_mut().rev() {
        *digit = b"0123456789abcdef"[(rest & 0xF) as usize];
        rest >>= 4;
    }
    digits
}

impl fmt::Display for MessageId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(std::str::from_utf8(&self.to_bytes()).expect("ASCII"))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn memo() -> MessageIdentity {
        let message = MessageNumber { user: 17, number: 3 };
        MessageIdentity::new(2, MessageKind::Memo, message)
    }

    /// Goal: no change of the code changes what a message is, because mailboxes are kept between runs.
    #[test]
    fn message_ids_never_change() {
        let text = memo().message_id(42).to_string();
        assert_eq!(text, "<00000002.m.00000011.00000003.00000000.00000000.51f1fdbc@plimsoll.invalid>");
        assert_eq!(text.len(), MESSAGE_ID_BYTES);
    }

    #[test]
    fn kinds_are_in_the_order_of_their_indexes_and_have_letters_of_their_own() {
        let letters: std::collections::BTreeSet<u8> =
            MessageKind::ALL.into_iter().map(MessageKind::letter).collect();
        assert_eq!(letters.len(), MessageKind::ALL.len());
        for (index, kind) in MessageKind::ALL.into_iter().enumerate() {
            assert_eq!((kind as usize, MessageKind::from_letter(kind.letter())), (index, Some(kind)));
            assert!(!(kind.is_sent() && kind.is_populated()));
        }
    }

    #[test]
    fn messages_of_others_are_none_of_ours() {
        let text = memo().message_id(42).to_string();
        assert_eq!(MessageIdentity::from_message_id(text.as_bytes(), 42), Some(memo()));
        assert_eq!(MessageIdentity::from_message_id(text.as_bytes(), 43), None, "another seed");
        let others = [
            text.replace(".m.", ".x."),
            text.replace(".m.", ".n."),
            text.replace(".m.", ".mm."),
            text.replace("00000011", "00000012"),
            text.replace("00000011", "0000001A"),
            text.replace("00000011", "011"),
            text.replace(".00000003", ".00000003.00000003"),
            text.replace(".00000003", ""),
            text.replace("plimsoll", "plimsol"),
            text.replace('>', ""),
            text.replace('<', ""),
            String::new(),
            "<>".to_owned(),
        ];
        for other in others {
            assert_eq!(MessageIdentity::from_message_id(other.as_bytes(), 42), None, "{other}");
        }
    }

    fn any_identity() -> impl Strategy<Value = MessageIdentity> {
        let number = || any::<(u32, u32)>().prop_map(|(user, number)| MessageNumber { user, number });
        (any::<u32>(), 0..MessageKind::ALL.len(), number(), number()).prop_map(
            |(epoch, kind, message, about)| MessageIdentity {
                epoch,
                kind: MessageKind::ALL[kind],
                message,
                about,
            },
        )
    }

    proptest! {
        #[test]
        fn identities_are_read_back(identity in any_identity(), seed in any::<u64>()) {
            let text = identity.message_id(seed).to_string();
            prop_assert_eq!(text.len(), MESSAGE_ID_BYTES);
            prop_assert_eq!(MessageIdentity::from_message_id(text.as_bytes(), seed), Some(identity));
        }

        #[test]
        fn any_text_is_read_without_panic(text in prop::collection::vec(any::<u8>(), 0..100), seed in any::<u64>()) {
            prop_assert_eq!(MessageIdentity::from_message_id(&text, seed), None);
        }
    }
}
