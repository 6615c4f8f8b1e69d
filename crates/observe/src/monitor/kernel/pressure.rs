//! `/proc/pressure`: pressure stall information (PSI), and the same files of a control group.

use model::{Counter, Reading};

/// Parses the pressure on CPUs. For a whole machine, the time in which all threads were stalled is always 0.
pub(super) fn parse_cpu(text: &str, into: &mut Vec<Reading>) {
    parse(text, &[("some", Counter::PressureCpu)], into);
}

/// Parses the pressure on memory.
pub(super) fn parse_memory(text: &str, into: &mut Vec<Reading>) {
    parse(text, &[("some", Counter::PressureMemory), ("full", Counter::PressureMemoryFull)], into);
}

/// Parses the pressure on disks.
pub(super) fn parse_io(text: &str, into: &mut Vec<Reading>) {
    parse(text, &[("some", Counter::PressureIo), ("full", Counter::PressureIoFull)], into);
}

/// Parses lines `some avg10=0.00 avg60=0.00 avg300=0.00 total=7`: the total is in µs.
///
/// Source: Linux, Documentation/accounting/psi.rst.
pub(super) fn parse(text: &str, wanted: &[(&str, Counter)], into: &mut Vec<Reading>) {
    for line in text.lines() {
        let Some((key, rest)) = line.split_once(' ') else { continue };
        let total = rest.split_once("total=").and_then(|(_, total)| total.trim().parse().ok());
        let counter = wanted.iter().find(|(name, _)| *name == key).map(|(_, counter)| *counter);
        into.extend(counter.zip(total).map(|(counter, total)| Reading::new(counter, total)));
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::check;
    use super::*;
    use Counter::*;

    #[test]
    fn totals_of_some_and_full_are_parsed() {
        let text = "some avg10=0.00 avg60=0.28 avg300=0.90 total=247668902\n\
                    full avg10=0.00 avg60=0.00 avg300=0.08 total=95147693\n";
        check(parse_memory, text, &[(PressureMemory, "", 247_668_902), (PressureMemoryFull, "", 95_147_693)]);
        check(parse_io, text, &[(PressureIo, "", 247_668_902), (PressureIoFull, "", 95_147_693)]);
        check(parse_cpu, text, &[(PressureCpu, "", 247_668_902)]);
    }

    #[test]
    fn kernels_before_5_13_have_one_line_for_cpus() {
        check(parse_cpu, "some avg10=75.22 avg60=62.93 avg300=53.12 total=17", &[(PressureCpu, "", 17)]);
        check(parse_cpu, "some avg10=75.22\nsome total=x\nsome\n", &[]);
    }
}
