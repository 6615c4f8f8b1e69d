//! Appointments, invitations and responses as calendar objects (RFC 5545), which travel in messages (RFC 6047).

use std::fmt::Write as _;

use super::Recipients;
use crate::address::{MailAddress, MailDirectory, Recipient};
use crate::date::MailDate;
use crate::identity::{MessageIdentity, MessageKind, MessageNumber};

/// The most bytes of a line without its end (RFC 5545, 3.1).
const LINE_MAX: usize = 75;

/// The length of a meeting, in s.
const MEETING_SECONDS: u64 = 1800;

/// The meetings of a day begin within eight hours from nine o'clock on, each half hour, in the four weeks from tomorrow on.
const FIRST_SECOND: u64 = 9 * 3600;
const STARTS_PER_DAY: u64 = 16;
const DAYS: u64 = 28;

/// A calendar object with what it says.
pub(super) struct CalendarObject<'a> {
    pub(super) identity: MessageIdentity,
    /// The key of the meeting, from which its time follows.
    pub(super) meeting_key: u64,
    /// The date of the run.
    pub(super) date: MailDate,
    pub(super) directory: &'a MailDirectory,
    pub(super) organizer: Recipient,
    pub(super) attendees: Recipients,
}

impl CalendarObject<'_> {
    /// Returns the method of a message with the object; `None` for an appointment, which is nobody else's.
    pub(super) fn method(&self) -> Option<&'static str> {
        match self.identity.kind {
            MessageKind::Invitation | MessageKind::PopulatedInvitation => Some("REQUEST"),
            MessageKind::Response => Some("REPLY"),
            _ => None,
        }
    }

    /// Writes the object; without a method, as stores of calendars have it, where `is_stored` says so.
    pub(super) fn write(&self, is_stored: bool, out: &mut String) {
        let start = self.start();
        let MessageNumber { user, number } = self.identity.meeting();
        line(out, format_args!("BEGIN:VCALENDAR"));
        line(out, format_args!("VERSION:2.0"));
        line(out, format_args!("PRODID:-//Plimsoll//Mail//EN"));
        if let Some(method) = self.method().filter(|_| !is_stored) {
            line(out, format_args!("METHOD:{method}"));
        }
        line(out, format_args!("BEGIN:VEVENT"));
        line(out, format_args!("UID:{user:08x}-{number:08x}@plimsoll.invalid"));
        line(out, format_args!("DTSTAMP:{}", self.date.calendar_form()));
        line(out, format_args!("DTSTART:{}", start.calendar_form()));
        line(out, format_args!("DTEND:{}", start.later(MEETING_SECONDS).calendar_form()));
        line(out, format_args!("SUMMARY:Meeting {number} of user {user}"));
        self.write_people(out);
        line(out, format_args!("END:VEVENT"));
        line(out, format_args!("END:VCALENDAR"));
    }

    fn write_people(&self, out: &mut String) {
        if self.method().is_none() {
            return;
        }
        line(out, format_args!("ORGANIZER:mailto:{}", self.address(self.organizer)));
        let answer = if self.identity.kind == MessageKind::Response {
            "PARTSTAT=ACCEPTED"
        } else {
            "PARTSTAT=NEEDS-ACTION;RSVP=TRUE"
        };
        for attendee in self.attendees.as_slice() {
            line(out, format_args!("ATTENDEE;{answer}:mailto:{}", self.address(*attendee)));
        }
    }

    fn address(&self, recipient: Recipient) -> MailAddress<'_> {
        self.directory.address(recipient)
    }

    /// Returns the begin of the meeting. It is in the future of the run, as servers deliver no invitations to past ones.
    fn start(&self) -> MailDate {
        let day = 1 + self.meeting_key % DAYS;
        let half_hour = self.meeting_key / DAYS % STARTS_PER_DAY;
        self.date.midnight().later(day * 86_400 + FIRST_SECOND + half_hour * MEETING_SECONDS)
    }
}

/// Writes a line, folded where it is longer than lines may be. All texts are ASCII.
fn line(out: &mut String, text: std::fmt::Arguments) {
    let start = out.len();
    out.write_fmt(text).expect("texts take what is written");
    let mut at = start + LINE_MAX;
    while at < out.len() {
        out.insert_str(at, "\r\n ");
        // The blank is part of the next line.
        at += 2 + LINE_MAX;
    }
    out.push_str("\r\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_are_folded() {
        let mut out = String::new();
        line(&mut out, format_args!("{}", "a".repeat(75)));
        assert_eq!(out, format!("{}\r\n", "a".repeat(75)));
        out.clear();
        line(&mut out, format_args!("{}", "a".repeat(75 + 74 + 1)));
        assert_eq!(out, format!("{}\r\n {}\r\n a\r\n", "a".repeat(75), "a".repeat(74)));
    }
}
