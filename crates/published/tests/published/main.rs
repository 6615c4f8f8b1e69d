//! Audits of published reports: the five in `data/published`, mutations of them, and small ones.
//!
//! `mutations` changes every cell of the five; `ties` tells which of these changes contradict something printed.

mod changes;
mod golden;
mod laws;
mod mutations;
mod ties;
mod tools;

use published::PublishedReport;
use published::{PublishedFinding, audit_report};

/// The reports under `data/published/`.
const REPORTS: [&str; 5] = [
    "apple-network-server-1996",
    "ibm-pc-server-330-1997",
    "ibm-xseries-365-mmb3",
    "novell-bordermanager-1998",
    "proliant-8000-cpu-scalability-2000",
];

fn text(name: &str) -> String {
    let path = format!("{}/../../data/published/{name}.toml", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn parsed(text: &str) -> PublishedReport {
    PublishedReport::parse("report.toml", text).unwrap_or_else(|problems| panic!("{problems}"))
}

fn findings(text: &str) -> Vec<PublishedFinding> {
    audit_report(&parsed(text))
}
