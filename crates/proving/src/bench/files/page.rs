//! The page of results.

use super::cases::{CALL_COMPARISONS, COMPARISONS, FileComparison, THROUGHPUT};
use super::{CLIENTS, COLUMNS, FileCosts, LOAD, LOAD_FILE, MEGABYTES, PROCESS};
use crate::bench::figures::{Column, compare, section};
use crate::bench::harness::Facts;
use crate::bench::rounds::MeasuredRounds;
use crate::bench::{LOAD_CPU, SERVER_CPU};

/// Returns the head of the page.
pub(super) fn head(facts: &Facts) -> String {
    let setup = format!(
        "Mixes are `{LOAD_FILE}` of Debian's package `dbench`, replayed by {CLIENTS} clients without pauses. A round has a turn of \
        {} s for each program of each case; every other round takes the cases in the opposite order. On a directory, a new one \
        on the disk of `/var/tmp` for each turn, the load has both CPUs; a flush is an `fsync` for all of them. Samba has CPU \
        {SERVER_CPU}, its files in memory, and `server min protocol = NT1`, because smbtorture speaks SMB1 only; Plimsoll speaks \
        SMB 3.1.1 with the same instance, unsigned. Its load has CPU {LOAD_CPU}.\n\n\
        Single calls of NFS go to one instance of NFS-Ganesha, which has an export of the file system of `/var/tmp`, CPU \
        {SERVER_CPU}, and a network of its own with a port mapper, which version 3 needs. {CLIENTS} clients, each with a \
        connection and a file of 8 MiB, have one call in flight each: Plimsoll by NFS 4.1, as a run with everything that is \
        recorded of one, and the crate `nfs3_client` 0.9.1 by NFS 3, on one thread of tokio.",
        facts.options.seconds
    );
    facts.head("Captured mixes of file servers, measured", &setup) + "\n"
}

/// Returns the tables of what was measured.
pub(super) fn tables(measured: &MeasuredRounds<FileCosts>) -> String {
    let details = section(
        measured.details(&COLUMNS),
        "## Round by round\n\n\
        As above. Of Plimsoll's time, that of clients and load threads in the steady phase stands beside that of the whole \
        process. Operations and bytes are those of the steady phase; of dbench those after its warm-up, a fifth of the turn.\n\n",
    );
    cpu(measured) + &throughput(measured) + &calls(measured) + &details
}

fn cpu(measured: &MeasuredRounds<FileCosts>) -> String {
    section(
        COMPARISONS.iter().filter_map(|comparison| row(&PROCESS, comparison, measured)).collect(),
        "## CPU time per operation\n\n\
        µs of CPU time (user and system) of all processes of a program, per operation; medians of all rounds. The ratio is the \
        median of the ratios of the rounds. On a directory that is the time of the kernel's file system, too. Plimsoll's includes \
        its start, reading the load file, filling and verifying blocks, recording, the analysis, and the HTML report. dbench \
        writes zeros and smbtorture one byte again and again; neither verifies what it reads. dbench counts the operations \
        after its warm-up: those before are added in the proportion of its writes, which the kernel counts.\n\n\
        | case | Plimsoll | the other | | ratio | bar | |\n|---|---:|---:|---|---:|---:|---|\n",
    )
}

fn throughput(measured: &MeasuredRounds<FileCosts>) -> String {
    section(
        row(&MEGABYTES, &THROUGHPUT, measured).unwrap_or_default(),
        "## Throughput on a directory\n\n\
        10⁶ bytes read and written per second. Most of the time clients wait for the disk.\n\n\
        | case | Plimsoll | the other | | ratio | bar | |\n|---|---:|---:|---|---:|---:|---|\n",
    )
}

fn calls(measured: &MeasuredRounds<FileCosts>) -> String {
    section(
        CALL_COMPARISONS.iter().filter_map(|comparison| row(&LOAD, comparison, measured)).collect(),
        "## CPU time per call of NFS\n\n\
        µs of CPU time (user and system) of the one thread that makes the calls, while it does; medians of all rounds, and the \
        median of the ratios of the rounds. Plimsoll's includes the users, the measured times and their recording. Its \
        compounds have three operations each, of which `SEQUENCE` and `PUTFH` are not in version 3; attributes are those that \
        each client asks for. `nfs3_client` has calls alone, and a check of each answer's size.\n\n\
        | case | Plimsoll | the other | | ratio | bar | |\n|---|---:|---:|---|---:|---:|---|\n",
    )
}

/// Returns the row of a comparison; `None` if its turns were not taken.
fn row(
    column: &Column<FileCosts>,
    (case, peer, bar): &FileComparison,
    measured: &MeasuredRounds<FileCosts>,
) -> Option<String> {
    let compared = compare(column, measured.ours(case), measured.of(case, peer))?;
    Some(format!("| {case} | {} |\n", compared.cells(peer, &bar.cells(2, compared.ratio))))
}

#[cfg(test)]
mod tests {
    use super::super::FileMeasurement;
    use super::super::cases::{DBENCH, DIRECTORY};
    use super::*;
    use crate::bench::harness::tests::check_titles;
    use crate::bench::rounds::OURS;

    #[test]
    fn tables_name_cases_that_exist() {
        let all = COMPARISONS.iter().chain(&CALL_COMPARISONS).chain([&THROUGHPUT]);
        let named: Vec<&str> = all.map(|(case, ..)| *case).collect();
        check_titles::<FileMeasurement>(&named);
    }

    /// By hand: 8.8 of 8 µs, and 95 of 100 MB/s.
    #[test]
    fn ratios_are_judged_and_turns_that_were_not_taken_left_out() {
        let costs =
            |process_us, megabytes| FileCosts { process_us, load_us: f64::NAN, rate: 1000.0, megabytes };
        let measured = MeasuredRounds::by_hand(&[
            (DIRECTORY, OURS, &[costs(8.8, 95.0)]),
            (DIRECTORY, DBENCH, &[costs(8.0, 100.0)]),
        ]);
        let text = tables(&measured);
        assert!(
            text.contains("| directory, nothing verified | 8.80 | 8.00 | dbench | 1.100 | ≤ 1.10 | met |"),
            "{text}"
        );
        assert!(text.contains("| 95.0 | 100.0 | dbench | 0.950 | ≥ 0.90 | met |"), "{text}");
        assert!(
            text.contains("| 1 | dbench | 8.00 | – | 1000 | 100.0 |") && !text.contains("smbtorture |"),
            "{text}"
        );
    }
}
