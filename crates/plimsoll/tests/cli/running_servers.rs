//! Two servers at once: running servers are loaded in turns and compared.

use std::net::TcpListener;

use crate::support::{Fixture, Pages, RunningCommand};

fn server(fixture: &Fixture, share: &str) -> (RunningCommand, String) {
    let (server, address) =
        fixture.serve(&["one-object", "--listen", "127.0.0.1:0", "--cpu-allowance", share]);
    (server, format!("http://{address}/one.html"))
}

/// Returns the labels of turns in the order in which they ended, `A #1`.
fn turns(stderr: &str) -> Vec<&str> {
    let lines = stderr.lines().filter(|line| line.contains(" errors "));
    lines.map(|line| line.rsplit("   ").next().unwrap().trim()).collect()
}

/// Goal: the whole way from two URLs to the answer, which `compare` repeats from the files.
#[test]
fn two_urls_are_loaded_in_turns_and_the_answer_comes_first() {
    let fixture = Fixture::new();
    let (_a, a) = server(&fixture, "0.3");
    let (_b, b) = server(&fixture, "0.05");
    let short = ["--repeat", "3", "--duration", "1", "--ramp-up", "0", "--settle", "0", "-c", "2"];
    let words = ["run", "--compare", &a, &b, "--out", "turns", "--fail-if", "rate<-40%", "--junit", "j.xml"];
    let ended = fixture.run(&[&words[..], &short].concat());
    assert_eq!(turns(&ended.stderr), ["A #1", "B #1", "B #2", "A #2", "A #3", "B #3"], "{}", ended.stderr);
    let answer = ended.stdout.trim_start().lines().next().unwrap().to_owned();
    // A busy machine makes turns invalid, and then there is no answer.
    if answer.starts_with("No answer") {
        assert_eq!(ended.code, Some(3), "{}", ended.stdout);
        return;
    }
    assert!(answer.starts_with(&format!("B ({b}) is ")) && answer.contains(" slower than A ("), "{answer}");
    let ended =
        ended.expect(5).expect_stdout("rate<-40% is exceeded by B").expect_stdout("How sure: 3 turns");
    assert!(ended.stdout.ends_with("turns\n"), "{}", ended.stdout);
    let again = fixture.run(&["compare", "turns", "--json"]).expect(0).json();
    assert_eq!((&again["answers"][0]["answer"], &again["answers"][0]["side"]), (&"slower".into(), &1.into()));
    for file in ["A--1", "B--3"] {
        fixture.run(&["audit", &format!("turns/{file}.plim")]).expect(0);
    }
    let html = std::fs::read_to_string(fixture.path("turns/comparison.html")).unwrap();
    let place = |text: &str| html.find(text).unwrap_or_else(|| panic!("{text}"));
    assert!(place("slower than A") < place("How sure") && place("How sure") < place("Results by load"));
    assert!(std::fs::read_to_string(fixture.path("j.xml")).unwrap().contains("rate&lt;-40%"));
}

/// Two targets of a benchmark, with labels of the user's.
#[test]
fn two_targets_of_a_benchmark_take_turns() {
    let fixture = Fixture::new();
    let [(_a, a), (_b, b)] = ["0.3", "0.3"].map(|share| server(&fixture, share));
    let [a, b] = [a, b].map(|url| url.replace("one.html", ""));
    let words = ["run", "one-object", "--target", &a, "--target", &b, "--label", "old", "--label", "new"];
    let short = ["--load", "1", "--duration", "1", "--settle", "0", "--repeat", "1", "--out", "turns"];
    let ended = fixture.run(&[&words[..], &short].concat());
    assert_eq!(turns(&ended.stderr), ["old", "new"], "{}", ended.stderr);
    for label in ["old", "new"] {
        let report = fixture.report(&fixture.path(&format!("turns/{label}.plim")));
        assert_eq!(report["plan"]["sut"]["label"], label);
    }
}

/// Goal: what cannot be compared is refused before anything is loaded, with its reason and its remedy.
#[test]
fn servers_that_cannot_be_compared_are_refused() {
    let fixture = Fixture::new();
    let (_a, a) = server(&fixture, "0.3");
    let (_b, b) = server(&fixture, "0.3");
    let local = a.replace("127.0.0.1", "localhost");
    let unused = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let silent = format!("http://{unused}/one.html");
    let many: Vec<String> = (1..10).map(|port| format!("http://127.0.0.1:{port}/")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let one = |url| vec!["--compare", url];
    let both = |more: &[&'static str]| [&["--compare", a.as_str(), b.as_str()], more].concat();
    let targets = |other| vec!["one-object", "--target", "http://127.0.0.1:1/", "--target", other];
    let cases: Vec<(Vec<&str>, i32, &str)> = vec![
        (one(&a), 2, "error: `--compare` needs two servers\nhint: `plimsoll run --compare URL_A URL_B`"),
        (vec!["one-object", "--compare"], 2, "`--compare` needs two servers"),
        (vec!["--compare", &a, &a], 2, "is given twice"),
        (vec!["--compare", &a, &local], 2, "are one server, at 127.0.0.1:"),
        (vec!["--compare", &a, &silent], 4, silent.trim_end_matches("/one.html")),
        ([&["--compare"], many.as_slice()].concat(), 2, "expected at most 8 servers to compare, found 9"),
        (
            both(&["--find-max", "--max-load", "9"]),
            2,
            "`--find-max` cannot be used with servers that are compared",
        ),
        (
            both(&["-n", "1000"]),
            2,
            "`-n` cannot be used with servers that are compared\nhint: load each by itself",
        ),
        (both(&["--repeat", "1", "-n", "1000"]), 2, "`-n` cannot be used with servers that are compared"),
        (
            [targets("http://127.0.0.1:2/"), vec!["--load", "1", "-n", "100"]].concat(),
            2,
            "`-n` cannot be used with servers that are compared",
        ),
        (both(&["--agents", "local=2"]), 2, "`--agents` cannot be used with servers that are compared"),
        (both(&["--sut", "nginx"]), 2, "`--sut` cannot be used with `--compare`"),
        (both(&["-H", "Host: shop"]), 2, "`-H Host` cannot be used with `--compare`"),
        (both(&["-X", "POST", "-d", "@-"]), 2, "`-d @-` cannot be used with `--compare`"),
        (both(&["--label", "old"]), 2, "`--label` is given 1 times for 2 servers"),
        (both(&["--label", "x", "--label", "x"]), 2, "two servers have the label `x`"),
        (both(&["--save-definition", "x.toml"]), 2, "`--save-definition` cannot be used with `--compare`"),
        (targets("http://127.0.0.1:1/"), 2, "`--target http://127.0.0.1:1/` is given twice"),
        (targets("http://localhost:1/"), 2, "are one server, at 127.0.0.1:1"),
        (targets("app://127.0.0.1:1"), 2, "is a server of the family"),
        (
            targets("http://127.0.0.1:2/"),
            4,
            "A (http://127.0.0.1:1/) does not answer: no connection to 127.0.0.1:1",
        ),
        (vec![&a, "--fail-if", "rate<-5%"], 2, "but this run has one server"),
    ];
    for (words, code, expected) in cases {
        let ended = fixture.run(&[&["run"], words.as_slice()].concat());
        assert!(ended.code == Some(code) && ended.stderr.contains(expected), "{words:?}: {}", ended.stderr);
    }
}

/// Pages of one server share it, unlike replies are told, and the length is known beforehand: all without any load.
#[test]
fn what_is_compared_and_for_how_long_is_said_beforehand() {
    let fixture = Fixture::new();
    let (_a, a) = server(&fixture, "0.3");
    let pages = Pages::start();
    let ended = fixture.run(&["run", "--compare", &a, &pages.url, "--dry-run"]).expect(0);
    let ended = ended.expect_stderr("are unlike pages: replies of 1.0 KiB and of ");
    let ended = ended
        .expect_stdout("2 running servers, compared")
        .expect_stdout(
            "8 of each at each load point, A B – B A – …; up to 24 until the ratio is known within 1.8 %; then a difference of \
             5.6 % is found in 19 of 20 comparisons",
        )
        .expect_stdout(
            "total time    1 min 20 s to 4 min 00 s of load: 1 load point for each of 2 servers, 8 to 24 times",
        );
    let dry = ["run", "--compare", &a, &pages.url, "--dry-run", "--json"];
    let lengths = fixture.run(&dry).expect(0).json();
    assert_eq!((&lengths["load_least_s"], &lengths["load_s"]), (&80.0.into(), &240.0.into()));
    let fixed = fixture.run(&["run", "--compare", &a, &pages.url, "--repeat", "8", "--dry-run"]).expect(0);
    fixed
        .expect_stdout("…; a difference of 4.6 % is found in 19 of 20 comparisons if turns scatter by 1.0 %")
        .expect_stdout("total time    1 min 20 s of load: 1 load point for each of 2 servers, 8 times");
    assert!(!ended.stderr.contains("both at"), "{}", ended.stderr);
    let time = format!("{}time", pages.url);
    let ended = fixture.run(&["run", "--compare", &pages.url, &time, "--dry-run"]).expect(0);
    ended
        .expect_stderr("Their replies need different checks; only the status is checked of all.")
        .expect_stderr("if one server answers for both, it has its caches and its CPUs for both");
}
