//! The page of results.

use super::loads::{
    BYTES, GET, MEMORY_THREADS, MESSAGE, MESSAGE_BY_DEFAULT, NETWORK_FEW, NETWORK_MANY, POST,
};
use super::{ApplicationCosts, COLUMNS, GENERATOR, MEMORY, SERVER};
use crate::bench::figures::{Bar, Column, compare, median_of_both, section};
use crate::bench::harness::Facts;
use crate::bench::rounds::MeasuredRounds;
use crate::bench::site::{FEW, MANY};
use crate::bench::{LOAD_CPU, SERVER_CPU};

/// Maximum memory of an additional session, in KiB.
const MEMORY_BAR: f64 = 2.0;

/// A comparison of a transaction with a request: the title of its row, the end whose CPU time is compared, the titles
/// of both cases, and the maximum as a multiple of that per request.
type Comparison = (&'static str, Column<ApplicationCosts>, &'static str, &'static str, Option<f64>);

/// The comparisons. The titles of requests are their methods.
const COMPARISONS: [Comparison; 4] = [
    ("generator", GENERATOR, MESSAGE_BY_DEFAULT, POST, Some(1.2)),
    ("generator, slower server", GENERATOR, MESSAGE, POST, None),
    ("server", SERVER, MESSAGE, GET, Some(1.25)),
    ("server by default", SERVER, MESSAGE_BY_DEFAULT, GET, None),
];

/// Returns the head of the page.
pub(super) fn head(facts: &Facts) -> String {
    let setup = format!(
        "The server has CPU {SERVER_CPU}, the generator, one thread of Plimsoll, CPU {LOAD_CPU}. A round has a turn \
        of {} s for each load, with a new server; every other round takes them in the opposite order. CS \
        sends {BYTES} bytes of new content to the built-in application server, which compares their checksum; POST \
        sends {BYTES} bytes to nginx, which reads them and answers without a body; GET fetches {BYTES} bytes from \
        nginx, which has one worker, writes no log, and keeps the file open. All of them have {FEW} kept connections \
        and no think times, so that one of the two ends is saturated, and the runs are not valid as measurements of \
        a server.",
        facts.options.seconds
    );
    facts.head("The application server and its load, measured", &setup) + "\n"
}

/// Returns the tables of what was measured.
pub(super) fn tables(measured: &MeasuredRounds<ApplicationCosts>) -> String {
    let details = format!(
        "## Round by round\n\n\
        As above, and the maximum resident memory of the generator.\n\n{}",
        measured.details(&COLUMNS)
    );
    cpu(measured) + &memory(measured).unwrap_or_default() + &details
}

/// Returns the row of a comparison; `None` if its turns were not taken.
fn row(
    (title, end, ours, theirs, bar): &Comparison,
    measured: &MeasuredRounds<ApplicationCosts>,
) -> Option<String> {
    let method = theirs;
    let ours = measured.ours(ours);
    let theirs = measured.ours(theirs);
    let threads = ours.iter().flatten().next()?.service_threads?;
    let compared = compare(end, ours, theirs)?;
    let judged = bar.map_or(" | ".to_owned(), |bar| Bar::AtMost(bar).cells(2, compared.ratio));
    Some(format!("| {title} | {threads} | {} |\n", compared.cells(method, &judged)))
}

fn cpu(measured: &MeasuredRounds<ApplicationCosts>) -> String {
    section(
        COMPARISONS.iter().filter_map(|comparison| row(comparison, measured)).collect(),
        "## CPU time per operation\n\n\
        µs of CPU time (user and system) per operation of the steady phase, medians of all rounds; in brackets the \
        CPUs that were used on average. A ratio is the median of the ratios of the rounds. Of the generator it is \
        the time of its load thread, of a server that of all its processes. A server that used less than its CPU \
        waited for the generator, and was not saturated. Where a server answers more slowly, the generator finds \
        fewer replies each time that it wakes, and needs more time for each: its time is compared where both of its \
        servers keep it busy, and stands beside that for one service thread.\n\n\
        | | service threads | CS | HTTP | | ratio | bar | |\n|---|---:|---:|---:|---|---:|---:|---|\n",
    )
}

fn memory(measured: &MeasuredRounds<ApplicationCosts>) -> Option<String> {
    let few = measured.ours(NETWORK_FEW);
    let many = measured.ours(NETWORK_MANY);
    let of_session = |few: &ApplicationCosts, many: &ApplicationCosts| many.rss_kib - few.rss_kib;
    let each = median_of_both(few, many, of_session)? / f64::from(MANY - FEW);
    Some(format!(
        "## Memory per session\n\n\
        Maximum resident memory (KiB) of the generator until near the end of the load, with the suite NET on a \
        server with {MEMORY_THREADS} service threads; medians of all rounds. The additional memory of 9,900 more \
        sessions, divided by 9,900. At most {MEMORY_BAR:.0} KiB.\n\n\
        | at 100 | at 10,000 | per session | |\n|---:|---:|---:|---|\n\
        | {} | {} | {each:.2} | {} |\n\n",
        MEMORY.median(few)?,
        MEMORY.median(many)?,
        Bar::AtMost(MEMORY_BAR).judge(each),
    ))
}

#[cfg(test)]
mod tests {
    use super::super::ApplicationMeasurement;
    use super::*;
    use crate::bench::harness::tests::check_titles;
    use crate::bench::rounds::OURS;

    /// Returns the costs of three rounds.
    fn turns(service_threads: Option<u64>, generator: [f64; 3], server: [f64; 3]) -> Vec<ApplicationCosts> {
        let costs = |(generator_us, server_us)| ApplicationCosts {
            generator_us,
            generator_cpus: 0.95,
            server_us,
            server_cpus: 0.95,
            service_threads,
            rss_kib: 200.0,
        };
        generator.into_iter().zip(server).map(costs).collect()
    }

    /// By hand: the ratios of the rounds are 1.0, 1.2 and 1.3 at the generator, and twice as much with one thread; 1.0,
    /// 1.5 and 1.3 at the server, and twice as much with more threads. Requests cost 5 µs at the generator, 4 µs at the
    /// server.
    #[test]
    fn rows_show_the_medians_of_the_rounds() {
        let requests = turns(None, [5.0; 3], [4.0; 3]);
        let text = tables(&MeasuredRounds::by_hand(&[
            (MESSAGE, OURS, &turns(Some(1), [10.0, 12.0, 13.0], [4.0, 6.0, 5.2])),
            (POST, OURS, &requests),
            (GET, OURS, &requests),
            (MESSAGE_BY_DEFAULT, OURS, &turns(Some(49), [5.0, 6.0, 6.5], [8.0, 12.0, 10.4])),
        ]));
        for row in [
            "| generator | 49 | 6.00 (0.95) | 5.00 (0.95) | POST | 1.200 | ≤ 1.20 | met |",
            "| generator, slower server | 1 | 12.00 (0.95) | 5.00 (0.95) | POST | 2.400 |  |  |",
            "| server | 1 | 5.20 (0.95) | 4.00 (0.95) | GET | 1.300 | ≤ 1.25 | **missed** |",
            "| server by default | 49 | 10.40 (0.95) | 4.00 (0.95) | GET | 2.600 |  |  |",
            "| round | turn | generator, µs | server, µs | memory, KiB |\n|---:|---|---:|---:|---:|\n",
            "| 3 | GET | 5.00 (0.95) | 4.00 (0.95) | 200 |",
        ] {
            assert!(text.contains(row), "{row}\n{text}");
        }
        assert!(!text.contains("Memory per session"), "{text}");
    }

    /// By hand: (20,000 − 200) KiB ÷ 9,900 = 2.00.
    #[test]
    fn memory_is_that_of_the_additional_sessions() {
        let few = turns(Some(64), [5.0; 3], [5.0; 3]);
        let many: Vec<_> = few.iter().map(|costs| ApplicationCosts { rss_kib: 20_000.0, ..*costs }).collect();
        let text =
            tables(&MeasuredRounds::by_hand(&[(NETWORK_FEW, OURS, &few), (NETWORK_MANY, OURS, &many)]));
        assert!(text.contains("| 200 | 20000 | 2.00 | met |"), "{text}");
        assert!(!text.contains("CPU time per operation"), "{text}");
    }

    #[test]
    fn what_is_compared_is_measured() {
        let compared = COMPARISONS.iter().flat_map(|(_, _, ours, theirs, _)| [*ours, *theirs]);
        let named: Vec<&str> = compared.chain([NETWORK_FEW, NETWORK_MANY]).collect();
        check_titles::<ApplicationMeasurement>(&named);
    }
}
