//! Checks that expressions can be computed: units that can be added and compared, divisors that are not zero, texts
//! only where they are allowed.
//!
//! A failure here is a mistake in the file. The audit checks whether a comparison holds, and relies on these checks.

use super::expression::{Comparator, Expression, Function, Operator, Reference, Statement};
use super::unit::Dimension;
use super::{CalendarDate, PublishedCell, PublishedColumn, PublishedTable, PublishedValue};

/// The base units of a product, each with its power; none for a plain number.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Powers(Vec<(String, i32)>);

/// The kind of value of an expression.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum ValueKind {
    /// A kind that no given figure determines.
    Unknown,
    /// The literal 0, which fits every unit.
    Zero,
    Number(Powers),
    Words,
    Date,
}

/// Values as printed, `None` where one is not given; words and dates have none.
#[derive(Debug, Clone, PartialEq)]
enum Values {
    One(Option<f64>),
    Many(Vec<Option<f64>>),
}

/// The result of an expression, as far as is needed to know that it can be computed.
#[derive(Debug, Clone, PartialEq)]
struct ComputedValue {
    kind: ValueKind,
    values: Values,
}

/// A reason why an expression cannot be computed or compared; its text is a clause.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub(super) enum ExpressionCheckError {
    #[error("`{column}` is not a number")]
    NotANumber { column: String },
    #[error("figures of `{column}` have different units: {one} and {other}")]
    MixedUnits { column: String, one: ValueKind, other: ValueKind },
    #[error("`{function}` takes one number")]
    NotOneNumber { function: &'static str },
    #[error("`{function}` takes a plain number, found one in {found}")]
    NotPlain { function: &'static str, found: Powers },
    #[error("`sqrt` of {0}, which is below zero")]
    RootOfNegative(f64),
    #[error("a number in {0} has no square root")]
    RootOfUnit(Powers),
    #[error("expected numbers, found {0}")]
    NotNumbers(ValueKind),
    #[error("{left} and {right} cannot be added")]
    Sum { left: ValueKind, right: ValueKind },
    #[error("division by zero")]
    DivisionByZero,
    #[error("a list of {left} and one of {right} cannot be paired")]
    Lengths { left: usize, right: usize },
    #[error("a text cannot contain a date")]
    DateInText,
    #[error("expected a text after `in`, found {0}")]
    NotInText(ValueKind),
    #[error("texts can be compared by `=` and `in` only")]
    OrderOfTexts,
    #[error("expected a date, found `{0}`")]
    NotADate(String),
    #[error("a date cannot be compared with a text")]
    DateWithText,
    #[error("{left} cannot be compared with {right}")]
    Comparison { left: ValueKind, right: ValueKind },
}

/// The tables that an expression can refer to, and its own row.
#[derive(Clone, Copy)]
pub(super) struct ExpressionScope<'a> {
    pub(super) tables: &'a [&'a PublishedTable],
    /// The row that names without a table refer to.
    pub(super) own: Option<(&'a PublishedTable, usize)>,
}

impl ExpressionScope<'_> {
    /// Checks a comparison.
    pub(super) fn check_statement(self, statement: &Statement) -> Result<(), ExpressionCheckError> {
        let left = self.evaluate(&statement.left)?;
        let right = self.evaluate(&statement.right)?;
        let literal = [&statement.left, &statement.right].into_iter().find_map(|side| match side {
            Expression::Text(text) => Some(text.as_str()),
            _ => None,
        });
        comparable(&left.kind, statement.comparator, &right.kind, literal)?;
        paired(&left.values, &right.values, |_, _| Ok(None)).map(|_| ())
    }

    /// Checks what a figure equals or is within.
    pub(super) fn check_definition(
        self,
        column: &PublishedColumn,
        cell: &PublishedCell,
        expression: &Expression,
    ) -> Result<(), ExpressionCheckError> {
        let own = match &cell.value {
            PublishedValue::Number(number) => ValueKind::Number(Powers::of(&number.dimension)),
            PublishedValue::Absent => ValueKind::Unknown,
            _ => return Err(ExpressionCheckError::NotANumber { column: column.id.clone() }),
        };
        let computed = self.evaluate(expression)?;
        comparable(&own, Comparator::Equal, &computed.kind, None)
    }

    fn evaluate(self, expression: &Expression) -> Result<ComputedValue, ExpressionCheckError> {
        match expression {
            Expression::Number(number) => {
                let is_zero = number.value == 0.0 && number.dimension == Dimension::Plain;
                let kind =
                    if is_zero { ValueKind::Zero } else { ValueKind::Number(Powers::of(&number.dimension)) };
                Ok(ComputedValue { kind, values: Values::One(Some(number.value)) })
            }
            Expression::Text(_) => Ok(ComputedValue { kind: ValueKind::Words, values: Values::One(None) }),
            Expression::Figure(reference) => self.figure(reference),
            Expression::Call(Function::Count, arguments) => {
                arguments.iter().try_for_each(|argument| self.evaluate(argument).map(|_| ()))?;
                // The audit counts them.
                Ok(ComputedValue { kind: ValueKind::Number(Powers::default()), values: Values::One(None) })
            }
            Expression::Call(function, arguments) => self.call(*function, arguments),
            Expression::Binary(operator, left, right) => {
                let left = self.evaluate(left)?;
                let right = self.evaluate(right)?;
                Ok(ComputedValue {
                    kind: combined(*operator, &left.kind, &right.kind)?,
                    values: paired(&left.values, &right.values, |left, right| {
                        computed(*operator, left, right)
                    })?,
                })
            }
        }
    }

    fn figure(self, reference: &Reference) -> Result<ComputedValue, ExpressionCheckError> {
        let unknown = || Ok(ComputedValue { kind: ValueKind::Unknown, values: Values::One(None) });
        let (table, row) = match (&reference.table, self.own) {
            (None, Some((table, row))) => (table, Some(row)),
            (None, None) => return unknown(),
            (Some(name), _) => {
                let Some(table) = self.tables.iter().find(|table| table.id == *name) else {
                    return unknown();
                };
                (*table, reference.key.as_ref().and_then(|key| table.row_of(key)))
            }
        };
        if let Some((_, cell)) = table.given.iter().find(|(column, _)| column.id == reference.column) {
            return of_cells(reference, &[cell], true);
        }
        let Some(index) = table.column(&reference.column) else {
            return Ok(ComputedValue { kind: ValueKind::Words, values: Values::One(None) });
        };
        let is_one = row.is_some() || reference.key.is_some() || table.key.is_empty();
        let cells: Vec<&PublishedCell> = match row {
            Some(row) => table.rows.get(row).into_iter().map(|row| &row[index]).collect(),
            None => table.rows.iter().map(|row| &row[index]).collect(),
        };
        of_cells(reference, &cells, is_one)
    }

    fn call(
        self,
        function: Function,
        arguments: &[Expression],
    ) -> Result<ComputedValue, ExpressionCheckError> {
        let operands: Vec<ComputedValue> =
            arguments.iter().map(|argument| self.evaluate(argument)).collect::<Result<_, _>>()?;
        let mut kind = ValueKind::Zero;
        for operand in &operands {
            kind = combined(Operator::Plus, &kind, &operand.kind)?;
        }
        let mut numbers: Vec<f64> = Vec::new();
        for operand in &operands {
            match &operand.values {
                Values::One(value) => numbers.extend(value),
                Values::Many(values) => numbers.extend(values.iter().flatten()),
            }
        }
        let name = function.name();
        let is_of_one = matches!(function, Function::Sqrt | Function::Ceil | Function::Floor);
        if is_of_one && !matches!(operands.as_slice(), [ComputedValue { values: Values::One(_), .. }]) {
            return Err(ExpressionCheckError::NotOneNumber { function: name });
        }
        let first = numbers.first().copied();
        let (kind, value) = match function {
            Function::Sqrt => {
                if let Some(number) = first.filter(|number| *number < 0.0) {
                    return Err(ExpressionCheckError::RootOfNegative(number));
                }
                (kind.root()?, first.map(f64::sqrt))
            }
            Function::Ceil | Function::Floor => {
                if let ValueKind::Number(powers) = &kind
                    && !powers.0.is_empty()
                {
                    return Err(ExpressionCheckError::NotPlain { function: name, found: powers.clone() });
                }
                (kind, first.map(if function == Function::Ceil { f64::ceil } else { f64::floor }))
            }
            Function::Sum => (kind, (!numbers.is_empty()).then(|| numbers.iter().sum())),
            Function::Mean => {
                (kind, (!numbers.is_empty()).then(|| numbers.iter().sum::<f64>() / numbers.len() as f64))
            }
            Function::Min => (kind, numbers.iter().copied().reduce(f64::min)),
            Function::Max => (kind, numbers.iter().copied().reduce(f64::max)),
            Function::First => (kind, first),
            Function::Last => (kind, numbers.last().copied()),
            Function::Count => (kind, None),
        };
        Ok(ComputedValue { kind, values: Values::One(value) })
    }
}

/// Returns the kind and the values of the cells of a reference; they must be of one kind.
fn of_cells(
    reference: &Reference,
    cells: &[&PublishedCell],
    is_one: bool,
) -> Result<ComputedValue, ExpressionCheckError> {
    let mut kind = ValueKind::Unknown;
    for cell in cells {
        let own = match &cell.value {
            PublishedValue::Absent => continue,
            PublishedValue::Number(number) => ValueKind::Number(Powers::of(&number.dimension)),
            PublishedValue::Date(_) => ValueKind::Date,
            PublishedValue::Text(_) => ValueKind::Words,
        };
        if kind != ValueKind::Unknown && kind != own {
            let column = reference.column.clone();
            return Err(ExpressionCheckError::MixedUnits { column, one: kind, other: own });
        }
        kind = own;
    }
    let mut values = cells.iter().map(|cell| cell.value.number().map(|number| number.value));
    let values = if is_one { Values::One(values.next().flatten()) } else { Values::Many(values.collect()) };
    Ok(ComputedValue { kind, values })
}

/// Returns the kind that an operator gives for two kinds.
fn combined(
    operator: Operator,
    left: &ValueKind,
    right: &ValueKind,
) -> Result<ValueKind, ExpressionCheckError> {
    for side in [left, right] {
        if matches!(side, ValueKind::Words | ValueKind::Date) {
            return Err(ExpressionCheckError::NotNumbers(side.clone()));
        }
    }
    let plain = Powers::default();
    let powers = |kind: &ValueKind| match kind {
        ValueKind::Number(powers) => powers.clone(),
        _ => plain.clone(),
    };
    match (operator, left, right) {
        (Operator::Times | Operator::Over, ValueKind::Unknown, _) => Ok(ValueKind::Unknown),
        (Operator::Times | Operator::Over, _, ValueKind::Unknown) => Ok(ValueKind::Unknown),
        (Operator::Times, ..) => Ok(ValueKind::Number(powers(left).times(&powers(right), 1))),
        (Operator::Over, ..) => Ok(ValueKind::Number(powers(left).times(&powers(right), -1))),
        (_, ValueKind::Zero | ValueKind::Unknown, other)
        | (_, other, ValueKind::Zero | ValueKind::Unknown) => Ok(other.clone()),
        (_, one, other) if one == other => Ok(one.clone()),
        _ => Err(ExpressionCheckError::Sum { left: left.clone(), right: right.clone() }),
    }
}

/// Checks that two sides can be compared; `literal` is the text of the comparison itself, if it has one.
fn comparable(
    left: &ValueKind,
    comparator: Comparator,
    right: &ValueKind,
    literal: Option<&str>,
) -> Result<(), ExpressionCheckError> {
    if comparator == Comparator::In {
        return match (left, right) {
            (ValueKind::Date, _) => Err(ExpressionCheckError::DateInText),
            (_, ValueKind::Words | ValueKind::Unknown) => Ok(()),
            (_, other) => Err(ExpressionCheckError::NotInText(other.clone())),
        };
    }
    match (left, right) {
        (ValueKind::Unknown, _) | (_, ValueKind::Unknown) => Ok(()),
        (ValueKind::Words, ValueKind::Words) if comparator != Comparator::Equal => {
            Err(ExpressionCheckError::OrderOfTexts)
        }
        (ValueKind::Words, ValueKind::Date) | (ValueKind::Date, ValueKind::Words) => match literal {
            Some(text) if CalendarDate::parse(text).is_some() => Ok(()),
            Some(text) => Err(ExpressionCheckError::NotADate(text.to_owned())),
            None => Err(ExpressionCheckError::DateWithText),
        },
        (ValueKind::Zero, ValueKind::Number(_)) | (ValueKind::Number(_), ValueKind::Zero) => Ok(()),
        (one, other) if one == other => Ok(()),
        _ => Err(ExpressionCheckError::Comparison { left: left.clone(), right: right.clone() }),
    }
}

/// Applies `of` to pairs of values: cell by cell, or a number with each cell of a list.
fn paired(
    left: &Values,
    right: &Values,
    of: impl Fn(Option<f64>, Option<f64>) -> Result<Option<f64>, ExpressionCheckError>,
) -> Result<Values, ExpressionCheckError> {
    let many: Vec<Option<f64>> = match (left, right) {
        (Values::One(left), Values::One(right)) => return Ok(Values::One(of(*left, *right)?)),
        (Values::One(left), Values::Many(right)) => {
            right.iter().map(|right| of(*left, *right)).collect::<Result<_, _>>()?
        }
        (Values::Many(left), Values::One(right)) => {
            left.iter().map(|left| of(*left, *right)).collect::<Result<_, _>>()?
        }
        (Values::Many(left), Values::Many(right)) if left.len() == right.len() => {
            left.iter().zip(right).map(|(left, right)| of(*left, *right)).collect::<Result<_, _>>()?
        }
        (Values::Many(left), Values::Many(right)) => {
            return Err(ExpressionCheckError::Lengths { left: left.len(), right: right.len() });
        }
    };
    Ok(Values::Many(many))
}

fn computed(
    operator: Operator,
    left: Option<f64>,
    right: Option<f64>,
) -> Result<Option<f64>, ExpressionCheckError> {
    if operator == Operator::Over && right == Some(0.0) {
        return Err(ExpressionCheckError::DivisionByZero);
    }
    let (Some(left), Some(right)) = (left, right) else { return Ok(None) };
    Ok(Some(match operator {
        Operator::Plus => left + right,
        Operator::Minus => left - right,
        Operator::Times => left * right,
        Operator::Over => left / right,
    }))
}

impl Powers {
    fn of(dimension: &Dimension) -> Powers {
        let powers: &[(&str, i32)] = match dimension {
            Dimension::Plain => &[],
            Dimension::Time => &[("s", 1)],
            Dimension::PerTime => &[("s", -1)],
            Dimension::Data => &[("B", 1)],
            Dimension::DataPerTime => &[("B", 1), ("s", -1)],
            Dimension::Frequency => &[("Hz", 1)],
            Dimension::Money(currency) => &[(currency, 1)],
        };
        Powers(powers.iter().map(|(unit, power)| ((*unit).to_owned(), *power)).collect())
    }

    /// Returns the powers of this times the other to the power of `sign`.
    fn times(&self, other: &Powers, sign: i32) -> Powers {
        let mut powers = self.0.clone();
        for (unit, power) in &other.0 {
            match powers.iter_mut().find(|(known, _)| known == unit) {
                // No text of an expression is so long that this overflows, but it costs nothing to be sure.
                Some((_, known)) => *known = known.saturating_add(sign * power),
                None => powers.push((unit.clone(), sign * power)),
            }
        }
        powers.retain(|(_, power)| *power != 0);
        powers.sort();
        Powers(powers)
    }
}

impl ValueKind {
    /// Returns the kind of the square root.
    fn root(&self) -> Result<ValueKind, ExpressionCheckError> {
        match self {
            ValueKind::Number(powers) if powers.0.iter().any(|(_, power)| power % 2 != 0) => {
                Err(ExpressionCheckError::RootOfUnit(powers.clone()))
            }
            ValueKind::Number(powers) => {
                let halves = powers.0.iter().map(|(unit, power)| (unit.clone(), power / 2));
                Ok(ValueKind::Number(Powers(halves.collect())))
            }
            other => Ok(other.clone()),
        }
    }
}

impl std::fmt::Display for Powers {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        let written = |sign: i32| {
            let factor = |(unit, power): &(String, i32)| match power.abs() {
                1 => unit.clone(),
                power => format!("{unit}^{power}"),
            };
            let factors: Vec<String> =
                self.0.iter().filter(|(_, power)| 0 < sign * power).map(factor).collect();
            factors.join("·")
        };
        match written(-1) {
            below if below.is_empty() => write!(f, "{}", written(1)),
            below => write!(f, "{}/{below}", written(1)),
        }
    }
}

impl std::fmt::Display for ValueKind {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        match self {
            ValueKind::Unknown => write!(f, "a figure that is not given"),
            ValueKind::Zero => write!(f, "0"),
            ValueKind::Number(powers) if powers.0.is_empty() => write!(f, "a plain number"),
            ValueKind::Number(powers) => write!(f, "a number in {powers}"),
            ValueKind::Words => write!(f, "a text"),
            ValueKind::Date => write!(f, "a date"),
        }
    }
}
