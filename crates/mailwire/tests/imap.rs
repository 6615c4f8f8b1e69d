//! Responses as servers send them.

use mailwire::imap::{
    ExchangeFault, ExchangeProgress, ExtendedSearch, FetchBody, FetchResponse, ImapCode, ImapEvent,
    ImapExchange, ImapLimits, ImapReader, ImapResponse, ImapStatus, ImapTag, MessageFlags, NumberRange,
    NumberSet, SelectedMailbox,
};
use proptest::prelude::*;

use crate::support::read_imap;

/// Reads a line that is a response as a whole, and passes it on.
fn with_response(line: &str, check: impl FnOnce(ImapResponse)) {
    let mut reader = ImapReader::new();
    let input = format!("{line}\r\n");
    let mut at = 0;
    loop {
        let progress = reader.read(&input.as_bytes()[at..]).unwrap();
        at += progress.consumed;
        if let Some(ImapEvent::Response(response)) = progress.event {
            assert_eq!(at, input.len());
            return check(response);
        }
        assert!(at < input.len(), "no response in {line:?}");
    }
}

#[test]
fn statuses_have_their_codes_and_texts() {
    let uids = |text: &'static str| NumberSet::read(text.as_bytes()).unwrap();
    for (line, tag, status, code, text) in [
        ("P1 OK done", "P1", ImapStatus::Ok, None, "done"),
        ("P1 ok", "P1", ImapStatus::Ok, None, ""),
        ("P1 NO [OVERQUOTA] full {5}", "P1", ImapStatus::No, Some(ImapCode::Other(b"OVERQUOTA")), "full {5}"),
        ("P1 BAD [X (a b)]", "P1", ImapStatus::Bad, Some(ImapCode::Other(b"X (a b)")), ""),
        (
            "P1 OK [APPENDUID 17 5:6] done",
            "P1",
            ImapStatus::Ok,
            Some(ImapCode::AppendUid { validity: 17, uids: uids("5:6") }),
            "done",
        ),
        (
            "P1 OK [COPYUID 17 1,3 8:9] done",
            "P1",
            ImapStatus::Ok,
            Some(ImapCode::CopyUid { validity: 17, uids: uids("8:9") }),
            "done",
        ),
        ("* OK [UIDVALIDITY 3] fine", "*", ImapStatus::Ok, Some(ImapCode::UidValidity(3)), "fine"),
        ("* OK [UIDNEXT 4] fine", "*", ImapStatus::Ok, Some(ImapCode::UidNext(4)), "fine"),
        (
            "* OK [HIGHESTMODSEQ 5000000000]",
            "*",
            ImapStatus::Ok,
            Some(ImapCode::HighestModification(5_000_000_000)),
            "",
        ),
        ("* BYE shutting down", "*", ImapStatus::Bye, None, "shutting down"),
        (
            "* PREAUTH [CAPABILITY IMAP4rev1 IDLE] hello",
            "*",
            ImapStatus::PreAuth,
            Some(ImapCode::Capability(b"IMAP4rev1 IDLE")),
            "hello",
        ),
    ] {
        with_response(line, |response| {
            let expected = if tag == "*" {
                ImapResponse::Status { status, code, text: text.as_bytes() }
            } else {
                ImapResponse::Tagged { tag: tag.as_bytes(), status, code, text: text.as_bytes() }
            };
            assert_eq!(response, expected, "{line}");
        });
    }
}

#[test]
fn a_page_of_a_view_has_uids_flags_sizes_and_message_ids() {
    let line = "* 12 FETCH (UID 99 FLAGS (\\Seen $Label1 \\answered) INTERNALDATE \"30-Nov-2026 02:30:00 +0000\" \
                RFC822.SIZE 1490 ENVELOPE (\"Mon, 30 Nov 2026 02:30:00 +0000\" \"a \\\"b\\\" (c\" \
                ((NIL NIL \"mail1\" \"bench.test\")) ((NIL NIL \"mail1\" \"bench.test\")) \
                ((NIL NIL \"mail1\" \"bench.test\")) ((\"\" NIL \"mail2\" \"bench.test\")(NIL NIL \"m\" \"b\")) \
                NIL NIL NIL \"<1@bench.test>\") MODSEQ (77))";
    with_response(line, |response| {
        let flags = MessageFlags { seen: true, answered: true, n_keywords: 1, ..MessageFlags::default() };
        let expected = FetchResponse {
            number: 12,
            uid: Some(99),
            flags: Some(flags),
            size: Some(1490),
            modification: Some(77),
            message_id: Some(b"<1@bench.test>"),
            subject: Some(br#"a \"b\" (c"#),
            has_envelope: true,
            body: None,
        };
        assert_eq!(response, ImapResponse::Fetch(expected));
    });
}

/// A subject that is a literal stays in its line, and a body, wherever it stands, passes through.
#[test]
fn bodies_pass_through_and_other_literals_stay() {
    let input = b"* 1 FETCH (ENVELOPE (NIL {7}\r\nsub\r\nj) NIL NIL NIL NIL NIL NIL NIL \"<1@b>\") BODY[] {5}\r\nhello UID 7)\r\n\
        * 2 FETCH (UID 8 BODY[TEXT]<0> {0}\r\n FLAGS ())\r\n\
        * 3 FETCH (BODY[HEADER.FIELDS (\"SUBJECT\" DATE)] {3}\r\n\r\n\n RFC822 ~{2}\r\n\0\xFF)\r\n\
        * 4 FETCH (BODY[1] \"a\\\"b\" BINARY[1] NIL)\r\n";
    for piece in [1, 2, 3, 5, 17, 1000] {
        let lines = read_imap(input, piece, ImapLimits::default()).unwrap();
        let bodies: Vec<&str> =
            lines.iter().map(String::as_str).filter(|line| !line.starts_with("Fetch")).collect();
        let expected = ["body of 5", "hello", "body of 0", "", "body of 3", "body of 2", "\0\u{fffd}"];
        assert_eq!(bodies, expected);
        let fetches: Vec<&String> = lines.iter().filter(|line| line.starts_with("Fetch")).collect();
        assert!(fetches[0].contains("uid: Some(7)") && fetches[0].contains("body: Some(Passed(5))"));
        assert!(fetches[0].contains("subject: Some([115, 117, 98, 13, 10, 106, 41])"), "{}", fetches[0]);
        assert!(fetches[1].contains("body: Some(Passed(0))") && fetches[1].contains("flags: Some"));
        assert!(fetches[2].contains("body: Some(Passed(2))"));
        assert!(fetches[3].contains("body: Some(Nil)"));
    }
    with_response("* 4 FETCH (BODY[1] \"a\\\"b\")", |response| {
        let fetch =
            FetchResponse { number: 4, body: Some(FetchBody::Quoted(b"a\\\"b")), ..FetchResponse::default() };
        assert_eq!(response, ImapResponse::Fetch(fetch));
    });
}

#[test]
fn searches_have_their_numbers() {
    with_response("* SEARCH 5 3 4294967295 (MODSEQ 9)", |response| {
        let ImapResponse::Search(numbers) = response else { panic!("{response:?}") };
        assert_eq!(numbers.iter().collect::<Vec<_>>(), [5, 3, u32::MAX]);
    });
    for line in ["* SEARCH", "* SORT "] {
        with_response(line, |response| {
            let ImapResponse::Search(numbers) = response else { panic!("{response:?}") };
            assert_eq!(numbers.iter().count(), 0);
        });
    }
    with_response("* ESEARCH (TAG \"P5\") UID MIN 2 MAX 9 COUNT 4 ALL 2:4,9 MODSEQ 7 X (1 2)", |response| {
        let all = NumberSet::read(b"2:4,9").unwrap();
        let expected = ExtendedSearch {
            tag: Some(b"P5"),
            is_uid: true,
            least: Some(2),
            most: Some(9),
            n: Some(4),
            all: Some(all),
        };
        assert_eq!(response, ImapResponse::ExtendedSearch(expected));
        let ranges = [NumberRange { first: 2, last: 4 }, NumberRange { first: 9, last: 9 }];
        assert_eq!(all.ranges().collect::<Vec<_>>(), ranges);
    });
    with_response("* ESEARCH (TAG \"P5\")", |response| {
        let expected = ExtendedSearch { tag: Some(b"P5"), ..ExtendedSearch::default() };
        assert_eq!(response, ImapResponse::ExtendedSearch(expected));
    });
}

#[test]
fn other_responses_are_told_apart() {
    with_response("* 172 EXISTS", |response| assert_eq!(response, ImapResponse::Exists(172)));
    with_response("* 1 RECENT", |response| assert_eq!(response, ImapResponse::Recent(1)));
    with_response("* 44 expunge", |response| assert_eq!(response, ImapResponse::Expunge(44)));
    with_response("+ ", |response| assert_eq!(response, ImapResponse::Continuation(b"")));
    with_response("+ go on {5}", |response| assert_eq!(response, ImapResponse::Continuation(b"go on {5}")));
    with_response("* CAPABILITY IMAP4rev1", |response| {
        assert_eq!(response, ImapResponse::Capability(b"IMAP4rev1"))
    });
    with_response("* LIST (\\HasNoChildren) \"/\" Sent", |response| {
        assert_eq!(response, ImapResponse::List(b"(\\HasNoChildren) \"/\" Sent"));
    });
    with_response("* LIST () \"/\" {4}\r\nSent", |response| {
        assert_eq!(response, ImapResponse::List(b"() \"/\" {4}\r\nSent"));
    });
    with_response("* FLAGS (\\Seen)", |response| {
        assert_eq!(response, ImapResponse::Other { name: b"FLAGS", rest: b"(\\Seen)" });
    });
    with_response("* VANISHED (EARLIER) 1:3,5", |response| {
        let ImapResponse::Vanished { is_earlier: true, uids } = response else { panic!("{response:?}") };
        assert_eq!(uids.ranges().map(|range| range.n()).sum::<u64>(), 4);
    });
    with_response("* STATUS \"INBOX\" (MESSAGES 3 UIDNEXT 9 X (1) UNSEEN 1 UIDVALIDITY 7)", |response| {
        let ImapResponse::MailboxStatus(status) = response else { panic!("{response:?}") };
        let figures = [status.messages, status.uid_next, status.unseen, status.uid_validity];
        assert_eq!((status.name, figures), (&b"INBOX"[..], [Some(3), Some(9), Some(1), Some(7)]));
    });
}

#[test]
fn a_command_ends_with_its_tag() {
    let mut exchange = ImapExchange::new(ImapTag(7), 1);
    let tagged = |tag| ImapResponse::Tagged { tag, status: ImapStatus::No, code: None, text: b"" };
    let bye = ImapResponse::Status { status: ImapStatus::Bye, code: None, text: b"" };
    assert_eq!(exchange.take(&ImapResponse::Exists(3)), Ok(ExchangeProgress::More));
    assert_eq!(exchange.take(&ImapResponse::Continuation(b"")), Ok(ExchangeProgress::Continue));
    assert_eq!(exchange.take(&ImapResponse::Continuation(b"")), Err(ExchangeFault::Continuation));
    assert_eq!(exchange.take(&tagged(b"P7")), Ok(ExchangeProgress::Done(ImapStatus::No)));
    for other in [&b"P8"[..], b"P07", b"P+7", b"7", b"P", b"p7", b"P70", b"P4294967303"] {
        assert_eq!(exchange.take(&tagged(other)), Err(ExchangeFault::AnotherTag));
    }
    assert_eq!(exchange.take(&bye), Err(ExchangeFault::Bye));
    let mut logout = ImapExchange::logout(ImapTag(0));
    assert_eq!(logout.take(&bye), Ok(ExchangeProgress::More));
    assert_eq!(logout.take(&tagged(b"P0")), Ok(ExchangeProgress::Done(ImapStatus::No)));
    assert_eq!(
        (ImapTag(7).next(), ImapTag(u32::MAX).next(), ImapTag(12).to_string().as_str()),
        (ImapTag(8), ImapTag(0), "P12")
    );
}

#[test]
fn a_mailbox_counts_its_messages() {
    let mut mailbox = SelectedMailbox::new(None);
    let fetch = |number, uid| {
        ImapResponse::Fetch(FetchResponse { number, uid: Some(uid), ..FetchResponse::default() })
    };
    let steps = [
        ImapResponse::Exists(5),
        ImapResponse::Status { status: ImapStatus::Ok, code: Some(ImapCode::UidValidity(3)), text: b"" },
        ImapResponse::Status { status: ImapStatus::Ok, code: Some(ImapCode::UidNext(20)), text: b"" },
        fetch(3, 10),
        fetch(5, 15),
        fetch(5, 15),
        fetch(1, 2),
        ImapResponse::Expunge(1),
        fetch(1, 7),
        ImapResponse::Exists(4),
        ImapResponse::Exists(6),
        ImapResponse::Vanished { is_earlier: true, uids: NumberSet::read(b"1:100").unwrap() },
        ImapResponse::Vanished { is_earlier: false, uids: NumberSet::read(b"7,15").unwrap() },
        ImapResponse::Exists(4),
    ];
    for step in steps {
        assert_eq!(mailbox.take(&step), Ok(()), "{step:?}");
    }
    assert_eq!((mailbox.n_messages(), mailbox.validity(), mailbox.next_uid()), (Some(4), Some(3), Some(20)));
}

/// Parts of lines, valid and not, of which a server could make anything.
fn any_line() -> impl Strategy<Value = Vec<u8>> {
    let part = prop_oneof![
        prop::sample::select(vec![
            "* ",
            "P7 ",
            "+ ",
            "1 ",
            "FETCH ",
            "EXISTS",
            "OK ",
            "NO ",
            "[",
            "]",
            "(",
            ")",
            "\"",
            "\\",
            "{3}\r\nabc",
            "{3}\r\n",
            "{0}\r\n",
            "{99999999999999999999}\r\n",
            "UID ",
            "FLAGS ",
            "ENVELOPE ",
            "BODY[] ",
            "NIL ",
            "\r\n",
            "\n",
            "ESEARCH ",
            "SEARCH ",
            "STATUS ",
            "1:5",
            ",",
            "ALL ",
            "UIDVALIDITY ",
            "4294967296",
            "~",
            "<0> ",
            "VANISHED ",
        ])
        .prop_map(|text| text.as_bytes().to_vec()),
        prop::collection::vec(any::<u8>(), 0..4),
    ];
    prop::collection::vec(part, 0..40).prop_map(|parts| parts.concat())
}

proptest! {
    /// However a conversation is cut into pieces, it is read as the same.
    #[test]
    fn pieces_make_no_difference(lines in any_line(), piece in 1_usize..20) {
        let whole = read_imap(&lines, usize::MAX, ImapLimits::default());
        let pieces = read_imap(&lines, piece, ImapLimits::default());
        match (whole, pieces) {
            (Ok(whole), Ok(pieces)) => prop_assert_eq!(whole, pieces),
            // What is forbidden may be found before what is malformed, or after it.
            (whole, pieces) => prop_assert_eq!(whole.is_err(), pieces.is_err()),
        }
    }

    /// No line takes more memory than the limit.
    #[test]
    fn small_limits_hold(lines in any_line(), line_bytes in 1_usize..60, body_bytes in 0_u64..4) {
        drop(read_imap(&lines, 7, ImapLimits { line_bytes, body_bytes }));
    }

    #[test]
    fn bodies_come_out_as_they_went_in(body in prop::collection::vec(any::<u8>(), 0..3000), piece in 1_usize..500) {
        let mut input = format!("* 1 FETCH (UID 7 BODY[] {{{}}}\r\n", body.len()).into_bytes();
        input.extend_from_slice(&body);
        input.extend_from_slice(b")\r\nP1 OK done\r\n");
        let mut reader = ImapReader::new();
        let mut read = Vec::new();
        let mut n_responses = 0;
        for piece in input.chunks(piece) {
            let mut at = 0;
            while at < piece.len() {
                let progress = reader.read(&piece[at..]).unwrap();
                at += progress.consumed;
                match progress.event {
                    Some(ImapEvent::Body(bytes)) => read.extend_from_slice(bytes),
                    Some(ImapEvent::Response(_)) => n_responses += 1,
                    _ => {}
                }
            }
        }
        prop_assert_eq!((read, n_responses, reader.is_within_response()), (body, 2, false));
    }
}
