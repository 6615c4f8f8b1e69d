//! The rate that a number of users makes of a script, and of the published results.

use super::MailScript;

/// A closed system of users who go through a loop.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LoopModel {
    /// The weight of what is counted in a loop: N.
    pub weight: f64,
    /// The operations in a loop on which a user waits for the server: n.
    pub operations: f64,
    /// The waiting of a loop, in s: Z.
    pub waiting: f64,
}

impl LoopModel {
    /// The model of published results of Mail-only, fitted to two of them: N = 20.1, n = 27, Z = 900 s.
    pub const PUBLISHED_MAIL: LoopModel = LoopModel { weight: 20.1, operations: 27.0, waiting: 900.0 };

    /// The model of published results of Mail and Shared Database, likewise: N = 35.87, n = 24.4, Z = 900 s.
    pub const PUBLISHED_MAIL_DB: LoopModel = LoopModel { weight: 35.87, operations: 24.4, waiting: 900.0 };

    /// Returns the model of a script, with its waits divided by `pace`.
    pub fn of(script: MailScript, pace: u32) -> LoopModel {
        let (_, waiting) = script.waiting();
        LoopModel {
            weight: script.weight_per_loop(),
            operations: script.operations_per_loop(),
            waiting: waiting / f64::from(pace.max(1)),
        }
    }

    /// Returns the mean time of a loop, in s, with a mean response time in s.
    ///
    /// Formula: Z + n·R.
    pub fn loop_seconds(&self, response: f64) -> f64 {
        self.waiting + self.operations * response
    }

    /// Returns the weighted operations per minute of so many users with a mean response time in s.
    ///
    /// Formula: 60 · U·N ÷ (Z + n·R).
    pub fn weighted_per_minute(&self, users: f64, response: f64) -> f64 {
        60.0 * users * self.weight / self.loop_seconds(response)
    }
}
