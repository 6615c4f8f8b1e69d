//! The mail benchmark with the built-in server, and with targets that cannot be.

use crate::support::Fixture;

/// The weights of operations that have another than 1.
const WEIGHTS: [(&str, f64); 5] =
    [("open mailbox", 3.0), ("send memo", 6.0), ("make appointment", 2.0), ("invite", 2.0), ("respond", 2.0)];

/// Goal: with nothing installed, a run fills mailboxes, loads the server, and finds every message that was accepted.
#[test]
fn a_run_works_from_nothing_and_finds_what_was_sent() {
    let fixture = Fixture::new();
    let short = ["--quick", "--load", "100", "--duration", "5", "--monitor", "off", "--out", "run.plim"];
    let ended = fixture.run(&[&["run", "notes-mail"][..], &short].concat()).expect_run();
    assert!(ended.stdout.contains("weighted operations per minute"), "{}", ended.stdout);
    fixture.run(&["audit", "run.plim"]).expect(0).expect_stdout("no differences found");

    let report = fixture.report(&fixture.path("run.plim"));
    let point = &report["load_points"][0];
    assert_eq!(point["total"]["errors"], 0);
    // The score from what is printed: Σ weight · n ÷ 5 s, per minute.
    let weighted = point["kinds"].as_array().unwrap().iter().map(|kind| {
        let name = kind["name"].as_str().unwrap();
        let weight = WEIGHTS.iter().find(|(known, _)| *known == name).map_or(1.0, |(_, weight)| *weight);
        weight * kind["response"]["n"].as_f64().unwrap()
    });
    let expected = weighted.sum::<f64>() * 60.0 / 5.0;
    let score = point["score"].as_f64().unwrap();
    assert!((score / expected - 1.0).abs() < 1e-6, "{score} and {expected}");

    let html = std::fs::read_to_string(fixture.path("run.html")).unwrap();
    for text in [
        "divisor of pauses",
        "copies that were accepted are in the mailboxes",
        "not a NotesBench result",
        "as their script says",
    ] {
        assert!(html.contains(text), "{text}");
    }
    for of_others in ["HTTP", "web server", "database", "warehouse", "transaction"] {
        assert!(!html.contains(of_others), "`{of_others}` in the report of a mail benchmark");
    }
}

#[test]
fn targets_with_mistakes_are_refused() {
    let fixture = Fixture::new();
    std::fs::write(fixture.path("users.txt"), "anna@x.test:secret\nAnna@x.test:other\n").unwrap();
    let refused = |target: &str| {
        let ended = fixture.run(&["run", "notes-mail", "--dry-run", "--target", target]).expect(2);
        assert!(!ended.stderr.contains("secret"), "{}", ended.stderr);
        ended.stderr
    };
    for (target, expected) in [
        ("imap://127.0.0.1:1", "expected `imap://HOST:PORT?submission=PORT&accounts=FILE`"),
        ("imap://127.0.0.1:1?accounts=users.txt", "`users.txt`: the name `Anna` is there twice"),
        ("imap://127.0.0.1:1?accounts=none.txt", "none.txt"),
        ("orders://127.0.0.1:1", "is a server of the family order-entry"),
    ] {
        let text = refused(target);
        assert!(text.contains(expected), "{target}: {text}");
    }
}

/// The parts of an own definition: STARTTLS and few users.
const OWN: &str = r#"
format = 1
id = "own-mail"
version = 1
title = "Own mail"
summary = "Users of our own."
family = "mail"
headline = "weighted-rate"
[workload]
[protocol]
tls = "TLS"
[load]
users = "3"
[phases]
steady = "10 s"
"#;

/// Goal: passwords of users go in clear only where the user says so, in the definition or in the run.
#[test]
fn encryption_that_the_target_leaves_open_is_that_of_the_definition() {
    let fixture = Fixture::new();
    fixture.write("users.txt", "anna@x.test:a\nbo@x.test:b\ncora@x.test:c\n");
    let run = |tls: &str, scheme: &str, more: &[&str]| {
        fixture.write("own.toml", &OWN.replace("TLS", tls));
        let target = format!("{scheme}://127.0.0.1:1?accounts=users.txt");
        fixture.run(&[&["run", "own.toml", "--dry-run", "--target", &target][..], more].concat())
    };
    let security = |tls: &str, scheme: &str, more: &[&str]| {
        let value = run(tls, scheme, &[&["--json"][..], more].concat()).expect(0).json();
        value["plan"]["workload"]["mail"]["security"].as_str().unwrap().to_owned()
    };
    assert_eq!(security("starttls", "imap", &[]), "starttls");
    assert_eq!(security("off", "imap", &[]), "off");
    assert_eq!(security("off", "imaps", &[]), "on");
    assert_eq!(security("on", "imaps", &[]), "on");
    assert_eq!(security("starttls", "imap", &["--set", "tls=off"]), "off");
    assert_eq!(security("off", "imap", &["--set", "tls=starttls"]), "starttls");
    run("on", "imap", &[]).expect(2).expect_stderr(
        "`tls = \"on\"` in `[protocol]` of the benchmark `own-mail` is TLS from the first byte",
    );
    run("off", "imap", &["--set", "tls=on"]).expect(2).expect_stderr("which contradicts `tls=on`");
}

/// Goal: before anything is filled, each user of the plan has an account.
#[test]
fn too_few_accounts_are_refused_before_the_run() {
    let fixture = Fixture::new();
    fixture.write("users.txt", "anna@x.test:a\nbo@x.test:b\n");
    fixture.write("own.toml", &OWN.replace("TLS", "off"));
    let run = |load: &str| {
        let target = ["--target", "imap://127.0.0.1:1?accounts=users.txt", "--load", load];
        fixture.run(&[&["run", "own.toml", "--dry-run"][..], &target].concat())
    };
    run("2").expect(0);
    run("2,3")
        .expect(2)
        .expect_stderr("`users.txt` has 2 accounts, and the plan has 3 users")
        .expect_stderr("hint: add accounts, or use fewer users: `--load 2`");
}
