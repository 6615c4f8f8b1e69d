//! NURand, the non-uniform distribution of customers, last names and items, and its constants.

use units::Rng;

use super::uniform;
use crate::DataScale;

/// A of last names at full cardinality; the rule about C of loading and running is about it.
pub(crate) const A_LAST_NAME: u32 = 255;

/// The non-uniform distribution NURand(A, x, y) with its constant C.
///
/// Formula: ((random(0, A) | random(x, y)) + C) mod (y − x + 1) + x, where | is the bitwise OR. Another C rotates the keys.
/// Source: TPC-C revision 5.11, clause 2.1.6.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NuRand {
    /// A, one less than a power of two.
    pub a: u32,
    /// C, from 0 to A.
    pub c: u32,
    /// x, the first key.
    pub first: u32,
    /// y, the last key.
    pub last: u32,
}

impl NuRand {
    /// Returns the key of two uniform draws: one from 0 to A, and one from x to y.
    pub fn key(&self, draw_a: u32, draw_key: u32) -> u32 {
        let n_keys = u64::from(self.last - self.first) + 1;
        let rotated = (u64::from(draw_a | draw_key) + u64::from(self.c)) % n_keys;
        self.first + u32::try_from(rotated).expect("it is below a number of u32 values")
    }

    /// Draws a key.
    pub fn draw(&self, rng: &mut Rng) -> u32 {
        let draw_a = uniform(rng, 0, self.a);
        self.key(draw_a, uniform(rng, self.first, self.last))
    }
}

/// Returns A for a range that has been divided.
///
/// Formula: A' = 2^⌊log₂(A · R' ÷ R + 1)⌋ − 1, with R and R' the number of keys before and after. Our definition.
pub(crate) fn scaled_a(a: u32, keys: u32, scaled_keys: u32) -> u32 {
    let bound = u64::from(a) * u64::from(scaled_keys) / u64::from(keys) + 1;
    u32::try_from((1 << bound.ilog2()) - 1).expect("it is at most A")
}

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
    use units::Purpose;

    use super::*;

    /// Golden check 9.1.
    #[test]
    fn keys_of_given_draws_are_as_the_formula_says() {
        let last_name = |c| NuRand { a: 255, c, first: 0, last: 999 };
        assert_eq!(last_name(157).key(100, 500), 657);
        assert_eq!(last_name(223).key(0, 0), 223);
        let customer = NuRand { a: 1023, c: 259, first: 1, last: 3000 };
        assert_eq!(customer.key(1000, 2999), 331);
        let item = NuRand { a: 8191, c: 7911, first: 1, last: 100_000 };
        assert_eq!(item.key(8191, 100_000), 14_407);
    }

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
                let constants =
                    RunConstants::draw(&scale, c_load, &mut Rng::new(u64::from(c_load), Purpose::Data, 0));
                assert!(is_allowed(a, c_load, constants.last_name), "divisor {divisor}, C-Load {c_load}");
            }
        }
    }
}
