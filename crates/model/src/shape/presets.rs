//! Shapes with a name, and the stages that they stand for. L is the length of the whole.
//!
//! | shape | stages | L unless given |
//! |---|---|---|
//! | ramp from A to B | L: A..B | 2 min |
//! | spike from A to B | L/3: A, L/6: B, L/2: A | 1 min |
//! | soak at A | six times L/6: A | 30 min |
//! | stairs A, B, C … | L/n each | 10 s for each |
//! | a daily curve from A to B | 24 hours of L/24 each | 2 min |
//!
//! All lengths are rounded to whole seconds.

use units::Nanos;

use super::{LevelSpan, LevelSteps, Stage, StageFault, StageList};
use crate::LoadUnit;

/// The lengths of presets that are given none.
const RAMP: Nanos = Nanos::from_secs(120);
const SPIKE: Nanos = Nanos::from_secs(60);
const SOAK: Nanos = Nanos::from_secs(1_800);
const STAIR: Nanos = Nanos::from_secs(10);
const DAY: Nanos = Nanos::from_secs(120);

/// The parts of a soak, each judged by itself: what drifts shows between them.
const SOAK_PARTS: usize = 6;

/// The load at the beginning of each hour from midnight, from 0 (the lowest) to 1 (the highest): a quiet night, a working day
/// with a dip at noon, and the peak in the evening. Made up, as such curves are seen in the logs of web sites.
const HOURS: [f64; 25] = [
    0.35, 0.22, 0.12, 0.05, 0.00, 0.03, 0.10, 0.25, 0.45, 0.65, 0.78, 0.84, 0.80, 0.78, 0.82, 0.84, 0.83,
    0.80, 0.82, 0.90, 1.00, 0.97, 0.80, 0.55, 0.35,
];

/// A shape with a name.
#[derive(Debug, Clone, PartialEq)]
pub enum ShapePreset {
    /// Load that rises, or falls, from one level to another.
    Ramp(LevelSpan),
    /// A sudden peak on top of a usual load, and the time after it.
    Spike(LevelSpan),
    /// One load for a long time.
    Soak(LevelSpan),
    /// Levels one after another.
    Stairs(LevelSteps),
    /// A day from midnight to midnight between the lowest and the highest load.
    Daily(LevelSpan),
}

impl ShapePreset {
    /// Returns its stages, which take this long in all.
    ///
    /// # Errors
    /// The length leaves less than a second for a stage, or a stage has no load.
    pub fn stages(&self, length: Option<Nanos>) -> Result<StageList, StageFault> {
        let (unit, standard, parts) = match self {
            ShapePreset::Ramp(LevelSpan { unit, from, to }) => (*unit, RAMP, vec![(1, *from, *to)]),
            ShapePreset::Spike(LevelSpan { unit, from, to }) => {
                (*unit, SPIKE, vec![(2, *from, *from), (1, *to, *to), (3, *from, *from)])
            }
            ShapePreset::Soak(LevelSpan { unit, to, .. }) => (*unit, SOAK, vec![(1, *to, *to); SOAK_PARTS]),
            ShapePreset::Stairs(LevelSteps { unit, levels }) => {
                let all = Nanos(STAIR.0 * levels.len() as u64);
                (*unit, all, levels.iter().map(|level| (1, *level, *level)).collect())
            }
            ShapePreset::Daily(LevelSpan { unit, from, to }) => {
                let level = |hour: usize| {
                    let level = from + (to - from) * HOURS[hour];
                    // Users are whole, and a rounded sum is no reason for one more.
                    if *unit == LoadUnit::Users { (level - 1e-9).ceil() } else { level }
                };
                (*unit, DAY, (0..24).map(|hour| (1, level(hour), level(hour + 1))).collect())
            }
        };
        StageList::new(unit, divided(length.unwrap_or(standard), &parts))
    }
}

/// Divides a length into stages by their weights, in whole seconds; each stage is a weight and two levels. What is too short for
/// all of them leaves some without a length.
fn divided(length: Nanos, parts: &[(u64, f64, f64)]) -> Vec<Stage> {
    let all: u64 = parts.iter().map(|(weight, ..)| weight).sum();
    let second = 1_000_000_000;
    // Of a length that is not in whole seconds the rest stays with the last stage, where it is found.
    let (seconds, rest) = (length.0 / second, length.0 % second);
    let mut passed = 0;
    let mut stages: Vec<Stage> = Vec::new();
    for &(weight, from, to) in parts {
        let border =
            |weight: u64| (u128::from(seconds) * u128::from(weight) + u128::from(all / 2)) / u128::from(all);
        let whole = u64::try_from(border(passed + weight) - border(passed)).unwrap_or(u64::MAX);
        stages.push(Stage { length: Nanos(whole.saturating_mul(second)), from, to });
        passed += weight;
    }
    if let Some(last) = stages.last_mut() {
        last.length = last.length.saturating_add(Nanos(rest));
    }
    stages
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{STAGES_MAX, Shape, parse_level_span, parse_level_steps, parse_stages};

    fn of(preset: ShapePreset, seconds: Option<u64>) -> String {
        preset.stages(seconds.map(Nanos::from_secs)).unwrap().to_string()
    }

    fn span(text: &str) -> LevelSpan {
        parse_level_span(text).unwrap()
    }

    #[test]
    fn presets_stand_for_stages() {
        use ShapePreset::{Ramp, Soak, Spike, Stairs};
        assert_eq!(of(Ramp(span("10..2000")), None), "120 s:10..2000");
        assert_eq!(of(Ramp(span("500..10/s")), Some(30)), "30 s:500..10/s");
        assert_eq!(of(Spike(span("20..200")), None), "20 s:20,10 s:200,30 s:20");
        assert_eq!(of(Spike(span("20..200")), Some(10)), "3 s:20,2 s:200,5 s:20");
        assert_eq!(of(Soak(span("100")), None), ["300 s:100"; 6].join(","));
        let steps = parse_level_steps("100..300/100/s").unwrap();
        assert_eq!(of(Stairs(steps.clone()), None), "10 s:100/s,10 s:200/s,10 s:300/s");
        assert_eq!(of(Stairs(steps), Some(10)), "3 s:100/s,4 s:200/s,3 s:300/s");
    }

    /// Goal: a day keeps its lowest and highest load and takes as long as it is asked to; one of two minutes has a stage for
    /// each hour, one of 24 hours four of them.
    #[test]
    fn a_day_has_its_highest_load_in_the_evening() {
        let day = |levels, seconds| ShapePreset::Daily(span(levels)).stages(seconds).unwrap();
        let short = day("20..220", None);
        assert_eq!((short.length(), short.stages().len(), short.level_max()), (DAY, 24, 220.0));
        let shape = Shape::of(&short, Vec::new());
        assert_eq!(
            (shape.stages.len(), shape.level_at(Nanos::from_secs(20)), shape.level_at(Nanos::from_secs(100))),
            (24, 20.0, 220.0)
        );
        let whole = day("20..220/s", Some(Nanos::from_secs(86_400)));
        assert_eq!(Shape::of(&whole, Vec::new()).stages.len(), STAGES_MAX);
        assert_eq!(parse_stages(&short.to_string()).map(|list| list.unit()), Ok(LoadUnit::Users));
    }

    #[test]
    fn a_length_that_is_too_short_for_its_stages_is_refused() {
        let day = ShapePreset::Daily(span("20..200"));
        assert_eq!(day.stages(Some(Nanos::from_secs(10))), Err(StageFault::Length(Nanos::ZERO)));
        let ramp = ShapePreset::Ramp(span("0..100"));
        let half = Nanos::from_millis(2_500);
        assert_eq!(ramp.stages(Some(half)), Err(StageFault::Length(half)));
        let nothing = ShapePreset::Soak(span("0"));
        assert_eq!(nothing.stages(Some(Nanos::from_secs(60))), Err(StageFault::NoLoad(Nanos::from_secs(10))));
        let spike = ShapePreset::Spike(span("0..10"));
        assert!(spike.stages(None).is_err(), "there is no usual load before and after");
    }
}
