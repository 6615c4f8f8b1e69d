//! Commands on mailboxes and their messages, by UIDs.

use mail::{
    MailMessages, Mailbox, Message, MessageDepth, MessageIdentity, MessageVerifier, PAGE_ENTRIES,
    VerifiedMessage,
};
use mailwire::imap::{
    FetchBody, FetchResponse, ImapCapability, ImapEvent, ImapResponse, NumberRange, UidCollection,
};

use super::codes::{TRY_CREATE, Violation};
use super::failure::MailFailure;
use super::imap::{ImapSession, nothing};

/// The items of an entry of a view.
const PAGE_ITEMS: &str = "(UID FLAGS INTERNALDATE RFC822.SIZE ENVELOPE)";

/// An entry of a page of a view.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PageEntry {
    pub(super) uid: u32,
    /// The message; `None` if it is none of the run's.
    pub(super) identity: Option<MessageIdentity>,
    /// Whether the user has answered it.
    pub(super) is_answered: bool,
}

/// A message that was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ReadMessage {
    pub(super) uid: u32,
    pub(super) content: VerifiedMessage,
}

/// The numbers of messages of a page.
#[derive(Debug, Clone)]
pub(super) enum PageNumbers {
    /// UIDs, of which some may have gone.
    Uids(Vec<u32>),
    /// Places in the mailbox, from the first on, all of which are there.
    Places(NumberRange),
}

impl ImapSession {
    /// Returns the UIDs of all messages of the mailbox.
    pub(super) async fn collection(&mut self) -> Result<UidCollection, MailFailure> {
        let words = if self.has(ImapCapability::ExtendedSearch) { "RETURN (ALL) ALL" } else { "ALL" };
        let search = self.command("UID SEARCH").words(words).finish();
        let (mut found, mut n_gone) = (UidCollection::new(), 0_u64);
        let mut take = |event: &ImapEvent<'_>| {
            match event {
                // Those that are gone by the end of the command may be among those found (RFC 3501, section 7.4.1).
                ImapEvent::Response(ImapResponse::Expunge(_)) => n_gone += 1,
                ImapEvent::Response(ImapResponse::Vanished { is_earlier: false, uids }) => {
                    n_gone = uids.ranges().fold(n_gone, |sum, range| sum.saturating_add(range.n()));
                }
                ImapEvent::Response(ImapResponse::Search(uids)) => {
                    uids.iter().filter(|uid| *uid != 0).for_each(|uid| found.add(single(uid)));
                }
                ImapEvent::Response(ImapResponse::ExtendedSearch(search)) if search.is_uid => {
                    search.all.iter().flat_map(|all| all.ranges()).for_each(|range| found.add(range));
                }
                _ => {}
            }
            Ok(())
        };
        self.perform(&search, &mut take).await?;
        let n_messages = self.selected().and_then(|(_, selected)| selected.n_messages());
        match n_messages {
            Some(n) if u64::from(n).saturating_add(n_gone) < found.n() => {
                Err(MailFailure::violation(Violation::NoSuchMessage, found.n()))
            }
            _ => Ok(found),
        }
    }

    /// Returns the least UID from `first` on of a message that is unread; `None` if there is none.
    pub(super) async fn next_unread(&mut self, first: u32) -> Result<Option<u32>, MailFailure> {
        let is_extended = self.has(ImapCapability::ExtendedSearch);
        let words = if is_extended { "RETURN (MIN) UNSEEN UID" } else { "UNSEEN UID" };
        let range = NumberRange { first, last: u32::MAX };
        let search = self.command("UID SEARCH").words(words).set([range]).finish();
        let mut least: Option<u32> = None;
        let mut take = |event: &ImapEvent<'_>| {
            let found = match event {
                ImapEvent::Response(ImapResponse::Search(uids)) => {
                    uids.iter().filter(|uid| first <= *uid).min()
                }
                ImapEvent::Response(ImapResponse::ExtendedSearch(search)) => search.least,
                _ => None,
            };
            // Servers name the last message where all are below the first of the set (RFC 3501, section 6.4.8).
            let found = found.filter(|uid| first <= *uid);
            least = least.into_iter().chain(found).min();
            Ok(())
        };
        self.perform(&search, &mut take).await?;
        Ok(least)
    }

    /// Returns the entries of a page that are there, the newest first.
    pub(super) async fn page(
        &mut self,
        numbers: PageNumbers,
        messages: &MailMessages,
    ) -> Result<Vec<PageEntry>, MailFailure> {
        let fetch = match &numbers {
            PageNumbers::Uids(uids) => self.command("UID FETCH").set(ranges(uids)),
            PageNumbers::Places(range) => self.command("FETCH").set([*range]),
        };
        let fetch = fetch.words(PAGE_ITEMS).finish();
        let mut entries: Vec<PageEntry> = Vec::new();
        let mut take = |event: &ImapEvent<'_>| {
            let ImapEvent::Response(ImapResponse::Fetch(fetch)) = event else { return Ok(()) };
            let Some(entry) = page_entry(fetch, messages) else { return Ok(()) };
            let is_of_page = match &numbers {
                PageNumbers::Uids(uids) => uids.contains(&entry.uid),
                PageNumbers::Places(range) => (range.first..=range.last).contains(&fetch.number),
            };
            let has_room = entries.len() < PAGE_ENTRIES as usize;
            if is_of_page && has_room && entries.iter().all(|known| known.uid != entry.uid) {
                entries.push(entry);
            }
            Ok(())
        };
        self.perform(&fetch, &mut take).await?;
        match numbers {
            PageNumbers::Places(range) if (entries.len() as u64) < range.n() => {
                Err(MailFailure::violation(Violation::Missing, entries.len() as u64))
            }
            _ => {
                entries.sort_unstable_by_key(|entry| std::cmp::Reverse(entry.uid));
                Ok(entries)
            }
        }
    }

    /// Reads a message, which the server then takes for read.
    pub(super) async fn read(
        &mut self,
        uid: u32,
        depth: MessageDepth,
        messages: &MailMessages,
    ) -> Result<VerifiedMessage, MailFailure> {
        let fetch = self.command("UID FETCH").set([single(uid)]).words("(UID BODY[])").finish();
        let mut bodies = BodyVerification { depth, messages, verifier: None };
        let mut found = None;
        let mut take = |event: &ImapEvent<'_>| {
            let read = bodies.take(event).filter(|read| read.uid == uid);
            found = read.map(|read| read.content).or(found);
            Ok(())
        };
        self.perform(&fetch, &mut take).await?;
        found.ok_or(MailFailure::violation(Violation::Gone, uid.into()))
    }

    /// Reads all messages of the mailbox, each of which is passed to `each`.
    pub(super) async fn read_all(
        &mut self,
        depth: MessageDepth,
        messages: &MailMessages,
        each: &mut dyn FnMut(ReadMessage),
    ) -> Result<(), MailFailure> {
        let all = NumberRange { first: 1, last: u32::MAX };
        let fetch = self.command("UID FETCH").set([all]).words("(UID BODY.PEEK[])").finish();
        let mut bodies = BodyVerification { depth, messages, verifier: None };
        let mut take = |event: &ImapEvent<'_>| {
            bodies.take(event).into_iter().for_each(&mut *each);
            Ok(())
        };
        self.perform(&fetch, &mut take).await
    }

    /// Changes flags of messages: `+FLAGS.SILENT (\Answered)`.
    pub(super) async fn store(
        &mut self,
        messages: &[NumberRange],
        change: &'static str,
    ) -> Result<(), MailFailure> {
        let store = self.command("UID STORE").set(messages.iter().copied()).words(change).finish();
        self.perform(&store, &mut nothing).await
    }

    /// Deletes messages for good.
    pub(super) async fn delete(&mut self, messages: &[NumberRange]) -> Result<(), MailFailure> {
        self.store(messages, "+FLAGS.SILENT (\\Deleted)").await?;
        let expunge = if self.has(ImapCapability::UidPlus) {
            self.command("UID EXPUNGE").set(messages.iter().copied())
        } else {
            self.command("EXPUNGE")
        };
        let expunge = expunge.finish();
        self.perform(&expunge, &mut nothing).await
    }

    /// Moves a message to another mailbox.
    pub(super) async fn move_to(&mut self, uid: u32, mailbox: Mailbox) -> Result<(), MailFailure> {
        let message = single(uid);
        if self.has(ImapCapability::Move) {
            return self.transfer("UID MOVE", message, mailbox).await;
        }
        self.transfer("UID COPY", message, mailbox).await?;
        self.delete(&[message]).await
    }

    /// Copies or moves messages to a mailbox, which is made if it is not there.
    async fn transfer(
        &mut self,
        name: &'static str,
        messages: NumberRange,
        mailbox: Mailbox,
    ) -> Result<(), MailFailure> {
        let target = self.mailbox_name(mailbox);
        let mut is_made = false;
        loop {
            let command = self.command(name).set([messages]).text(&target).finish();
            match self.perform(&command, &mut nothing).await {
                Err(failure) if failure.code == TRY_CREATE && !is_made => self.create(&target).await?,
                result => return result,
            }
            is_made = true;
        }
    }

    /// Puts a message into a mailbox, which is made if it is not there.
    pub(super) async fn append(
        &mut self,
        mailbox: Mailbox,
        message: &Message,
        flags: Option<&'static str>,
    ) -> Result<(), MailFailure> {
        let target = self.mailbox_name(mailbox);
        let mut is_made = false;
        loop {
            let append = self.command("APPEND").text(&target);
            let append = match flags {
                Some(flags) => append.words(flags),
                None => append,
            };
            let append = append.finish_with_literal(message.bytes());
            match self.perform_with_message(&append, message).await {
                Err(failure) if failure.code == TRY_CREATE && !is_made => self.create(&target).await?,
                result => return result,
            }
            is_made = true;
        }
    }

    async fn create(&mut self, name: &str) -> Result<(), MailFailure> {
        let create = self.command("CREATE").text(name).finish();
        self.perform(&create, &mut nothing).await
    }

    /// Lists the mailboxes. Each user has one at least.
    pub(super) async fn list(&mut self) -> Result<(), MailFailure> {
        let list = self.command("LIST").text("").text("*").finish();
        let mut is_one_there = false;
        let mut take = |event: &ImapEvent<'_>| {
            is_one_there |= matches!(event, ImapEvent::Response(ImapResponse::List(_)));
            Ok(())
        };
        self.perform(&list, &mut take).await?;
        if is_one_there { Ok(()) } else { Err(MailFailure::violation(Violation::Missing, 0)) }
    }

    /// Learns what is new: in the mailbox that is selected, or else in the user's own.
    pub(super) async fn check(&mut self) -> Result<(), MailFailure> {
        let check = if self.selected().is_some() {
            self.command("NOOP").finish()
        } else {
            self.command("STATUS").text(Mailbox::Inbox.name()).words("(MESSAGES UNSEEN UIDNEXT)").finish()
        };
        self.perform(&check, &mut nothing).await
    }
}

/// Bodies in FETCH responses, which are verified while they pass.
struct BodyVerification<'a> {
    depth: MessageDepth,
    messages: &'a MailMessages,
    verifier: Option<MessageVerifier>,
}

impl BodyVerification<'_> {
    /// Takes a part of a response. Returns the message that is complete with it.
    fn take(&mut self, event: &ImapEvent<'_>) -> Option<ReadMessage> {
        match event {
            ImapEvent::BodyBegin(_) => self.verifier = Some(MessageVerifier::new(self.depth)),
            ImapEvent::Body(bytes) => {
                if let Some(verifier) = &mut self.verifier {
                    verifier.feed(bytes, self.messages);
                }
            }
            ImapEvent::Response(ImapResponse::Fetch(fetch)) => return self.finish(fetch),
            ImapEvent::Response(_) => {}
        }
        None
    }

    fn finish(&mut self, fetch: &FetchResponse<'_>) -> Option<ReadMessage> {
        let passed = self.verifier.take();
        let verifier = match fetch.body? {
            FetchBody::Passed(_) => passed?,
            FetchBody::Quoted(text) => {
                let mut verifier = MessageVerifier::new(self.depth);
                verifier.feed(&unescaped(text), self.messages);
                verifier
            }
            FetchBody::Nil => MessageVerifier::new(self.depth),
        };
        Some(ReadMessage { uid: fetch.uid?, content: verifier.finish() })
    }
}

/// Returns a text as it is without the backslashes before quotes and backslashes.
fn unescaped(text: &[u8]) -> Vec<u8> {
    let mut bytes = text.iter();
    let mut unescaped = Vec::with_capacity(text.len());
    while let Some(byte) = bytes.next() {
        let literal = if *byte == b'\\' { bytes.next() } else { Some(byte) };
        unescaped.extend(literal);
    }
    unescaped
}

/// Returns the entry of a page that a response has; `None` if it has none.
fn page_entry(fetch: &FetchResponse<'_>, messages: &MailMessages) -> Option<PageEntry> {
    let uid = fetch.uid.filter(|_| fetch.has_envelope)?;
    let identity = fetch.message_id.and_then(|id| MessageIdentity::from_message_id(id, messages.seed));
    Some(PageEntry { uid, identity, is_answered: fetch.flags.is_some_and(|flags| flags.answered) })
}

/// Returns the range of one message.
pub(super) fn single(uid: u32) -> NumberRange {
    NumberRange { first: uid, last: uid }
}

/// Returns the ranges of messages, ascending.
pub(super) fn ranges(uids: &[u32]) -> Vec<NumberRange> {
    let mut collection = UidCollection::new();
    uids.iter().for_each(|uid| collection.add(single(*uid)));
    collection.ranges().to_vec()
}

/// Returns the UIDs of entries of a view, the newest first; as many as there are, and no more than a page has.
pub(super) fn entries_of_view(view: &UidCollection, first: u32, n: u32) -> Vec<u32> {
    let places = (0..n.min(PAGE_ENTRIES)).map(|place| u64::from(first) + u64::from(place));
    places.map_while(|place| view.newest(place)).collect()
}

/// Returns the places of entries in a mailbox with so many messages, the newest of which is the last; `None` if there are
/// none.
pub(super) fn places(n_messages: u32, first: u32, n: u32) -> Option<NumberRange> {
    let last = n_messages.checked_sub(first).filter(|last| *last != 0)?;
    let n = n.min(PAGE_ENTRIES).min(last);
    (0 < n).then(|| NumberRange { first: last - n + 1, last })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_counted_from_the_newest() {
        let mut view = UidCollection::new();
        view.add(NumberRange { first: 1, last: 3 });
        view.add(NumberRange { first: 7, last: 8 });
        assert_eq!(entries_of_view(&view, 0, 3), [8, 7, 3]);
        assert_eq!(entries_of_view(&view, 3, 20), [2, 1]);
        assert!(entries_of_view(&view, 5, 20).is_empty());
        assert_eq!(
            ranges(&[8, 7, 3]),
            [NumberRange { first: 3, last: 3 }, NumberRange { first: 7, last: 8 }]
        );
        // The same in a mailbox of five messages, by places: 5 and 4 are the newest.
        assert_eq!(places(5, 0, 3), Some(NumberRange { first: 3, last: 5 }));
        assert_eq!(places(5, 3, 20), Some(NumberRange { first: 1, last: 2 }));
        assert_eq!([places(5, 5, 20), places(0, 0, 20), places(5, 0, 0)], [None; 3]);
        assert_eq!(places(u32::MAX, 0, u32::MAX).map(|range| range.n()), Some(20));
    }

    #[test]
    fn quoted_bodies_lose_their_backslashes() {
        assert_eq!(unescaped(br#"a \"b\" \\ c"#), br#"a "b" \ c"#);
        assert_eq!(unescaped(br"a\"), b"a");
    }
}
