//! A server that stops for one second: whether the open loop measures what its users would experience.
//!
//! The expected values are `testkit::Stall`'s. They need the rate at which the server drains its backlog. It
//! follows from the mean: the delays of the stall and of the drain after it are the area of a triangle,
//! λ·D²/(2(1 − ρ)) operation-seconds, so that over λ·T operations the mean rises by
//!
//! Δ = D² ÷ (2·T·(1 − ρ)), hence 1 − ρ = D² ÷ (2·T·Δ).
//!
//! The mean comes from exact sums, the percentiles from histograms; Δ is the mean minus the median, which a
//! stall of a thirtieth of the time does not affect.

use anyhow::{Context, Result, ensure};
use serde_json::Value;
use testkit::Stall;

use crate::bench::figures::word;
use crate::bench::load_tools::{number, percentile};
use crate::bench::options::BenchOptions;
use crate::bench::process::serve;
use crate::bench::site::Site;

/// Length of the stall D, length of the run T, both in s, and the rate λ.
const LENGTH: f64 = 1.0;
const RUN: f64 = 30.0;
const RATE: f64 = 2_000.0;
/// Maximum number of operations in flight: so few that most operations due during the stall have to wait for
/// a slot, so that only times from the due time show it.
const IN_FLIGHT_MAX: u32 = 100;
/// Maximum relative difference of a percentile from the computed value.
const BAR: f64 = 0.01;

/// Runs the measurement and returns the table.
pub(super) fn perform(site: &Site, _: &BenchOptions) -> Result<String> {
    println!("stall");
    let (mut server, address) = serve(&site.plimsoll, &["web", "one-object", "--fault", "freeze=10+1"])?;
    let arguments = format!("one-object --rate 2000 --in-flight-max {IN_FLIGHT_MAX} --duration 30s");
    let (_, point) = site.run(&arguments, &format!("http://{address}/")).perform()?;
    server.check()?;
    table(&point)
}

fn table(point: &Value) -> Result<String> {
    let mean = number(point, "/response/mean_s")?;
    let usual = percentile(point, "response", 0.5)?;
    let capacity = capacity(mean - usual)?;
    let stall = Stall { length: LENGTH, run: RUN, rate: RATE, capacity };
    let mut text = format!(
        "\n## A stall\n\n\
        `plimsoll serve web` stops once for {LENGTH:.1} s in {RUN:.0} s at {RATE:.0}/s, at most {IN_FLIGHT_MAX} operations in flight. \
        The drain rate, derived from the mean delay: {capacity:.0}/s. Response times count from the due \
        time; computed by `testkit::Stall`; within 1 %. The service time, which counts from sending, shows the \
        stall for few operations.\n\n\
        | | computed | measured | gap | | service time |\n|---|---:|---:|---:|---|---:|\n"
    );
    for (name, q) in [("p99", 0.99), ("p99.9", 0.999)] {
        let computed = stall.response_quantile(q).context("the stall does not fit into the run")? + usual;
        let measured = percentile(point, "response", q)?;
        let service = percentile(point, "service", q)?;
        let gap = measured / computed - 1.0;
        let percent = gap * 100.0;
        let met = word(gap.abs() <= BAR);
        text += &format!(
            "| {name} | {computed:.4} s | {measured:.4} s | {percent:+.2} % | {met} | {service:.4} s |\n"
        );
    }
    Ok(text)
}

/// μ = λ ÷ ρ from the rise of the mean Δ in s; infinite where the drain takes no time.
fn capacity(rise: f64) -> Result<f64> {
    let least = LENGTH * LENGTH / (2.0 * RUN);
    // A stall that is short by a per mille still counts as one second.
    ensure!(0.99 * least <= rise, "a mean delay of {rise:.4} s: the server did not stop for {LENGTH} s");
    let load = (1.0 - least / rise).max(0.0);
    Ok(RATE / load)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: ρ = 0.25 raises the mean by 1/(60 · 0.75) = 22.2 ms; an instant drain by 16.7 ms.
    #[test]
    fn the_drain_rate_follows_from_the_mean_delay() {
        assert!((capacity(1.0 / 45.0).unwrap() - 8_000.0).abs() < 1e-6);
        assert_eq!(capacity(1.0 / 60.0).unwrap(), f64::INFINITY);
        assert_eq!(capacity(0.995 / 60.0).unwrap(), f64::INFINITY);
        assert!(capacity(0.01).is_err(), "no stall at all");
    }

    /// With ρ = 0.25: p99 = 0.70 + 0.30 · 0.25 = 0.775 s, p99.9 = 0.97 + 0.03 · 0.25 = 0.9775 s.
    #[test]
    fn percentiles_that_hide_the_stall_are_detected() {
        let row = |p99: f64| {
            let list = serde_json::json!([{ "q": 0.5, "value_s": 0.0 }, { "q": 0.99, "value_s": p99 }, { "q": 0.999, "value_s": 0.9775 }]);
            let times = serde_json::json!({ "mean_s": 1.0 / 45.0, "percentiles": list });
            table(&serde_json::json!({ "response": times, "service": times })).unwrap()
        };
        assert!(
            row(0.775).contains("| p99 | 0.7750 s | 0.7750 s | +0.00 % | met | 0.7750 s |"),
            "{}",
            row(0.775)
        );
        assert!(row(0.760).contains("missed"));
        assert!(row(0.001).contains("missed"));
    }
}
