//! Faults of HTTP/2, without TLS and by prior knowledge (RFC 9113).

use model::Outcome;

use super::script::{ClientProtocol, ConnectionEnding, Fault, FaultAction, Script};

/// Frame types (RFC 9113 §6).
const DATA: u8 = 0;
const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const PUSH_PROMISE: u8 = 5;
const PING: u8 = 6;
const GOAWAY: u8 = 7;
const WINDOW_UPDATE: u8 = 8;
const CONTINUATION: u8 = 9;

/// Frame flags.
const NONE: u8 = 0;
const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;

/// `:status: 200` in HPACK: entry 8 of the static table (RFC 7541 appendix A).
const STATUS_200: &[u8] = &[0x88];

/// The server's first frames: default settings, and an acknowledgement of the client's.
pub(in crate::web) const GREETING: &[u8] =
    &[0, 0, 0, SETTINGS, 0, 0, 0, 0, 0, 0, 0, 0, SETTINGS, 1, 0, 0, 0, 0];

/// The client preface (RFC 9113 §3.4).
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

pub(super) const FAULTS: &[Fault] = &[
    // Connections.
    connection_fault("h2-http1", "answers in HTTP/1", Outcome::Http2Failed, || {
        Script::close("HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n")
    }),
    connection_fault("h2-garbage", "answers with garbage", Outcome::Http2Failed, || {
        Script::close([0xff; 100])
    }),
    connection_fault("h2-no-settings", "sends no settings and never answers", Outcome::TimedOut, || {
        Script::then(ConnectionEnding::Hold, frame(PING, NONE, 0, &[0; 8]))
    }),
    connection_fault("h2-no-streams", "allows no streams", Outcome::TimedOut, || {
        Script::then(ConnectionEnding::Hold, setting(3, 0))
    }),
    connection_fault(
        "h2-no-window",
        "opens no flow-control window and never answers",
        Outcome::TimedOut,
        || Script::then(ConnectionEnding::Hold, setting(4, 0)),
    ),
    connection_fault(
        "h2-bad-setting",
        "sets a maximum frame size below the protocol's minimum",
        Outcome::Http2Failed,
        || Script::then(ConnectionEnding::Hold, setting(5, 1)),
    ),
    connection_fault("h2-settings-flood", "sends settings forever", Outcome::TimedOut, || {
        Script::endless(GREETING, setting(4, 65_535).repeat(1000))
    }),
    connection_fault("h2-ping-flood", "pings forever", Outcome::TimedOut, || {
        Script::endless(GREETING, frame(PING, NONE, 0, &[0; 8]).repeat(1000))
    }),
    connection_fault(
        "h2-unknown-flood",
        "sends frames of an unknown type forever",
        Outcome::TimedOut,
        || Script::endless(GREETING, frame(0xee, NONE, 0, &[0; 8]).repeat(1000)),
    ),
    connection_fault(
        "h2-window-overflow",
        "opens the flow-control window beyond 31 bits",
        Outcome::Http2Failed,
        || {
            let update = frame(WINDOW_UPDATE, NONE, 0, &0x7fff_ffff_u32.to_be_bytes());
            Script::then(ConnectionEnding::Hold, [GREETING, &update].concat())
        },
    ),
    connection_fault("h2-large-frame", "sends a frame larger than allowed", Outcome::Http2Failed, || {
        Script::endless([GREETING, &[0xff, 0xff, 0xff, DATA, 0, 0, 0, 0, 1]].concat(), [0; 16 * 1024])
    }),
    connection_fault("h2-unasked", "answers on a stream that was never opened", Outcome::Http2Failed, || {
        let reply = frame(HEADERS, END_HEADERS, 99, STATUS_200);
        Script::then(ConnectionEnding::Hold, [GREETING, &reply].concat())
    }),
    // Streams.
    fault("h2-reset", "resets each stream", Outcome::StreamReset, |stream| Script::as_asked(reset(stream))),
    fault("h2-refuse", "refuses each stream so that it can be retried", Outcome::StreamReset, |stream| {
        Script::as_asked(frame(RST_STREAM, NONE, stream, &7_u32.to_be_bytes()))
    }),
    fault("h2-reset-flood", "resets each stream repeatedly", Outcome::StreamReset, |stream| {
        Script::endless("", reset(stream).repeat(1000))
    }),
    fault("h2-half-reset", "resets each stream after half a body", Outcome::StreamReset, |stream| {
        Script::as_asked([head(stream), reset(stream)].concat())
    }),
    fault("h2-goaway", "ends the connection with an error", Outcome::Http2Failed, |_| {
        Script::close(goaway(11))
    }),
    fault(
        "h2-goaway-always",
        "ends each connection gracefully at its first request",
        Outcome::Http2Failed,
        |_| Script::close(goaway(0)),
    ),
    fault("h2-close", "closes without sending anything", Outcome::Truncated, |_| Script::close("")),
    fault("h2-cut", "closes after the head", Outcome::Truncated, |stream| Script::close(head(stream))),
    fault("h2-break", "resets the connection after the head", Outcome::Reset, |stream| {
        Script::then(ConnectionEnding::Reset, head(stream))
    }),
    fault("h2-stall", "reads requests and never answers", Outcome::TimedOut, |_| Script::as_asked("")),
    fault("h2-half-stall", "sends the head, then nothing", Outcome::TimedOut, |stream| {
        Script::as_asked(head(stream))
    }),
    fault("h2-data-first", "sends a body without a head", Outcome::Http2Failed, |stream| {
        Script::as_asked(frame(DATA, END_STREAM, stream, b"body"))
    }),
    fault("h2-no-status", "sends a head without a status", Outcome::Http2Failed, |stream| {
        Script::as_asked(frame(HEADERS, END_HEADERS | END_STREAM, stream, &[0x0f, 0x0d, 1, b'0']))
    }),
    fault("h2-bad-hpack", "sends a head that cannot be decoded", Outcome::Http2Failed, |stream| {
        Script::as_asked(frame(HEADERS, END_HEADERS | END_STREAM, stream, &[0xff; 20]))
    }),
    fault("h2-wrong-length", "announces more than it sends", Outcome::WrongLength, |stream| {
        let length = [STATUS_200, &[0x0f, 0x0d, 3], b"999"].concat();
        Script::as_asked(
            [frame(HEADERS, END_HEADERS, stream, &length), frame(DATA, END_STREAM, stream, b"x")].concat(),
        )
    }),
    fault("h2-push", "pushes a response that was not requested", Outcome::Http2Failed, |stream| {
        let promise = [&2_u32.to_be_bytes()[..], &[0x82, 0x84, 0x86]].concat();
        Script::as_asked(frame(PUSH_PROMISE, END_HEADERS, stream, &promise))
    }),
    fault("h2-interim-flood", "sends interim heads (1xx) forever", Outcome::OversizedHead, |stream| {
        let interim = frame(HEADERS, END_HEADERS, stream, &[0x08, 3, b'1', b'0', b'3']);
        Script::endless("", interim.repeat(1000))
    }),
    fault("h2-continuation-flood", "sends an endless head", Outcome::Http2Failed, |stream| {
        let line = [&[0x00, 1, b'x', 0x7f, 0x80, 0x77][..], &[b'y'; 15_231]].concat();
        Script::endless(frame(HEADERS, NONE, stream, STATUS_200), frame(CONTINUATION, NONE, stream, &line))
    }),
    fault(
        "h2-empty-continuations",
        "sends empty CONTINUATION frames forever",
        Outcome::Http2Failed,
        |stream| {
            Script::endless(
                frame(HEADERS, NONE, stream, STATUS_200),
                frame(CONTINUATION, NONE, stream, &[]).repeat(1000),
            )
        },
    ),
    fault(
        "h2-header-bomb",
        "sends a head of 16 KiB that decodes to 48 MiB",
        Outcome::Http2Failed,
        |stream| {
            // One entry of 3 KiB for the dynamic table, then only references to it.
            let entry = [&[0x40, 1, b'x', 0x7f, 0x81, 0x17][..], &[b'y'; 3072]].concat();
            let head = [STATUS_200, &entry, &[0xbe; 13_000]].concat();
            Script::as_asked(frame(HEADERS, END_HEADERS | END_STREAM, stream, &head))
        },
    ),
    fault("h2-empty-data", "sends empty DATA frames forever", Outcome::Http2Failed, |stream| {
        Script::endless(head(stream), frame(DATA, NONE, stream, &[]).repeat(1000))
    }),
    fault(
        "h2-tiny-data",
        "sends a wrong body in one-byte DATA frames forever",
        Outcome::WrongBytes,
        |stream| Script::endless(head(stream), frame(DATA, NONE, stream, b"x").repeat(1000)),
    ),
    fault("h2-padding", "sends only padding forever", Outcome::Http2Failed, |stream| {
        const PADDED: u8 = 8;
        let padding = [&[255][..], &[0; 255]].concat();
        Script::endless(head(stream), frame(DATA, PADDED, stream, &padding).repeat(60))
    }),
    fault("h2-overrun", "sends more than the flow-control window allows", Outcome::WrongLength, |stream| {
        Script::endless(head(stream), frame(DATA, NONE, stream, &[b'x'; 16 * 1024]))
    }),
];

const fn fault(name: &'static str, does: &'static str, outcome: Outcome, script: fn(u32) -> Script) -> Fault {
    Fault {
        name,
        does,
        protocol: ClientProtocol::Http2,
        outcome,
        action: FaultAction::OnHttp2Request(script),
    }
}

const fn connection_fault(
    name: &'static str,
    does: &'static str,
    outcome: Outcome,
    script: fn() -> Script,
) -> Fault {
    Fault { name, does, protocol: ClientProtocol::Http2, outcome, action: FaultAction::OnFirstBytes(script) }
}

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let [_, length @ ..] = (payload.len() as u32).to_be_bytes();
    [&length[..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

/// Builds a SETTINGS frame with one value (RFC 9113 §6.5.2).
fn setting(identifier: u16, value: u32) -> Vec<u8> {
    frame(SETTINGS, NONE, 0, &[&identifier.to_be_bytes()[..], &value.to_be_bytes()].concat())
}

/// Builds a valid head, to be followed by a body.
fn head(stream: u32) -> Vec<u8> {
    frame(HEADERS, END_HEADERS, stream, STATUS_200)
}

fn reset(stream: u32) -> Vec<u8> {
    const CANCEL: u32 = 8;
    frame(RST_STREAM, NONE, stream, &CANCEL.to_be_bytes())
}

/// Builds a GOAWAY frame for a connection on which no stream was processed.
fn goaway(code: u32) -> Vec<u8> {
    frame(GOAWAY, NONE, 0, &[[0; 4], code.to_be_bytes()].concat())
}

/// Finds the end of the first frame, or of the preface, in a client's bytes; returns it with the number of
/// the stream that the frame opens, if any. `None` if it is incomplete.
pub(in crate::web) fn next_frame(input: &[u8]) -> Option<(usize, Option<u32>)> {
    if input.starts_with(b"PRI") {
        return (PREFACE.len() <= input.len()).then_some((PREFACE.len(), None));
    }
    let [a, b, c, kind, _, stream @ ..] = input.get(..9)? else { return None };
    let length = 9 + u32::from_be_bytes([0, *a, *b, *c]) as usize;
    let stream = u32::from_be_bytes(stream.try_into().ok()?);
    (length <= input.len()).then_some((length, (*kind == HEADERS).then_some(stream)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_found_in_what_a_client_sends() {
        let bytes = [PREFACE, GREETING, &head(1), &frame(DATA, END_STREAM, 1, b"abc"), &head(3)].concat();
        let mut at = 0;
        let mut streams = Vec::new();
        while let Some((length, stream)) = next_frame(&bytes[at..]) {
            at += length;
            streams.extend(stream);
        }
        assert_eq!((at, streams), (bytes.len(), vec![1, 3]));
        for cut in [0, 10, 23] {
            assert_eq!(next_frame(&PREFACE[..cut]), None, "{cut}");
        }
        for cut in 0..12 {
            assert_eq!(next_frame(&frame(DATA, NONE, 1, b"abc")[..cut]), None, "{cut}");
        }
    }
}
