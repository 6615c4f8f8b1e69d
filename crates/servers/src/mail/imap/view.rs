//! A mailbox as a session sees it: message numbers, and what the client has been told.
//!
//! Numbers are places in a list of UIDs. A message that somebody removes keeps its place until the client is told.

use std::sync::Arc;

use super::command::Messages;
use super::syntax::SequenceSet;
use crate::mail::store::{SYSTEM_FLAGS, SharedMailbox, write_flags};

/// A selected mailbox.
#[derive(Debug)]
pub(super) struct MailboxView {
    mailbox: Arc<SharedMailbox>,
    is_read_only: bool,
    /// The UIDs of the messages, ascending.
    uids: Vec<u32>,
    /// The UID behind all that are known.
    next_uid: u32,
    /// From this UID on, messages are recent to this session.
    recent_uid: u32,
    /// The last modification of which the client knows, and the last that removed messages.
    noticed: u64,
    expunged: u64,
    n_keywords: usize,
}

/// A message number that is not there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct NoSuchMessage;

impl MailboxView {
    /// Selects a mailbox.
    pub(super) fn new(mailbox: Arc<SharedMailbox>, is_read_only: bool) -> MailboxView {
        let mut state = mailbox.lock();
        let uids = state.entries().iter().map(|entry| entry.uid).collect();
        let [noticed, expunged] = [state.modification(), state.expunged()];
        let [next_uid, recent_uid] = [state.next_uid(), state.recent_uid()];
        let n_keywords = state.keywords().len();
        if !is_read_only {
            state.notice_all();
        }
        drop(state);
        MailboxView { mailbox, is_read_only, uids, next_uid, recent_uid, noticed, expunged, n_keywords }
    }

    pub(super) fn mailbox(&self) -> &Arc<SharedMailbox> {
        &self.mailbox
    }

    pub(super) fn is_read_only(&self) -> bool {
        self.is_read_only
    }

    /// Returns the UIDs of the messages in the order of their numbers.
    pub(super) fn uids(&self) -> &[u32] {
        &self.uids
    }

    pub(super) fn next_uid(&self) -> u32 {
        self.next_uid
    }

    pub(super) fn is_recent(&self, uid: u32) -> bool {
        self.recent_uid <= uid
    }

    pub(super) fn n_recent(&self) -> usize {
        self.uids.len() - self.uids.partition_point(|uid| !self.is_recent(*uid))
    }

    /// Returns the number of a message.
    pub(super) fn number(&self, uid: u32) -> Option<u32> {
        self.uids.binary_search(&uid).ok().map(|index| index as u32 + 1)
    }

    /// Returns the messages of a set by their numbers, each once, ascending; UIDs of which there are none are left out.
    ///
    /// # Errors
    /// A number is beyond the last message.
    pub(super) fn numbers(&self, messages: &Messages) -> Result<Vec<u32>, NoSuchMessage> {
        let mut ranges =
            if messages.is_uid { self.uid_ranges(&messages.set) } else { self.ranges(&messages.set)? };
        ranges.sort_unstable();
        let mut next = 0;
        let mut numbers = Vec::new();
        for (start, end) in ranges {
            numbers.extend((start.max(next)..end).map(|index| index as u32 + 1));
            next = next.max(end);
        }
        Ok(numbers)
    }

    /// Returns the ranges of a set of UIDs as places in the list.
    fn uid_ranges(&self, set: &SequenceSet) -> Vec<(usize, usize)> {
        let last = self.uids.last().copied().unwrap_or(0);
        let place = |(first, last): (u32, u32)| {
            let start = self.uids.partition_point(|uid| *uid < first);
            (start, self.uids.partition_point(|uid| *uid <= last).max(start))
        };
        set.ranges(last).map(place).collect()
    }

    fn ranges(&self, set: &SequenceSet) -> Result<Vec<(usize, usize)>, NoSuchMessage> {
        let n = self.uids.len();
        let place = |(first, last): (u32, u32)| {
            // `*` in an empty mailbox is 0.
            let is_there = last as usize <= n || n == 0 && first == 0;
            let start = (first as usize).saturating_sub(1);
            if is_there { Ok((start.min(n), (last as usize).min(n))) } else { Err(NoSuchMessage) }
        };
        set.ranges(n as u32).map(place).collect()
    }

    /// Takes note of a change that the client is told of otherwise, if it knew of all before.
    pub(super) fn notice(&mut self, before: u64, after: u64) {
        if self.noticed == before {
            self.noticed = after;
        }
    }

    /// Appends what is new in the mailbox to replies; numbers of messages do not change unless `with_expunges`.
    pub(super) fn sync(&mut self, with_expunges: bool, output: &mut Vec<u8>) {
        let mailbox = Arc::clone(&self.mailbox);
        let mut state = mailbox.lock();
        if self.n_keywords != state.keywords().len() {
            self.n_keywords = state.keywords().len();
            put(output, &flags_line(state.keywords()));
        }
        if with_expunges && self.expunged != state.expunged() {
            self.expunged = state.expunged();
            let mut entries = state.entries().iter().map(|entry| entry.uid).peekable();
            self.tell_expunged(
                |uid| {
                    while entries.next_if(|entry| *entry < uid).is_some() {}
                    entries.peek() == Some(&uid)
                },
                output,
            );
        }
        if self.noticed == state.modification() {
            return;
        }
        let known = state.entries().iter().take_while(|entry| entry.uid < self.next_uid);
        for entry in known.filter(|entry| self.noticed < entry.modification) {
            let Some(number) = self.number(entry.uid) else { continue };
            let flags = write_flags(entry.flags, state.keywords(), self.is_recent(entry.uid));
            put(output, &format!("* {number} FETCH (UID {} FLAGS ({flags}))", entry.uid));
        }
        let n_before = self.uids.len();
        self.uids.extend(state.entries_from(self.next_uid).iter().map(|entry| entry.uid));
        self.next_uid = state.next_uid();
        self.noticed = state.modification();
        if !self.is_read_only {
            state.notice_all();
        }
        if n_before != self.uids.len() {
            put(output, &format!("* {} EXISTS", self.uids.len()));
            put(output, &format!("* {} RECENT", self.n_recent()));
        }
    }

    /// Removes messages that are not there any more from the list, and says so.
    fn tell_expunged(&mut self, mut is_there: impl FnMut(u32) -> bool, output: &mut Vec<u8>) {
        let mut number = 1_u32;
        self.uids.retain(|uid| {
            let stays = is_there(*uid);
            if stays {
                number += 1;
            } else {
                put(output, &format!("* {number} EXPUNGE"));
            }
            stays
        });
    }
}

/// Returns the line that lists the flags of a mailbox.
pub(super) fn flags_line(keywords: &[Box<str>]) -> String {
    let system = SYSTEM_FLAGS.iter().map(|(name, _)| *name);
    let names: Vec<&str> = system.chain(keywords.iter().map(|name| &**name)).collect();
    format!("* FLAGS ({})", names.join(" "))
}

fn put(output: &mut Vec<u8>, line: &str) {
    output.extend_from_slice(line.as_bytes());
    output.extend_from_slice(b"\r\n");
}

#[cfg(test)]
mod tests {
    use mail::MailDate;

    use super::super::syntax::Cursor;
    use super::*;
    use crate::mail::store::{FlagChange, MailFlags, NewEntry, Room, StoredContent, StoredMessage};

    fn mailbox(n_messages: u32) -> Arc<SharedMailbox> {
        let mailbox = Arc::new(SharedMailbox::new("INBOX", 1, Arc::new(Room::new(1 << 20))));
        (0..n_messages).for_each(|_| add(&mailbox));
        mailbox
    }

    fn add(mailbox: &SharedMailbox) {
        let message = Arc::new(StoredMessage::new(StoredContent::Bytes(Box::default()), None));
        let date = MailDate::from_unix_seconds(0);
        mailbox.add(NewEntry { flags: MailFlags::default(), date, message }).unwrap();
    }

    fn synced(view: &mut MailboxView, with_expunges: bool) -> Vec<String> {
        let mut output = Vec::new();
        view.sync(with_expunges, &mut output);
        String::from_utf8(output).unwrap().lines().map(str::to_owned).collect()
    }

    fn numbers(view: &MailboxView, set: &str, is_uid: bool) -> Result<Vec<u32>, NoSuchMessage> {
        let set = Cursor::new(set.as_bytes()).sequence_set().unwrap();
        view.numbers(&Messages { set, is_uid })
    }

    #[test]
    fn a_client_is_told_of_everything_once() {
        let mailbox = mailbox(4);
        let mut view = MailboxView::new(Arc::clone(&mailbox), false);
        assert_eq!((view.n_recent(), synced(&mut view, true)), (4, vec![]));
        mailbox.change_flags([3].into_iter(), FlagChange::Add, MailFlags::SEEN);
        mailbox.expunge(|entry| entry.uid <= 2);
        add(&mailbox);
        // Numbers stay as they are for now.
        let changed = "* 3 FETCH (UID 3 FLAGS (\\Seen \\Recent))";
        assert_eq!(synced(&mut view, false), [changed, "* 5 EXISTS", "* 5 RECENT"]);
        assert_eq!(synced(&mut view, true), ["* 1 EXPUNGE", "* 1 EXPUNGE"]);
        assert_eq!(synced(&mut view, true), Vec::<String>::new());
        assert_eq!(view.uids(), [3, 4, 5]);
        mailbox.expunge(|entry| entry.uid == 4);
        assert_eq!(synced(&mut view, true), ["* 2 EXPUNGE"]);
        mailbox.lock().keyword("$x").unwrap();
        assert_eq!(synced(&mut view, true), ["* FLAGS (\\Seen \\Answered \\Flagged \\Deleted \\Draft $x)"]);
    }

    #[test]
    fn a_change_of_its_own_is_not_told_again() {
        let mailbox = mailbox(1);
        let mut view = MailboxView::new(Arc::clone(&mailbox), false);
        view.notice(1, 2);
        mailbox.change_flags([1].into_iter(), FlagChange::Add, MailFlags::SEEN);
        assert_eq!(synced(&mut view, true), Vec::<String>::new());
        view.notice(1, 3);
        mailbox.change_flags([1].into_iter(), FlagChange::Add, MailFlags::DRAFT);
        assert_eq!(synced(&mut view, true).len(), 1, "it did not know of all before");
    }

    #[test]
    fn messages_are_recent_to_the_first_session_that_sees_them() {
        let mailbox = mailbox(2);
        let n_recent = |is_read_only| MailboxView::new(Arc::clone(&mailbox), is_read_only).n_recent();
        assert_eq!([true, false, false].map(n_recent), [2, 2, 0]);
    }

    #[test]
    fn sets_are_numbers_or_uids() {
        let mailbox = mailbox(5);
        mailbox.expunge(|entry| entry.uid == 2);
        // The UIDs are 1, 3, 4, 5.
        let view = MailboxView::new(mailbox, false);
        assert_eq!(numbers(&view, "3:*,1,2:3", false), Ok(vec![1, 2, 3, 4]));
        assert_eq!(numbers(&view, "3:*,2,1:3", true), Ok(vec![1, 2, 3, 4]));
        assert_eq!(numbers(&view, "9:*,2", true), Ok(vec![4]));
        assert_eq!(numbers(&view, "6:8", true), Ok(vec![]));
        assert_eq!(
            [numbers(&view, "5", false), numbers(&view, "2:5", false)],
            [Err(NoSuchMessage), Err(NoSuchMessage)]
        );
        assert_eq!((view.number(4), view.number(2)), (Some(3), None));
        let empty = MailboxView::new(self::mailbox(0), false);
        assert_eq!([numbers(&empty, "1:*", true), numbers(&empty, "1:*", false)], [Ok(vec![]), Ok(vec![])]);
        assert_eq!(numbers(&empty, "1", false), Err(NoSuchMessage));
    }
}
