//! Users with sessions: cookies, values taken from replies and redirects, over every transport, and against servers that
//! mean them ill.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, Mutex};

use drivers::Trust;
use drivers::web::{Http2Driver, PlainDriver, SessionDriver, SessionTransport, SessionUser, TlsDriver};
use http::Response;
use model::{
    ConnectionLifetime, Cookies, ExtractSource, Extraction, HttpVersion, Outcome, Redirects, Reply,
    ReplyBody, Request, Tls, WebProtocol, WebRequest, WebWorkload, web_measure,
};
use rustls::ServerConfig;

use crate::common::{Action, Fixture, Http2Server, Identity, accept, context, protocol, workload};

const KEEP_ALIVE: ConnectionLifetime = ConnectionLifetime::KeepAlive { requests_max: None };

/// The requests that a server has received, heads and bodies.
type ReceivedRequests = Arc<Mutex<Vec<String>>>;

/// A reply, by the number of the request and its text.
type Rule = Arc<dyn Fn(usize, &str) -> String + Send + Sync>;

/// A request for anything at a path.
fn request(path: &str) -> Request {
    Request { path: path.parse().unwrap(), reply: ReplyBody::Any, ..Request::file("/", 0) }
}

fn following(path: &str) -> Request {
    Request { redirects: Redirects::Follow, ..request(path) }
}

fn extract(name: &str, from: ExtractSource) -> Extraction {
    Extraction { name: name.to_owned(), from, keep: false }
}

fn regex(name: &str, pattern: &str) -> Extraction {
    extract(name, ExtractSource::Regex(pattern.to_owned()))
}

/// A workload of one page with these requests, whose users have cookies.
fn asking(requests: Vec<Request>) -> WebWorkload {
    WebWorkload { requests, cookies: Cookies::User, ..workload() }
}

fn reply(status: &str, lines: &str, body: &str) -> String {
    format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\n{lines}\r\n{body}", body.len())
}

/// Reads a request with its body; `None` at the end of the connection.
fn read_whole(stream: &mut impl Read) -> Option<String> {
    let mut bytes = Vec::new();
    let mut piece = [0; 65_536];
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head
                .lines()
                .find_map(|line| line.to_lowercase().strip_prefix("content-length: ")?.parse().ok());
            if length.unwrap_or(0) <= body.len() {
                return Some(text);
            }
        }
        match stream.read(&mut piece) {
            Ok(n @ 1..) => bytes.extend_from_slice(&piece[..n]),
            _ => return None,
        }
    }
}

/// Starts a server whose connections run in threads of their own until the test program ends.
fn serve(
    tls: Option<Arc<ServerConfig>>,
    rule: impl Fn(usize, &str) -> String + Send + Sync + 'static,
) -> (SocketAddr, ReceivedRequests) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let received = ReceivedRequests::default();
    let record: ReceivedRequests = Arc::clone(&received);
    let rule: Rule = Arc::new(rule);
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let record = Arc::clone(&record);
            let rule = Arc::clone(&rule);
            let tls = tls.clone();
            std::thread::spawn(move || match (stream.unwrap(), tls) {
                (mut stream, None) => answer(&mut stream, &record, &rule),
                (stream, Some(config)) => answer(&mut accept(stream, &config), &record, &rule),
            });
        }
    });
    (address, received)
}

fn answer(stream: &mut (impl Read + Write), record: &ReceivedRequests, rule: &Rule) {
    while let Some(request) = read_whole(stream) {
        let number = {
            let mut record = record.lock().unwrap();
            record.push(request.clone());
            record.len() - 1
        };
        let reply = rule(number, &request);
        let written = stream.write_all(reply.as_bytes()).and_then(|()| stream.flush());
        if written.is_err() || reply.contains("Connection: close") {
            return;
        }
    }
}

/// Performs the requests of a workload as one user, page by page; returns each reply with its description.
fn perform<D: SessionTransport>(
    address: SocketAddr,
    protocol: &WebProtocol,
    workload: &WebWorkload,
    trust: &Trust,
    n_pages: usize,
) -> Vec<(Reply, String)> {
    let user = SessionUser { seed: 1, user: 0, users: 1 };
    let driver = SessionDriver::<D>::new(context(address, protocol, workload, trust), user);
    Fixture::with(driver).run(async |fixture| {
        let mut replies = Vec::new();
        for _ in 0..n_pages {
            for kind in 0..workload.requests.len() as u16 {
                let operation = WebRequest { begins: kind == 0, ..WebRequest::first(kind) };
                let reply = fixture.perform(&operation).await;
                replies.push((reply, fixture.describe(&operation, &reply)));
            }
        }
        replies
    })
}

fn perform_plain(address: SocketAddr, requests: Vec<Request>) -> Vec<(Reply, String)> {
    perform::<PlainDriver>(address, &protocol(KEEP_ALIVE), &asking(requests), &Trust::Any, 1)
}

/// Returns the outcome and description of one request to a server with this reply.
fn one(request: Request, answer: String) -> (Outcome, String) {
    let (address, _) = serve(None, move |_, _| answer.clone());
    let (reply, described) = perform_plain(address, vec![request]).remove(0);
    (reply.outcome, described)
}

fn lines(received: &ReceivedRequests) -> Vec<String> {
    let received = received.lock().unwrap();
    received.iter().map(|request| request.lines().next().unwrap_or_default().to_owned()).collect()
}

/// A login: the form gives a cookie and a token, the login redirects, and the page after it uses all of them.
fn login() -> Vec<Request> {
    vec![
        Request { extracts: vec![regex("csrf", "value=\"([a-f]+)\"")], ..request("/form") },
        Request {
            method: "POST".to_owned(),
            body: "{\"csrf\": \"{extract.csrf}\"}".to_owned(),
            headers: vec![("X-Form".to_owned(), "is {extract.csrf}".to_owned())],
            extracts: vec![extract("id", ExtractSource::Json("/id".to_owned()))],
            ..following("/login")
        },
        request("/items/{extract.id}?q={extract.id}"),
    ]
}

fn shop(request: &str) -> (&'static str, &'static str, &'static str) {
    match request.split([' ', '?']).nth(1) {
        Some("/form") => ("200 OK", "Set-Cookie: sid=s1; Path=/; HttpOnly\r\n", "<input value=\"abc\">"),
        Some("/login") => ("303 See Other", "Location: ../home\r\nSet-Cookie: sid=s2; Path=/\r\n", "moved"),
        Some("/home") => ("200 OK", "", "{\"id\": \"a/b\"}"),
        _ => ("200 OK", "", "bought"),
    }
}

/// Checks the replies of a login.
fn is_logged_in(replies: &[(Reply, String)]) {
    let outcomes: Vec<Outcome> = replies.iter().map(|(reply, _)| reply.outcome).collect();
    assert_eq!(outcomes, [Outcome::Ok; 3], "{replies:?}");
    let redirects: Vec<Option<u64>> =
        replies.iter().map(|(reply, _)| reply.measured.get(web_measure::REDIRECTS)).collect();
    assert_eq!(redirects, [None, Some(1), None]);
    let login = &replies[1].0;
    let bytes = |measure| login.measured.get(measure).unwrap();
    assert_eq!(bytes(web_measure::BODY_BYTES), 13, "of the last reply");
    assert!("{\"id\": \"a/b\"}moved".len() as u64 <= bytes(web_measure::REPLY_BYTES), "of all replies");
}

#[test]
fn a_user_logs_in_over_http1() {
    for secure in [false, true] {
        let identity = Identity::create();
        let config = secure.then(|| identity.config(&rustls::version::TLS13, &[b"http/1.1"]));
        let (address, received) = serve(config, |_, request| {
            let (status, lines, body) = shop(request);
            reply(status, lines, body)
        });
        let tls = if secure { Tls::Full } else { Tls::Off };
        let protocol = WebProtocol { tls, ..protocol(KEEP_ALIVE) };
        let workload = asking(login());
        let trust = identity.trust();
        let replies = if secure {
            perform::<TlsDriver>(address, &protocol, &workload, &trust, 1)
        } else {
            perform::<PlainDriver>(address, &protocol, &workload, &trust, 1)
        };
        is_logged_in(&replies);
        let received = received.lock().unwrap();
        let [form, login, home, item] = &received[..] else { panic!("{received:?}") };
        assert!(!form.contains("Cookie:"));
        assert!(login.contains("Cookie: sid=s1\r\n") && login.contains("X-Form: is abc\r\n"), "{login}");
        assert!(login.ends_with("\r\n\r\n{\"csrf\": \"abc\"}"), "{login}");
        assert!(home.starts_with("GET /home HTTP/1.1\r\n") && home.contains("Cookie: sid=s2\r\n"), "{home}");
        assert!(home.ends_with("\r\n\r\n") && !home.contains("Content-Length"), "{home}");
        assert!(item.starts_with("GET /items/a%2Fb?q=a%2Fb HTTP/1.1\r\n"), "{item}");
    }
}

#[test]
fn a_user_logs_in_over_http2() {
    for secure in [false, true] {
        let identity = Identity::create();
        let config = secure.then(|| identity.config(&rustls::version::TLS13, &[b"h2"]));
        let received = ReceivedRequests::default();
        let record = Arc::clone(&received);
        let server = Http2Server::start(config, move |_, _, request| {
            let cookie = request.headers().get("cookie").map(|value| value.to_str().unwrap().to_owned());
            let target = request.uri().path_and_query().unwrap().to_string();
            let line = format!("{} {target} {}", request.method(), cookie.unwrap_or_default());
            let (status, lines, body) = shop(&line);
            record.lock().unwrap().push(line);
            let mut response = Response::builder().status(status[..3].parse::<u16>().unwrap());
            for (name, value) in lines.lines().filter_map(|line| line.split_once(": ")) {
                response = response.header(name, value);
            }
            Action::Reply(response.body(body.as_bytes().to_vec()).unwrap())
        });
        let tls = if secure { Tls::Full } else { Tls::Off };
        let protocol = WebProtocol { http: HttpVersion::Http2, tls, ..protocol(KEEP_ALIVE) };
        let replies =
            perform::<Http2Driver>(server.address, &protocol, &asking(login()), &identity.trust(), 1);
        is_logged_in(&replies);
        assert_eq!(
            *received.lock().unwrap(),
            ["GET /form ", "POST /login sid=s1", "GET /home sid=s2", "GET /items/a%2Fb?q=a%2Fb sid=s2"]
        );
    }
}

#[test]
fn a_connection_per_request_carries_a_session_too() {
    let (address, received) = serve(None, |_, request| {
        let (status, lines, body) = shop(request);
        reply(status, &format!("{lines}Connection: close\r\n"), body)
    });
    let protocol = WebProtocol { http: HttpVersion::Http11, ..protocol(ConnectionLifetime::PerRequest) };
    let replies = perform::<PlainDriver>(address, &protocol, &asking(login()), &Trust::Any, 1);
    assert_eq!((replies[1].0.outcome, received.lock().unwrap().len()), (Outcome::Ok, 4), "{replies:?}");
}

#[test]
fn values_end_with_the_page_unless_they_are_kept() {
    for keep in [false, true] {
        let (address, received) = serve(None, |number, _| match number {
            0 => reply("200 OK", "", "v=abc"),
            _ => reply("200 OK", "", "nothing"),
        });
        let take = Extraction { keep, ..regex("v", "v=([a-c]+)") };
        let requests =
            vec![Request { extracts: vec![take], ..request("/take") }, request("/use/{extract.v}")];
        let replies =
            perform::<PlainDriver>(address, &protocol(KEEP_ALIVE), &asking(requests), &Trust::Any, 2);
        let outcomes: Vec<Outcome> = replies.iter().map(|(reply, _)| reply.outcome).collect();
        let missing = Outcome::ValueMissing;
        let last = if keep { Outcome::Ok } else { Outcome::ValueMissing };
        assert_eq!(outcomes, [Outcome::Ok, Outcome::Ok, missing, last], "{replies:?}");
        assert_eq!(replies[2].1, "GET /take: no `{extract.v}` in the reply, of at most 4096 bytes");
        // Without the value nothing is sent.
        assert_eq!(received.lock().unwrap().len(), if keep { 4 } else { 3 });
        if !keep {
            assert_eq!(replies[3].1, "GET /use/{extract.v}: no earlier reply has given `{extract.v}`");
        }
    }
}

#[test]
fn values_that_are_huge_or_cannot_be_sent_are_missing() {
    let take = |pattern: &str| Request { extracts: vec![regex("v", pattern)], ..request("/") };
    let (outcome, described) = one(take("x+"), reply("200 OK", "", &"x".repeat(4097)));
    assert_eq!(outcome, Outcome::ValueMissing, "{described}");
    assert_eq!(one(take("x+"), reply("200 OK", "", &"x".repeat(4096))).0, Outcome::Ok);
    let (outcome, described) = one(take("x+"), reply("200 OK", "", &"x".repeat((1 << 20) + 1)));
    assert_eq!(outcome, Outcome::ValueMissing);
    assert_eq!(described, "GET /: a body of more than 1048576 bytes, from which no values are taken");
    let (outcome, _) = one(take("x+"), reply("200 OK", "Content-Encoding: gzip\r\n", "xxx"));
    assert_eq!(outcome, Outcome::WrongEncoding);

    // A line break in a value would be another header.
    let (address, received) = serve(None, |_, _| reply("200 OK", "", "v=a\r\nX-Evil: 1"));
    let header = Request { headers: vec![("X-V".into(), "{extract.v}".into())], ..request("/use") };
    let take = Request { extracts: vec![regex("v", "(?s)v=(.*)")], ..request("/take") };
    let replies = perform_plain(address, vec![take, header]);
    assert_eq!((replies[0].0.outcome, replies[1].0.outcome), (Outcome::Ok, Outcome::ValueMissing));
    assert_eq!(replies[1].1, "GET /use: a value has characters that cannot be sent where it belongs");
    assert_eq!(lines(&received), ["GET /take HTTP/1.1"]);
}

#[test]
fn redirects_end_somewhere() {
    let (address, received) = serve(None, |n, _| reply("302 Found", &format!("Location: /{n}\r\n"), ""));
    let (found, described) = perform_plain(address, vec![following("/start")]).remove(0);
    assert_eq!(
        (found.outcome, described.as_str()),
        (Outcome::WrongRedirect, "GET /start: more than 10 redirects")
    );
    assert_eq!(received.lock().unwrap().len(), 11);
    for (location, why) in [
        ("javascript:alert(1)", "it leads to no `http://` or `https://` URL"),
        ("http://user:password@localhost/", "it leads to no `http://` or `https://` URL"),
        (
            "http://169.254.169.254/latest/meta-data",
            "it leads to an address that the target policy does not allow",
        ),
        ("//8.8.8.8/", "it leads to an address that the target policy does not allow"),
        ("http://0xa9fea9fe/", "it leads to an address that the target policy does not allow"),
    ] {
        let answer = reply("307 Temporary Redirect", &format!("Location: {location}\r\n"), "");
        let (outcome, described) = one(following("/"), answer);
        assert_eq!(outcome, Outcome::WrongRedirect, "{location}");
        assert_eq!(described, format!("GET /: a redirect is not followed: {why}"));
    }
    // A redirect that leads nowhere is a reply like any other.
    assert_eq!(one(following("/"), reply("302 Found", "", "")).0, Outcome::WrongStatus);
    let counted = Request { status: 302, ..request("/") };
    assert_eq!(one(counted, reply("302 Found", "Location: /x\r\n", "")).0, Outcome::Ok);
}

#[test]
fn encryption_is_not_left() {
    let identity = Identity::create();
    let (plain, received) = serve(None, |_, _| reply("200 OK", "", ""));
    let config = identity.config(&rustls::version::TLS13, &[b"http/1.1"]);
    let (address, _) = serve(Some(config), move |_, _| {
        reply("302 Found", &format!("Location: http://localhost:{}/\r\n", plain.port()), "")
    });
    let protocol = WebProtocol { tls: Tls::Full, ..protocol(KEEP_ALIVE) };
    let (found, described) =
        perform::<TlsDriver>(address, &protocol, &asking(vec![following("/")]), &identity.trust(), 1)
            .remove(0);
    assert_eq!(found.outcome, Outcome::WrongRedirect);
    assert_eq!(described, "GET /: a redirect is not followed: it leads from `https` to `http`");
    assert_eq!(lines(&received), [""; 0]);
}

/// Another port is another origin.
#[test]
fn cookies_and_credentials_stay_at_their_origin() {
    let back = Arc::new(Mutex::new(String::new()));
    let home = Arc::clone(&back);
    let (other, elsewhere) = serve(None, move |_, _| {
        let lines = format!("Location: {}\r\nSet-Cookie: other=1; Path=/\r\n", back.lock().unwrap());
        reply("302 Found", &lines, "")
    });
    let (address, received) = serve(None, move |number, _| match number {
        0 => reply(
            "302 Found",
            &format!("Location: http://localhost:{}/away\r\nSet-Cookie: sid=1; Path=/\r\n", other.port()),
            "",
        ),
        _ => reply("200 OK", "", "back"),
    });
    *home.lock().unwrap() = format!("http://LOCALHOST:{}/back", address.port());
    let header = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let headers = vec![
        header("Authorization", "Bearer abcdefgh"),
        header("Accept-Language", "de"),
        header("X-Token", "t0ken"),
    ];
    let (found, _) = perform_plain(address, vec![Request { headers, ..following("/") }]).remove(0);
    assert_eq!((found.outcome, found.measured.get(web_measure::REDIRECTS)), (Outcome::Ok, Some(2)));
    let away = elsewhere.lock().unwrap()[0].clone();
    assert!(
        away.contains("Accept-Language: de\r\n")
            && away.contains(&format!("Host: localhost:{}\r\n", other.port())),
        "{away}"
    );
    assert!(!["Cookie", "Authorization", "X-Token"].iter().any(|name| away.contains(name)), "{away}");
    let back = received.lock().unwrap()[1].clone();
    assert!(back.starts_with("GET /back HTTP/1.1\r\n") && back.contains("Cookie: sid=1\r\n"), "{back}");
    assert!(back.contains("Authorization: Bearer abcdefgh\r\n"), "{back}");

    let (other, elsewhere) = serve(None, |_, _| reply("200 OK", "", ""));
    let answer =
        reply("307 Temporary Redirect", &format!("Location: http://localhost:{}/\r\n", other.port()), "");
    let login = Request { method: "POST".into(), body: "name=a".into(), ..following("/") };
    let (outcome, described) = one(login, answer);
    assert_eq!(outcome, Outcome::WrongRedirect);
    assert_eq!(described, "POST /: a redirect is not followed: it would send a body to another server");
    assert_eq!(lines(&elsewhere), [""; 0]);
}

#[test]
fn a_flood_of_cookies_is_bounded() {
    let (address, received) = serve(None, |number, _| {
        let cookies: String =
            (0..60).map(|n| format!("Set-Cookie: c{number}-{n}={}; Path=/\r\n", "x".repeat(900))).collect();
        reply("200 OK", &cookies, "")
    });
    let outcomes: Vec<Outcome> =
        perform_plain(address, vec![request("/"); 20]).iter().map(|(reply, _)| reply.outcome).collect();
    assert_eq!(outcomes, [Outcome::Ok; 20]);
    let longest = received.lock().unwrap().iter().map(String::len).max().unwrap();
    assert!((10_000..20_000).contains(&longest), "{longest} bytes");
}

/// A server that repeats a value in its own error does not get it into a report.
#[test]
fn values_are_not_described() {
    let identity = Identity::create();
    let config = identity.config(&rustls::version::TLS13, &[b"h2"]);
    let server = Http2Server::start(Some(config), |_, number, _| match number {
        0 => Action::Reply(Response::builder().header("x-token", "s3cret-token").body(Vec::new()).unwrap()),
        _ => Action::Reply(Response::builder().status(500).body(b"s3cret-token".to_vec()).unwrap()),
    });
    let protocol = WebProtocol { http: HttpVersion::Http2, tls: Tls::Full, ..protocol(KEEP_ALIVE) };
    let take =
        Request { extracts: vec![extract("v", ExtractSource::Header("X-Token".into()))], ..request("/take") };
    let workload = asking(vec![take, request("/use/{extract.v}")]);
    let replies = perform::<Http2Driver>(server.address, &protocol, &workload, &identity.trust(), 1);
    assert_eq!(replies[1].1, "GET /use/{extract.v}: status 500, expected 200");
}
