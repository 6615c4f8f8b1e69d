//! Requests and replies as messages of HTTP/1.1: operation and client are in the path, the argument is in the query.

use std::io::Write;

use frame::app::{AppOperation, PAYLOAD_MAX, fill_payload, split_sized_content};
use http1::{
    BodyReader, FinalResponseHead, Framing, HeadError, ParseStatus, RequestError, RequestMethod,
    RequestOptions, RequestTemplate, parse_final_response, unfolded,
};
use model::{AppPayload, AppWorkload, Outcome};

use super::codec::AppReply;
use super::request::{AppCall, RequestPayload};
use super::server_timing::ServerTimes;
use crate::net::OperationFailure;

/// The beginning of all paths.
const PATH: &[u8] = b"/v1/";

/// The status of a success.
const OK: u16 = 200;

/// The status of a server whose queue is full.
const BUSY: u16 = 503;

/// The failure of a request that `PHASE` has to come before.
pub(super) const OUT_OF_PHASE: OperationFailure =
    OperationFailure { outcome: Outcome::WrongStatus, detail: 409 };

/// Requests but for their paths and the content of their messages.
#[derive(Debug)]
pub(super) struct RequestTemplates {
    /// Those without a body.
    bare: RequestTemplate,
    /// Those with a message, by its length.
    messages: Vec<(u32, RequestTemplate)>,
}

impl RequestTemplates {
    /// Makes the requests of a workload to a host.
    ///
    /// # Errors
    /// No request can name this host.
    pub(super) fn new(workload: &AppWorkload, host: &str) -> Result<RequestTemplates, RequestError> {
        let options = RequestOptions { accept: None, ..RequestOptions::http11(host) };
        let content_type = ("Content-Type".to_owned(), "application/octet-stream".to_owned());
        let message = |payload: &AppPayload| {
            let body = vec![0; payload.bytes as usize];
            let fields = std::slice::from_ref(&content_type);
            Ok((payload.bytes, RequestTemplate::new("POST", &options, fields, &body)?))
        };
        Ok(RequestTemplates {
            bare: RequestTemplate::new("POST", &options, &[], b"")?,
            messages: workload.payloads.iter().map(message).collect::<Result<_, _>>()?,
        })
    }

    /// Writes a request to the end of an empty buffer.
    pub(super) fn write(&self, call: &AppCall, client: u32, buffer: &mut Vec<u8>) {
        let path = |out: &mut Vec<u8>| write_path(call, client, out);
        let RequestPayload::Message { seed, bytes } = call.payload else {
            return self.bare.write(path, buffer);
        };
        let of_length = self.messages.iter().find(|(length, _)| *length == bytes);
        let (_, template) = of_length.expect("messages have lengths of the workload");
        template.write(path, buffer);
        let body = buffer.len() - bytes as usize;
        fill_payload(seed.into(), &mut buffer[body..]);
    }
}

fn write_path(call: &AppCall, client: u32, out: &mut Vec<u8>) {
    out.extend_from_slice(PATH);
    out.extend(call.operation.name().bytes().map(|byte| byte.to_ascii_lowercase()));
    let argument = call.argument;
    // Writing to memory does not fail.
    let _ = write!(out, "/{client}");
    let _ = match (call.operation, call.payload) {
        (_, RequestPayload::Data(data)) => {
            let file = data.file_bytes;
            let range = data.range_bytes;
            let io = data.io.name();
            let cold = data.is_cold;
            write!(out, "?file={file}&range={range}&io={io}&cold={cold}")
        }
        (_, RequestPayload::Rounds(rounds)) => write!(out, "?seed={argument}&rounds={rounds}"),
        (AppOperation::ServerClient, _) => {
            let (bytes, seed) = split_sized_content(argument);
            write!(out, "?bytes={bytes}&seed={seed}")
        }
        (AppOperation::Append, _) => Ok(()),
        (operation, _) if operation.needs_data() => write!(out, "?block={argument}"),
        _ => Ok(()),
    };
}

/// Reads the reply to a request; `None` if more bytes must arrive.
pub(super) fn read(
    bytes: &[u8],
    has_ended: bool,
    operation: AppOperation,
) -> Result<Option<AppReply>, OperationFailure> {
    let parsed = parse_final_response(bytes, RequestMethod::Post);
    if parsed.is_err()
        && let Some(joined) = unfolded(bytes)
    {
        return read(&joined, has_ended, operation);
    }
    let ParseStatus::Complete { head: FinalResponseHead { head, start }, length } =
        parsed.map_err(|error| head_failure(error, bytes.len()))?
    else {
        return Ok(None);
    };
    let (body, is_whole) = match read_body(head.framing, &bytes[length..], has_ended) {
        Ok(Some(body)) => (body, true),
        // A failure may have any body. Its head says enough, but without a whole body the connection is of no use.
        Err(_) if head.status != OK => (Vec::new(), false),
        Ok(None) if head.status != OK && has_ended => (Vec::new(), false),
        unfinished => return unfinished.map(|_| None),
    };
    let times = ServerTimes::of_head(&bytes[start..length]);
    let (result, payload) = match operation {
        AppOperation::ServerClient => (None, body),
        _ => (number(&body), Vec::new()),
    };
    let fault = match head.status {
        OK if times.is_none() => Some((Outcome::MalformedHead, 0)),
        OK if result.is_none() && operation != AppOperation::ServerClient => Some((Outcome::WrongBytes, 0)),
        OK => None,
        BUSY => Some((Outcome::Busy, BUSY.into())),
        status => Some((Outcome::WrongStatus, status.into())),
    };
    let times = times.unwrap_or_default();
    Ok(Some(AppReply {
        fault: fault.map(|(outcome, detail)| OperationFailure::new(outcome, detail)),
        result,
        payload,
        queue: times.queue.map(|time| time.0),
        service: times.service.map(|time| time.0),
        bytes: bytes.len() as u64,
        keeps_alive: is_whole && head.keep_alive && !has_ended,
    }))
}

/// Returns the failure of a head that cannot be; `bytes` have arrived.
fn head_failure(error: HeadError, bytes: usize) -> OperationFailure {
    match error {
        HeadError::Oversized(_) => OperationFailure::new(Outcome::OversizedHead, bytes as u64),
        _ => OperationFailure::new(Outcome::MalformedHead, 0),
    }
}

/// Returns a body that is complete and that nothing follows.
fn read_body(
    framing: Framing,
    mut bytes: &[u8],
    has_ended: bool,
) -> Result<Option<Vec<u8>>, OperationFailure> {
    let too_long = |length: u64| OperationFailure::new(Outcome::WrongLength, length);
    if let Framing::Length(length) = framing
        && u64::from(PAYLOAD_MAX) < length
    {
        return Err(too_long(length));
    }
    let mut reader = BodyReader::of_response(framing);
    let mut body = Vec::new();
    while !reader.is_done() && !bytes.is_empty() {
        let piece = reader.read(bytes).map_err(|_| OperationFailure::new(Outcome::MalformedBody, 0))?;
        body.extend_from_slice(&bytes[piece.data]);
        bytes = &bytes[piece.consumed..];
    }
    let is_more = reader.is_done() && !bytes.is_empty();
    if is_more || (PAYLOAD_MAX as usize) < body.len() {
        // Nothing was asked for that these bytes could be.
        return Err(too_long((body.len() + bytes.len()) as u64));
    }
    if has_ended {
        // It completes a body without a length; others are truncated.
        let _ = reader.end_of_input();
    }
    Ok(reader.is_done().then_some(body))
}

/// Reads a number in decimal digits, which white space may surround.
fn number(body: &[u8]) -> Option<u64> {
    // Parsing alone would take a sign.
    let digits = Some(body.trim_ascii()).filter(|text| text.iter().all(u8::is_ascii_digit))?;
    str::from_utf8(digits).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use frame::app::PREPARE;
    use model::{AppFileIo, AppProtocol, AppRequest, AppSuite, AppTransaction, ThinkTime};
    use proptest::prelude::*;

    use super::super::request::FileCursor;
    use super::*;

    fn workload(suite: AppSuite) -> AppWorkload {
        AppWorkload {
            suite,
            payloads: vec![AppPayload { bytes: 512, weight: 1 }],
            rounds: 200_000,
            range_bytes: 64 << 10,
            auto_range: None,
            io: AppFileIo::Durable,
            is_cold: true,
            protocol: AppProtocol::Http,
            think: ThinkTime::None,
        }
    }

    fn written(call: &AppCall, suite: AppSuite) -> Vec<u8> {
        let templates = RequestTemplates::new(&workload(suite), "[::1]:80").unwrap();
        let mut buffer = Vec::new();
        templates.write(call, 7, &mut buffer);
        buffer
    }

    fn transaction(transaction: AppTransaction) -> AppCall {
        let request = AppRequest { kind: 0, transaction, bytes: 512, number: (1 << 32) + 5 };
        AppCall::of(&request, &workload(AppSuite::System), &mut FileCursor::default())
    }

    #[test]
    fn requests_name_operation_client_and_arguments() {
        let phase = AppCall::new(AppOperation::Phase, PREPARE);
        let opening = [AppSuite::Network, AppSuite::Disk].map(|suite| phase.with_data(&workload(suite)));
        let calls = opening.into_iter().chain(AppTransaction::ALL.map(transaction));
        let lines = calls.map(|call| {
            let head = String::from_utf8_lossy(&written(&call, AppSuite::System)).into_owned();
            let (line, fields) = head.split_once(" HTTP/1.1\r\n").unwrap();
            assert!(fields.starts_with("Host: [::1]:80\r\n"), "{fields}");
            line.to_owned()
        });
        insta::assert_snapshot!(lines.collect::<Vec<_>>().join("\n"), @"
        POST /v1/phase/7
        POST /v1/phase/7?file=20971520&range=65536&io=durable&cold=true
        POST /v1/cs/7
        POST /v1/sc/7?bytes=512&seed=5
        POST /v1/proc/7?seed=5&rounds=200000
        POST /v1/rread/7?block=5
        POST /v1/rwrite/7?block=5
        POST /v1/sread/7?block=0
        POST /v1/swrite/7?block=0
        POST /v1/append/7
        ");
    }

    #[test]
    fn a_message_is_the_body_of_its_request() {
        let request = written(&transaction(AppTransaction::ClientServer), AppSuite::Network);
        let (head, body) = request.split_at(request.len() - 512);
        let head = String::from_utf8_lossy(head);
        assert!(head.ends_with("\r\nContent-Length: 512\r\n\r\n"), "{head}");
        let mut content = [0; 512];
        fill_payload(5, &mut content);
        assert_eq!(body, content);
        let bare = written(&transaction(AppTransaction::Append), AppSuite::Network);
        assert!(String::from_utf8_lossy(&bare).ends_with("\r\nContent-Length: 0\r\n\r\n"));
    }

    #[test]
    fn replies_are_read_however_they_are_framed() {
        let times = "Server-Timing: queue;dur=0.001, service;dur=2\r\n";
        let whole = |bytes: usize, keeps_alive| AppReply {
            fault: None,
            result: Some(42),
            payload: Vec::new(),
            queue: Some(1000),
            service: Some(2_000_000),
            bytes: bytes as u64,
            keeps_alive,
        };
        for (rest, has_ended, keeps_alive) in [
            ("Content-Length: 2\r\n\r\n42", false, true),
            ("Transfer-Encoding: chunked\r\n\r\n1\r\n4\r\n2;x=y\r\n2\n\r\n0\r\n\r\n", false, true),
            ("Connection: close\r\nContent-Length: 2\r\n\r\n42", false, false),
            ("\r\n42", true, false),
        ] {
            let interim = "HTTP/1.1 103 Early Hints\r\nServer-Timing: queue;dur=7\r\n\r\n";
            let text = format!("{interim}HTTP/1.1 200 OK\r\n{times}{rest}");
            for end in 0..text.len() {
                let part = read(&text.as_bytes()[..end], false, AppOperation::RandomRead);
                assert_eq!(part, Ok(None), "{}", &text[..end]);
            }
            let reply = read(text.as_bytes(), has_ended, AppOperation::RandomRead).unwrap().unwrap();
            assert_eq!(reply, whole(text.len(), keeps_alive), "{text}");
        }
        let message = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n42";
        let reply = read(message, false, AppOperation::ServerClient).unwrap().unwrap();
        assert_eq!((reply.result, reply.payload, reply.queue), (None, b"42".to_vec(), None));
    }

    #[test]
    fn faults_of_replies_are_outcomes() {
        let fault = |text: &str| match read(text.as_bytes(), false, AppOperation::Process) {
            Ok(reply) => reply.expect("complete").fault.expect(text),
            Err(failure) => failure,
        };
        for (text, outcome, detail) in [
            ("HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n", Outcome::Busy, 503),
            ("HTTP/1.1 409 Conflict\r\nContent-Length: 0\r\n\r\n", Outcome::WrongStatus, 409),
            ("HTTP/1.1 204 No Content\r\n\r\n", Outcome::WrongStatus, 204),
            ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nx1", Outcome::WrongBytes, 0),
            ("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", Outcome::WrongBytes, 0),
            ("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n12", Outcome::WrongLength, 2),
            ("HTTP/1.1 200 OK\r\nContent-Length: 131073\r\n\r\n", Outcome::WrongLength, 131_073),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n", Outcome::MalformedBody, 0),
            (
                "HTTP/1.1 200 OK\r\nServer-Timing: queue;dur=x\r\nContent-Length: 1\r\n\r\n1",
                Outcome::MalformedHead,
                0,
            ),
            ("TRBS", Outcome::MalformedHead, 0),
        ] {
            assert_eq!(fault(text), OperationFailure::new(outcome, detail), "{text}");
        }
        assert_eq!(fault("HTTP/1.1 409 Conflict\r\nContent-Length: 0\r\n\r\n"), OUT_OF_PHASE);
    }

    /// A framework's page about its own error may be long, cut off or in wrong chunks: the status says what happened.
    #[test]
    fn the_status_of_a_failure_does_not_depend_on_its_body() {
        for (rest, has_ended) in [
            ("Content-Length: 131073\r\n\r\n", false),
            ("Transfer-Encoding: chunked\r\n\r\nx\r\n", false),
            ("Content-Length: 9\r\n\r\nsorry", true),
            ("Content-Length: 1\r\n\r\nsorry", false),
        ] {
            let text = format!("HTTP/1.1 500 Internal Server Error\r\n{rest}");
            let reply = read(text.as_bytes(), has_ended, AppOperation::Process).unwrap().unwrap();
            assert_eq!(reply.fault, Some(OperationFailure::new(Outcome::WrongStatus, 500)), "{text}");
            assert!(!reply.keeps_alive, "{text}");
        }
    }

    #[test]
    fn a_result_is_a_number_without_a_sign() {
        assert_eq!((number(b"42\n"), number(b"18446744073709551615")), (Some(42), Some(u64::MAX)));
        for wrong in ["", "+42", "-1", "4 2", "42.0", "0x2a", "18446744073709551616"] {
            assert_eq!(number(wrong.as_bytes()), None, "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn any_reply_is_survived(rest in "\\PC{0,40}", body: Vec<u8>, has_ended: bool) {
            let bytes = [b"HTTP/1.1 200 OK\r\nServer-Timing: ", rest.as_bytes(), b"\r\n\r\n", &body].concat();
            let _ = read(&bytes, has_ended, AppOperation::Append);
            let _ = read(&body, has_ended, AppOperation::ServerClient);
        }
    }
}
