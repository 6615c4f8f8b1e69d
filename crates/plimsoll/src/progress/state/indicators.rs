//! Validity indicators of a running load point: one per group of rules, with the limits of its plan.
//!
//! They show early which rules the verdict is likely to find violated. The verdict itself is computed from the run file,
//! by all rules.

use model::{Load, Plan, Rules};
use stats::{Steadiness, SteadyLimit, steadiness};
use units::{Nanos, Ratio};

use super::totals::Totals;
use crate::progress::text::percent;

/// Fraction of a limit from which a value counts as close to it.
const CLOSE: f64 = 0.8;

/// CPU use relative to the quota above which the quota is evidently not enforced; as in the rules of `analysis`.
const ENFORCED_MAX: f64 = 1.1;

/// The status of an indicator, in order of severity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum IndicatorStatus {
    /// No problem.
    Good,
    /// Not known yet.
    Unknown,
    /// A remark, or close to a limit.
    Warning,
    /// As it stands, the load point is not valid.
    Bad,
}

/// The state of one group of rules.
#[derive(Debug, Clone, PartialEq)]
pub struct Indicator {
    /// Name of the group of rules: one word.
    pub name: &'static str,
    /// Its status.
    pub status: IndicatorStatus,
    /// The reason, a clause; empty if good.
    pub why: String,
}

/// The input of the indicators.
pub struct IndicatorInput<'a> {
    /// The offered load.
    pub load: Load,
    /// The steady phase so far.
    pub totals: &'a Totals,
    /// The first flaw found in the records.
    pub flaw: Option<&'static str>,
    /// The limits of the rules.
    pub rules: &'a Rules,
    /// CPU quota of the server, in CPUs.
    pub allowance: Option<f64>,
}

/// A check of one group of rules; `None` if it does not apply.
type IndicatorCheck = fn(&IndicatorInput<'_>) -> Option<(IndicatorStatus, String)>;

/// All indicators in the order of the rules: name, whether it covers all phases and not only the steady one, check.
const INDICATORS: [(&str, bool, IndicatorCheck); 7] = [
    ("record", true, record),
    ("Little", false, little),
    ("generator", false, generator),
    ("errors", false, errors),
    ("delivery", false, delivery),
    ("sample", false, sample),
    ("steady", false, steady),
];

impl<'a> IndicatorInput<'a> {
    /// Takes limits and quota from a plan.
    pub fn new(
        plan: &'a Plan,
        load: Load,
        totals: &'a Totals,
        flaw: Option<&'static str>,
    ) -> IndicatorInput<'a> {
        IndicatorInput { load, totals, flaw, rules: &plan.rules, allowance: plan.sut.allowance() }
    }

    /// Returns all indicators; those of the steady phase are unknown before it begins.
    pub fn indicators(&self) -> Vec<Indicator> {
        let has_begun = self.totals.length != Nanos::ZERO;
        let indicator = |(name, of_all, check): &(&'static str, bool, IndicatorCheck)| {
            let (status, why) = check(self)?;
            let unknown = (IndicatorStatus::Unknown, String::new());
            let (status, why) = if has_begun || *of_all { (status, why) } else { unknown };
            Some(Indicator { name, status, why })
        };
        INDICATORS.iter().filter_map(indicator).collect()
    }
}

/// Returns the most severe indicator that is not good; the first of several.
pub fn most_severe(indicators: &[Indicator]) -> Option<&Indicator> {
    let not_good = indicators.iter().rev().filter(|one| IndicatorStatus::Good < one.status);
    // Of equal elements, `max_by_key` returns the last.
    not_good.max_by_key(|one| one.status)
}

/// Returns the indicator that makes a finished load point invalid, with its status; too few operations also do.
///
/// A value close to a limit, or beyond a limit while the server was saturated too, is only a remark of the verdict. It is
/// in the report; a warning beside a load point that turns out valid would contradict it.
pub fn problem(indicators: &[Indicator]) -> Option<(IndicatorStatus, &'static str)> {
    let of = |one: &Indicator| match one.status {
        IndicatorStatus::Unknown if !one.why.is_empty() => Some((IndicatorStatus::Bad, one.name)),
        IndicatorStatus::Good | IndicatorStatus::Unknown | IndicatorStatus::Warning => None,
        IndicatorStatus::Bad => Some((IndicatorStatus::Bad, one.name)),
    };
    indicators.iter().rev().filter_map(of).max_by_key(|(status, _)| *status)
}

fn good() -> Option<(IndicatorStatus, String)> {
    Some((IndicatorStatus::Good, String::new()))
}

fn record(input: &IndicatorInput<'_>) -> Option<(IndicatorStatus, String)> {
    input.flaw.map_or_else(good, |flaw| Some((IndicatorStatus::Bad, flaw.to_owned())))
}

fn little(input: &IndicatorInput<'_>) -> Option<(IndicatorStatus, String)> {
    let Load::Users(users) = input.load else { return None };
    let (seen, users) = (input.totals.users_seen(), f64::from(users));
    let gap = (users - seen).abs() / users;
    match gap <= input.rules.little_gap_max {
        true => good(),
        false => Some((IndicatorStatus::Bad, format!("X·(R + Z) = {seen:.2} for {users} users"))),
    }
}

fn generator(input: &IndicatorInput<'_>) -> Option<(IndicatorStatus, String)> {
    let IndicatorInput { totals, rules, .. } = input;
    if 0 < totals.own_faults {
        return Some((
            IndicatorStatus::Bad,
            format!("{} operations failed because of the generator's machine", totals.own_faults),
        ));
    }
    let of_threads = |ns: u64| ns as f64 / totals.thread_ns.max(1) as f64;
    let (busy, waited) = (of_threads(totals.cpu_ns), of_threads(totals.run_queue_ns));
    let late = totals.lateness_own.quantile(Ratio(0.99)).filter(|_| !input.load.is_closed());
    let (late_max, late) = (rules.lateness_p99_max, late.unwrap_or_default());
    let measures = [
        (busy / rules.generator_busy_max, format!("CPU {}", percent(busy))),
        (waited / rules.run_queue_ratio_max, format!("waiting for a CPU {} of the time", percent(waited))),
        (late.0 as f64 / late_max.0.max(1) as f64, format!("p99 lateness {late}, limit {late_max}")),
    ];
    let (of_limit, why) = measures.into_iter().max_by(|one, other| one.0.total_cmp(&other.0))?;
    match of_limit {
        of_limit if of_limit < CLOSE => good(),
        of_limit if of_limit < 1.0 => Some((IndicatorStatus::Warning, why)),
        _ if is_saturated(input) => {
            Some((IndicatorStatus::Warning, format!("{why}; the server is saturated too")))
        }
        _ => Some((IndicatorStatus::Bad, why)),
    }
}

/// Returns whether the server uses its whole CPU quota: then the server is the bottleneck all the same.
fn is_saturated(input: &IndicatorInput<'_>) -> bool {
    let busy = input.totals.sut_cpus().zip(input.allowance).map(|(used, allowed)| used / allowed);
    busy.is_some_and(|busy| (input.rules.sut_saturated_min..=ENFORCED_MAX).contains(&busy))
}

fn errors(input: &IndicatorInput<'_>) -> Option<(IndicatorStatus, String)> {
    let (n, ratio) = (input.totals.errors, input.totals.error_ratio());
    let limit = Ratio(input.rules.error_ratio_max);
    let part = format!("{:.2} %", 100.0 * ratio.0);
    match n {
        0 => good(),
        _ if ratio <= limit => Some((IndicatorStatus::Warning, format!("{n} operations failed ({part})"))),
        _ => Some((IndicatorStatus::Bad, format!("{n} operations failed ({part}), limit {limit}"))),
    }
}

fn delivery(input: &IndicatorInput<'_>) -> Option<(IndicatorStatus, String)> {
    if input.load.is_closed() {
        return None;
    }
    let Totals { ok, due, .. } = *input.totals;
    let delivered = ok as f64 / due.max(1) as f64;
    let least = input.rules.delivered_ratio_min;
    match least <= delivered {
        true => good(),
        false => {
            let (delivered, least) = (percent(delivered), percent(least));
            Some((
                IndicatorStatus::Bad,
                format!("{delivered} of the offered rate completed, at least {least} required"),
            ))
        }
    }
}

fn sample(input: &IndicatorInput<'_>) -> Option<(IndicatorStatus, String)> {
    let (n, least) = (input.totals.ok, input.rules.operations_min);
    match least <= n {
        true => good(),
        // More may follow.
        false => Some((IndicatorStatus::Unknown, format!("{n} of {least} required operations"))),
    }
}

fn steady(input: &IndicatorInput<'_>) -> Option<(IndicatorStatus, String)> {
    let why = match steadiness(&input.totals.rates, &SteadyLimit::DEFAULT) {
        Steadiness::TooFew => return Some((IndicatorStatus::Unknown, String::new())),
        Steadiness::Steady { .. } => return good(),
        Steadiness::Drifting { by } => format!("the rate has changed by {:+.1} %", 100.0 * by.value),
        Steadiness::Unsteady { variation, .. } => format!("the rate varies by {variation}"),
    };
    Some((IndicatorStatus::Warning, why))
}

#[cfg(test)]
mod tests {
    use model::{Arrivals, Phase};

    use super::super::testing;
    use super::*;

    const USERS: Load = Load::Users(1);
    const OPEN: Load = Load::Rate { per_second: 100.0, arrivals: Arrivals::Constant, in_flight_max: 100 };

    /// Returns a steady phase of 40 good seconds of 100 operations each, which keep one user busy.
    fn good_totals(load: Load) -> Totals {
        let mut totals = Totals::default();
        for index in 0..40 {
            let record = testing::timed(index, Phase::Steady, 100, Nanos::from_millis(10));
            totals.add(load, &record, None);
        }
        totals
    }

    #[track_caller]
    fn check(load: Load, change: impl FnOnce(&mut Totals), name: &str, status: IndicatorStatus) {
        let mut totals = good_totals(load);
        change(&mut totals);
        let rules = Rules::default();
        let input = IndicatorInput { load, totals: &totals, flaw: None, rules: &rules, allowance: Some(0.5) };
        let indicators = input.indicators();
        let indicator = indicators.iter().find(|one| one.name == name).expect("it applies");
        assert_eq!(indicator.status, status, "{}", indicator.why);
        assert_eq!(indicator.why.is_empty(), status == IndicatorStatus::Good, "{indicator:?}");
        let others = indicators.iter().filter(|one| one.name != name);
        others.for_each(|one| assert_eq!(one.status, IndicatorStatus::Good, "{one:?}"));
    }

    #[test]
    fn all_indicators_of_a_good_load_point_are_good() {
        check(USERS, |_| {}, "record", IndicatorStatus::Good);
        check(OPEN, |_| {}, "record", IndicatorStatus::Good);
    }

    #[test]
    fn each_indicator_applies_its_limit() {
        use IndicatorStatus::{Bad, Unknown, Warning};
        let ns = 40_000_000_000;
        check(USERS, |totals| totals.cpu_ns = ns * 75 / 100, "generator", Warning);
        check(USERS, |totals| totals.cpu_ns = ns * 90 / 100, "generator", Bad);
        check(USERS, |totals| totals.run_queue_ns = ns * 31 / 100, "generator", Bad);
        check(USERS, |totals| totals.own_faults = 1, "generator", Bad);
        let late = testing::histogram(100, Nanos::from_millis(6));
        check(OPEN, |totals| totals.lateness_own = late.clone(), "generator", Bad);
        check(USERS, |totals| totals.errors = 1, "errors", Warning);
        check(USERS, |totals| totals.errors = 41, "errors", Bad);
        check(USERS, |totals| totals.failed_ns = 2_000_000_000, "Little", Bad);
        check(OPEN, |totals| totals.due = 4400, "delivery", Bad);
        check(USERS, |totals| totals.ok = 99, "sample", Unknown);
        let rising = (0..40).map(|second| 100.0 + f64::from(second));
        check(USERS, |totals| totals.rates = rising.collect(), "steady", Warning);
    }

    #[test]
    fn a_busy_generator_is_only_a_warning_if_the_server_is_saturated() {
        let busy = |totals: &mut Totals| {
            totals.cpu_ns = 38_000_000_000;
            totals.sut = Some((Nanos::from_secs(20), Nanos::from_secs(40)));
        };
        check(USERS, busy, "generator", IndicatorStatus::Warning);
    }

    /// Reported: load points with a valid verdict were shown with a warning of the generator.
    #[test]
    fn a_load_point_that_will_be_valid_has_no_problem() {
        let mut totals = good_totals(USERS);
        totals.cpu_ns = 38_000_000_000;
        totals.sut = Some((Nanos::from_secs(20), Nanos::from_secs(40)));
        let rules = Rules::default();
        let of = |totals: &Totals| {
            let input =
                IndicatorInput { load: USERS, totals, flaw: None, rules: &rules, allowance: Some(0.5) };
            problem(&input.indicators())
        };
        assert_eq!(of(&totals), None, "the server is saturated as well");
        totals.sut = Some((Nanos::from_secs(10), Nanos::from_secs(40)));
        assert_eq!(of(&totals), Some((IndicatorStatus::Bad, "generator")), "the server is not saturated");
    }

    #[test]
    fn indicators_of_the_steady_phase_are_unknown_before_it() {
        let rules = Rules::default();
        let totals = Totals::default();
        let of = |flaw| IndicatorInput { load: USERS, totals: &totals, flaw, rules: &rules, allowance: None };
        let indicators = of(None).indicators();
        assert!(
            indicators[1..].iter().all(|one| one.status == IndicatorStatus::Unknown && one.why.is_empty())
        );
        assert_eq!((indicators[0].name, indicators[0].status), ("record", IndicatorStatus::Good));
    }

    #[test]
    fn a_flaw_is_bad_at_once() {
        let rules = Rules::default();
        let (totals, flaw) = (Totals::default(), Some("a second is missing"));
        let input = IndicatorInput { load: USERS, totals: &totals, flaw, rules: &rules, allowance: None };
        let indicators = input.indicators();
        let worst = most_severe(&indicators).map(|one| (one.name, one.status, one.why.as_str()));
        assert_eq!(worst, Some(("record", IndicatorStatus::Bad, "a second is missing")));
    }

    #[test]
    fn an_unknown_indicator_at_the_end_is_a_problem_only_for_too_few_operations() {
        let one = |name, status, why: &str| Indicator { name, status, why: why.to_owned() };
        let unknown = one("steady", IndicatorStatus::Unknown, "");
        assert_eq!(problem(&[one("record", IndicatorStatus::Good, ""), unknown.clone()]), None);
        let warning = one("errors", IndicatorStatus::Warning, "1 operation failed");
        assert_eq!(problem(&[warning.clone(), unknown]), None, "the verdict is valid, with a remark");
        let few = one("sample", IndicatorStatus::Unknown, "3 of 100");
        assert_eq!(problem(&[warning, few]), Some((IndicatorStatus::Bad, "sample")));
    }

    #[test]
    fn rules_that_do_not_apply_have_no_indicator() {
        let rules = Rules::default();
        let totals = Totals::default();
        let names = |load| {
            let input = IndicatorInput { load, totals: &totals, flaw: None, rules: &rules, allowance: None };
            input.indicators().iter().map(|one| one.name).collect::<Vec<_>>()
        };
        assert_eq!(names(USERS), ["record", "Little", "generator", "errors", "sample", "steady"]);
        assert_eq!(names(OPEN), ["record", "generator", "errors", "delivery", "sample", "steady"]);
    }
}
