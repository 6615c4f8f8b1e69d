//! The processes of all groups by the name of their program.

use std::collections::BTreeMap;

use model::{Counter, Reading};

use super::process::Process;
use super::ticks_to_micros;

/// Maximum number of programs with their own series; processes of others are combined as [`OTHERS`].
const PROGRAMS_MAX: usize = 32;

const OTHERS: &str = "others";

/// The CPU time of ended processes by program; contains every program ever seen.
#[derive(Debug, Default)]
pub(super) struct Programs {
    /// In ticks.
    ended: BTreeMap<String, u64>,
}

/// The totals of one program.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct ProgramTotals {
    pub(super) ticks: u64,
    pub(super) resident_pages: u64,
    pub(super) processes: u64,
    pub(super) running: u64,
    pub(super) waiting: u64,
    pub(super) blocked: u64,
}

impl Programs {
    /// Returns the name under which a program is counted.
    pub(super) fn name(&mut self, name: &str) -> String {
        let name =
            if self.ended.contains_key(name) || self.ended.len() < PROGRAMS_MAX { name } else { OTHERS };
        self.ended.entry(name.to_owned()).or_default();
        name.to_owned()
    }

    /// Keeps the CPU time of a process that has ended with its program.
    pub(super) fn end(&mut self, process: &Process) {
        let ticks = self.ended.entry(process.program.clone()).or_default();
        *ticks = ticks.saturating_add(process.stat.own_ticks);
    }

    /// Reports every program.
    pub(super) fn report<'a>(&'a self, living: impl Iterator<Item = &'a Process>, into: &mut Vec<Reading>) {
        for (program, sum) in self.sums(living) {
            let resident = sum.resident_pages.saturating_mul(rustix::param::page_size() as u64);
            let values = [
                (Counter::ProcessCpu, ticks_to_micros(sum.ticks)),
                (Counter::ProcessMemory, resident),
                (Counter::ProcessCount, sum.processes),
                (Counter::ProcessRunning, sum.running),
                (Counter::ProcessWaiting, sum.waiting),
                (Counter::ProcessBlocked, sum.blocked),
            ];
            into.extend(values.map(|(counter, value)| Reading::of(counter, program, value)));
        }
    }

    pub(super) fn sums<'a>(
        &'a self,
        living: impl Iterator<Item = &'a Process>,
    ) -> BTreeMap<&'a str, ProgramTotals> {
        let ended = self.ended.iter().map(|(program, ticks)| {
            (program.as_str(), ProgramTotals { ticks: *ticks, ..ProgramTotals::default() })
        });
        let mut sums: BTreeMap<&str, ProgramTotals> = ended.collect();
        for process in living {
            let sum = sums.entry(&process.program).or_default();
            sum.ticks = sum.ticks.saturating_add(process.stat.own_ticks);
            sum.resident_pages = sum.resident_pages.saturating_add(process.stat.resident_pages);
            sum.processes += 1;
            process.tasks.iter().for_each(|task| sum.count(task.state));
        }
        sums
    }
}

impl ProgramTotals {
    fn count(&mut self, state: char) {
        match state {
            'R' => self.running += 1,
            'S' => self.waiting += 1,
            'D' => self.blocked += 1,
            // Threads that are stopped, have ended or were not read yet.
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::process;
    use super::*;

    #[test]
    fn ended_processes_stay_with_their_program() {
        let mut programs = Programs::default();
        let [one, two, three] = [("nginx", 'S', 10), ("nginx", 'R', 20), ("php", 'D', 40)]
            .map(|(program, state, ticks)| process(program, state, ticks));
        let all = [&one, &two, &three];
        let nginx =
            ProgramTotals { ticks: 30, resident_pages: 4, processes: 2, running: 1, waiting: 1, blocked: 0 };
        assert_eq!(programs.sums(all.into_iter())["nginx"], nginx);
        programs.end(&two);
        programs.end(&three);
        let sums = programs.sums([&one].into_iter());
        assert_eq!(sums["nginx"], ProgramTotals { processes: 1, resident_pages: 2, running: 0, ..nginx });
        assert_eq!(sums["php"], ProgramTotals { ticks: 40, ..ProgramTotals::default() });
    }

    /// Goal: program names chosen by a server cannot create unbounded series.
    #[test]
    fn programs_beyond_the_limit_are_counted_together() {
        let mut programs = Programs::default();
        for number in 0..PROGRAMS_MAX {
            assert_eq!(programs.name(&format!("program{number}")), format!("program{number}"));
        }
        assert_eq!(programs.name("one more"), OTHERS);
        assert_eq!(programs.name("program0"), "program0");
    }
}
