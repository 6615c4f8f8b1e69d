//! Faults for clients that speak TLS: bytes that are not a handshake. None of them needs a certificate.

use model::Outcome;

use super::script::{ClientProtocol, ConnectionEnding, DRIP_PAUSE, Fault, FaultAction, Script};

/// Record content types (RFC 8446 §5.1).
const CHANGE_CIPHER_SPEC: u8 = 20;
const ALERT: u8 = 21;
const HANDSHAKE: u8 = 22;

pub(super) const FAULTS: &[Fault] = &[
    fault("tls-plain-text", "answers in plain text", Outcome::TlsFailed, || {
        Script::close("HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n")
    }),
    fault("tls-garbage", "answers with garbage", Outcome::TlsFailed, || Script::close([0xff; 100])),
    fault("tls-cut", "closes in the middle of the handshake", Outcome::TlsFailed, || {
        Script::close(&record(HANDSHAKE, &[2; 4000])[..100])
    }),
    fault("tls-reset", "resets the connection in the middle of the handshake", Outcome::Reset, || {
        Script::then(ConnectionEnding::Reset, &record(HANDSHAKE, &[2; 4000])[..100])
    }),
    fault("tls-close", "reads the ClientHello and closes without sending a byte", Outcome::TlsFailed, || {
        Script::close("")
    }),
    fault("tls-alert", "refuses the handshake", Outcome::TlsFailed, || {
        Script::close(record(ALERT, &[2, 40]))
    }),
    fault("tls-goodbye", "sends `close_notify` before the handshake", Outcome::TlsFailed, || {
        Script::close(record(ALERT, &[1, 0]))
    }),
    fault("tls-alert-flood", "sends warning alerts forever", Outcome::TlsFailed, || {
        Script::endless("", record(ALERT, &[1, 90]).repeat(1000))
    }),
    fault("tls-change-flood", "sends ChangeCipherSpec forever", Outcome::TlsFailed, || {
        Script::endless("", record(CHANGE_CIPHER_SPEC, &[1]).repeat(1000))
    }),
    fault("tls-empty-records", "sends empty records forever", Outcome::TlsFailed, || {
        Script::endless("", record(HANDSHAKE, &[]).repeat(1000))
    }),
    fault("tls-endless-handshake", "repeats one handshake message of 16 MiB", Outcome::TlsFailed, || {
        let mut message = vec![2, 0xff, 0xff, 0xff];
        message.resize(0x4000, 0);
        Script::endless("", record(HANDSHAKE, &message))
    }),
    fault("tls-large-record", "sends a record larger than the protocol allows", Outcome::TlsFailed, || {
        Script::endless([HANDSHAKE, 3, 3, 0xff, 0xff], [2; 16 * 1024])
    }),
    fault("tls-drip", "sends a message one byte at a time, 20 ms apart", Outcome::TimedOut, || {
        Script::close(record(HANDSHAKE, &[2, 0, 3, 0xf0].repeat(250))).in_pieces(1, DRIP_PAUSE)
    }),
    fault("tls-stall", "reads the ClientHello and never answers", Outcome::TimedOut, || {
        Script::then(ConnectionEnding::Hold, "")
    }),
];

const fn fault(name: &'static str, does: &'static str, outcome: Outcome, script: fn() -> Script) -> Fault {
    Fault { name, does, protocol: ClientProtocol::Tls, outcome, action: FaultAction::OnFirstBytes(script) }
}

/// Builds an unencrypted record.
fn record(content_type: u8, content: &[u8]) -> Vec<u8> {
    let length = (content.len() as u16).to_be_bytes();
    [&[content_type, 3, 3][..], &length, content].concat()
}
