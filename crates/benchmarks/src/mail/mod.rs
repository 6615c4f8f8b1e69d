//! Benchmarks of mail servers: users go through the loop of a script, with a mailbox each.
//!
//! `docs/benchmarks/notes-mail.md` says what the original did, what this does, and every known difference.

use mail::{
    CountedItem, EntryRange, InvitationChoice, MailAction, MailAnswer, MailLoad, MailOperation, MailStep,
    MailUser, Mailbox, MessageIdentity, MessageKind, MessageNumber, PAGE_ENTRIES,
};
use model::{LoadPoint, MailWorkload, Mix, PauseStart, Step, User, UserReply};
use units::Rng;

use crate::Builtin;

/// Mail in mailboxes of users' own.
pub(crate) const NOTES_MAIL: Builtin = Builtin {
    id: "notes-mail",
    definition_file: "notes-mail.toml",
    definition: include_str!("notes-mail.toml"),
    filelists: &[],
};

/// The same, and a mailbox that all users share.
pub(crate) const NOTES_MAILDB: Builtin = Builtin {
    id: "notes-maildb",
    definition_file: "notes-maildb.toml",
    definition: include_str!("notes-maildb.toml"),
    filelists: &[],
};

/// Users of a mail workload at a load point.
#[derive(Debug, Clone)]
pub struct MailUsers {
    load: MailLoad,
    n_kinds: usize,
}

impl MailUsers {
    /// Creates them for a workload with the seed of the run and the epoch of their messages; `n_users` have a mailbox.
    pub fn new(workload: &MailWorkload, seed: u64, epoch: u32, n_users: u32) -> MailUsers {
        let load = workload.load(seed, epoch, n_users);
        MailUsers { load, n_kinds: workload.items().len() }
    }
}

/// Returns the number by which the messages of a load point are told from those of others, where those of a run begin behind
/// `first`; 0 have those that are there before load.
pub fn epoch(first: u32, point: LoadPoint) -> u32 {
    first.saturating_add(point.index).saturating_add(1)
}

/// Returns the operations with which a user opens its mailbox and reads page after page of it, from the newest message on: none
/// that changes it. They have no end; [`ends_mailbox`] tells where that of the mailbox is.
pub fn reading() -> impl Iterator<Item = MailOperation> {
    let opening = [
        (CountedItem::OpenMailbox, MailAction::Open(Mailbox::Inbox)),
        (CountedItem::OpenView, MailAction::OpenView(Mailbox::Inbox)),
    ];
    let pages = (0..).map(|n: u32| {
        let item = if n == 0 { CountedItem::ReadPage } else { CountedItem::Scroll };
        (item, MailAction::ReadPage(Mailbox::Inbox, page(n.saturating_mul(PAGE_ENTRIES))))
    });
    opening.into_iter().chain(pages).map(|(item, action)| MailOperation { item, action })
}

/// Returns whether an answer is the last page of a mailbox.
pub fn ends_mailbox(answer: MailAnswer) -> bool {
    matches!(answer, MailAnswer::Page { n, .. } if u32::from(n) < PAGE_ENTRIES)
}

/// Returns the operations with which a user opens the shared mailbox and its view.
pub fn opening_shared() -> [MailOperation; 2] {
    [
        (CountedItem::OpenShared, MailAction::Open(Mailbox::Discussion)),
        (CountedItem::OpenSharedView, MailAction::OpenView(Mailbox::Discussion)),
    ]
    .map(|(item, action)| MailOperation { item, action })
}

/// Returns operations of most kinds of a workload, which send messages of their own epoch; none deletes anything.
pub fn probing(workload: &MailWorkload, epoch: u32) -> Vec<MailOperation> {
    let mut number = 0;
    let mut message = |kind| {
        number += 1;
        MessageIdentity::new(epoch, kind, MessageNumber { user: 0, number })
    };
    let first = MessageNumber { user: 0, number: 0 };
    let inbox = [
        (CountedItem::ReadDocument, MailAction::Read(0)),
        (CountedItem::UpdateDocument, MailAction::Categorize(0)),
        (CountedItem::SendMemo, MailAction::Send(message(MessageKind::Memo))),
        (CountedItem::MakeAppointment, MailAction::MakeAppointment(message(MessageKind::Appointment))),
        (CountedItem::Invite, MailAction::Send(message(MessageKind::Invitation))),
        (CountedItem::Respond, MailAction::Respond(InvitationChoice::Number(first), first)),
        (CountedItem::AddDocument, MailAction::Add(Mailbox::Inbox, message(MessageKind::Document))),
    ];
    let shared = [
        (CountedItem::ReadSharedPage, MailAction::ReadPage(Mailbox::Discussion, page(0))),
        (CountedItem::ReadUnread, MailAction::ReadNextUnread),
        (CountedItem::AddShared, MailAction::Add(Mailbox::Discussion, message(MessageKind::SharedDocument))),
        (CountedItem::CloseShared, MailAction::Close(Mailbox::Discussion)),
    ];
    let has_shared = workload.of_loop.script().has_shared_mailbox();
    let operation = |(item, action)| MailOperation { item, action };
    // The mailbox with its first two pages.
    let mut all: Vec<MailOperation> = reading().take(4).collect();
    all.extend(inbox.map(operation));
    all.push(operation((CountedItem::CloseMailbox, MailAction::Close(Mailbox::Inbox))));
    if has_shared {
        all.extend(opening_shared());
        all.extend(shared.map(operation));
    }
    all
}

/// Returns a page of a view, by its first entry.
fn page(first: u32) -> EntryRange {
    EntryRange { first, n: PAGE_ENTRIES }
}

/// A virtual user of a mail program.
#[derive(Debug, Clone)]
pub struct ScriptedMailUser(MailUser);

impl User for ScriptedMailUser {
    type Operation = MailOperation;

    /// The user has random numbers of its own, which do not depend on what a server answers.
    fn next(&mut self, last: Option<UserReply>, _: &mut Rng) -> Step<MailOperation> {
        match self.0.next(last.map(|reply| MailAnswer::from_u64(reply.value))) {
            MailStep::Perform(operation) => Step::Perform(operation),
            MailStep::Wait(kind, time) => Step::Think { kind: kind as u16, time, from: PauseStart::Done },
            MailStep::LoopEnd { ok } => Step::Unit { kind: 0, ok },
        }
    }
}

impl Mix for MailUsers {
    type Operation = MailOperation;
    type User = ScriptedMailUser;

    fn user(&self, user: u32) -> ScriptedMailUser {
        ScriptedMailUser(self.load.user(user))
    }

    /// A user knows the page that it reads.
    fn has_user_state(&self) -> bool {
        true
    }

    /// Not asked for.
    fn scheduled(&self, _: u64) -> MailOperation {
        MailOperation { item: CountedItem::OpenMailbox, action: MailAction::Open(Mailbox::Inbox) }
    }

    fn n_kinds(&self) -> usize {
        self.n_kinds
    }

    fn n_units(&self) -> usize {
        1
    }
}

#[cfg(test)]
mod tests {
    use model::{HasKind, Outcome, Workload};

    use super::*;

    fn workload(builtin: &Builtin) -> MailWorkload {
        match builtin.load().workload {
            Workload::Mail(mail) => mail,
            _ => panic!("of mail servers"),
        }
    }

    fn users(builtin: &Builtin) -> MailUsers {
        MailUsers::new(&workload(builtin), 1, 1, 6)
    }

    /// Six loops of six users, to whom everything succeeds: of each kind as many as its share says, and the waiting of a loop is
    /// 900 s.
    #[test]
    fn users_perform_the_items_of_their_loop_in_its_shares() {
        for (builtin, n_kinds) in [(&NOTES_MAIL, 13), (&NOTES_MAILDB, 21)] {
            let users = users(builtin);
            assert_eq!((users.n_kinds(), users.n_units()), (n_kinds, 1));
            let mut counts = vec![0_u32; n_kinds];
            let mut waited = 0.0;
            for user in 0..6 {
                let mut user = users.user(user);
                let mut rng = Rng::new(1, units::StreamPurpose::Data, 0);
                let (mut n_loops, mut last) = (0, None);
                while n_loops < 6 {
                    match user.next(last.take(), &mut rng) {
                        Step::Perform(operation) => {
                            counts[usize::from(operation.kind())] += 1;
                            let answer = match operation.action {
                                MailAction::ReadPage(..) => MailAnswer::Page { n: 20, invitations: 0b10 },
                                MailAction::OpenView(_) => MailAnswer::View(40),
                                _ => MailAnswer::Done,
                            };
                            last = Some(UserReply { outcome: Outcome::Ok, value: answer.to_u64() });
                        }
                        Step::Think { kind, time, .. } if kind != 0 => waited += time.as_secs_f64(),
                        Step::Think { .. } => {}
                        Step::Unit { ok, .. } => {
                            assert!(ok);
                            n_loops += 1;
                        }
                        Step::Await | Step::Leave => panic!("users stay"),
                    }
                }
            }
            let script = workload(builtin).of_loop.script();
            for item in workload(builtin).items() {
                assert_eq!(f64::from(counts[item.index()]), 36.0 * script.per_loop(*item), "{item:?}");
            }
            // The waits between loops, five of each user, fill each loop up to a quarter of an hour; the last loops lack theirs.
            assert!((30.0 * 900.0..36.0 * 900.0).contains(&waited), "{waited}");
        }
    }

    #[test]
    fn kinds_of_pauses_are_those_of_the_catalog() {
        let names: Vec<String> =
            workload(&NOTES_MAIL).catalog().pauses.into_iter().map(|pause| pause.name).collect();
        let expected = mail::MailWait::NAMES.map(|(wait, name)| (wait as usize, name));
        assert!(expected.into_iter().all(|(index, name)| names[index] == name));
    }
}
