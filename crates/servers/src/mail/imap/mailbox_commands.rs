//! Commands that concern mailboxes as a whole.

use std::pin::pin;
use std::sync::Arc;

use super::command::StatusItem;
use super::mailbox_list::matches_pattern;
use super::session::{ANSWER_BYTES_MAX, Completion, ImapSession};
use super::view::{MailboxView, flags_line};
use crate::mail::connection::ConnectionEnd;
use crate::mail::fault::{FaultExchange, MailFaultAction};
use crate::mail::store::{Account, CreateError, DeleteError, MailFlags, MailboxState, SharedMailbox};

impl ImapSession {
    pub(super) fn list(&mut self, response: &str, pattern: &[u8]) -> Completion {
        if pattern.is_empty() {
            self.connection.put_line(&format!("* {response} (\\Noselect) \"/\" \"\""));
            return Completion::ok("done");
        }
        let names = self.account().map(Account::names).unwrap_or_default();
        for name in names.iter().filter(|name| matches_pattern(name, pattern)) {
            let has_children = names.iter().any(|other| other.starts_with(&format!("{name}/")));
            let children = if has_children { "HasChildren" } else { "HasNoChildren" };
            self.connection.put_line(&format!("* {response} (\\{children}) \"/\" \"{name}\""));
        }
        Completion::ok("done")
    }

    pub(super) fn status(&mut self, name: &str, items: &[StatusItem]) -> Completion {
        let Some(mailbox) = self.mailbox(name) else { return no_mailbox() };
        let state = mailbox.lock();
        let number = |item: &StatusItem| status_number(*item, &mailbox, &state);
        let numbers: Vec<String> =
            items.iter().map(|item| format!("{} {}", item.name(), number(item))).collect();
        drop(state);
        self.connection.put_line(&format!("* STATUS \"{}\" ({})", mailbox.name(), numbers.join(" ")));
        Completion::ok("done")
    }

    pub(super) async fn select(&mut self, name: &str, is_read_only: bool) -> Completion {
        self.view = None;
        let Some(mailbox) = self.mailbox(name) else { return no_mailbox() };
        let fault = self.worker.fault(FaultExchange::Selection).await;
        let view = MailboxView::new(Arc::clone(&mailbox), is_read_only);
        let (flags, first_unseen) = {
            let state = mailbox.lock();
            let unseen = state.entries().iter().find(|entry| !entry.flags.has(MailFlags::SEEN));
            (flags_line(state.keywords()), unseen.and_then(|entry| view.number(entry.uid)))
        };
        let permanent = if is_read_only { "" } else { "\\Seen \\Answered \\Flagged \\Deleted \\Draft \\*" };
        let is_new = fault == Some(MailFaultAction::NewValidity);
        let validity = if is_new { self.store().new_validity() } else { mailbox.validity() };
        let connection = &mut self.connection;
        connection.put_line(&flags);
        connection.put_line(&format!("* OK [PERMANENTFLAGS ({permanent})] flags that stay"));
        connection.put_line(&format!("* {} EXISTS", view.uids().len()));
        connection.put_line(&format!("* {} RECENT", view.n_recent()));
        if let Some(number) = first_unseen {
            connection.put_line(&format!("* OK [UNSEEN {number}] first unread message"));
        }
        connection.put_line(&format!("* OK [UIDVALIDITY {validity}] validity of UIDs"));
        connection.put_line(&format!("* OK [UIDNEXT {}] next UID", view.next_uid()));
        self.view = Some(view);
        Completion::ok(if is_read_only { "[READ-ONLY] selected" } else { "[READ-WRITE] selected" })
    }

    pub(super) fn create(&mut self, name: &str) -> Completion {
        let validity = self.store().new_validity();
        // A name may end with the sign between its parts, as a hint.
        let name = name.strip_suffix('/').unwrap_or(name);
        let Some(account) = self.account() else { return no_mailbox() };
        match account.create(name, validity) {
            Ok(()) => Completion::ok("created"),
            Err(CreateError::Exists) => Completion::no("[ALREADYEXISTS] there is a mailbox of this name"),
            Err(CreateError::Name) => Completion::no("[CANNOT] no mailbox can have this name"),
            Err(CreateError::TooMany) => Completion::no("[LIMIT] there are too many mailboxes"),
        }
    }

    pub(super) fn delete(&mut self, name: &str) -> Completion {
        let Some(account) = self.account() else { return no_mailbox() };
        match account.delete(name) {
            Ok(()) => Completion::ok("deleted"),
            Err(DeleteError::Unknown) => no_mailbox(),
            Err(DeleteError::Permanent) => Completion::no("[CANNOT] this mailbox stays"),
        }
    }

    /// Tells the client what is new as it comes, until it wants no more.
    pub(super) async fn idle(&mut self) -> Result<Completion, ConnectionEnd> {
        self.connection.put_line("+ idling");
        let mailbox = self.view.as_ref().map(|view| Arc::clone(view.mailbox()));
        let mut line = Vec::new();
        if let Some(mailbox) = &mailbox {
            loop {
                let mut changed = pin!(mailbox.changed().notified());
                // What changes from here on is not missed.
                changed.as_mut().enable();
                self.sync(true);
                self.connection.flush().await?;
                tokio::select! {
                    biased;
                    read = self.connection.read_line(&mut line, ANSWER_BYTES_MAX) => break read?,
                    () = changed => {}
                }
            }
        } else {
            self.connection.read_line(&mut line, ANSWER_BYTES_MAX).await?;
        }
        let is_done = line.trim_ascii().eq_ignore_ascii_case(b"DONE");
        Ok(if is_done { Completion::ok("done") } else { Completion::Bad("DONE was expected") })
    }

    pub(super) fn close(&mut self, with_expunge: bool) -> Completion {
        if let Some(view) = self.view.take()
            && with_expunge
            && !view.is_read_only()
        {
            view.mailbox().expunge(|entry| entry.flags.has(MailFlags::DELETED));
        }
        Completion::ok("closed")
    }
}

pub(super) fn no_mailbox() -> Completion {
    Completion::no("[NONEXISTENT] there is no such mailbox")
}

fn status_number(item: StatusItem, mailbox: &SharedMailbox, state: &MailboxState) -> usize {
    let entries = state.entries();
    match item {
        StatusItem::Messages => entries.len(),
        StatusItem::Recent => state.entries_from(state.recent_uid()).len(),
        StatusItem::UidNext => state.next_uid() as usize,
        StatusItem::UidValidity => mailbox.validity() as usize,
        StatusItem::Unseen => entries.iter().filter(|entry| !entry.flags.has(MailFlags::SEEN)).count(),
    }
}
