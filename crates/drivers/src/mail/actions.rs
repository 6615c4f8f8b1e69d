//! The actions of a user as commands, with what a mail program remembers of the mailboxes that it shows.
//!
//! | action | over IMAP | over SMTP |
//! |---|---|---|
//! | open | `SELECT` | |
//! | open view | `UID SEARCH ALL`, extended where the server has that | |
//! | read page | `UID FETCH` of the entries of the view; without a view `NOOP` and `FETCH` of the last messages | |
//! | read | `UID FETCH` of a whole message | |
//! | read next unread | `UID SEARCH UNSEEN`, and `UID FETCH` | |
//! | categorize, mark unread | `UID STORE` | |
//! | delete | `UID STORE`, `UID EXPUNGE` or `EXPUNGE` | |
//! | move | `UID MOVE`, or `UID COPY` and as delete | |
//! | add, make appointment | `APPEND` | |
//! | send | `APPEND` of a copy | submission; recipients are looked up by `RCPT` |
//! | respond, answer | `UID FETCH` of the invitation; `UID STORE` | submission |
//! | close | `UNSELECT` or `CLOSE` | |
//! | list mailboxes | `LIST` | |
//! | check | `NOOP`, or `STATUS` where no mailbox is selected | |
//! | drain | in a session of its own: log-on, `SELECT`, `UID FETCH` of all messages, as delete, `LOGOUT` | |
//!
//! A mailbox that is needed and not selected, as after a session was lost, is selected first. A submission has a connection of
//! its own: `EHLO`, `STARTTLS` where that is wanted, `AUTH`, `MAIL`, a `RCPT` for each recipient, `DATA`.

use std::rc::Rc;
use std::sync::Arc;

use mail::{
    EntryDraw, EntryRange, InvitationChoice, MailAction, MailAnswer, Mailbox, MessageDepth, MessageIdentity,
    MessageKind, MessageNumber, MessagePlace, PAGE_ENTRIES, Recipient, VerifiedMessage,
};
use mailwire::imap::UidCollection;
use units::Clock;

use super::MailContext;
use super::codes::{EXPUNGE_ISSUED, Violation};
use super::deliveries::{self, SubmittedCopies};
use super::failure::MailFailure;
use super::imap::ImapSession;
use super::link::MailTraffic;
use super::mailbox::{PageEntry, PageNumbers, ReadMessage, entries_of_view, places, ranges, single};
use super::smtp::{Envelope, SmtpProtocol, SmtpSession};

/// The flag of a category.
const CATEGORIZED: &str = "+FLAGS.SILENT ($Label1)";
/// The flag of a message that was answered.
const ANSWERED: &str = "+FLAGS.SILENT (\\Answered)";
/// The flag of a message that is unread.
const UNREAD: &str = "-FLAGS.SILENT (\\Seen)";
/// The flags of a copy of a message that was sent.
const OF_COPY: &str = "(\\Seen)";

/// The session of a user.
#[derive(Debug)]
pub(super) struct UserSession {
    context: Rc<MailContext>,
    user: u32,
    imap: ImapSession,
    /// The UIDs of the mailbox whose view is open.
    view: Option<(Mailbox, UidCollection)>,
    /// The entries of the first page of the user's mailbox, the newest first.
    page: Vec<PageEntry>,
    /// The least UID in the shared mailbox that the user has not looked at.
    unread_from: u32,
    /// The commands and bytes of connections beside the session.
    beside: MailTraffic,
}

impl UserSession {
    /// Opens the session of a user.
    ///
    /// # Errors
    /// There is no session.
    pub(super) async fn open(context: &Rc<MailContext>, user: u32) -> Result<UserSession, MailFailure> {
        let imap = ImapSession::open(context, user).await?;
        Ok(UserSession {
            context: Rc::clone(context),
            user,
            imap,
            view: None,
            page: Vec::new(),
            unread_from: 1,
            beside: MailTraffic::default(),
        })
    }

    /// Returns the commands and bytes so far.
    pub(super) fn traffic(&self) -> MailTraffic {
        let mut traffic = self.imap.traffic();
        traffic += self.beside;
        traffic
    }

    /// Performs an action.
    ///
    /// # Errors
    /// The server does not do it, does it wrongly, or ends the session.
    pub(super) async fn perform(&mut self, action: MailAction) -> Result<MailAnswer, MailFailure> {
        match action {
            MailAction::Open(mailbox) => self.select(mailbox).await?,
            MailAction::OpenView(mailbox) => return self.open_view(mailbox).await,
            MailAction::ReadPage(mailbox, range) => return self.read_page(mailbox, range).await,
            MailAction::Read(entry) => self.read_entry(entry).await?,
            MailAction::ReadNextUnread => self.read_next_unread().await?,
            MailAction::Categorize(entry) => {
                let uid = self.entry(entry)?.uid;
                self.flag(uid, CATEGORIZED).await?;
            }
            MailAction::MarkUnread(draw, n) => self.mark_unread(draw, n).await?,
            MailAction::Add(mailbox, message) => self.append(mailbox, message, None).await?,
            MailAction::Delete(entry) => {
                let uid = self.entry(entry)?.uid;
                self.need(Mailbox::Inbox).await?;
                self.imap.delete(&[single(uid)]).await?;
            }
            MailAction::DeleteOld(draw) => self.delete_old(draw).await?,
            MailAction::Move(entry, mailbox) => {
                let uid = self.entry(entry)?.uid;
                self.need(Mailbox::Inbox).await?;
                self.imap.move_to(uid, mailbox).await?;
            }
            MailAction::Send(message) => {
                self.submit(message).await?;
                self.append(Mailbox::Sent, message, Some(OF_COPY)).await?;
            }
            MailAction::MakeAppointment(message) => self.append(Mailbox::Calendar, message, None).await?,
            MailAction::Respond(choice, number) => self.respond(choice, number).await?,
            MailAction::Answer(entry, number) => self.answer(entry, number).await?,
            MailAction::Close(mailbox) => self.close(mailbox).await?,
            MailAction::ListMailboxes => self.imap.list().await?,
            MailAction::Drain => self.drain().await?,
            MailAction::Check => self.imap.check().await?,
        }
        Ok(MailAnswer::Done)
    }

    async fn select(&mut self, mailbox: Mailbox) -> Result<(), MailFailure> {
        self.view = None;
        if mailbox == Mailbox::Discussion {
            self.unread_from = 1;
        }
        self.imap.select(mailbox).await
    }

    /// Selects a mailbox unless it is selected.
    async fn need(&mut self, mailbox: Mailbox) -> Result<(), MailFailure> {
        match self.imap.selected() {
            Some((selected, _)) if selected == mailbox => Ok(()),
            _ => self.select(mailbox).await,
        }
    }

    /// Closes a mailbox. The entries of its pages are of no use any more.
    async fn close(&mut self, mailbox: Mailbox) -> Result<(), MailFailure> {
        self.view = None;
        if mailbox == Mailbox::Inbox {
            self.page = Vec::new();
        }
        self.imap.unselect().await
    }

    async fn open_view(&mut self, mailbox: Mailbox) -> Result<MailAnswer, MailFailure> {
        self.need(mailbox).await?;
        let collection = self.imap.collection().await?;
        let n = u32::try_from(collection.n()).unwrap_or(u32::MAX);
        self.view = Some((mailbox, collection));
        Ok(MailAnswer::View(n))
    }

    /// Returns the UIDs of a mailbox whose view is open; opens it if it is not.
    async fn view_of(&mut self, mailbox: Mailbox) -> Result<&UidCollection, MailFailure> {
        if !matches!(&self.view, Some((of, _)) if *of == mailbox) {
            self.open_view(mailbox).await?;
        }
        let view = self.view.as_ref().map(|(_, collection)| collection);
        view.ok_or(MailFailure::violation(Violation::NoEntry, 0))
    }

    async fn read_page(&mut self, mailbox: Mailbox, range: EntryRange) -> Result<MailAnswer, MailFailure> {
        self.need(mailbox).await?;
        let numbers = self.page_numbers(mailbox, range).await?;
        let messages = Arc::clone(&self.context.options.messages);
        let entries = match numbers {
            Some(numbers) => self.imap.page(numbers, &messages).await?,
            None => Vec::new(),
        };
        let n = entries.len() as u8;
        let invitations = (0..).zip(&entries).fold(0_u32, |bits, (index, entry)| {
            let is_one = entry.identity.is_some_and(|identity| identity.kind.is_invitation());
            bits | u32::from(is_one && !entry.is_answered) << index
        });
        if mailbox == Mailbox::Inbox {
            entries.iter().for_each(|entry| self.see(entry.identity, entry.uid));
            if range.first == 0 {
                self.page = entries;
            }
        }
        Ok(MailAnswer::Page { n, invitations })
    }

    /// Returns the numbers of a page: of the view, where it is open, else of the mailbox as it is now. `None` if the page is
    /// empty.
    async fn page_numbers(
        &mut self,
        mailbox: Mailbox,
        range: EntryRange,
    ) -> Result<Option<PageNumbers>, MailFailure> {
        let EntryRange { first, n } = range;
        if let Some((of, view)) = &self.view
            && *of == mailbox
        {
            let uids = entries_of_view(view, first, n);
            return Ok((!uids.is_empty()).then_some(PageNumbers::Uids(uids)));
        }
        self.imap.check().await?;
        let n_messages = self.imap.selected().and_then(|(_, selected)| selected.n_messages());
        Ok(places(n_messages.unwrap_or(0), first, n).map(PageNumbers::Places))
    }

    /// Returns an entry of the first page of the user's mailbox.
    fn entry(&self, entry: u32) -> Result<PageEntry, MailFailure> {
        let found = self.page.get(entry as usize).copied();
        found.ok_or(MailFailure::violation(Violation::NoEntry, entry.into()))
    }

    async fn flag(&mut self, uid: u32, change: &'static str) -> Result<(), MailFailure> {
        self.need(Mailbox::Inbox).await?;
        self.imap.store(&[single(uid)], change).await
    }

    async fn read_entry(&mut self, entry: u32) -> Result<(), MailFailure> {
        let uid = self.entry(entry)?.uid;
        self.need(Mailbox::Inbox).await?;
        let read = self.read(uid).await?;
        self.see(read.identity, uid);
        self.judge(uid, read)
    }

    async fn read(&mut self, uid: u32) -> Result<VerifiedMessage, MailFailure> {
        let context = Rc::clone(&self.context);
        self.imap.read(uid, context.options.depth, &context.options.messages).await
    }

    /// Returns whether a message that was read is the one that was sent.
    fn judge(&self, uid: u32, read: VerifiedMessage) -> Result<(), MailFailure> {
        match (read.identity, read.fault) {
            (_, Some(fault)) => Err(MailFailure::content(fault)),
            (None, None) if self.context.options.depth != MessageDepth::Off => {
                Err(MailFailure::violation(Violation::Foreign, uid.into()))
            }
            (_, None) => Ok(()),
        }
    }

    /// Notes in the ledger that a message is in the user's mailbox.
    fn see(&self, message: Option<MessageIdentity>, uid: u32) {
        let Some(ledger) = &self.context.options.deliveries else { return };
        let validity = self.imap.selected().and_then(|(_, selected)| selected.validity());
        if let (Some(message), Some(validity)) = (message, validity) {
            deliveries::see(ledger, message, self.user, MessagePlace { validity, number: uid });
        }
    }

    /// Reads the next unread document of the shared mailbox. That there is none, or that another user has deleted it
    /// meanwhile, is no failure.
    async fn read_next_unread(&mut self) -> Result<(), MailFailure> {
        self.need(Mailbox::Discussion).await?;
        let Some(uid) = self.imap.next_unread(self.unread_from).await? else { return Ok(()) };
        self.unread_from = uid.saturating_add(1);
        match self.read(uid).await {
            Ok(read) => self.judge(uid, read),
            Err(failure) if is_gone(failure) => Ok(()),
            Err(failure) => Err(failure),
        }
    }

    async fn mark_unread(&mut self, draw: EntryDraw, n: u32) -> Result<(), MailFailure> {
        let view = self.view_of(Mailbox::Discussion).await?;
        let among = u32::try_from(view.n()).unwrap_or(u32::MAX);
        let uids: Vec<u32> = draw.distinct(n, among).filter_map(|entry| view.newest(entry.into())).collect();
        if uids.is_empty() { Ok(()) } else { unless_gone(self.imap.store(&ranges(&uids), UNREAD).await) }
    }

    /// Deletes a document of the shared mailbox, where others than the run may have documents, too: its identity is read first.
    /// That another user has deleted it meanwhile is no failure.
    async fn delete_old(&mut self, draw: EntryDraw) -> Result<(), MailFailure> {
        let view = self.view_of(Mailbox::Discussion).await?;
        let among = u32::try_from(view.n()).unwrap_or(u32::MAX);
        let uid = draw.old(among).and_then(|entry| view.newest(entry.into()));
        let Some(uid) = uid else { return Ok(()) };
        let messages = Arc::clone(&self.context.options.messages);
        match self.imap.page(PageNumbers::Uids(vec![uid]), &messages).await?.first() {
            None => Ok(()),
            Some(PageEntry { identity: None, .. }) => {
                Err(MailFailure::violation(Violation::Foreign, uid.into()))
            }
            Some(_) => unless_gone(self.imap.delete(&[single(uid)]).await),
        }
    }

    async fn append(
        &mut self,
        mailbox: Mailbox,
        message: MessageIdentity,
        flags: Option<&'static str>,
    ) -> Result<(), MailFailure> {
        let message = self.context.options.messages.message(message);
        self.imap.append(mailbox, &message, flags).await
    }

    async fn respond(&mut self, choice: InvitationChoice, number: MessageNumber) -> Result<(), MailFailure> {
        let entry = match choice {
            InvitationChoice::Number(about) => {
                let kind = MessageKind::Response;
                let epoch = self.context.options.epoch;
                return self.submit(MessageIdentity { epoch, kind, message: number, about }).await;
            }
            InvitationChoice::Entry(entry) => entry,
        };
        self.read_entry(entry).await?;
        self.answer(entry, number).await
    }

    /// Submits the answer to a document, and flags the document.
    async fn answer(&mut self, entry: u32, number: MessageNumber) -> Result<(), MailFailure> {
        let PageEntry { uid, identity, .. } = self.entry(entry)?;
        let foreign = MailFailure::violation(Violation::Foreign, uid.into());
        let original = identity.ok_or(foreign)?;
        let options = &self.context.options;
        let reply = original.reply(options.epoch, number, options.messages.author(original));
        self.submit(reply).await?;
        self.flag(uid, ANSWERED).await
    }

    /// Submits a message over a connection of its own.
    async fn submit(&mut self, identity: MessageIdentity) -> Result<(), MailFailure> {
        let context = Rc::clone(&self.context);
        let opened = SmtpSession::open(&context, &context.submission, SmtpProtocol::Smtp).await;
        let mut session = opened.map_err(MailFailure::elsewhere)?;
        let submitted = self.submit_over(&mut session, identity).await;
        self.beside += session.traffic();
        submitted.map_err(MailFailure::elsewhere)
    }

    async fn submit_over(
        &self,
        session: &mut SmtpSession,
        identity: MessageIdentity,
    ) -> Result<(), MailFailure> {
        session.log_on(self.user).await?;
        let options = &self.context.options;
        let message = options.messages.message(identity);
        let recipients = options.messages.recipients(identity);
        let recipients: &[Recipient] = recipients.as_slice();
        let mut copies = SubmittedCopies::enter(options.deliveries.as_ref(), identity, recipients);
        let mut refused = None;
        let envelope = Envelope { identity, message: &message, recipients };
        let clock = self.context.clock;
        let handed_over = session
            .hand_over(&envelope, &mut |place, answer| match answer {
                Ok(()) => copies.accept(place, clock.now()),
                Err(failure) => {
                    copies.refuse(place);
                    refused = refused.or(Some(failure));
                }
            })
            .await;
        handed_over?;
        refused.map_or(Ok(()), Err)
    }

    /// Fetches all messages of the user's mailbox and deletes them, in a session of its own.
    async fn drain(&mut self) -> Result<(), MailFailure> {
        let context = Rc::clone(&self.context);
        let mut session = ImapSession::open(&context, self.user).await.map_err(MailFailure::elsewhere)?;
        let drained = self.drain_over(&mut session).await;
        let ended = match drained {
            Err(failure) if failure.ends_session => {
                self.beside += session.traffic();
                return Err(failure.elsewhere());
            }
            _ => session.log_out().await.map_err(MailFailure::elsewhere)?,
        };
        self.beside += ended;
        drained
    }

    async fn drain_over(&self, session: &mut ImapSession) -> Result<(), MailFailure> {
        session.select(Mailbox::Inbox).await?;
        let selected = session.selected().map(|(_, selected)| selected);
        if selected.and_then(|selected| selected.n_messages()).unwrap_or(0) == 0 {
            return Ok(());
        }
        let validity = selected.and_then(|selected| selected.validity());
        let options = &self.context.options;
        let mut read = UidCollection::new();
        let mut verdict = Ok(());
        let mut take = |message: ReadMessage| {
            read.add(single(message.uid));
            verdict = verdict.and(self.judge(message.uid, message.content));
            if let (Some(ledger), Some(identity), Some(validity)) =
                (&options.deliveries, message.content.identity, validity)
            {
                let place = MessagePlace { validity, number: message.uid };
                deliveries::see(ledger, identity, self.user, place);
            }
        };
        session.read_all(options.depth, &options.messages, &mut take).await?;
        // Only what was read: another may have come meanwhile.
        session.delete(read.ranges()).await?;
        verdict
    }
}

/// Returns whether a message was deleted, by another user, before something was done with it: servers either say so, or name
/// nothing.
fn is_gone(failure: MailFailure) -> bool {
    [Violation::Gone as u32, EXPUNGE_ISSUED].contains(&failure.code)
}

/// Returns what came of a command, which did nothing where its messages were gone.
fn unless_gone(done: Result<(), MailFailure>) -> Result<(), MailFailure> {
    done.or_else(|failure| if is_gone(failure) { Ok(()) } else { Err(failure) })
}

/// A page has no more entries than its invitations have bits.
const _: () = assert!(PAGE_ENTRIES <= u32::BITS);
