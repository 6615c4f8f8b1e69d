//! The page of hostile servers agrees with the tables of behaviors.

use std::fmt::Write;

use model::Outcome;
use servers::FrameFault;
use servers::web::{ClientProtocol, Fault};

use crate::app_behaviors::{AppBehavior, BEHAVIORS};

const PAGE: &str = include_str!("../../../../docs/design/hostile-servers.md");

fn table(protocol: ClientProtocol) -> String {
    let mut table = "| `--fault` | the server | the operation |\n|---|---|---|\n".to_owned();
    for fault in Fault::all().filter(|fault| fault.protocol == protocol) {
        let outcome = fault.outcome.name();
        writeln!(table, "| `{}` | {} | {outcome} |", fault.name, fault.does).unwrap();
    }
    table
}

#[test]
fn the_page_lists_every_fault_with_its_outcome() {
    for protocol in [ClientProtocol::Http1, ClientProtocol::Tls, ClientProtocol::Http2] {
        let table = table(protocol);
        assert!(PAGE.contains(&table), "`docs/design/hostile-servers.md` lacks this table:\n{table}");
    }
}

#[test]
fn the_page_lists_every_behavior_of_application_servers_with_outcome_and_code() {
    let row = |name: &str, does: &str, outcome: Outcome, code: u32| {
        let code = if code == 0 { String::new() } else { format!(" {code}") };
        format!("| `{name}` | {does} | {} |{code} |\n", outcome.name())
    };
    let fault = |one: &FrameFault| row(one.name, one.does, one.outcome, one.code);
    let faults: String = servers::app::FAULTS.iter().map(fault).collect();
    let behavior = |one: &AppBehavior| row(one.name, one.does, one.outcome, one.code);
    let behaviors: String = BEHAVIORS.iter().map(behavior).collect();
    for (title, rows) in [("`--fault`", faults), ("behavior", behaviors)] {
        let table = format!("| {title} | the server | the operation | code |\n|---|---|---|---|\n{rows}");
        assert!(PAGE.contains(&table), "`docs/design/hostile-servers.md` lacks this table:\n{table}");
    }
    let words = format!("these {} behaviors", BEHAVIORS.len());
    assert!(PAGE.contains(&words), "`docs/design/hostile-servers.md` does not say `{words}`");
}

#[test]
fn the_corpus_is_large_enough() {
    let n = |protocol| Fault::all().filter(|fault| fault.protocol == protocol).count();
    let http1 = n(ClientProtocol::Http1);
    let tls = n(ClientProtocol::Tls);
    let http2 = n(ClientProtocol::Http2);
    assert!(30 <= http1 && 10 <= tls && 20 <= http2, "{http1}, {tls}, {http2}");
    let words = format!(
        "{} behaviors: {http1} over HTTP/1, {tls} over TLS, {http2} over HTTP/2",
        http1 + tls + http2
    );
    assert!(PAGE.contains(&words), "`docs/design/hostile-servers.md` does not say `{words}`");
}
