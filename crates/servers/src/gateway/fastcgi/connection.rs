//! One FastCGI connection: bytes in, records, responses out.

use std::io::{self, Read, Write};

use super::record::{HEADER_BYTES, Record, STDOUT, header, push_record};
use super::responder::{REQUEST_COMPLETE, Request, Responder, ResponderAction, push_end};
use crate::gateway::cgi::head;
use crate::gateway::page_delay::PageLock;

/// Maximum content of the records sent; the protocol's limit is 65 535.
const CONTENT_BYTES: usize = 32 * 1024;

/// Size of one read: the parameters of a request take some 500 to 1000 bytes.
const READ_BYTES: usize = 8 * 1024;

/// Answers the requests of a connection, one after another, until it ends.
///
/// `wait` is called between two requests, when no bytes of the next have arrived: it blocks until some
/// arrive, and returns whether to keep the connection.
///
/// # Errors
///
/// An error of reading or writing; `InvalidData` for bytes that are not FastCGI.
pub(in crate::gateway) fn serve_connection(
    stream: &mut (impl Read + Write),
    workers: usize,
    lock: &PageLock,
    mut wait: impl FnMut() -> bool,
) -> io::Result<()> {
    let mut responder = Responder::new(workers);
    let mut input = Vec::new();
    let mut out = Vec::new();
    let mut first = true;
    loop {
        if take_records(stream, &mut responder, lock, &mut input, &mut out)? == ConnectionState::Closing {
            return Ok(());
        }
        if !first && input.is_empty() && responder.is_idle() && !wait() {
            return Ok(());
        }
        first = false;
        if read(stream, &mut input)? == 0 {
            return Ok(());
        }
    }
}

/// The state of a connection.
#[derive(Debug, PartialEq, Eq)]
enum ConnectionState {
    Open,
    Closing,
}

/// Takes all complete records from `input`.
fn take_records(
    stream: &mut impl Write,
    responder: &mut Responder,
    lock: &PageLock,
    input: &mut Vec<u8>,
    out: &mut Vec<u8>,
) -> io::Result<ConnectionState> {
    let mut taken = 0;
    let mut state = ConnectionState::Open;
    while let Some((record, length)) = Record::parse(&input[taken..]).map_err(invalid)? {
        taken += length;
        match responder.take(record, out).map_err(invalid)? {
            ResponderAction::Continue => {}
            ResponderAction::Close => state = ConnectionState::Closing,
            ResponderAction::Answer(request) => {
                if !request.keep_connection {
                    state = ConnectionState::Closing;
                }
                answer(stream, &request, lock, out)?;
            }
        }
        flush(stream, out)?;
        if state == ConnectionState::Closing {
            break;
        }
    }
    input.drain(..taken);
    Ok(state)
}

/// Answers a request; a small page, its end record and pending output take one write.
fn answer(stream: &mut impl Write, request: &Request, lock: &PageLock, out: &mut Vec<u8>) -> io::Result<()> {
    let mut page = request.variables.page();
    lock.pause_thread(page.pause);
    push_record(out, STDOUT, request.id, &head(&page));
    while 0 < page.body.left() {
        let content = page.body.left().min(CONTENT_BYTES);
        out.extend_from_slice(&header(STDOUT, request.id, content as u16));
        page.body.append(out, content);
        if 0 < page.body.left() {
            flush(stream, out)?;
        }
    }
    out.extend_from_slice(&header(STDOUT, request.id, 0));
    push_end(out, request.id, REQUEST_COMPLETE);
    flush(stream, out)
}

fn flush(stream: &mut impl Write, out: &mut Vec<u8>) -> io::Result<()> {
    if out.is_empty() {
        return Ok(());
    }
    stream.write_all(out)?;
    out.clear();
    Ok(())
}

/// Appends available bytes to `input`; returns 0 at the end of the stream.
///
/// `input` stays below one record plus one read, some 74 KB, because complete records have been taken.
fn read(stream: &mut impl Read, input: &mut Vec<u8>) -> io::Result<usize> {
    debug_assert!(input.len() < HEADER_BYTES + usize::from(u16::MAX) + usize::from(u8::MAX));
    let mut piece = [0; READ_BYTES];
    loop {
        match stream.read(&mut piece) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
            Ok(length) => {
                input.extend_from_slice(&piece[..length]);
                return Ok(length);
            }
        }
    }
}

fn invalid(error: super::record::RecordError) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::record::{BEGIN_REQUEST, PARAMS, STDIN, push_pair};
    use super::super::responder::PARAMETER_BYTES_MAX;
    use super::*;

    /// A peer that has sent everything in advance and hands it over in pieces.
    struct Peer<'a> {
        sent: &'a [u8],
        piece: usize,
        received: Vec<u8>,
    }

    impl Read for Peer<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let length = self.piece.min(buffer.len()).min(self.sent.len());
            let (piece, rest) = self.sent.split_at(length);
            buffer[..length].copy_from_slice(piece);
            self.sent = rest;
            Ok(length)
        }
    }

    impl Write for Peer<'_> {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.received.extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// Returns what was sent, and the number of the peer's bytes left unread.
    fn exchange(sent: &[u8], piece: usize) -> (io::Result<()>, Vec<u8>, usize) {
        let mut peer = Peer { sent, piece, received: Vec::new() };
        let outcome = serve_connection(&mut peer, 4, &PageLock::default(), || true);
        (outcome, peer.received, peer.sent.len())
    }

    /// Renders the sent records, one per line.
    fn shown(mut bytes: &[u8]) -> String {
        let mut lines = String::new();
        while let Some((record, length)) = Record::parse(bytes).unwrap() {
            let content = record.content.escape_ascii();
            lines += &format!("type {} request {}: {content}\n", record.kind, record.request);
            bytes = &bytes[length..];
        }
        assert_eq!(bytes, b"");
        lines
    }

    fn transcript(sent: &[u8]) -> String {
        let (outcome, received, _) = exchange(sent, usize::MAX);
        let end = match outcome {
            Ok(()) => "closed".to_owned(),
            Err(error) => error.to_string(),
        };
        shown(&received) + &end
    }

    fn record(kind: u8, id: u16, content: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        push_record(&mut out, kind, id, content);
        out
    }

    fn begin(id: u16, role: u8, flags: u8) -> Vec<u8> {
        record(BEGIN_REQUEST, id, &[0, role, flags, 0, 0, 0, 0, 0])
    }

    fn pairs(pairs: &[(&str, &str)]) -> Vec<u8> {
        let mut out = Vec::new();
        pairs.iter().for_each(|(name, value)| push_pair(&mut out, name.as_bytes(), value.as_bytes()));
        out
    }

    /// Builds a request for `/dyn` up to its end.
    fn request(id: u16, flags: u8, query: &str) -> Vec<u8> {
        let parameters =
            pairs(&[("REQUEST_METHOD", "GET"), ("REQUEST_URI", "/dyn"), ("QUERY_STRING", query)]);
        let parts = [
            begin(id, 1, flags),
            record(PARAMS, id, &parameters),
            record(PARAMS, id, b""),
            record(STDIN, id, b""),
        ];
        parts.concat()
    }

    const PAGE: &str = "Status: 200 OK\\r\\nContent-Length: 8\\r\\nContent-Type: text/plain\\r\\n\
                        Cache-Control: no-store\\r\\n\\r\\n";

    /// Returns the expected response to a request for 8 letters of seed 0 or 1.
    fn answered(id: u16, letters: &str) -> String {
        let end = r"\x00\x00\x00\x00\x00\x00\x00\x00";
        format!(
            "type 6 request {id}: {PAGE}\ntype 6 request {id}: {letters}\ntype 6 request {id}: \n\
             type 3 request {id}: {end}\n"
        )
    }

    #[test]
    fn a_request_is_answered_and_the_connection_closed() {
        let sent = [request(1, 0, "size=8"), request(2, 0, "size=8")].concat();
        assert_eq!(transcript(&sent), answered(1, "ASEROBDH") + "closed");
    }

    #[test]
    fn a_kept_connection_takes_one_request_after_the_other() {
        let sent = [request(1, 1, "size=8"), request(7, 1, "size=8&seed=1")].concat();
        assert_eq!(transcript(&sent), answered(1, "ASEROBDH") + &answered(7, "QMZRHLAJ") + "closed");
    }

    #[test]
    fn a_concurrent_second_request_is_refused_and_the_first_goes_on() {
        let whole = request(1, 1, "size=8");
        let (start, rest) = whole.split_at(16);
        let sent = [start, &request(2, 1, "size=8"), rest].concat();
        let refused = "type 3 request 2: \\x00\\x00\\x00\\x00\\x01\\x00\\x00\\x00\n";
        assert_eq!(transcript(&sent), refused.to_owned() + &answered(1, "ASEROBDH") + "closed");
    }

    #[test]
    fn other_roles_are_refused_and_their_records_ignored() {
        let sent = [begin(3, 2, 1), record(PARAMS, 3, b"x"), request(1, 1, "size=8")].concat();
        let refused = "type 3 request 3: \\x00\\x00\\x00\\x00\\x03\\x00\\x00\\x00\n";
        assert_eq!(transcript(&sent), refused.to_owned() + &answered(1, "ASEROBDH") + "closed");
        assert_eq!(transcript(&[begin(3, 2, 0), request(1, 1, "")].concat()), refused.to_owned() + "closed");
    }

    #[test]
    fn an_aborted_request_ends_at_once() {
        let ended = "type 3 request 1: \\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\n";
        let sent = [begin(1, 1, 1), record(2, 1, b""), request(2, 1, "size=8")].concat();
        assert_eq!(transcript(&sent), ended.to_owned() + &answered(2, "ASEROBDH") + "closed");
    }

    #[test]
    fn management_records_are_answered() {
        let asked = pairs(&[("FCGI_MPXS_CONNS", ""), ("FCGI_MAX_REQS", ""), ("SHOE_SIZE", "")]);
        let sent = [record(9, 0, &asked), record(99, 0, b"?")].concat();
        assert_eq!(
            transcript(&sent),
            "type 10 request 0: \\r\\x01FCGI_MAX_REQS4\\x0f\\x01FCGI_MPXS_CONNS0\n\
             type 11 request 0: c\\x00\\x00\\x00\\x00\\x00\\x00\\x00\nclosed"
        );
    }

    #[test]
    fn malformed_records_end_the_connection() {
        assert_eq!(transcript(b"GET / HTTP/1.1\r\n\r\n"), "expected FastCGI version 1, found 71");
        assert_eq!(
            transcript(&record(1, 1, b"short")),
            "expected a begin-request record of 8 bytes, found 5"
        );
        assert_eq!(transcript(&[begin(5, 1, 1), begin(5, 1, 1)].concat()), "request 5 began twice");
        let broken =
            [begin(1, 1, 1), record(PARAMS, 1, &[9]), record(PARAMS, 1, b""), record(STDIN, 1, b"")].concat();
        assert_eq!(transcript(&broken), "a name-value pair extends beyond the end of its record");
        let endless = record(PARAMS, 1, &[b'x'; 60_000]).repeat(2);
        let sent = [begin(1, 1, 1), endless].concat();
        assert_eq!(transcript(&sent), format!("more than {PARAMETER_BYTES_MAX} bytes of parameters"));
    }

    #[test]
    fn a_large_page_is_split_into_records() {
        let (outcome, mut bytes, _) = exchange(&request(1, 0, "size=100000&seed=7"), usize::MAX);
        outcome.unwrap();
        let mut output = Vec::new();
        let mut records = 0;
        while let Some((record, length)) = Record::parse(&bytes).unwrap() {
            if record.kind == STDOUT {
                output.extend_from_slice(record.content);
                records += 1;
            }
            bytes.drain(..length);
        }
        let body = output.windows(4).position(|four| four == b"\r\n\r\n").unwrap() + 4;
        assert_eq!((output.len() - body, records), (100_000, 6));
        assert_eq!(model::GeneratedText::new(7).matches(&output[body..]), Ok(()));
    }

    proptest! {
        #[test]
        fn any_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            let _ = exchange(&bytes, 7);
        }

        /// Arbitrary bytes framed as records, so that parsing gets beyond the first one.
        #[test]
        fn any_records_never_panic(
            records in proptest::collection::vec(
                (0_u8..13, 0_u16..3, proptest::collection::vec(0_u8..20, 0..20)), 0..20
            )
        ) {
            let sent: Vec<u8> = records.iter().flat_map(|(kind, id, content)| record(*kind, *id, content)).collect();
            let _ = exchange(&sent, usize::MAX);
        }

        #[test]
        fn a_request_may_arrive_in_pieces_of_any_size(piece in 1_usize..200) {
            let sent = [request(1, 1, "size=8"), request(7, 0, "size=8&seed=1")].concat();
            let (outcome, received, left) = exchange(&sent, piece);
            prop_assert!(outcome.is_ok() && left == 0);
            prop_assert_eq!(shown(&received), answered(1, "ASEROBDH") + &answered(7, "QMZRHLAJ"));
        }

        /// A truncated request is answered completely or not at all.
        #[test]
        fn a_truncated_request_is_not_answered(cut in 0_usize..100) {
            let sent = request(1, 1, "size=8");
            let (outcome, received, _) = exchange(&sent[..cut.min(sent.len() - 1)], usize::MAX);
            prop_assert!(outcome.is_ok() && received.is_empty());
        }
    }
}
