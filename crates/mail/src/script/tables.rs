//! The scripts as tables.
//!
//! Sources: the pages of the workloads in the administration help of Domino (R5 to 12), and the commands of the R5 scripts
//! where they were published. Figures that no source has are marked (ours).

use super::{LoopEndWait, MailScript, ScriptStep, ScriptTable, StartWaits, WaitRange};
use crate::item::CountedItem;

/// Looking at a page of the view.
const LOOK: WaitRange = WaitRange { least: 5, most: 10 };

/// Reading a document.
const DWELL: WaitRange = WaitRange { least: 10, most: 20 };

/// Looking at a further page of the shared mailbox.
const LEAF: WaitRange = WaitRange { least: 3, most: 10 };

/// Reading a document of the shared mailbox.
const SHARED_DWELL: WaitRange = WaitRange { least: 10, most: 30 };

/// Waiting between sending and draining.
const BETWEEN: WaitRange = WaitRange { least: 240, most: 360 };

/// At most four loops an hour.
const QUARTER_HOUR: LoopEndWait = LoopEndWait::FillUpTo(900);

const MAIL_START: StartWaits =
    StartWaits { stagger: WaitRange { least: 0, most: 180 }, settle: WaitRange { least: 480, most: 720 } };

const STAGGER_ONLY: StartWaits =
    StartWaits { stagger: WaitRange { least: 0, most: 180 }, settle: WaitRange::NONE };

const SHARED_START: StartWaits =
    StartWaits { stagger: WaitRange { least: 0, most: 300 }, settle: WaitRange::NONE };

const fn step(item: CountedItem, times: u8) -> ScriptStep {
    ScriptStep { item, times, every: 1, wait: WaitRange::NONE }
}

const fn every(every: u8, item: CountedItem) -> ScriptStep {
    ScriptStep { item, times: 1, every, wait: WaitRange::NONE }
}

const fn waiting(step: ScriptStep, wait: WaitRange) -> ScriptStep {
    ScriptStep { wait, ..step }
}

/// R5 Simple Mail Routing.
const MAIL: [ScriptStep; 13] = [
    step(CountedItem::OpenMailbox, 1),
    step(CountedItem::OpenView, 1),
    waiting(step(CountedItem::ReadPage, 1), LOOK),
    waiting(step(CountedItem::ReadDocument, 5), DWELL),
    step(CountedItem::UpdateDocument, 2),
    every(6, CountedItem::SendMemo),
    every(6, CountedItem::MakeAppointment),
    every(6, CountedItem::Invite),
    every(6, CountedItem::Respond),
    step(CountedItem::AddDocument, 2),
    step(CountedItem::DeleteDocument, 2),
    step(CountedItem::Scroll, 1),
    step(CountedItem::CloseMailbox, 1),
];

/// R5 Shared Database. The number of added documents is a variable of the script: 2 (ours), as many as are deleted.
const SHARED: [ScriptStep; 9] = [
    step(CountedItem::OpenShared, 1),
    step(CountedItem::OpenSharedView, 1),
    waiting(step(CountedItem::ReadSharedPage, 1), LOOK),
    waiting(step(CountedItem::ReadSharedPage, 2), LEAF),
    step(CountedItem::MarkUnread, 1),
    waiting(step(CountedItem::ReadUnread, 3), SHARED_DWELL),
    step(CountedItem::AddShared, 2),
    step(CountedItem::DeleteShared, 2),
    step(CountedItem::CloseShared, 1),
];

/// R5 IMAP: the mailbox stays open. A memo has the look-ups of its recipients.
const IMAP_BEGIN: [ScriptStep; 2] = [step(CountedItem::ListMailboxes, 1), step(CountedItem::OpenMailbox, 1)];
const IMAP: [ScriptStep; 4] = [
    waiting(step(CountedItem::ReadPage, 1), LOOK),
    waiting(step(CountedItem::ReadDocument, 5), DWELL),
    step(CountedItem::DeleteDocument, 2),
    step(CountedItem::SendMemo, 1),
];

/// R5 SMTP/POP3.
const SMTP_POP: [ScriptStep; 2] =
    [waiting(step(CountedItem::SendMemo, 1), BETWEEN), waiting(step(CountedItem::Drain, 1), BETWEEN)];

/// R5iNotes.
const WEB: [ScriptStep; 6] = [
    step(CountedItem::OpenMailbox, 1),
    waiting(step(CountedItem::ReadPage, 1), LOOK),
    waiting(step(CountedItem::ReadDocument, 1), DWELL),
    step(CountedItem::DeleteDocument, 1),
    waiting(step(CountedItem::ReadDocument, 4), DWELL),
    every(6, CountedItem::SendMemo),
];

/// Idle. The check every quarter of an hour is ours: it shows that the session is still there.
const IDLE: [ScriptStep; 1] = [step(CountedItem::CheckMail, 1)];

/// R6 Mail: per 90 min 6 openings, 30 documents read, 12 added, 12 deleted, a memo, an invitation and a response.
const MAIL_R6: [ScriptStep; 9] = [
    step(CountedItem::OpenMailbox, 1),
    waiting(step(CountedItem::ReadPage, 1), LOOK),
    waiting(step(CountedItem::ReadDocument, 5), DWELL),
    every(6, CountedItem::SendMemo),
    every(6, CountedItem::Invite),
    every(6, CountedItem::Respond),
    step(CountedItem::AddDocument, 2),
    step(CountedItem::DeleteDocument, 2),
    step(CountedItem::CloseMailbox, 1),
];

/// N8Mail: per 2 h an appointment, an invitation and a response.
const MAIL_8: [ScriptStep; 12] = [
    step(CountedItem::OpenMailbox, 1),
    waiting(step(CountedItem::ReadPage, 1), LOOK),
    waiting(step(CountedItem::ReadDocument, 5), DWELL),
    every(2, CountedItem::Answer),
    step(CountedItem::SendNote, 1),
    every(2, CountedItem::SendMemo),
    every(8, CountedItem::MakeAppointment),
    every(8, CountedItem::Invite),
    every(8, CountedItem::Respond),
    step(CountedItem::MoveDocument, 1),
    step(CountedItem::DeleteDocument, 2),
    step(CountedItem::CloseMailbox, 1),
];

/// The published mix of transactions of R6 Mail, in tenths of a percent; printed as percentages whose sum is 99.9.
pub const R6_MAIL_MIX: [(&str, u32); 12] = [
    ("read documents", 250),
    ("add documents", 250),
    ("open inbox", 100),
    ("read inbox", 100),
    ("delete", 100),
    ("respond", 58),
    ("modify", 50),
    ("close", 50),
    ("look up", 17),
    ("send", 8),
    ("invite", 8),
    ("appointment", 8),
];

impl MailScript {
    /// Returns the table.
    pub(crate) fn table(self) -> ScriptTable {
        let table = |name, parts, end, start| ScriptTable { name, begin: &[], parts, end, start };
        match self {
            MailScript::Mail => table("notes-mail", [&MAIL, &[]], QUARTER_HOUR, MAIL_START),
            MailScript::MailDb => table("notes-maildb", [&MAIL, &SHARED], QUARTER_HOUR, MAIL_START),
            MailScript::SharedDb => {
                let end = LoopEndWait::Range(WaitRange { least: 240, most: 480 });
                table("notes-shared", [&SHARED, &[]], end, SHARED_START)
            }
            MailScript::Imap => {
                let imap = table("notes-imap", [&IMAP, &[]], QUARTER_HOUR, MAIL_START);
                ScriptTable { begin: &IMAP_BEGIN, ..imap }
            }
            MailScript::SmtpPop => {
                table("notes-pop3", [&SMTP_POP, &[]], LoopEndWait::Range(WaitRange::NONE), STAGGER_ONLY)
            }
            MailScript::Web => table("notes-web", [&WEB, &[]], QUARTER_HOUR, STAGGER_ONLY),
            MailScript::Idle => table("notes-idle", [&IDLE, &[]], QUARTER_HOUR, STAGGER_ONLY),
            MailScript::MailR6 => table("notes-mail-r6", [&MAIL_R6, &[]], QUARTER_HOUR, MAIL_START),
            MailScript::Mail8 => table("notes-mail-8", [&MAIL_8, &[]], QUARTER_HOUR, MAIL_START),
        }
    }
}
