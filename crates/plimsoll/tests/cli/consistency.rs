//! Reports of real runs: one quantity has one value in one document, whatever benchmark, server and transport.

use testkit::consistency::{contradictions, statements};

use crate::support::Lab;

/// Runs shortly and holds the report against itself. How valid the run is does not matter: a report of an invalid one must
/// not contradict itself either.
#[track_caller]
fn check(arguments: &[&str], quantities: &[&str]) {
    let lab = Lab::new();
    let short = ["--settle", "0", "--duration", "2", "--out", "run.plim"];
    let ended = lab.run(&[&["run"], arguments, &short].concat());
    assert!(matches!(ended.code, Some(0 | 3)), "{ended:?}");
    let report = lab.run(&["report", "run.plim", "--format", "markdown"]).expect(0).stdout;
    assert_eq!(contradictions(&report), [""; 0], "{arguments:?}\n{report}");
    // What is not said twice cannot contradict itself, so the check would be worth nothing.
    let said = statements(&report);
    for quantity in quantities {
        let n = said.iter().filter(|one| one.quantity == *quantity).count();
        assert!(2 <= n, "{quantity} is said {n} times\n{report}");
    }
}

const ALWAYS: [&str; 8] = [
    "rate",
    "mean response time",
    "CPU quota",
    "encrypted",
    "number of files",
    "size of the files",
    "steady phase",
    "valid load points",
];

#[test]
fn a_report_of_the_built_in_server_does_not_contradict_itself() {
    check(&["webstone-2.0.1", "--load", "1,2"], &[&ALWAYS[..], &["connections in TIME-WAIT"]].concat());
}

#[test]
fn a_report_of_nginx_does_not_contradict_itself() {
    check(&["webstone-1.1", "--sut", "nginx", "--sut-quota", "0.4", "--load", "1,2"], &ALWAYS);
}

#[test]
fn a_report_of_an_open_loop_does_not_contradict_itself() {
    check(&["web96", "--rate", "50,100"], &ALWAYS);
}

#[test]
fn a_report_of_encrypted_http2_does_not_contradict_itself() {
    check(&["web-modern", "--quick", "--load", "1,2"], &[&ALWAYS[..], &["version of HTTP"]].concat());
}
