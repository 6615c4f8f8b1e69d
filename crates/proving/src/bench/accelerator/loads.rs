//! The load generators: wrk for maximum load, Plimsoll for a fixed rate.

use anyhow::{Context, Result};
use serde_json::Value;
use testbed::RunningSut;

use super::cases::CONNECTIONS;
use super::fixture::{DEFINITION, Fixture};
use crate::bench::LOAD_CPU;
use crate::bench::load_tools::{PlimsollRun, WrkConnections, WrkLoad, WrkRequests, number, percentile};

/// Requests per second that all accelerators can serve.
const RATE: u32 = 5_000;

/// Loads an accelerator; returns the number of answered requests.
pub(super) fn wrk(
    fixture: &Fixture,
    accelerator: &RunningSut,
    seconds: u32,
    requests: WrkRequests,
    connections: WrkConnections,
) -> Result<u64> {
    let load = WrkLoad { requests, connections, users: CONNECTIONS };
    let ended = load.perform(fixture.folder(), &accelerator.url(), seconds)?;
    answered(&ended.output).with_context(|| format!("cannot read `{}`", ended.output))
}

/// Parses the line `  123456 requests in 5.00s, 1.70GB read`.
fn answered(output: &str) -> Option<u64> {
    let line = output.lines().find(|line| line.contains(" requests in "))?;
    line.split_whitespace().next()?.parse().ok().filter(|count| *count != 0)
}

/// Loads an accelerator at a fixed rate; returns the 99th and the 50th percentile of the response time, the
/// 99th of lateness, in s, and the total number of answered requests.
pub(super) fn at_rate(fixture: &Fixture, accelerator: &RunningSut, seconds: u32) -> Result<[f64; 4]> {
    let run = PlimsollRun {
        program: &fixture.plimsoll,
        folder: fixture.folder(),
        environment: &[],
        network: None,
        cpus: LOAD_CPU,
        arguments: &format!(
            "./{DEFINITION} --http 1.1 --keep-alive --rate {RATE} --in-flight-max {CONNECTIONS} --settle 1s \
             --duration {seconds}s"
        ),
        target: &accelerator.url(),
        look_after: 0.5,
    };
    let (_, point) = run.perform()?;
    figures(&point, seconds)
}

fn figures(point: &Value, seconds: u32) -> Result<[f64; 4]> {
    let times = |times, q| percentile(point, times, q);
    // The rate of the steady phase, for one second more.
    let all = number(point, "/total/n")? * (1.0 + 1.0 / f64::from(seconds));
    Ok([times("response", 0.99)?, times("response", 0.5)?, times("lateness", 0.99)?, all])
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_request_count_of_wrk_is_parsed() {
        let output = "Running 2s test @ http://127.0.0.1:1/\n  1 threads and 100 connections\n  \
                      148013 requests in 2.00s, 2.06GB read\nRequests/sec:  74006.52\n";
        assert_eq!(answered(output), Some(148_013));
        assert_eq!(answered(&output.replace("148013", "0")), None);
    }

    #[test]
    fn figures_of_a_rate_are_parsed_and_include_the_settle_second() {
        let times = |p99: f64| json!({ "percentiles": [{ "q": 0.5, "value_s": 0.001 }, { "q": 0.99, "value_s": p99 }] });
        let point = json!({ "total": { "n": 20_000 }, "response": times(0.002), "lateness": times(0.0005) });
        assert_eq!(figures(&point, 4).unwrap(), [0.002, 0.001, 0.0005, 25_000.0]);
        assert!(figures(&json!({}), 4).is_err());
    }
}
