//! Load plans: the ordered list of load points.

use std::fmt;
use std::num::NonZeroU16;

use languages::names;
use serde::{Deserialize, Serialize};

use crate::Noun;

/// Number of lanes of Poisson arrivals: the most load threads that can share a schedule.
///
/// Lanes make slices of nearly equal rates for a few dozen threads, and their state (16 KB) stays in a core's cache.
pub const POISSON_LANES: NonZeroU16 = NonZeroU16::new(256).expect("not zero");

/// One level of offered load.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LoadPoint {
    /// Index in the load plan, from 0.
    pub index: u32,
    /// The offered load.
    pub load: Load,
}

/// The load of a load point: users of a closed loop, or the rate of an open loop.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Load {
    /// Closed loop: a fixed number of users, each waiting for its reply.
    Users(u32),
    /// Open loop: operations fall due on a schedule, whatever the server does.
    Rate {
        /// Operations per second.
        per_second: f64,
        /// The distribution of due times.
        arrivals: Arrivals,
        /// The most operations in flight; further ones wait while their response time runs.
        in_flight_max: u32,
    },
}

/// The unit of a level of load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoadUnit {
    /// Users of a closed loop.
    Users,
    /// Operations per second of an open loop.
    Rate,
}

names! {
    /// The distribution of the due times of an open loop.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
    pub enum Arrivals {
        /// At equal distances.
        Constant = "constant",
        /// At random, with exponential distances.
        Poisson = "poisson",
    }
}

/// Writes the load in general words: `1 user`, `50 users`, `1000/s`. [`Load::text`] has the benchmark's.
impl fmt::Display for Load {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Load::Users(1) => f.write_str("1 user"),
            Load::Users(users) => write!(f, "{users} users"),
            Load::Rate { per_second, .. } => write!(f, "{per_second}/s"),
        }
    }
}

impl Load {
    /// Writes the load for people with a benchmark's noun for users: `1 client`, `50 clients`, `1000/s`.
    pub fn text(self, user: &Noun) -> String {
        match self {
            Load::Users(users) => format!("{users} {}", user.of(users.into())),
            Load::Rate { per_second, .. } => format!("{per_second}/s"),
        }
    }

    /// Returns a load of the same kind at another level; users are rounded.
    pub fn at_level(self, level: f64) -> Load {
        match self {
            Load::Users(_) => Load::Users(level.round() as u32),
            Load::Rate { arrivals, in_flight_max, .. } => {
                Load::Rate { per_second: level, arrivals, in_flight_max }
            }
        }
    }

    /// Returns the level of load as a number: users, or operations per second.
    pub fn level(self) -> f64 {
        match self {
            Load::Users(users) => f64::from(users),
            Load::Rate { per_second, .. } => per_second,
        }
    }

    /// Returns the maximum number of operations in flight.
    pub fn in_flight_max(self) -> u32 {
        match self {
            Load::Users(users) => users,
            Load::Rate { in_flight_max, .. } => in_flight_max,
        }
    }

    /// Returns the number of independent processes of which its arrivals are the sum, in a new plan: one for each user,
    /// where users have state.
    pub fn arrival_lanes(self, has_user_state: bool) -> NonZeroU16 {
        match self {
            Load::Rate { arrivals: Arrivals::Poisson, in_flight_max, .. } if has_user_state => {
                let users = u16::try_from(in_flight_max).unwrap_or(u16::MAX);
                NonZeroU16::new(users).unwrap_or(NonZeroU16::MIN)
            }
            Load::Rate { arrivals: Arrivals::Poisson, .. } => POISSON_LANES,
            Load::Rate { arrivals: Arrivals::Constant, .. } | Load::Users(_) => NonZeroU16::MIN,
        }
    }

    /// Returns whether the loop is closed.
    pub fn is_closed(self) -> bool {
        matches!(self, Load::Users(_))
    }
}
