//! Mailboxes in memory.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use mail::{MailMessages, MailPopulation, Mailbox};

/// The validity of UIDs in all mailboxes.
pub(super) const VALIDITY: u32 = 77;

/// A message with its flags.
#[derive(Debug, Clone)]
pub(super) struct StoredMessage {
    pub(super) uid: u32,
    pub(super) text: Vec<u8>,
    pub(super) flags: BTreeSet<String>,
}

/// A mailbox: its messages by their places.
#[derive(Debug, Clone, Default)]
pub(super) struct StoredMailbox {
    pub(super) messages: Vec<StoredMessage>,
    last_uid: u32,
}

/// The mailboxes of a server by the names of users and their own; the shared one has no user.
#[derive(Debug, Default)]
pub(super) struct MailStore {
    mailboxes: BTreeMap<(String, String), StoredMailbox>,
    /// The numbers of the messages that were delivered.
    pub(super) n_delivered: u64,
}

impl MailStore {
    /// Makes the mailboxes of a population. INBOX alone is there for each user.
    pub(super) fn of(population: &MailPopulation, messages: &MailMessages) -> MailStore {
        let mut store = MailStore::default();
        for user in 0..population.n_users() {
            let name = messages.directory.user_name(user).to_string();
            store.create(&name, Mailbox::Inbox.name());
            for one in population.mailbox(user) {
                store.put(&name, Mailbox::Inbox.name(), text(messages, one.identity), &[]);
            }
        }
        store.create("", Mailbox::Discussion.name());
        for one in population.shared_mailbox() {
            store.put("", Mailbox::Discussion.name(), text(messages, one.identity), &[]);
        }
        store
    }

    /// Returns a mailbox, if it is there.
    pub(super) fn mailbox(&mut self, user: &str, name: &str) -> Option<&mut StoredMailbox> {
        self.mailboxes.get_mut(&key(user, name))
    }

    pub(super) fn create(&mut self, user: &str, name: &str) {
        self.mailboxes.entry(key(user, name)).or_default();
    }

    /// Returns whether there is a user of this name.
    pub(super) fn has_user(&self, user: &str) -> bool {
        self.mailboxes.contains_key(&key(user, Mailbox::Inbox.name()))
    }

    /// Puts a message into a mailbox. Returns its UID, if the mailbox is there.
    pub(super) fn put(&mut self, user: &str, name: &str, text: Vec<u8>, flags: &[&str]) -> Option<u32> {
        let mailbox = self.mailbox(user, name)?;
        mailbox.last_uid += 1;
        let uid = mailbox.last_uid;
        let flags = flags.iter().map(|flag| (*flag).to_owned()).collect();
        mailbox.messages.push(StoredMessage { uid, text, flags });
        Some(uid)
    }

    /// Delivers a message, with a field of the server before those of the sender.
    pub(super) fn deliver(&mut self, user: &str, text: &[u8]) {
        self.n_delivered += 1;
        let text = [b"Received: from here\r\n\tby there\r\n", text].concat();
        self.put(user, Mailbox::Inbox.name(), text, &[]);
    }
}

impl StoredMailbox {
    /// Returns the responses to SELECT.
    pub(super) fn selected(&self) -> String {
        let n = self.messages.len();
        let next = self.last_uid + 1;
        format!(
            "* FLAGS (\\Answered \\Deleted \\Seen)\r\n* {n} EXISTS\r\n* 0 RECENT\r\n\
             * OK [UIDVALIDITY {VALIDITY}] valid\r\n* OK [UIDNEXT {next}] next\r\n"
        )
    }

    /// Returns the UIDs of the messages, by their places.
    pub(super) fn uids(&self) -> Vec<u32> {
        self.messages.iter().map(|message| message.uid).collect()
    }

    /// Returns the responses by which a client that knows these UIDs learns what has come and gone.
    pub(super) fn news(&self, known: &[u32]) -> String {
        let uids = self.uids();
        let mut responses = String::new();
        for (index, _) in known.iter().enumerate().rev().filter(|(_, uid)| !uids.contains(uid)) {
            write!(responses, "* {} EXPUNGE\r\n", index + 1).unwrap();
        }
        if uids.iter().any(|uid| !known.contains(uid)) {
            write!(responses, "* {} EXISTS\r\n", uids.len()).unwrap();
        }
        responses
    }

    /// Returns the places of the messages of a set, from 1: by UIDs, or by the places themselves.
    pub(super) fn places(&self, set: &str, by_uid: bool) -> Vec<usize> {
        let is_in = |number: u32| {
            set.split(',').any(|part| {
                let (first, last) = part.split_once(':').unwrap_or((part, part));
                (first.parse::<u32>().unwrap()..=last.parse().unwrap()).contains(&number)
            })
        };
        let number = |place: usize| if by_uid { self.messages[place].uid } else { place as u32 + 1 };
        (0..self.messages.len()).filter(|place| is_in(number(*place))).map(|place| place + 1).collect()
    }

    /// Returns the response for a message, with its envelope or its whole text.
    pub(super) fn fetched(&self, place: usize, has_body: bool) -> Vec<u8> {
        let StoredMessage { uid, text, flags } = &self.messages[place - 1];
        let flags = flags.iter().cloned().collect::<Vec<_>>().join(" ");
        let mut response = format!("* {place} FETCH (UID {uid} FLAGS ({flags})").into_bytes();
        if has_body {
            response.extend(format!(" BODY[] {{{}}}\r\n", text.len()).into_bytes());
            response.extend(text);
        } else {
            let people = "((NIL NIL \"a\" \"b.test\"))";
            let id = field(text, "Message-ID: ");
            let mut envelope = String::new();
            write!(
                envelope,
                " INTERNALDATE \"30-Nov-2026 03:34:57 +0000\" RFC822.SIZE {} ENVELOPE (NIL {{3}}\r\nhi\\ {people} \
                 {people} {people} {people} NIL NIL NIL \"{id}\")",
                text.len()
            )
            .unwrap();
            response.extend(envelope.into_bytes());
        }
        response.extend(b")\r\n");
        response
    }

    /// Removes messages by their places. Returns the responses.
    pub(super) fn expunge(&mut self, places: &[usize]) -> String {
        let mut responses = String::new();
        for place in places.iter().rev() {
            self.messages.remove(place - 1);
            write!(responses, "* {place} EXPUNGE\r\n").unwrap();
        }
        responses
    }

    /// Returns the places of messages that are marked as deleted.
    pub(super) fn deleted(&self) -> Vec<usize> {
        let is_deleted = |place: &usize| self.messages[place - 1].flags.contains("\\Deleted");
        (1..=self.messages.len()).filter(is_deleted).collect()
    }
}

/// Returns the key of a mailbox: the shared one is that of all users.
fn key(user: &str, name: &str) -> (String, String) {
    let user = if name == Mailbox::Discussion.name() { "" } else { user };
    (user.to_owned(), name.to_owned())
}

fn text(messages: &MailMessages, identity: mail::MessageIdentity) -> Vec<u8> {
    let message = messages.message(identity);
    let mut text = vec![0; message.bytes() as usize];
    message.fill(0, &mut text);
    text
}

/// Returns the value of a field of a message.
fn field(text: &[u8], name: &str) -> String {
    let text = String::from_utf8_lossy(text);
    let line = text.lines().find_map(|line| line.strip_prefix(name));
    line.unwrap_or_default().to_owned()
}
