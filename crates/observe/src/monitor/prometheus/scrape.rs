//! Conversion of a scrape to readings, by the tables.

use std::collections::{BTreeMap, HashMap, HashSet};

use languages::foreign_text;
use model::{Counter, Reading};

use super::table::{SeriesSum, SeriesTerm};
use super::text::{BadLines, Sample, Samples};
use super::{node, windows};

/// The Windows instance that is the sum of the others; it would be counted twice.
const TOTAL_INSTANCE: &str = "_Total";

/// Statistics of a scrape besides its readings.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ScrapeNotes {
    /// Number of series, of any name.
    pub samples: usize,
    /// Duplicate series, which were counted once: their number, and the name of the first.
    pub duplicates: Option<(usize, String)>,
    /// Invalid lines.
    pub bad: BadLines,
}

/// The tables, indexed by metric name.
#[derive(Debug)]
pub struct SeriesTables {
    lines: Vec<&'static SeriesSum>,
    /// Indices of the sum and of its term, for every use of a metric name.
    places: HashMap<&'static str, Vec<(usize, usize)>>,
}

/// The sums of a scrape in progress.
#[derive(Default)]
struct ScrapeSums {
    /// By index of the sum and by instance.
    sums: BTreeMap<(usize, String), PartialSum>,
    /// Series already added: sum, term, instance, and values of the labels that are summed over.
    seen: HashSet<(usize, usize, String, Vec<String>)>,
}

/// A partial sum for one instance.
#[derive(Default)]
struct PartialSum {
    value: f64,
    /// Indices of the terms found, each once.
    found: Vec<usize>,
}

impl SeriesTables {
    /// Builds the tables of all exporters; the names in a scrape tell them apart.
    pub fn all() -> SeriesTables {
        let lines: Vec<&SeriesSum> = node::SERIES_SUMS.iter().chain(windows::SERIES_SUMS).collect();
        let mut places: HashMap<_, Vec<_>> = HashMap::new();
        for (line, SeriesSum { terms, .. }) in lines.iter().enumerate() {
            for (term, SeriesTerm { name, .. }) in terms.iter().enumerate() {
                places.entry(*name).or_default().push((line, term));
            }
        }
        SeriesTables { lines, places }
    }

    /// Appends the readings of a scrape, in the order of the tables; accepts any text.
    ///
    /// Each series counts once: one that repeats, or differs only in irrelevant labels, is left out and
    /// noted.
    pub fn read(&self, text: &str, into: &mut Vec<Reading>) -> ScrapeNotes {
        let mut sums = ScrapeSums::default();
        let mut notes = ScrapeNotes::default();
        let mut samples = Samples::new(text);
        for sample in samples.by_ref() {
            notes.samples += 1;
            for &place in self.places.get(sample.name).into_iter().flatten() {
                if !sums.add(&sample, place, self.lines[place.0]) {
                    notes.duplicates.get_or_insert_with(|| (0, sample.name.to_owned())).0 += 1;
                }
            }
        }
        notes.bad = samples.bad();
        self.append(sums, into);
        notes
    }

    /// Appends the complete sums; of each counter those of the first alternative that has any.
    fn append(&self, sums: ScrapeSums, into: &mut Vec<Reading>) {
        let mut chosen: HashMap<Counter, usize> = HashMap::new();
        for ((index, instance), sum) in sums.sums {
            let line = self.lines[index];
            let mut terms = line.terms.iter().enumerate();
            let is_whole =
                terms.all(|(term, SeriesTerm { is_optional, .. })| *is_optional || sum.found.contains(&term));
            let Some(value) = whole_number(sum.value * line.factor).filter(|_| is_whole) else { continue };
            if *chosen.entry(line.counter).or_insert(index) == index {
                into.push(Reading::of(line.counter, instance, value));
            }
        }
    }
}

impl ScrapeSums {
    /// Adds a sample to a sum if a term matches; returns whether it was new.
    fn add(&mut self, sample: &Sample<'_>, (index, term_index): (usize, usize), line: &SeriesSum) -> bool {
        let term = &line.terms[term_index];
        let Some((instance, rest)) = instance_of(sample, line, term) else { return true };
        if !self.seen.insert((index, term_index, instance.clone(), rest)) {
            return false;
        }
        let sum = self.sums.entry((index, instance)).or_default();
        sum.value += term.sign * sample.value;
        if !sum.found.contains(&term_index) {
            sum.found.push(term_index);
        }
        true
    }
}

/// Returns the instance of a sample, and the values of the labels that are summed over; `None` if the term
/// does not match.
fn instance_of(sample: &Sample<'_>, line: &SeriesSum, term: &SeriesTerm) -> Option<(String, Vec<String>)> {
    let label = |name: &str| sample.labels.get(name).unwrap_or_default().into_owned();
    if !term.only.iter().all(|(name, value)| sample.labels.get(name).as_deref() == Some(value)) {
        return None;
    }
    let instance = if line.instance.is_empty() { String::new() } else { label(line.instance) };
    let rest: Vec<String> = term.over.iter().map(|name| label(name)).collect();
    let is_total = |value: &String| value.ends_with(TOTAL_INSTANCE);
    (!is_total(&instance) && !rest.iter().any(is_total)).then_some((instance, rest))
}

/// Rounds to an integer; `None` for negative values and NaN, which mean "unknown".
fn whole_number(value: f64) -> Option<u64> {
    let rounded = value.round();
    (0.0 <= rounded && rounded.is_finite()).then_some(rounded as u64)
}

/// Describes the contents of a scrape, most frequent first: `312 series of go_*, 8 of process_*`.
pub(super) fn describe(text: &str) -> String {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for sample in Samples::new(text) {
        let prefix = sample.name.split_inclusive('_').next().unwrap_or(sample.name);
        *counts.entry(prefix).or_default() += 1;
    }
    let mut counts: Vec<(usize, &str)> = counts.into_iter().map(|(prefix, count)| (count, prefix)).collect();
    counts.sort_by_key(|(count, _)| std::cmp::Reverse(*count));
    let Some((most, prefix)) = counts.first() else { return "no series".to_owned() };
    let others = counts.iter().skip(1).take(2);
    let others = others.map(|(count, prefix)| format!(", {count} of {}*", foreign_text(prefix)));
    format!("{most} series of {}*{}", foreign_text(prefix), others.collect::<String>())
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Returns the readings of a scrape, one text each: `cpu.user 0 250000`.
    pub(crate) fn read(text: &str) -> (Vec<String>, ScrapeNotes) {
        let mut readings = Vec::new();
        let notes = SeriesTables::all().read(text, &mut readings);
        let line = |one: &Reading| format!("{} {} {}", one.counter, one.instance, one.value);
        (readings.iter().map(line).collect(), notes)
    }

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        assert_eq!(read(text).0, expected);
    }

    #[test]
    fn seconds_become_microseconds_and_kibibytes_bytes() {
        check(
            "node_cpu_seconds_total{cpu=\"11\",mode=\"user\"} 11373.43\nnode_vmstat_pgpgin 3\n\
             node_network_speed_bytes{device=\"eth0\"} 1.25e+08\nnode_pressure_cpu_waiting_seconds_total 0.000042\n",
            &[
                "cpu.user 11 11373430000",
                "pressure.cpu_some  42",
                "paging.in  3072",
                "net.speed eth0 1000000000",
            ],
        );
    }

    #[test]
    fn a_counter_of_several_series_is_their_sum_or_left_out() {
        let errors = "node_network_receive_errs_total{device=\"a\"} 2\n\
                      node_network_receive_errs_total{device=\"b\"} 5\n\
                      node_network_transmit_errs_total{device=\"a\"} 3\n";
        check(errors, &["net.errors a 5"]);
        check("node_memory_SwapTotal_bytes 100\nnode_memory_SwapFree_bytes 30\n", &["memory.swap_used  70"]);
        check("node_memory_SwapTotal_bytes 100\n", &[]);
        check("node_sockstat_TCP_inuse 4\n", &["tcp.in_use  4"]);
        check("node_sockstat_TCP_inuse 4\nnode_sockstat_TCP6_inuse 6\n", &["tcp.in_use  10"]);
    }

    #[test]
    fn newer_names_take_precedence() {
        let old = "windows_net_current_bandwidth{nic=\"a\"} 1e9\n";
        check(old, &["net.speed a 1000000000"]);
        check(
            &format!("{old}windows_net_current_bandwidth_bytes{{nic=\"a\"}} 5e8\n"),
            &["net.speed a 4000000000"],
        );
        let volume = "windows_logical_disk_reads_total{volume=\"C:\"} 1\n";
        check(&format!("{volume}windows_physical_disk_reads_total{{disk=\"0\"}} 2\n"), &["disk.reads 0 2"]);
    }

    #[test]
    fn unknown_values_are_left_out() {
        let speed = "node_network_speed_bytes";
        check(&format!("{speed}{{device=\"a\"}} -125000\n{speed}{{device=\"b\"}} NaN\n"), &[]);
        check("node_load1 0.5\nnode_cpu_seconds_total{cpu=\"0\",mode=\"guest\"} 1\n", &[]);
        check("node_procs_running +Inf\n", &[]);
    }

    #[test]
    fn a_duplicate_series_counts_once() {
        let (readings, notes) = read(
            "node_forks_total 7\nnode_forks_total 7\nnode_forks_total{instance=\"other\"} 9\n\
             windows_tcp_segments_sent_total{af=\"ipv4\"} 1\nwindows_tcp_segments_sent_total{af=\"ipv6\"} 2\n\
             windows_tcp_segments_sent_total{af=\"ipv6\"} 2\nnot a line\n",
        );
        assert_eq!(readings, ["system.forks  7", "tcp.segments_sent  3"]);
        assert_eq!(notes.samples, 6);
        assert_eq!(notes.duplicates, Some((3, "node_forks_total".to_owned())));
        assert_eq!(notes.bad.count, 1);
    }

    #[test]
    fn the_total_instance_of_windows_is_ignored() {
        check(
            "windows_cpu_interrupts_total{core=\"0,0\"} 5\nwindows_cpu_interrupts_total{core=\"0,1\"} 6\n\
             windows_cpu_interrupts_total{core=\"0,_Total\"} 11\nwindows_cpu_interrupts_total{core=\"_Total\"} 11\n",
            &["system.interrupts  11"],
        );
        check("windows_physical_disk_reads_total{disk=\"_Total\"} 2\n", &[]);
    }

    #[test]
    fn every_counter_of_the_tables_has_a_unit_that_fits_its_factor() {
        use model::CounterUnit::{BitsPerSecond, Bytes, Count, Hertz, Micros};
        for line in &SeriesTables::all().lines {
            let expected: &[f64] = match line.counter.unit() {
                Micros => &[1e6],
                Bytes => &[1.0, 1024.0, 4096.0],
                BitsPerSecond => &[1.0, 8.0],
                Hertz => &[1.0, 1e6],
                Count => &[1.0],
            };
            assert!(expected.contains(&line.factor) && !line.terms.is_empty(), "{line:?}");
        }
    }

    #[test]
    fn unknown_series_are_described() {
        assert_eq!(
            describe("go_a 1\ngo_b 1\nprocess_x 1\nup 1\n"),
            "2 series of go_*, 1 of process_*, 1 of up*"
        );
        assert_eq!(describe("<html>\n</html>\n"), "no series");
    }
}
