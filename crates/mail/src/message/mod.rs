//! The messages of a run (RFC 5322): functions of their identities, with sizes that are known beforehand.
//!
//! The first field of a message is its Message-ID. Servers put their own fields before it, so that what follows it is what
//! was sent, byte by byte, and can be compared with the message made again.
//!
//! - `text`: the bytes of texts and attached files
//! - `calendar`: appointments and invitations
//! - `verify`: the comparison of a message that was read with the one that was sent

mod calendar;
mod text;
mod verify;

use std::fmt::Write as _;
use std::ops::Range;

use units::{Rng, StreamPurpose, mix_bits};

use self::calendar::CalendarObject;
use self::text::{FileText, WordText};
use crate::address::{MailDirectory, Recipient};
use crate::date::MailDate;
use crate::identity::{MessageIdentity, MessageKind};
use crate::size::{MessageSize, SizeProfile};

pub use verify::{HEAD_BYTES_MAX, MessageDepth, MessageFault, MessageVerifier, VerifiedMessage};

/// The most recipients of a message.
pub const RECIPIENTS_MAX: usize = 16;

/// The bytes of a line of a text without its end, and the limits that a setting has. Longer lines are refused by servers
/// (RFC 5321, 4.5.3.1.6).
pub const LINE_BYTES: u16 = 72;
/// The limits of the bytes of a line.
pub const LINE_BYTES_RANGE: std::ops::RangeInclusive<u16> = 8..=996;

/// The boundary between the parts of a message: no line of a text or a file is the same.
const BOUNDARY: &str = "=_plimsoll_part";

/// The names of the attached file.
const FILE_NAME: &str = "figures.bin";

/// The seconds of a year, over which the messages that are there before load are spread.
const YEAR: u64 = 31_536_000;

/// The place to which sent messages go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MailDestination {
    /// Users of the server under test.
    SameServer,
    /// So many destination servers, over which the addresses are spread evenly.
    Sinks(std::num::NonZeroU8),
}

impl MailDestination {
    /// Returns the recipient that mail for a user of this number goes to.
    pub fn recipient(self, user: u32) -> Recipient {
        match self {
            MailDestination::SameServer => Recipient::User(user),
            MailDestination::Sinks(n_servers) => {
                Recipient::Sink { server: (user % u32::from(n_servers.get())) as u8, user }
            }
        }
    }
}

/// The sizes of messages by how they come to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MailSizes {
    /// Memos, notes and answers.
    pub sent: SizeProfile,
    /// Documents that users add.
    pub added: SizeProfile,
    /// Documents that are there before load.
    pub populated: SizeProfile,
}

impl MailSizes {
    /// Makes sizes that are all the same.
    pub fn all(bytes: u32) -> MailSizes {
        let profile = SizeProfile::fixed(MessageSize::text(bytes));
        MailSizes { sent: profile.clone(), added: profile.clone(), populated: profile }
    }
}

/// The messages of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct MailMessages {
    /// The seed of the run.
    pub seed: u64,
    /// The names of all users.
    pub directory: MailDirectory,
    /// The place to which sent messages go.
    pub destination: MailDestination,
    /// The users among whom recipients are drawn, each with the same probability.
    pub recipients: Range<u32>,
    /// The recipients of a memo and of an invitation; at most [`RECIPIENTS_MAX`], and no more than there are.
    pub n_recipients: u8,
    /// The sizes.
    pub sizes: MailSizes,
    /// The date of the run, before which messages were that are there, and after which meetings are.
    pub date: MailDate,
    /// The bytes of a line of a text, within [`LINE_BYTES_RANGE`].
    pub line_bytes: u16,
}

/// The recipients of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Recipients {
    list: [Recipient; RECIPIENTS_MAX],
    n: usize,
}

impl Recipients {
    const NONE: Recipients = Recipients { list: [Recipient::User(0); RECIPIENTS_MAX], n: 0 };

    fn one(recipient: Recipient) -> Recipients {
        let mut one = Recipients::NONE;
        one.push(recipient);
        one
    }

    fn push(&mut self, recipient: Recipient) {
        if let Some(slot) = self.list.get_mut(self.n) {
            *slot = recipient;
            self.n += 1;
        }
    }

    /// Returns them as a list; no one is there twice.
    pub fn as_slice(&self) -> &[Recipient] {
        &self.list[..self.n]
    }
}

impl MailMessages {
    /// Makes the messages of a run with the standard settings: all users are recipients, three of each memo, and bodies have
    /// 1,000 bytes.
    pub fn new(seed: u64, directory: MailDirectory, date: MailDate) -> MailMessages {
        let recipients = 0..directory.n_users();
        MailMessages {
            seed,
            directory,
            destination: MailDestination::SameServer,
            recipients,
            n_recipients: 3,
            sizes: MailSizes::all(1_000),
            date,
            line_bytes: LINE_BYTES,
        }
    }

    /// Returns the user who wrote a message.
    pub fn author(&self, identity: MessageIdentity) -> u32 {
        match identity.kind {
            MessageKind::Populated | MessageKind::PopulatedShared => self.draw_user(&mut self.rng(identity)),
            MessageKind::PopulatedInvitation => identity.about.user,
            _ => identity.message.user,
        }
    }

    /// Returns the recipients of a message: all to whom it is delivered if it is sent, else the user in whose mailbox it is
    /// put, or the author of a topic.
    pub fn recipients(&self, identity: MessageIdentity) -> Recipients {
        let own = Recipient::User(identity.message.user);
        match identity.kind {
            MessageKind::Memo | MessageKind::Invitation => self.draw_recipients(identity, self.n_recipients),
            MessageKind::Note => self.draw_recipients(identity, 1),
            MessageKind::Response | MessageKind::Answer => {
                Recipients::one(self.destination.recipient(identity.about.user))
            }
            MessageKind::PopulatedShared => Recipients::one(Recipient::User(self.author(identity))),
            _ => Recipients::one(own),
        }
    }

    /// Returns the size of text and attached file of a message; that of a message with a calendar object is its own.
    pub fn size(&self, identity: MessageIdentity) -> MessageSize {
        let profile = match identity.kind {
            MessageKind::Populated | MessageKind::PopulatedShared => &self.sizes.populated,
            MessageKind::Document | MessageKind::SharedDocument => &self.sizes.added,
            _ => &self.sizes.sent,
        };
        profile.draw(&mut Rng::new(self.seed, StreamPurpose::Data, !identity.content_key()))
    }

    /// Makes a message.
    pub fn message(&self, identity: MessageIdentity) -> Message {
        let key = mix_bits(self.seed) ^ identity.content_key();
        let mut head = self.head(identity);
        if let Some(calendar) = self.calendar(identity) {
            let method = calendar.method().map_or_else(String::new, |method| format!("; method={method}"));
            write!(head, "Content-Type: text/calendar; charset=us-ascii{method}\r\n\r\n").expect(WRITTEN);
            calendar.write(false, &mut head);
            return Message::without_body(head);
        }
        let size = self.size(identity);
        let text = WordText::new(key, size.body, self.line_bytes);
        let file = FileText::new(key.wrapping_add(1), size.attachment);
        if size.attachment == 0 {
            head.push_str("Content-Type: text/plain; charset=us-ascii\r\n\r\n");
            return Message { head, text, middle: String::new(), file, tail: String::new() };
        }
        write!(
            head,
            "Content-Type: multipart/mixed; boundary=\"{BOUNDARY}\"\r\n\r\n--{BOUNDARY}\r\n\
             Content-Type: text/plain; charset=us-ascii\r\n\r\n"
        )
        .expect(WRITTEN);
        let middle = format!(
            "\r\n--{BOUNDARY}\r\nContent-Type: application/octet-stream; name=\"{FILE_NAME}\"\r\n\
             Content-Transfer-Encoding: base64\r\n\
             Content-Disposition: attachment; filename=\"{FILE_NAME}\"\r\n\r\n"
        );
        Message { head, text, middle, file, tail: format!("--{BOUNDARY}--\r\n") }
    }

    /// Returns the calendar object of an appointment, an invitation or a response, as a store of calendars has it. `None` of
    /// other messages.
    pub fn calendar_object(&self, identity: MessageIdentity) -> Option<String> {
        let calendar = self.calendar(identity)?;
        let mut text = String::new();
        calendar.write(true, &mut text);
        Some(text)
    }

    fn calendar(&self, identity: MessageIdentity) -> Option<CalendarObject<'_>> {
        let author = Recipient::User(identity.message.user);
        let (organizer, attendees) = match identity.kind {
            MessageKind::Appointment | MessageKind::Invitation => (author, self.recipients(identity)),
            MessageKind::PopulatedInvitation => {
                (Recipient::User(identity.about.user), self.recipients(identity))
            }
            // It goes to the organizer, and tells of its author.
            MessageKind::Response => {
                (self.destination.recipient(identity.about.user), Recipients::one(author))
            }
            _ => return None,
        };
        let meeting_key = mix_bits(mix_bits(self.seed) ^ identity.meeting_key());
        let directory = &self.directory;
        Some(CalendarObject { identity, meeting_key, date: self.date, directory, organizer, attendees })
    }

    /// Writes the fields that all messages have.
    fn head(&self, identity: MessageIdentity) -> String {
        let MessageIdentity { kind, message, .. } = identity;
        let mut head = String::with_capacity(HEAD_CAPACITY);
        let author = self.directory.address(Recipient::User(self.author(identity)));
        head.push_str(ID_FIELD);
        head.push_str(std::str::from_utf8(&identity.message_id(self.seed).to_bytes()).expect("ASCII"));
        let date = self.date_of(identity);
        write!(head, "\r\nDate: {date}\r\nFrom: {author}\r\nTo: ").expect(WRITTEN);
        for (index, recipient) in self.recipients(identity).as_slice().iter().enumerate() {
            let before = if index == 0 { "" } else { ",\r\n " };
            write!(head, "{before}{}", self.directory.address(*recipient)).expect(WRITTEN);
        }
        write!(head, "\r\nSubject: {} {} of user {}\r\n", kind.word(), message.number, message.user)
            .expect(WRITTEN);
        head.push_str("MIME-Version: 1.0\r\n");
        head
    }

    /// Returns the date of a message. Those that are there before load are of the year before, others of the day of the run.
    fn date_of(&self, identity: MessageIdentity) -> MailDate {
        if identity.kind.is_populated() {
            self.date.earlier(1 + identity.content_key() % YEAR)
        } else {
            self.date.later(u64::from(identity.message.number))
        }
    }

    fn rng(&self, identity: MessageIdentity) -> Rng {
        Rng::new(self.seed, StreamPurpose::Data, identity.content_key())
    }

    fn draw_user(&self, rng: &mut Rng) -> u32 {
        rng.below(u64::from(self.directory.n_users())) as u32
    }

    /// Draws different recipients, as many as there are at most.
    fn draw_recipients(&self, identity: MessageIdentity, n: u8) -> Recipients {
        let n_users = self.recipients.len() as u64;
        let n_wanted = u64::from(n).min(n_users).min(RECIPIENTS_MAX as u64) as usize;
        let mut rng = self.rng(identity);
        let mut drawn = Recipients::NONE;
        while drawn.n < n_wanted {
            // Of the users that are left, by their places behind those drawn (R. Floyd's sampling).
            let limit = n_users - (n_wanted - drawn.n) as u64 + 1;
            let at = |place: u64| self.destination.recipient(self.recipients.start + place as u32);
            let chosen = at(rng.below(limit));
            let is_new = !drawn.as_slice().contains(&chosen);
            drawn.push(if is_new { chosen } else { at(limit - 1) });
        }
        drawn
    }
}

/// The name of the first field, with what stands before its value.
const ID_FIELD: &str = "Message-ID: ";

/// The bytes that the fields of a message with three recipients take.
const HEAD_CAPACITY: usize = 512;

const WRITTEN: &str = "texts take what is written";

/// A message, made piece by piece.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    head: String,
    text: WordText,
    middle: String,
    file: FileText,
    tail: String,
}

impl Message {
    fn without_body(head: String) -> Message {
        let (text, file) = (WordText::new(0, 0, 1), FileText::new(0, 0));
        Message { head, text, middle: String::new(), file, tail: String::new() }
    }

    /// Returns the number of bytes. No line begins with a dot, so that it travels in as many.
    pub fn bytes(&self) -> u64 {
        self.pieces().iter().map(|(_, bytes)| bytes).sum()
    }

    /// Writes the bytes from an offset on, as many as there are and fit; returns how many.
    pub fn fill(&self, offset: u64, buffer: &mut [u8]) -> usize {
        let mut written = 0;
        let mut start = 0;
        for (piece, bytes) in self.pieces() {
            let end = start + bytes;
            let at = offset + written as u64;
            if written < buffer.len() && at < end {
                let n = (buffer.len() - written).min((end - at) as usize);
                self.fill_piece(piece, at - start, &mut buffer[written..][..n]);
                written += n;
            }
            start = end;
        }
        written
    }

    fn pieces(&self) -> [(MessagePiece, u64); 5] {
        [
            (MessagePiece::Head, self.head.len() as u64),
            (MessagePiece::Text, self.text.bytes()),
            (MessagePiece::Middle, self.middle.len() as u64),
            (MessagePiece::File, self.file.bytes()),
            (MessagePiece::Tail, self.tail.len() as u64),
        ]
    }

    fn fill_piece(&self, piece: MessagePiece, offset: u64, buffer: &mut [u8]) {
        let whole = match piece {
            MessagePiece::Head => &self.head,
            MessagePiece::Middle => &self.middle,
            MessagePiece::Tail => &self.tail,
            MessagePiece::Text => return self.text.fill(offset, buffer),
            MessagePiece::File => return self.file.fill(offset, buffer),
        };
        buffer.copy_from_slice(&whole.as_bytes()[offset as usize..][..buffer.len()]);
    }
}

/// A piece of a message.
#[derive(Debug, Clone, Copy)]
enum MessagePiece {
    Head,
    Text,
    Middle,
    File,
    Tail,
}
