//! Credentials: sent to the server, and never stored or printed.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};

use crate::support::Fixture;

/// Prefix of all values that must reach the server and nothing else.
pub(crate) const CANARY: &str = "canary-7f3a";

/// Files of the tests themselves.
const OWN: [&str; 2] = ["mine.toml", "token.txt"];

const DEFINITION: &str = r##"format = 1
id = "mine"
version = 1
title = "Mine"
summary = "One page for those who may see it."
family = "web"
headline = "request-rate"

[[workload.requests]]
name = "page"
weight = 1
method = "POST"
path = "/page?api_key=canary-7f3a-path&t={t}"
parameters.t = { env = "PLIMSOLL_TEST_T" }
body = '{"user":"me","password":"canary-7f3a-body"}'
reply = { contains = "welcome" }

[workload.requests.headers]
Authorization = { env = "PLIMSOLL_TEST_TOKEN", prefix = "Bearer " }
X-File = { file = "token.txt" }
X-Api-Key = "canary-7f3a-literal"
X-Own = { value = "canary-7f3a-own", disclose = false }
Cookie = { value = "lang=en", disclose = true }
Accept = "text/html"

[protocol]
http = "1.1"
connection = "per-request"
time-limit = "5 s"

[load]
users = "2"

[phases]
steady = "1 s"

[quick]
users = "1"
steady = "1 s"
"##;

/// Starts a server; returns its URL and the requests it received. It answers the first `n_good` requests with 200, later
/// ones with `status`, and echoes the request line.
fn listening(n_good: usize, status: &'static str, body: &'static str) -> (String, Arc<Mutex<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let received_requests = Arc::new(Mutex::new(String::new()));
    let record = Arc::clone(&received_requests);
    std::thread::spawn(move || {
        for (n, stream) in listener.incoming().enumerate() {
            let status = if n < n_good { "200 OK" } else { status };
            let mut stream = stream.unwrap();
            let mut received = Vec::new();
            let mut piece = [0; 65_536];
            while !is_whole(&received) {
                match stream.read(&mut piece) {
                    Ok(n @ 1..) => received.extend_from_slice(&piece[..n]),
                    _ => break,
                }
            }
            let received = String::from_utf8_lossy(&received).into_owned();
            let echo = received.lines().next().unwrap_or_default().to_owned();
            let answer = format!(
                "HTTP/1.1 {status}\r\nX-Echo: {echo}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
                body.len()
            );
            let _ = stream.write_all(answer.as_bytes());
            *record.lock().unwrap() += &received;
        }
    });
    (url, received_requests)
}

fn is_whole(received: &[u8]) -> bool {
    let text = String::from_utf8_lossy(received);
    let Some((head, body)) = text.split_once("\r\n\r\n") else { return false };
    let length =
        head.lines().find_map(|line| line.to_lowercase().strip_prefix("content-length: ")?.parse().ok());
    length.unwrap_or(0) <= body.len()
}

fn fixture() -> Fixture {
    let fixture = Fixture::new();
    fixture.write("mine.toml", DEFINITION);
    fixture.write("token.txt", "canary-7f3a-file\n");
    fixture
}

/// Returns a command line that sets the environment variables and runs the binary.
fn with_variables(arguments: &str) -> String {
    format!("PLIMSOLL_TEST_TOKEN=canary-7f3a-env PLIMSOLL_TEST_T=canary-7f3a-t $plimsoll {arguments}")
}

/// Checks that something has no value that must not be in it.
#[track_caller]
pub(crate) fn is_clean(what: &str, bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    if let Some(at) = text.find(CANARY) {
        let start = text[..at].char_indices().rev().nth(80).map_or(0, |(at, _)| at);
        panic!("{what}: …{}…", &text[start..(at + 40).min(text.len())]);
    }
}

/// Checks every file that a run writes, but for the test's `own`, and every format in which it can be shown.
#[track_caller]
pub(crate) fn all_is_clean(fixture: &Fixture, run: &str, own: &[&str]) {
    for format in ["html", "markdown", "csv", "json", "text"] {
        let report = fixture.run(&["report", run, "--format", format, "--out", "-"]).expect(0);
        is_clean(format, report.stdout.as_bytes());
    }
    for format in ["ndjson", "hlog", "csv", "junit"] {
        is_clean(format, fixture.run(&["export", run, "--format", format]).expect(0).stdout.as_bytes());
    }
    for arguments in [&["runs", "."][..], &["audit", run], &["audit", run, "--json"]] {
        let ended = fixture.run(arguments);
        is_clean(arguments[0], (ended.stdout + &ended.stderr).as_bytes());
    }
    let mut n = 0;
    for entry in std::fs::read_dir(fixture.path("")).unwrap() {
        let path = entry.unwrap().path();
        let is_ours = path.file_name().is_some_and(|name| !own.iter().any(|own| name == *own));
        if is_ours && path.is_file() {
            is_clean(&path.display().to_string(), &std::fs::read(&path).unwrap());
            n += 1;
        }
    }
    assert!(2 <= n, "run file and report at least");
}

#[test]
fn secrets_reach_the_server_and_nothing_else() {
    let fixture = fixture();
    let (target, received_requests) = listening(0, "200 OK", "welcome");
    let (collector, pushed) = listening(0, "200 OK", "{}");
    for arguments in ["show ./mine.toml", "show ./mine.toml --json"] {
        let ended = fixture.shell(&with_variables(arguments)).expect(0);
        is_clean(arguments, (ended.stdout + &ended.stderr).as_bytes());
    }
    let common = format!(
        "run ./mine.toml --target {target} --settle 0 --otlp '{collector}/v1?token=canary-7f3a-otlp'"
    );
    for dry in ["--dry-run", "--dry-run --json"] {
        let ended = fixture.shell(&with_variables(&format!("{common} {dry}"))).expect(0);
        is_clean(dry, (ended.stdout + &ended.stderr).as_bytes());
    }
    let ended =
        fixture.shell(&with_variables(&format!("{common} --out run.plim --json --junit j.xml --plain")));
    ended.assert_run();
    is_clean("the run", (ended.stdout + &ended.stderr).as_bytes());
    let received_requests = received_requests.lock().unwrap().clone();
    for expected in [
        "POST /page?api_key=canary-7f3a-path&t=canary-7f3a-t HTTP/1.1\r\n",
        "\r\nAuthorization: Bearer canary-7f3a-env\r\n",
        "\r\nX-File: canary-7f3a-file\r\n",
        "\r\nX-Api-Key: canary-7f3a-literal\r\n",
        "\r\nX-Own: canary-7f3a-own\r\n",
        "\r\nCookie: lang=en\r\n",
        "\r\n\r\n{\"user\":\"me\",\"password\":\"canary-7f3a-body\"}",
    ] {
        assert!(
            received_requests.contains(expected),
            "{expected}: {}",
            received_requests.lines().take(20).collect::<Vec<_>>().join("\n")
        );
    }
    let pushed = pushed.lock().unwrap().clone();
    let (_, bodies) = pushed.split_once("\r\n\r\n").expect("metrics were pushed");
    is_clean("metrics", bodies.replace("canary-7f3a-otlp", "").as_bytes());
    all_is_clean(&fixture, "run.plim", &OWN);
    let report = fixture.report(&fixture.path("run.plim"));
    let request = &report["plan"]["workload"]["web"]["requests"][0];
    assert_eq!(request["path"], "/page?api_key=[redacted]&t={t}");
    assert!(request["headers"].as_array().unwrap().iter().any(|pair| pair[1] == "lang=en"), "{request}");
    assert_eq!(request["secrets"][0]["source"]["env"], "PLIMSOLL_TEST_T");
    let command = report["provenance"]["command"].to_string();
    assert!(command.contains("token=[redacted]"), "{command}");
}

/// Examples of failures, and messages of the check before load, name the request.
#[test]
fn error_messages_contain_no_secrets() {
    let fixture = fixture();
    let (target, _) = listening(0, "500 Broken", "welcome");
    let run = format!("run ./mine.toml --target {target} --settle 0 --out run.plim --plain");
    let ended = fixture.shell(&with_variables(&run)).expect(4);
    is_clean("the check", (ended.stdout.clone() + &ended.stderr).as_bytes());
    let example = "POST /page?api_key=[redacted]&t=[redacted]: status 500, expected 200";
    ended.expect_stderr(example);
    // The check before load sees one good reply.
    let (target, _) = listening(1, "500 Broken", "welcome");
    let run = format!("run ./mine.toml --target {target} --settle 0 --out run.plim --plain");
    let ended = fixture.shell(&with_variables(&run)).expect(3);
    is_clean("the run", (ended.stdout.clone() + &ended.stderr).as_bytes());
    ended.expect_stderr(example);
    all_is_clean(&fixture, "run.plim", &OWN);
}

#[test]
fn a_secret_without_a_value_is_reported_with_its_key_and_position_before_the_run() {
    let fixture = fixture();
    std::fs::remove_file(fixture.path("token.txt")).unwrap();
    let (target, received_requests) = listening(0, "200 OK", "welcome");
    let line = format!("PLIMSOLL_TEST_T='a b' $plimsoll run ./mine.toml --target {target} --out run.plim");
    let ended = fixture.shell(&line).expect(2);
    insta::assert_snapshot!(ended.stderr, @r#"
    error: `parameters.t` of request `page` has no value
      --> ./mine.toml:14:12
       |
    14 | parameters.t = { env = "PLIMSOLL_TEST_T" }
       |            ^ the environment variable `PLIMSOLL_TEST_T` cannot be used: it has characters that are not allowed in a path
       |
       = hint: set it for the run: `PLIMSOLL_TEST_T=… plimsoll run …`

    error: `headers.Authorization` of request `page` has no value
      --> ./mine.toml:19:17
       |
    19 | Authorization = { env = "PLIMSOLL_TEST_TOKEN", prefix = "Bearer " }
       |                 ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ the environment variable `PLIMSOLL_TEST_TOKEN` is not set
       |
       = hint: set it for the run: `PLIMSOLL_TEST_TOKEN=… plimsoll run …`

    error: `headers.X-File` of request `page` has no value
      --> ./mine.toml:20:10
       |
    20 | X-File = { file = "token.txt" }
       |          ^^^^^^^^^^^^^^^^^^^^^^ the file `token.txt` cannot be read: No such file or directory (os error 2)
       |
       = hint: the value is read from `./token.txt` when the run begins
    "#);
    assert_eq!(*received_requests.lock().unwrap(), "");
    assert!(!fixture.path("run.plim").exists());
    fixture.run(&["show", "./mine.toml"]).expect(0);
}
