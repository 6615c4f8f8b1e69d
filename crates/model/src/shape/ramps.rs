//! Ramps as several stages: each stage is judged by itself, and a percentile over a whole ramp would merge unlike loads.
//!
//! A ramp becomes stages of whole seconds, as equal as they can be: at least 5 s each where its length allows, at most 20, and
//! of a closed loop no more than users come or go in it, because a stage without a user would measure nothing. Where that would be
//! more than [`STAGES_MAX`] stages, all ramps become fewer.

use units::Nanos;

use super::{STAGES_MAX, Shape, Stage, StageList};
use crate::{Limit, LoadUnit};

/// The most stages of a ramp.
const OF_RAMP_MAX: u64 = 20;

/// The shortest stage of a ramp, in s, unless the ramp as a whole is shorter.
const OF_RAMP_SECONDS_MIN: u64 = 5;

impl Shape {
    /// Makes the shape of stages as they are written, with its ramps cut.
    pub fn of(list: &StageList, until: Vec<Limit>) -> Shape {
        let stages_with = |of_ramp_max: u64| -> Vec<Stage> {
            list.stages().iter().flat_map(|stage| cut(stage, list.unit(), of_ramp_max)).collect()
        };
        let fitting = (1..=OF_RAMP_MAX).rev().map(stages_with).find(|stages| stages.len() <= STAGES_MAX);
        Shape { stages: fitting.unwrap_or_else(|| list.stages().to_vec()), until }
    }

    /// Returns the stages with those of each ramp joined again.
    pub fn joined(&self) -> Vec<Stage> {
        let mut all: Vec<Stage> = Vec::new();
        for stage in &self.stages {
            match all.last_mut() {
                Some(last) if goes_on(last, stage) => {
                    (last.length, last.to) = (last.length.saturating_add(stage.length), stage.to);
                }
                _ => all.push(*stage),
            }
        }
        all
    }

    /// Writes the stages as they are read, with those of each ramp joined again: `30 s:0..100, 120 s:100`.
    pub fn text(&self, unit: LoadUnit) -> String {
        self.joined().iter().map(|stage| stage.text(unit)).collect::<Vec<_>>().join(", ")
    }
}

/// Cuts a ramp into stages; a constant stage is not cut.
fn cut(stage: &Stage, unit: LoadUnit, of_ramp_max: u64) -> impl Iterator<Item = Stage> {
    let seconds = stage.length.0 / 1_000_000_000;
    let change = (stage.to - stage.from).abs();
    let of_change = match unit {
        LoadUnit::Users => change.floor() as u64,
        LoadUnit::Rate => of_ramp_max,
    };
    let n = if stage.is_constant() {
        1
    } else {
        (seconds / OF_RAMP_SECONDS_MIN).min(of_ramp_max).min(of_change).max(1)
    };
    let stage = *stage;
    let border = move |index: u64| Nanos::from_secs((index * seconds + n / 2) / n);
    (0..n).map(move |index| {
        let (start, end) = (border(index), border(index + 1));
        let to = if index + 1 == n { stage.to } else { stage.level_at(end) };
        Stage { length: end - start, from: stage.level_at(start), to }
    })
}

/// Returns whether a stage continues a ramp: at the level of its end, and with its growth.
fn goes_on(last: &Stage, next: &Stage) -> bool {
    let scale = last.from.abs().max(last.to.abs()).max(next.to.abs());
    let is_near = |one: f64, other: f64| (one - other).abs() <= 1e-9 * scale;
    let growth = |stage: &Stage| (stage.to - stage.from) / stage.length.as_secs_f64();
    !last.is_constant() && is_near(last.to, next.from) && is_near(growth(last), growth(next))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::parse_stages;

    fn planned(text: &str) -> Vec<String> {
        let list = parse_stages(text).unwrap();
        Shape::of(&list, Vec::new()).stages.iter().map(|stage| stage.text(list.unit())).collect()
    }

    /// By hand: 22 s are four stages of 5.5 s, rounded to whole seconds; three users come in at most three.
    #[test]
    fn ramps_are_cut_and_constant_stages_are_not() {
        assert_eq!(planned("1h:7"), ["3600 s:7"]);
        assert_eq!(planned("10s:0..20,9s:20..0"), ["5 s:0..10", "5 s:10..20", "9 s:20..0"]);
        let four = ["6 s:0..6/s", "5 s:6..11/s", "6 s:11..17/s", "5 s:17..22/s"];
        assert_eq!(planned("22s:0..22/s"), four);
        assert_eq!(planned("1m:0..3"), ["20 s:0..1", "20 s:1..2", "20 s:2..3"]);
        assert_eq!(planned("2h:0..100").len(), 20);
        assert_eq!(planned("10s:0..1"), ["10 s:0..1"]);
    }

    #[test]
    fn a_day_of_hours_has_four_stages_for_each() {
        let day =
            (0..24).map(|hour| format!("1h:{}..{}", 10 + hour, 40 + hour)).collect::<Vec<_>>().join(",");
        assert_eq!(planned(&day).len(), STAGES_MAX);
        let many = vec!["1m:0..100"; STAGES_MAX].join(",");
        assert_eq!(planned(&many).len(), STAGES_MAX);
    }

    #[test]
    fn stages_of_a_ramp_are_joined_to_what_was_written() {
        let written = "22 s:0..22, 30 s:22, 30 s:22, 7 s:22..3, 60 s:3..300, 1 s:1";
        let shape = Shape::of(&parse_stages(written).unwrap(), Vec::new());
        assert_eq!((shape.text(LoadUnit::Users).as_str(), shape.stages.len()), (written, 20));
    }

    proptest! {
        /// The stages of ramps have the length and the levels of what was written, at every moment.
        #[test]
        fn ramps_have_the_load_that_was_written(
            stages in prop::collection::vec((1u64..2_000, 0u32..500, 1u32..500), 1..20),
            is_rate: bool,
        ) {
            let unit = if is_rate { LoadUnit::Rate } else { LoadUnit::Users };
            let stage = |(seconds, from, to): (u64, u32, u32)| Stage {
                length: Nanos::from_secs(seconds),
                from: from.into(),
                to: to.into(),
            };
            let list = StageList::new(unit, stages.into_iter().map(stage).collect()).unwrap();
            let whole = Shape { stages: list.stages().to_vec(), until: Vec::new() };
            let cut = Shape::of(&list, Vec::new());
            prop_assert_eq!(cut.length(), list.length());
            prop_assert_eq!(cut.level_max(), list.level_max());
            prop_assert!(cut.stages.len() <= STAGES_MAX);
            let second = 1_000_000_000;
            prop_assert!(cut.stages.iter().all(|one| 0 < one.length.0 && one.length.0.is_multiple_of(second)));
            for at in 0..97 {
                let time = Nanos(list.length().0 / 97 * at);
                prop_assert!((cut.level_at(time) - whole.level_at(time)).abs() < 1e-6);
            }
        }
    }
}
