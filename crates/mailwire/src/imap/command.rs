//! Commands, with the texts and literals in them.
//!
//! A text that cannot be quoted is a literal, and what follows a literal is another part of the command: the server has to
//! await it, unless it takes literals at once.

use std::fmt::Write as _;

use super::capability::{ImapCapabilities, ImapCapability};
use super::exchange::{ImapExchange, ImapTag};
use super::number_set::NumberRange;
use super::write::{quoted, write_set};

/// The most bytes of a literal that a server with LITERAL- takes at once (RFC 7888).
const SMALL_LITERAL_MAX: u64 = 4096;

/// The literals that a server takes at once.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum LiteralForm {
    /// None: each is awaited.
    #[default]
    Awaited,
    /// Those of at most 4,096 bytes.
    SmallAtOnce,
    /// All.
    AtOnce,
}

impl LiteralForm {
    /// Returns the form for a server with these capabilities.
    pub fn of(capabilities: ImapCapabilities) -> LiteralForm {
        let has = |capability| capabilities.has(capability);
        if has(ImapCapability::LiteralPlus) {
            LiteralForm::AtOnce
        } else if has(ImapCapability::LiteralMinus) || has(ImapCapability::Imap4Rev2) {
            LiteralForm::SmallAtOnce
        } else {
            LiteralForm::Awaited
        }
    }

    fn is_at_once(self, bytes: u64) -> bool {
        match self {
            LiteralForm::Awaited => false,
            LiteralForm::SmallAtOnce => bytes <= SMALL_LITERAL_MAX,
            LiteralForm::AtOnce => true,
        }
    }
}

/// A writer of one command.
#[derive(Debug, Clone)]
pub struct CommandWriter {
    tag: ImapTag,
    form: LiteralForm,
    text: String,
    /// The ends of the parts that the server has to answer before the next one is sent.
    awaited: Vec<usize>,
}

/// A command, as it is sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImapCommand {
    tag: ImapTag,
    text: String,
    awaited: Vec<usize>,
}

impl CommandWriter {
    /// Begins a command: its name, and what belongs to it, such as `UID FETCH`.
    pub fn new(tag: ImapTag, form: LiteralForm, name: &'static str) -> CommandWriter {
        CommandWriter { tag, form, text: format!("{tag} {name}"), awaited: Vec::new() }
    }

    /// Writes words of the protocol behind a blank.
    pub fn words(mut self, words: &'static str) -> CommandWriter {
        self.text.push(' ');
        self.text.push_str(words);
        self
    }

    /// Writes any text behind a blank: a name, a password, a Message-ID.
    pub fn text(mut self, text: &str) -> CommandWriter {
        self.text.push(' ');
        match quoted(text) {
            Some(quoted) => self.text.push_str(&quoted),
            None => {
                self.announce(text.len() as u64);
                self.text.push_str(text);
            }
        }
        self
    }

    /// Writes a set of numbers behind a blank.
    pub fn set(mut self, ranges: impl IntoIterator<Item = NumberRange>) -> CommandWriter {
        self.text.push(' ');
        write_set(ranges, &mut self.text);
        self
    }

    /// Ends the command.
    pub fn finish(mut self) -> ImapCommand {
        self.text.push_str("\r\n");
        ImapCommand { tag: self.tag, text: self.text, awaited: self.awaited }
    }

    /// Ends the command with a literal that the caller sends, and a line end behind it: a message that is appended.
    pub fn finish_with_literal(mut self, bytes: u64) -> ImapCommand {
        self.text.push(' ');
        self.announce(bytes);
        ImapCommand { tag: self.tag, text: self.text, awaited: self.awaited }
    }

    fn announce(&mut self, bytes: u64) {
        let is_at_once = self.form.is_at_once(bytes);
        let sign = if is_at_once { "+" } else { "" };
        write!(self.text, "{{{bytes}{sign}}}\r\n").expect("texts take what is written");
        if !is_at_once {
            self.awaited.push(self.text.len());
        }
    }
}

impl ImapCommand {
    /// Returns the parts, each of which but the first is sent when the server awaits it. The last may be empty: then the
    /// server awaits the literal that the caller sends.
    pub fn parts(&self) -> impl Iterator<Item = &[u8]> {
        let starts = std::iter::once(0).chain(self.awaited.iter().copied());
        let ends = self.awaited.iter().copied().chain([self.text.len()]);
        starts.zip(ends).map(move |(start, end)| &self.text.as_bytes()[start..end])
    }

    /// Begins the exchange of the command.
    pub fn exchange(&self) -> ImapExchange {
        ImapExchange::new(self.tag, self.awaited.len() as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(command: &ImapCommand) -> Vec<&str> {
        command.parts().map(|part| std::str::from_utf8(part).unwrap()).collect()
    }

    #[test]
    fn texts_are_quoted_or_literals_that_are_awaited() {
        let login =
            |form| CommandWriter::new(ImapTag(1), form, "LOGIN").text("anna \"a\"").text("päss").finish();
        assert_eq!(parts(&login(LiteralForm::Awaited)), ["P1 LOGIN \"anna \\\"a\\\"\" {5}\r\n", "päss\r\n"]);
        assert_eq!(parts(&login(LiteralForm::AtOnce)), ["P1 LOGIN \"anna \\\"a\\\"\" {5+}\r\npäss\r\n"]);
        let injected =
            CommandWriter::new(ImapTag(2), LiteralForm::Awaited, "SELECT").text("a\r\nP3 LOGOUT").finish();
        assert_eq!(parts(&injected), ["P2 SELECT {12}\r\n", "a\r\nP3 LOGOUT\r\n"]);
    }

    #[test]
    fn a_message_is_appended_as_a_literal_of_the_caller() {
        let append = |form, bytes| {
            CommandWriter::new(ImapTag(3), form, "APPEND")
                .text("Sent")
                .words("(\\Seen)")
                .finish_with_literal(bytes)
        };
        assert_eq!(parts(&append(LiteralForm::Awaited, 10)), ["P3 APPEND \"Sent\" (\\Seen) {10}\r\n", ""]);
        assert_eq!(
            parts(&append(LiteralForm::SmallAtOnce, 4096)),
            ["P3 APPEND \"Sent\" (\\Seen) {4096+}\r\n"]
        );
        assert_eq!(parts(&append(LiteralForm::SmallAtOnce, 4097)).len(), 2);
        assert_eq!(append(LiteralForm::Awaited, 10).exchange(), ImapExchange::new(ImapTag(3), 1));
    }

    #[test]
    fn sets_and_words_follow_the_name() {
        let set = [NumberRange { first: 3, last: 7 }, NumberRange { first: 9, last: 9 }];
        let fetch = CommandWriter::new(ImapTag(4), LiteralForm::AtOnce, "UID FETCH")
            .set(set)
            .words("(UID FLAGS)")
            .finish();
        assert_eq!(parts(&fetch), ["P4 UID FETCH 3:7,9 (UID FLAGS)\r\n"]);
    }

    #[test]
    fn the_form_follows_from_the_capabilities() {
        let form = |text: &str| LiteralForm::of(ImapCapabilities::read(text.as_bytes()));
        assert_eq!(form("IMAP4rev1"), LiteralForm::Awaited);
        assert_eq!(form("IMAP4rev1 LITERAL-"), LiteralForm::SmallAtOnce);
        assert_eq!(form("IMAP4rev1 IMAP4rev2"), LiteralForm::SmallAtOnce);
        assert_eq!(form("IMAP4rev1 LITERAL- LITERAL+"), LiteralForm::AtOnce);
    }
}
