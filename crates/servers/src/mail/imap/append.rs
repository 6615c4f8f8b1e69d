//! APPEND: a message that its user puts into a mailbox. It is received as it comes, and never kept with its command.

use std::sync::Arc;

use mail::MailDate;

use super::command::{read_flags, read_mailbox, read_tag};
use super::message_commands::{flags_named, full};
use super::session::{Completion, ImapSession, Literal};
use super::syntax::Cursor;
use crate::mail::connection::ConnectionEnd;
use crate::mail::store::{
    NewEntry, ReceiptError, SharedMailbox, StoredContent, StoredMessage, read_date_time, today,
};

/// The most bytes of the line behind a message: its end.
const REST_BYTES_MAX: usize = 1024;

/// A message without room is read and forgotten, if it has at most so many times the bytes of the largest that there can be.
const SKIPPED_TIMES: u64 = 4;

/// The command up to its message.
#[derive(Debug, PartialEq, Eq)]
struct AppendHead {
    tag: String,
    mailbox: String,
    flags: Vec<String>,
    date: Option<MailDate>,
}

impl ImapSession {
    /// Performs the command if it is APPEND, up to the announcement of its message; returns whether it is.
    pub(super) async fn append(&mut self, command: &[u8], literal: Literal) -> Result<bool, ConnectionEnd> {
        let Some(head) = append_head(command) else { return Ok(false) };
        let completion = match self.append_target(&head, literal) {
            Ok(mailbox) => self.receive(&head, &mailbox, literal).await?,
            Err(refused) => {
                self.skip(literal).await?;
                refused
            }
        };
        self.sync(true);
        self.complete(&head.tag, completion);
        Ok(true)
    }

    fn append_target(&self, head: &AppendHead, literal: Literal) -> Result<Arc<SharedMailbox>, Completion> {
        if self.user.is_none() {
            return Err(Completion::Bad("not in this state of the session"));
        }
        let mailbox = self.mailbox(&head.mailbox);
        let mailbox = mailbox.ok_or_else(|| Completion::no("[TRYCREATE] there is no such mailbox"))?;
        if self.store().message_bytes_max() < literal.bytes {
            return Err(too_large());
        }
        Ok(mailbox)
    }

    async fn receive(
        &mut self,
        head: &AppendHead,
        mailbox: &SharedMailbox,
        literal: Literal,
    ) -> Result<Completion, ConnectionEnd> {
        if !literal.is_at_once {
            self.connection.put_line("+ go on");
        }
        let mut receiver = self.store().receiver();
        let mut left = literal.bytes;
        while 0 < left {
            let bytes = self.connection.read_some().await?;
            let n = bytes.len().min(usize::try_from(left).unwrap_or(usize::MAX));
            receiver.feed(&bytes[..n], self.worker.store().messages());
            self.connection.consume(n);
            left -= n as u64;
        }
        if !self.is_at_end_of_line().await? {
            return Ok(Completion::Bad("the end of the command was expected"));
        }
        Ok(match receiver.finish() {
            Ok(content) => put_message(head, mailbox, content),
            Err(ReceiptError::TooLarge) => too_large(),
            Err(ReceiptError::NoMemory) => Completion::no("[LIMIT] there is no memory for the message now"),
        })
    }

    /// Reads and forgets a message that its client sends without waiting, and the end of its command.
    async fn skip(&mut self, literal: Literal) -> Result<(), ConnectionEnd> {
        if !literal.is_at_once {
            return Ok(());
        }
        if self.store().message_bytes_max().saturating_mul(SKIPPED_TIMES) < literal.bytes {
            return Err(ConnectionEnd::LineTooLong);
        }
        let mut left = literal.bytes;
        while 0 < left {
            let n = (self.connection.read_some().await?.len() as u64).min(left);
            self.connection.consume(n as usize);
            left -= n;
        }
        self.is_at_end_of_line().await.map(drop)
    }

    async fn is_at_end_of_line(&mut self) -> Result<bool, ConnectionEnd> {
        let mut rest = Vec::new();
        self.connection.read_line(&mut rest, REST_BYTES_MAX).await?;
        Ok(rest == b"\r\n" || rest == b"\n")
    }
}

fn too_large() -> Completion {
    Completion::no("[TOOBIG] the message is too large")
}

fn put_message(head: &AppendHead, mailbox: &SharedMailbox, content: StoredContent) -> Completion {
    let Some(flags) = flags_named(&mut mailbox.lock(), &head.flags) else {
        return Completion::no("[LIMIT] there are too many keywords, or one is too long");
    };
    let message = Arc::new(StoredMessage::new(content, None));
    match mailbox.add(NewEntry { flags, date: head.date.unwrap_or_else(today), message }) {
        Ok(uid) => Completion::Ok(format!("[APPENDUID {} {uid}] appended", mailbox.validity())),
        Err(_) => full(),
    }
}

/// Reads a command that ends with the announcement of its message. `None` if it is another, or has another literal.
fn append_head(command: &[u8]) -> Option<AppendHead> {
    let mut cursor = Cursor::new(command);
    let tag = read_tag(&mut cursor)?.to_owned();
    cursor.expect("APPEND")?;
    let mailbox = read_mailbox(&mut cursor)?;
    cursor.blank()?;
    let mut flags = Vec::new();
    if cursor.peek() == Some(b'(') {
        flags = read_flags(&mut cursor)?;
        cursor.blank()?;
    }
    let mut date = None;
    if cursor.peek() == Some(b'"') {
        date = Some(read_date_time(&cursor.string()?)?);
        cursor.blank()?;
    }
    let is_message =
        cursor.peek() == Some(b'{') && cursor.rest().iter().filter(|byte| **byte == b'\n').count() == 1;
    is_message.then_some(AppendHead { tag, mailbox, flags, date })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_announced_behind_the_other_arguments() {
        let head = |mailbox: &str, flags: &[&str], date| AppendHead {
            tag: "a1".to_owned(),
            mailbox: mailbox.to_owned(),
            flags: flags.iter().map(|flag| (*flag).to_owned()).collect(),
            date,
        };
        let date = Some(MailDate::from_unix_seconds(1_796_005_800));
        for (command, expected) in [
            ("a1 APPEND Sent {5}\r\n", Some(head("Sent", &[], None))),
            ("a1 append \"a b\" (\\Seen $x) {5+}\r\n", Some(head("a b", &["\\Seen", "$x"], None))),
            ("a1 APPEND {1}\r\nx () \"30-Nov-2026 02:30:00 +0000\" {5}\r\n", Some(head("x", &[], date))),
            ("a1 APPEND {5}\r\n", None),
            ("a1 APPEND Sent \"x\" {5}\r\n", None),
            ("a1 APPEND Sent\r\n", None),
            ("a1 APPEND Sent {1}\r\nx {5}\r\n", None),
            ("a1 SELECT {5}\r\n", None),
        ] {
            assert_eq!(append_head(command.as_bytes()), expected, "{command}");
        }
    }
}
