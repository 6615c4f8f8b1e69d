//! Scales of charts: few, round and rarely changed.

/// Upper ends of linear scales, times a power of ten; half of each is a round number too.
const ENDS: [f64; 6] = [1.0, 2.0, 4.0, 6.0, 8.0, 10.0];

/// A vertical axis with its labels.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Scale {
    /// Value at the lower end.
    pub low: f64,
    /// Value at the upper end.
    pub high: f64,
    /// Labels at equal distances from the lower to the upper end; at least two.
    labels: Vec<String>,
}

impl Scale {
    /// Returns as many evenly spaced labels as fit into `rows` rows, padded to `width`.
    pub(super) fn labels_for(&self, rows: u16, width: usize) -> Vec<String> {
        let steps = self.labels.len() - 1;
        let fits = |step: &usize| steps.is_multiple_of(*step) && steps / step < usize::from(rows).max(2);
        let step = (1..=steps).find(fits).unwrap_or(steps);
        self.labels.iter().step_by(step).map(|label| format!("{label:>width$}")).collect()
    }
}

/// Makes a scale from zero to a round number of at least `max`, with a label at the middle.
pub(super) fn linear(max: f64) -> Scale {
    let max = if max.is_finite() { max.max(1.0) } else { 1.0 };
    let power = 10f64.powf(max.log10().floor());
    let end = ENDS.iter().map(|end| end * power).find(|end| max <= *end).unwrap_or(10.0 * power);
    let label = |value: f64| if end < 4.0 { format!("{value:.1}/s") } else { format!("{value:.0}/s") };
    Scale { low: 0.0, high: end, labels: [0.0, end / 2.0, end].map(label).to_vec() }
}

/// Makes a logarithmic scale of whole decades for times, given as decimal logarithms of seconds.
pub(super) fn logarithmic(logarithms: impl Iterator<Item = f64>) -> Scale {
    let (low, high) = logarithms
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (value.min(low), value.max(high)));
    let (low, high) = if low <= high { (low.floor(), high.ceil()) } else { (-3.0, -2.0) };
    let high = high.max(low + 1.0);
    let decades = low as i32..=high as i32;
    Scale { low, high, labels: decades.map(label).collect() }
}

/// Formats a power of ten of seconds as a time: `10 ms`.
fn label(power: i32) -> String {
    let (unit, above) = match power {
        ..-6 => ("ns", 9),
        -6..-3 => ("µs", 6),
        -3..0 => ("ms", 3),
        0.. => ("s", 0),
    };
    format!("{} {unit}", 10f64.powi(power + above))
}

/// A horizontal axis of time, divided into dots.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct TimeAxis {
    /// Time at the left end, in s.
    pub start: f64,
    /// Number of dots.
    pub dots: usize,
    /// Width of a dot, in s; less than one in a short run.
    pub seconds_per_dot: f64,
}

impl TimeAxis {
    /// Makes an axis with `dots` dots: of the whole run if its length is known, otherwise of the last seconds, one per dot.
    pub(super) fn new(planned: Option<f64>, newest: f64, dots: usize) -> TimeAxis {
        let width = dots.max(1) as f64;
        match planned {
            // The planned length does not include a drain at the end.
            Some(planned) => {
                TimeAxis { start: 0.0, dots, seconds_per_dot: planned.max(newest).max(1.0) / width }
            }
            None => TimeAxis { start: page(newest, width), dots, seconds_per_dot: 1.0 },
        }
    }

    /// Returns the time at the right end, in s.
    pub(super) fn end(&self) -> f64 {
        self.start + self.dots as f64 * self.seconds_per_dot
    }

    /// Returns the start and end of a dot, in s.
    pub(super) fn span(&self, dot: usize) -> (f64, f64) {
        let from = self.start + dot as f64 * self.seconds_per_dot;
        (from, from + self.seconds_per_dot)
    }

    /// Returns the dot that contains a time; `None` if the time is before the axis.
    pub(super) fn dot_of(&self, from: f64) -> Option<usize> {
        let dot = (from - self.start) / self.seconds_per_dot;
        (-1e-6 < dot).then_some((dot + 1e-6) as usize)
    }
}

/// Returns the start of the page of `dots` dots that contains the newest second. A page is filled and then scrolled by
/// half.
pub(super) fn page(newest: f64, dots: f64) -> f64 {
    let step = (dots / 2.0).floor().max(1.0);
    ((newest - dots) / step).ceil().max(0.0) * step
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(seconds: &[f64]) -> Scale {
        logarithmic(seconds.iter().map(|seconds| seconds.log10()))
    }

    #[test]
    fn linear_scales_end_at_round_numbers() {
        let ends = [0.0, 0.3, 1.0, 1.2, 3.0, 99.0, 101.0, 8_100.0, f64::NAN].map(|max| linear(max).high);
        assert_eq!(ends, [1.0, 1.0, 1.0, 2.0, 4.0, 100.0, 200.0, 10_000.0, 1.0]);
        assert_eq!(linear(1.5).labels, ["0.0/s", "1.0/s", "2.0/s"]);
        assert_eq!(linear(300.0).labels, ["0/s", "200/s", "400/s"]);
    }

    #[test]
    fn logarithmic_scales_cover_whole_decades() {
        let scale = times(&[0.002, 0.3]);
        assert_eq!((scale.low, scale.high), (-3.0, 0.0));
        assert_eq!(scale.labels, ["1 ms", "10 ms", "100 ms", "1 s"]);
        assert_eq!(times(&[0.001]).labels, ["1 ms", "10 ms"]);
        assert_eq!(times(&[]).labels, ["1 ms", "10 ms"]);
        assert_eq!(times(&[2e-7, 2e-6]).labels, ["100 ns", "1 µs", "10 µs"]);
    }

    #[test]
    fn labels_that_do_not_fit_are_omitted_evenly() {
        let scale = times(&[1e-6, 1.0]);
        assert_eq!(scale.labels_for(7, 6).len(), 7);
        assert_eq!(scale.labels_for(5, 6), ["  1 µs", "100 µs", " 10 ms", "   1 s"]);
        assert_eq!(scale.labels_for(2, 6).len(), 2);
        assert_eq!(scale.labels_for(0, 6).len(), 2);
    }

    /// By hand: 240 s on 60 dots are 4 s each; dot 2 covers 8 s to 12 s.
    #[test]
    fn a_run_of_known_length_fills_the_axis() {
        let axis = TimeAxis::new(Some(240.0), 30.0, 60);
        assert_eq!((axis.start, axis.end(), axis.seconds_per_dot), (0.0, 240.0, 4.0));
        assert_eq!((axis.span(2), axis.dot_of(8.0), axis.dot_of(11.9)), ((8.0, 12.0), Some(2), Some(2)));
        let longer = TimeAxis::new(Some(240.0), 300.0, 60);
        assert_eq!(longer.end(), 300.0, "with a drain");
        let short = TimeAxis::new(Some(15.0), 3.0, 60);
        assert_eq!((short.seconds_per_dot, short.span(59).1), (0.25, 15.0));
    }

    #[test]
    fn a_run_of_unknown_length_shows_its_last_seconds() {
        let axis = TimeAxis::new(None, 130.0, 100);
        assert_eq!((axis.start, axis.end(), axis.seconds_per_dot), (50.0, 150.0, 1.0));
        assert_eq!((axis.dot_of(49.0), axis.dot_of(50.0), axis.dot_of(51.5)), (None, Some(0), Some(1)));
    }

    #[test]
    fn a_page_scrolls_only_when_it_is_full() {
        let starts = [0.0, 1.0, 100.0, 101.0, 150.0, 151.0, 600.0].map(|newest| page(newest, 100.0));
        assert_eq!(starts, [0.0, 0.0, 0.0, 50.0, 50.0, 100.0, 500.0]);
    }
}
