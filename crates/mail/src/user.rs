//! A mail user: a state machine that goes through a script.

use units::{Nanos, Rng, StreamPurpose, mix_bits};

use crate::identity::{MessageIdentity, MessageKind, MessageNumber};
use crate::item::CountedItem;
use crate::operation::{
    EntryDraw, EntryRange, InvitationChoice, MailAction, MailAnswer, MailOperation, Mailbox, PAGE_ENTRIES,
};
use crate::script::{BACK_OFF, LoopEndWait, MailScript, ScriptStep, WaitRange};

/// The documents of a page that a user chooses to read, file, answer and delete.
const PICKS: usize = 8;

/// The documents of the shared mailbox that are marked unread at a time.
const MARKED_UNREAD: u32 = 30;

/// The beginning of users.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MailStart {
    /// As the script says: staggered, with a while between log-on and the first loop.
    Scripted,
    /// Spread over the waiting of a loop, so that the load is even from the beginning.
    Spread,
}

/// The waits of users.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MailPacing {
    /// The divisor of all waits: 1 of the original. At least 1; 0 is 1.
    pub pace: u32,
    /// The beginning.
    pub start: MailStart,
}

impl Default for MailPacing {
    /// The waits of the script, spread.
    fn default() -> MailPacing {
        MailPacing { pace: 1, start: MailStart::Spread }
    }
}

/// The users of a load point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MailLoad {
    /// The script.
    pub script: MailScript,
    /// The waits.
    pub pacing: MailPacing,
    /// The seed of the run.
    pub seed: u64,
    /// The load point, as in [`MessageIdentity::epoch`]; above 0.
    pub epoch: u32,
    /// The number of users in the directory: invitations that are not in a mailbox are from one of these.
    pub n_users: u32,
}

impl MailLoad {
    /// Makes the user of this number, from 0.
    pub fn user(&self, number: u32) -> MailUser {
        MailUser::new(*self, number)
    }
}

/// The kind of a wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MailWait {
    /// Before the first loop.
    Start,
    /// Within a loop: looking at a page, reading a document.
    Reading,
    /// Between loops.
    Between,
    /// After an error.
    BackOff,
}

impl MailWait {
    /// All kinds with their names in reports, in the order of their declaration.
    pub const NAMES: [(MailWait, &'static str); 4] = [
        (MailWait::Start, "start"),
        (MailWait::Reading, "reading"),
        (MailWait::Between, "between loops"),
        (MailWait::BackOff, "back-off"),
    ];
}

/// The next step of a mail user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MailStep {
    /// Pause for so long, from the end of the last operation or of the pause before.
    Wait(MailWait, Nanos),
    /// Perform an operation and come back with its answer.
    Perform(MailOperation),
    /// Count a loop, in which every operation succeeded or not.
    LoopEnd {
        /// Whether every operation succeeded.
        ok: bool,
    },
}

/// A user who goes through a script.
///
/// | state | answer | next |
/// |---|---|---|
/// | before the first loop | | the waits of the beginning, then the first steps |
/// | within a loop | done, view or page | the wait of the step, then the next; a step whose document is not there is left out |
/// | | failed | the loop is over; back-off, then the next one |
/// | | session lost | the same; the first steps come again before it |
/// | at the end of a loop | | the loop is counted, and the wait between loops follows |
#[derive(Debug, Clone)]
pub struct MailUser {
    load: MailLoad,
    user: u32,
    n_loops: u32,
    next_number: u32,
    rng: Rng,
    stage: Stage,
    /// The step of the stage, and how many times it has been performed.
    step: u8,
    times: u8,
    /// A wait that is due, of each kind that can follow an answer.
    wait: Option<(MailWait, Nanos)>,
    /// The waiting of the loop so far, before it is divided.
    waited: Nanos,
    /// The random choices of the loop.
    choice: u64,
    page: PageView,
}

/// The part of a script in which a user is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// Nothing has been done.
    New,
    /// The steps that come once.
    Begin,
    /// The loop.
    Loop,
    /// The last operation failed, and the loop is to be counted, if it was one.
    Failed { in_loop: bool, session_lost: bool },
    /// The loop has been counted as one that failed.
    Broken { session_lost: bool },
    /// The loop has been counted.
    Counted,
}

/// A subject of random choices in a loop.
#[derive(Debug, Clone, Copy)]
enum Choice {
    Documents,
    Unread,
    Organizer,
    /// The document of the shared mailbox that is deleted at this place.
    OldShared(u8),
}

/// The first page of the user's view in this loop.
#[derive(Debug, Clone, Copy, Default)]
struct PageView {
    /// The entries of the page that are chosen, and how many.
    picks: [u8; PICKS],
    n_picks: u8,
    /// Unanswered invitations, as bits.
    invitations: u32,
    /// The numbers of the picks that have been read, filed and deleted.
    n_read: u8,
    n_filed: u8,
    n_deleted: u8,
    /// The pages of the shared view that have been read.
    n_shared_pages: u8,
}

impl MailUser {
    fn new(load: MailLoad, user: u32) -> MailUser {
        let mut made = MailUser {
            load,
            user,
            n_loops: 0,
            next_number: 0,
            rng: loop_rng(load.seed, user, u32::MAX),
            stage: Stage::New,
            step: 0,
            times: 0,
            wait: None,
            waited: Nanos::ZERO,
            choice: 0,
            page: PageView::default(),
        };
        made.choice = made.rng.bits();
        made
    }

    /// Returns the next step. `last` is the answer to the operation performed just before, if any.
    pub fn next(&mut self, last: Option<MailAnswer>) -> MailStep {
        if let Some(answer) = last {
            self.take_answer(answer);
        }
        loop {
            if let Some((kind, time)) = self.wait.take() {
                return MailStep::Wait(kind, time);
            }
            if let Some(step) = self.advance() {
                return step;
            }
        }
    }

    /// Returns the number of loops that have ended, whether every operation succeeded or not.
    pub fn n_loops(&self) -> u32 {
        self.n_loops
    }

    /// Returns the number of messages that the user has made in this load point.
    pub fn n_messages(&self) -> u32 {
        self.next_number
    }

    /// Goes on to the next step; `None` if that only changed the state.
    fn advance(&mut self) -> Option<MailStep> {
        match self.stage {
            Stage::New => {
                self.begin_waiting();
                self.stage = Stage::Begin;
                None
            }
            Stage::Begin | Stage::Loop => self.next_operation(),
            Stage::Failed { in_loop, session_lost } => {
                self.stage = Stage::Broken { session_lost };
                in_loop.then(|| self.count_loop(false))
            }
            Stage::Broken { session_lost } => {
                let time = self.draw(BACK_OFF);
                self.wait_for(MailWait::BackOff, time);
                self.begin_loop(if session_lost { Stage::Begin } else { Stage::Loop });
                None
            }
            Stage::Counted => {
                self.wait_between();
                self.begin_loop(Stage::Loop);
                None
            }
        }
    }

    fn begin_waiting(&mut self) {
        let script = self.load.script;
        let time = match self.load.pacing.start {
            MailStart::Scripted => {
                let waits = script.start_waits();
                // Log-on, which is between the two, is no operation.
                self.draw(waits.stagger) + self.draw(waits.settle)
            }
            MailStart::Spread => self.draw(WaitRange { least: 0, most: script.waiting().1 as u32 }),
        };
        self.wait_for(MailWait::Start, time);
    }

    fn begin_loop(&mut self, stage: Stage) {
        self.rng = loop_rng(self.load.seed, self.user, self.n_loops);
        self.choice = self.rng.bits();
        self.stage = stage;
        self.step = 0;
        self.times = 0;
        self.waited = Nanos::ZERO;
        self.page = PageView::default();
    }

    fn count_loop(&mut self, ok: bool) -> MailStep {
        self.n_loops = self.n_loops.wrapping_add(1);
        MailStep::LoopEnd { ok }
    }

    /// Returns the step of the script at which the user is.
    fn script_step(&self) -> Option<ScriptStep> {
        let index = usize::from(self.step);
        match self.stage {
            Stage::Begin => self.load.script.first_steps().get(index).copied(),
            _ => self.load.script.steps().nth(index),
        }
    }

    /// Returns the next operation of the stage, or what follows where there is none.
    fn next_operation(&mut self) -> Option<MailStep> {
        let Some(step) = self.script_step() else {
            if self.stage == Stage::Begin {
                self.begin_loop(Stage::Loop);
                return None;
            }
            self.stage = Stage::Counted;
            return Some(self.count_loop(true));
        };
        if step.times <= self.times || !self.is_due(step) {
            self.step += 1;
            self.times = 0;
            return None;
        }
        self.times += 1;
        let action = self.action(step.item)?;
        Some(MailStep::Perform(MailOperation { item: step.item, action }))
    }

    /// Returns whether a step is in this loop. Users are spread over the loops, so that sending is even.
    fn is_due(&self, step: ScriptStep) -> bool {
        let place = u64::from(self.n_loops) + u64::from(self.user);
        place.is_multiple_of(u64::from(step.every.max(1)))
    }

    fn take_answer(&mut self, answer: MailAnswer) {
        if !answer.is_success() {
            let in_loop = self.stage == Stage::Loop;
            let session_lost = answer == MailAnswer::SessionLost || !in_loop;
            self.stage = Stage::Failed { in_loop, session_lost };
            return;
        }
        let Some(step) = self.script_step() else { return };
        if let (CountedItem::ReadPage, MailAnswer::Page { n, invitations }) = (step.item, answer) {
            self.take_page(n, invitations);
        }
        if step.wait != WaitRange::NONE {
            let time = self.draw(step.wait);
            self.waited = self.waited.saturating_add(time);
            self.wait_for(MailWait::Reading, time);
        }
    }

    /// Notes the first page of the view, and chooses the documents of this loop.
    fn take_page(&mut self, n: u8, invitations: u32) {
        let n = u32::from(n).min(PAGE_ENTRIES);
        self.page = PageView { n_shared_pages: self.page.n_shared_pages, ..PageView::default() };
        let drawn = EntryDraw(self.choice_of(Choice::Documents)).distinct(PICKS as u32, n);
        for (slot, entry) in self.page.picks.iter_mut().zip(drawn) {
            *slot = entry as u8;
            self.page.n_picks += 1;
        }
        self.page.invitations = invitations & ((1 << n) - 1);
    }

    /// Returns the action for an item. `None` if its document is not there.
    fn action(&mut self, item: CountedItem) -> Option<MailAction> {
        let page = |first| EntryRange { first, n: PAGE_ENTRIES };
        Some(match item {
            CountedItem::OpenMailbox => MailAction::Open(Mailbox::Inbox),
            CountedItem::OpenView => MailAction::OpenView(Mailbox::Inbox),
            CountedItem::ReadPage => MailAction::ReadPage(Mailbox::Inbox, page(0)),
            CountedItem::ReadDocument => MailAction::Read(self.page.read()?),
            CountedItem::UpdateDocument => MailAction::Categorize(self.page.file()?),
            CountedItem::SendMemo => MailAction::Send(self.new_message(MessageKind::Memo)),
            CountedItem::MakeAppointment => {
                MailAction::MakeAppointment(self.new_message(MessageKind::Appointment))
            }
            CountedItem::Invite => MailAction::Send(self.new_message(MessageKind::Invitation)),
            CountedItem::Respond => self.respond(),
            CountedItem::AddDocument => {
                MailAction::Add(Mailbox::Inbox, self.new_message(MessageKind::Document))
            }
            CountedItem::DeleteDocument => MailAction::Delete(self.page.delete()?),
            CountedItem::Scroll => MailAction::ReadPage(Mailbox::Inbox, page(PAGE_ENTRIES)),
            CountedItem::CloseMailbox => MailAction::Close(Mailbox::Inbox),
            CountedItem::OpenShared => MailAction::Open(Mailbox::Discussion),
            CountedItem::OpenSharedView => MailAction::OpenView(Mailbox::Discussion),
            CountedItem::ReadSharedPage => {
                let first = u32::from(self.page.n_shared_pages) * PAGE_ENTRIES;
                self.page.n_shared_pages += 1;
                MailAction::ReadPage(Mailbox::Discussion, page(first))
            }
            CountedItem::MarkUnread => {
                MailAction::MarkUnread(EntryDraw(self.choice_of(Choice::Unread)), MARKED_UNREAD)
            }
            CountedItem::ReadUnread => MailAction::ReadNextUnread,
            CountedItem::AddShared => {
                MailAction::Add(Mailbox::Discussion, self.new_message(MessageKind::SharedDocument))
            }
            CountedItem::DeleteShared => {
                MailAction::DeleteOld(EntryDraw(self.choice_of(Choice::OldShared(self.times))))
            }
            CountedItem::CloseShared => MailAction::Close(Mailbox::Discussion),
            CountedItem::ListMailboxes => MailAction::ListMailboxes,
            CountedItem::SendNote => MailAction::Send(self.new_message(MessageKind::Note)),
            CountedItem::Answer => {
                let entry = self.page.middle()?;
                MailAction::Answer(entry, self.new_number())
            }
            CountedItem::MoveDocument => MailAction::Move(self.page.file()?, Mailbox::Archive),
            CountedItem::Drain => MailAction::Drain,
            CountedItem::CheckMail => MailAction::Check,
        })
    }

    /// Returns the response to the newest invitation of the page, or to one that is not there.
    fn respond(&mut self) -> MailAction {
        let number = self.new_number();
        let newest = self.page.invitations.trailing_zeros();
        if newest < PAGE_ENTRIES {
            self.page.invitations &= self.page.invitations - 1;
            return MailAction::Respond(InvitationChoice::Entry(newest), number);
        }
        let bits = self.choice_of(Choice::Organizer);
        let organizer = ((u128::from(bits) * u128::from(self.load.n_users)) >> 64) as u32;
        let meeting = MessageNumber { user: organizer, number: bits as u32 | ABSENT_MEETING };
        MailAction::Respond(InvitationChoice::Number(meeting), number)
    }

    fn new_number(&mut self) -> MessageNumber {
        let number = self.next_number;
        self.next_number = self.next_number.wrapping_add(1);
        MessageNumber { user: self.user, number }
    }

    fn new_message(&mut self, kind: MessageKind) -> MessageIdentity {
        MessageIdentity::new(self.load.epoch, kind, self.new_number())
    }

    /// Returns the random bits of a choice: the same whatever a server answers.
    fn choice_of(&self, choice: Choice) -> u64 {
        let about = match choice {
            Choice::Documents => 0,
            Choice::Unread => 1,
            Choice::Organizer => 2,
            Choice::OldShared(place) => 3 + u64::from(place),
        };
        mix_bits(self.choice ^ mix_bits(about))
    }

    fn draw(&mut self, WaitRange { least, most }: WaitRange) -> Nanos {
        let span = Nanos::from_secs(u64::from(most.saturating_sub(least))).0;
        Nanos(Nanos::from_secs(u64::from(least)).0 + self.rng.below(span + 1))
    }

    fn wait_between(&mut self) {
        let time = match self.load.script.end_wait() {
            LoopEndWait::FillUpTo(seconds) => {
                Nanos::from_secs(u64::from(seconds)).saturating_sub(self.waited)
            }
            LoopEndWait::Range(WaitRange::NONE) => return,
            LoopEndWait::Range(range) => self.draw(range),
        };
        self.wait_for(MailWait::Between, time);
    }

    fn wait_for(&mut self, kind: MailWait, time: Nanos) {
        self.wait = Some((kind, Nanos(time.0 / u64::from(self.load.pacing.pace.max(1)))));
    }
}

impl PageView {
    fn pick(&self, index: u8) -> Option<u32> {
        (index < self.n_picks).then(|| u32::from(self.picks[usize::from(index)]))
    }

    /// Returns the next document to read.
    fn read(&mut self) -> Option<u32> {
        let entry = self.pick(self.n_read)?;
        self.n_read += 1;
        Some(entry)
    }

    /// Returns the next document to file: of those read, from the first on.
    fn file(&mut self) -> Option<u32> {
        let entry = self.pick(self.n_filed).filter(|_| self.n_filed < self.n_read)?;
        self.n_filed += 1;
        Some(entry)
    }

    /// Returns the document to answer: of those read, the middle one.
    fn middle(&self) -> Option<u32> {
        self.pick(self.n_read / 2).filter(|_| 0 < self.n_read)
    }

    /// Returns the next document to delete: of those read, from the last on.
    fn delete(&mut self) -> Option<u32> {
        let index = self.n_read.checked_sub(1 + self.n_deleted)?;
        let entry = self.pick(index)?;
        self.n_deleted += 1;
        Some(entry)
    }
}

/// The bit in the numbers of meetings to which nobody was invited.
const ABSENT_MEETING: u32 = 1 << 31;

/// Returns the random numbers of a loop: they do not depend on what happened in the loops before.
fn loop_rng(seed: u64, user: u32, number: u32) -> Rng {
    Rng::new(seed, StreamPurpose::Cycle, u64::from(user) << 32 | u64::from(number))
}
