//! Replies of mail servers, and messages that were read from them.

use mail::{MailDate, MailDirectory, MailMessages, MessageDepth, MessageIdentity, MessageVerifier};
use mailwire::imap::{
    ImapCapabilities, ImapError, ImapEvent, ImapExchange, ImapLimits, ImapReader, ImapResponse, ImapTag,
    SelectedMailbox, UidCollection,
};
use mailwire::smtp::{SmtpError, SmtpExtensions, SmtpReader};

/// The first byte says into which pieces the rest is cut: responses are the same as without. A mailbox and a collection
/// take them.
pub fn imap(bytes: &[u8]) {
    let Some((piece, input)) = bytes.split_first() else { return };
    let whole = responses(input, input.len().max(1));
    let pieces = responses(input, usize::from(*piece) + 1);
    match (whole, pieces) {
        (Ok(whole), Ok(pieces)) => assert_eq!(whole, pieces),
        (whole, pieces) => assert_eq!(whole.is_err(), pieces.is_err()),
    }
}

/// Returns the responses as texts, with the bodies before them as numbers of bytes.
fn responses(input: &[u8], piece: usize) -> Result<Vec<String>, ImapError> {
    let mut reader = ImapReader::with_limits(ImapLimits { line_bytes: 1 << 16, body_bytes: 1 << 16 });
    let mut exchange = ImapExchange::new(ImapTag(1), 1);
    let mut mailbox = SelectedMailbox::new(None);
    let mut read = Vec::new();
    let mut announced = 0;
    let mut passed = 0;
    for piece in input.chunks(piece) {
        let mut at = 0;
        while at < piece.len() {
            let progress = reader.read(&piece[at..])?;
            assert!(0 < progress.consumed);
            at += progress.consumed;
            match progress.event {
                Some(ImapEvent::BodyBegin(bytes)) => announced += bytes,
                Some(ImapEvent::Body(bytes)) => passed += bytes.len() as u64,
                Some(ImapEvent::Response(response)) => {
                    assert_eq!(announced, passed, "a response follows the whole of its bodies");
                    let progress = (exchange.take(&response), mailbox.take(&response));
                    read.push(format!("{passed} {response:?} {progress:?}"));
                    look_into(&response);
                }
                None => assert_eq!(at, piece.len()),
            }
        }
    }
    assert!(passed <= announced);
    Ok(read)
}

/// Sets that are parts of a response have been checked, and can be collected.
fn look_into(response: &ImapResponse) {
    match response {
        ImapResponse::Search(numbers) => drop(numbers.iter().count()),
        ImapResponse::ExtendedSearch(search) => {
            let mut collection = UidCollection::new();
            search.all.into_iter().flat_map(|all| all.ranges()).for_each(|range| collection.add(range));
            assert_eq!(collection.newest(collection.n()), None);
            assert!(collection.n() == 0 || collection.newest(collection.n() - 1).is_some());
        }
        ImapResponse::Capability(text) => drop(ImapCapabilities::read(text).names().count()),
        _ => {}
    }
}

/// The first byte says into which pieces the rest is cut: replies are the same as without.
pub fn smtp(bytes: &[u8]) {
    let Some((piece, input)) = bytes.split_first() else { return };
    assert_eq!(replies(input, input.len().max(1)), replies(input, usize::from(*piece) + 1));
}

fn replies(input: &[u8], piece: usize) -> Result<Vec<String>, SmtpError> {
    let mut reader = SmtpReader::new();
    let mut read = Vec::new();
    for piece in input.chunks(piece) {
        let mut at = 0;
        while at < piece.len() {
            let progress = reader.read(&piece[at..])?;
            assert!(0 < progress.consumed);
            at += progress.consumed;
            if let Some(reply) = progress.reply {
                assert!((200..600).contains(&reply.code));
                read.push(format!("{reply:?} {:?} {:?}", reply.enhanced(), SmtpExtensions::read(&reply)));
            }
        }
    }
    Ok(read)
}

/// A message of a mailbox is verified: in any pieces the same, and one that is as it was sent has its size.
pub fn message(bytes: &[u8]) {
    let Some((piece, input)) = bytes.split_first() else { return };
    let directory = MailDirectory::numbered("mail", 10, "bench.test").expect("names of users");
    let messages = MailMessages::new(42, directory, MailDate::from_unix_seconds(1_800_000_000));
    let verified = |piece: usize| {
        let mut verifier = MessageVerifier::new(MessageDepth::Full);
        input.chunks(piece).for_each(|piece| verifier.feed(piece, &messages));
        verifier.finish()
    };
    let found = verified(input.len().max(1));
    assert_eq!(found, verified(usize::from(*piece) + 1));
    assert_eq!(found.bytes, input.len() as u64);
    match found.identity {
        Some(identity) if found.fault.is_none() => {
            assert!(messages.message(identity).bytes() <= found.bytes);
        }
        _ => {}
    }
    if let Some(identity) = MessageIdentity::from_message_id(input, 42) {
        assert_eq!(identity.message_id(42).to_string().as_bytes(), input);
    }
}
