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
    for text in
        ["divisor of pauses", "copies that were accepted are in the mailboxes", "not a NotesBench result"]
    {
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
