//! Replies as servers send them.

use mailwire::smtp::{EnhancedStatus, SmtpExtensions, SmtpReader};
use proptest::prelude::*;

use crate::support::read_smtp;

#[test]
fn replies_of_one_and_several_lines_are_read_in_any_pieces() {
    let input = b"220 mx.bench.test ESMTP\r\n250-mx.bench.test\r\n250-SIZE 10240000\r\n250 8BITMIME\r\n354\r\n250-\r\n250 \r\n";
    let expected =
        ["220 mx.bench.test ESMTP", "250 mx.bench.test | SIZE 10240000 | 8BITMIME", "354 ", "250  | "];
    for piece in [1, 2, 3, 10, 1000] {
        assert_eq!(read_smtp(input, piece).unwrap(), expected);
    }
}

/// The reply of Postfix 3.7 as in its documentation, and one of an LMTP server without most of it.
#[test]
fn extensions_are_read() {
    let extensions = |input: &[u8]| {
        let mut reader = SmtpReader::new();
        SmtpExtensions::read(&reader.read(input).unwrap().reply.unwrap())
    };
    let postfix = extensions(
        b"250-mx.bench.test\r\n250-PIPELINING\r\n250-SIZE 10240000\r\n250-ETRN\r\n250-STARTTLS\r\n250-AUTH PLAIN LOGIN\r\n\
          250-ENHANCEDSTATUSCODES\r\n250-8BITMIME\r\n250-DSN\r\n250 CHUNKING\r\n",
    );
    let expected = SmtpExtensions {
        pipelining: true,
        start_tls: true,
        auth_plain: true,
        auth_login: true,
        chunking: true,
        eight_bit: true,
        enhanced_status: true,
        size_max: Some(10_240_000),
    };
    assert_eq!(postfix, expected);
    let other = extensions(b"250-PIPELINING\r\n250-\r\n250-auth=login\r\n250 SIZE\r\n");
    assert_eq!(other, SmtpExtensions { auth_login: true, ..SmtpExtensions::default() });
    assert_eq!(extensions(b"250 STARTTLS\r\n"), SmtpExtensions::default(), "the first line is a greeting");
}

#[test]
fn codes_have_classes_and_may_be_enhanced() {
    for (line, enhanced, [success, intermediate, temporary]) in [
        (&b"250 2.1.5 Ok\r\n"[..], Some((2, 1, 5)), [true, false, false]),
        (b"354 End data\r\n", None, [false, true, false]),
        (b"452 4.2.2 Over quota\r\n", Some((4, 2, 2)), [false, false, true]),
        (b"550-5.7.10 a\r\n550 b\r\n", Some((5, 7, 10)), [false; 3]),
        (b"250 5.1.1 of another class\r\n", None, [true, false, false]),
        (b"250 2.1 Ok\r\n", None, [true, false, false]),
        (b"250 2.1.1.1 Ok\r\n", None, [true, false, false]),
        (b"250 2.1000.1 Ok\r\n", None, [true, false, false]),
        (b"250\r\n", None, [true, false, false]),
    ] {
        let mut reader = SmtpReader::new();
        let reply = reader.read(line).unwrap().reply.unwrap();
        let expected = enhanced.map(|(class, subject, detail)| EnhancedStatus { class, subject, detail });
        assert_eq!(reply.enhanced(), expected);
        assert_eq!(
            [reply.is_success(), reply.is_intermediate(), reply.is_temporary()],
            [success, intermediate, temporary]
        );
    }
}

#[test]
fn a_reply_that_has_begun_is_known() {
    let mut reader = SmtpReader::new();
    assert!(!reader.is_within_reply());
    assert_eq!(reader.read(b"250-a\r\n").unwrap().reply, None);
    assert!(reader.is_within_reply());
    assert_eq!(reader.read(b"25").unwrap().consumed, 2);
    assert!(reader.read(b"0 b\r\n").unwrap().reply.is_some());
    assert!(!reader.is_within_reply());
}

proptest! {
    #[test]
    fn pieces_make_no_difference(
        lines in prop::collection::vec(prop::sample::select(vec!["250-a\r\n", "250 b\r\n", "451 c\r\n", "2", "\r\n", "\n", "x"]), 0..30),
        piece in 1_usize..9,
    ) {
        let input = lines.concat();
        let [whole, pieces] = [usize::MAX, piece].map(|piece| read_smtp(input.as_bytes(), piece));
        prop_assert_eq!(whole, pieces);
    }

    #[test]
    fn any_bytes_are_read_without_panic(bytes in prop::collection::vec(any::<u8>(), 0..300), piece in 1_usize..50) {
        drop(read_smtp(&bytes, piece));
    }
}
