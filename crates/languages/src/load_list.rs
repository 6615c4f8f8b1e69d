//! Lists of load levels as people write them: `10..200/10`, `1,2,5`, `16..128/16,200`.
//!
//! ```text
//! list = item { "," item }
//! item = number | number ".." number [ "/" number ]     from, to (included), step (1 if absent)
//! ```

use std::ops::Range;

/// The most users of one load point.
pub const USERS_MAX: u32 = 1_000_000;

/// The highest rate of one load point, in operations per second.
pub const RATE_MAX: f64 = 10_000_000.0;

/// The most load points of one run.
pub const LOAD_POINTS_MAX: usize = 1000;

/// A mistake in a list of load levels, with its position.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct LoadListError {
    /// The message: what was expected and what was found.
    pub message: String,
    /// The position, in bytes from the start of the list.
    pub span: Range<usize>,
    /// The remedy: what to write instead.
    pub hint: String,
}

/// A text that is not a level.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
enum LevelError {
    #[error("expected a number of users from 1 to {USERS_MAX}, found `{0}`")]
    Users(String),
    #[error("expected a rate above 0 and up to {RATE_MAX} per second, found `{0}`")]
    Rate(String),
}

/// Reads a list of numbers of users, in the order written.
///
/// # Errors
///
/// If it is not a list, a number is not whole or not from 1 to [`USERS_MAX`], a range does not end where its
/// steps do, a number comes twice, or there are more than [`LOAD_POINTS_MAX`].
pub fn parse_load(text: &str) -> Result<Vec<u32>, LoadListError> {
    let levels = parse(text, |number| match number.parse::<u32>() {
        Ok(users) if (1..=USERS_MAX).contains(&users) => Ok(f64::from(users)),
        _ => Err(LevelError::Users(number.to_owned())),
    })?;
    Ok(levels.into_iter().map(|level| level as u32).collect())
}

/// Reads a list of rates, in operations per second, in the order written; they may have decimals.
///
/// # Errors
///
/// As [`parse_load`]; rates must be above zero and at most [`RATE_MAX`].
pub fn parse_rates(text: &str) -> Result<Vec<f64>, LoadListError> {
    parse(text, |number| {
        let is_plain = number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
        match number.parse::<f64>() {
            Ok(rate) if is_plain && 0.0 < rate && rate <= RATE_MAX => Ok(rate),
            _ => Err(LevelError::Rate(number.to_owned())),
        }
    })
}

/// Writes levels so that [`parse_load`] or [`parse_rates`] give the same again: as a range where they have
/// equal steps, else one by one.
pub fn load_text(levels: impl IntoIterator<Item = f64>) -> String {
    let levels: Vec<f64> = levels.into_iter().collect();
    if let [first, second, .., last] = levels[..] {
        let step = second - first;
        let is_range = 0.0 < step && levels.windows(2).all(|pair| pair[1] - pair[0] == step);
        if is_range && 2 < levels.len() {
            let step = if step == 1.0 { String::new() } else { format!("/{step}") };
            return format!("{first}..{last}{step}");
        }
    }
    levels.iter().map(f64::to_string).collect::<Vec<_>>().join(",")
}

fn parse(text: &str, number: impl Fn(&str) -> Result<f64, LevelError>) -> Result<Vec<f64>, LoadListError> {
    let mut levels = Vec::new();
    let mut start = 0;
    for item in text.split(',') {
        let piece = Piece::new(item, start);
        start += item.len() + 1;
        for level in piece.levels(&number)? {
            if levels.contains(&level) {
                return Err(piece.error(format!("{level} is listed twice"), "leave one of them out"));
            }
            if levels.len() == LOAD_POINTS_MAX {
                let message = format!("more than {LOAD_POINTS_MAX} load points");
                return Err(piece.error(message, "use a larger step, or fewer levels"));
            }
            levels.push(level);
        }
    }
    Ok(levels)
}

/// A part of the list, with its position.
#[derive(Clone, Copy)]
struct Piece<'a> {
    text: &'a str,
    start: usize,
}

impl<'a> Piece<'a> {
    /// Trims the white space around a part.
    fn new(text: &'a str, start: usize) -> Piece<'a> {
        Piece { text: text.trim(), start: start + text.len() - text.trim_start().len() }
    }

    fn error(self, message: String, hint: &str) -> LoadListError {
        let span = self.start..self.start + self.text.len();
        LoadListError { message, span, hint: hint.to_owned() }
    }

    fn number(self, number: impl Fn(&str) -> Result<f64, LevelError>) -> Result<f64, LoadListError> {
        const HINT: &str = "write a range with a step such as `10..200/10`, or a list such as `1,2,5`";
        number(self.text).map_err(|error| self.error(error.to_string(), HINT))
    }

    /// Splits the part at a separator, if it contains one.
    fn cut(self, separator: &str) -> (Piece<'a>, Option<Piece<'a>>) {
        match self.text.split_once(separator) {
            None => (self, None),
            Some((left, right)) => {
                let right_start = self.start + left.len() + separator.len();
                (Piece::new(left, self.start), Some(Piece::new(right, right_start)))
            }
        }
    }

    /// Returns the levels of an item: one, or those of a range.
    fn levels(self, number: impl Fn(&str) -> Result<f64, LevelError>) -> Result<Vec<f64>, LoadListError> {
        let (from, rest) = self.cut("..");
        let first = from.number(&number)?;
        let Some(rest) = rest else { return Ok(vec![first]) };
        let (to, step) = rest.cut("/");
        let last = to.number(&number)?;
        let step = step.map_or(Ok(1.0), |step| step.number(&number))?;
        if last < first {
            return Err(self.error(
                format!("the range falls from {first} to {last}"),
                "write the lower end first; a list such as `200,100,50` may fall",
            ));
        }
        let n_steps = ((last - first) / step).round();
        if LOAD_POINTS_MAX as f64 <= n_steps {
            let message = format!("more than {LOAD_POINTS_MAX} load points");
            return Err(self.error(message, "take a larger step"));
        }
        let reached = first + n_steps * step;
        if 1e-9 * last < (reached - last).abs() {
            let below = first + ((last - first) / step).floor() * step;
            let hint =
                format!("write `{first}..{below}/{step}`, or add the end: `{first}..{below}/{step},{last}`");
            return Err(self.error(format!("steps of {step} from {first} do not reach {last}"), &hint));
        }
        Ok((0..=n_steps as usize).map(|n| first + n as f64 * step).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn error(text: &str) -> (String, String) {
        let error = parse_load(text).unwrap_err();
        (text[error.span.clone()].to_owned(), error.message)
    }

    #[test]
    fn ranges_and_lists_are_read() {
        assert_eq!(parse_load("10..200/10").unwrap().len(), 20);
        assert_eq!(parse_load("1,2,5").unwrap(), [1, 2, 5]);
        assert_eq!(parse_load(" 16..48/16 , 200 ").unwrap(), [16, 32, 48, 200]);
        assert_eq!(parse_load("3..5").unwrap(), [3, 4, 5]);
        assert_eq!(parse_load("7..7").unwrap(), [7]);
        assert_eq!(parse_load("200,50").unwrap(), [200, 50]);
        assert_eq!(parse_rates("0.5,100..300/100").unwrap(), [0.5, 100.0, 200.0, 300.0]);
    }

    #[test]
    fn mistakes_have_a_position() {
        let expected = |found: &str| format!("expected a number of users from 1 to 1000000, found `{found}`");
        for (list, place, message) in [
            ("", "", expected("")),
            ("1,,3", "", expected("")),
            ("1, x ,3", "x", expected("x")),
            ("0", "0", expected("0")),
            ("5,-1", "-1", expected("-1")),
            ("1000001", "1000001", expected("1000001")),
            ("1.5", "1.5", expected("1.5")),
            ("10..x/5", "x", expected("x")),
            ("10..20/0", "0", expected("0")),
            ("10..20/5/5", "5/5", expected("5/5")),
            ("4, 20..10/5", "20..10/5", "the range falls from 20 to 10".into()),
            ("1..10/4", "1..10/4", "steps of 4 from 1 do not reach 10".into()),
            ("1..5,3", "3", "3 is listed twice".into()),
            ("1..5000", "1..5000", "more than 1000 load points".into()),
            ("1..1000,2000", "2000", "more than 1000 load points".into()),
        ] {
            assert_eq!(error(list), (place.to_owned(), message), "{list}");
        }
        for text in ["nan", "inf", "1e9", "-1", "0", "99999999999", "+5"] {
            assert!(parse_rates(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_range_that_misses_its_end_gets_a_hint_with_two_that_fit() {
        let hint = parse_load("1..10/4").unwrap_err().hint;
        assert_eq!(hint, "write `1..9/4`, or add the end: `1..9/4,10`");
    }

    #[test]
    fn levels_are_written_as_read() {
        for text in ["10..200/10", "1,2,5", "3..5", "7", "1,2", "200,100"] {
            assert_eq!(load_text(parse_load(text).unwrap().into_iter().map(f64::from)), text);
        }
    }

    proptest! {
        #[test]
        fn any_text_is_answered(text in "\\PC*|[0-9./, ]*") {
            if let Err(error) = parse_load(&text) {
                prop_assert!(text.get(error.span).is_some());
            }
            let _ = parse_rates(&text);
        }

        #[test]
        fn what_is_written_reads_back(users in proptest::collection::hash_set(1..=USERS_MAX, 1..50)) {
            let users: Vec<u32> = users.into_iter().collect();
            prop_assert_eq!(parse_load(&load_text(users.iter().copied().map(f64::from))).unwrap(), users);
        }
    }
}
