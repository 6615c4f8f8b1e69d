//! Arithmetic and cells of the tables.

use std::fmt::{self, Display};

use anyhow::Result;
use units::{Clock, RealClock};

/// A column of tables: a value of the costs of a turn.
pub(super) struct Column<Costs> {
    /// The head.
    pub title: &'static str,
    decimals: usize,
    /// Reads the value.
    pub value: fn(&Costs) -> f64,
    /// Reads the CPUs used meanwhile, of one, which stand behind it in brackets.
    cpus: Option<fn(&Costs) -> f64>,
}

impl<Costs> Column<Costs> {
    /// Creates a column of one value, with its number of decimals.
    pub(super) const fn new(title: &'static str, decimals: usize, value: fn(&Costs) -> f64) -> Column<Costs> {
        Column { title, decimals, value, cpus: None }
    }

    /// Creates a column of CPU times, each with the CPUs used meanwhile.
    pub(super) const fn with_cpus(
        title: &'static str,
        value: fn(&Costs) -> f64,
        cpus: fn(&Costs) -> f64,
    ) -> Column<Costs> {
        Column { title, decimals: 2, value, cpus: Some(cpus) }
    }

    /// Returns the cell of a turn.
    pub(super) fn cell(&self, costs: &Costs) -> String {
        self.text((self.value)(costs), self.cpus.map(|cpus| cpus(costs)))
    }

    /// Returns the cell of the medians over rounds; `None` without any.
    pub(super) fn median(&self, rounds: &[Option<Costs>]) -> Option<String> {
        Some(self.text(median(rounds, self.value)?, self.cpus.and_then(|cpus| median(rounds, cpus))))
    }

    /// Returns the text of a value; a dash where it was not seen.
    pub(super) fn text(&self, value: f64, cpus: Option<f64>) -> String {
        let decimals = self.decimals;
        let text = if value.is_nan() { "–".to_owned() } else { format!("{value:.decimals$}") };
        cpus.map(|cpus| format!("{text} ({cpus:.2})")).unwrap_or(text)
    }
}

/// Returns the heads of columns of numbers, and the rule below them.
pub(super) fn heads<Costs>(columns: &[Column<Costs>]) -> (String, String) {
    let titles = columns.iter().map(|column| format!(" {} |", column.title)).collect();
    (titles, "---:|".repeat(columns.len()))
}

/// Returns costs as they are printed while turns are taken.
pub(super) fn progress<Costs>(columns: &[Column<Costs>], costs: &Costs) -> String {
    let cells = columns.iter().map(|column| format!("{} {}", column.title, column.cell(costs)));
    cells.collect::<Vec<_>>().join(", ")
}

/// Returns the median of a value over the rounds without failure; `None` if there are none.
pub(super) fn median<Costs>(rounds: &[Option<Costs>], value: impl Fn(&Costs) -> f64) -> Option<f64> {
    stats::median(&rounds.iter().flatten().map(value).collect::<Vec<_>>())
}

/// Returns the median of a value of two turns of each round; `None` if they never were both taken without failure.
pub(super) fn median_of_both<Costs>(
    ours: &[Option<Costs>],
    theirs: &[Option<Costs>],
    value: impl Fn(&Costs, &Costs) -> f64,
) -> Option<f64> {
    let both =
        ours.iter().zip(theirs).filter_map(|(ours, theirs)| Some(value(ours.as_ref()?, theirs.as_ref()?)));
    stats::median(&both.collect::<Vec<_>>())
}

/// A comparison of two contenders, or of two cases.
#[derive(Debug, PartialEq)]
pub(super) struct ContenderComparison {
    /// The cells of both, with their medians.
    pub ours: String,
    pub theirs: String,
    /// The median of the rounds' ratios, ours ÷ theirs.
    pub ratio: f64,
}

impl ContenderComparison {
    /// Returns the cells of a row: both, the name of the other, the ratio, and what is judged by it.
    pub(super) fn cells(&self, other: &str, judged: &str) -> String {
        format!("{} | {} | {other} | {:.3} | {judged}", self.ours, self.theirs, self.ratio)
    }
}

/// Compares the values of a column; `None` if the two were never both measured.
pub(super) fn compare<Costs>(
    column: &Column<Costs>,
    ours: &[Option<Costs>],
    theirs: &[Option<Costs>],
) -> Option<ContenderComparison> {
    let ratio = median_of_both(ours, theirs, |ours, theirs| (column.value)(ours) / (column.value)(theirs))?;
    Some(ContenderComparison { ours: column.median(ours)?, theirs: column.median(theirs)?, ratio })
}

/// A bar: what a value must not exceed, or must reach. It is shown with the decimals that the format asks for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Bar {
    /// A maximum.
    AtMost(f64),
    /// A minimum.
    AtLeast(f64),
    /// A value that has to be exceeded.
    Above(f64),
}

impl Bar {
    /// Returns the cells of the bar, with so many decimals, and of its verdict.
    pub(super) fn cells(self, decimals: usize, value: f64) -> String {
        format!("{self:.decimals$} | {}", self.judge(value))
    }

    /// Returns `met`, or `missed`, which stands out.
    pub(super) fn judge(self, value: f64) -> &'static str {
        let is_met = match self {
            Bar::AtMost(most) => value <= most,
            Bar::AtLeast(least) => least <= value,
            Bar::Above(bound) => bound < value,
        };
        word(is_met)
    }
}

impl Display for Bar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (sign, bound) = match self {
            Bar::AtMost(most) => ("≤", most),
            Bar::AtLeast(least) => ("≥", least),
            Bar::Above(bound) => (">", bound),
        };
        write!(f, "{sign} ")?;
        bound.fmt(f)
    }
}

/// Returns `met`, or `missed`, which stands out.
pub(super) fn word(is_met: bool) -> &'static str {
    if is_met { "met" } else { "**missed**" }
}

/// Returns the head of a section and its rows; nothing without rows.
pub(super) fn section(rows: String, head: &str) -> String {
    if rows.is_empty() { rows } else { format!("{head}{rows}\n") }
}

/// Returns the duration of work in s.
pub(super) fn seconds_of(work: impl FnOnce() -> Result<()>) -> Result<f64> {
    let clock = RealClock::start();
    work()?;
    Ok(clock.now().as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    const COLUMN: Column<f64> = Column::new("µs", 1, |value| *value);

    /// By hand: the ratios are 0.5, 2 and 3; in the third round one has failed.
    #[test]
    fn medians_are_those_of_the_rounds_without_failure() {
        let ours = [Some(1.0), Some(4.0), None, Some(9.0)];
        let theirs = [Some(2.0), Some(2.0), Some(70.0), Some(3.0)];
        let compared = compare(&COLUMN, &ours, &theirs).unwrap();
        assert_eq!(
            compared,
            ContenderComparison { ours: "4.0".to_owned(), theirs: "2.5".to_owned(), ratio: 2.0 }
        );
        assert_eq!(median_of_both(&ours, &theirs, |ours, theirs| ours - theirs), Some(2.0));
        assert_eq!(compare(&COLUMN, &ours, &[]), None);
        assert_eq!(COLUMN.median(&[None]), None);
    }

    #[test]
    fn cells_have_cpus_in_brackets_and_dashes() {
        let column: Column<f64> = Column::with_cpus("server, µs", |value| *value, |_| 0.95);
        assert_eq!(column.cell(&5.5), "5.50 (0.95)");
        assert_eq!(COLUMN.cell(&f64::NAN), "–");
        assert_eq!(progress(&[COLUMN, column], &2.0), "µs 2.0, server, µs 2.00 (0.95)");
    }

    #[test]
    fn bars_include_their_bounds_unless_they_say_above() {
        let judged = |bar: Bar| [0.7, 0.8, 0.9].map(|value| bar.judge(value) == "met");
        assert_eq!(judged(Bar::AtMost(0.8)), [true, true, false]);
        assert_eq!(judged(Bar::AtLeast(0.8)), [false, true, true]);
        assert_eq!(judged(Bar::Above(0.8)), [false, false, true]);
        assert_eq!(
            format!("{}, {:.2}, {}", Bar::AtLeast(0.7), Bar::AtMost(0.7), Bar::Above(1.0)),
            "≥ 0.7, ≤ 0.70, > 1"
        );
    }
}
