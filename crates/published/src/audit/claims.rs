//! Checks of the report's own statements about its numbers: definitions, parts, claims.

use crate::{
    Claim, Comparator, Dimension, Expression, Function, PrintedNumber, PublishedColumn, PublishedReport,
    PublishedTable, Reference, Statement,
};

use super::PublishedFinding;
use super::evaluate::{Context, Value, paired};
use super::range::ValueRange;
use super::{words, written};

/// Checks the definitions of figures, then the claims.
pub(super) fn check(report: &PublishedReport) -> Vec<PublishedFinding> {
    let of_tables = report.tables.iter().flat_map(|table| definitions(report, table));
    let of_claims = report.claims.iter().flat_map(|claim| of_claim(report, claim));
    of_tables.chain(of_claims).collect()
}

/// Checks `equals` and `within` of a table's columns, row by row.
fn definitions(report: &PublishedReport, table: &PublishedTable) -> Vec<PublishedFinding> {
    let mut findings = Vec::new();
    for column in table.columns.iter().chain(table.given.iter().map(|(column, _)| column)) {
        let rules =
            [("equals", Comparator::Equal, &column.equals), ("within", Comparator::AtMost, &column.within)];
        for (law, comparator, expression) in rules {
            let Some(expression) = expression else { continue };
            // A column that holds for all rows is checked once.
            let n_rows = if table.column(&column.id).is_some() { table.rows.len() } else { 1 };
            for row in 0..n_rows {
                let context = Context { report, own: Some((table, row)) };
                findings.extend(definition(&context, table, row, column, law, comparator, expression));
            }
        }
    }
    findings
}

fn definition(
    context: &Context,
    table: &PublishedTable,
    row: usize,
    column: &PublishedColumn,
    law: &'static str,
    comparator: Comparator,
    expression: &Expression,
) -> Option<PublishedFinding> {
    let given = || table.given.iter().find(|(given, _)| given.id == column.id).map(|(_, cell)| cell);
    let cell = table.column(&column.id).map(|place| &table.rows[row][place]).or_else(given)?;
    let number = cell.value.number()?;
    let own = Value::One(Some(ValueRange::of(number)));
    let objection = objection(context, own, comparator, expression, number)?;
    let key = table.row_key(row);
    let place =
        if key.is_empty() { table.title.clone() } else { format!("{}, {}", table.title, key.join(", ")) };
    let cells = vec![(table.id.clone(), row, column.id.clone())];
    Some(PublishedFinding {
        law,
        place,
        text: format!("`{}` {}: {objection}", column.name, number.text),
        cells,
    })
}

/// Returns the contradiction between a value and an expression, if any.
fn objection(
    context: &Context,
    own: Value,
    comparator: Comparator,
    expression: &Expression,
    number: &PrintedNumber,
) -> Option<String> {
    let computed = match context.evaluate(expression) {
        Ok(value) => value,
        Err(error) => return Some(error.to_string()),
    };
    let pairs = match paired(own, computed) {
        Ok(pairs) => pairs,
        Err(error) => return Some(error.to_string()),
    };
    let wrong = pairs.into_iter().find(|(own, other)| !holds(*own, comparator, *other))?;
    // At most the highest possible value.
    let shown = |range: ValueRange| match comparator {
        Comparator::AtMost => ValueRange::exact(range.high),
        _ => range,
    };
    let found = wrong.1.map(|range| written::range(shown(range), &number.unit, number.scale));
    let found = found.unwrap_or_else(|| "nothing".to_owned());
    Some(format!(
        "the report's own rule makes it {}{found}",
        if comparator == Comparator::Equal { "" } else { "at most " }
    ))
}

fn of_claim(report: &PublishedReport, claim: &Claim) -> Vec<PublishedFinding> {
    let context = Context { report, own: None };
    let finding = |comparison: &Statement| {
        let objection = if words::is_of_words(&context, comparison) {
            words::contradiction(&context, comparison)?
        } else {
            contradiction(&context, comparison)?
        };
        let basis = claim.basis.as_ref().map_or(String::new(), |basis| format!(" (by {basis})"));
        let text = format!("{}: `{}` does not hold{basis}: {objection}", claim.text, comparison.text);
        let place = claim.at.clone().unwrap_or_else(|| claim.id.clone());
        Some(PublishedFinding { law: "claim", place, text, cells: Vec::new() })
    };
    claim.says.iter().filter_map(finding).collect()
}

/// Returns the numbers with which a comparison fails; `None` if it can be true.
fn contradiction(context: &Context, comparison: &Statement) -> Option<String> {
    let sides = || Ok((context.evaluate(&comparison.left)?, context.evaluate(&comparison.right)?));
    let pairs = sides().and_then(|(left, right): (Value, Value)| paired(left, right));
    let pairs = match pairs {
        Ok(pairs) => pairs,
        Err(error) => return Some(error.to_string()),
    };
    let (left, right) =
        pairs.into_iter().find(|(left, right)| !holds(*left, comparison.comparator, *right))?;
    let unit = [&comparison.right, &comparison.left].into_iter().find_map(|side| unit_in(context, side));
    let (unit, scale) = unit.unwrap_or(("", 1.0));
    let side = |range: Option<ValueRange>| {
        range.map_or_else(
            || "a figure that is not given".to_owned(),
            |range| written::range(range, unit, scale),
        )
    };
    Some(format!("left {}, right {}", side(left), side(right)))
}

/// Returns whether a comparison can be true of some values of the ranges; false if one is not given.
fn holds(left: Option<ValueRange>, comparator: Comparator, right: Option<ValueRange>) -> bool {
    let (Some(left), Some(right)) = (left, right) else { return false };
    match comparator {
        Comparator::Equal => left.overlaps(right),
        Comparator::AtMost => left.may_be_at_most(right),
        Comparator::Below => left.may_be_below(right),
        Comparator::AtLeast => right.may_be_at_most(left),
        Comparator::Above => right.may_be_below(left),
        // A comparison with words, which is made in `words`.
        Comparator::In => false,
    }
}

/// Returns the unit of the first number that has one, on one side of a comparison; a product has a unit of its own.
fn unit_in<'a>(context: &Context<'a>, side: &'a Expression) -> Option<(&'a str, f64)> {
    match side {
        Expression::Number(number) => {
            (number.dimension != Dimension::Plain).then_some((number.unit.as_str(), number.scale))
        }
        Expression::Figure(reference) => unit_of_reference(context, reference),
        Expression::Text(_) | Expression::Call(Function::Count, _) => None,
        Expression::Call(_, arguments) => arguments.first().and_then(|argument| unit_in(context, argument)),
        Expression::Binary(..) => None,
    }
}

fn unit_of_reference<'a>(context: &Context<'a>, reference: &Reference) -> Option<(&'a str, f64)> {
    let table = context.report.tables.iter().find(|table| Some(&table.id) == reference.table.as_ref())?;
    let place = table.column(&reference.column)?;
    let number = table.rows.iter().find_map(|row| row[place].value.number())?;
    Some((&number.unit, number.scale))
}
