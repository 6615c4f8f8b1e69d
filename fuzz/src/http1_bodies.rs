//! Bodies of HTTP/1, in one piece and cut in two.

use http1::{
    BodyReader, ChunkDecoder, ChunkError, DecodeOutcome, Framing, ParseStatus, RequestMethod,
    parse_encoded_response,
};

/// Content, bytes consumed, whether it is complete.
type Read = Result<(Vec<u8>, usize, bool), ChunkError>;

/// Reads pieces to their end, or the body's.
fn read(pieces: [&[u8]; 2], mut take: impl FnMut(&[u8]) -> Result<DecodeOutcome, ChunkError>) -> Read {
    let mut content = Vec::new();
    let mut consumed = 0;
    for piece in pieces {
        let mut rest = piece;
        while !rest.is_empty() {
            let decoded = take(rest)?;
            assert!(decoded.consumed <= rest.len() && decoded.data.end <= decoded.consumed);
            content.extend_from_slice(&rest[decoded.data]);
            consumed += decoded.consumed;
            if decoded.done {
                return Ok((content, consumed, true));
            }
            assert!(0 < decoded.consumed, "it goes on");
            rest = &rest[decoded.consumed..];
        }
    }
    Ok((content, consumed, false))
}

/// The first byte says where the rest is cut.
fn cut(bytes: &[u8]) -> Option<(&[u8], [&[u8]; 2])> {
    let (at, whole) = bytes.split_first()?;
    let (a, b) = whole.split_at(usize::from(*at).min(whole.len()));
    Some((whole, [a, b]))
}

/// Decodes chunks: the cut does not matter.
pub fn chunks(bytes: &[u8]) {
    let Some((whole, pieces)) = cut(bytes) else { return };
    let [mut one, mut other] = [ChunkDecoder::new(), ChunkDecoder::new()];
    let in_one = read([whole, &[]], |piece| one.decode(piece));
    assert_eq!(in_one, read(pieces, |piece| other.decode(piece)));
    let Ok((content, consumed, _)) = in_one else { return };
    assert!(content.len() <= consumed && consumed <= whole.len());
}

/// Reads a body under each framing: the cut does not matter.
pub fn body(bytes: &[u8]) {
    let Some((whole, pieces)) = cut(bytes) else { return };
    let length = whole.first().map_or(0, |byte| u64::from(*byte));
    for framing in [Framing::None, Framing::Length(length), Framing::Chunked, Framing::ToEof] {
        let [mut one, mut other] = [BodyReader::new(framing), BodyReader::new(framing)];
        if one.is_done() {
            continue;
        }
        let in_one = read([whole, &[]], |piece| one.read(piece));
        assert_eq!(in_one, read(pieces, |piece| other.read(piece)), "{framing:?}");
        if in_one.is_ok() {
            assert_eq!(one.end_of_input().is_ok(), other.end_of_input().is_ok(), "{framing:?}");
        }
    }
}

/// Reads a head and then the body that it announces, as the web driver does.
pub fn reply(bytes: &[u8]) {
    let Ok(ParseStatus::Complete { head, length }) = parse_encoded_response(bytes, RequestMethod::Get) else {
        return;
    };
    let mut reader = BodyReader::new(head.head.framing);
    if !reader.is_done() {
        let _ = read([&bytes[length..], &[]], |piece| reader.read(piece));
    }
}
