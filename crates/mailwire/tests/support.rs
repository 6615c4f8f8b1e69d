//! Reading of a whole conversation in pieces.

use mailwire::imap::{
    ExchangeFault, ExchangeProgress, ImapError, ImapEvent, ImapExchange, ImapLimits, ImapReader,
    ImapResponse, ImapTag, MailboxFault, SelectedMailbox,
};
use mailwire::smtp::{SmtpError, SmtpReader};

/// Reads everything in pieces of this size. Returns a line for each event; bodies are joined.
pub(crate) fn read_imap(input: &[u8], piece: usize, limits: ImapLimits) -> Result<Vec<String>, ImapError> {
    let mut reader = ImapReader::with_limits(limits);
    let mut lines: Vec<String> = Vec::new();
    let mut body: Option<Vec<u8>> = None;
    for piece in input.chunks(piece) {
        let mut at = 0;
        while at < piece.len() {
            let progress = reader.read(&piece[at..])?;
            assert!(0 < progress.consumed, "it goes on");
            at += progress.consumed;
            match progress.event {
                Some(ImapEvent::BodyBegin(bytes)) => {
                    lines.push(format!("body of {bytes}"));
                    body = Some(Vec::new());
                }
                Some(ImapEvent::Body(bytes)) => body.as_mut().unwrap().extend_from_slice(bytes),
                Some(ImapEvent::Response(response)) => {
                    lines.extend(body.take().map(|body| String::from_utf8_lossy(&body).into_owned()));
                    lines.push(format!("{response:?}"));
                }
                None => assert_eq!(at, piece.len(), "everything was taken"),
            }
        }
    }
    Ok(lines)
}

/// The end of a command in a session.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum SessionEnd {
    Done,
    Awaited,
    Reader(ImapError),
    Exchange(ExchangeFault),
    Mailbox(MailboxFault),
}

/// Performs a command of the tag P7 in a selected mailbox whose validity is 1 and that has three messages.
pub(crate) fn perform(input: &[u8], untagged_max: u32) -> SessionEnd {
    let limits = ImapLimits { line_bytes: 10_000, body_bytes: 1 << 20 };
    let mut reader = ImapReader::with_limits(limits);
    let mut exchange = ImapExchange::new(ImapTag(7), 0).with_untagged_max(untagged_max);
    let mut mailbox = SelectedMailbox::new(Some(1));
    mailbox.take(&ImapResponse::Exists(3)).unwrap();
    let mut at = 0;
    while at < input.len() {
        let progress = match reader.read(&input[at..]) {
            Ok(progress) => progress,
            Err(error) => return SessionEnd::Reader(error),
        };
        at += progress.consumed;
        let Some(ImapEvent::Response(response)) = progress.event else { continue };
        if let Err(fault) = mailbox.take(&response) {
            return SessionEnd::Mailbox(fault);
        }
        match exchange.take(&response) {
            Ok(ExchangeProgress::Done(_)) => return SessionEnd::Done,
            Ok(ExchangeProgress::More | ExchangeProgress::Continue) => {}
            Err(fault) => return SessionEnd::Exchange(fault),
        }
    }
    SessionEnd::Awaited
}

/// Reads replies in pieces of this size. Returns a line for each.
pub(crate) fn read_smtp(input: &[u8], piece: usize) -> Result<Vec<String>, SmtpError> {
    let mut reader = SmtpReader::new();
    let mut replies = Vec::new();
    for piece in input.chunks(piece) {
        let mut at = 0;
        while at < piece.len() {
            let progress = reader.read(&piece[at..])?;
            assert!(0 < progress.consumed, "it goes on");
            at += progress.consumed;
            if let Some(reply) = progress.reply {
                let lines: Vec<String> =
                    reply.lines().map(|line| String::from_utf8_lossy(line).into_owned()).collect();
                replies.push(format!("{} {}", reply.code, lines.join(" | ")));
            }
        }
    }
    Ok(replies)
}
