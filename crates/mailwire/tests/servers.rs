//! Conversations with real servers, recorded: Dovecot 2.3.19 and Cyrus 3.6.1, each with the same 24 commands of tags P1 to
//! P24, and three messages that were delivered to it before.
//!
//! P6 selects INBOX, P9 fetches three envelopes, P10 three bodies, P11 two parts of a body; P12 to P19 flag, append, copy,
//! move and expunge; P21 to P23 fail; P24 logs out.

use mailwire::imap::{
    ExchangeProgress, ImapCapabilities, ImapCapability, ImapCode, ImapEvent, ImapExchange, ImapReader,
    ImapResponse, ImapStatus, ImapTag, SelectedMailbox,
};
use mailwire::smtp::{SmtpExtensions, SmtpReader};

const DOVECOT: &[u8] = include_bytes!("transcripts/dovecot.imap");
const CYRUS: &[u8] = include_bytes!("transcripts/cyrus.imap");

/// What was learned of a conversation.
#[derive(Debug, Default, PartialEq, Eq)]
struct Learned {
    statuses: Vec<ImapStatus>,
    body_bytes: Vec<u64>,
    message_ids: Vec<Option<String>>,
    found: Vec<u32>,
    sorted: Vec<u32>,
    appended: Vec<u32>,
    n_messages: Option<u32>,
    capabilities: ImapCapabilities,
}

fn converse(input: &[u8], piece: usize) -> Learned {
    let mut reader = ImapReader::new();
    let mut learned = Learned::default();
    let mut number = 0;
    let mut exchange = None;
    let mut mailbox = SelectedMailbox::default();
    for piece in input.chunks(piece) {
        let mut at = 0;
        while at < piece.len() {
            let progress = reader.read(&piece[at..]).unwrap();
            at += progress.consumed;
            let response = match progress.event {
                Some(ImapEvent::Response(response)) => response,
                Some(ImapEvent::BodyBegin(bytes)) => {
                    learned.body_bytes.push(bytes);
                    continue;
                }
                Some(ImapEvent::Body(_)) | None => continue,
            };
            let running = match &mut exchange {
                Some(running) => running,
                None if number == 0 => {
                    // The greeting.
                    assert!(matches!(response, ImapResponse::Status { status: ImapStatus::Ok, .. }));
                    number = 1;
                    exchange = Some(ImapExchange::new(ImapTag(1), 0));
                    continue;
                }
                None => panic!("a response behind the last command: {response:?}"),
            };
            if (6..=20).contains(&number) {
                mailbox.take(&response).unwrap();
            }
            learned.take(number, &response);
            if let ExchangeProgress::Done(status) = running.take(&response).unwrap() {
                learned.statuses.push(status);
                number += 1;
                let n_continuations = u32::from(number == 13 || number == 14);
                exchange = match number {
                    24 => Some(ImapExchange::logout(ImapTag(24))),
                    25 => None,
                    _ => Some(ImapExchange::new(ImapTag(number), n_continuations)),
                };
            }
        }
    }
    assert!(!reader.is_within_response());
    learned.n_messages = mailbox.n_messages();
    learned
}

impl Learned {
    fn take(&mut self, command: u32, response: &ImapResponse) {
        match response {
            ImapResponse::Fetch(fetch) if fetch.has_envelope => {
                let id = fetch.message_id.map(|id| String::from_utf8(id.to_vec()).unwrap());
                self.message_ids.push(id);
            }
            ImapResponse::ExtendedSearch(search) => {
                assert_eq!((search.n, search.least, search.most), (Some(3), Some(1), Some(3)));
                assert!(ImapTag(command).is(search.tag.unwrap()));
            }
            ImapResponse::Search(numbers) if command == 8 => self.found.extend(numbers.iter()),
            ImapResponse::Search(numbers) => self.sorted.extend(numbers.iter()),
            ImapResponse::Tagged { code: Some(ImapCode::AppendUid { uids, .. }), .. } => {
                self.appended.extend(uids.ranges().map(|range| range.first));
            }
            ImapResponse::Capability(text) => self.capabilities = ImapCapabilities::read(text),
            _ => {}
        }
    }
}

#[test]
fn conversations_with_real_servers_are_read_and_consistent() {
    let mut statuses = vec![ImapStatus::Ok; 24];
    statuses[20..23].copy_from_slice(&[ImapStatus::No, ImapStatus::Bad, ImapStatus::Bad]);
    let memo = "<00000003.m.00000010.00000003.00000000.00000000.de82a1ea@plimsoll.invalid>";
    let cyrus_id = "<cmu-lmtpd-20232-1796009702-0@bench.test>";
    for (input, body_bytes, third_id) in
        [(DOVECOT, [853, 354, 299, 50, 69], None), (CYRUS, [885, 422, 422, 69, 50], Some(cyrus_id))]
    {
        let whole = converse(input, usize::MAX);
        let ids = [Some(memo), Some("<1@example.com>"), third_id].map(|id| id.map(str::to_owned));
        let expected = Learned {
            statuses: statuses.clone(),
            body_bytes: body_bytes.to_vec(),
            message_ids: ids.to_vec(),
            found: vec![1, 2, 3],
            sorted: vec![3, 4],
            appended: vec![1, 4],
            n_messages: Some(2),
            capabilities: whole.capabilities,
        };
        assert_eq!(whole, expected);
        for piece in [1, 7, 1448] {
            assert_eq!(converse(input, piece), expected);
        }
        let needed = [
            ImapCapability::Imap4Rev1,
            ImapCapability::UidPlus,
            ImapCapability::Move,
            ImapCapability::ExtendedSearch,
            ImapCapability::Sort,
            ImapCapability::Idle,
            ImapCapability::LiteralPlus,
            ImapCapability::Condstore,
            ImapCapability::Unselect,
        ];
        assert!(needed.into_iter().all(|capability| whole.capabilities.has(capability)), "{whole:?}");
    }
}

/// The replies to LHLO, to three messages in four commands each, to a wrong command, and to QUIT.
#[test]
fn replies_of_real_lmtp_servers_are_read() {
    for (input, last_codes, size_max) in [
        (&include_bytes!("transcripts/dovecot.lmtp")[..], [503, 221], None),
        (&include_bytes!("transcripts/cyrus.lmtp")[..], [500, 221], None),
    ] {
        let mut reader = SmtpReader::new();
        let mut at = 0;
        let mut codes = Vec::new();
        while at < input.len() {
            let progress = reader.read(&input[at..]).unwrap();
            at += progress.consumed;
            let reply = progress.reply.unwrap();
            if codes.len() == 1 {
                let extensions = SmtpExtensions::read(&reply);
                assert!(extensions.pipelining && extensions.eight_bit && extensions.enhanced_status);
                assert_eq!((extensions.size_max, extensions.auth_plain), (size_max, false));
            }
            codes.push(reply.code);
        }
        let message = [250, 250, 354, 250];
        let expected = [&[220, 250][..], &message, &message, &message, &last_codes].concat();
        assert_eq!(codes, expected);
    }
}
