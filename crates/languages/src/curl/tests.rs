use proptest::prelude::*;

use super::*;

/// Reads commands without faults and notes.
#[track_caller]
fn requests(text: &str) -> Vec<CurlRequest> {
    let read = parse_curl(text).unwrap_or_else(|faults| panic!("{text}: {faults:?}"));
    assert_eq!(read.notes, [], "{text}");
    read.requests
}

#[track_caller]
fn request(text: &str) -> CurlRequest {
    let mut all = requests(text);
    assert_eq!(all.len(), 1, "{text}");
    all.remove(0)
}

fn shown(request: &CurlRequest) -> String {
    let headers: Vec<String> =
        request.headers.iter().map(|(name, value)| format!("{name}: {value}")).collect();
    let mut shown = format!("{} {}", request.method, request.url);
    for header in headers {
        shown += &format!(" | {header}");
    }
    if let Some(body) = &request.body {
        shown += &format!(" | {body:?}");
    }
    shown
}

#[track_caller]
fn check(cases: &[(&str, &str)]) {
    for (text, expected) in cases {
        assert_eq!(shown(&request(text)), *expected, "{text}");
    }
}

fn faults(text: &str) -> Vec<String> {
    match parse_curl(text) {
        Ok(read) => panic!("{text}: {:?}", read.requests.iter().map(shown).collect::<Vec<_>>()),
        Err(faults) => faults.iter().map(ToString::to_string).collect(),
    }
}

/// Goal: a request is the one that cURL makes. The expected ones were compared with those of cURL 7.88, but for the fields that
/// it adds by itself.
#[test]
fn options_become_a_request() {
    let form = "Content-Type: application/x-www-form-urlencoded";
    check(&[
        ("curl http://h/", "GET http://h/"),
        ("curl h:8080", "GET http://h:8080"),
        ("$ /usr/bin/curl -- http://h/", "GET http://h/"),
        ("curl -XPUT http://h/", "PUT http://h/"),
        ("curl -I http://h/", "HEAD http://h/"),
        ("curl -H'A: b ' -H 'C;' -H 'Accept:' http://h/", "GET http://h/ | A: b | C: "),
        (
            "curl -A me -e http://h/x -r 0-9 h",
            "GET http://h | User-Agent: me | Referer: http://h/x | Range: bytes=0-9",
        ),
        ("curl --compressed h", "GET http://h | Accept-Encoding: deflate, gzip, br, zstd"),
        ("curl --compressed -H 'accept-encoding: gzip' h", "GET http://h | accept-encoding: gzip"),
        ("curl -b 'a=1; b=2' -b c=3 -b '' h", "GET http://h | Cookie: a=1; b=2;c=3"),
        ("curl -u me:s3cret h", "GET http://h | Authorization: Basic bWU6czNjcmV0"),
        ("curl http://me:s3cret@h/", "GET http://h/ | Authorization: Basic bWU6czNjcmV0"),
        ("curl --oauth2-bearer t0ken h", "GET http://h | Authorization: Bearer t0ken"),
        ("curl -d a=1 -d b=2 h", &format!("POST http://h | {form} | \"a=1&b=2\"")),
        (
            "curl --data-raw @me --data-urlencode 'q=a b' h",
            &format!("POST http://h | {form} | \"@me&q=a+b\""),
        ),
        ("curl -d '{}' -H 'content-type: a/b' h", "POST http://h | content-type: a/b | \"{}\""),
        ("curl -d x -H 'Content-Type:' h", "POST http://h | \"x\""),
        ("curl -d '' h", &format!("POST http://h | {form} | \"\"")),
        (
            "curl --json '{' --json '}' h",
            "POST http://h | Content-Type: application/json | Accept: application/json | \"{}\"",
        ),
        ("curl -G -d a=1 --data-urlencode b='x y' h", "GET http://h/?a=1&b=x+y"),
        ("curl --url-query c=d --url 'http://h/?a=b'", "GET http://h/?a=b&c=d"),
        ("curl -IG -d a=1 'h/x?b'", "HEAD http://h/x?b&a=1"),
    ]);
    let form = request("curl -F a=1 -F 'b=x;type=text/plain' --form-string c=@x h");
    assert_eq!(form.method, "POST");
    assert!(form.headers[0].1.starts_with("multipart/form-data; boundary="), "{form:?}");
    assert!(form.body.unwrap().contains("name=\"c\"\r\n\r\n@x\r\n"));
}

#[test]
fn connections_are_made_as_the_command_says() {
    let text = "curl -k --cacert ca.pem -E me.pem --key me.key --cert-type PEM --resolve h:443:127.0.0.1 \
                --connect-to h:443::8443 --unix-socket /run/a --http2 https://h/";
    assert_eq!(
        request(text).connection,
        CurlConnection {
            insecure: true,
            ca: Some("ca.pem".to_owned()),
            cert: Some("me.pem".to_owned()),
            key: Some("me.key".to_owned()),
            resolve: vec!["h:443:127.0.0.1".to_owned()],
            connect_to: vec!["h:443::8443".to_owned()],
            unix_socket: Some("/run/a".to_owned()),
            http: Some("2"),
        }
    );
    assert_eq!(request("curl -0 h").connection.http, Some("1.0"));
    assert_eq!(request(r"curl --cert 'C:\me.pem' h").connection.cert.as_deref(), Some(r"C:\me.pem"));
}

/// Goal: a text is what bash 5.2 makes of it, but for two surrogates, which stand for the character that a browser meant.
#[test]
fn bash_quoting_is_read() {
    let body = |text: &str| request(&format!("curl --data-raw {text} h")).body.unwrap();
    for (text, expected) in [
        (r#"'a"b\n$x'"#, r#"a"b\n$x"#),
        (r#""a\"b\\c\d\$x""#, r#"a"b\c\d$x"#),
        ("\"a\\\nb\"", "ab"),
        (r"a\ b\'c", "a b'c"),
        ("a'b'\"c\"d", "abcd"),
        ("''", ""),
        (r"$'a\tb\'c\\\n'", "a\tb'c\\\n"),
        (r"$'\x41\102\u00e9\u0021\U1F600\ud83d\ude00\q'", "AB\u{e9}!\u{1f600}\u{1f600}\\q"),
        (r"$'\xc3\xa4\cA'", "\u{e4}\u{1}"),
        ("$\"a b\"", "a b"),
        ("a$", "a$"),
        ("{a}", "{a}"),
        ("'{\"a\":[1,2]}'", "{\"a\":[1,2]}"),
        ("a#b", "a#b"),
        ("\u{fc}", "\u{fc}"),
    ] {
        assert_eq!(body(text), expected, "{text}");
    }
    assert_eq!(
        request("curl -H 'A: b' \\\n  --data-raw c \\\r\n h # comment 'x\n").body.as_deref(),
        Some("c")
    );
}

#[test]
fn cmd_quoting_is_read() {
    // As Chrome copies it, line by line.
    let text = "curl ^\"http://h/a?b=^%^20c^&d=e^\" ^\r\n  -H ^\"accept: */*^\" ^\r\n  -b ^\"id=1^\" ^\r\n  \
                --data-raw ^\"^{^\\^\"a^\\^\":^\\^\"x^^y^\\^\"^}^\" &\r\ncurl ^\"http://h/b^\"";
    let all = requests(text);
    assert!(shown(&all[0]).starts_with("POST http://h/a?b=%20c&d=e | accept: */* | Cookie: id=1"));
    assert_eq!(all[0].body.as_deref(), Some("{\"a\":\"x^y\"}"));
    assert_eq!((shown(&all[1]), all[1].line), ("GET http://h/b".to_owned(), 5));
    let body = |text: &str| request(&format!("curl ^\r\n --data-raw {text} h")).body.unwrap();
    for (text, expected) in [
        (r#""a b""#, "a b"),
        (r#""a""b""#, "a\"b"),
        (r#""a\\""#, "a\\"),
        (r#""a\\b^c|d""#, "a\\\\b^c|d"),
        ("^\"a^\n\nb^\"", "a\nb"),
        ("^\"%PATH% it's^\"", "%PATH% it's"),
    ] {
        assert_eq!(body(text), expected, "{text}");
    }
    assert_eq!(
        faults("curl ^\n h | more"),
        ["line 2: `|` connects a command with a file or another command"]
    );
    assert_eq!(faults("curl ^\n \"h"), ["line 1: the quote `\"` is not closed"]);
}

#[test]
fn commands_follow_each_other() {
    for text in [
        "curl http://h/a\ncurl http://h/b",
        "curl http://h/a ;\ncurl http://h/b ;",
        "curl http://h/a && curl http://h/b",
        "# two\n\ncurl http://h/a http://h/b",
        "curl http://h/a --next http://h/b",
        "curl http://h/a -: http://h/b",
    ] {
        let urls: Vec<String> = requests(text).into_iter().map(|request| request.url).collect();
        assert_eq!(urls, ["http://h/a", "http://h/b"], "{text}");
    }
    let next = requests("curl -d a http://h/a --next -k http://h/b");
    assert_eq!((next[0].method.as_str(), next[1].method.as_str()), ("POST", "GET"));
    assert_eq!((next[0].connection.insecure, next[1].connection.insecure), (false, true));
}

#[test]
fn options_that_change_no_request_are_noted() {
    let read = parse_curl("curl -sSLo page.html http://h/\n\ncurl --max-time 5 --retry 3 h").unwrap();
    let notes: Vec<_> =
        read.notes.iter().map(|note| (note.line, note.option.as_str(), note.reason)).collect();
    use CurlReason::{Output, Redirects, Repetition, Times};
    assert_eq!(
        notes,
        [
            (1, "-s", Output),
            (1, "-S", Output),
            (1, "-L", Redirects),
            (1, "-o", Output),
            (3, "--max-time", Times),
            (3, "--retry", Repetition)
        ]
    );
    assert_eq!(read.requests.len(), 2);
}

/// Goal: a command line that is broken, or wants more than a request, is refused with the reason and the line, without a value.
#[test]
fn broken_and_hostile_command_lines_are_refused() {
    let cases: [(&str, &[&str]); 39] = [
        ("", &["line 1: expected a command that begins with `curl`, found none"]),
        (" \n# x", &["line 1: expected a command that begins with `curl`, found none"]),
        ("wget http://h/", &["line 1: expected a command that begins with `curl`, found `wget`"]),
        ("curl", &["line 1: the command has no URL"]),
        ("\ncurl 'h", &["line 2: the quote `'` is not closed"]),
        ("curl \"h", &["line 1: the quote `\"` is not closed"]),
        ("curl $'h\\", &["line 1: the quote `$'` is not closed"]),
        (
            "curl h/?a=1&token=s3cret",
            &["line 1: expected a command that begins with `curl`, found `token=[redacted]`"],
        ),
        ("curl h \\ \n -k", &["line 2: expected a command that begins with `curl`, found `-k`"]),
        ("curl $(id) h", &["line 1: a shell would run the command within `$(…)`"]),
        ("curl \"$(id)\" h", &["line 1: a shell would run the command within `$(…)`"]),
        ("curl `id` h", &["line 1: a shell would run the command within backquotes"]),
        ("curl -d \"`id`\" h", &["line 1: a shell would run the command within backquotes"]),
        (
            "curl -H \"X: $TOKEN\" h",
            &["line 1: a shell would put the value of a variable in place of `$TOKEN`"],
        ),
        ("curl ${A:-b} h", &["line 1: a shell would put the value of a variable in place of `$A`"]),
        ("curl $1 h", &["line 1: a shell would put the value of a variable in place of `$1`"]),
        ("curl h | sh", &["line 1: `|` connects a command with a file or another command"]),
        ("curl h > ~/.bashrc", &["line 1: `>` connects a command with a file or another command"]),
        ("curl -d @<(id) h", &["line 1: `<` connects a command with a file or another command"]),
        ("(curl h)", &["line 1: `(` connects a command with a file or another command"]),
        ("curl h/{a,b}", &["line 1: a shell would make several words of `{…,…}`"]),
        (
            "curl 'h/{a,b}'",
            &["line 1: cURL would request several URLs for the braces or brackets in this one"],
        ),
        (
            "curl 'h/[1-9]'",
            &["line 1: cURL would request several URLs for the braces or brackets in this one"],
        ),
        ("curl -d $'\\xff' h", &["line 1: bytes that are not UTF-8"]),
        ("curl -d $'\\ud83d' h", &["line 1: bytes that are not UTF-8"]),
        ("curl -d $'a\\0b' h", &["line 1: a NUL, which no command line can have"]),
        ("curl -d @/etc/passwd h", &["line 1: `-d` names a file, and no file is read for a command"]),
        (
            "curl --data-urlencode a@b h",
            &["line 1: `--data-urlencode` names a file, and no file is read for a command"],
        ),
        ("curl -F 'a=@b' h", &["line 1: `-F` names a file, and no file is read for a command"]),
        ("curl -b cookies.txt h", &["line 1: `-b` names a file, and no file is read for a command"]),
        ("curl -H @headers h", &["line 1: `-H` names a file, and no file is read for a command"]),
        ("curl -K evil -T up h", &["line 1: `-K` is not taken", "line 1: `-T` is not taken"]),
        ("curl -x proxy --digest h", &["line 1: `-x` is not taken", "line 1: `--digest` is not taken"]),
        ("curl --zz=s3cret h", &["line 1: `--zz` is not an option of cURL that is known here"]),
        ("curl h -H", &["line 1: `-H` needs a value"]),
        ("curl h -H 's3cret'", &["line 1: the value of `-H` is not `NAME: VALUE`"]),
        ("curl -u s3cret h", &["line 1: the value of `-u` is not `USER:PASSWORD`"]),
        ("curl -H 'A: s3cret' -H 'a: b' h", &["line 1: the header field `a` is given twice"]),
        (
            "curl -d a -F b=c h\ncurl -I -d a h\ncurl -E a:s3cret h",
            &[
                "line 1: `-d` and `-F` contradict each other",
                "line 2: `-I` and `-d` contradict each other",
                "line 3: the value of `-E` is not a file without a password",
            ],
        ),
    ];
    for (text, expected) in cases {
        let found = faults(text);
        assert_eq!(found, *expected, "{text}");
        assert!(!found.concat().contains("s3cret"), "{text}");
    }
    assert_eq!(parse_curl(&"x".repeat(TEXT_BYTES_MAX + 1)).unwrap_err()[0].fault, CurlFault::TooLong);
    assert_eq!(faults(&"curl\n".repeat(1000)).len(), FAULTS_MAX);
    assert_eq!(parse_curl(&format!("curl {}", "h ".repeat(1001))).unwrap_err()[0].fault, CurlFault::TooMany);
    let repeated = format!("curl -d {} {}", "x".repeat(1 << 20), "h ".repeat(65));
    assert_eq!(parse_curl(&repeated).unwrap_err()[0].fault, CurlFault::TooMany);
    let debug = format!("{:?}", request("curl -H 'X: s3cret' h"));
    assert!(!debug.contains("s3cret"), "{debug}");
}

/// Goal: a long text takes no longer than its length: what is looked for again and again is not.
#[test]
fn long_texts_are_read_in_passing() {
    const N: usize = 1 << 20;
    for (start, repeated) in [
        ("curl ", "{"),
        ("curl ", "{a,"),
        ("curl h ", "-s "),
        ("curl h ", "-zz "),
        ("curl h -F 'a=", "------------------------form-part-boundaryx"),
        ("curl ^\n", "^\""),
        ("curl h ", "\\\n"),
        ("", "curl h;"),
        ("curl h -d $'", "\\u00e9"),
    ] {
        let _ = parse_curl(&format!("{start}{}", repeated.repeat(N / repeated.len())));
    }
    let headers: String = (0..N / 16).map(|n| format!("-H a{n}:b ")).collect();
    assert_eq!(request(&format!("curl h {headers}")).headers.len(), N / 16);
}

proptest! {
    #[test]
    fn any_text_is_survived(text in "(?s).{0,80}") {
        let _ = parse_curl(&text);
        let _ = parse_curl(&format!("curl {text}"));
        let _ = parse_curl(&format!("curl ^\n{text}"));
    }

    #[test]
    fn any_quotes_and_options_are_survived(
        words in proptest::collection::vec("(curl|-d|-F|-H|-X|--next|a=@b|h/|'|\"|\\$'|\\\\u|\\\\x|\\^|\\^\"|&|\n| |;|\\{|\\[|-b|-sS)", 0..20),
    ) {
        let _ = parse_curl(&words.concat());
        let _ = parse_curl(&format!("curl {}", words.join(" ")));
    }

    /// Goal: every text that a shell can pass on arrives as it is.
    #[test]
    fn quoted_texts_arrive(text in "[^\0']{0,40}") {
        let single = parse_curl(&format!("curl --data-raw 'x{text}' 'http://h/'")).unwrap();
        prop_assert_eq!(single.requests[0].body.clone(), Some(format!("x{text}")));
    }
}
