//! Several URLs whose servers are compared: a benchmark each, alike but for the page.

use units::{Bytes, Nanos};

use super::made::{MadeSubject, make_checked};
use super::survey::ReplyCheck;
use crate::arguments::{PlanArguments, SutArguments, UserList};
use crate::benchmark::Subject;
use crate::compared_servers::{check_number, refuse_own_loads};
use crate::exit::Failure;
use crate::stderr::{eprint, warn};
use crate::url_arguments::{ReplyComparison, UrlArguments};

/// Number of users of a comparison that names none: enough that most servers always have work.
const USERS: u32 = 10;

/// Number of turns of each server, unless the user says how many: an even number, so that each begins as often. As many
/// follow, up to `TURNS_MAX`, as long as the answer is not settled.
const TURNS: u32 = 8;
const TURNS_MAX: u32 = 24;

/// Lengths of the phases of a turn: with two servers and `TURNS` 80 s in all, with `TURNS_MAX` four minutes.
const RAMP_UP: Nanos = Nanos::from_millis(500);
const SETTLE: Nanos = Nanos::from_millis(500);
const STEADY: Nanos = Nanos::from_secs(4);

/// The difference in length from which replies are unlike.
const LENGTH_RATIO_MAX: f64 = 1.01;

/// Makes the benchmarks of URLs whose servers are compared, after each server has answered. Where their replies need
/// different checks, only the status is checked of all, so that the load generator does the same for each.
///
/// # Errors
/// There are fewer than two URLs or too many, a flag does not suit a comparison, or a server does not answer.
pub(crate) fn make_compared(
    mut plan: PlanArguments,
    url: UrlArguments,
    mut sut: SutArguments,
) -> Result<Subject, Failure> {
    check_flags(&plan, &url, &sut)?;
    let asked = &mut plan.overrides;
    if asked.load.is_none() && asked.rate.is_none() && asked.max_load.is_none() {
        asked.load = Some(UserList(vec![USERS]));
    }
    asked.ramp_up = asked.ramp_up.or(Some(RAMP_UP));
    asked.settle = asked.settle.or(Some(SETTLE));
    asked.duration = asked.duration.or(Some(STEADY));
    // A total time is divided by a number of turns that is known.
    if sut.repeat.is_none() && asked.duration_total.is_none() {
        sut.repeat_max = Some(TURNS_MAX);
    }
    sut.repeat = sut.repeat.or(Some(TURNS));
    let urls = std::mem::take(&mut plan.subjects);
    let each = |url: &UrlArguments| {
        let of_url = |one: &String| {
            let plan = PlanArguments { subjects: vec![one.clone()], ..plan.clone() };
            make_checked(plan, url.clone(), sut.clone())
        };
        urls.iter().map(of_url).collect::<Result<Vec<MadeSubject>, Failure>>()
    };
    let mut made = each(&url)?;
    for unlike in unlike_replies(&made) {
        warn(unlike);
    }
    if url.check.is_none() && !are_checked_alike(&made) {
        eprint("Their replies need different checks; only the status is checked of all.");
        made = each(&UrlArguments { check: Some(ReplyComparison::Status), ..url })?;
    }
    together(made).ok_or_else(too_few)
}

/// Puts the benchmarks together; `None` if there are none.
fn together(made: Vec<MadeSubject>) -> Option<Subject> {
    let mut all = made.into_iter().map(|one| one.subject);
    let mut first = all.next()?;
    for Subject { chosen, sut, .. } in all {
        first.sut.target.extend(sut.target);
        first.others.push(chosen);
    }
    Some(first)
}

fn too_few() -> Failure {
    Failure::usage("`--compare` needs two servers")
        .hint("`plimsoll run --compare URL_A URL_B`, or `plimsoll run BENCHMARK --target A --target B`")
}

/// Refuses flags that make no sense where servers are compared.
fn check_flags(plan: &PlanArguments, url: &UrlArguments, sut: &SutArguments) -> Result<(), Failure> {
    let reads_stdin = url.data.as_deref() == Some("@-")
        || url.data_file.as_ref().is_some_and(|file| file.as_os_str() == "-");
    let refused = [
        (url.urls.is_some(), "--urls", "name each server by one URL"),
        (url.curl.is_some(), "--curl", "name each server by one URL, with `-H`, `-X` and `-d` for all"),
        (
            url.save_definition.is_some(),
            "--save-definition",
            "save the definition of each by itself; `plimsoll run FILE --target A --target B` compares servers with it",
        ),
        (reads_stdin, "-d @-", "standard input can be read once: put the body in a file"),
        (
            !sut.sut.is_empty(),
            "--sut",
            "`--sut nginx,apache` starts servers and compares them, without `--compare`",
        ),
    ];
    if let Some((_, flag, hint)) = refused.into_iter().find(|(is_given, ..)| *is_given) {
        return Err(Failure::usage(format!("`{flag}` cannot be used with `--compare`")).hint(hint));
    }
    if has_host(&url.headers) {
        return Err(Failure::usage("`-H Host` cannot be used with `--compare`: it names one server for all")
            .hint("name each server in its URL, and its address by `--resolve HOST:PORT:ADDRESS`"));
    }
    refuse_own_loads(plan)?;
    if let Some(twice) =
        (1..plan.subjects.len()).find(|one| plan.subjects[..*one].contains(&plan.subjects[*one]))
    {
        let shown = languages::foreign_text(&languages::without_credentials(&plan.subjects[twice]));
        return Err(Failure::usage(format!("`{shown}` is given twice"))
            .hint("to load one server several times, use `--repeat 2` without `--compare`"));
    }
    if plan.subjects.len() < 2 {
        return Err(too_few());
    }
    check_number(plan.subjects.len(), &sut.label)
}

fn has_host(headers: &[String]) -> bool {
    headers.iter().any(|header| {
        header.split_once(':').is_some_and(|(name, _)| name.trim().eq_ignore_ascii_case("host"))
    })
}

/// Returns whether the replies of all servers are checked in the same way, whatever their length.
fn are_checked_alike(made: &[MadeSubject]) -> bool {
    let kinds = |one: &MadeSubject| one.checks.iter().map(|check| check.reply.clone()).collect::<Vec<_>>();
    made.windows(2).all(|two| kinds(&two[0]) == kinds(&two[1]))
}

/// Says in what the replies of servers differ from those of the first.
fn unlike_replies(made: &[MadeSubject]) -> Vec<String> {
    let Some((first, others)) = made.split_first() else { return Vec::new() };
    let name = |one: &MadeSubject| one.subject.chosen.benchmark.definition.title.clone();
    let said = |other: &MadeSubject| {
        let mut checks = first.checks.iter().zip(&other.checks);
        let why = checks.find_map(|(one, other)| unlike(one, other))?;
        Some(format!("{} and {} are unlike pages: {why}", name(first), name(other)))
    };
    others.iter().filter_map(said).collect()
}

/// Returns in what two replies differ: status, then length.
fn unlike(one: &ReplyCheck, other: &ReplyCheck) -> Option<String> {
    if one.status != other.status {
        return Some(format!("status {} and {}", one.status, other.status));
    }
    let (least, most) = (one.body_bytes.min(other.body_bytes), one.body_bytes.max(other.body_bytes));
    let is_unlike = LENGTH_RATIO_MAX * least as f64 + 0.5 < most as f64;
    is_unlike.then(|| format!("replies of {} and of {}", Bytes(one.body_bytes), Bytes(other.body_bytes)))
}

#[cfg(test)]
mod tests {
    use super::super::survey::ExpectedReply;
    use super::*;

    #[test]
    fn replies_are_unlike_by_status_and_by_length() {
        let reply = |status, body_bytes| ReplyCheck {
            status,
            reply: ExpectedReply::Seen,
            reason: String::new(),
            body_bytes,
        };
        let said = |one, other| unlike(&one, &other);
        assert_eq!(said(reply(200, 1_000), reply(200, 1_010)), None);
        assert_eq!(said(reply(200, 0), reply(200, 0)), None);
        assert_eq!(
            said(reply(200, 612), reply(200, 3_072)).as_deref(),
            Some("replies of 612 B and of 3.0 KiB")
        );
        assert_eq!(said(reply(200, 5), reply(201, 5)).as_deref(), Some("status 200 and 201"));
    }
}
