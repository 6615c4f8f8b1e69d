//! The figures of a suite: its harmonic score at the peak, at the greatest load, and over all load points.

use model::Score;
use stats::harmonic_mean;

use crate::{Analysis, LoadPointResult};

/// The harmonic scores of a suite's load points in three figures.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ScoreSummary {
    /// Index into `load_points` of the one with the highest score; of equal ones the one with the least load.
    pub peak: usize,
    /// Index into `load_points` of the one with the greatest load.
    pub greatest_load: usize,
    /// The harmonic mean of the scores, in their unit: every load point counts the same, whatever its rate.
    pub harmonic_mean: f64,
    /// The number of load points that it is over.
    pub n_load_points: usize,
}

impl Analysis {
    /// Returns the figures of a suite, over the load points of its curve that have a score.
    ///
    /// `None` unless the score is a harmonic one, without such a load point, and of a search, whose load points follow from
    /// what it finds.
    pub fn score_summary(&self) -> Option<ScoreSummary> {
        let is_suite = matches!(self.score, Score::Harmonic { .. }) && self.found.is_none();
        let points = self.load_points.iter().enumerate();
        let mut scored: Vec<(usize, &LoadPointResult, f64)> = points
            .filter(|(_, point)| is_suite && self.is_on_curve(point))
            .filter_map(|(index, point)| Some((index, point, point.score?)))
            .collect();
        scored.sort_by(|(_, one, _), (_, other, _)| one.load.level().total_cmp(&other.load.level()));
        let peak = scored.iter().rev().max_by(|(.., one), (.., other)| one.total_cmp(other))?.0;
        let scores: Vec<f64> = scored.iter().map(|(.., score)| *score).collect();
        Some(ScoreSummary {
            peak,
            greatest_load: scored.last()?.0,
            harmonic_mean: harmonic_mean(&scores)?,
            n_load_points: scores.len(),
        })
    }
}
