//! Raw frames, for what no library sends.

use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};

pub(crate) const DATA: u8 = 0;
pub(crate) const HEADERS: u8 = 1;
pub(crate) const RST_STREAM: u8 = 3;
pub(crate) const SETTINGS: u8 = 4;
pub(crate) const PING: u8 = 6;
pub(crate) const GOAWAY: u8 = 7;
pub(crate) const WINDOW_UPDATE: u8 = 8;
pub(crate) const CONTINUATION: u8 = 9;

pub(crate) const END_STREAM: u8 = 1;
pub(crate) const END_HEADERS: u8 = 4;

pub(crate) const REFUSED_STREAM: u32 = 7;
pub(crate) const CANCEL: u32 = 8;
pub(crate) const ENHANCE_YOUR_CALM: u32 = 11;

/// A frame: length, type, flags, stream, payload (RFC 9113 §4.1).
pub(crate) fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = (payload.len() as u32).to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

/// A RST_STREAM frame.
pub(crate) fn reset(stream: u32) -> Vec<u8> {
    frame(RST_STREAM, 0, stream, &CANCEL.to_be_bytes())
}

/// The client preface: magic and settings.
pub(crate) fn preface() -> Vec<u8> {
    [&b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"[..], &frame(SETTINGS, 0, 0, &[])].concat()
}

/// Fields, each as a literal without index and without compression (RFC 7541 §6.2.2).
pub(crate) fn pack(fields: &[(&[u8], &[u8])]) -> Vec<u8> {
    let mut block = Vec::new();
    for (name, value) in fields {
        block.push(0);
        for text in [name, value] {
            push_number(&mut block, text.len());
            block.extend_from_slice(text);
        }
    }
    block
}

/// A number with a prefix of seven bits (RFC 7541 §5.1).
fn push_number(block: &mut Vec<u8>, number: usize) {
    if number < 127 {
        return block.push(number as u8);
    }
    block.push(127);
    let mut rest = number - 127;
    while 128 <= rest {
        block.push((rest % 128) as u8 | 128);
        rest /= 128;
    }
    block.push(rest as u8);
}

/// A request for a target.
pub(crate) fn request(target: &str) -> Vec<u8> {
    pack(&[
        (b":method", b"GET"),
        (b":scheme", b"https"),
        (b":authority", b"example.org"),
        (b":path", target.as_bytes()),
    ])
}

/// A frame of interest from the server.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ServerFrame {
    /// The first byte of a head; see [`STATUS_200`] and the like.
    Head(u8),
    /// A reset, with its code.
    Reset(u32),
    /// GOAWAY, with its code.
    GoAway(u32),
    /// The end without GOAWAY.
    Closed,
}

/// Statuses that HPACK has in its table (RFC 7541, appendix A).
pub(crate) const STATUS_200: u8 = 0x80 | 8;
/// As above.
pub(crate) const STATUS_400: u8 = 0x80 | 12;

/// Reads a frame: its type and its payload; `None` at the end.
pub(crate) async fn next_frame(stream: &mut DuplexStream) -> Option<(u8, Vec<u8>)> {
    let mut head = [0; 9];
    stream.read_exact(&mut head).await.ok()?;
    let mut payload = vec![0; u32::from_be_bytes([0, head[0], head[1], head[2]]) as usize];
    stream.read_exact(&mut payload).await.ok()?;
    Some((head[3], payload))
}

/// Reads frames until one of interest.
pub(crate) async fn listen(stream: &mut DuplexStream) -> ServerFrame {
    while let Some((kind, payload)) = next_frame(stream).await {
        if let Some(received) = server_frame(kind, &payload) {
            return received;
        }
    }
    ServerFrame::Closed
}

/// Returns the frame, if it is of interest.
fn server_frame(kind: u8, payload: &[u8]) -> Option<ServerFrame> {
    let code = |at: usize| u32::from_be_bytes(payload[at..at + 4].try_into().unwrap());
    match kind {
        HEADERS => Some(ServerFrame::Head(payload[0])),
        RST_STREAM => Some(ServerFrame::Reset(code(0))),
        GOAWAY => Some(ServerFrame::GoAway(code(4))),
        _ => None,
    }
}

/// Sends bytes repeatedly until the server takes no more, at most so often; returns the frames of the server.
///
/// Reads meanwhile, as otherwise neither side could go on.
pub(crate) async fn flood(
    stream: DuplexStream,
    times: usize,
    mut bytes: impl FnMut(usize) -> Vec<u8>,
) -> Vec<ServerFrame> {
    let (mut from, mut to) = tokio::io::split(stream);
    let writing = async {
        for k in 0..times {
            if to.write_all(&bytes(k)).await.is_err() {
                break;
            }
        }
        // The server may still have something to send, and may wait for more input.
        std::future::pending::<()>().await;
    };
    let reading = async {
        let mut received = Vec::new();
        let mut all = Vec::new();
        loop {
            let mut piece = [0; 4096];
            match from.read(&mut piece).await {
                Ok(0) | Err(_) => return received,
                Ok(length) => all.extend_from_slice(&piece[..length]),
            }
            while let Some((frame, length)) = next_server_frame(&all) {
                received.extend(frame);
                all.drain(..length);
            }
        }
    };
    tokio::select! {
        received = reading => received,
        () = writing => Vec::new(),
    }
}

/// Returns the next frame of the input, if it is of interest, and its length.
fn next_server_frame(bytes: &[u8]) -> Option<(Option<ServerFrame>, usize)> {
    let length = u32::from_be_bytes([0, *bytes.first()?, *bytes.get(1)?, *bytes.get(2)?]) as usize;
    let payload = bytes.get(9..9 + length)?;
    Some((server_frame(bytes[3], payload), 9 + length))
}
