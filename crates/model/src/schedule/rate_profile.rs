//! The offered rate of an open loop over the phases of a load point, or over the stages of its shape.

use std::sync::Arc;

use units::Nanos;

use crate::{Phase, Phases, Shape};

/// The offered rate over time. Times in s from the start of the load point.
#[derive(Debug, Clone)]
pub(super) enum RateProfile {
    /// One rate, over the phases.
    Phases(PhaseProfile),
    /// The level of a shape.
    Stages(Arc<[StageProfile]>),
}

/// A rate that rises linearly from zero over the ramp-up, stays at λ, and falls linearly to zero over the ramp-down.
#[derive(Debug, Clone, Copy)]
pub(super) struct PhaseProfile {
    rate: f64,
    ramp_up: f64,
    ramp_down: f64,
    full: f64,
}

/// A stage, with a rate that is linear in it.
#[derive(Debug, Clone, Copy)]
pub(super) struct StageProfile {
    start: f64,
    length: f64,
    /// The rate at the start.
    from: f64,
    /// The growth of the rate, per s.
    slope: f64,
    /// Λ at the start, and at the end.
    before: f64,
    after: f64,
}

impl RateProfile {
    /// Makes the profile of `rate` operations per second, λ, over the phases in which operations are started.
    pub(super) fn of_phases(rate: f64, phases: &Phases) -> RateProfile {
        RateProfile::Phases(PhaseProfile {
            rate,
            ramp_up: phases.ramp_up.as_secs_f64(),
            ramp_down: phases.ramp_down.as_secs_f64(),
            full: phases.settle.as_secs_f64() + phases.steady.as_secs_f64(),
        })
    }

    /// Makes the profile of a shape, which begins with the steady phase.
    pub(super) fn of_shape(shape: &Shape, phases: &Phases) -> RateProfile {
        let origin: Nanos = phases.start_of(Phase::Steady);
        let mut before = 0.0;
        let stages = shape.spans().map(|(span, stage)| {
            let length = stage.length.as_secs_f64();
            let after = before + stage.level_mean() * length;
            let profile = StageProfile {
                start: (origin + span.start).as_secs_f64(),
                length,
                from: stage.from,
                slope: (stage.to - stage.from) / length,
                before,
                after,
            };
            before = after;
            profile
        });
        RateProfile::Stages(stages.collect())
    }

    /// Returns the time (s) by which `count` operations are expected, Λ⁻¹; `None` beyond the end of the profile.
    #[inline]
    pub(super) fn time_of(&self, count: f64) -> Option<f64> {
        match self {
            RateProfile::Phases(profile) => profile.time_of(count),
            RateProfile::Stages(stages) => {
                let stage = stages.get(stages.partition_point(|stage| stage.after <= count))?;
                Some(stage.time_of(count))
            }
        }
    }
}

impl PhaseProfile {
    fn time_of(&self, count: f64) -> Option<f64> {
        let in_ramp_up = self.rate * self.ramp_up / 2.0;
        let in_full = self.rate * self.full;
        if count < in_ramp_up {
            return Some((2.0 * self.ramp_up * count / self.rate).sqrt());
        }
        if count < in_ramp_up + in_full {
            return Some(self.ramp_up + (count - in_ramp_up) / self.rate);
        }
        let left = self.expected() - count;
        let end = self.ramp_up + self.full + self.ramp_down;
        (0.0 < left).then(|| end - (2.0 * self.ramp_down * left / self.rate).sqrt())
    }

    /// Returns the expected number of operations: λ·(full + half of both ramps).
    fn expected(&self) -> f64 {
        self.rate * (self.full + (self.ramp_up + self.ramp_down) / 2.0)
    }
}

impl StageProfile {
    /// Returns the time (s) at which `count` operations, of this stage and those before, are expected.
    ///
    /// With c operations in the stage, c = λ₀·x + s·x² ÷ 2 for the rate λ₀ at its start and the growth s. The smaller root,
    /// x = 2c ÷ (λ₀ + √(λ₀² + 2·s·c)), is in this form exact for a small s and for s = 0.
    fn time_of(&self, count: f64) -> f64 {
        let within = count - self.before;
        let root = (self.from * self.from + 2.0 * self.slope * within).max(0.0).sqrt();
        let time = if within <= 0.0 { 0.0 } else { 2.0 * within / (self.from + root) };
        self.start + time.min(self.length)
    }
}
