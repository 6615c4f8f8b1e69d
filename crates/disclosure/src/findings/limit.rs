//! The wording of a load point's compliance with the user's limits.

use analysis::{Compliance, LimitMeasurement, NoData};

/// Returns a clause without a full stop: `p99 was 62.1 ms (60.0 ms to 64.2 ms), limit p99<50ms`.
pub fn compliance_text(compliance: &Compliance) -> String {
    match compliance {
        Compliance::Met(measured) | Compliance::Missed(measured) => measured_text(measured),
        Compliance::Undecided(NoData::Nothing) => "no operation completed".to_owned(),
        Compliance::Undecided(NoData::TooFew { n, needed }) => {
            format!("{n} response times are too few for the percentile, which needs {needed}")
        }
        Compliance::Undecided(NoData::ClosedLoop) => "a closed loop has no offered rate".to_owned(),
    }
}

fn measured_text(measured: &LimitMeasurement) -> String {
    let limit = measured.limit;
    let metric = measured.limit.metric();
    let interval = measured
        .interval
        .map_or(String::new(), |(low, high)| format!(" ({} to {})", metric.text(low), metric.text(high)));
    format!("{metric} was {}{interval}, limit {limit}", metric.text(measured.value))
}

#[cfg(test)]
mod tests {
    use model::parse_limits;

    use super::*;

    #[test]
    fn a_measured_value_stands_with_its_interval_and_its_limit() {
        let text = |limit: &str, value, interval| {
            let limit = parse_limits(limit).unwrap()[0];
            let measured = LimitMeasurement { limit, value, interval };
            assert_eq!(compliance_text(&Compliance::Met(measured)), measured_text(&measured));
            compliance_text(&Compliance::Missed(measured))
        };
        assert_eq!(
            text("p99<50ms", 0.0621, Some((0.06, 0.0642))),
            "p99 was 62.1 ms (60.0 ms to 64.2 ms), limit p99<50ms"
        );
        assert_eq!(text("max<10ms", 0.01, None), "max was 10.0 ms, limit max<10ms");
        assert_eq!(
            text("errors<=0%", 0.001, Some((0.0, 0.002))),
            "errors was 0.10 % (0.00 % to 0.20 %), limit errors<=0%"
        );
        assert_eq!(text("rate>101/s", 100.0, None), "rate was 100.0/s, limit rate>101/s");
    }

    #[test]
    fn without_a_value_the_reason_is_given() {
        let text = |reason| compliance_text(&Compliance::Undecided(reason));
        assert_eq!(text(NoData::Nothing), "no operation completed");
        assert_eq!(
            text(NoData::TooFew { n: 1000, needed: 3688 }),
            "1000 response times are too few for the percentile, which needs 3688"
        );
        assert_eq!(text(NoData::ClosedLoop), "a closed loop has no offered rate");
    }
}
