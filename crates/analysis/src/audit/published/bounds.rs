//! Laws of the form a ≤ b, within one row.

use model::QuantityForm as Form;

use super::PublishedFinding;
use super::entry::{Entry, Row};
use super::range::Range;

/// Least operations in progress ÷ users without think time. The published WebStone rows with most errors reach 0.90.
const IN_PROGRESS_SHARE_MIN: f64 = 0.85;

/// What may not be more than what.
const AT_MOST: [(&str, Form, Form); 3] = [
    ("users", Form::InProgress, Form::Users),
    ("offered", Form::Rate, Form::OfferedRate),
    ("processors", Form::Processors, Form::LogicalProcessors),
];

/// Checks all such laws.
pub(super) fn check(row: &Row) -> Vec<PublishedFinding> {
    let mut findings = Vec::new();
    for class in row.classes() {
        findings.extend(AT_MOST.iter().filter_map(|law| at_most(row, class, law)));
        findings.extend(idle_users(row, class));
    }
    findings.extend(row.every(Form::Utilization).filter_map(|entry| utilization(row, &entry)));
    findings
}

fn at_most(
    row: &Row,
    class: Option<&str>,
    (law, less, more): &(&'static str, Form, Form),
) -> Option<PublishedFinding> {
    let [less, more] = pair(row, class, *less, *more)?;
    let text = || format!("{} is more than {}", less.shown(), more.shown());
    (!less.range().may_be_at_most(more.range()))
        .then(|| PublishedFinding::of_row(law, row, &[less, more], text()))
}

/// Users who never think are nearly always waiting for a reply.
fn idle_users(row: &Row, class: Option<&str>) -> Option<PublishedFinding> {
    row.find(Form::Think, class).filter(|think| think.number.value == 0.0)?;
    let [in_progress, users] = pair(row, class, Form::InProgress, Form::Users)?;
    let least = users.range().times(Range::exact(IN_PROGRESS_SHARE_MIN));
    let text = || format!("{} is far below {}, who do not think", in_progress.shown(), users.shown());
    (!least.may_be_at_most(in_progress.range()))
        .then(|| PublishedFinding::of_row("users", row, &[in_progress, users], text()))
}

/// Two numbers of a class, at least one of which is not that of all classes.
fn pair<'a>(row: &Row<'a>, class: Option<&str>, one: Form, other: Form) -> Option<[Entry<'a>; 2]> {
    let (one, other) = (row.find(one, class)?, row.find(other, class)?);
    (one.class == class || other.class == class).then_some([one, other])
}

/// A server is busy for all of the time at most, and a sum over several says over how many.
fn utilization(row: &Row, entry: &Entry) -> Option<PublishedFinding> {
    let servers = row.find(Form::Servers, entry.class);
    let most = servers.map_or(Range::exact(1.0), |servers| servers.range());
    if entry.range().may_be_at_most(most) {
        return None;
    }
    let text = match servers {
        Some(servers) => format!("{} is more than 100 % of each of {}", entry.shown(), servers.shown()),
        None => {
            format!("{} is more than 100 %, and it is not said over how many it is summed", entry.shown())
        }
    };
    let entries: Vec<Entry> = [*entry].into_iter().chain(servers).collect();
    Some(PublishedFinding::of_row("utilization", row, &entries, text))
}
