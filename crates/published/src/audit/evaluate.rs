//! Expressions, computed with ranges.

use crate::{
    Expression, Function, Operator, PublishedCell, PublishedReport, PublishedTable, PublishedValue, Reference,
};

use super::range::ValueRange;

/// The value of an expression.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value {
    /// One number; `None` if it is not given.
    One(Option<ValueRange>),
    /// A list of numbers.
    Many(Vec<Option<ValueRange>>),
}

/// A reason why an expression has no value; its text is a clause.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum EvaluationError {
    #[error("`{0}` is not a number")]
    NotANumber(String),
    #[error("`{column}` does not exist")]
    NoFigure { column: String },
    /// A side of a comparison of words.
    #[error("expected a figure or a text")]
    NoWords,
    #[error("a list of {left} and one of {right} cannot be paired")]
    Lengths { left: usize, right: usize },
}

/// The context of an expression: the row that names without a table refer to.
#[derive(Debug, Clone, Copy)]
pub(super) struct Context<'a> {
    pub(super) report: &'a PublishedReport,
    pub(super) own: Option<(&'a PublishedTable, usize)>,
}

impl Context<'_> {
    /// Computes an expression.
    pub(super) fn evaluate(&self, expression: &Expression) -> Result<Value, EvaluationError> {
        match expression {
            Expression::Number(number) => Ok(Value::One(Some(ValueRange::of(number)))),
            Expression::Text(text) => Err(EvaluationError::NotANumber(text.clone())),
            Expression::Figure(reference) => self.figure(reference),
            Expression::Call(function, arguments) => self.call(*function, arguments),
            Expression::Binary(operator, left, right) => {
                binary(*operator, self.evaluate(left)?, self.evaluate(right)?)
            }
        }
    }

    fn figure(&self, reference: &Reference) -> Result<Value, EvaluationError> {
        let number = |cell: &PublishedCell| match &cell.value {
            PublishedValue::Absent => Ok(None),
            PublishedValue::Number(number) => Ok(Some(ValueRange::of(number))),
            other => Err(EvaluationError::NotANumber(other.text().to_owned())),
        };
        match self.cells(reference)? {
            Cells::One(cell) => Ok(Value::One(number(cell)?)),
            Cells::Many(cells) => Ok(Value::Many(cells.into_iter().map(number).collect::<Result<_, _>>()?)),
        }
    }

    /// Returns the cells that a reference means.
    pub(super) fn cells(&self, reference: &Reference) -> Result<Cells<'_>, EvaluationError> {
        let nowhere = || EvaluationError::NoFigure { column: reference.column.clone() };
        let named = |name: &String| self.report.tables.iter().find(|table| table.id == *name);
        let (table, row) = match (&reference.table, self.own) {
            (Some(name), _) => {
                let table = named(name).ok_or_else(nowhere)?;
                let row = reference.key.as_ref().map(|key| table.row_of(key));
                (table, row.map(|row| row.ok_or_else(nowhere)).transpose()?)
            }
            (None, Some((table, row))) => (table, Some(row)),
            (None, None) => return Err(nowhere()),
        };
        if let Some((_, cell)) = table.given.iter().find(|(column, _)| column.id == reference.column) {
            return Ok(Cells::One(cell));
        }
        let place = table.column(&reference.column).ok_or_else(nowhere)?;
        match row {
            Some(row) => Ok(Cells::One(&table.rows[row][place])),
            None if table.key.is_empty() => Ok(Cells::One(&table.rows[0][place])),
            None => Ok(Cells::Many(table.rows.iter().map(|row| &row[place]).collect())),
        }
    }

    fn call(&self, function: Function, arguments: &[Expression]) -> Result<Value, EvaluationError> {
        if function == Function::Count {
            return self.count(arguments);
        }
        let mut numbers = Vec::new();
        for argument in arguments {
            match self.evaluate(argument)? {
                Value::One(number) => numbers.push(number),
                Value::Many(list) => numbers.extend(list),
            }
        }
        let numbers: Vec<ValueRange> = numbers.into_iter().flatten().collect();
        Ok(Value::One(apply(function, &numbers)))
    }

    /// Counts the given cells, words included.
    fn count(&self, arguments: &[Expression]) -> Result<Value, EvaluationError> {
        let mut n = 0;
        for argument in arguments {
            n += match argument {
                Expression::Figure(reference) => match self.cells(reference)? {
                    Cells::One(cell) => usize::from(cell.value != PublishedValue::Absent),
                    Cells::Many(cells) => {
                        cells.iter().filter(|cell| cell.value != PublishedValue::Absent).count()
                    }
                },
                other => match self.evaluate(other)? {
                    Value::One(number) => usize::from(number.is_some()),
                    Value::Many(list) => list.iter().flatten().count(),
                },
            };
        }
        Ok(Value::One(Some(ValueRange::exact(n as f64))))
    }
}

/// The cells that a reference means.
pub(super) enum Cells<'a> {
    One(&'a PublishedCell),
    Many(Vec<&'a PublishedCell>),
}

/// Applies a function to the given numbers; `None` if there are none.
fn apply(function: Function, numbers: &[ValueRange]) -> Option<ValueRange> {
    let each =
        |of: fn(f64) -> f64| numbers.first().map(|one| ValueRange { low: of(one.low), high: of(one.high) });
    let ends = |pick: fn(f64, f64) -> f64| {
        numbers
            .iter()
            .copied()
            .reduce(|a, b| ValueRange { low: pick(a.low, b.low), high: pick(a.high, b.high) })
    };
    let sum = || numbers.iter().copied().reduce(ValueRange::plus);
    match function {
        Function::Sum => sum(),
        Function::Mean => sum()?.over(ValueRange::exact(numbers.len() as f64)),
        Function::Min => ends(f64::min),
        Function::Max => ends(f64::max),
        Function::First => numbers.first().copied(),
        Function::Last => numbers.last().copied(),
        Function::Sqrt => each(|number| number.max(0.0).sqrt()),
        Function::Ceil => each(f64::ceil),
        Function::Floor => each(f64::floor),
        // Counted above, because words count as well.
        Function::Count => Some(ValueRange::exact(numbers.len() as f64)),
    }
}

fn binary(operator: Operator, left: Value, right: Value) -> Result<Value, EvaluationError> {
    let one = |(left, right): Pair| {
        let left = left?;
        let right = right?;
        match operator {
            Operator::Plus => Some(left.plus(right)),
            Operator::Minus => Some(left.minus(right)),
            Operator::Times => Some(left.times(right)),
            // A file that divides by a printed zero was refused; here rounding may have made it zero.
            Operator::Over => Some(left.over(right).unwrap_or(ValueRange::ANY)),
        }
    };
    match (left, right) {
        (Value::One(left), Value::One(right)) => Ok(Value::One(one((left, right)))),
        (left, right) => Ok(Value::Many(paired(left, right)?.into_iter().map(one).collect())),
    }
}

/// A pair of numbers; `None` where one is not given.
type Pair = (Option<ValueRange>, Option<ValueRange>);

/// Pairs two lists cell by cell, or a number with each cell of a list.
///
/// # Errors
///
/// The lists are not of the same length.
pub(super) fn paired(left: Value, right: Value) -> Result<Vec<Pair>, EvaluationError> {
    match (left, right) {
        (Value::One(left), Value::One(right)) => Ok(vec![(left, right)]),
        (Value::One(left), Value::Many(right)) => Ok(right.into_iter().map(|right| (left, right)).collect()),
        (Value::Many(left), Value::One(right)) => Ok(left.into_iter().map(|left| (left, right)).collect()),
        (Value::Many(left), Value::Many(right)) if left.len() == right.len() => {
            Ok(left.into_iter().zip(right).collect())
        }
        (Value::Many(left), Value::Many(right)) => {
            Err(EvaluationError::Lengths { left: left.len(), right: right.len() })
        }
    }
}
