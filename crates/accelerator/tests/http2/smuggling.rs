//! Requests that would become something else as HTTP/1 text.

use accelerator::message::BodyError;
use tokio::io::AsyncWriteExt;

use super::frames::{
    DATA, END_HEADERS, END_STREAM, HEADERS, STATUS_200, STATUS_400, ServerFrame, frame, listen, pack, preface,
};
use super::service::{fixture, limits, run};

type Field = (&'static [u8], &'static [u8]);

const METHOD: Field = (b":method", b"GET");
const SCHEME: Field = (b":scheme", b"https");
const AUTHORITY: Field = (b":authority", b"example.org");
const PATH: Field = (b":path", b"/hello");

/// Returns the fields of a request for `/hello`, followed by these.
fn with(fields: &[Field]) -> Vec<Field> {
    [&[METHOD, SCHEME, AUTHORITY, PATH], fields].concat()
}

/// Returns the fields of a request, with another value in one of them.
fn changed(name: &[u8], value: &'static [u8]) -> Vec<Field> {
    with(&[]).into_iter().map(|field| if field.0 == name { (field.0, value) } else { field }).collect()
}

/// Returns the fields of a request, without one of them.
fn without(name: &[u8]) -> Vec<Field> {
    with(&[]).into_iter().filter(|field| field.0 != name).collect()
}

/// Sends a head and then pieces of a body; returns the server's frame and whether the service was called.
async fn attempt(fields: &[Field], body: &[&[u8]]) -> (ServerFrame, usize, Vec<Result<Vec<u8>, BodyError>>) {
    let mut fixture = fixture(limits(), Default::default());
    let flags = END_HEADERS | if body.is_empty() { END_STREAM } else { 0 };
    let mut bytes = [preface(), frame(HEADERS, flags, 1, &pack(fields))].concat();
    for (k, piece) in body.iter().enumerate() {
        let flags = if k + 1 == body.len() { END_STREAM } else { 0 };
        bytes.extend(frame(DATA, flags, 1, piece));
    }
    fixture.near.write_all(&bytes).await.unwrap();
    let received = listen(&mut fixture.near).await;
    let bodies = fixture.script.bodies.borrow().clone();
    let asked = fixture.script.requests.borrow().len();
    (received, asked, bodies)
}

fn check_refused(cases: Vec<Vec<Field>>) {
    run(async {
        for fields in cases {
            let text: Vec<_> =
                fields.iter().map(|(name, value)| (name.escape_ascii(), value.escape_ascii())).collect();
            let text: String = text.iter().map(|(name, value)| format!("{name}={value} ")).collect();
            let (received, asked, _) = attempt(&fields, &[]).await;
            assert!(
                matches!(
                    received,
                    ServerFrame::Head(STATUS_400) | ServerFrame::Reset(_) | ServerFrame::GoAway(_)
                ),
                "{text}: {received:?}"
            );
            assert_eq!(asked, 0, "{text}");
        }
    });
}

/// Goal: the requests below are refused for their content, not for the way in which they are sent.
#[test]
fn a_valid_raw_request_is_answered() {
    run(async {
        let (received, asked, _) = attempt(&with(&[(b"x", b"a\tb c")]), &[]).await;
        assert_eq!((received, asked), (ServerFrame::Head(STATUS_200), 1));
    });
}

#[test]
fn line_ends_and_nul_in_values_are_refused() {
    let values: [&'static [u8]; 7] =
        [b"a\r\nx: y", b"a\r\n\r\nGET /x HTTP/1.1\r\n", b"a\n", b"a\r", b"\n", b"a\0b", b"a\x7fb"];
    check_refused(values.into_iter().map(|value| with(&[(b"x", value)])).collect());
    check_refused([b"a " as &[u8], b" a", b"\ta"].into_iter().map(|value| with(&[(b"x", value)])).collect());
}

#[test]
fn invalid_field_names_are_refused() {
    let names: [&'static [u8]; 9] =
        [b"X", b"x\r\ny", b"x y", b"x:y", b"x ", b"", b"x\0", b"transfer-encoding ", b"content\rlength"];
    check_refused(names.into_iter().map(|name| with(&[(name, b"1")])).collect());
}

#[test]
fn line_ends_and_blanks_in_the_request_line_are_refused() {
    let paths: [&'static [u8]; 9] = [
        b"/ HTTP/1.1\r\nx: y",
        b"/a b",
        b"/a\r\n",
        b"/a\0",
        b"/a\t",
        b"",
        b"hello",
        b"?hello",
        b"https://other/hello",
    ];
    let mut cases: Vec<_> = paths.into_iter().map(|path| changed(b":path", path)).collect();
    let methods: [&'static [u8]; 5] = [b"GET /x HTTP/1.1\r\nx: y", b"GET ", b"G\r\nT", b"", b"CONNECT"];
    cases.extend(methods.into_iter().map(|method| changed(b":method", method)));
    let schemes: [&'static [u8]; 4] = [b"https://other/?", b"ftp", b"", b"http\r\n"];
    cases.extend(schemes.into_iter().map(|scheme| changed(b":scheme", scheme)));
    check_refused(cases);
}

#[test]
fn exactly_one_host_is_required() {
    let authorities: [&'static [u8]; 7] = [b"h\r\nx: y", b"h/x", b"user@h", b"h h", b"", b"h?x", b"h#x"];
    let mut cases: Vec<_> = authorities.into_iter().map(|name| changed(b":authority", name)).collect();
    cases.push(without(b":authority"));
    cases.push(with(&[(b"host", b"other.example")]));
    cases.push(with(&[(b"host", b"example.org:81")]));
    cases.push(with(&[(b"host", b"example.org"), (b"host", b"example.org")]));
    cases.push(with(&[AUTHORITY]));
    cases.push([&without(b":authority")[..], &[(b"host", b"a"), (b"host", b"b")]].concat());
    check_refused(cases);
}

#[test]
fn pseudo_fields_must_be_known_unique_and_first() {
    let mut cases: Vec<_> = [&b":method"[..], b":scheme", b":path"].into_iter().map(without).collect();
    for field in [METHOD, SCHEME, PATH, (b":status", b"200"), (b":foo", b"1"), (b":protocol", b"websocket")] {
        cases.push(with(&[field]));
    }
    cases.push(vec![METHOD, SCHEME, AUTHORITY, (b"x", b"1"), PATH]);
    check_refused(cases);
}

#[test]
fn connection_specific_fields_are_refused() {
    let fields: [Field; 9] = [
        (b"transfer-encoding", b"chunked"),
        (b"transfer-encoding", b"identity"),
        (b"connection", b"close"),
        (b"connection", b"content-length"),
        (b"keep-alive", b"timeout=5"),
        (b"proxy-connection", b"close"),
        (b"upgrade", b"h2c"),
        (b"te", b"chunked"),
        (b"te", b"trailers, chunked"),
    ];
    check_refused(fields.into_iter().map(|field| with(&[field])).collect());
}

#[test]
fn conflicting_lengths_are_refused() {
    let lengths: [&'static [u8]; 10] =
        [b"5", b"+0", b"-1", b"0x0", b"0,0", b"0 ", b"", b"18446744073709551616", b"1_0", b"0\r\nx: y"];
    let mut cases: Vec<_> = lengths.into_iter().map(|length| with(&[(b"content-length", length)])).collect();
    cases.push(with(&[(b"content-length", b"0"), (b"content-length", b"5")]));
    check_refused(cases);
}

/// Goal: a body that is longer or shorter than announced never counts as complete.
#[test]
fn bodies_with_a_wrong_length_are_errors() {
    run(async {
        let head = |length| -> Vec<Field> {
            let post = [(&b":method"[..], &b"POST"[..]), SCHEME, AUTHORITY, (b":path", b"/echo")];
            [&post[..], &[(b"content-length", length)]].concat()
        };
        let cases: [(&[u8], &[&[u8]]); 5] = [
            (b"5", &[b"abc"]),
            (b"5", &[b"abcdefgh"]),
            (b"5", &[b"abc", b"defgh"]),
            (b"5", &[b""]),
            (b"0", &[b"GET /x HTTP/1.1\r\n\r\n"]),
        ];
        for (length, body) in cases {
            let (received, _, bodies) = attempt(&head(length), body).await;
            assert!(
                matches!(received, ServerFrame::Reset(_) | ServerFrame::GoAway(_)),
                "{body:?}: {received:?}"
            );
            assert!(bodies.iter().all(Result::is_err), "{body:?}: {bodies:?}");
        }
        let (received, asked, bodies) = attempt(&head(b"5"), &[b"abc", b"", b"de"]).await;
        assert_eq!((received, asked), (ServerFrame::Head(STATUS_200), 1));
        assert_eq!(bodies, [Ok(b"abcde".to_vec())]);
    });
}

/// Regression: `h2` cuts a fragment off, and the rest was answered.
#[test]
fn a_path_with_a_fragment_is_refused() {
    let paths: [&'static [u8]; 4] = [b"/hello#", b"/hello#a", b"/hello?b#c", b"/#/hello"];
    check_refused(paths.into_iter().map(|path| changed(b":path", path)).collect());
}

/// Regression: pseudo-header fields of trailers were dropped unread (RFC 9113 §8.1: they make a message malformed).
#[test]
fn pseudo_fields_in_trailers_make_the_body_an_error() {
    run(async {
        let post: [Field; 4] = [(b":method", b"POST"), SCHEME, AUTHORITY, (b":path", b"/echo")];
        for (trailer, is_whole) in [
            (&(&b"x"[..], &b"1"[..]), true),
            (&(b":path", b"/x"), false),
            (&(b":status", b"200"), false),
            (&(b":authority", b"h"), false),
        ] {
            let mut fixture = fixture(limits(), Default::default());
            let frames = [
                preface(),
                frame(HEADERS, END_HEADERS, 1, &pack(&post)),
                frame(DATA, 0, 1, b"abc"),
                frame(HEADERS, END_HEADERS | END_STREAM, 1, &pack(&[*trailer])),
            ];
            fixture.near.write_all(&frames.concat()).await.unwrap();
            let received = listen(&mut fixture.near).await;
            let bodies = fixture.script.bodies.borrow().clone();
            assert_eq!(
                matches!(received, ServerFrame::Head(STATUS_200)),
                is_whole,
                "{trailer:?}: {received:?}"
            );
            assert!(
                is_whole || matches!(received, ServerFrame::Reset(_) | ServerFrame::GoAway(_)),
                "{trailer:?}: {received:?}"
            );
            assert_eq!(bodies.iter().all(Result::is_ok), is_whole, "{trailer:?}: {bodies:?}");
        }
    });
}
