//! Users, messages and ledger together, with a mail server in memory that loses, doubles and alters messages.

use std::collections::{BTreeMap, BTreeSet};

use mail::{
    Acceptance, Delivery, DeliveryLedger, InvitationChoice, MailAction, MailAnswer, MailDate, MailDirectory,
    MailLoad, MailMessages, MailOperation, MailPacing, MailPopulation, MailScript, MailStep, Mailbox,
    MessageDepth, MessageIdentity, MessageKind, MessagePlace, MessageSight, MessageVerifier, PAGE_ENTRIES,
    Recipient, VerifiedMessage,
};
use units::Nanos;

const N_USERS: u32 = 12;

/// The messages of each mailbox by their UIDs.
type Mailboxes = BTreeMap<(u32, Mailbox), BTreeMap<u32, Vec<u8>>>;

/// A fault with every so many deliveries; 0 for never.
#[derive(Clone, Copy, Default)]
struct Faults {
    lose: u32,
    double: u32,
    alter: u32,
}

struct Fixture {
    messages: MailMessages,
    mailboxes: Mailboxes,
    next_uid: u32,
    ledger: DeliveryLedger,
    faults: Faults,
    n_delivered: u32,
    /// The copies that were lost and doubled.
    lost: BTreeSet<Delivery>,
    doubled: BTreeSet<Delivery>,
    n_altered: u32,
    n_found_altered: u32,
    now: Nanos,
    /// The UIDs of each user's first page.
    pages: BTreeMap<u32, Vec<u32>>,
}

impl Fixture {
    fn new(faults: Faults) -> Fixture {
        let directory = MailDirectory::numbered("mail", N_USERS, "bench.test").unwrap();
        let mut messages = MailMessages::new(7, directory, MailDate::from_unix_seconds(1_796_005_800));
        messages.sizes = mail::MailSizes::all(300);
        let mut fixture = Fixture {
            messages,
            mailboxes: Mailboxes::new(),
            next_uid: 1,
            ledger: DeliveryLedger::new(Nanos::from_secs(60)),
            faults,
            n_delivered: 0,
            lost: BTreeSet::new(),
            doubled: BTreeSet::new(),
            n_altered: 0,
            n_found_altered: 0,
            now: Nanos::ZERO,
            pages: BTreeMap::new(),
        };
        let population = MailPopulation::new(N_USERS, 25, 60).unwrap();
        let own = (0..N_USERS).flat_map(|user| population.mailbox(user).collect::<Vec<_>>());
        for one in own.chain(population.shared_mailbox()) {
            let text = fixture.text(one.identity);
            fixture.put(one.owner, one.mailbox, text);
        }
        fixture
    }

    fn text(&self, identity: MessageIdentity) -> Vec<u8> {
        let message = self.messages.message(identity);
        let mut text = vec![0; message.bytes() as usize];
        message.fill(0, &mut text);
        text
    }

    fn put(&mut self, user: u32, mailbox: Mailbox, text: Vec<u8>) {
        self.mailboxes.entry((user, mailbox)).or_default().insert(self.next_uid, text);
        self.next_uid += 1;
    }

    fn perform(&mut self, user: u32, operation: &MailOperation) -> MailAnswer {
        self.now += Nanos::from_millis(1);
        match operation.action {
            MailAction::OpenView(mailbox) => return MailAnswer::View(self.uids(user, mailbox).len() as u32),
            MailAction::ReadPage(mailbox, range) => return self.read_page(user, mailbox, range.first),
            MailAction::Read(entry) => drop(self.read(user, entry)),
            MailAction::Delete(entry) => {
                let uid = self.pages[&user][entry as usize];
                self.mailboxes.get_mut(&(user, Mailbox::Inbox)).unwrap().remove(&uid);
            }
            MailAction::Move(entry, mailbox) => {
                let uid = self.pages[&user][entry as usize];
                let text = self.mailboxes.get_mut(&(user, Mailbox::Inbox)).unwrap().remove(&uid);
                text.into_iter().for_each(|text| self.put(user, mailbox, text));
            }
            MailAction::Add(mailbox, identity) => {
                let owner = if mailbox == Mailbox::Discussion { 0 } else { user };
                let text = self.text(identity);
                self.put(owner, mailbox, text);
            }
            MailAction::Send(identity) => self.send(identity),
            MailAction::Respond(choice, number) => {
                let response = match choice {
                    InvitationChoice::Entry(entry) => {
                        let invitation = self.read(user, entry);
                        assert!(invitation.kind.is_invitation());
                        invitation.reply(1, number, self.messages.author(invitation))
                    }
                    InvitationChoice::Number(about) => {
                        MessageIdentity { epoch: 1, kind: MessageKind::Response, message: number, about }
                    }
                };
                self.send(response);
            }
            MailAction::Answer(entry, number) => {
                let original = self.read(user, entry);
                self.send(original.reply(1, number, self.messages.author(original)));
            }
            _ => {}
        }
        MailAnswer::Done
    }

    fn uids(&self, user: u32, mailbox: Mailbox) -> Vec<u32> {
        let owner = if mailbox == Mailbox::Discussion { 0 } else { user };
        self.mailboxes.get(&(owner, mailbox)).map_or_else(Vec::new, |one| one.keys().rev().copied().collect())
    }

    fn read_page(&mut self, user: u32, mailbox: Mailbox, first: u32) -> MailAnswer {
        let mut uids = self.uids(user, mailbox);
        uids.drain(..(first as usize).min(uids.len()));
        uids.truncate(PAGE_ENTRIES as usize);
        let n = uids.len() as u8;
        let mut invitations = 0;
        if mailbox == Mailbox::Inbox && first == 0 {
            for (entry, uid) in uids.iter().enumerate() {
                let found = self.verified(&self.mailboxes[&(user, mailbox)][uid]);
                let is_one = found.identity.is_some_and(|identity| identity.kind.is_invitation());
                invitations |= u32::from(is_one) << entry;
            }
            self.pages.insert(user, uids);
        }
        MailAnswer::Page { n, invitations }
    }

    fn verified(&self, text: &[u8]) -> VerifiedMessage {
        let mut verifier = MessageVerifier::new(MessageDepth::Full);
        text.chunks(100).for_each(|piece| verifier.feed(piece, &self.messages));
        verifier.finish()
    }

    /// Reads a document as a user does, and tells the ledger.
    fn read(&mut self, user: u32, entry: u32) -> MessageIdentity {
        let uid = self.pages[&user][entry as usize];
        let found = self.verified(&self.mailboxes[&(user, Mailbox::Inbox)][&uid]);
        self.see(user, uid, found);
        found.identity.expect("a message of the run")
    }

    fn see(&mut self, user: u32, uid: u32, found: VerifiedMessage) -> Option<MessageSight> {
        let identity = found.identity?;
        if !identity.kind.is_sent() {
            assert_eq!(found.fault, None, "only what was delivered is altered");
            return None;
        }
        let delivery = Delivery::new(identity, Recipient::User(user));
        let sight = self.ledger.see(delivery, MessagePlace { validity: 1, number: uid });
        let is_first = matches!(sight, MessageSight::First { .. });
        self.n_found_altered += u32::from(is_first && found.fault.is_some());
        Some(sight)
    }

    fn send(&mut self, identity: MessageIdentity) {
        for recipient in self.messages.recipients(identity).as_slice() {
            let delivery = Delivery::new(identity, *recipient);
            self.ledger.submit(delivery);
            self.deliver(identity, delivery);
            assert_eq!(self.ledger.accept(delivery, self.now), Acceptance::Awaited);
        }
    }

    fn deliver(&mut self, identity: MessageIdentity, delivery: Delivery) {
        let Recipient::User(user) = delivery.recipient else { panic!("of this server") };
        self.n_delivered += 1;
        let is_hit = |every: u32| every != 0 && self.n_delivered.is_multiple_of(every);
        let Faults { lose, double, alter } = self.faults;
        let [is_lost, is_doubled, is_altered] = [is_hit(lose), is_hit(double), is_hit(alter)];
        if is_lost {
            self.lost.insert(delivery);
            return;
        }
        // Servers put fields of their own before those of the sender.
        let mut text = [b"Received: from here\r\n\tby there\r\n".to_vec(), self.text(identity)].concat();
        if is_doubled {
            self.doubled.insert(delivery);
            self.put(user, Mailbox::Inbox, text.clone());
        } else if is_altered {
            self.n_altered += 1;
            let last = text.len() - 10;
            text[last] ^= 1;
        }
        self.put(user, Mailbox::Inbox, text);
    }

    /// Reads all that is in the mailboxes, as at the end of a load point.
    fn read_everything(&mut self) {
        for user in 0..N_USERS {
            for uid in self.uids(user, Mailbox::Inbox) {
                let found = self.verified(&self.mailboxes[&(user, Mailbox::Inbox)][&uid]);
                self.see(user, uid, found);
            }
        }
    }
}

fn run(script: MailScript, faults: Faults, n_loops: u32) -> Fixture {
    let mut fixture = Fixture::new(faults);
    let load = MailLoad { script, pacing: MailPacing::default(), seed: 7, epoch: 1, n_users: N_USERS };
    let mut users: Vec<_> = (0..N_USERS).map(|number| (load.user(number), None)).collect();
    while users.iter().any(|(user, _)| user.n_loops() < n_loops) {
        for (number, (user, last)) in (0..).zip(&mut users) {
            if let MailStep::Perform(operation) = user.next(last.take()) {
                *last = Some(fixture.perform(number, &operation));
            }
        }
    }
    fixture.read_everything();
    fixture
}

#[test]
fn a_server_without_faults_delivers_everything_once() {
    for script in [MailScript::Mail, MailScript::MailDb, MailScript::Mail8, MailScript::MailR6] {
        let mut fixture = run(script, Faults::default(), 24);
        let totals = fixture.ledger.totals();
        assert!(100 < totals.submitted, "{totals:?}");
        assert_eq!((totals.delivered, totals.awaited, totals.delivered_twice), (totals.submitted, 0, 0));
        assert_eq!(fixture.ledger.next_lost(Nanos::MAX), None);
    }
}

/// Users read documents before they delete or move them, so that nothing goes unseen.
#[test]
fn what_is_lost_doubled_and_altered_is_found_and_nothing_else() {
    for script in [MailScript::Mail, MailScript::Mail8] {
        let mut fixture = run(script, Faults { lose: 7, double: 11, alter: 13 }, 24);
        let mut lost = BTreeSet::new();
        while let Some(one) = fixture.ledger.next_lost(Nanos::MAX) {
            lost.insert(one.delivery);
        }
        assert!(!lost.is_empty() && lost == fixture.lost);
        let totals = fixture.ledger.totals();
        assert_eq!(totals.lost as usize, lost.len());
        assert_eq!(totals.delivered, totals.submitted - totals.lost);
        assert!(!fixture.doubled.is_empty() && 0 < fixture.n_altered);
        assert_eq!(totals.delivered_twice as usize, fixture.doubled.len());
        assert_eq!(fixture.n_found_altered, fixture.n_altered);
        assert!(totals.sides().into_iter().all(|[one, other]| one == other));
    }
}
