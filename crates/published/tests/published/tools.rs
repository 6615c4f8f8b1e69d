//! Outputs of load tools, written as reports from what their users posted: their contradictions are found, and nothing else.

use super::findings;

/// Returns the law and the text of every finding in a file of the folder `tools`.
fn found(name: &str) -> Vec<String> {
    let path = format!("{}/tests/published/tools/{name}.toml", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    findings(&text).iter().map(|finding| format!("{}: {}", finding.law, finding.text)).collect()
}

/// Asserts that the findings of a file begin with these texts, one each.
#[track_caller]
fn check(name: &str, expected: &[&str]) {
    let found = found(name);
    assert_eq!(found.len(), expected.len(), "{found:#?}");
    for (found, expected) in found.iter().zip(expected) {
        assert!(found.starts_with(expected), "{found:#?} does not begin with {expected}");
    }
}

#[test]
fn wrk_reports_more_requests_in_progress_than_connections() {
    check(
        "wrk-400-connections",
        &["interactive: `rate` 748868.53 /s · `latency` 635.91 us = 476.21, `connections` 400 is printed"],
    );
}

#[test]
fn wrk_reports_far_fewer_requests_in_progress_than_connections() {
    check(
        "wrk-one-thread",
        &["interactive: `rate` 37837.19 /s · `latency` 7.15 ms = 270.54, `connections` 400 is printed"],
    );
}

#[test]
fn an_output_of_ab_without_contradictions_has_no_findings() {
    check("ab-100-clients", &[]);
}

#[test]
fn ab_reports_response_times_that_thirty_clients_cannot_have() {
    check(
        "ab-30-clients",
        &["interactive: `rate` 1533.46 /s · `total-mean` 1 ms = 1.5335, `concurrency` 30 is printed"],
    );
}

#[test]
fn hey_reports_an_average_below_the_fastest() {
    check("hey-dialup", &["percentiles: `fastest` 0.2105 s is more than `average` 0.0349 s"]);
}

/// It keeps the times of a million responses at most, but divides the sums by the number of all.
#[test]
fn hey_reports_a_million_responses_of_more() {
    check(
        "hey-million",
        &[
            "total: `rate` 139688.1930 /s · `total` 10.0015 s = 1,397,091, `responses` 1000000 is printed",
            "total: `responses` 1000000 · `size` 37 B = 37,000,000 B, `total-data` 37721457 B is printed",
            "interactive: `rate` 139688.1930 /s · `average` 0.0006 s = 83.813, `workers` 64 is printed",
        ],
    );
}

#[test]
fn k6_reports_longer_requests_than_its_users_have_time_for() {
    check(
        "k6-50-users",
        &["interactive: `rate` 2393.475997 /s · `avg` 116.8 ms = 279.56, `vus` 50 is printed"],
    );
}

#[test]
fn oha_reports_a_run_in_which_connections_were_idle_for_two_fifths_of_the_time() {
    check(
        "oha-200-requests",
        &["interactive: `rate` 1.4652 /s · `average` 20.8086 s = 30.489, `connections` 50 is printed"],
    );
}

#[test]
fn vegeta_reports_a_mean_below_what_its_percentiles_allow() {
    check(
        "vegeta-15000-requests",
        &[
            "percentiles: `mean` 5.28031 ms is impossible: by percentiles and extremes it is at least 30.114 ms",
        ],
    );
}

#[test]
fn pgbench_reports_another_number_of_clients_than_was_asked_for() {
    check(
        "pgbench-without-pool",
        &[
            "total: `tps` 31.868972 /s · `length` 100 s = 3,186.9, `transactions` 3215 is printed",
            "alike: `clients` is 90 here, 65 in the command",
        ],
    );
}
