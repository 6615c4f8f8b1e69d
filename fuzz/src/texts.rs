//! What users write.

use std::str::FromStr;

use analysis::audit::audit_report;
use benchmarks::webstone::Filelist;
use drivers::web::Target;
use model::{
    Definition, DiskShare, PathPattern, Pick, PublishedReport, parse_bytes, parse_limits, parse_load, parse_rates,
    parse_time,
};
use servers::gateway::Address;
use servers::web::FaultPlan;
use telemetry::Endpoint;
use testbed::prometheus::{Samples, Tables};
use testbed::{MonitorSource, PROC_FILES, PageUrl, Recipe, SshAccount, parse_cpu_list};

/// Passes bytes on if they are text.
fn with_text<T>(bytes: &[u8], parse: impl FnOnce(&str) -> T) -> Option<T> {
    std::str::from_utf8(bytes).ok().map(parse)
}

/// What is wrong with a text can be shown to people.
fn shown<T, E: std::fmt::Display>(result: Result<T, E>) {
    if let Err(error) = result {
        assert!(!error.to_string().is_empty());
    }
}

pub fn definition(bytes: &[u8]) {
    with_text(bytes, |text| shown(Definition::parse("fuzz.toml", text)));
}

pub fn filelist(bytes: &[u8]) {
    with_text(bytes, |text| shown(Filelist::parse("fuzz.txt", text)));
}

pub fn recipe(bytes: &[u8]) {
    with_text(bytes, |text| shown(Recipe::parse("fuzz.toml", text)));
}

/// A pattern that was read is written as it was.
pub fn path(bytes: &[u8]) {
    with_text(bytes, |text| match PathPattern::from_str(text) {
        Ok(pattern) => assert_eq!(pattern.to_string(), text),
        Err(error) => assert!(!error.to_string().is_empty()),
    });
}

pub fn limits(bytes: &[u8]) {
    with_text(bytes, |text| shown(parse_limits(text)));
}

pub fn loads(bytes: &[u8]) {
    with_text(bytes, |text| {
        shown(parse_load(text));
        shown(parse_rates(text));
        shown(parse_cpu_list(text));
    });
}

pub fn quantities(bytes: &[u8]) {
    with_text(bytes, |text| {
        shown(parse_time(text));
        shown(parse_bytes(text));
        shown(Pick::from_str(text));
        shown(DiskShare::from_str(text));
    });
}

pub fn addresses(bytes: &[u8]) {
    with_text(bytes, |text| {
        shown(Target::from_str(text));
        shown(Address::from_str(text));
        shown(FaultPlan::parse(text.lines()));
        shown(PageUrl::parse(text));
        shown(SshAccount::from_str(text));
        shown(MonitorSource::from_str(text));
        shown(Endpoint::from_str(text));
    });
}

/// Kernel files of other machines: whatever is in them, each reading has its counter.
pub fn kernel(bytes: &[u8]) {
    with_text(bytes, |text| {
        let mut readings = Vec::new();
        PROC_FILES.iter().for_each(|(_, parse)| parse(text, &mut readings));
        assert!(readings.len() <= 64 * (1 + text.len()));
    });
}

/// No line is both a sample and bad, and a reading has series that it comes from.
pub fn scrape(bytes: &[u8]) {
    with_text(bytes, |text| {
        let mut samples = Samples::new(text);
        let labels = samples.by_ref().map(|sample| sample.labels.iter().count()).max();
        assert!(labels.is_none_or(|most| most <= text.len()));
        let mut readings = Vec::new();
        let notes = Tables::all().read(text, &mut readings);
        assert_eq!(notes.bad, samples.bad());
        assert!(notes.samples + notes.bad.count <= text.lines().count());
        assert!(readings.is_empty() || notes.samples != 0);
    });
}

pub fn published(bytes: &[u8]) {
    with_text(bytes, |text| match PublishedReport::parse("fuzz.toml", text) {
        Ok(report) => assert!(audit_report(&report).iter().all(|finding| !finding.text.is_empty())),
        Err(error) => assert!(!error.to_string().is_empty()),
    });
}
