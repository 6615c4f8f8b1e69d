//! Common line formats of kernel files.

use model::{Counter, Reading};

/// Returns the key and the first number of every line that begins with both: `pgpgin 7`, `MemTotal: 7 kB`.
pub(crate) fn keyed(text: &str) -> impl Iterator<Item = (&str, u64)> {
    text.lines().filter_map(|line| {
        let mut fields = line.split_ascii_whitespace();
        Some((fields.next()?, fields.next()?.parse().ok()?))
    })
}

/// Appends the counters whose keys occur in a text, each number multiplied by `scale`.
pub(crate) fn keyed_counters(text: &str, wanted: &[(&str, Counter)], scale: u64, into: &mut Vec<Reading>) {
    for (key, number) in keyed(text) {
        if let Some((_, counter)) = wanted.iter().find(|(name, _)| *name == key) {
            into.push(Reading::new(*counter, number.saturating_mul(scale)));
        }
    }
}

/// Divisor of the numbers of files that count nanoseconds.
pub(crate) const NANOS_PER_MICRO: u64 = 1000;

/// Appends the counter that is all of a text, divided by `divisor`.
pub(crate) fn sole_counter(text: &str, counter: Counter, divisor: u64, into: &mut Vec<Reading>) {
    into.extend(text.trim().parse::<u64>().ok().map(|number| Reading::new(counter, number / divisor)));
}

/// Converts clock ticks, of which user space sees 100 a second on nearly every Linux, into microseconds.
///
/// Other machines are assumed to have the same ticks as this one.
pub(crate) fn ticks_to_micros(ticks: u64) -> u64 {
    ticks.saturating_mul(1_000_000 / rustix::param::clock_ticks_per_second().clamp(1, 1_000_000))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_without_key_and_number_are_skipped() {
        let found: Vec<_> = keyed("a 1\n\n b: 2 kB\nc\nd x\ne 18446744073709551616\nf 3 4").collect();
        assert_eq!(found, [("a", 1), ("b:", 2), ("f", 3)]);
    }

    #[test]
    fn ticks_are_hundredths_of_a_second_here() {
        assert_eq!(ticks_to_micros(7), 70_000);
        assert_eq!(ticks_to_micros(u64::MAX), u64::MAX);
    }
}
