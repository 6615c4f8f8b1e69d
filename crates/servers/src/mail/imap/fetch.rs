//! Replies to FETCH. Bodies are sent piece by piece, as they are made.

use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

use super::command::Messages;
use super::envelope::write_envelope;
use super::fetch_items::{BodyItem, FetchItem, SectionBytes};
use super::mailbox_commands::no_mailbox;
use super::message_commands::chosen_uids;
use super::session::{Completion, ImapSession};
use crate::mail::connection::ConnectionEnd;
use crate::mail::fault::{FaultExchange, MailFaultAction};
use crate::mail::store::{
    FlagChange, MailFlags, MailboxEntry, MessageReader, SharedMailbox, write_date_time, write_flags,
};

/// The bytes of a body that are made at a time.
const PIECE: u64 = 16 << 10;

/// The length that a body is announced with by a fault.
const HUGE_BYTES: u64 = 2_000_000_000;

impl ImapSession {
    /// Sends what FETCH asks for.
    pub(super) async fn fetch(
        &mut self,
        messages: &Messages,
        items: &[FetchItem],
    ) -> Result<Completion, ConnectionEnd> {
        let Some(view) = &mut self.view else { return Ok(no_mailbox()) };
        let uids = match chosen_uids(view, messages) {
            Ok(uids) => uids,
            Err(missing) => return Ok(missing.into()),
        };
        let mailbox = Arc::clone(view.mailbox());
        let marks_seen = !view.is_read_only() && items.iter().any(FetchItem::marks_seen);
        if marks_seen {
            view.sync(false, self.connection.output());
        }
        let mut is_missing = false;
        for uid in uids {
            let Some((entry, is_read_now)) = self.take_entry(&mailbox, uid, marks_seen) else {
                is_missing = true;
                continue;
            };
            self.put_message(&mailbox, &entry, items, is_read_now).await?;
            self.connection.flush_some().await?;
        }
        Ok(if is_missing && !messages.is_uid {
            Completion::no("[EXPUNGEISSUED] some of the messages are gone")
        } else {
            Completion::ok("done")
        })
    }

    /// Returns a message, which it marks as read if it is to; and whether it was not read before. `None` if it is gone.
    fn take_entry(
        &mut self,
        mailbox: &SharedMailbox,
        uid: u32,
        marks_seen: bool,
    ) -> Option<(MailboxEntry, bool)> {
        let entry = mailbox.lock().entry(uid).cloned()?;
        if !marks_seen || entry.flags.has(MailFlags::SEEN) {
            return Some((entry, false));
        }
        let mut changed = mailbox.change_flags([uid].into_iter(), FlagChange::Add, MailFlags::SEEN);
        if let Some(view) = &mut self.view {
            view.notice(changed.before, changed.after);
        }
        changed.entries.pop().map(|entry| (entry, true))
    }

    async fn put_message(
        &mut self,
        mailbox: &SharedMailbox,
        entry: &MailboxEntry,
        items: &[FetchItem],
        is_read_now: bool,
    ) -> Result<(), ConnectionEnd> {
        let Some(view) = &self.view else { return Ok(()) };
        let Some(number) = view.number(entry.uid) else { return Ok(()) };
        let is_recent = view.is_recent(entry.uid);
        let flags = || {
            let state = mailbox.lock();
            format!("FLAGS ({})", write_flags(entry.flags, state.keywords(), is_recent))
        };
        let worker = Rc::clone(&self.worker);
        let needs_message = items.iter().any(FetchItem::needs_message);
        let reader = needs_message.then(|| entry.message.reader(worker.store().messages()));
        let fault = worker.fault(FaultExchange::Message).await;
        let uid = if fault == Some(MailFaultAction::UidOrder) { u32::MAX - entry.uid } else { entry.uid };
        self.connection.put(&format!("* {number} FETCH ("));
        for (index, item) in items.iter().enumerate() {
            let connection = &mut self.connection;
            if 0 < index {
                connection.put(" ");
            }
            match (item, &reader) {
                (FetchItem::Uid, _) => connection.put(&format!("UID {uid}")),
                (FetchItem::Flags, _) => connection.put(&flags()),
                (FetchItem::Size, _) => connection.put(&format!("RFC822.SIZE {}", entry.message.bytes())),
                (FetchItem::InternalDate, _) => {
                    connection.put(&format!("INTERNALDATE \"{}\"", write_date_time(entry.date)));
                }
                (FetchItem::Envelope, Some(reader)) => {
                    connection.put("ENVELOPE ");
                    write_envelope(&reader.head(), connection.output());
                }
                (FetchItem::Body(body), Some(reader)) => self.put_body(body, reader).await?,
                // These items need a reader, which is there.
                (FetchItem::Envelope | FetchItem::Body(_), None) => {}
            }
            // A command may ask for the same thousands of times.
            self.connection.flush_some().await?;
        }
        if is_read_now && !items.contains(&FetchItem::Flags) {
            self.connection.put(&format!(" {}", flags()));
        }
        self.connection.put_line(")");
        Ok(())
    }

    async fn put_body(&mut self, body: &BodyItem, message: &MessageReader<'_>) -> Result<(), ConnectionEnd> {
        let bytes = body.bytes(message);
        let length = bytes.len();
        let fault = self.worker.fault(FaultExchange::Body).await;
        let announced = match fault {
            Some(MailFaultAction::ShortLiteral) => length + 1,
            Some(MailFaultAction::LongLiteral) => length.saturating_sub(1),
            Some(MailFaultAction::HugeLiteral) => HUGE_BYTES,
            _ => length,
        };
        let altered = (fault == Some(MailFaultAction::WrongByte)).then_some(length / 2);
        self.connection.put(&format!("{} {{{announced}}}\r\n", body.name()));
        match bytes {
            SectionBytes::Collected(bytes) => self.connection.output().extend_from_slice(&bytes),
            SectionBytes::OfMessage(range) => self.put_range(message, range, altered).await?,
        }
        Ok(())
    }

    /// Sends a part of a message, of which the byte at an offset is another.
    async fn put_range(
        &mut self,
        message: &MessageReader<'_>,
        range: Range<u64>,
        altered: Option<u64>,
    ) -> Result<(), ConnectionEnd> {
        let mut at = range.start;
        while at < range.end {
            let n = (range.end - at).min(PIECE) as usize;
            let output = self.connection.output();
            let start = output.len();
            output.resize(start + n, 0);
            message.fill(at, &mut output[start..]);
            let offset = altered.and_then(|altered| (range.start + altered).checked_sub(at));
            if let Some(byte) = offset.and_then(|offset| output[start..].get_mut(offset as usize)) {
                *byte ^= 1;
            }
            at += n as u64;
            self.connection.flush_some().await?;
        }
        Ok(())
    }
}
