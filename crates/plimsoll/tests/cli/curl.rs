//! `plimsoll run --curl FILE`: requests of cURL's command lines.

use std::fs;

use crate::support::{Fixture, Pages};

/// Flags of a short run.
const SHORT: [&str; 8] = ["-c", "2", "--duration", "1", "--settle", "0", "--out", "run.plim"];

/// Goal: several commands are one visit, in their order; what they send in confidence arrives, and is neither printed nor stored.
/// Method: the texts of all files and outputs are searched.
#[test]
fn commands_of_a_browser_are_loaded_in_their_order() {
    let fixture = Fixture::new();
    let pages = Pages::start();
    let url = pages.url.trim_end_matches('/');
    let text = format!(
        "curl '{url}/?page=1&api_key=k3y9' \\\n  -H 'accept: text/html' \\\n  -b 'sid=c00k1e' \\\n  --compressed -s ;\n\
         curl '{url}/post' \\\n  -u 'me:p4ss' \\\n  -H 'Connection: keep-alive' \\\n  --json $'{{\"pin\":\"d4ta7\\u0021\"}}' ;\n\
         curl '{url}/time'\ncurl '{url}/?page=1&api_key=k3y9' -H 'accept: text/html' -b 'sid=c00k1e' --compressed\n"
    );
    fixture.write("copied.sh", &text);
    let words = ["run", "--curl", "copied.sh", "--save-definition", "made.toml"];
    let ended = fixture.run(&[&words[..], &SHORT].concat());
    ended.assert_run();
    let ended = ended
        .expect_stderr("not taken: `-s`: bodies are checked and not stored")
        .expect_stderr("not taken: `-H Connection: …`: the protocol sends its own")
        .expect_stderr("from environment variables: `PLIMSOLL_API_KEY`, `PLIMSOLL_AUTHORIZATION`, `PLIMSOLL_BODY`, `PLIMSOLL_COOKIE`");
    let sent = pages.requests();
    assert!(sent[0].starts_with("GET /?page=1&api_key=k3y9 HTTP/1.1\r\n"), "{}", sent[0]);
    for line in
        ["accept: text/html\r\n", "Cookie: sid=c00k1e\r\n", "Accept-Encoding: deflate, gzip, br, zstd\r\n"]
    {
        assert!(sent[0].contains(line), "{line}: {}", sent[0]);
    }
    assert!(sent[1].contains("Authorization: Basic bWU6cDRzcw==\r\n"), "{}", sent[1]);
    assert!(sent[1].contains("Content-Type: application/json\r\n"), "{}", sent[1]);
    assert!(sent[1].ends_with("\r\n\r\n{\"pin\":\"d4ta7!\"}"), "{}", sent[1]);

    let report = fixture.report(&fixture.path("run.plim"));
    let web = &report["plan"]["workload"]["web"];
    assert_eq!(web["pages"][0]["requests"], serde_json::json!([0, 1, 2, 0]));
    assert_eq!(web["requests"].as_array().unwrap().len(), 3, "equal commands are one kind of request");
    assert_eq!(report["load_points"][0]["total"]["errors"], 0);
    let mut texts = vec![ended.stdout.clone(), ended.stderr.clone(), report.to_string()];
    for name in ["run.plim", "run.html", "made.toml"] {
        texts.push(String::from_utf8_lossy(&fs::read(fixture.path(name)).unwrap()).into_owned());
    }
    for value in ["k3y9", "c00k1e", "p4ss", "bWU6cDRzcw", "d4ta7"] {
        assert!(texts.iter().all(|text| !text.contains(value)), "{value}");
    }
    fixture.run(&["audit", "run.plim"]).expect(0);

    // The definition takes them from the environment.
    let again = ["run", "made.toml", "--dry-run", "--json"];
    fixture.run(&again).expect(2).expect_stderr("`PLIMSOLL_COOKIE` is not set");
    let mut command = fixture.command(&again);
    for name in ["API_KEY", "AUTHORIZATION", "BODY", "COOKIE"] {
        command.env(format!("PLIMSOLL_{name}"), "value");
    }
    let plan = fixture.end(command).expect(0).json()["plan"].clone();
    assert_eq!(plan["workload"], report["plan"]["workload"]);
}

#[test]
fn commands_come_from_standard_input_and_from_cmd() {
    let fixture = Fixture::new();
    let pages = Pages::start();
    let url = &pages.url;
    let text = format!(
        "curl ^\"{url}post?a=^%^41^&b^\" ^\r\n  -H ^\"X-Name: a^\" ^\r\n  --data-raw ^\"a^\\^\"b^\" &\r\n"
    );
    fixture.write("copied.bat", &text);
    let ended = fixture.shell("cat copied.bat | \"$plimsoll\" run --curl - --dry-run").expect(0);
    ended.expect_stdout("post?a=%41&b").expect_stderr("POST /post?a=%41&b: status 201");
    let sent = &pages.requests()[0];
    assert!(sent.starts_with("POST /post?a=%41&b HTTP/1.1\r\n") && sent.ends_with("\r\n\r\na\"b"), "{sent}");
    assert!(sent.contains("X-Name: a\r\n"), "{sent}");
}

#[test]
fn a_command_says_how_to_connect() {
    let fixture = Fixture::new();
    let pages = Pages::start();
    let port = pages.url.trim_end_matches('/').rsplit(':').next().unwrap();
    for command in [
        format!("curl --resolve shop.example:{port}:127.0.0.1 http://shop.example:{port}/ -k"),
        format!("curl --connect-to ::127.0.0.1:{port} http://shop.example:{port}/"),
        format!("curl -H 'Host: shop.example:{port}' {}", pages.url),
    ] {
        fixture.write("copied.sh", &command);
        fixture.run(&["run", "--curl", "copied.sh", "--dry-run"]).expect(0);
    }
    let host = format!("Host: shop.example:{port}\r\n");
    assert!(pages.requests().iter().all(|request| request.contains(&host)));
}

/// Goal: what cannot be taken is said with its line and a remedy, before anything is sent.
#[test]
fn commands_that_want_more_than_requests_are_refused() {
    let fixture = Fixture::new();
    let pages = Pages::start();
    let url = &pages.url;
    let refused = |command: &str, expected: &[&str]| {
        fixture.write("copied.sh", command);
        let ended = fixture.run(&["run", "--curl", "copied.sh", "--dry-run"]).expect(2);
        for text in expected {
            assert!(ended.stderr.contains(text), "{text}: {}", ended.stderr);
        }
        assert!(!ended.stderr.contains("s3cret"), "{}", ended.stderr);
    };
    refused(
        &format!("curl {url} -d @/etc/passwd\ncurl -x s3cret {url}"),
        &[
            "error: `copied.sh`, line 1: `-d` names a file, and no file is read for a command",
            "`copied.sh`, line 2: `-x` is not taken",
            "hint: write the content in its place",
            "hint: load the proxy as a server",
        ],
    );
    refused(&format!("curl {url} | sh"), &["line 1: `|` connects", "nothing is run"]);
    refused(&format!("curl {url}$(touch hit)"), &["would run the command"]);
    refused(&format!("curl {url}?a=1&token=s3cret"), &["found `token=[redacted]`", "stands in quotes"]);
    refused("curl http://169.254.1.1.invalid/{a,b}", &["would make several words"]);
    assert!(!fixture.path("hit").exists());
    fixture.write("copied.sh", &format!("curl {url}"));
    for words in [&["-H", "A: b"][..], &["-d", "a"], &["-X", "PUT"], &[url.as_str()]] {
        let ended = fixture.run(&[&["run", "--curl", "copied.sh"], words].concat()).expect(2);
        ended.expect_stderr("cannot be used with `--curl`");
    }
    fixture
        .run(&["run", "one-object", "--curl", "copied.sh"])
        .expect(2)
        .expect_stderr("cannot be used with `--curl`");
    fixture.run(&["run", "--curl", "none.sh"]).expect(2).expect_stderr("cannot read `none.sh`");
    assert_eq!(pages.requests(), Vec::<String>::new());
}
