//! `/proc/stat`: CPU time, context switches and the run queue. Also CPU frequencies.

use model::{Counter, Reading};

use super::text::ticks_to_micros;

/// The columns of a CPU's line. Guest columns follow, which are included in the first two.
///
/// Source: proc_stat(5).
const MODES: [Counter; 8] = [
    Counter::CpuUser,
    Counter::CpuNice,
    Counter::CpuSystem,
    Counter::CpuIdle,
    Counter::CpuIowait,
    Counter::CpuIrq,
    Counter::CpuSoftirq,
    Counter::CpuSteal,
];

/// Lines whose first number is a counter of the machine.
const MACHINE: [(&str, Counter); 5] = [
    ("intr", Counter::Interrupts),
    ("ctxt", Counter::ContextSwitches),
    ("processes", Counter::Forks),
    ("procs_running", Counter::Runnable),
    ("procs_blocked", Counter::Blocked),
];

/// Parses `/proc/stat`. The line of all CPUs is left out: it is the sum of the others.
pub(crate) fn parse(text: &str, into: &mut Vec<Reading>) {
    for line in text.lines() {
        let mut fields = line.split_ascii_whitespace();
        let key = fields.next().unwrap_or_default();
        let mut numbers = fields.map_while(|field| field.parse::<u64>().ok());
        if let Some(cpu) = key.strip_prefix("cpu").filter(|cpu| cpu.parse::<u32>().is_ok()) {
            let times = MODES.iter().zip(numbers);
            into.extend(times.map(|(mode, ticks)| Reading::of(*mode, cpu, ticks_to_micros(ticks))));
        } else if let Some((_, counter)) = MACHINE.iter().find(|(name, _)| *name == key) {
            into.extend(numbers.next().map(|number| Reading::new(*counter, number)));
        }
    }
}

/// Parses `scaling_cur_freq` of one CPU: kHz.
pub(crate) fn parse_frequency(cpu: &str, text: &str, into: &mut Vec<Reading>) {
    let khz = text.trim().parse::<u64>();
    into.extend(khz.ok().map(|khz| Reading::of(Counter::CpuFrequency, cpu, khz.saturating_mul(1000))));
}

#[cfg(test)]
mod tests {
    use super::super::testing::check;
    use super::*;
    use Counter::*;

    /// Recorded on a virtual machine with two CPUs, interrupts shortened. Ticks are hundredths of a second.
    #[test]
    fn cpus_are_parsed_individually_and_the_machine_once() {
        let text = "cpu  2279862 279494 569202 1407291 14808 0 138325 9011 0 0\n\
                    cpu0 1137688 140943 296165 711786 4403 0 56185 4428 31 7\n\
                    cpu1 1142173 138551 273036 695505 10405 2 82139 4582\n\
                    intr 49210981 0 13 0\nctxt 141911314\nbtime 1795275026\nprocesses 1244648\n\
                    procs_running 3\nprocs_blocked 1\nsoftirq 487502950 0 2466287\n";
        let cpu = |cpu, times: [u64; 8]| {
            let order = [CpuUser, CpuNice, CpuSystem, CpuIdle, CpuIowait, CpuIrq, CpuSoftirq, CpuSteal];
            order.into_iter().zip(times).map(move |(mode, ticks)| (mode, cpu, ticks * 10_000))
        };
        let mut expected: Vec<_> =
            cpu("0", [1137688, 140943, 296165, 711786, 4403, 0, 56185, 4428]).collect();
        expected.extend(cpu("1", [1142173, 138551, 273036, 695505, 10405, 2, 82139, 4582]));
        expected.extend([(Interrupts, "", 49210981), (ContextSwitches, "", 141911314), (Forks, "", 1244648)]);
        expected.extend([(Runnable, "", 3), (Blocked, "", 1)]);
        check(parse, text, &expected);
    }

    #[test]
    fn missing_columns_are_left_out() {
        check(
            parse,
            "cpu7 1 2 3 4",
            &[
                (CpuUser, "7", 10_000),
                (CpuNice, "7", 20_000),
                (CpuSystem, "7", 30_000),
                (CpuIdle, "7", 40_000),
            ],
        );
        check(parse, "cpux 1 2\ncpu 1 2\nctxt\nintr x", &[]);
    }

    #[test]
    fn a_frequency_is_in_kilohertz() {
        let read = |text: &str, into: &mut Vec<Reading>| parse_frequency("3", text, into);
        check(read, "2400123\n", &[(CpuFrequency, "3", 2_400_123_000)]);
        check(read, "<unknown>\n", &[]);
    }
}
