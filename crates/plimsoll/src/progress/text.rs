//! Formats of quantities in the progress display.

use analysis::refinement::AddedLoad;
use model::{Load, Stage, Words};
use units::{Bytes, Nanos};

/// Placeholder of an unknown value.
pub(super) const ABSENT: &str = "–";

/// Formats the load of a stage, with at most four digits of a rate: `1508 to 2258/s offered`, `50 users`.
pub(super) fn stage_load_text(stage: &Stage, load: Load, words: &Words) -> String {
    let shown = |level: f64| if load.is_closed() { level.round() } else { four_digits(level) };
    let end = load_text(load.at_level(shown(stage.to)), words);
    if stage.is_constant() { end } else { format!("{} to {end}", shown(stage.from)) }
}

/// Rounds a number to four significant digits.
fn four_digits(number: f64) -> f64 {
    format!("{number:.3e}").parse().unwrap_or(number)
}

/// Formats a load in the words of its benchmark: `30 clients`, `1000/s offered`.
pub(super) fn load_text(load: Load, words: &Words) -> String {
    let text = load.text(&words.user);
    if load.is_closed() { text } else { format!("{text} offered") }
}

/// Returns why a run adds a load point: `adding 3 users: the rate stops growing between 1 and 10`.
pub(super) fn adding_text(added: &AddedLoad) -> String {
    let below = added.below.level();
    let saturated = added.saturated.level();
    format!("adding {}: the rate stops growing between {below} and {saturated}", added.load)
}

/// Formats a score with its unit: `305.0 connections per second`.
pub(super) fn score_text(score: Option<f64>, words: &Words) -> String {
    score.map_or(ABSENT.to_owned(), |score| format!("{score:.1} {}", words.score))
}

/// Formats a rate in 1/s: `1234.5/s`.
pub(super) fn rate(per_second: f64) -> String {
    format!("{per_second:.1}/s")
}

/// Formats bytes per second: `12.3 MiB/s`.
pub(super) fn byte_rate(per_second: f64) -> String {
    format!("{}/s", Bytes(per_second.round() as u64))
}

/// Formats a time with a suitable unit. For display only: reports add the sample size and a confidence interval.
pub(super) fn time(time: Option<Nanos>) -> String {
    time.map_or(ABSENT.to_owned(), |time| time.to_string())
}

/// Formats a ratio as whole percent.
pub(super) fn percent(ratio: f64) -> String {
    format!("{:.0} %", 100.0 * ratio)
}

/// Formats a duration in whole seconds: `48 s`, `9 min 48 s`, `2 h 05 min`.
pub(crate) fn length(time: Nanos) -> String {
    let seconds = time.as_secs_f64().round() as u64;
    match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, 0, seconds) => format!("{seconds} s"),
        (0, minutes, seconds) => format!("{minutes} min {seconds:02} s"),
        (hours, minutes, _) => format!("{hours} h {minutes:02} min"),
    }
}

#[cfg(test)]
mod tests {
    use model::Arrivals;

    use super::*;

    #[test]
    fn durations_have_at_most_two_units() {
        let texts = [0, 48, 60, 588, 3600, 7500].map(|seconds| length(Nanos::from_secs(seconds)));
        assert_eq!(texts, ["0 s", "48 s", "1 min 00 s", "9 min 48 s", "1 h 00 min", "2 h 05 min"]);
    }

    #[test]
    fn the_load_of_a_stage_has_four_digits_of_a_rate_and_whole_users() {
        let rate = Load::Rate { per_second: 9000.0, arrivals: Arrivals::Constant, in_flight_max: 9 };
        let text = |load, from, to| {
            stage_load_text(&Stage { length: Nanos::from_secs(5), from, to }, load, &Words::default())
        };
        assert_eq!(text(rate, 759.166_666, 1_508.333_333), "759.2 to 1508/s offered");
        assert_eq!(text(rate, 0.123_456, 0.123_456), "0.1235/s offered");
        assert_eq!(text(Load::Users(50), 12.5, 37.5), "13 to 38 users");
    }

    #[test]
    fn quantities_have_units() {
        assert_eq!(rate(1234.56), "1234.6/s");
        assert_eq!(byte_rate(5_817_375.2), "5.5 MiB/s");
        assert_eq!(time(None), "–");
        assert_eq!(percent(0.456), "46 %");
    }
}
