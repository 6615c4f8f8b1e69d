//! Commands, each a row of a table.

use super::fetch_items::{FetchItem, fetch_items};
use super::search::{SearchRequest, search_request};
use super::syntax::{Cursor, SequenceSet};
use crate::mail::store::FlagChange;

/// The state of a session that a command needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NeededState {
    Any,
    LoggedOff,
    LoggedOn,
    Selected,
}

/// A command. Those with numbers of messages have UIDs, or places in the mailbox.
#[derive(Debug, PartialEq)]
pub(super) enum Command {
    Capability,
    Noop,
    Logout,
    LogOn { name: Vec<u8>, password: Vec<u8> },
    Authenticate { initial: Option<Vec<u8>> },
    List { response: &'static str, pattern: Vec<u8> },
    Status { mailbox: String, items: Vec<StatusItem> },
    Select { mailbox: String, is_read_only: bool },
    Create(String),
    Delete(String),
    Subscribe(String),
    Idle,
    Close,
    Unselect,
    Expunge { uids: Option<SequenceSet> },
    Search(SearchRequest),
    Fetch { messages: Messages, items: Vec<FetchItem> },
    Store { messages: Messages, change: FlagChange, is_silent: bool, flags: Vec<String> },
    Copy { messages: Messages, mailbox: String, is_move: bool },
}

/// The messages of a command.
#[derive(Debug, PartialEq)]
pub(super) struct Messages {
    pub(super) set: SequenceSet,
    /// Whether the set has UIDs.
    pub(super) is_uid: bool,
}

/// A command with its tag.
#[derive(Debug, PartialEq)]
pub(super) struct ParsedCommand<'a> {
    pub(super) tag: &'a str,
    pub(super) command: Result<(NeededState, Command), CommandError>,
}

/// A reason for which a command is not understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CommandError {
    Unknown,
    Arguments,
}

/// A number in the status of a mailbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StatusItem {
    Messages,
    Recent,
    UidNext,
    UidValidity,
    Unseen,
}

impl StatusItem {
    const NAMES: [(&str, StatusItem); 5] = [
        ("MESSAGES", StatusItem::Messages),
        ("RECENT", StatusItem::Recent),
        ("UIDNEXT", StatusItem::UidNext),
        ("UIDVALIDITY", StatusItem::UidValidity),
        ("UNSEEN", StatusItem::Unseen),
    ];

    pub(super) fn name(self) -> &'static str {
        StatusItem::NAMES[self as usize].0
    }
}

/// A row of the table: the name of a command, what it needs, and how its arguments are read.
struct CommandRow {
    name: &'static str,
    needs: NeededState,
    /// Reads the arguments; the second argument is whether `UID` stood before the name.
    read: fn(&mut Cursor<'_>, bool) -> Option<Command>,
}

const fn row(
    name: &'static str,
    needs: NeededState,
    read: fn(&mut Cursor<'_>, bool) -> Option<Command>,
) -> CommandRow {
    CommandRow { name, needs, read }
}

use NeededState::{Any, LoggedOff, LoggedOn, Selected};

/// All commands but APPEND, whose message is not kept with it.
const COMMANDS: [CommandRow; 24] = [
    row("CAPABILITY", Any, |_, _| Some(Command::Capability)),
    row("NOOP", Any, |_, _| Some(Command::Noop)),
    row("LOGOUT", Any, |_, _| Some(Command::Logout)),
    row("LOGIN", LoggedOff, read_log_on),
    row("AUTHENTICATE", LoggedOff, read_authenticate),
    row("LIST", LoggedOn, |cursor, _| read_list(cursor, "LIST")),
    row("LSUB", LoggedOn, |cursor, _| read_list(cursor, "LSUB")),
    row("STATUS", LoggedOn, read_status),
    row("SELECT", LoggedOn, |cursor, _| read_select(cursor, false)),
    row("EXAMINE", LoggedOn, |cursor, _| read_select(cursor, true)),
    row("CREATE", LoggedOn, |cursor, _| read_mailbox(cursor).map(Command::Create)),
    row("DELETE", LoggedOn, |cursor, _| read_mailbox(cursor).map(Command::Delete)),
    row("SUBSCRIBE", LoggedOn, |cursor, _| read_mailbox(cursor).map(Command::Subscribe)),
    row("UNSUBSCRIBE", LoggedOn, |cursor, _| read_mailbox(cursor).map(Command::Subscribe)),
    row("IDLE", LoggedOn, |_, _| Some(Command::Idle)),
    row("CHECK", Selected, |_, _| Some(Command::Noop)),
    row("CLOSE", Selected, |_, _| Some(Command::Close)),
    row("UNSELECT", Selected, |_, _| Some(Command::Unselect)),
    row("EXPUNGE", Selected, read_expunge),
    row("SEARCH", Selected, |cursor, is_uid| search_request(cursor, is_uid).map(Command::Search)),
    row("FETCH", Selected, read_fetch),
    row("STORE", Selected, read_store),
    row("COPY", Selected, |cursor, is_uid| read_copy(cursor, is_uid, false)),
    row("MOVE", Selected, |cursor, is_uid| read_copy(cursor, is_uid, true)),
];

/// The commands before whose names `UID` may stand.
const UID_COMMANDS: [&str; 6] = ["EXPUNGE", "SEARCH", "FETCH", "STORE", "COPY", "MOVE"];

/// Reads a command, without the end of its line; `None` if it has no tag.
pub(super) fn read_command(line: &[u8]) -> Option<ParsedCommand<'_>> {
    let mut cursor = Cursor::new(line);
    let tag = read_tag(&mut cursor)?;
    Some(ParsedCommand { tag, command: read_tagged(&mut cursor) })
}

/// Reads the tag of a command, with the blank behind it.
pub(super) fn read_tag<'a>(cursor: &mut Cursor<'a>) -> Option<&'a str> {
    let tag = cursor.atom().filter(|tag| !tag.contains('+') && tag.len() <= 64)?;
    cursor.blank()?;
    Some(tag)
}

fn read_tagged(cursor: &mut Cursor<'_>) -> Result<(NeededState, Command), CommandError> {
    let is_uid = cursor.take("UID ");
    let name = cursor.atom().ok_or(CommandError::Unknown)?;
    let is_it = |known: &str| name.eq_ignore_ascii_case(known);
    if is_uid && !UID_COMMANDS.into_iter().any(is_it) {
        return Err(CommandError::Unknown);
    }
    let row = COMMANDS.iter().find(|row| is_it(row.name)).ok_or(CommandError::Unknown)?;
    let command = (row.read)(cursor, is_uid).filter(|_| cursor.is_at_end());
    Ok((row.needs, command.ok_or(CommandError::Arguments)?))
}

/// Reads a blank and the name of a mailbox.
pub(super) fn read_mailbox(cursor: &mut Cursor<'_>) -> Option<String> {
    cursor.blank()?;
    String::from_utf8(cursor.text()?.into_owned()).ok()
}

fn read_log_on(cursor: &mut Cursor<'_>, _: bool) -> Option<Command> {
    cursor.blank()?;
    let name = cursor.text()?.into_owned();
    cursor.blank()?;
    Some(Command::LogOn { name, password: cursor.text()?.into_owned() })
}

fn read_authenticate(cursor: &mut Cursor<'_>, _: bool) -> Option<Command> {
    cursor.blank()?;
    cursor.expect("PLAIN")?;
    let initial = if cursor.take(" ") { Some(cursor.text()?.into_owned()) } else { None };
    Some(Command::Authenticate { initial })
}

fn read_list(cursor: &mut Cursor<'_>, response: &'static str) -> Option<Command> {
    cursor.blank()?;
    let reference = cursor.text()?;
    cursor.blank()?;
    let pattern = [reference, cursor.pattern()?].concat();
    Some(Command::List { response, pattern })
}

fn read_status(cursor: &mut Cursor<'_>, _: bool) -> Option<Command> {
    let mailbox = read_mailbox(cursor)?;
    cursor.blank()?;
    let items = cursor.list(|cursor| {
        let name = cursor.name()?;
        let known = StatusItem::NAMES.into_iter().find(|(known, _)| name.eq_ignore_ascii_case(known))?;
        Some(known.1)
    })?;
    Some(Command::Status { mailbox, items })
}

fn read_select(cursor: &mut Cursor<'_>, is_read_only: bool) -> Option<Command> {
    Some(Command::Select { mailbox: read_mailbox(cursor)?, is_read_only })
}

fn read_expunge(cursor: &mut Cursor<'_>, is_uid: bool) -> Option<Command> {
    if !is_uid {
        return Some(Command::Expunge { uids: None });
    }
    cursor.blank()?;
    Some(Command::Expunge { uids: Some(cursor.sequence_set()?) })
}

/// Reads a blank and a set of messages.
fn read_messages(cursor: &mut Cursor<'_>, is_uid: bool) -> Option<Messages> {
    cursor.blank()?;
    Some(Messages { set: cursor.sequence_set()?, is_uid })
}

fn read_fetch(cursor: &mut Cursor<'_>, is_uid: bool) -> Option<Command> {
    let messages = read_messages(cursor, is_uid)?;
    cursor.blank()?;
    let mut items = fetch_items(cursor)?;
    if is_uid && !items.contains(&FetchItem::Uid) {
        items.insert(0, FetchItem::Uid);
    }
    Some(Command::Fetch { messages, items })
}

fn read_store(cursor: &mut Cursor<'_>, is_uid: bool) -> Option<Command> {
    let messages = read_messages(cursor, is_uid)?;
    cursor.blank()?;
    let change = if cursor.take("+") {
        FlagChange::Add
    } else if cursor.take("-") {
        FlagChange::Remove
    } else {
        FlagChange::Replace
    };
    cursor.expect("FLAGS")?;
    let is_silent = cursor.take(".SILENT");
    cursor.blank()?;
    let flags = read_flags(cursor)?;
    Some(Command::Store { messages, change, is_silent, flags })
}

/// Reads flags, in round brackets or, if there are any, without.
pub(super) fn read_flags(cursor: &mut Cursor<'_>) -> Option<Vec<String>> {
    if cursor.take("()") {
        return Some(Vec::new());
    }
    let flag = |cursor: &mut Cursor<'_>| cursor.flag().map(str::to_owned);
    if cursor.peek() == Some(b'(') {
        return cursor.list(flag);
    }
    let mut flags = vec![flag(cursor)?];
    while cursor.take(" ") {
        flags.push(flag(cursor)?);
    }
    Some(flags)
}

fn read_copy(cursor: &mut Cursor<'_>, is_uid: bool, is_move: bool) -> Option<Command> {
    let messages = read_messages(cursor, is_uid)?;
    Some(Command::Copy { messages, mailbox: read_mailbox(cursor)?, is_move })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Result<(NeededState, Command), CommandError> {
        let parsed = read_command(line.as_bytes()).unwrap();
        assert_eq!(parsed.tag, "a1");
        parsed.command
    }

    #[test]
    fn names_of_items_are_in_the_order_of_their_declaration() {
        for (index, (name, item)) in StatusItem::NAMES.into_iter().enumerate() {
            assert_eq!((item as usize, item.name()), (index, name));
        }
    }

    #[test]
    fn commands_are_read_with_what_they_need() {
        let set = |text: &str| Cursor::new(text.as_bytes()).sequence_set().unwrap();
        for (line, needs, command) in [
            ("noop", Any, Command::Noop),
            ("CHECK", Selected, Command::Noop),
            (
                "LOGIN \"a b\" {3}\r\nx y",
                LoggedOff,
                Command::LogOn { name: b"a b".to_vec(), password: b"x y".to_vec() },
            ),
            ("AUTHENTICATE plain", LoggedOff, Command::Authenticate { initial: None }),
            ("AUTHENTICATE PLAIN AGE=", LoggedOff, Command::Authenticate { initial: Some(b"AGE=".to_vec()) }),
            ("LIST \"\" *", LoggedOn, Command::List { response: "LIST", pattern: b"*".to_vec() }),
            (
                "STATUS INBOX (MESSAGES uidnext)",
                LoggedOn,
                Command::Status {
                    mailbox: "INBOX".to_owned(),
                    items: vec![StatusItem::Messages, StatusItem::UidNext],
                },
            ),
            ("EXAMINE x", LoggedOn, Command::Select { mailbox: "x".to_owned(), is_read_only: true }),
            ("EXPUNGE", Selected, Command::Expunge { uids: None }),
            ("UID EXPUNGE 3:*", Selected, Command::Expunge { uids: Some(set("3:*")) }),
            (
                "UID STORE 1,3 +flags.silent (\\Deleted $x)",
                Selected,
                Command::Store {
                    messages: Messages { set: set("1,3"), is_uid: true },
                    change: FlagChange::Add,
                    is_silent: true,
                    flags: vec!["\\Deleted".to_owned(), "$x".to_owned()],
                },
            ),
            (
                "STORE 2 FLAGS \\Seen a",
                Selected,
                Command::Store {
                    messages: Messages { set: set("2"), is_uid: false },
                    change: FlagChange::Replace,
                    is_silent: false,
                    flags: vec!["\\Seen".to_owned(), "a".to_owned()],
                },
            ),
            (
                "UID MOVE 7 \"Archive\"",
                Selected,
                Command::Copy {
                    messages: Messages { set: set("7"), is_uid: true },
                    mailbox: "Archive".to_owned(),
                    is_move: true,
                },
            ),
            (
                "UID FETCH 1 FLAGS",
                Selected,
                Command::Fetch {
                    messages: Messages { set: set("1"), is_uid: true },
                    items: vec![FetchItem::Uid, FetchItem::Flags],
                },
            ),
        ] {
            assert_eq!(read(&format!("a1 {line}")), Ok((needs, command)), "{line}");
        }
    }

    #[test]
    fn what_is_no_command_has_a_reason() {
        for line in ["FROB", "UID NOOP", "UID", "", "\"x\"", "NOO"] {
            assert_eq!(read(&format!("a1 {line}")), Err(CommandError::Unknown), "{line}");
        }
        for line in [
            "NOOP x",
            "NOOP ",
            "LOGIN a",
            "AUTHENTICATE LOGIN",
            "LIST \"\"",
            "STATUS INBOX ()",
            "STATUS INBOX (SIZE)",
            "SELECT \u{e9}",
            "SELECT {2}\r\n\u{0}x y",
            "UID EXPUNGE",
            "EXPUNGE 1",
            "STORE 1 FLAGS",
            "STORE 1 *FLAGS (a)",
            "STORE 0 FLAGS (a)",
            "FETCH 1",
            "COPY 1",
        ] {
            assert_eq!(read(&format!("a1 {line}")), Err(CommandError::Arguments), "{line}");
        }
        for line in ["", " NOOP", "a1", "+ NOOP", "a+ NOOP", "( NOOP"] {
            assert_eq!(read_command(line.as_bytes()), None, "{line:?}");
        }
    }
}
