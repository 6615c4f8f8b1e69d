//! Stages as people write them: `30s:0..100,2m:100,10s:100..0`, or `1m:10..2000/s` of an open loop.
//!
//! ```text
//! stages = stage { "," stage }
//! stage  = time ":" level [ ".." level ] [ "/s" ]      a length; the level, or those at its beginning and its end
//! ```
//!
//! | part | of what | from | to |
//! |---|---|---|---|
//! | time | the length of the stage, with its unit, whole seconds: `30s`, `1m30s`, `2 h` | 1 s | 30 days |
//! | level | users of a closed loop, a whole number | 0 | 1,000,000 |
//! | level with `/s` | operations per second of an open loop, perhaps with decimals | 0 | 10,000,000 |
//!
//! All stages have the same unit. A stage without any load would measure nothing and is refused; one may begin or end there.

use std::fmt;
use std::ops::Range;

use languages::{RATE_MAX, USERS_MAX, parse_load, parse_rates, parse_time, time_text};
use units::Nanos;

use super::{STAGES_MAX, Stage};
use crate::LoadUnit;

/// The shortest stage; stages are whole multiples of it, because results are recorded once in so long.
const SECOND: Nanos = Nanos::from_secs(1);

/// The longest that all stages may last together: 30 days.
const LENGTH_MAX: Nanos = Nanos::from_secs(30 * 24 * 3600);

/// Stages as they are written, ramps in one piece. A list that exists is valid: its stages last whole seconds and have load.
#[derive(Debug, Clone, PartialEq)]
pub struct StageList {
    unit: LoadUnit,
    stages: Vec<Stage>,
}

/// The levels between which a load moves, as written: `10..2000` or `10/s..2000/s`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LevelSpan {
    /// The unit of both.
    pub unit: LoadUnit,
    /// The first level.
    pub from: f64,
    /// The last level, or the only one.
    pub to: f64,
}

/// The levels of steps, as written: `100..500/100` or `10,50,100/s`.
#[derive(Debug, Clone, PartialEq)]
pub struct LevelSteps {
    /// The unit of all.
    pub unit: LoadUnit,
    /// The levels, in the order written; above zero, not empty.
    pub levels: Vec<f64>,
}

/// A mistake in stages or levels, with its position.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct StageListError {
    /// The message: what was expected and what was found.
    pub message: String,
    /// The position, in bytes from the start of the text.
    pub span: Range<usize>,
    /// The remedy: what to write instead.
    pub hint: String,
}

/// A reason why stages are no shape.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum StageFault {
    /// A stage does not last whole seconds.
    #[error("a stage of {}: stages last 1 s or more, in whole seconds", time_text(*.0))]
    Length(Nanos),
    /// A level is out of bounds.
    #[error("a level of {0}: levels are from 0 to {RATE_MAX}")]
    Level(f64),
    /// A stage has no load at all.
    #[error("a stage of {} without any load would measure nothing", time_text(*.0))]
    NoLoad(Nanos),
    /// There is no stage, or there are too many.
    #[error("{0} stages: there must be from 1 to {STAGES_MAX}")]
    Number(usize),
    /// All stages together last too long.
    #[error("the stages take {:.0} days, more than 30", .0.as_secs_f64() / 86_400.0)]
    TooLong(Nanos),
}

impl StageFault {
    /// Returns the remedy.
    pub fn hint(&self) -> &'static str {
        match self {
            StageFault::Length(_) => "results are recorded once a second: write a length such as `30s`",
            StageFault::Level(_) => "write levels such as `0..100`",
            StageFault::NoLoad(_) => {
                "leave the stage out, or give it a level, such as 1; a ramp may begin or end at 0"
            }
            StageFault::Number(_) => "write fewer, longer stages",
            StageFault::TooLong(_) => "write shorter stages",
        }
    }

    /// Returns the fault of a single stage.
    fn of_stage(stage: &Stage) -> Option<StageFault> {
        let Stage { length, from, to } = *stage;
        if length < SECOND || !length.0.is_multiple_of(SECOND.0) {
            return Some(StageFault::Length(length));
        }
        if let Some(level) = [from, to].into_iter().find(|level| !(0.0..=RATE_MAX).contains(level)) {
            return Some(StageFault::Level(level));
        }
        (from == 0.0 && to == 0.0).then_some(StageFault::NoLoad(length))
    }
}

impl StageList {
    /// Makes a list of stages.
    ///
    /// # Errors
    /// A stage is none, or there are none or too many.
    pub fn new(unit: LoadUnit, stages: Vec<Stage>) -> Result<StageList, StageFault> {
        StageList::check(&stages)?;
        Ok(StageList { unit, stages })
    }

    /// Checks that stages are a list.
    pub(super) fn check(stages: &[Stage]) -> Result<(), StageFault> {
        if stages.is_empty() || STAGES_MAX < stages.len() {
            return Err(StageFault::Number(stages.len()));
        }
        if let Some(fault) = stages.iter().find_map(StageFault::of_stage) {
            return Err(fault);
        }
        let length = length_of(stages);
        if LENGTH_MAX < length { Err(StageFault::TooLong(length)) } else { Ok(()) }
    }

    /// Returns the unit of the levels.
    pub fn unit(&self) -> LoadUnit {
        self.unit
    }

    /// Returns the stages, in order.
    pub fn stages(&self) -> &[Stage] {
        &self.stages
    }

    /// Returns the length of all stages together.
    pub fn length(&self) -> Nanos {
        length_of(&self.stages)
    }

    /// Returns the highest level.
    pub fn level_max(&self) -> f64 {
        level_max_of(&self.stages)
    }

    /// Returns the same levels in stages of at most this length, in whole seconds above zero.
    pub(crate) fn shortened(&self, length_max: Nanos) -> StageList {
        let short = |stage: &Stage| Stage { length: stage.length.min(length_max), ..*stage };
        StageList { unit: self.unit, stages: self.stages.iter().map(short).collect() }
    }
}

/// Returns the length of all stages together.
pub(super) fn length_of(stages: &[Stage]) -> Nanos {
    stages.iter().fold(Nanos::ZERO, |sum, stage| sum.saturating_add(stage.length))
}

/// Returns the highest level of stages.
pub(super) fn level_max_of(stages: &[Stage]) -> f64 {
    stages.iter().fold(0.0, |most, stage| stage.from.max(stage.to).max(most))
}

/// Writes the stages as they are read: `30 s:0..100,120 s:100`.
impl fmt::Display for StageList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, stage) in self.stages.iter().enumerate() {
            if index != 0 {
                f.write_str(",")?;
            }
            f.write_str(&stage.text(self.unit))?;
        }
        Ok(())
    }
}

impl Stage {
    /// Writes the stage as it is read: `30 s:0..100`, `60 s:250/s`.
    pub fn text(&self, unit: LoadUnit) -> String {
        let per_second = if unit == LoadUnit::Rate { "/s" } else { "" };
        let length = time_text(self.length);
        if self.is_constant() {
            format!("{length}:{}{per_second}", self.to)
        } else {
            format!("{length}:{}..{}{per_second}", self.from, self.to)
        }
    }
}

/// Reads stages, separated by commas.
///
/// # Errors
/// If one is not a stage, its length or its levels are out of range, units differ, or there are too many.
pub fn parse_stages(text: &str) -> Result<StageList, StageListError> {
    let pieces = pieces(text);
    let stages = pieces.iter().map(|piece| piece.stage()).collect::<Result<Vec<_>, _>>()?;
    list_of(&pieces, stages).map_err(|(index, message, hint)| pieces[index].error(message, &hint))
}

/// Reads stages, each a text of its own; an error has the index of its text.
///
/// # Errors
/// As [`parse_stages`].
pub fn parse_stage_texts(texts: &[String]) -> Result<StageList, (usize, StageListError)> {
    let pieces: Vec<Piece> = texts.iter().map(|text| Piece { text, start: 0 }.trim()).collect();
    let stage = |(index, piece): (usize, &Piece)| piece.stage().map_err(|error| (index, error));
    let stages = pieces.iter().enumerate().map(stage).collect::<Result<Vec<_>, _>>()?;
    if stages.is_empty() {
        let fault = StageFault::Number(0);
        let error = StageListError { message: fault.to_string(), span: 0..0, hint: HINT.to_owned() };
        return Err((0, error));
    }
    list_of(&pieces, stages).map_err(|(index, message, hint)| (index, pieces[index].error(message, &hint)))
}

/// Makes a list of stages that were read from these pieces. An error is the index of its piece, a message, and a hint.
fn list_of(pieces: &[Piece], stages: Vec<(LoadUnit, Stage)>) -> Result<StageList, (usize, String, String)> {
    let unit = stages[0].0;
    if let Some(index) = stages.iter().position(|(other, _)| *other != unit) {
        let other = pieces[index].text;
        let message = format!("`{}` and `{other}` differ in their unit", pieces[0].text);
        let hint = "write `/s` behind the levels of all stages (operations per second) or of none (users)";
        return Err((index, message, hint.to_owned()));
    }
    let stages: Vec<Stage> = stages.into_iter().map(|(_, stage)| stage).collect();
    let faulty = stages.iter().position(|stage| StageFault::of_stage(stage).is_some());
    StageList::new(unit, stages)
        .map_err(|fault| (faulty.unwrap_or(pieces.len() - 1), fault.to_string(), fault.hint().to_owned()))
}

/// Reads the levels between which a load moves: `10..2000`, `10/s..2000/s`; a single level is both.
///
/// # Errors
/// If they are not levels, or out of range.
pub fn parse_level_span(text: &str) -> Result<LevelSpan, StageListError> {
    Piece { text, start: 0 }.trim().span(SPAN_HINT)
}

/// Reads the levels of steps in the language of `--load` and `--rate`, with `/s` at the end of rates.
///
/// # Errors
/// If they are not levels above zero, one comes twice, or there are too many.
pub fn parse_level_steps(text: &str) -> Result<LevelSteps, StageListError> {
    let list = text.trim_end();
    let (unit, levels) = match list.strip_suffix("/s") {
        Some(rates) => (LoadUnit::Rate, parse_rates(rates)),
        None => (LoadUnit::Users, parse_load(list).map(|users| users.into_iter().map(f64::from).collect())),
    };
    let levels = levels.map_err(|error| StageListError {
        message: error.message,
        span: error.span,
        hint: error.hint,
    })?;
    if STAGES_MAX < levels.len() {
        let message = StageFault::Number(levels.len()).to_string();
        return Err(StageListError { message, span: 0..list.len(), hint: "take a larger step".to_owned() });
    }
    Ok(LevelSteps { unit, levels })
}

const HINT: &str = "write length and level, or length and two levels: `2m:100`, `30s:0..100`, `30s:0..100/s`";

const SPAN_HINT: &str =
    "write two levels such as `10..2000` (users) or `10/s..2000/s` (operations per second)";

/// A part of the text, with its position.
#[derive(Clone, Copy)]
struct Piece<'a> {
    text: &'a str,
    start: usize,
}

fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut start = 0;
    let piece = |item| {
        let piece = Piece { text: item, start }.trim();
        start += item.len() + 1;
        piece
    };
    text.split(',').map(piece).collect()
}

impl<'a> Piece<'a> {
    fn trim(self) -> Piece<'a> {
        let lead = self.text.len() - self.text.trim_start().len();
        Piece { text: self.text.trim(), start: self.start + lead }
    }

    /// Splits the part at a separator, which belongs to neither side.
    fn cut(self, separator: &str) -> Option<(Piece<'a>, Piece<'a>)> {
        let (left, right) = self.text.split_once(separator)?;
        let start = self.start + left.len() + separator.len();
        Some((Piece { text: left, ..self }.trim(), Piece { text: right, start }.trim()))
    }

    fn error(self, message: String, hint: &str) -> StageListError {
        StageListError { message, span: self.start..self.start + self.text.len(), hint: hint.to_owned() }
    }

    fn stage(self) -> Result<(LoadUnit, Stage), StageListError> {
        let Some((time, levels)) = self.cut(":") else {
            return Err(self.error(format!("expected a stage, found `{}`", self.text), HINT));
        };
        let length = parse_time(time.text).map_err(|error| time.error(error.message, &error.hint))?;
        let LevelSpan { unit, from, to } = levels.span(HINT)?;
        let stage = Stage { length, from, to };
        match StageFault::of_stage(&stage) {
            Some(fault @ StageFault::Length(_)) => Err(time.error(fault.to_string(), fault.hint())),
            Some(fault) => Err(self.error(fault.to_string(), fault.hint())),
            None => Ok((unit, stage)),
        }
    }

    /// Reads one level or two; the unit of the last one is that of both.
    fn span(self, hint: &str) -> Result<LevelSpan, StageListError> {
        let unit = if self.text.ends_with("/s") { LoadUnit::Rate } else { LoadUnit::Users };
        let (from, to) = match self.cut("..") {
            Some((from, to)) => (from.level(unit, hint)?, to.level(unit, hint)?),
            None => {
                let level = self.level(unit, hint)?;
                (level, level)
            }
        };
        Ok(LevelSpan { unit, from, to })
    }

    fn level(self, unit: LoadUnit, hint: &str) -> Result<f64, StageListError> {
        let number = match (unit, self.text.strip_suffix("/s")) {
            (LoadUnit::Rate, Some(number)) => number.trim_end(),
            (LoadUnit::Users, Some(_)) => {
                let message =
                    format!("`{}` is a rate, but the level after it is a number of users", self.text);
                return Err(self.error(message, "write `/s` behind the last level"));
            }
            (_, None) => self.text,
        };
        let is_plain = number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
        let (level, most, what) = match unit {
            LoadUnit::Users => {
                (number.parse::<u32>().ok().map(f64::from), f64::from(USERS_MAX), "number of users")
            }
            LoadUnit::Rate => (number.parse::<f64>().ok(), RATE_MAX, "rate"),
        };
        level.filter(|level| is_plain && *level <= most).ok_or_else(|| {
            self.error(format!("expected a {what} from 0 to {most}, found `{}`", self.text), hint)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn stages_are_written_as_they_are_read() {
        for (text, written) in [
            ("30s:0..100,2m:100,10s:100..0", "30 s:0..100,120 s:100,10 s:100..0"),
            (" 1m30s : 5 .. 1 , 2 min: 7", "90 s:5..1,120 s:7"),
            ("1m:10/s..2000/s,5s:0..0.5/s", "60 s:10..2000/s,5 s:0..0.5/s"),
            ("1h:250/s", "3600 s:250/s"),
        ] {
            let list = parse_stages(text).unwrap();
            assert_eq!(list.to_string(), written, "{text}");
            assert_eq!(parse_stages(written), Ok(list), "{text}");
        }
        let list = parse_stages("30s:0..100/s,2m:100/s").unwrap();
        assert_eq!(
            (list.unit(), list.length(), list.level_max()),
            (LoadUnit::Rate, Nanos::from_secs(150), 100.0)
        );
    }

    /// Each mistake, with its place and what is said of it.
    #[test]
    fn mistakes_are_explained() {
        let many = vec!["1s:1"; STAGES_MAX + 1].join(",");
        for (text, place, message) in [
            ("", "", "expected a stage, found ``"),
            ("30s", "30s", "expected a stage, found `30s`"),
            ("30s:1,,5s:2", "", "expected a stage, found ``"),
            ("30:1", "30", "expected a time with its unit, found `30` without one"),
            ("-5s:1", "-5s", "a time cannot be negative, found `-5s`"),
            ("0s:1", "0s", "a stage of 0 s: stages last 1 s or more, in whole seconds"),
            ("1s:1, 1.5s:1", "1.5s", "a stage of 1500 ms: stages last 1 s or more, in whole seconds"),
            ("31d:1", "31d", "`31d` is longer than 30 days"),
            ("5s:", "", "expected a number of users from 0 to 1000000, found ``"),
            ("5s:1..", "", "expected a number of users from 0 to 1000000, found ``"),
            ("5s:1..x", "x", "expected a number of users from 0 to 1000000, found `x`"),
            ("5s:1.5", "1.5", "expected a number of users from 0 to 1000000, found `1.5`"),
            ("5s:1000001", "1000001", "expected a number of users from 0 to 1000000, found `1000001`"),
            ("5s:1e3/s", "1e3/s", "expected a rate from 0 to 10000000, found `1e3/s`"),
            ("5s:nan/s", "nan/s", "expected a rate from 0 to 10000000, found `nan/s`"),
            ("5s:-1..5", "-1", "expected a number of users from 0 to 1000000, found `-1`"),
            ("5s:1/s..5", "1/s", "`1/s` is a rate, but the level after it is a number of users"),
            ("5s:1..5/2", "5/2", "expected a number of users from 0 to 1000000, found `5/2`"),
            ("5s:1,5s:0", "5s:0", "a stage of 5 s without any load would measure nothing"),
            ("5s:1,5s:1/s", "5s:1/s", "`5s:1` and `5s:1/s` differ in their unit"),
            ("20d:1,20d:1", "20d:1", "the stages take 40 days, more than 30"),
            (&many, "1s:1", "97 stages: there must be from 1 to 96"),
        ] {
            let error = parse_stages(text).expect_err(text);
            assert_eq!((&text[error.span.clone()], error.message.as_str()), (place, message), "{text}");
            assert!(!error.hint.is_empty(), "{text}");
        }
    }

    #[test]
    fn stages_of_several_texts_are_those_of_one_with_commas() {
        let texts = |text: &str| text.split(',').map(str::to_owned).collect::<Vec<_>>();
        for text in ["30s:0..100,2m:100", "1h:250/s"] {
            assert_eq!(parse_stage_texts(&texts(text)), Ok(parse_stages(text).unwrap()));
        }
        assert_eq!(parse_stage_texts(&texts("5s:1,5s:0")).unwrap_err().0, 1);
        assert_eq!(parse_stage_texts(&texts("5s:1,5s:2,5s:1/s")).unwrap_err().0, 2);
        assert!(parse_stage_texts(&[]).is_err());
    }

    #[test]
    fn levels_are_read_with_one_unit() {
        let span = |text: &str| parse_level_span(text).map(|LevelSpan { unit, from, to }| (unit, from, to));
        assert_eq!(span("10..2000"), Ok((LoadUnit::Users, 10.0, 2000.0)));
        assert_eq!(span("10/s..2000/s"), Ok((LoadUnit::Rate, 10.0, 2000.0)));
        assert_eq!(span(" 0.5 .. 20/s"), Ok((LoadUnit::Rate, 0.5, 20.0)));
        assert_eq!(span("50"), Ok((LoadUnit::Users, 50.0, 50.0)));
        assert!(span("10/s..20").is_err() && span("a..b").is_err() && span("").is_err());
        let steps = |text: &str| parse_level_steps(text).map(|LevelSteps { unit, levels }| (unit, levels));
        assert_eq!(steps("100..300/100"), Ok((LoadUnit::Users, vec![100.0, 200.0, 300.0])));
        assert_eq!(steps("1..3/0.5/s"), Ok((LoadUnit::Rate, vec![1.0, 1.5, 2.0, 2.5, 3.0])));
        assert_eq!(steps("1..200").unwrap_err().message, "200 stages: there must be from 1 to 96");
        assert!(steps("0..3").is_err());
    }

    proptest! {
        #[test]
        fn any_text_is_answered(text in "\\PC*|[0-9:.,/smh ]*") {
            for error in [parse_stages(&text).err(), parse_level_span(&text).err(), parse_level_steps(&text).err()] {
                prop_assert!(error.is_none_or(|error| text.get(error.span).is_some()));
            }
        }

        #[test]
        fn what_is_written_reads_back(
            stages in prop::collection::vec((1u64..90_000, 0u32..=USERS_MAX, 1u32..=USERS_MAX), 1..=28),
            is_rate: bool,
        ) {
            let unit = if is_rate { LoadUnit::Rate } else { LoadUnit::Users };
            let stage = |(seconds, from, to): (u64, u32, u32)| Stage {
                length: Nanos::from_secs(seconds),
                from: f64::from(from) / if is_rate { 7.0 } else { 1.0 },
                to: to.into(),
            };
            let list = StageList::new(unit, stages.into_iter().map(stage).collect()).unwrap();
            prop_assert_eq!(parse_stages(&list.to_string()), Ok(list));
        }
    }
}
