//! Checks of the report's statements about words and dates: equality, or one within the other.

use std::cmp::Ordering;

use crate::{CalendarDate, Comparator, Expression, PublishedValue, Reference, Statement};

use super::evaluate::{Cells, Context, EvaluationError};

/// One side of a comparison, or one cell of it.
#[derive(Debug, Clone)]
enum Word<'a> {
    Absent,
    Text(&'a str),
    Date(CalendarDate),
    /// The digits of a number as printed.
    Digits(String),
}

/// Returns whether a comparison is one of words or dates.
pub(super) fn is_of_words(context: &Context, statement: &Statement) -> bool {
    statement.comparator == Comparator::In
        || [&statement.left, &statement.right].into_iter().any(|side| match side {
            Expression::Text(_) => true,
            Expression::Figure(reference) => is_word(context, reference),
            _ => false,
        })
}

fn is_word(context: &Context, reference: &Reference) -> bool {
    let named = |name: &String| context.report.tables.iter().find(|table| table.id == *name);
    let Some(table) = reference.table.as_ref().and_then(named) else { return false };
    match table.column_or_given(&reference.column) {
        Some(column) => column.quantity.is_words() || column.quantity.is_date(),
        None => table.name(&reference.column).is_some(),
    }
}

/// Returns the words with which a comparison fails; `None` if it holds.
pub(super) fn contradiction(context: &Context, statement: &Statement) -> Option<String> {
    let (left, right) = match (words(context, &statement.left), words(context, &statement.right)) {
        (Ok(left), Ok(right)) => (left, right),
        (Err(error), _) | (_, Err(error)) => return Some(error.to_string()),
    };
    let n = left.len().max(right.len());
    let at = |side: &[Word], place: usize| -> Option<usize> {
        if side.len() == 1 { Some(0) } else { (place < side.len()).then_some(place) }
    };
    for place in 0..n {
        let (Some(one), Some(other)) = (at(&left, place), at(&right, place)) else {
            return Some(format!("{} figures are compared with {}", left.len(), right.len()));
        };
        if !holds(&left[one], statement.comparator, &right[other]) {
            return Some(format!("left {}, right {}", left[one].shown(), right[other].shown()));
        }
    }
    None
}

/// Returns the words of a side, one for each cell.
fn words<'a>(context: &'a Context, side: &'a Expression) -> Result<Vec<Word<'a>>, EvaluationError> {
    match side {
        Expression::Text(text) => Ok(vec![Word::Text(text)]),
        Expression::Number(number) => Ok(vec![Word::Digits(number.digits())]),
        Expression::Figure(reference) => of_reference(context, reference),
        _ => Err(EvaluationError::NoWords),
    }
}

fn of_reference<'a>(
    context: &'a Context,
    reference: &'a Reference,
) -> Result<Vec<Word<'a>>, EvaluationError> {
    let named = |name: &String| context.report.tables.iter().find(|table| table.id == *name);
    if let Some(table) = reference.table.as_ref().and_then(named)
        && table.column_or_given(&reference.column).is_none()
        && let Some(name) = table.name(&reference.column)
    {
        return Ok(vec![Word::Text(name)]);
    }
    let of = |value: &'a PublishedValue| match value {
        PublishedValue::Absent => Word::Absent,
        PublishedValue::Text(text) => Word::Text(text),
        PublishedValue::Date(date) => Word::Date(date.clone()),
        PublishedValue::Number(number) => Word::Digits(number.digits()),
    };
    Ok(match context.cells(reference)? {
        Cells::One(cell) => vec![of(&cell.value)],
        Cells::Many(cells) => cells.into_iter().map(|cell| of(&cell.value)).collect(),
    })
}

fn holds(left: &Word, comparator: Comparator, right: &Word) -> bool {
    if comparator == Comparator::In {
        return match (left, right) {
            (Word::Text(part), Word::Text(whole)) => stands_in(part, whole),
            (Word::Digits(digits), Word::Text(whole)) => is_number_in(digits, whole),
            _ => false,
        };
    }
    let as_date = |word: &Word| match word {
        Word::Date(date) => Some(date.clone()),
        Word::Text(text) => CalendarDate::parse(text),
        _ => None,
    };
    let order = match (left, right) {
        (Word::Text(one), Word::Text(other)) => Some(one.cmp(other)),
        (one, other) => as_date(one).zip(as_date(other)).map(|(one, other)| one.compare(&other)),
    };
    let Some(order) = order else { return false };
    match comparator {
        Comparator::Equal => order == Ordering::Equal,
        Comparator::Below => order == Ordering::Less,
        Comparator::AtMost => order != Ordering::Greater,
        Comparator::Above => order == Ordering::Greater,
        Comparator::AtLeast => order != Ordering::Less,
        Comparator::In => false,
    }
}

/// Returns whether words occur in others, as whole words.
fn stands_in(part: &str, whole: &str) -> bool {
    let is_end = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric());
    !part.is_empty()
        && whole.match_indices(part).any(|(at, _)| {
            is_end(whole[..at].chars().next_back()) && is_end(whole[at + part.len()..].chars().next())
        })
}

/// Returns whether a number occurs in words: 266 in `IBM PC Server 330 266MHz/512KB`, 150 in `604: 150, 200`.
fn is_number_in(digits: &str, whole: &str) -> bool {
    let is_same = |found: &str| match (found.parse::<f64>(), digits.parse::<f64>()) {
        (Ok(found), Ok(number)) => found == number,
        _ => found == digits,
    };
    numbers(whole).any(|number| is_same(&number.replace(',', "")) || number.split(',').any(is_same))
}

/// Returns the numbers in a text, with their points and commas.
fn numbers(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_ascii_digit() && c != '.' && c != ',')
        .map(|number| number.trim_matches(['.', ',']))
        .filter(|number| !number.is_empty())
}

impl Word<'_> {
    fn shown(&self) -> String {
        match self {
            Word::Absent => "a figure that is not given".to_owned(),
            Word::Text(text) => format!("`{text}`"),
            Word::Date(date) => date.text.clone(),
            Word::Digits(digits) => digits.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_words_and_numbers_are_found() {
        assert!(stands_in("AIX 4.1", "AIX 4.1.4.1"));
        assert!(!stands_in("Zeus", "Zeuss") && !stands_in("", "x"));
        for (digits, whole, is_there) in [
            ("266", "IBM PC Server 330 266MHz/512KB", true),
            ("4.30", "Four Compaq 4.3GB drives.", true),
            ("150", "PPC 604: 150, 200", true),
            ("143", "UltraSPARC 143,167", true),
            ("1000", "1,000 users", true),
            ("26", "IBM PC Server 330 266MHz/512KB", false),
            ("5", "AlphaServer 1200 5/533", true),
        ] {
            assert_eq!(is_number_in(digits, whole), is_there, "{digits} in {whole}");
        }
    }
}
