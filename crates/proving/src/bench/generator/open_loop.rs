//! The open loop: whether all operations are sent, and when they fall due.

use anyhow::Result;
use serde_json::Value;
use stats::Histogram;
use units::Ratio;

use super::floor;
use crate::bench::LOAD_CPU;
use crate::bench::figures::word;
use crate::bench::load_tools::{number, percentile};
use crate::bench::nginx::{Listen, Nginx};
use crate::bench::options::BenchOptions;
use crate::bench::site::Site;

/// Operations per second.
const RATE: f64 = 10_000.0;
/// Seconds measured.
const STEADY_S: f64 = 20.0;
/// Maximum relative difference between operations sent and scheduled.
const COUNT_BAR: f64 = 0.001;
/// Maximum 99th percentile of lateness, in s.
const LATENESS_BAR: f64 = 0.3e-3;
/// Applies while the generator's CPU is less busy than this.
const BUSY_BAR: f64 = 0.6;

/// Seconds for which the machine's timer floor is measured.
const FLOOR_S: u64 = 10;

/// Runs the measurement and returns the table.
pub(super) fn perform(site: &Site, _: &BenchOptions) -> Result<String> {
    println!("open loop");
    let nginx = Nginx::start(site, "one-object", Listen::Plain)?;
    let arguments = "one-object --rate 10000 --settle 1s --duration 20s";
    let (_, point) = site.run(arguments, &nginx.url()).perform()?;
    let floor = floor::lateness(RATE as u64, FLOOR_S, LOAD_CPU.parse()?)?;
    Ok(table(&point)? + &floor_text(&floor))
}

fn floor_text(floor: &Histogram) -> String {
    let at = |q| {
        floor.quantile(Ratio(q)).map_or("–".to_owned(), |late| format!("{:.3} ms", late.as_millis_f64()))
    };
    format!(
        "\nThe machine's timer floor, a thread on the same CPU that only sleeps {RATE:.0} times a second for \
        {FLOOR_S} s and reads the clock: late by {} (p50), {} (p99), {} (p99.9).\n",
        at(0.5),
        at(0.99),
        at(0.999),
    )
}

fn table(point: &Value) -> Result<String> {
    // At most the operations sent are done, except for the few in flight at either end.
    let done = number(point, "/total/n")?;
    let busy = number(point, "/generator/busy_ratio")?;
    let lateness = percentile(point, "lateness", 0.99)?;
    let scheduled = RATE * STEADY_S;
    let gap = done / scheduled - 1.0;
    let met = gap.abs() <= COUNT_BAR && (lateness <= LATENESS_BAR || BUSY_BAR <= busy);
    Ok(format!(
        "\n## Open loop\n\n\
        GET 1 KB at {RATE:.0}/s for {STEADY_S:.0} s. Within 0.1 % of the schedule; lateness p99 at most 0.3 ms while \
        the generator's CPU is less than 60 % busy.\n\n\
        | scheduled | done | gap | lateness p99 | generator busy | |\n|---:|---:|---:|---:|---:|---|\n\
        | {scheduled:.0} | {done:.0} | {:+.4} % | {:.3} ms | {:.1} % | {} |\n",
        gap * 100.0,
        lateness * 1e3,
        busy * 100.0,
        word(met),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn row(n: u32, lateness: f64, busy: f64) -> String {
        let point = json!({
            "total": { "n": n },
            "generator": { "busy_ratio": busy },
            "lateness": { "percentiles": [{ "q": 0.5, "value_s": 0.0 }, { "q": 0.99, "value_s": lateness }] },
        });
        table(&point).unwrap().lines().last().unwrap().to_owned()
    }

    #[test]
    fn all_criteria_are_checked() {
        assert_eq!(row(199_900, 0.2e-3, 0.3), "| 200000 | 199900 | -0.0500 % | 0.200 ms | 30.0 % | met |");
        assert!(row(199_700, 0.2e-3, 0.3).contains("missed"));
        assert!(row(200_300, 0.2e-3, 0.3).contains("missed"));
        assert!(row(200_000, 0.4e-3, 0.3).contains("missed"));
        assert!(!row(200_000, 0.4e-3, 0.7).contains("missed"), "a busy core may be late");
    }
}
