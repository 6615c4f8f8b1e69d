//! NURand, the non-uniform distribution of customers, last names and items.

use units::Rng;

use super::uniform;

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

#[cfg(test)]
mod tests {
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
}
