//! The phases of a load point.

use serde::{Deserialize, Serialize};
use units::Nanos;

use crate::with_serde;

/// A part of a load point.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Phase {
    /// Load rising.
    RampUp = 0,
    /// Full load, not measured.
    Settle = 1,
    /// Measured.
    Steady = 2,
    /// Load falling.
    RampDown = 3,
    /// The drain: nothing new is started, operations in flight may finish.
    Drain = 4,
}

impl Phase {
    /// All phases, in the order in which they are passed.
    pub const ALL: [Phase; 5] = [Phase::RampUp, Phase::Settle, Phase::Steady, Phase::RampDown, Phase::Drain];

    /// Returns the phase with a number, as stored in run files; `None` if there is none.
    pub fn from_number(number: u8) -> Option<Phase> {
        Phase::ALL.get(usize::from(number)).copied()
    }

    /// Returns the phase's name.
    pub fn name(self) -> &'static str {
        match self {
            Phase::RampUp => "ramp-up",
            Phase::Settle => "settle",
            Phase::Steady => "steady",
            Phase::RampDown => "ramp-down",
            Phase::Drain => "drain",
        }
    }
}

/// The lengths of the phases of a load point.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Phases {
    /// A pause before the load point.
    #[serde(rename = "quiet_ns", with = "with_serde::nanos")]
    pub quiet: Nanos,
    /// Load rising.
    #[serde(rename = "ramp_up_ns", with = "with_serde::nanos")]
    pub ramp_up: Nanos,
    /// Full load, not measured.
    #[serde(rename = "settle_ns", with = "with_serde::nanos")]
    pub settle: Nanos,
    /// Measured; above zero.
    #[serde(rename = "steady_ns", with = "with_serde::nanos")]
    pub steady: Nanos,
    /// Load falling.
    #[serde(rename = "ramp_down_ns", with = "with_serde::nanos")]
    pub ramp_down: Nanos,
    /// The longest time in which operations in flight may finish afterwards; zero gives them up at once.
    #[serde(rename = "drain_ns", with = "with_serde::nanos")]
    pub drain: Nanos,
}

impl Phases {
    /// Returns the time from the start of the load point at which a phase ends.
    pub fn end_of(&self, phase: Phase) -> Nanos {
        let lengths = [self.ramp_up, self.settle, self.steady, self.ramp_down, self.drain];
        lengths[..=phase as usize].iter().fold(Nanos::ZERO, |sum, length| sum + *length)
    }

    /// Returns the time from the start of the load point at which a phase begins.
    pub fn start_of(&self, phase: Phase) -> Nanos {
        match phase {
            Phase::RampUp => Nanos::ZERO,
            _ => self.end_of(Phase::ALL[phase as usize - 1]),
        }
    }

    /// Returns the phase at a time since the start of the load point.
    pub fn at(&self, time: Nanos) -> Phase {
        let running = [Phase::RampUp, Phase::Settle, Phase::Steady, Phase::RampDown];
        running.into_iter().find(|phase| time < self.end_of(*phase)).unwrap_or(Phase::Drain)
    }

    /// Returns the phases of a load point at which nothing more is started from `end` on, counted from its start: those before
    /// end there, and the drain is as long.
    pub fn ending_at(&self, end: Nanos) -> Phases {
        let until = |phase: Phase| self.end_of(phase).min(end).saturating_sub(self.start_of(phase).min(end));
        Phases {
            ramp_up: until(Phase::RampUp),
            settle: until(Phase::Settle),
            steady: until(Phase::Steady),
            ramp_down: until(Phase::RampDown),
            ..*self
        }
    }

    /// Returns the time for which operations are started: all phases but the drain.
    pub fn issuing(&self) -> Nanos {
        self.end_of(Phase::RampDown)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_belongs_to_the_phase_that_has_begun() {
        let s = Nanos::from_secs;
        let phases =
            Phases { quiet: s(9), ramp_up: s(2), settle: s(0), steady: s(5), ramp_down: s(1), drain: s(3) };
        let at = |seconds| phases.at(s(seconds));
        assert_eq!(
            [at(0), at(1), at(2), at(6)],
            [Phase::RampUp, Phase::RampUp, Phase::Steady, Phase::Steady]
        );
        assert_eq!([at(7), at(8), at(99)], [Phase::RampDown, Phase::Drain, Phase::Drain]);
        assert_eq!((phases.start_of(Phase::Steady), phases.end_of(Phase::Steady)), (s(2), s(7)));
        assert_eq!(phases.issuing(), s(8));
    }

    /// By hand: of 2 s, 0 s, 5 s and 1 s, the first 4 s are the ramp-up and 2 s of the steady phase.
    #[test]
    fn phases_that_end_early_are_cut_from_the_end() {
        let s = Nanos::from_secs;
        let phases =
            Phases { quiet: s(9), ramp_up: s(2), settle: s(0), steady: s(5), ramp_down: s(1), drain: s(3) };
        let cut = Phases { steady: s(2), ramp_down: s(0), ..phases };
        assert_eq!((phases.ending_at(s(4)), phases.ending_at(s(8))), (cut, phases));
        assert_eq!(phases.ending_at(s(99)), phases, "they are not made longer");
        let none = phases.ending_at(s(0));
        assert_eq!((none.issuing(), none.drain, none.at(s(0))), (s(0), s(3), Phase::Drain));
    }
}
