//! The constants of NURand: of the data as they are loaded, and of a run.

use units::Rng;

use crate::DataScale;
use crate::random::{A_LAST_NAME, uniform};

/// The constants C of a run, the same for all its terminals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunConstants {
    /// C of last names (C-Run).
    pub last_name: u32,
    /// C of customer numbers.
    pub customer: u32,
    /// C of items.
    pub item: u32,
}

impl RunConstants {
    /// Draws the constants for a run on data that were loaded with `c_load`.
    pub fn draw(scale: &DataScale, c_load: u32, rng: &mut Rng) -> RunConstants {
        let a = scale.last_names(0).a;
        let allowed: Vec<u32> = (0..=a).filter(|c_run| is_allowed(a, c_load, *c_run)).collect();
        let last_name = allowed.get(rng.index(allowed.len())).copied().unwrap_or(0);
        let customer = uniform(rng, 0, scale.customers(0).a);
        RunConstants { last_name, customer, item: uniform(rng, 0, scale.items_ordered(0).a) }
    }
}

/// Draws C-Load, the constant of last names in the rows of customers, from 0 to A.
pub(crate) fn c_load(scale: &DataScale, rng: &mut Rng) -> u32 {
    uniform(rng, 0, scale.last_names(0).a)
}

/// Returns whether last names may be drawn with `c_run` from data that were loaded with `c_load`.
///
/// Their difference is from 65 to 119, and neither 96 nor 112 (TPC-C revision 5.11, clause 2.1.6.1). Where the data are
/// divided and A is smaller, no two constants are so far apart: they only differ, if there are two.
fn is_allowed(a: u32, c_load: u32, c_run: u32) -> bool {
    match (c_run.abs_diff(c_load), a) {
        (difference, A_LAST_NAME) => {
            (65..=119).contains(&difference) && difference != 96 && difference != 112
        }
        (difference, 1..) => difference != 0,
        (_, 0) => true,
    }
}

#[cfg(test)]
mod tests {
    use units::StreamPurpose;

    use super::*;

    /// Golden check 9.1.
    #[test]
    fn constants_of_loading_and_running_are_as_far_apart_as_allowed() {
        let is_allowed = |difference: u32| is_allowed(255, 100, 100 + difference);
        assert!([65, 95, 97, 111, 113, 119].into_iter().all(is_allowed));
        assert!(![0, 64, 96, 112, 120].into_iter().any(is_allowed));
    }

    #[test]
    fn every_c_load_has_a_c_run() {
        for divisor in crate::DIVISORS {
            let scale = DataScale::new(1, divisor).unwrap();
            let a = scale.last_names(0).a;
            for c_load in 0..=a {
                let constants = RunConstants::draw(
                    &scale,
                    c_load,
                    &mut Rng::new(u64::from(c_load), StreamPurpose::Data, 0),
                );
                assert!(is_allowed(a, c_load, constants.last_name), "divisor {divisor}, C-Load {c_load}");
            }
        }
    }
}
