//! Properties of any bytes, wherever the network cuts them.

use http1::{
    BodyReader, ChunkDecoder, ChunkError, Framing, Http1Version, LAST_CHUNK, ParseStatus, RequestMethod,
    RequestOptions, RequestTemplate, ResponseHead, faulty_line, header, headers, parse_request,
    parse_response, unfolded, write_chunk, write_response_head,
};
use proptest::prelude::*;

/// Bytes enough like HTTP to reach deep into the parsers: two in five are a complete head.
fn http_like() -> impl Strategy<Value = Vec<u8>> {
    let start = prop::sample::select(vec![
        "HTTP/1.1 200 OK\r\n",
        "HTTP/1.0 404 x\r\n",
        "GET / HTTP/1.0\r\n",
        "\r\nGET / HTTP/1.1\r\nHost: h\r\n",
        "POST http://h/p HTTP/1.1\r\nHost: h\r\n",
        "",
    ]);
    let line = prop::sample::select(vec![
        "Accept: */*\r\n",
        "Empty:\r\n",
        "Connection: close\r\n",
        "Content-Length: 5\r\n",
        "Transfer-Encoding: chunked\r\n",
        "0\r\n",
    ]);
    let scrap =
        prop::sample::select(vec!["\n", "\r", " ", ":", ",", "5", "a: b\n", "ffffffffffffffff", ";x"]);
    let piece = prop_oneof![
        16 => line.prop_map(|text| text.as_bytes().to_vec()),
        1 => scrap.prop_map(|text| text.as_bytes().to_vec()),
        1 => prop::collection::vec(any::<u8>(), 0..4),
    ];
    (
        start,
        prop::collection::vec(piece, 0..5),
        prop::bool::weighted(0.9),
        prop::collection::vec(any::<u8>(), 0..9),
    )
        .prop_map(|(start, pieces, ended, rest)| {
            let end = if ended { "\r\n" } else { "" };
            [start.as_bytes(), &pieces.concat(), end.as_bytes(), &rest].concat()
        })
}

/// Response heads with the same meaning after they were written for a GET.
fn response_head() -> impl Strategy<Value = ResponseHead> {
    let framing =
        prop_oneof![any::<u64>().prop_map(Framing::Length), Just(Framing::Chunked), Just(Framing::ToEof),];
    (200u16..1000, any::<bool>(), framing, any::<bool>()).prop_map(|(status, old, framing, keep_alive)| {
        let version =
            if old && framing != Framing::Chunked { Http1Version::Http10 } else { Http1Version::Http11 };
        let framing = if matches!(status, 204 | 304) { Framing::None } else { framing };
        ResponseHead { status, version, framing, keep_alive: keep_alive && framing != Framing::ToEof }
    })
}

fn fields() -> impl Strategy<Value = Vec<(String, String)>> {
    prop::collection::vec(("X-[A-Za-z0-9!#$%&'*+.^_`|~-]{0,9}", "[!-~]([ -~\t]{0,20}[!-~])?"), 0..40)
}

fn write(head: &ResponseHead, fields: &[(String, String)]) -> Vec<u8> {
    let fields: Vec<_> = fields.iter().map(|(name, value)| (name.as_str(), value.as_bytes())).collect();
    let mut out = Vec::new();
    write_response_head(&mut out, head, &fields).unwrap();
    out
}

/// Cuts `bytes` at these places, each taken modulo what is left.
fn cut<'a>(mut bytes: &'a [u8], places: &[usize]) -> Vec<&'a [u8]> {
    let mut pieces = Vec::new();
    for place in places {
        let (piece, rest) = bytes.split_at(place % (bytes.len() + 1));
        pieces.push(piece);
        bytes = rest;
    }
    pieces.push(bytes);
    pieces
}

/// Decodes pieces of a response one after the other: content so far, bytes consumed, and how it ended.
fn decode(pieces: &[&[u8]]) -> (Vec<u8>, usize, Result<bool, ChunkError>) {
    let mut decoder = ChunkDecoder::of_response();
    let mut content = Vec::new();
    let mut total = 0;
    for piece in pieces {
        let mut at = 0;
        while at < piece.len() && !decoder.is_done() {
            match decoder.decode(&piece[at..]) {
                Err(error) => return (content, 0, Err(error)),
                Ok(decoded) => {
                    assert!(decoded.consumed > 0 && decoded.data.end <= decoded.consumed);
                    content.extend_from_slice(&piece[at..][decoded.data]);
                    at += decoded.consumed;
                }
            }
        }
        total += at;
    }
    (content, total, Ok(decoder.is_done()))
}

proptest! {
    #[test]
    fn no_bytes_cause_a_panic(bytes in prop_oneof![http_like(), prop::collection::vec(any::<u8>(), 0..300)]) {
        for method in [RequestMethod::Get, RequestMethod::Head, RequestMethod::Connect] {
            let _ = parse_response(&bytes, method);
        }
        if let Ok(ParseStatus::Complete { head, length }) = parse_request(&bytes) {
            prop_assert!(length <= bytes.len() && head.framing != Framing::ToEof);
            prop_assert!(head.target.end <= length && head.host.is_none_or(|host| host.end <= length));
        }
        prop_assert!(headers(&bytes).count() <= bytes.len());
        let joined = unfolded(&bytes);
        prop_assert!(joined.is_none_or(|joined| joined.len() == bytes.len() && unfolded(&joined).is_none()));
        if let Some(line) = faulty_line(&bytes, RequestMethod::Get) {
            prop_assert!(line.text.len() <= bytes.len());
        }
        let (content, _, _) = decode(&[&bytes]);
        prop_assert!(content.len() <= bytes.len());
    }

    #[test]
    fn an_accepted_prefix_never_changes_its_meaning(bytes in http_like()) {
        // A head is what its own bytes say: what follows it must not matter, what precedes its end is partial.
        if let Ok(ParseStatus::Complete { length, .. }) = parse_request(&bytes) {
            prop_assert_eq!(parse_request(&bytes[..length]), parse_request(&bytes));
            for end in 0..length {
                prop_assert_eq!(parse_request(&bytes[..end]), Ok(ParseStatus::Partial), "cut at {}", end);
            }
        }
        if let Ok(ParseStatus::Complete { length, .. }) = parse_response(&bytes, RequestMethod::Get) {
            for end in 0..length {
                let cut = parse_response(&bytes[..end], RequestMethod::Get);
                prop_assert_eq!(cut, Ok(ParseStatus::Partial), "cut at {}", end);
            }
        }
    }

    #[test]
    fn refused_heads_are_never_accepted_with_more_bytes(bytes in http_like(), more in http_like()) {
        let longer = [&bytes[..], &more].concat();
        if let Err(error) = parse_request(&bytes) {
            prop_assert_eq!(parse_request(&longer), Err(error));
        }
        if let Err(error) = parse_response(&bytes, RequestMethod::Get) {
            prop_assert_eq!(parse_response(&longer, RequestMethod::Get), Err(error));
        }
    }

    #[test]
    fn written_heads_read_back_wherever_they_are_cut(
        head in response_head(), fields in fields(), body in prop::collection::vec(any::<u8>(), 0..20),
    ) {
        let written = write(&head, &fields);
        for end in 0..written.len() {
            prop_assert_eq!(parse_response(&written[..end], RequestMethod::Get), Ok(ParseStatus::Partial));
        }
        let expected = Ok(ParseStatus::Complete { head, length: written.len() });
        prop_assert_eq!(parse_response(&[&written[..], &body].concat(), RequestMethod::Get), expected);
        for (name, _) in &fields {
            let first = fields.iter().find(|(other, _)| other.eq_ignore_ascii_case(name)).unwrap();
            prop_assert_eq!(header(&written, name), Some(first.1.as_bytes()));
        }
    }

    #[test]
    fn template_requests_read_back(path in "/[!-\"$-~]{0,40}", host in "[a-z0-9.-]{1,12}(:[0-9]{1,4})?", kept: bool) {
        let options = if kept { RequestOptions::http11(&host) } else { RequestOptions::http11_close(&host) };
        let template = RequestTemplate::get(&options).unwrap();
        let bytes = template.bytes(&path).unwrap();
        let Ok(ParseStatus::Complete { head, length }) = parse_request(&bytes) else { panic!("{bytes:?}") };
        prop_assert_eq!(length, bytes.len());
        prop_assert_eq!(&bytes[head.target], path.as_bytes());
        prop_assert_eq!(&bytes[head.host.unwrap()], host.as_bytes());
        prop_assert_eq!((head.method, head.framing, head.keep_alive), (template.method(), Framing::None, kept));
    }

    #[test]
    fn chunks_decode_the_same_however_they_are_cut(
        contents in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 0..8),
        places in prop::collection::vec(any::<usize>(), 0..12),
    ) {
        let mut coded = Vec::new();
        for content in &contents {
            write_chunk(&mut coded, content);
        }
        coded.extend_from_slice(LAST_CHUNK);
        let length = coded.len();
        coded.extend_from_slice(b"HTTP/1.1 200 OK");
        let expected = (contents.concat(), length, Ok(true));
        prop_assert_eq!(decode(&cut(&coded, &places)), expected.clone());
        let bytes: Vec<_> = coded.chunks(1).collect();
        prop_assert_eq!(decode(&bytes), expected);
    }

    #[test]
    fn broken_chunks_are_refused_the_same_however_they_are_cut(
        bytes in http_like(), places in prop::collection::vec(any::<usize>(), 0..12),
    ) {
        let coded = [b"3;e=f\r\nabc\r\n", &bytes[..]].concat();
        prop_assert_eq!(decode(&cut(&coded, &places)), decode(&[&coded]));
    }

    #[test]
    fn a_body_of_known_length_takes_exactly_its_bytes(
        bytes in prop::collection::vec(any::<u8>(), 0..200), length in 0u64..150,
        places in prop::collection::vec(any::<usize>(), 0..6),
    ) {
        let mut body = BodyReader::new(Framing::Length(length));
        let mut content = Vec::new();
        for piece in cut(&bytes, &places) {
            let read = body.read(piece).unwrap();
            content.extend_from_slice(&piece[read.data]);
        }
        let taken = bytes.len().min(length as usize);
        prop_assert_eq!(&content, &bytes[..taken]);
        prop_assert_eq!(body.is_done(), taken as u64 == length);
        prop_assert_eq!(body.end_of_input().err().and_then(|cut| cut.missing).unwrap_or(0), length - taken as u64);
    }
}
