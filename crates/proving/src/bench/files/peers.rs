//! Other programs that replay the load file: dbench in a directory, smbtorture on a share.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, ensure};

use super::samba::{Samba, USER};
use super::{CLIENTS, FileCosts, LOAD_FILE};
use crate::bench::LOAD_CPU;
use crate::bench::process::{FinishedProcess, measure, pinned};
use crate::bench::site::Site;

/// Runs dbench, and prints what the kernel counts of its reads and writes.
const DBENCH_LINE: &str = r#"dbench "$@"; cat /proc/$$/io"#;

/// Takes a turn of dbench in a directory.
pub(super) fn dbench(site: &Site, directory: &Path, cpus: &str, seconds: u32) -> Result<FileCosts> {
    let mut command = pinned(cpus, Path::new("sh"));
    command.args(["-c", DBENCH_LINE, "sh", "-D"]).arg(directory);
    command.args(["-t", &seconds.to_string(), "-c", LOAD_FILE, &CLIENTS.to_string()]);
    let ended = finish(&mut command, site)?;
    let printed =
        DbenchResult::parse(&ended.output).with_context(|| format!("dbench printed {}", ended.output))?;
    Ok(FileCosts {
        process_us: 1e6 * ended.children_cpu_s / printed.all_operations(),
        load_us: f64::NAN,
        rate: printed.operations / f64::from(seconds),
        megabytes: printed.megabytes,
    })
}

/// Takes a turn of smbtorture on a share. It speaks SMB1 only.
pub(super) fn smbtorture(site: &Site, samba: &Samba, seconds: u32) -> Result<FileCosts> {
    let mut command = pinned(LOAD_CPU, Path::new("smbtorture"));
    command
        .arg(format!("//127.0.0.1/{USER}"))
        .args(["-U", &format!("{USER}%{}", samba.password()), "-p", &samba.port().to_string()])
        .args(["-m", "NT1", "--option=clientminprotocol=NT1", &format!("--loadfile={LOAD_FILE}")])
        .args(["-t", &seconds.to_string(), &format!("--num-progs={CLIENTS}"), "bench.nbench"]);
    let ended = finish(&mut command, site)?;
    let printed = torture_result(&ended.output);
    let (lines, megabytes) = printed.with_context(|| format!("smbtorture printed {}", ended.output))?;
    let operations = lines * f64::from(CLIENTS);
    Ok(FileCosts {
        process_us: 1e6 * (ended.cpu_s + ended.children_cpu_s) / operations,
        load_us: f64::NAN,
        rate: operations / f64::from(seconds),
        megabytes,
    })
}

fn finish(command: &mut Command, site: &Site) -> Result<FinishedProcess> {
    let ended = measure(command.current_dir(site.folder()), site.folder(), Duration::ZERO)?;
    ensure!(ended.code == Some(0), "it ended with {:?}: {}", ended.code, ended.output);
    Ok(ended)
}

/// The result of dbench.
#[derive(Debug, Clone, Copy, PartialEq)]
struct DbenchResult {
    /// The operations after the warm-up, and the writes among them.
    operations: f64,
    writes: f64,
    /// The writes of all its processes, the lines that it prints included.
    all_writes: f64,
    megabytes: f64,
}

impl DbenchResult {
    /// Reads the table of operations, the throughput, and what the kernel has counted.
    fn parse(output: &str) -> Option<DbenchResult> {
        let rows = output.lines().filter_map(table_row);
        let number = |line: &str| line.split_whitespace().nth(1)?.parse::<f64>().ok();
        let line = |start: &str| output.lines().find(|line| line.starts_with(start)).and_then(number);
        Some(DbenchResult {
            operations: rows.clone().map(|(_, count)| count).sum(),
            writes: rows.clone().find(|(name, _)| *name == "WriteX")?.1,
            all_writes: line("syscw:")?,
            megabytes: line("Throughput ")?,
        })
    }

    /// Returns the number of operations with those of the warm-up, of which only the writes are counted. Its few printed
    /// lines are among these.
    fn all_operations(&self) -> f64 {
        self.operations * self.all_writes / self.writes
    }
}

/// Reads a row of the table: operation, count, average and maximum latency.
fn table_row(line: &str) -> Option<(&str, f64)> {
    let [name, count, average, most] = line.split_whitespace().collect::<Vec<_>>()[..] else { return None };
    average.parse::<f64>().ok()?;
    most.parse::<f64>().ok()?;
    Some((name, count.parse().ok()?))
}

/// Reads the last number of lines that a client has performed, in the mean, and the throughput.
fn torture_result(output: &str) -> Option<(f64, f64)> {
    let progress = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let is_progress = words.get(3) == Some(&"MB/sec");
        words.get(1).filter(|_| is_progress)?.parse::<f64>().ok()
    };
    let lines = output.lines().filter_map(progress).next_back()?;
    let throughput = output.lines().find_map(|line| line.strip_prefix("Throughput "))?;
    output.contains("success: nbench").then_some(())?;
    Some((lines, throughput.split_whitespace().next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: 100 operations after the warm-up, 20 of them writes, of 24 in all: 120 operations.
    #[test]
    fn operations_of_the_warm_up_are_added_by_the_share_of_writes() {
        let output = "   2      9102   132.18 MB/sec  execute   1 sec  latency 23.695 ms\n\n \
            Operation      Count    AvgLat    MaxLat\n ----------------------------------------\n \
            NTCreateX         80     0.048    16.730\n WriteX            20     0.054    16.092\n\n\
            Throughput 132.18 MB/sec  2 clients  2 procs  max_latency=23.695 ms\n\
            rchar: 116362284\nwchar: 119307916\nsyscr: 10223\nsyscw: 24\n";
        let result = DbenchResult::parse(output).unwrap();
        let expected = DbenchResult { operations: 100.0, writes: 20.0, all_writes: 24.0, megabytes: 132.18 };
        assert_eq!((result, result.all_operations()), (expected, 120.0));
        assert_eq!(DbenchResult::parse("Throughput 1 MB/sec"), None);
    }

    #[test]
    fn the_last_lines_of_smbtorture_count() {
        let output = "Starting 2 clients\n2 clients started\n   \
            2      5495  46.75 MB/sec  execute 2 sec  latency 0.00 msec \n   \
            2      8383  41.29 MB/sec  cleanup 3 sec   \n\n\nThroughput 41.2922 MB/sec\nsuccess: nbench\n";
        assert_eq!(torture_result(output), Some((8383.0, 41.2922)));
        assert_eq!(torture_result(&output.replace("success", "failure")), None);
    }
}
