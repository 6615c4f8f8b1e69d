//! The generators: wrk for as much as there can be, Plimsoll for a rate.

use anyhow::{Context, Result};
use serde_json::Value;
use testbed::RunningSut;

use super::cases::CONNECTIONS;
use super::lab::{DEFINITION, Lab};
use crate::bench::generator;
use crate::bench::open_loop::percentile;

/// What wrk asks for.
#[derive(Debug, Clone, Copy)]
pub enum Asked {
    /// What a script says.
    Mix(&'static str),
    /// One file.
    One(&'static str),
}

/// How wrk uses connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wrk {
    /// It keeps them.
    Keep,
    /// It makes one for each request.
    Close,
}

/// Requests per second that all can serve.
const RATE: &str = "5000";

/// Loads an accelerator; returns how many requests it answered.
pub fn wrk(lab: &Lab, accelerator: &RunningSut, seconds: u32, asked: Asked, how: Wrk) -> Result<u64> {
    let (path, mut more) = match asked {
        Asked::Mix(script) => ("/", vec!["-s", script]),
        Asked::One(path) => (path, Vec::new()),
    };
    if how == Wrk::Close {
        more.extend(["-H", "Connection: close"]);
    }
    let url = format!("http://{}{path}", accelerator.addr());
    let ended = generator::wrk(lab.folder(), CONNECTIONS, seconds, &more, &url)?;
    answered(&ended.output).with_context(|| format!("cannot read `{}`", ended.output))
}

/// Reads the line `  123456 requests in 5.00s, 1.70GB read`.
fn answered(output: &str) -> Option<u64> {
    let line = output.lines().find(|line| line.contains(" requests in "))?;
    line.split_whitespace().next()?.parse().ok().filter(|count| *count != 0)
}

/// Loads an accelerator at a rate; returns the 99th and the 50th percentile of the response time, the 99th of lateness, in
/// s, and how many requests were answered in all.
pub fn at_rate(lab: &Lab, accelerator: &RunningSut, seconds: u32) -> Result<[f64; 4]> {
    let (duration, in_flight) = (format!("{seconds} s"), CONNECTIONS.to_string());
    let definition = format!("./{DEFINITION}");
    let arguments = [
        definition.as_str(),
        "--http",
        "1.1",
        "--keep-alive",
        "--rate",
        RATE,
        "--in-flight-max",
        &in_flight,
        "--settle",
        "1 s",
        "--duration",
        &duration,
    ];
    let url = accelerator.url();
    let (_, result) = generator::plimsoll(&lab.plimsoll, lab.folder(), &arguments, &url, 0.5)?;
    figures(&result["load_points"][0], seconds)
}

fn figures(point: &Value, seconds: u32) -> Result<[f64; 4]> {
    let response = |q| percentile(&point["response"], q).with_context(|| format!("no {q} of response time"));
    let late = percentile(&point["lateness"], 0.99).context("no 0.99 of lateness")?;
    let measured = point["total"]["n"].as_f64().context("no number of operations")?;
    // As many as in the steady phase, for a second more.
    let all = measured * (1.0 + 1.0 / f64::from(seconds));
    Ok([response(0.99)?, response(0.5)?, late, all])
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_wrk_says_it_got_is_read() {
        let output = "Running 2s test @ http://127.0.0.1:1/\n  1 threads and 100 connections\n  \
                      148013 requests in 2.00s, 2.06GB read\nRequests/sec:  74006.52\n";
        assert_eq!(answered(output), Some(148_013));
        assert_eq!(answered(&output.replace("148013", "0")), None);
    }

    #[test]
    fn figures_of_a_rate_are_read_and_count_the_second_before() {
        let times = |p99: f64| json!({ "percentiles": [{ "q": 0.5, "value_s": 0.001 }, { "q": 0.99, "value_s": p99 }] });
        let point = json!({ "total": { "n": 20_000 }, "response": times(0.002), "lateness": times(0.0005) });
        assert_eq!(figures(&point, 4).unwrap(), [0.002, 0.001, 0.0005, 25_000.0]);
        assert!(figures(&json!({}), 4).is_err());
    }
}
