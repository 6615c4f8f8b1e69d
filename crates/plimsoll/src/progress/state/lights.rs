//! Signs of validity while a load point runs: one light per family of rules, by the limits of its plan.
//!
//! They tell early what the verdict is likely to object to. The verdict itself is made of the run file, by all rules.

use model::{Load, Plan, Rules};
use stats::{Steadiness, SteadyLimit, steadiness};
use units::{Nanos, Ratio};

use super::totals::Totals;
use crate::progress::text::percent;

/// From which part of a limit one comes close to it.
const CLOSE: f64 = 0.8;

/// Use of its allowance beyond which nothing holds the server to it; as in the rules of `analysis`.
const ENFORCED_MAX: f64 = 1.1;

/// What a light says. The order is that of gravity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Color {
    /// Nothing speaks against it.
    Green,
    /// Nothing can be said yet.
    Dark,
    /// A reader must know, or a limit is close.
    Amber,
    /// As it stands, the load point is not valid.
    Red,
}

/// One light.
#[derive(Debug, Clone, PartialEq)]
pub struct Light {
    /// The family of rules: one word.
    pub family: &'static str,
    /// What it says.
    pub color: Color,
    /// Why, a clause; empty if green.
    pub why: String,
}

/// What lights are made of.
pub struct Evidence<'a> {
    /// What is offered.
    pub load: Load,
    /// The steady phase so far.
    pub totals: &'a Totals,
    /// The first flaw that was found in the records.
    pub flaw: Option<&'static str>,
    /// The limits.
    pub rules: &'a Rules,
    /// CPUs that the server may use.
    pub allowance: Option<f64>,
}

/// What a family says; `None` where it does not apply.
type Judge = fn(&Evidence<'_>) -> Option<(Color, String)>;

/// All families, in the order of the rules, and whether they speak of more than the steady phase.
const FAMILIES: [(&str, bool, Judge); 7] = [
    ("record", true, record),
    ("Little", false, little),
    ("generator", false, generator),
    ("errors", false, errors),
    ("delivery", false, delivery),
    ("sample", false, sample),
    ("steady", false, steady),
];

impl<'a> Evidence<'a> {
    /// Takes what a plan says.
    pub fn new(plan: &'a Plan, load: Load, totals: &'a Totals, flaw: Option<&'static str>) -> Evidence<'a> {
        Evidence { load, totals, flaw, rules: &plan.rules, allowance: plan.sut.allowance() }
    }

    /// Returns all lights; what speaks of the steady phase is dark before it.
    pub fn lights(&self) -> Vec<Light> {
        let has_begun = self.totals.length != Nanos::ZERO;
        let light = |(family, of_all, judge): &(&'static str, bool, Judge)| {
            let (color, why) = judge(self)?;
            let dark = (Color::Dark, String::new());
            let (color, why) = if has_begun || *of_all { (color, why) } else { dark };
            Some(Light { family, color, why })
        };
        FAMILIES.iter().filter_map(light).collect()
    }
}

/// Returns the gravest light that has something to say.
pub fn gravest(lights: &[Light]) -> Option<&Light> {
    // Of several that are as grave, the first.
    lights.iter().rev().filter(|light| Color::Green < light.color).max_by_key(|light| light.color)
}

/// Returns what makes a load point that is over invalid: what could not be said for want of operations does as well.
///
/// What is merely close to a limit, or beyond one that the server was at too, is a remark of the verdict: it stands in the
/// report, and warning of it beside a load point that turns out valid would contradict that.
pub fn objection(lights: &[Light]) -> Option<(Color, &'static str)> {
    let of = |light: &Light| match light.color {
        Color::Dark if !light.why.is_empty() => Some((Color::Red, light.family)),
        Color::Green | Color::Dark | Color::Amber => None,
        Color::Red => Some((Color::Red, light.family)),
    };
    lights.iter().rev().filter_map(of).max_by_key(|(color, _)| *color)
}

fn green() -> Option<(Color, String)> {
    Some((Color::Green, String::new()))
}

fn record(evidence: &Evidence<'_>) -> Option<(Color, String)> {
    evidence.flaw.map_or_else(green, |flaw| Some((Color::Red, flaw.to_owned())))
}

fn little(evidence: &Evidence<'_>) -> Option<(Color, String)> {
    let Load::Users(users) = evidence.load else { return None };
    let (seen, users) = (evidence.totals.users_seen(), f64::from(users));
    let gap = (users - seen).abs() / users;
    match gap <= evidence.rules.little_gap_max {
        true => green(),
        false => Some((Color::Red, format!("X·(R + Z) = {seen:.2} for {users} users"))),
    }
}

fn generator(evidence: &Evidence<'_>) -> Option<(Color, String)> {
    let Evidence { totals, rules, .. } = evidence;
    if 0 < totals.own_faults {
        return Some((Color::Red, format!("{} operations failed on its own side", totals.own_faults)));
    }
    let of_threads = |ns: u64| ns as f64 / totals.thread_ns.max(1) as f64;
    let (busy, waited) = (of_threads(totals.cpu_ns), of_threads(totals.run_queue_ns));
    let late = totals.lateness_own.quantile(Ratio(0.99)).filter(|_| !evidence.load.is_closed());
    let (late_max, late) = (rules.lateness_p99_max, late.unwrap_or_default());
    let signs = [
        (busy / rules.generator_busy_max, format!("its CPUs are {} busy", percent(busy))),
        (waited / rules.run_queue_ratio_max, format!("it waits {} of the time for a CPU", percent(waited))),
        (
            late.0 as f64 / late_max.0.max(1) as f64,
            format!("p99 of its lateness is {late}, limit {late_max}"),
        ),
    ];
    let (of_limit, why) = signs.into_iter().max_by(|one, other| one.0.total_cmp(&other.0))?;
    match of_limit {
        of_limit if of_limit < CLOSE => green(),
        of_limit if of_limit < 1.0 => Some((Color::Amber, why)),
        _ if is_saturated(evidence) => Some((Color::Amber, format!("{why}, and so is the server"))),
        _ => Some((Color::Red, why)),
    }
}

/// Returns whether the server uses what it may: then it is the limit all the same.
fn is_saturated(evidence: &Evidence<'_>) -> bool {
    let busy = evidence.totals.sut_cpus().zip(evidence.allowance).map(|(used, allowed)| used / allowed);
    busy.is_some_and(|busy| (evidence.rules.sut_saturated_min..=ENFORCED_MAX).contains(&busy))
}

fn errors(evidence: &Evidence<'_>) -> Option<(Color, String)> {
    let (n, ratio) = (evidence.totals.errors, evidence.totals.error_ratio());
    let limit = Ratio(evidence.rules.error_ratio_max);
    let part = format!("{:.2} %", 100.0 * ratio.0);
    match n {
        0 => green(),
        _ if ratio <= limit => Some((Color::Amber, format!("{n} operations failed ({part})"))),
        _ => Some((Color::Red, format!("{n} operations failed ({part}), at most {limit} may"))),
    }
}

fn delivery(evidence: &Evidence<'_>) -> Option<(Color, String)> {
    if evidence.load.is_closed() {
        return None;
    }
    let Totals { ok, due, .. } = *evidence.totals;
    let delivered = ok as f64 / due.max(1) as f64;
    let least = evidence.rules.delivered_ratio_min;
    match least <= delivered {
        true => green(),
        false => {
            let (delivered, least) = (percent(delivered), percent(least));
            Some((
                Color::Red,
                format!("{delivered} of what falls due is delivered, at least {least} must be"),
            ))
        }
    }
}

fn sample(evidence: &Evidence<'_>) -> Option<(Color, String)> {
    let (n, least) = (evidence.totals.ok, evidence.rules.operations_min);
    match least <= n {
        true => green(),
        // More may follow.
        false => Some((Color::Dark, format!("{n} of {least} operations that are needed"))),
    }
}

fn steady(evidence: &Evidence<'_>) -> Option<(Color, String)> {
    let why = match steadiness(&evidence.totals.rates, &SteadyLimit::DEFAULT) {
        Steadiness::TooFew => return Some((Color::Dark, String::new())),
        Steadiness::Steady { .. } => return green(),
        Steadiness::Drifting { by } => format!("the rate has changed by {:+.1} %", 100.0 * by.value),
        Steadiness::Unsteady { variation, .. } => format!("the rate varies by {variation}"),
    };
    Some((Color::Amber, why))
}

#[cfg(test)]
mod tests {
    use model::{Arrivals, Phase};

    use super::super::testing;
    use super::*;

    const USERS: Load = Load::Users(1);
    const OPEN: Load = Load::Rate { per_second: 100.0, arrivals: Arrivals::Constant, in_flight_max: 100 };

    /// A steady phase of 40 good seconds with 100 operations each, that keep one user busy.
    fn good(load: Load) -> Totals {
        let mut totals = Totals::default();
        for index in 0..40 {
            let record = testing::timed(index, Phase::Steady, 100, Nanos::from_millis(10));
            totals.add(load, &record, None);
        }
        totals
    }

    #[track_caller]
    fn check(load: Load, change: impl FnOnce(&mut Totals), family: &str, color: Color) {
        let mut totals = good(load);
        change(&mut totals);
        let rules = Rules::default();
        let evidence = Evidence { load, totals: &totals, flaw: None, rules: &rules, allowance: Some(0.5) };
        let lights = evidence.lights();
        let light = lights.iter().find(|light| light.family == family).expect("it applies");
        assert_eq!(light.color, color, "{}", light.why);
        assert_eq!(light.why.is_empty(), color == Color::Green, "{light:?}");
        let others = lights.iter().filter(|light| light.family != family);
        others.for_each(|light| assert_eq!(light.color, Color::Green, "{light:?}"));
    }

    #[test]
    fn a_good_load_point_is_all_green() {
        check(USERS, |_| {}, "record", Color::Green);
        check(OPEN, |_| {}, "record", Color::Green);
    }

    #[test]
    fn each_family_applies_its_limit() {
        use Color::{Amber, Dark, Red};
        let ns = 40_000_000_000;
        check(USERS, |totals| totals.cpu_ns = ns * 75 / 100, "generator", Amber);
        check(USERS, |totals| totals.cpu_ns = ns * 90 / 100, "generator", Red);
        check(USERS, |totals| totals.run_queue_ns = ns * 31 / 100, "generator", Red);
        check(USERS, |totals| totals.own_faults = 1, "generator", Red);
        let late = testing::histogram(100, Nanos::from_millis(6));
        check(OPEN, |totals| totals.lateness_own = late.clone(), "generator", Red);
        check(USERS, |totals| totals.errors = 1, "errors", Amber);
        check(USERS, |totals| totals.errors = 41, "errors", Red);
        check(USERS, |totals| totals.failed_ns = 2_000_000_000, "Little", Red);
        check(OPEN, |totals| totals.due = 4400, "delivery", Red);
        check(USERS, |totals| totals.ok = 99, "sample", Dark);
        let rising = (0..40).map(|second| 100.0 + f64::from(second));
        check(USERS, |totals| totals.rates = rising.collect(), "steady", Amber);
    }

    #[test]
    fn a_busy_generator_is_no_limit_beside_a_saturated_server() {
        let busy = |totals: &mut Totals| {
            totals.cpu_ns = 38_000_000_000;
            totals.sut = Some((Nanos::from_secs(20), Nanos::from_secs(40)));
        };
        check(USERS, busy, "generator", Color::Amber);
    }

    /// Reported: a warning of the generator stood beside load points whose verdict was valid.
    #[test]
    fn a_load_point_that_is_valid_in_the_end_has_no_objection() {
        let mut totals = good(USERS);
        totals.cpu_ns = 38_000_000_000;
        totals.sut = Some((Nanos::from_secs(20), Nanos::from_secs(40)));
        let rules = Rules::default();
        let of = |totals: &Totals| {
            let evidence = Evidence { load: USERS, totals, flaw: None, rules: &rules, allowance: Some(0.5) };
            objection(&evidence.lights())
        };
        assert_eq!(of(&totals), None, "the server is saturated as well");
        totals.sut = Some((Nanos::from_secs(10), Nanos::from_secs(40)));
        assert_eq!(of(&totals), Some((Color::Red, "generator")), "now it is not");
    }

    #[test]
    fn what_speaks_of_the_steady_phase_is_dark_before_it() {
        let rules = Rules::default();
        let totals = Totals::default();
        let of = |flaw| Evidence { load: USERS, totals: &totals, flaw, rules: &rules, allowance: None };
        let lights = of(None).lights();
        assert!(lights[1..].iter().all(|light| light.color == Color::Dark && light.why.is_empty()));
        assert_eq!((lights[0].family, lights[0].color), ("record", Color::Green));
    }

    #[test]
    fn a_flaw_is_red_at_once() {
        let rules = Rules::default();
        let (totals, flaw) = (Totals::default(), Some("a second is missing"));
        let evidence = Evidence { load: USERS, totals: &totals, flaw, rules: &rules, allowance: None };
        let lights = evidence.lights();
        let gravest = gravest(&lights).map(|light| (light.family, light.color, light.why.as_str()));
        assert_eq!(gravest, Some(("record", Color::Red, "a second is missing")));
    }

    #[test]
    fn what_is_left_unsaid_at_the_end_is_an_objection_only_for_want_of_operations() {
        let light = |family, color, why: &str| Light { family, color, why: why.to_owned() };
        let dark = light("steady", Color::Dark, "");
        assert_eq!(objection(&[light("record", Color::Green, ""), dark.clone()]), None);
        let amber = light("errors", Color::Amber, "1 operation failed");
        assert_eq!(objection(&[amber.clone(), dark]), None, "the verdict is valid, with a remark");
        let few = light("sample", Color::Dark, "3 of 100");
        assert_eq!(objection(&[amber, few]), Some((Color::Red, "sample")));
    }

    #[test]
    fn families_that_do_not_apply_have_no_light() {
        let rules = Rules::default();
        let totals = Totals::default();
        let families = |load| {
            let evidence = Evidence { load, totals: &totals, flaw: None, rules: &rules, allowance: None };
            evidence.lights().iter().map(|light| light.family).collect::<Vec<_>>()
        };
        assert_eq!(families(USERS), ["record", "Little", "generator", "errors", "sample", "steady"]);
        assert_eq!(families(OPEN), ["record", "generator", "errors", "delivery", "sample", "steady"]);
    }
}
