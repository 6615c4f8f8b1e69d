//! Faults of the mail server, each a row of a table.

use model::Outcome;

use crate::fault_rules::{FaultRuleError, FaultRules};

/// A fault, with what clients must make of it.
#[derive(Debug, PartialEq, Eq)]
pub struct MailFault {
    /// The name.
    pub name: &'static str,
    /// The server's behavior: a clause that begins with a verb.
    pub does: &'static str,
    /// The outcome of the operation; [`Outcome::Ok`] where only the delivery shows it, or nothing.
    pub outcome: Outcome,
    pub(super) rule: MailFaultRule,
}

/// The exchange that a fault concerns, and the deviation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct MailFaultRule {
    exchange: FaultExchange,
    action: MailFaultAction,
}

/// The exchanges that faults concern. Of a command that is several, each is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FaultExchange {
    /// The greeting of any protocol.
    Greeting,
    /// A log-on with the right password, by any protocol.
    LogOn,
    /// A command of IMAP after the log-on, but APPEND and LOGOUT.
    Command,
    /// The selection of a mailbox.
    Selection,
    /// A message in a reply to FETCH.
    Message,
    /// A body in a reply to FETCH.
    Body,
    /// A recipient in SMTP and LMTP.
    Recipient,
    /// A message that was sent in SMTP and LMTP.
    Submission,
}

/// The deviation from correct behavior.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MailFaultAction {
    /// Says that it ends the session, and does.
    Bye,
    /// Refuses as if it could not.
    Refuse,
    /// Refuses for now.
    Defer,
    /// Refuses because the mailbox is full.
    Full,
    /// Ends the session without a word.
    Close,
    /// Ends the session in the middle of the reply.
    ShortReply,
    Garbage,
    WrongTag,
    Stall,
    Slow,
    EndlessReplies,
    /// States fewer messages than there were.
    Shrink,
    NewValidity,
    UidOrder,
    WrongByte,
    /// Announces one byte more than it sends.
    ShortLiteral,
    /// Announces one byte less than it sends.
    LongLiteral,
    HugeLiteral,
    /// Accepts and does not deliver.
    Lose,
    Duplicate,
    Delay,
    /// Delivers with another byte.
    Alter,
}

use FaultExchange::{Body, Command, Greeting, LogOn, Message, Recipient, Selection, Submission};
use MailFaultAction as Action;

/// All faults.
pub static FAULTS: [MailFault; 28] = [
    row("bye-greeting", "refuses the session in its greeting", Outcome::SessionLost, Greeting, Action::Bye),
    row("stalled-greeting", "never greets", Outcome::TimedOut, Greeting, Action::Stall),
    row("wrong-password", "refuses the right password", Outcome::Denied, LogOn, Action::Refuse),
    row("refusal", "answers a command with NO", Outcome::Busy, Command, Action::Refuse),
    row("bye", "says goodbye in place of a reply", Outcome::SessionLost, Command, Action::Bye),
    row("closed-session", "closes in place of a reply", Outcome::SessionLost, Command, Action::Close),
    row("short-reply", "closes in the middle of a reply", Outcome::Truncated, Command, Action::ShortReply),
    row("garbage", "sends bytes that are no reply", Outcome::MalformedHead, Command, Action::Garbage),
    row("wrong-tag", "answers another command", Outcome::MalformedHead, Command, Action::WrongTag),
    row("stall", "never answers", Outcome::TimedOut, Command, Action::Stall),
    row("slow", "answers correctly, and takes 20 ms more", Outcome::Ok, Command, Action::Slow),
    row(
        "endless-replies",
        "sends untagged replies forever",
        Outcome::OversizedHead,
        Command,
        Action::EndlessReplies,
    ),
    row("shrinking", "states fewer messages than before", Outcome::Inconsistent, Command, Action::Shrink),
    row("new-validity", "states another UIDVALIDITY", Outcome::Inconsistent, Selection, Action::NewValidity),
    row("uid-order", "states UIDs out of order", Outcome::Inconsistent, Message, Action::UidOrder),
    row("wrong-byte", "sends one wrong byte of a body", Outcome::WrongBytes, Body, Action::WrongByte),
    row(
        "short-literal",
        "sends a byte less than it announces",
        Outcome::WrongLength,
        Body,
        Action::ShortLiteral,
    ),
    row(
        "long-literal",
        "sends a byte more than it announces",
        Outcome::MalformedHead,
        Body,
        Action::LongLiteral,
    ),
    row("huge-literal", "announces a body of 2 GB", Outcome::OversizedHead, Body, Action::HugeLiteral),
    row("refused-recipient", "refuses a recipient for now", Outcome::Busy, Recipient, Action::Defer),
    row("full", "says that a mailbox is full", Outcome::Full, Submission, Action::Full),
    row("deferred", "refuses a message for now", Outcome::WrongStatus, Submission, Action::Defer),
    row(
        "closing",
        "ends the session with 421 in place of taking a message",
        Outcome::Busy,
        Submission,
        Action::Bye,
    ),
    row(
        "lost-reply",
        "takes a message and closes without a reply",
        Outcome::SessionLost,
        Submission,
        Action::Close,
    ),
    row("lost", "takes a message and does not deliver it", Outcome::Ok, Submission, Action::Lose),
    row("duplicate", "delivers a message twice", Outcome::Ok, Submission, Action::Duplicate),
    row("late", "delivers a message 1 s after it took it", Outcome::Ok, Submission, Action::Delay),
    row("altered", "delivers a message with another byte", Outcome::Ok, Submission, Action::Alter),
];

const fn row(
    name: &'static str,
    does: &'static str,
    outcome: Outcome,
    exchange: FaultExchange,
    action: MailFaultAction,
) -> MailFault {
    MailFault { name, does, outcome, rule: MailFaultRule { exchange, action } }
}

/// All faults of a mail server; none by default. Clones count together.
#[derive(Debug, Clone, Default)]
pub struct MailFaultPlan {
    rules: FaultRules<MailFaultRule>,
}

impl MailFaultPlan {
    /// Parses a plan from items `NAME` and `NAME:N`, for one in N of the exchanges that a fault concerns.
    ///
    /// # Errors
    /// An item is neither.
    pub fn parse<'a>(items: impl IntoIterator<Item = &'a str>) -> Result<MailFaultPlan, FaultRuleError> {
        let table: Vec<_> = FAULTS.iter().map(|fault| (fault.name, fault.rule)).collect();
        Ok(MailFaultPlan { rules: FaultRules::parse(&table, items)? })
    }

    /// Counts an exchange; returns the fault that it meets, if any.
    pub(super) fn next(&self, exchange: FaultExchange) -> Option<MailFaultAction> {
        self.rules.next(|rule| rule.exchange == exchange).map(|rule| rule.action)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_meet_the_exchanges_that_they_concern() {
        let plan = MailFaultPlan::parse(["lost:2", "bye"]).unwrap();
        let met = [Submission, Command, Greeting, Submission].map(|exchange| plan.next(exchange));
        assert_eq!(met, [None, Some(Action::Bye), None, Some(Action::Lose)]);
    }

    #[test]
    fn the_page_on_hostile_servers_has_the_table() {
        let page = include_str!("../../../../docs/design/hostile-servers.md");
        for MailFault { name, does, outcome, .. } in &FAULTS {
            let row = format!("| `{name}` | {does} | {} |", outcome.name());
            assert!(page.contains(&row), "{row}");
        }
    }

    #[test]
    fn names_are_different() {
        let names: std::collections::BTreeSet<&str> = FAULTS.iter().map(|fault| fault.name).collect();
        assert_eq!(names.len(), FAULTS.len());
    }
}
