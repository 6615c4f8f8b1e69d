//! Laws of the form a ≤ b, within one row.

use crate::QuantityForm as Form;

use super::PublishedFinding;
use super::entry::{Entry, Row};
use super::range::ValueRange;

/// Least operations in progress ÷ users without think time. The published WebStone rows with most errors reach 0.90.
pub(super) const IN_PROGRESS_SHARE_MIN: f64 = 0.85;

/// The share by which a rate may be more than the one that was offered: the last operations of a run, and the steps
/// of the generator's clock. Our choice, as no published rule is known.
const OFFERED_SLACK: f64 = 0.01;

/// Laws by which one quantity may not be more than another, each with its tolerance as a share.
const AT_MOST: [(&str, Form, Form, f64); 3] = [
    ("users", Form::InProgress, Form::Users, 0.0),
    ("offered", Form::Rate, Form::OfferedRate, OFFERED_SLACK),
    ("processors", Form::Processors, Form::LogicalProcessors, 0.0),
];

/// Checks all such laws.
pub(super) fn check(row: &Row) -> Vec<PublishedFinding> {
    let mut findings = Vec::new();
    for class in row.classes() {
        findings.extend(AT_MOST.iter().filter_map(|law| at_most(row, class, law)));
        findings.extend(offered_per_user(row, class));
        findings.extend(idle_users(row, class));
    }
    findings.extend(row.every(Form::Utilization).filter_map(|entry| utilization(row, &entry)));
    findings.extend(row.entries.iter().filter_map(|entry| negative(row, entry)));
    findings
}

/// Reports counts, lengths, costs and rates below zero.
fn negative(row: &Row, entry: &Entry) -> Option<PublishedFinding> {
    let is_negative =
        entry.range().high < 0.0 && !entry.column.quantity.can_be_negative(&entry.number.dimension);
    is_negative.then(|| {
        PublishedFinding::of_row("negative", row, &[*entry], format!("{} is below zero", entry.shown()))
    })
}

/// Checks that no user does more operations than were offered per user.
fn offered_per_user(row: &Row, class: Option<&str>) -> Option<PublishedFinding> {
    let per_user = |form| row.per(form, Some("users"), class);
    more(row, "offered", [per_user(Form::Rate)?, per_user(Form::OfferedRate)?], OFFERED_SLACK)
}

fn at_most(
    row: &Row,
    class: Option<&str>,
    (law, less, more_form, slack): &(&'static str, Form, Form, f64),
) -> Option<PublishedFinding> {
    more(row, law, pair(row, class, *less, *more_form)?, *slack)
}

/// Returns a finding if the first entry is more than the second one.
fn more(row: &Row, law: &'static str, [less, more]: [Entry; 2], slack: f64) -> Option<PublishedFinding> {
    let text = || format!("{} is more than {}", less.shown(), more.shown());
    (!less.range().may_be_at_most(more.range().widened(slack)))
        .then(|| PublishedFinding::of_row(law, row, &[less, more], text()))
}

/// Checks that users who never think nearly always wait for a reply.
fn idle_users(row: &Row, class: Option<&str>) -> Option<PublishedFinding> {
    row.find(Form::Think, class).filter(|think| think.number.value == 0.0)?;
    let [in_progress, users] = pair(row, class, Form::InProgress, Form::Users)?;
    let least = users.range().times(ValueRange::exact(IN_PROGRESS_SHARE_MIN));
    let text = || format!("{} is far below {}, who do not think", in_progress.shown(), users.shown());
    (!least.may_be_at_most(in_progress.range()))
        .then(|| PublishedFinding::of_row("users", row, &[in_progress, users], text()))
}

/// Returns two numbers of a class, at least one of which is not that of all classes.
fn pair<'a>(row: &Row<'a>, class: Option<&str>, one: Form, other: Form) -> Option<[Entry<'a>; 2]> {
    let one = row.find(one, class)?;
    let other = row.find(other, class)?;
    (one.class == class || other.class == class).then_some([one, other])
}

/// Checks that a server is not busy for more than all of the time, and that a sum over several states their number.
fn utilization(row: &Row, entry: &Entry) -> Option<PublishedFinding> {
    let servers = row.find(Form::Servers, entry.class);
    let most = servers.map_or(ValueRange::exact(1.0), |servers| servers.range());
    // The report may state that it is a sum without the number.
    let is_declared = servers.is_none() && row.declares(Form::Servers, entry.class);
    if entry.range().may_be_at_most(most) || is_declared {
        return None;
    }
    let text = match servers {
        Some(servers) => format!("{} is more than 100 % of each of {}", entry.shown(), servers.shown()),
        None => {
            format!(
                "{} is more than 100 %, and the report does not state over how many it is summed",
                entry.shown()
            )
        }
    };
    let entries: Vec<Entry> = [*entry].into_iter().chain(servers).collect();
    Some(PublishedFinding::of_row("utilization", row, &entries, text))
}
