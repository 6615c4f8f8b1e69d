//! Reports of real runs: a quantity has the same value everywhere in a document, for any benchmark, server and transport.

use testkit::consistency::{contradictions, reported_values};

use crate::support::Fixture;

/// Records a short run and checks its report for contradictions. The verdict does not matter: a report of an invalid run
/// must not contradict itself either.
#[track_caller]
fn check(arguments: &[&str], quantities: &[&str]) {
    let fixture = Fixture::new();
    let short = ["--settle", "0", "--duration", "2", "--out", "run.plim"];
    let ended = fixture.run(&[&["run"], arguments, &short].concat());
    assert!(matches!(ended.code, Some(0 | 3)), "{ended:?}");
    let report = fixture.run(&["report", "run.plim", "--format", "markdown"]).expect(0).stdout;
    assert_eq!(contradictions(&report), [""; 0], "{arguments:?}\n{report}");
    // A quantity that is stated once cannot be contradicted, so the check would be void.
    let stated = reported_values(&report);
    for quantity in quantities {
        let n = stated.iter().filter(|one| one.quantity == *quantity).count();
        assert!(2 <= n, "{quantity} is stated {n} times\n{report}");
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
