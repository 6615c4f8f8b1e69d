//! Requests of cURL's command lines: `plimsoll run --curl FILE`. What they send in confidence is held for the run, as the
//! values of environment variables are, and is in no definition.

use std::path::{Path, PathBuf};
use std::rc::Rc;

use languages::{
    CurlConnection, CurlNote, CurlRequest, CurlRequests, PlacedCurlFault, credential_spans, foreign_text,
    is_credential, parse_curl,
};
use model::{SecretLocation, TemplatePiece, header_name_fault, template_pieces};

use super::curl_remedies::{note_text, remedy};
use super::draft::DraftRequest;
use super::held::HeldValues;
use super::page::{self, PAGES_MAX, PageUrl};
use super::request::{RequestParts, UrlBody, check_length, method};
use super::value::UrlValue;
use crate::arguments::SutArguments;
use crate::connect_to::ConnectToArgument;
use crate::exit::Failure;
use crate::files::read_or_input;

/// Schemes of credentials, which stay in clear before them.
const SCHEMES: [&str; 3] = ["Basic", "Bearer", "Token"];

/// Header fields that say how a connection is used. The protocol sends its own.
const CONNECTION_HEADERS: [&str; 6] =
    ["connection", "content-length", "expect", "keep-alive", "proxy-connection", "te"];

/// The requests of commands.
pub(super) struct CurlSubject {
    /// The requests, all different.
    pub requests: Vec<DraftRequest>,
    /// The indices of requests, in the order of their commands.
    pub order: Vec<usize>,
    /// The `Host` fields, each once.
    pub hosts: Vec<String>,
    /// The way to connect.
    pub connection: CurlConnection,
    /// Lines about what is not taken.
    pub notes: Vec<String>,
}

/// Reads the commands of a file, or of standard input.
///
/// # Errors
/// The file cannot be read, a command is broken or wants what cannot be taken, or they are about several servers.
pub(super) fn read(path: &Path, held: &mut HeldValues) -> Result<CurlSubject, Failure> {
    let text = read_or_input(path)?;
    let name =
        if path == Path::new("-") { "standard input".to_owned() } else { format!("`{}`", path.display()) };
    let CurlRequests { requests, notes } = parse_curl(&text).map_err(|faults| failure(&faults, &name))?;
    subject(requests, &notes, held, &name)
}

/// Returns the failure of all faults, each with its remedy; one remedy of several that follow each other stands once.
fn failure(faults: &[PlacedCurlFault], name: &str) -> Failure {
    let mut lines = Vec::new();
    let mut last: Option<String> = None;
    for placed in faults {
        let hint = remedy(&placed.fault);
        if let Some(other) = last.replace(hint.clone()).filter(|other| *other != hint) {
            lines.push(format!("hint: {other}"));
        }
        lines.push(format!("{name}, {placed}"));
    }
    Failure::usage(lines.join("\n")).hint_if(last)
}

fn subject(
    requests: Vec<CurlRequest>,
    notes: &[CurlNote],
    held: &mut HeldValues,
    name: &str,
) -> Result<CurlSubject, Failure> {
    if PAGES_MAX < requests.len() {
        let error = format!("{name}: expected at most {PAGES_MAX} requests, found {}", requests.len());
        return Err(Failure::usage(error).hint("leave out the commands that matter least"));
    }
    let mut subject = CurlSubject {
        requests: Vec::new(),
        order: Vec::new(),
        hosts: Vec::new(),
        connection: CurlConnection::default(),
        notes: note_text(notes),
    };
    for request in requests {
        let place = format!("{name}, line {}: ", request.line);
        subject.add(request, held, &place)?;
    }
    Ok(subject)
}

impl CurlSubject {
    /// Adds a request, found at `place`.
    fn add(&mut self, request: CurlRequest, held: &mut HeldValues, place: &str) -> Result<(), Failure> {
        let page = page(&request.url, held, place)?;
        if let Some(first) = self.requests.first()
            && first.page.target != page.target
        {
            let servers = format!("{} and {}", first.page.target, page.target);
            return Err(Failure::usage(format!("{place}expected requests to one server, found {servers}"))
                .hint("leave out the commands for other servers, such as those of fonts and statistics"));
        }
        let connection = self.usable(request.connection, page.target.secure);
        if self.requests.is_empty() {
            self.connection = connection;
        } else if connection != self.connection {
            let error = format!("{place}the command connects in another way than the first one");
            return Err(Failure::usage(error).hint(
                "give all commands the same `-k`, `--resolve`, `--connect-to`, `--cert` and version of HTTP: one run has one \
                 way to connect",
            ));
        }
        let (hosts, headers) =
            request.headers.into_iter().partition(|(name, _)| name.eq_ignore_ascii_case("host"));
        self.add_host(hosts, place)?;
        let headers = self.headers(headers, held, place)?;
        let body = request.body.filter(|body| !body.is_empty());
        let method = method(Some(&request.method), body.is_some()).map_err(|failure| failure.at(place))?;
        let body = body.map(|text| held_body(text, held)).transpose().map_err(|failure| failure.at(place))?;
        let parts = Rc::new(RequestParts { method, headers, body });
        let known = self.requests.iter().position(|other| other.page == page && other.parts == parts);
        let index = known.unwrap_or(self.requests.len());
        if known.is_none() {
            self.requests.push(DraftRequest { page, parts, weight: 1 });
        }
        self.order.push(index);
        Ok(())
    }

    /// Adds a `Host` field, which all requests have if one has it.
    fn add_host(&mut self, hosts: Vec<(String, String)>, place: &str) -> Result<(), Failure> {
        let host: Vec<String> = hosts.into_iter().map(|(_, value)| format!("Host: {value}")).collect();
        if self.requests.is_empty() {
            self.hosts = host;
        } else if self.hosts != host {
            return Err(Failure::usage(format!(
                "{place}the field `Host` is another one than in the first command"
            ))
            .hint("one run asks one server: give all commands the same `Host`, or none"));
        }
        Ok(())
    }

    /// Returns header fields as a definition has them: credentials, and values with braces that a definition would fill, come
    /// from elsewhere.
    fn headers(
        &mut self,
        headers: Vec<(String, String)>,
        held: &mut HeldValues,
        place: &str,
    ) -> Result<Vec<(String, UrlValue)>, Failure> {
        let mut kept = Vec::new();
        for (name, value) in headers {
            if CONNECTION_HEADERS.contains(&name.to_ascii_lowercase().as_str()) {
                self.note(format!(
                    "not taken: `-H {}: …`: the protocol sends its own; `--connection` says how long connections are kept",
                    foreign_text(&name)
                ));
                continue;
            }
            let fault =
                header_name_fault(&name).or_else(|| SecretLocation::Header(name.clone()).fault(&value));
            if let Some(fault) = fault {
                let error = format!("{place}`-H {}: …` cannot be sent: {fault}", foreign_text(&name));
                return Err(
                    Failure::usage(error).hint("leave the field out, or write its value in visible ASCII")
                );
            }
            let value = header_value(&name, value, held);
            kept.push((name, value));
        }
        Ok(kept)
    }

    /// Returns the way to connect, without certificates if there is no TLS, which a note says.
    fn usable(&mut self, connection: CurlConnection, is_secure: bool) -> CurlConnection {
        let CurlConnection { insecure, ca, cert, key, .. } = &connection;
        let given = [
            (*insecure, "`-k`"),
            (ca.is_some(), "`--cacert`"),
            (cert.is_some(), "`--cert`"),
            (key.is_some(), "`--key`"),
        ];
        let given: Vec<&str> =
            given.into_iter().filter(|(is_given, _)| *is_given).map(|(_, flag)| flag).collect();
        if is_secure || given.is_empty() {
            return connection;
        }
        self.note(format!("not taken: {}: the server does not use TLS", given.join(", ")));
        CurlConnection { insecure: false, ca: None, cert: None, key: None, ..connection }
    }

    /// Adds a line about what is not taken, once.
    fn note(&mut self, note: String) {
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    /// Gives the way to connect to the arguments of the run. What they name themselves stays.
    ///
    /// # Errors
    /// A place to connect to is none.
    pub(super) fn connect(connection: CurlConnection, sut: &mut SutArguments) -> Result<(), Failure> {
        let CurlConnection { insecure, ca, cert, key, resolve, connect_to, unix_socket, http: _ } =
            connection;
        if !sut.insecure && sut.ca.is_none() {
            sut.insecure = insecure;
            sut.ca = ca.map(PathBuf::from).filter(|_| !insecure);
        }
        if sut.cert.is_none() {
            sut.key = key.map(PathBuf::from).filter(|_| cert.is_some());
            sut.cert = cert.map(PathBuf::from);
        }
        sut.unix_socket = sut.unix_socket.take().or(unix_socket.map(PathBuf::from));
        for text in resolve {
            let place = ConnectToArgument::resolve(text.trim_start_matches('+'));
            sut.resolve.push(place.map_err(|error| Failure::usage(error).at("`--resolve` of a command: "))?);
        }
        for text in connect_to {
            let place = text.parse::<ConnectToArgument>();
            sut.connect_to
                .push(place.map_err(|error| Failure::usage(error).at("`--connect-to` of a command: "))?);
        }
        Ok(())
    }
}

/// Reads the URL of a request; credentials in its query come from elsewhere.
fn page(url: &str, held: &mut HeldValues, place: &str) -> Result<PageUrl, Failure> {
    let url = url.replace('{', "%7B").replace('}', "%7D");
    let query_start = url.find('?').unwrap_or(url.len());
    let (start, query) = url.split_at(query_start);
    let mut text = start.to_owned();
    let mut at = 0;
    for span in credential_spans(query) {
        let value = &query[span.clone()];
        if let Some(fault) = SecretLocation::Parameter(String::new()).fault(value) {
            return Err(Failure::usage(format!("{place}a credential in the query cannot be sent: {fault}"))
                .hint("write it percent-encoded"));
        }
        let before = &query[at..span.start];
        let name = before.trim_end_matches('=').rsplit(['?', '&']).next().unwrap_or_default();
        text += before;
        text += &format!("{{env:{}}}", held.hold(name, value));
        at = span.end;
    }
    text += &query[at..];
    page::parse(&text, place)
}

fn header_value(name: &str, value: String, held: &mut HeldValues) -> UrlValue {
    let has_placeholder =
        template_pieces(&value).iter().any(|piece| !matches!(piece, TemplatePiece::Text(_)));
    if !is_credential(name, &value) && !has_placeholder {
        return UrlValue::Literal(value);
    }
    let is_scheme = |scheme: &str| SCHEMES.iter().any(|one| one.eq_ignore_ascii_case(scheme));
    let (prefix, secret) = match value.split_once(' ') {
        Some((scheme, secret)) if is_scheme(scheme) && !secret.is_empty() => (format!("{scheme} "), secret),
        _ => (String::new(), value.as_str()),
    };
    UrlValue::Env { prefix, name: held.hold(name, secret) }
}

fn held_body(text: String, held: &mut HeldValues) -> Result<UrlBody, Failure> {
    check_length(&text)?;
    Ok(UrlBody::Given { variable: held.hold("body", &text), text })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (Result<CurlSubject, Failure>, HeldValues) {
        let mut held = HeldValues::default();
        let parsed = parse_curl(text).unwrap_or_else(|faults| panic!("{faults:?}"));
        let subject = subject(parsed.requests, &parsed.notes, &mut held, "`a.sh`");
        (subject, held)
    }

    #[test]
    fn what_is_secret_is_held_and_in_no_request() {
        let text = "curl 'http://h/?a=1&token=t0k&b=\\{x\\}' -u me:s3cret -b 'sid=c00kie' -H 'X-Api-Key: k3y' -H 'X: a{b}' -d 'pin=1'\n\
                    curl 'http://h/next' -H 'Cookie: sid=c00kie' -H 'X-Api-Key: other'";
        let (subject, held) = read(text);
        let subject = subject.unwrap();
        let first = &subject.requests[0];
        assert_eq!(first.page.path, "/?a=1&token={env1}&b=%7Bx%7D");
        let parts = |request: &DraftRequest| {
            let headers =
                request.parts.headers.iter().map(|(name, value)| format!("{name} = {}", value.toml()));
            headers.collect::<Vec<_>>().join("\n")
        };
        insta::assert_snapshot!(parts(first), @r#"
        X-Api-Key = { env = "PLIMSOLL_X_API_KEY" }
        X = { env = "PLIMSOLL_X" }
        Cookie = { env = "PLIMSOLL_COOKIE" }
        Content-Type = "application/x-www-form-urlencoded"
        Authorization = { env = "PLIMSOLL_AUTHORIZATION", prefix = "Basic " }
        "#);
        insta::assert_snapshot!(parts(&subject.requests[1]), @r#"
        Cookie = { env = "PLIMSOLL_COOKIE" }
        X-Api-Key = { env = "PLIMSOLL_X_API_KEY_2" }
        "#);
        let values: Vec<String> =
            held.into_values().into_iter().map(|(name, value)| format!("{name}={value}")).collect();
        insta::assert_snapshot!(values.join("\n"), @r"
        PLIMSOLL_AUTHORIZATION=bWU6czNjcmV0
        PLIMSOLL_BODY=pin=1
        PLIMSOLL_COOKIE=sid=c00kie
        PLIMSOLL_TOKEN=t0k
        PLIMSOLL_X=a{b}
        PLIMSOLL_X_API_KEY=k3y
        PLIMSOLL_X_API_KEY_2=other
        ");
    }

    #[test]
    fn requests_are_in_order_and_equal_ones_are_one() {
        let (subject, _) = read("curl http://h/a\ncurl http://h/b -H 'Connection: close'\ncurl http://h/a");
        let subject = subject.unwrap();
        assert_eq!((subject.requests.len(), subject.order), (2, vec![0, 1, 0]));
        assert!(subject.notes[0].starts_with("not taken: `-H Connection: …`"), "{:?}", subject.notes);
    }

    #[test]
    fn what_one_run_cannot_have_is_refused_with_its_line() {
        for (text, expected) in [
            (
                "curl http://a/\ncurl http://b/",
                "`a.sh`, line 2: expected requests to one server, found http://a:80/ and http://b:80/",
            ),
            (
                "curl https://a/\ncurl -k https://a/b",
                "`a.sh`, line 2: the command connects in another way than the first one",
            ),
            (
                "curl http://a/\ncurl -H 'Host: x' http://a/b",
                "`a.sh`, line 2: the field `Host` is another one than in the first command",
            ),
            (
                "curl -H 'X: s3cret\u{e9}' a",
                "`a.sh`, line 1: `-H X: …` cannot be sent: it is not one line of ASCII without spaces around it",
            ),
            (
                "curl -H 'Upgrade: websocket' a",
                "`a.sh`, line 1: `-H Upgrade: …` cannot be sent: the protocol itself sends this field",
            ),
            (
                "curl ftp://a/",
                "`a.sh`, line 1: `ftp://a/` is not the URL of a page: expected `http://` or `https://`",
            ),
            ("curl -X CONNECT a", "`a.sh`, line 1: `-X CONNECT` opens a tunnel, which cannot be measured"),
            (
                "curl -X GET -d s3cret a",
                "`a.sh`, line 1: `-X GET` has no body, but `-d` or `--data-file` sets one",
            ),
        ] {
            let (subject, _) = read(text);
            let Err(failure) = subject else { panic!("{text}") };
            assert_eq!(failure.message(), expected, "{text}");
        }
    }

    #[test]
    fn certificates_matter_with_tls_only() {
        let (subject, _) = read("curl -k --cert a.pem http://h/");
        let subject = subject.unwrap();
        assert_eq!(subject.notes, ["not taken: `-k`, `--cert`: the server does not use TLS"]);
        assert_eq!(subject.connection, CurlConnection::default());
        let (subject, _) = read("curl -k https://h/");
        assert!(subject.unwrap().connection.insecure);
    }
}
