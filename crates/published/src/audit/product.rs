//! Laws of the form a = b · c, within one row and class.

use crate::QuantityForm as Form;

use super::PublishedFinding;
use super::bounds::IN_PROGRESS_SHARE_MIN;
use super::entry::{Entry, Row};
use super::range::ValueRange;

/// A quantity and its divisor.
type Term = (Form, Option<&'static str>);

/// Whether a factor multiplies or divides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Power {
    Times,
    Over,
}

/// One law: the whole is the product of the factors.
struct ProductLaw {
    name: &'static str,
    whole: Term,
    factors: &'static [(Term, Power)],
    /// Relative gap that the law leaves even to exact numbers.
    slack: f64,
    /// Whether a whole without a class is the sum over the classes of its factors.
    is_summed: bool,
}

const fn of(form: Form) -> Term {
    (form, None)
}

const PER_USER: Option<&str> = Some("users");

use Power::{Over, Times};

/// Sources: Little 1961; Denning and Buzen 1978 (utilization); else by the definition of the quantities.
const LAWS: [ProductLaw; 12] = [
    law("total", of(Form::Operations), &[(of(Form::Rate), Times), (of(Form::Duration), Times)]),
    law("total", of(Form::Data), &[(of(Form::Throughput), Times), (of(Form::Duration), Times)]),
    law("total", of(Form::Data), &[(of(Form::Operations), Times), (of(Form::Size), Times)]),
    law("total", of(Form::Errors), &[(of(Form::ErrorRate), Times), (of(Form::Duration), Times)]),
    summed(law("little", of(Form::InProgress), &[(of(Form::Rate), Times), (of(Form::Response), Times)])),
    law("throughput", of(Form::Throughput), &[(of(Form::Rate), Times), (of(Form::Size), Times)]),
    summed(law("utilization", of(Form::Utilization), &[(of(Form::Rate), Times), (of(Form::Service), Times)])),
    law("utilization", of(Form::Utilization), &[(of(Form::Throughput), Times), (of(Form::Bandwidth), Over)]),
    law(
        "utilization",
        of(Form::Utilization),
        &[(of(Form::Rate), Times), (of(Form::Size), Times), (of(Form::Bandwidth), Over)],
    ),
    law("per", of(Form::Rate), &[((Form::Rate, PER_USER), Times), (of(Form::Users), Times)]),
    law("per", of(Form::Operations), &[((Form::Operations, PER_USER), Times), (of(Form::Users), Times)]),
    law(
        "per",
        of(Form::Operations),
        &[((Form::Rate, PER_USER), Times), (of(Form::Users), Times), (of(Form::Duration), Times)],
    ),
];

const fn law(name: &'static str, whole: Term, factors: &'static [(Term, Power)]) -> ProductLaw {
    ProductLaw { name, whole, factors, slack: 0.0, is_summed: false }
}

const fn summed(law: ProductLaw) -> ProductLaw {
    ProductLaw { is_summed: true, ..law }
}

/// The share by which users may differ from rate · (response + think): the law is exact for infinitely long runs
/// only.
///
/// Source: our own bound for load points.
const INTERACTIVE_SLACK: f64 = 0.03;

/// Checks all such laws.
pub(super) fn check(row: &Row) -> Vec<PublishedFinding> {
    let classes = row.classes();
    let mut findings = Vec::new();
    for law in &LAWS {
        findings.extend(classes.iter().filter_map(|class| within_class(row, law, *class)));
        findings.extend(over_classes(row, law, &classes));
    }
    findings.extend(classes.iter().filter_map(|class| interactive(row, *class)));
    findings
}

/// Checks a law on the numbers of one class; factors may be those of all classes, but not all of them.
fn within_class(row: &Row, law: &ProductLaw, class: Option<&str>) -> Option<PublishedFinding> {
    let whole = row.per(law.whole.0, law.whole.1, class)?;
    let factors = factors(row, law, class)?;
    let is_own = factors.iter().any(|(factor, _)| factor.class == class);
    let product = product(&factors)?;
    let truth = whole_range(law, &whole);
    if !is_own || product.widened(law.slack).meets(truth) {
        return None;
    }
    let entries: Vec<Entry> = [whole].into_iter().chain(factors.iter().map(|(factor, _)| *factor)).collect();
    Some(PublishedFinding::of_row(law.name, row, &entries, text(&whole, &factors, product)))
}

/// Checks a whole without a class against the sum over the classes that have all factors.
fn over_classes(row: &Row, law: &ProductLaw, classes: &[Option<&str>]) -> Option<PublishedFinding> {
    let whole = row.per(law.whole.0, law.whole.1, None).filter(|_| law.is_summed)?;
    let own = |class: &Option<&str>| {
        let factors = factors(row, law, *class)?;
        (class.is_some() && factors.iter().all(|(factor, _)| factor.class == *class)).then_some(factors)
    };
    let parts: Vec<Vec<(Entry, Power)>> = classes.iter().filter_map(own).collect();
    let products: Vec<ValueRange> = parts.iter().filter_map(|part| product(part)).collect();
    let sum = products.iter().fold(ValueRange::ZERO, |sum, product| sum.plus(*product));
    if products.len() < 2 || sum.widened(law.slack).meets(whole_range(law, &whole)) {
        return None;
    }
    let written: Vec<String> = parts.iter().map(|part| product_text(part)).collect();
    let text = format!(
        "{} = {} ({} to {} before rounding), {} is printed",
        written.join(" + "),
        whole.in_its_unit(sum.middle()),
        whole.in_its_unit(sum.low),
        whole.in_its_unit(sum.high),
        whole.shown()
    );
    let entries: Vec<Entry> =
        [whole].into_iter().chain(parts.iter().flatten().map(|(factor, _)| *factor)).collect();
    Some(PublishedFinding::of_row(law.name, row, &entries, text))
}

fn factors<'a>(row: &Row<'a>, law: &ProductLaw, class: Option<&str>) -> Option<Vec<(Entry<'a>, Power)>> {
    let find = |((form, per), power): &(Term, Power)| {
        let entry = row.per(*form, *per, class).or_else(|| row.per(*form, *per, None))?;
        Some((entry, *power))
    };
    law.factors.iter().map(find).collect()
}

/// Returns the product; `None` if a divisor can be zero.
fn product(factors: &[(Entry, Power)]) -> Option<ValueRange> {
    factors.iter().try_fold(ValueRange::exact(1.0), |product, (factor, power)| match power {
        Times => Some(product.times(factor.range())),
        Over => product.over(factor.range()),
    })
}

/// Little's load factor is allowed a whole unit of its last digit: WebStone drops the fraction of the total response
/// time, up to 1 s, before it divides.
fn whole_range(law: &ProductLaw, whole: &Entry) -> ValueRange {
    match law.whole.0 {
        Form::InProgress => ValueRange::of_truncated(whole.number),
        _ => whole.range(),
    }
}

fn text(whole: &Entry, factors: &[(Entry, Power)], product: ValueRange) -> String {
    let agreeing: Vec<String> =
        factors.iter().filter_map(|factor| agreeing(whole, factor, product)).collect();
    format!(
        "{} = {}, {} is printed; {} would agree",
        product_text(factors),
        whole.in_its_unit(product.middle()),
        whole.shown(),
        agreeing.join(" or ")
    )
}

/// Returns the value of one factor with which the law would hold.
fn agreeing(whole: &Entry, (factor, power): &(Entry, Power), product: ValueRange) -> Option<String> {
    let off = whole.number.value / product.middle();
    let value = match power {
        Times => factor.number.value * off,
        Over => factor.number.value / off,
    };
    value.is_finite().then(|| format!("`{}` {}", factor.column.name, factor.in_its_unit(value)))
}

fn product_text(factors: &[(Entry, Power)]) -> String {
    let mut text = String::new();
    for (factor, power) in factors {
        match power {
            _ if text.is_empty() => {}
            Times => text.push_str(" · "),
            Over => text.push_str(" ÷ "),
        }
        text.push_str(&factor.shown());
    }
    text
}

/// Checks users = rate · (response time + think time).
///
/// Users without think time may be idle for a small part of the time, as between an error and the next operation. Where
/// a rate was offered, they wait for operations to fall due instead, and response times may count from then.
fn interactive(row: &Row, class: Option<&str>) -> Option<PublishedFinding> {
    let users = row.find(Form::Users, class)?;
    let rate = row.exactly(Form::Rate, class)?;
    let response = row.find(Form::Response, class)?;
    let think = row.find(Form::Think, class)?;
    let is_thinking = 0.0 < think.number.value;
    if !is_thinking && is_paced(row, class) {
        return None;
    }
    let found = rate.range().times(response.range().plus(think.range()));
    let idle_share = if is_thinking { INTERACTIVE_SLACK } else { 1.0 - IN_PROGRESS_SHARE_MIN };
    let least = users.range().widened(idle_share);
    let most = users.range().widened(INTERACTIVE_SLACK);
    if least.may_be_at_most(found) && found.may_be_at_most(most) {
        return None;
    }
    let cycle =
        if is_thinking { format!("({} + {})", response.shown(), think.shown()) } else { response.shown() };
    let seconds = users.number.value / rate.number.value - think.number.value;
    let text = format!(
        "{} · {cycle} = {}, {} is printed; `{}` {} would agree",
        rate.shown(),
        users.in_its_unit(found.middle()),
        users.shown(),
        response.column.name,
        response.in_its_unit(seconds)
    );
    Some(PublishedFinding::of_row("interactive", row, &[users, rate, response], text))
}

/// Returns whether the report says at which rate operations were offered, in all or per user.
fn is_paced(row: &Row, class: Option<&str>) -> bool {
    [None, PER_USER].into_iter().any(|per| {
        row.per(Form::OfferedRate, per, class).or_else(|| row.per(Form::OfferedRate, per, None)).is_some()
    })
}
