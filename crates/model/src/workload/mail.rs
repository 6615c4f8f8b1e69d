//! Mail workloads: users of a mail server go through the loop of a script, over IMAP and by submission. Their operations are
//! in [`mail`].

use languages::names;
use mail::{
    BACK_OFF, CountedItem, LoopModel, MailDate, MailDirectory, MailLoad, MailMessages, MailOperation,
    MailPacing, MailPopulation, MailScript, MailSizes, MailStart, MailWait, PopulationError, R6_SENT,
    SizeProfile,
};
use serde::{Deserialize, Serialize};
use units::{Bytes, Nanos};

use super::family_workload::{FamilyWorkload, SESSIONS_MAX};
use super::mail_codes::MAIL_CODES;
use crate::{
    Catalog, CodeName, Family, HasKind, Measure, MeasureUnit, Noun, OperationKind, Outcome, PauseKind,
    PauseStart, RateTime, Score, ThinkTime, Words,
};

/// The measures of a mail operation besides its response time, by their indexes in the catalog.
pub mod mail_measure {
    /// The bytes of commands and messages that were sent: with TLS, those within it.
    pub const SENT_BYTES: usize = 0;
    /// The bytes of replies and messages that were received, likewise.
    pub const RECEIVED_BYTES: usize = 1;
    /// The commands that it took.
    pub const EXCHANGES: usize = 2;
}

/// The sentence that reports of mail workloads end with.
const NOTICE: &str = "In the style of the NotesBench mail workloads, from their public descriptions; not a NotesBench result, \
    not a NotesMark, and not comparable with published ones.";

/// The date of all messages of a run, before which those are that are there before load: 1 January 2026.
const DATE_UNIX_SECONDS: u64 = 1_767_225_600;

/// The outcomes of failed operations.
const OUTCOMES: [Outcome; 23] = [
    Outcome::Refused,
    Outcome::Reset,
    Outcome::Unreachable,
    Outcome::TimedOut,
    Outcome::WrongStatus,
    Outcome::MalformedHead,
    Outcome::OversizedHead,
    Outcome::Truncated,
    Outcome::WrongLength,
    Outcome::WrongBytes,
    Outcome::NoLocalPort,
    Outcome::NoDescriptor,
    Outcome::Forbidden,
    Outcome::TlsFailed,
    Outcome::ValueMissing,
    Outcome::Busy,
    Outcome::SessionLost,
    Outcome::Denied,
    Outcome::Inconsistent,
    Outcome::Conflict,
    Outcome::Gone,
    Outcome::Full,
    Outcome::ReadOnly,
];

names! {
    /// The loop of users.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
    pub enum MailLoop {
        /// Mail in mailboxes of their own.
        Mail = "mail",
        /// The same, and a mailbox that all of them share.
        MailDb = "maildb",
    }
}

names! {
    /// The sizes of messages.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
    pub enum MailBodies {
        /// Bodies of 1,000 bytes.
        Small = "1k",
        /// Bodies of 10,000 bytes.
        Large = "10k",
        /// Sent messages have the profile of R6, documents 50,000 bytes.
        Mixed = "r6",
    }
}

names! {
    /// The encryption of connections.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
    pub enum MailSecurity {
        /// None.
        Off = "off",
        /// TLS that the client asks for (STARTTLS).
        StartTls = "starttls",
        /// TLS from the first byte.
        On = "on",
    }
}

names! {
    /// The acknowledgment of parts of a reply.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
    pub enum MailAcknowledge {
        /// At once.
        AtOnce = "at-once",
        /// When the system chooses.
        AsSystem = "as-system",
    }
}

/// The loop of users, their messages and connections.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MailWorkload {
    /// The loop.
    pub of_loop: MailLoop,
    /// The divisor of all pauses; 1 of the original. At least 1.
    pub pace: u32,
    /// The sizes of messages.
    pub bodies: MailBodies,
    /// The recipients of a memo and of an invitation, from 1 to [`mail::RECIPIENTS_MAX`].
    pub recipients: u32,
    /// The documents of each mailbox before load.
    pub documents: u32,
    /// The documents of the shared mailbox before load, where the loop has one.
    pub shared_documents: u32,
    /// The encryption of connections.
    pub security: MailSecurity,
    /// The acknowledgment of parts of a reply.
    pub acknowledge: MailAcknowledge,
}

impl Default for MailWorkload {
    /// The defaults of definitions.
    fn default() -> MailWorkload {
        MailWorkload {
            of_loop: MailLoop::Mail,
            pace: 1,
            bodies: MailBodies::Small,
            recipients: 3,
            documents: 100,
            shared_documents: 300,
            security: MailSecurity::Off,
            acknowledge: MailAcknowledge::AtOnce,
        }
    }
}

impl MailLoop {
    /// Returns its script.
    pub fn script(self) -> MailScript {
        match self {
            MailLoop::Mail => MailScript::Mail,
            MailLoop::MailDb => MailScript::MailDb,
        }
    }
}

impl MailBodies {
    /// Returns the bytes of the body of a document, and of all messages but those of R6.
    fn document_bytes(self) -> u32 {
        match self {
            MailBodies::Small => 1_000,
            MailBodies::Large => 10_000,
            MailBodies::Mixed => 50_000,
        }
    }
}

impl MailWorkload {
    /// Returns the items that a run counts: those of the loop, which are the first of all.
    pub fn items(&self) -> &'static [CountedItem] {
        let last = self.of_loop.script().items().map(CountedItem::index).max();
        let all: &'static [CountedItem] = &CountedItem::ALL;
        &all[..last.map_or(0, |last| last + 1)]
    }

    /// Returns the users of a load point, of so many in the directory. `epoch` is above 0, and another for each load point.
    pub fn load(&self, seed: u64, epoch: u32, n_users: u32) -> MailLoad {
        let pacing = MailPacing { pace: self.pace, start: MailStart::Spread };
        MailLoad { script: self.of_loop.script(), pacing, seed, epoch, n_users }
    }

    /// Returns the messages of a run.
    pub fn messages(&self, seed: u64, directory: MailDirectory) -> MailMessages {
        let date = MailDate::from_unix_seconds(DATE_UNIX_SECONDS);
        MailMessages {
            n_recipients: u8::try_from(self.recipients).unwrap_or(u8::MAX),
            sizes: self.sizes(),
            ..MailMessages::new(seed, directory, date)
        }
    }

    /// Returns the messages that so many mailboxes have before load.
    ///
    /// # Errors
    /// Mailboxes have too few for the pages that users read, or too many.
    pub fn population(&self, n_users: u32) -> Result<MailPopulation, PopulationError> {
        MailPopulation::new(n_users, self.documents, self.n_shared())
    }

    fn n_shared(&self) -> u32 {
        if self.of_loop.script().has_shared_mailbox() { self.shared_documents } else { 0 }
    }

    fn sizes(&self) -> MailSizes {
        let all = MailSizes::all(self.bodies.document_bytes());
        match self.bodies {
            MailBodies::Small | MailBodies::Large => all,
            MailBodies::Mixed => MailSizes {
                sent: SizeProfile::new(&R6_SENT).expect("the shares of R6 are those of all messages"),
                ..all
            },
        }
    }

    /// Returns what a run of the workload counts and measures.
    pub fn catalog(&self) -> Catalog {
        let script = self.of_loop.script();
        let kind = |item: &CountedItem| OperationKind {
            name: item.name().to_owned(),
            share: Some(script.share(*item)),
            share_gap_max: None,
            limits: Vec::new(),
            measures: Vec::new(),
            expected: Vec::new(),
        };
        let weights = self.items().iter().map(|item| f64::from(item.weight())).collect();
        let codes = MAIL_CODES.iter().map(|(code, name)| CodeName { code: *code, name: (*name).to_owned() });
        Catalog {
            kinds: self.items().iter().map(kind).collect(),
            units: vec!["loop".to_owned()],
            pauses: self.pauses(),
            notices: Vec::new(),
            measures: vec![
                Measure::always("sent bytes", MeasureUnit::Bytes),
                Measure::always("received bytes", MeasureUnit::Bytes),
                Measure::always("exchanges", MeasureUnit::Count),
            ],
            in_flight: None,
            transferred: vec![mail_measure::SENT_BYTES, mail_measure::RECEIVED_BYTES],
            response_parts: Vec::new(),
            bands: Vec::new(),
            sizing: None,
            outcomes: OUTCOMES.into(),
            codes: codes.collect(),
            score: Score::Weighted { weights, per: RateTime::Minute },
            words: Words {
                score: "weighted operations per minute".to_owned(),
                score_heading: "Weighted operations/minute".to_owned(),
                unit: Noun::regular("loop"),
                ..Words::of_rate("operation", "user")
            },
        }
    }

    /// Returns the pauses of users, in the order of [`MailWait::NAMES`].
    fn pauses(&self) -> Vec<PauseKind> {
        let script = self.of_loop.script();
        let (_, waiting) = script.waiting();
        let waits = script.steps().filter(|step| 0 < step.wait.most);
        let (n, reading) = waits.fold((0.0, 0.0), |(n, seconds), step| {
            let times = f64::from(step.times) / f64::from(step.every);
            (n + times, seconds + times * step.wait.mean())
        });
        let kinds = MailWait::NAMES.into_iter().map(|(wait, name)| {
            let seconds = match wait {
                MailWait::Start => waiting / 2.0,
                MailWait::Reading => reading / n,
                MailWait::Between => waiting - reading,
                MailWait::BackOff => BACK_OFF.mean(),
            };
            let mean = Nanos::from_secs_f64(seconds / f64::from(self.pace.max(1)));
            PauseKind { name: name.to_owned(), time: ThinkTime::Scripted(mean), from: PauseStart::Done }
        });
        kinds.collect()
    }

    /// Returns the pauses from one operation to the next, on average: those of a loop ÷ its operations.
    fn think(&self) -> ThinkTime {
        let LoopModel { operations, waiting, .. } = LoopModel::of(self.of_loop.script(), self.pace);
        ThinkTime::Scripted(Nanos::from_secs_f64(waiting / operations))
    }

    /// Describes the mailboxes.
    fn mailboxes_text(&self) -> String {
        let bytes = Bytes(self.bodies.document_bytes().into());
        let of = |n: u32| format!("{n} documents of {bytes}");
        let shared = match self.n_shared() {
            0 => String::new(),
            n => format!(", and one that all share, of {}", of(n)),
        };
        format!("a mailbox of {} for each user{shared}", of(self.documents))
    }

    /// Describes connections and pauses.
    fn way_text(&self) -> String {
        let encryption = match self.security {
            MailSecurity::Off => "not encrypted",
            MailSecurity::StartTls => "encrypted by STARTTLS",
            MailSecurity::On => "encrypted from the first byte",
        };
        let pauses = match self.pace {
            0 | 1 => "those of the script".to_owned(),
            pace => format!("those of the script divided by {pace}"),
        };
        format!("IMAP and submission, {encryption}; pauses are {pauses}")
    }
}

/// The kind is the item's place in [`mail::CountedItem::ALL`].
impl HasKind for MailOperation {
    fn kind(&self) -> u16 {
        self.item.index() as u16
    }
}

impl FamilyWorkload for MailWorkload {
    fn family(&self) -> Family {
        Family::Mail
    }

    fn in_flight_max(&self) -> u32 {
        // Each operation in flight is one of a user with a mailbox.
        SESSIONS_MAX
    }

    fn catalog(&self) -> Catalog {
        MailWorkload::catalog(self)
    }

    fn think(&self) -> ThinkTime {
        MailWorkload::think(self)
    }

    fn has_user_state(&self) -> bool {
        true
    }

    fn is_encrypted(&self) -> bool {
        self.security != MailSecurity::Off
    }

    fn has_one_writer(&self, _: &str) -> bool {
        false
    }

    fn grows_with_load(&self) -> bool {
        // Each user has a mailbox.
        true
    }

    fn data_text(&self) -> Option<String> {
        Some(self.mailboxes_text())
    }

    fn mode_text(&self) -> Option<String> {
        Some(self.way_text())
    }

    fn notice(&self) -> Option<&'static str> {
        Some(NOTICE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn catalogs_are_valid_and_have_the_items_of_their_loop() {
        for (of_loop, n_kinds, last) in
            [(MailLoop::Mail, 13, "close mailbox"), (MailLoop::MailDb, 21, "close shared mailbox")]
        {
            let workload = MailWorkload { of_loop, ..MailWorkload::default() };
            let catalog = workload.catalog();
            assert_eq!((catalog.check(), catalog.kinds.len()), (Ok(()), n_kinds));
            assert_eq!(catalog.kinds.last().unwrap().name, last);
            assert!(of_loop.script().items().all(|item| workload.items().contains(&item)));
            let stored = serde_json::to_value(&workload).unwrap();
            assert_eq!(serde_json::from_value::<MailWorkload>(stored).unwrap(), workload);
            assert!(workload.population(7).is_ok());
        }
    }

    /// By hand: 16⅔ operations in 900 s of waiting are 54 s each. Six waits of 82.5 s in all within a loop, 13.75 s on average;
    /// 817.5 s are left for its end. Users begin within 900 s. All of it is divided by the pace.
    #[test]
    fn pauses_follow_from_the_script_and_the_pace() {
        for pace in [1, 16] {
            let workload = MailWorkload { pace, ..MailWorkload::default() };
            let seconds = |time: ThinkTime| time.mean().as_secs_f64() * f64::from(pace);
            assert!((seconds(workload.think()) - 54.0).abs() < 1e-6);
            let found: Vec<f64> = workload.pauses().iter().map(|pause| seconds(pause.time)).collect();
            let expected = [450.0, 13.75, 817.5, 90.0];
            assert!(found.iter().zip(expected).all(|(one, other)| (one - other).abs() < 1e-6), "{found:?}");
        }
    }

    #[test]
    fn all_sizes_can_be_made() {
        let mean = |bodies| MailWorkload { bodies, ..MailWorkload::default() }.sizes().sent.mean_bytes();
        assert_eq!(MailBodies::ALL.map(mean).map(f64::round), [1_000.0, 10_000.0, 97_305.0]);
    }
}
