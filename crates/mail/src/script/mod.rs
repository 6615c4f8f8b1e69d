//! The scripts: loops of items with waits, after those of the NotesBench family.
//!
//! Each is a table, and everything that follows from it is computed: items per loop, their weight, the waiting.
//! `tables` has the scripts, `rate` what a number of users makes of one.
//!
//! Known differences from the originals: the loop in which a user sends is another for each user, so that sending is even
//! from the beginning; the last wait of a loop makes its waiting exactly as long as the script says, not in the mean; order
//! and pauses of which only totals are known are those of the mail script.

mod rate;
mod tables;

use crate::item::CountedItem;

pub use rate::LoopModel;
pub use tables::R6_MAIL_MIX;

/// A script.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MailScript {
    /// Mail only: reading, filing and sending in the user's own mailbox. Source: R5 Simple Mail Routing.
    Mail,
    /// Mail, and a shared mailbox in the same loop.
    MailDb,
    /// The shared mailbox alone. Source: R5 Shared Database.
    SharedDb,
    /// A user of an IMAP program, who stays logged on. Source: R5 IMAP.
    Imap,
    /// A user who sends and drains its mailbox. Source: R5 SMTP/POP3.
    SmtpPop,
    /// A user of a web page. Source: R5iNotes.
    Web,
    /// A user who is only there. Source: Idle.
    Idle,
    /// Mail with larger messages. Source: R6 Mail.
    MailR6,
    /// Mail with answers and moves. Source: N8Mail.
    Mail8,
}

/// A range of waits, in s; each length in it is equally likely.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WaitRange {
    /// The shortest.
    pub least: u32,
    /// The longest.
    pub most: u32,
}

impl WaitRange {
    pub(crate) const NONE: WaitRange = WaitRange { least: 0, most: 0 };

    /// Returns the mean, in s.
    pub fn mean(self) -> f64 {
        (f64::from(self.least) + f64::from(self.most)) / 2.0
    }
}

/// A step of a script.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScriptStep {
    /// The item.
    pub item: CountedItem,
    /// The number of times in a row.
    pub times: u8,
    /// The loops of which it is in one: 1 for all.
    pub every: u8,
    /// The wait after each time.
    pub wait: WaitRange,
}

/// The wait at the end of a loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoopEndWait {
    /// As long as is missing from so many seconds of waiting in the loop.
    FillUpTo(u32),
    /// Of a range.
    Range(WaitRange),
}

/// The waits of a script outside its loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StartWaits {
    /// Before a user logs on.
    pub stagger: WaitRange,
    /// Between log-on and the first loop.
    pub settle: WaitRange,
}

/// The wait after an error. Source: commands of the R5 scripts.
pub const BACK_OFF: WaitRange = WaitRange { least: 60, most: 120 };

/// The table of a script.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ScriptTable {
    pub(crate) name: &'static str,
    /// Performed once, after log-on.
    pub(crate) begin: &'static [ScriptStep],
    /// The loop, in parts that follow each other.
    pub(crate) parts: [&'static [ScriptStep]; 2],
    pub(crate) end: LoopEndWait,
    pub(crate) start: StartWaits,
}

impl MailScript {
    /// All scripts.
    pub const ALL: [MailScript; 9] = [
        MailScript::Mail,
        MailScript::MailDb,
        MailScript::SharedDb,
        MailScript::Imap,
        MailScript::SmtpPop,
        MailScript::Web,
        MailScript::Idle,
        MailScript::MailR6,
        MailScript::Mail8,
    ];

    /// Returns its name: `notes-mail`.
    pub fn name(self) -> &'static str {
        self.table().name
    }

    /// Returns the steps of the loop.
    pub fn steps(self) -> impl Iterator<Item = ScriptStep> {
        self.table().parts.into_iter().flatten().copied()
    }

    /// Returns the steps that are performed once, after log-on.
    pub fn first_steps(self) -> &'static [ScriptStep] {
        self.table().begin
    }

    /// Returns the wait at the end of a loop.
    pub fn end_wait(self) -> LoopEndWait {
        self.table().end
    }

    /// Returns the waits before the first loop.
    pub fn start_waits(self) -> StartWaits {
        self.table().start
    }

    /// Returns how often an item is in a loop, in the mean.
    pub fn per_loop(self, item: CountedItem) -> f64 {
        let steps = self.steps().filter(|step| step.item == item);
        steps.map(|step| f64::from(step.times) / f64::from(step.every)).sum()
    }

    /// Returns the number of operations of a loop, in the mean.
    pub fn operations_per_loop(self) -> f64 {
        CountedItem::ALL.into_iter().map(|item| self.per_loop(item)).sum()
    }

    /// Returns the share of an item of all operations.
    pub fn share(self, item: CountedItem) -> f64 {
        self.per_loop(item) / self.operations_per_loop()
    }

    /// Returns the weight of a loop, in the mean: 20 of the mail script, 36 with the shared mailbox.
    pub fn weight_per_loop(self) -> f64 {
        CountedItem::ALL.into_iter().map(|item| self.per_loop(item) * f64::from(item.weight())).sum()
    }

    /// Returns the number of waits within a loop and the waiting of a loop, in s, both in the mean.
    pub fn waiting(self) -> (f64, f64) {
        let within = self.steps().filter(|step| step.wait != WaitRange::NONE);
        let mut n = 1.0;
        let mut seconds = 0.0;
        for step in within {
            let times = f64::from(step.times) / f64::from(step.every);
            n += times;
            seconds += times * step.wait.mean();
        }
        match self.end_wait() {
            LoopEndWait::FillUpTo(total) => (n, f64::from(total)),
            LoopEndWait::Range(WaitRange::NONE) => (n - 1.0, seconds),
            LoopEndWait::Range(range) => (n, seconds + range.mean()),
        }
    }

    /// Returns the items of which the script has any, in the order of [`CountedItem::ALL`].
    pub fn items(self) -> impl Iterator<Item = CountedItem> {
        CountedItem::ALL.into_iter().filter(move |item| {
            0.0 < self.per_loop(*item) || self.first_steps().iter().any(|step| step.item == *item)
        })
    }

    /// Returns whether users of the script use the shared mailbox.
    pub fn has_shared_mailbox(self) -> bool {
        0.0 < self.per_loop(CountedItem::OpenShared)
    }
}
