//! Load shapes: the load of one load point over time, as stages.
//!
//! The level of load (users, or operations per second) is linear within a stage and may jump between two. A closed loop has
//! round(level) users at any moment: user *i*, from 0, is present while the level is at least *i* + ½, leaves when it falls
//! below, and comes back when it has risen again. An open loop has the level as its rate.
//!
//! The whole shape is the steady phase of its load point, and every stage is judged by itself: figures of stages with
//! different loads are never merged.
//!
//! - `stage_list`: stages as people write them
//! - `presets`: shapes with a name, and the stages that they stand for
//! - `ramps`: ramps, cut into stages that are judged

mod presets;
mod ramps;
mod stage_list;

use std::ops::Range;

use serde::{Deserialize, Serialize};
use units::Nanos;

use crate::{Limit, with_serde};

use stage_list::{length_of, level_max_of};

pub use presets::ShapePreset;
pub use stage_list::{
    LevelSpan, LevelSteps, StageFault, StageList, StageListError, parse_level_span, parse_level_steps,
    parse_stage_texts, parse_stages,
};

/// The most stages of a shape: four for every hour of a day.
pub const STAGES_MAX: usize = 96;

/// The load of one load point over time. A shape of a valid plan has 1 to [`STAGES_MAX`] stages, of whole seconds each, and
/// load in every stage; its plan has one load point, whose load is the highest level. A stored one that is not valid is not
/// read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "StoredShape")]
pub struct Shape {
    /// The stages, in order.
    pub stages: Vec<Stage>,
    /// The limits that end the load point when one is broken; empty: it ends with its last stage.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub until: Vec<Limit>,
}

/// A shape as it is stored, which may be none.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredShape {
    stages: Vec<Stage>,
    #[serde(default)]
    until: Vec<Limit>,
}

impl TryFrom<StoredShape> for Shape {
    type Error = StageFault;

    fn try_from(StoredShape { stages, until }: StoredShape) -> Result<Shape, StageFault> {
        StageList::check(&stages)?;
        Ok(Shape { stages, until })
    }
}

/// A part of a load point whose level of load is constant, or rises or falls linearly.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stage {
    /// The length: whole seconds, above zero.
    #[serde(rename = "length_ns", with = "with_serde::nanos")]
    pub length: Nanos,
    /// The level at the beginning.
    pub from: f64,
    /// The level at the end.
    pub to: f64,
}

impl Stage {
    /// Returns whether the load stays the same.
    pub fn is_constant(&self) -> bool {
        self.from == self.to
    }

    /// Returns the level at a time since the beginning of the stage; that of its end beyond it.
    pub fn level_at(&self, time: Nanos) -> f64 {
        let part = (time.as_secs_f64() / self.length.as_secs_f64()).min(1.0);
        self.from + (self.to - self.from) * part
    }

    /// Returns the mean level.
    pub fn level_mean(&self) -> f64 {
        f64::midpoint(self.from, self.to)
    }

    /// Returns the part of the stage, as times since its beginning, in which the level is at least `level`; empty if none.
    fn at_least(&self, level: f64) -> Range<Nanos> {
        let whole = Nanos::ZERO..self.length;
        if level <= self.from.min(self.to) {
            return whole;
        }
        if self.from.max(self.to) < level || self.is_constant() {
            return Nanos::ZERO..Nanos::ZERO;
        }
        let part = (level - self.from) / (self.to - self.from);
        let crossing = Nanos((part * self.length.0 as f64).round() as u64).min(self.length);
        if self.from < self.to { crossing..self.length } else { Nanos::ZERO..crossing }
    }
}

impl Shape {
    /// Returns the length of all stages together.
    pub fn length(&self) -> Nanos {
        length_of(&self.stages)
    }

    /// Returns the highest level.
    pub fn level_max(&self) -> f64 {
        level_max_of(&self.stages)
    }

    /// Returns the stages with the times from the start of the shape between which they last.
    pub fn spans(&self) -> impl Iterator<Item = (Range<Nanos>, &Stage)> {
        self.stages.iter().scan(Nanos::ZERO, |start, stage| {
            let span = *start..start.saturating_add(stage.length);
            *start = span.end;
            Some((span, stage))
        })
    }

    /// Returns the index of the stage at a time since the start of the shape; `None` after its end.
    pub fn stage_at(&self, time: Nanos) -> Option<usize> {
        self.spans().position(|(span, _)| span.contains(&time))
    }

    /// Returns the level at a time since the start of the shape; 0 after its end.
    pub fn level_at(&self, time: Nanos) -> f64 {
        let mut spans = self.spans();
        spans
            .find(|(span, _)| span.contains(&time))
            .map_or(0.0, |(span, stage)| stage.level_at(time - span.start))
    }

    /// Returns the mean level between two times since the start of the shape: the integral of the level ÷ the time.
    pub fn level_mean(&self, times: Range<Nanos>) -> f64 {
        let seconds = times.end.saturating_sub(times.start).as_secs_f64();
        if seconds == 0.0 {
            return self.level_at(times.start);
        }
        let sum: f64 = self
            .spans()
            .map(|(span, stage)| {
                let (start, end) = (span.start.max(times.start), span.end.min(times.end));
                if end <= start {
                    return 0.0;
                }
                let ends = stage.level_at(start - span.start) + stage.level_at(end - span.start);
                ends / 2.0 * (end - start).as_secs_f64()
            })
            .sum();
        sum / seconds
    }

    /// Returns the times since the start of the shape in which a user of a closed loop is present, by its number from 0.
    pub fn presences(&self, user: u32) -> Vec<Range<Nanos>> {
        let mut all: Vec<Range<Nanos>> = Vec::new();
        for (span, stage) in self.spans() {
            let part = stage.at_least(f64::from(user) + 0.5);
            if part.is_empty() {
                continue;
            }
            let (start, end) = (span.start + part.start, span.start + part.end);
            match all.last_mut() {
                Some(last) if last.end == start => last.end = end,
                _ => all.push(start..end),
            }
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Goal: a run file that was tampered with brings no stage without a length and no level that is none.
    #[test]
    fn a_stored_shape_that_is_none_is_not_read() {
        let read = |stages: &str| serde_json::from_str::<Shape>(&format!("{{\"stages\":[{stages}]}}"));
        let stage =
            |length: &str, from: &str| format!("{{\"length_ns\":{length},\"from\":{from},\"to\":5.0}}");
        assert_eq!(read(&stage("2000000000", "0.0")).unwrap().stages.len(), 1);
        for stages in [
            String::new(),
            stage("0", "1.0"),
            stage("1500000000", "1.0"),
            stage("1000000000", "-1.0"),
            stage("1000000000", "1e300"),
            stage("18446744073000000000", "1.0"),
            vec![stage("1000000000", "1.0"); STAGES_MAX + 1].join(","),
        ] {
            assert!(read(&stages).is_err(), "{stages}");
        }
    }

    fn shape(stages: &[(u64, f64, f64)]) -> Shape {
        let stage = |&(seconds, from, to)| Stage { length: Nanos::from_secs(seconds), from, to };
        Shape { stages: stages.iter().map(stage).collect(), until: Vec::new() }
    }

    fn presences(shape: &Shape, user: u32) -> Vec<(u64, u64)> {
        shape.presences(user).iter().map(|span| (span.start.0 / 1_000_000, span.end.0 / 1_000_000)).collect()
    }

    /// By hand: up to 4 users in 8 s, a spike of 10 for 5 s, down to nobody in 4 s. User 3 is there from level 3.5.
    #[test]
    fn users_come_and_go_with_the_level() {
        let shape = shape(&[(8, 0.0, 4.0), (5, 10.0, 10.0), (4, 4.0, 0.0)]);
        assert_eq!(presences(&shape, 0), [(1_000, 16_500)]);
        assert_eq!(presences(&shape, 3), [(7_000, 13_500)]);
        assert_eq!(presences(&shape, 9), [(8_000, 13_000)]);
        assert_eq!(presences(&shape, 10), []);
    }

    #[test]
    fn a_user_comes_back_after_a_trough() {
        let shape = shape(&[(10, 5.0, 5.0), (10, 1.0, 1.0), (10, 5.0, 5.0)]);
        assert_eq!(presences(&shape, 0), [(0, 30_000)]);
        assert_eq!(presences(&shape, 4), [(0, 10_000), (20_000, 30_000)]);
    }

    /// The users who are present at a moment are as many as the level says, rounded.
    #[test]
    fn as_many_users_are_present_as_the_level_says() {
        let shape = shape(&[(7, 0.0, 20.0), (3, 20.0, 20.0), (9, 17.0, 3.0), (4, 6.0, 9.0)]);
        for millis in (0..23_000).step_by(37) {
            let time = Nanos::from_millis(millis);
            let n =
                (0..30).filter(|user| shape.presences(*user).iter().any(|span| span.contains(&time))).count();
            assert!((n as f64 - shape.level_at(time)).abs() <= 0.501, "{n} at {millis} ms");
        }
    }

    #[test]
    fn levels_and_stages_are_found_by_time() {
        let shape = shape(&[(10, 0.0, 100.0), (10, 50.0, 50.0)]);
        let at = |seconds| shape.level_at(Nanos::from_secs(seconds));
        assert_eq!([at(0), at(5), at(10), at(19), at(20)], [0.0, 50.0, 50.0, 50.0, 0.0]);
        let stage = |seconds| shape.stage_at(Nanos::from_secs(seconds));
        assert_eq!([stage(9), stage(10), stage(20)], [Some(0), Some(1), None]);
        let mean = |from, to| shape.level_mean(Nanos::from_secs(from)..Nanos::from_secs(to));
        assert_eq!((mean(0, 10), mean(0, 20), mean(8, 12)), (50.0, 50.0, 70.0));
        assert_eq!((shape.length(), shape.level_max()), (Nanos::from_secs(20), 100.0));
    }
}
