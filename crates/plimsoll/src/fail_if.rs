//! The language of `--fail-if`: `rate<-5%,p99>+10%`, bounds for the changes of a comparison.

use analysis::compare::{BoundDirection, ChangeBound, ComparedMetric};
use languages::LoadListError;
use model::PercentileRank;

use crate::argument_error::ArgumentError;

/// The names of the metrics, besides those of percentiles.
const METRICS: [(&str, ComparedMetric); 4] = [
    ("rate", ComparedMetric::Score),
    ("mean", ComparedMetric::ResponseMean),
    ("cpu", ComparedMetric::CpuPerOperation),
    ("errors", ComparedMetric::ErrorRatio),
];

/// The largest change that a bound may name, in percent.
const PERCENT_MAX: f64 = 10_000.0;

const HINT: &str =
    "write metric, comparison and change, such as `rate<-5%`, `p95>+10%`, `cpu>+20%` or `errors>+0.5%`";

/// The metrics, for the hint about an unknown one.
const NAMES: &str = "rate, mean, p50, p90, p95, p99, p99.9, any other percentile, cpu and errors";

/// Reads bounds, separated by commas.
///
/// # Errors
/// If a bound is not metric, comparison and percentage, or could never or always be exceeded.
pub(crate) fn parse_bounds(text: &str) -> Result<Vec<ChangeBound>, LoadListError> {
    let mut bounds: Vec<ChangeBound> = Vec::new();
    let mut start = 0;
    for item in text.split(',') {
        let at = start + item.len() - item.trim_start().len();
        start += item.len() + 1;
        let item = item.trim();
        let error =
            |(message, hint): (String, String)| LoadListError { message, span: at..at + item.len(), hint };
        let bound = bound(item).map_err(error)?;
        if bounds.iter().any(|one| (one.metric, one.direction) == (bound.metric, bound.direction)) {
            let twice =
                format!("two bounds on one side of `{}`", item.split(['<', '>']).next().unwrap_or(item));
            return Err(error((twice, "leave one of them out".to_owned())));
        }
        bounds.push(bound);
    }
    Ok(bounds)
}

/// Reads one bound; an error is a message and a hint.
fn bound(text: &str) -> Result<ChangeBound, (String, String)> {
    let Some(at) = text.find(['<', '>']) else {
        return Err((format!("expected a bound for a change, found `{text}`"), HINT.to_owned()));
    };
    let name = text[..at].trim_end();
    let rest = text[at + 1..].trim_start();
    let Some(metric) = metric(name) else {
        return Err((format!("`{name}` is not a metric of comparisons"), format!("the metrics are {NAMES}")));
    };
    let direction = match text.as_bytes()[at] {
        b'<' => BoundDirection::Decrease,
        _ => BoundDirection::Increase,
    };
    let example = match direction {
        BoundDirection::Decrease => format!("write a decrease in percent, such as `{name}<-5%`"),
        BoundDirection::Increase => format!("write an increase in percent, such as `{name}>+5%`"),
    };
    let percent = signed_percent(rest).map_err(|error| (error.to_string(), example.clone()))?;
    let is_sensible = match direction {
        BoundDirection::Decrease => -100.0 < percent && percent <= 0.0,
        BoundDirection::Increase => (0.0..=PERCENT_MAX).contains(&percent),
    };
    match (is_sensible, direction) {
        (true, _) => Ok(ChangeBound::new(metric, direction, percent / 100.0)),
        (_, BoundDirection::Decrease) if percent <= -100.0 => {
            Err((format!("`{name}` cannot fall by 100 % or more"), example))
        }
        (_, BoundDirection::Increase) if PERCENT_MAX < percent => {
            Err((format!("expected a change up to {PERCENT_MAX} %, found `{rest}`"), example))
        }
        _ => Err((format!("`{text}` would fail without any change"), example)),
    }
}

fn metric(name: &str) -> Option<ComparedMetric> {
    let named = METRICS.iter().find(|(known, _)| *known == name).map(|(_, metric)| *metric);
    named.or_else(|| PercentileRank::parse(name).map(ComparedMetric::ResponsePercentile))
}

/// Reads `-5%`, `+10 %` or `10%`. The minus sign may be that of typography.
fn signed_percent(text: &str) -> Result<f64, ArgumentError> {
    let Some(number) = text.strip_suffix('%') else {
        return Err(ArgumentError::expected(format!("a change in percent, found `{text}`")));
    };
    let number = number.trim_end();
    let (sign, digits) = match number.strip_prefix(['-', '−']) {
        Some(digits) => (-1.0, digits),
        None => (1.0, number.strip_prefix('+').unwrap_or(number)),
    };
    let is_plain = digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    match digits.parse::<f64>() {
        Ok(percent) if is_plain => Ok(sign * percent),
        _ => Err(ArgumentError::expected(format!("a number before `%`, found `{number}`"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_read() {
        let found =
            parse_bounds("rate<-5%, p99 > +10 %,mean>12.5%,cpu<−1%,rate>0%,p97.5>5%,errors>0.5%").unwrap();
        let rank = PercentileRank::parse("p97.5").unwrap();
        let found: Vec<_> = found.iter().map(|one| (one.metric, one.direction, one.ratio)).collect();
        use ComparedMetric::{CpuPerOperation, ErrorRatio, ResponseMean, ResponsePercentile, Score};
        assert_eq!(
            found,
            [
                (Score, BoundDirection::Decrease, 0.95),
                (ComparedMetric::RESPONSE_P99, BoundDirection::Increase, 1.1),
                (ResponseMean, BoundDirection::Increase, 1.125),
                (CpuPerOperation, BoundDirection::Decrease, 0.99),
                (Score, BoundDirection::Increase, 1.0),
                (ResponsePercentile(rank), BoundDirection::Increase, 1.05),
                (ErrorRatio, BoundDirection::Increase, 0.005f64.exp()),
            ]
        );
    }

    /// Each mistake, with what is said of it.
    #[test]
    fn mistakes_are_explained() {
        let cases = [
            ("", "expected a bound for a change, found ``", "write metric, comparison and change"),
            ("rate", "expected a bound for a change, found `rate`", "write metric, comparison and change"),
            (
                "p100>10%",
                "`p100` is not a metric of comparisons",
                "the metrics are rate, mean, p50, p90, p95, p99",
            ),
            ("max>10%", "`max` is not a metric of comparisons", "any other percentile, cpu and errors"),
            ("rate<-5", "expected a change in percent, found `-5`", "such as `rate<-5%`"),
            ("p99>=10%", "expected a number before `%`, found `=10`", "such as `p99>+5%`"),
            ("p99>ten%", "expected a number before `%`, found `ten`", "such as `p99>+5%`"),
            ("rate<--5%", "expected a number before `%`, found `--5`", "such as `rate<-5%`"),
            ("rate<5%", "`rate<5%` would fail without any change", "such as `rate<-5%`"),
            ("p99>-10%", "`p99>-10%` would fail without any change", "such as `p99>+5%`"),
            ("rate<-100%", "`rate` cannot fall by 100 % or more", "such as `rate<-5%`"),
            ("p99>20000%", "expected a change up to 10000 %, found `20000%`", "such as `p99>+5%`"),
            ("rate<-5%,rate<-9%", "two bounds on one side of `rate`", "leave one of them out"),
        ];
        for (text, message, hint) in cases {
            let error = parse_bounds(text).expect_err(text);
            assert_eq!(error.message, message, "{text}");
            assert!(error.hint.contains(hint), "{text}: {}", error.hint);
        }
        assert_eq!(parse_bounds("rate<-5%, x<1%").unwrap_err().span, 10..14);
    }
}
