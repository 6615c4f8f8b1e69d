//! Texts that users write: definitions, recipes, notes, options.

use std::str::FromStr;

use accelerator::config::{Config, parse_network};
use accelerator::origin::OriginServer;
use benchmarks::web::webstone::Filelist;
use drivers::web::Target;
use languages::{HttpUrl, parse_bytes, parse_curl, parse_load, parse_rates, parse_time, parse_time_up_to};
use model::{
    Definition, DiskShare, Family, Notes, PathPattern, PercentileRank, PriceList, STAGES_MAX, SettingKind,
    Shape, ValueDistribution, parse_level_span, parse_level_steps, parse_limits, parse_stage_texts,
    parse_stages,
};
use observe::prometheus::{Samples, SeriesTables};
use observe::{
    AppServerAddress, MonitorSource, PROC_FILES, PageUrl, ProcessSelector, SshAccount, parse_cpu_list,
};
use published::{
    CalendarDate, Expression, PrintedNumber, PublishedQuantity, PublishedReport, Statement, audit_report,
};
use runfile::{PublicKey, Seal, SealKey};
use servers::FrameFaultPlan;
use servers::gateway::GatewayAddress;
use servers::web::FaultPlan;
use telemetry::Endpoint;
use testbed::Recipe;
use units::{Currency, Decimal, Nanos};

/// Passes bytes on if they are text.
fn with_text<T>(bytes: &[u8], parse: impl FnOnce(&str) -> T) -> Option<T> {
    std::str::from_utf8(bytes).ok().map(parse)
}

/// An error can be shown to people.
fn shown<T, E: std::fmt::Display>(result: Result<T, E>) {
    if let Err(error) = result {
        assert!(!error.to_string().is_empty());
    }
}

pub fn definition(bytes: &[u8]) {
    with_text(bytes, |text| shown(Definition::parse("fuzz.toml", text)));
}

pub fn accelerator(bytes: &[u8]) {
    with_text(bytes, |text| shown(Config::parse("fuzz.toml", text)));
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
    with_text(bytes, |text| {
        shown(parse_limits(text));
        if let Some(rank) = PercentileRank::parse(text) {
            assert!(0.0 < rank.quantile() && rank.quantile() < 1.0);
        }
    });
}

/// A text that can be taken has requests, and each is made to a URL.
pub fn curl(bytes: &[u8]) {
    with_text(bytes, |text| match parse_curl(text) {
        Ok(read) => {
            assert!(!read.requests.is_empty());
            assert!(read.requests.iter().all(|request| request.url.contains("://")));
        }
        Err(faults) => {
            assert!(faults.iter().all(|fault| !fault.to_string().is_empty()) && !faults.is_empty())
        }
    });
}

pub fn loads(bytes: &[u8]) {
    with_text(bytes, |text| {
        shown(parse_load(text));
        shown(parse_rates(text));
        shown(parse_cpu_list(text));
        shown(parse_level_span(text));
        shown(parse_level_steps(text));
        let lines: Vec<String> = text.lines().map(str::to_owned).collect();
        shown(parse_stage_texts(&lines).map_err(|(_, error)| error));
        if let Ok(list) = parse_stages(text) {
            assert_eq!(parse_stages(&list.to_string()).as_ref(), Ok(&list));
            assert!(Shape::of(&list, Vec::new()).stages.len() <= STAGES_MAX);
        }
    });
}

pub fn quantities(bytes: &[u8]) {
    with_text(bytes, |text| {
        shown(parse_time(text));
        shown(parse_time_up_to(text, Nanos::from_secs(1 << 30)));
        shown(text.parse::<HttpUrl>().map(|url| url.address()));
        shown(parse_bytes(text));
        shown(ValueDistribution::from_str(text));
        for setting in Family::ALL.into_iter().flat_map(Family::settings) {
            shown(SettingKind::parse(setting.kind, text));
        }
        shown(DiskShare::from_str(text));
    });
}

pub fn addresses(bytes: &[u8]) {
    with_text(bytes, |text| {
        shown(Target::from_str(text));
        shown(GatewayAddress::from_str(text));
        shown(FaultPlan::parse(text.lines()));
        shown(FrameFaultPlan::parse(&servers::app::FAULTS, text.lines()));
        shown(PageUrl::parse(text));
        shown(SshAccount::from_str(text));
        shown(MonitorSource::from_str(text));
        shown(AppServerAddress::from_str(text));
        shown(ProcessSelector::from_str(text));
        shown(Endpoint::from_str(text));
        shown(OriginServer::from_str(text));
        shown(parse_network(text));
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
        let notes = SeriesTables::all().read(text, &mut readings);
        assert_eq!(notes.bad, samples.bad());
        assert!(notes.samples + notes.bad.count <= text.lines().count());
        assert!(readings.is_empty() || notes.samples != 0);
    });
}

pub fn published(bytes: &[u8]) {
    with_text(bytes, |text| {
        let _ = (
            CalendarDate::parse(text),
            PublishedQuantity::parse(text),
            PrintedNumber::parse(text, "s", true),
        );
        shown(Expression::parse(text));
        shown(Statement::parse(text));
        match PublishedReport::parse("fuzz.toml", text) {
            Ok(report) => assert!(audit_report(&report).iter().all(|finding| !finding.text.is_empty())),
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    });
}

pub fn notes(bytes: &[u8]) {
    with_text(bytes, |text| shown(Notes::parse("fuzz.toml", text)));
}

/// The kinds of a list that was read add up to its total.
pub fn prices(bytes: &[u8]) {
    with_text(bytes, |text| match PriceList::parse("fuzz.toml", text) {
        Ok(list) => {
            let sum: i64 = list.subtotals().iter().map(|(_, amount)| amount.minor).sum();
            assert_eq!(sum, list.total().minor);
            assert!(list.per_hour().is_none_or(|price| 0.0 <= price.as_f64()));
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    });
}

/// A number, a currency and a key that were read are written as they were, but for zeros at the ends.
pub fn amounts(bytes: &[u8]) {
    with_text(bytes, |text| {
        if let Some(number) = Decimal::parse(text) {
            assert_eq!(Decimal::parse(&number.to_string()), Some(number));
        }
        if let Some(currency) = Currency::parse(text) {
            assert_eq!(currency.code(), text);
        }
    });
}

/// A seal that was read is written as it was: nothing in it is left unsigned.
pub fn seal(bytes: &[u8]) {
    with_text(bytes, |text| {
        match Seal::parse(text) {
            Ok(seal) => assert_eq!(Seal::parse(&seal.json().to_string()), Ok(seal)),
            Err(error) => assert!(!error.to_string().is_empty()),
        }
        if let Ok(key) = PublicKey::from_str(text) {
            assert_eq!(key.to_string(), text.trim());
        }
        shown(SealKey::parse(text));
    });
}
