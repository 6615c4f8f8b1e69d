//! Variable-length integers and an adaptive binary range coder, of which the histogram codec is made.

use super::HistogramError;

/// Appends an integer in groups of seven bits, lowest first; the top bit of a byte marks that more follow.
pub(crate) fn write_varint(mut value: u128, into: &mut Vec<u8>) {
    let lowest = |value: u128| value.to_le_bytes()[0];
    while 0x80 <= value {
        into.push(lowest(value) | 0x80);
        value >>= 7;
    }
    into.push(lowest(value));
}

/// Reads an integer of [`write_varint`] and moves `from` past it.
pub(crate) fn read_varint(from: &mut &[u8]) -> Result<u128, HistogramError> {
    let mut value = 0u128;
    for shift in (0..128).step_by(7) {
        let (&byte, rest) = from.split_first().ok_or(HistogramError::Truncated)?;
        *from = rest;
        let bits = u128::from(byte & 0x7f);
        if (bits << shift) >> shift != bits {
            return Err(HistogramError::TooLarge);
        }
        value |= bits << shift;
        if byte < 0x80 {
            return Ok(value);
        }
    }
    Err(HistogramError::TooLarge)
}

/// The estimated probability that the next yes-or-no decision is a yes, learned from those before it.
///
/// The weight of a new decision falls from 1/2 to 1/128: it adapts quickly at first, then slowly.
/// Writer and reader see the same decisions and so learn the same.
#[derive(Clone, Copy)]
pub(crate) struct BitModel {
    /// The probability in 1/65,536; never zero or one.
    yes: u16,
    /// Number of decisions seen; it stops growing after those that have weights of their own.
    seen: u16,
}

impl BitModel {
    /// The number of decisions from which the weight stays the same.
    const SEEN_MAX: u16 = 126;

    /// The weight of a decision in 1/65,536 after so many others: one over their number and two.
    const WEIGHTS: [i32; BitModel::SEEN_MAX as usize + 1] = {
        let mut weights = [0; BitModel::SEEN_MAX as usize + 1];
        let mut seen = 0;
        let mut divisor = 2;
        while seen < weights.len() {
            weights[seen] = 65_536 / divisor;
            (seen, divisor) = (seen + 1, divisor + 1);
        }
        weights
    };

    /// The estimate before any decision.
    const EVEN: BitModel = BitModel { yes: 1 << 15, seen: 0 };

    fn learn(&mut self, yes: bool) {
        let goal = if yes { 0xffff } else { 1 };
        let model = i32::from(self.yes);
        let seen = usize::from(self.seen);
        // A step down is rounded away from zero and so ends at 1; it never passes the goal.
        let next = model + (((goal - model) * BitModel::WEIGHTS[seen]) >> 16);
        self.yes = u16::try_from(next).expect("it lies between the last estimate and the goal");
        self.seen = (self.seen + 1).min(BitModel::SEEN_MAX);
    }
}

/// The interval of the numbers that begin with the code so far, as fractions of one in 64 bits.
///
/// Each decision divides it in proportion to its probability and keeps one part. Whole bytes on which
/// all of them agree are settled. Invariant: `low` < `high`, and their first bytes differ.
struct Interval {
    low: u64,
    /// Inclusive.
    high: u64,
}

impl Interval {
    const ALL: Interval = Interval { low: 0, high: u64::MAX };

    /// Returns the last number of the part that a yes keeps; both parts hold at least one number.
    fn split(&self, model: BitModel) -> u64 {
        self.low + ((self.high - self.low) >> 16) * u64::from(model.yes)
    }

    fn keep(&mut self, yes: bool, split: u64) {
        if yes {
            self.high = split;
        } else {
            self.low = split + 1;
        }
    }

    /// Takes off the first byte if it is settled.
    fn settle(&mut self) -> Option<u8> {
        if (self.low ^ self.high) >> 56 != 0 {
            return None;
        }
        let [settled, ..] = self.high.to_be_bytes();
        self.low <<= 8;
        self.high = self.high << 8 | 0xff;
        Some(settled)
    }

    /// Returns the fewest bytes that begin numbers of this interval only, whatever follows them.
    ///
    /// So no code is the beginning of another, and one that was cut is never taken for whole.
    fn tail(&self) -> impl Iterator<Item = u8> + use<> {
        let fits = |n_bytes: &u32| {
            let rest = u64::MAX.checked_shr(8 * n_bytes).unwrap_or(0);
            let first = self.low.checked_add(rest)? & !rest;
            (first | rest <= self.high).then_some((first, *n_bytes))
        };
        let (first, n_bytes) = (0..8).find_map(|n_bytes| fits(&n_bytes)).unwrap_or((self.low, 8));
        first.to_be_bytes().into_iter().take(n_bytes as usize)
    }
}

/// An encoder of decisions, each at about −log₂ of its probability in bits.
///
/// A binary range coder with 64 bits. Source: Witten, Neal and Cleary 1987, without their handling of
/// carries: an interval that straddles a byte boundary stays so long, which costs nothing at this width.
pub(crate) struct Encoder {
    bytes: Vec<u8>,
    interval: Interval,
}

impl Encoder {
    /// Continues after whole bytes.
    pub(crate) fn after(bytes: Vec<u8>) -> Encoder {
        Encoder { bytes, interval: Interval::ALL }
    }

    /// Appends a decision and updates its model.
    #[inline]
    pub(crate) fn decide(&mut self, yes: bool, model: &mut BitModel) {
        self.interval.keep(yes, self.interval.split(*model));
        model.learn(yes);
        while let Some(byte) = self.interval.settle() {
            self.bytes.push(byte);
        }
    }

    /// Returns the bytes.
    pub(crate) fn finish(mut self) -> Vec<u8> {
        self.bytes.extend(self.interval.tail());
        self.bytes
    }
}

/// A decoder of the decisions of an [`Encoder`].
pub(crate) struct Decoder<'a> {
    /// The bytes from the first one that is not settled.
    bytes: &'a [u8],
    interval: Interval,
    /// The number that `bytes` begin; zeros follow their end.
    number: u64,
    /// Whether bytes were settled that are not there.
    ended: bool,
}

impl<'a> Decoder<'a> {
    /// Starts at the first byte.
    pub(crate) fn new(bytes: &'a [u8]) -> Decoder<'a> {
        let byte = |index| bytes.get(index).copied().unwrap_or(0);
        let number = u64::from_be_bytes(std::array::from_fn(byte));
        Decoder { bytes, interval: Interval::ALL, number, ended: false }
    }

    /// Reads a decision; any at all after the end of the bytes, see [`Decoder::check`].
    #[inline]
    pub(crate) fn decide(&mut self, model: &mut BitModel) -> bool {
        let split = self.interval.split(*model);
        let yes = self.number <= split;
        self.interval.keep(yes, split);
        model.learn(yes);
        while self.interval.settle().is_some() {
            self.ended |= self.bytes.is_empty();
            self.bytes = self.bytes.get(1..).unwrap_or_default();
            self.number = self.number << 8 | u64::from(self.bytes.get(7).copied().unwrap_or(0));
        }
        yes
    }

    /// Checks that all bytes read so far existed.
    pub(crate) fn check(&self) -> Result<(), HistogramError> {
        if self.ended { Err(HistogramError::Truncated) } else { Ok(()) }
    }

    /// Checks that the bytes end as an encoder ends them.
    pub(crate) fn finish(self) -> Result<(), HistogramError> {
        self.check()?;
        let n_tail = self.interval.tail().count();
        match self.bytes.len().checked_sub(n_tail) {
            None => Err(HistogramError::Truncated),
            Some(0) if self.interval.tail().eq(self.bytes.iter().copied()) => Ok(()),
            Some(0) => Err(HistogramError::Inconsistent("its last bytes are not as they would be written")),
            Some(more) => Err(HistogramError::Trailing(more)),
        }
    }
}

/// A coder for the counts of neighboring buckets, which are alike.
///
/// A count c is coded as c + 1 in binary: first whether it has more than one bit, more than two, and
/// so on; then its bits after the first. The models of the lengths and of the first two of these bits
/// are learned apart for each power of two of the running mean; the other bits are even.
pub(crate) struct CountModel {
    /// Per power of two of the running mean, from below 1/256.
    levels: Vec<Level>,
    /// 4,096 times the running mean of about sixteen counts.
    mean: u64,
}

/// Estimates for one magnitude of the running mean, each by the number of bits after the first.
#[derive(Clone, Copy)]
struct Level {
    /// Whether there are more.
    longer: [BitModel; 64],
    /// The bits that follow 1, 10 and 11, under these numbers, and all others under zero.
    bits: [[BitModel; 4]; 64],
}

impl CountModel {
    /// Counts above weigh as this in the running mean, so that it fits.
    const WEIGHT_MAX: u64 = 1 << 48;

    /// Number of levels: from zero to [`CountModel::WEIGHT_MAX`] in steps of a doubling.
    const N_LEVELS: usize = 58;

    /// Starts with a mean of zero.
    pub(crate) fn new() -> CountModel {
        // In memory, and copied from there: as a value it becomes 68 KB of instructions.
        static EVEN: Level = Level { longer: [BitModel::EVEN; 64], bits: [[BitModel::EVEN; 4]; 64] };
        CountModel { levels: vec![EVEN; CountModel::N_LEVELS], mean: 0 }
    }

    /// Appends a count below 2⁶⁴ − 1.
    pub(crate) fn write(&mut self, count: u64, into: &mut Encoder) {
        let raised = count + 1;
        let length = raised.ilog2() as usize;
        let level = self.level();
        for shorter in 0..length {
            into.decide(true, &mut level.longer[shorter]);
        }
        into.decide(false, &mut level.longer[length]);
        for index in (0..length).rev() {
            let model = level.bit_after(raised >> (index + 1), length);
            into.decide(raised >> index & 1 == 1, model);
        }
        self.learn(count);
    }

    /// Reads a count of [`CountModel::write`].
    pub(crate) fn read(&mut self, from: &mut Decoder) -> u64 {
        let level = self.level();
        let length = (0..64).find(|shorter| !from.decide(&mut level.longer[*shorter])).unwrap_or(63);
        let mut raised = 1;
        for _ in 0..length {
            raised = raised << 1 | u64::from(from.decide(level.bit_after(raised, length)));
        }
        self.learn(raised - 1);
        raised - 1
    }

    fn level(&mut self) -> &mut Level {
        let index = u64::BITS - (self.mean >> 4).leading_zeros();
        &mut self.levels[index as usize]
    }

    fn learn(&mut self, count: u64) {
        self.mean = self.mean - self.mean / 16 + (count.min(CountModel::WEIGHT_MAX) << 8);
    }
}

impl Level {
    /// Returns the model of the bit after the ones given, of a number with so many bits after the first.
    fn bit_after(&mut self, before: u64, length: usize) -> &mut BitModel {
        let known = match before {
            1 => 1,
            2 => 2,
            3 => 3,
            _ => 0,
        };
        &mut self.bits[length][known]
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn coded(counts: &[u64]) -> Vec<u8> {
        let mut model = CountModel::new();
        let mut into = Encoder::after(Vec::new());
        counts.iter().for_each(|count| model.write(*count, &mut into));
        into.finish()
    }

    /// By hand: 2 is 11 in binary after adding one, so one even yes (longer than one bit), one even no (than two)
    /// and an even yes: of all numbers the lower half, of that the upper, of that the lower: 0.25 up to 0.375.
    /// One byte suffices; the first whose numbers all lie there is 0x40.
    #[test]
    fn decisions_narrow_the_interval_as_documented() {
        assert_eq!(coded(&[2]), [0x40]);
        assert_eq!(coded(&[]), []);
    }

    #[test]
    fn a_likely_decision_costs_little() {
        let mut model = BitModel::EVEN;
        let mut into = Encoder::after(Vec::new());
        (0..8_000).for_each(|_| into.decide(false, &mut model));
        let n_bytes = into.finish().len();
        assert!(n_bytes < 8, "{n_bytes} bytes for 8,000 decisions");
    }

    proptest! {
        #[test]
        fn counts_of_any_size_survive_in_a_row(
            counts in prop::collection::vec((0..u64::MAX, 0..64u32).prop_map(|(bits, shift)| bits >> shift), 0..40),
        ) {
            let bytes = coded(&counts);
            let mut model = CountModel::new();
            let mut from = Decoder::new(&bytes);
            for count in counts {
                prop_assert_eq!(model.read(&mut from), count);
            }
            prop_assert_eq!(from.finish(), Ok(()));
        }

        /// For any probabilities: also intervals that straddle a byte boundary for long.
        #[test]
        fn decisions_of_any_probability_survive(decisions in prop::collection::vec((any::<bool>(), 1..=u16::MAX), 0..200)) {
            let model = |yes| BitModel { yes, seen: 0 };
            let mut into = Encoder::after(Vec::new());
            decisions.iter().for_each(|(yes, likely)| into.decide(*yes, &mut model(*likely)));
            let bytes = into.finish();
            let mut from = Decoder::new(&bytes);
            for (yes, likely) in &decisions {
                prop_assert_eq!(from.decide(&mut model(*likely)), *yes);
            }
            prop_assert_eq!(from.finish(), Ok(()));
        }

        #[test]
        fn integers_of_any_size_survive(value in (any::<u128>(), 0..128u32).prop_map(|(bits, shift)| bits >> shift)) {
            let mut bytes = Vec::new();
            write_varint(value, &mut bytes);
            prop_assert_eq!(read_varint(&mut bytes.as_slice()), Ok(value));
        }
    }
}
