//! The 99th percentile equals the mean: a histogram was filled with means instead of values.

use analysis::Finding;
use analysis::finding::{DetailDifference, TimesExtent, ValueMoment};
use model::Phase;
use stats::Histogram;
use units::Ratio;

use super::tamper::rebuild_response;
use crate::record::{RecordedRun, assert_caught, assert_valid};

/// Keeps count, sum, smallest and largest of each kind, and puts everything else at the mean.
fn flatten(histogram: &Histogram) -> Histogram {
    let n = histogram.n();
    let sum = histogram.sum();
    let mut flat = Histogram::new();
    let (Some(min), Some(max)) = (histogram.min(), histogram.max()) else { return flat };
    if n < 3 {
        return histogram.clone();
    }
    flat.record(min);
    flat.record(max);
    let mut rest = sum - u128::from(min.0) - u128::from(max.0);
    for left in (1..=n - 2).rev() {
        let share = (rest / u128::from(left)) as u64;
        flat.record(units::Nanos(share));
        rest -= u128::from(share);
    }
    flat
}

#[test]
fn a_histogram_of_means_cannot_have_the_exact_sum_of_squares() {
    let mut recorded = RecordedRun::closed();
    assert_valid(&recorded.analyze());
    for record in &mut recorded.records {
        for response in &mut record.detail.as_mut().unwrap().response {
            *response = flatten(response);
        }
        rebuild_response(record);
    }
    let analysis = recorded.analyze();
    let response = &analysis.load_points[0].response.histogram;
    let apart = response.quantile(Ratio(0.9)).unwrap().as_secs_f64() / response.mean().unwrap().as_secs_f64();
    assert!((apart - 1.0).abs() < 0.05, "p90 is {apart} of the mean");
    let found = assert_caught(&analysis, "histogram");
    let Finding::Histogram { kind, moment, exact, most, .. } = found else { panic!("{found:?}") };
    assert_eq!((kind, moment), (None, ValueMoment::SumOfSquares));
    assert!(most < exact, "{exact} of at most {most}");
}

/// The plain form: one mean per second. Smallest and largest already differ.
#[test]
fn one_mean_per_second_contradicts_the_extremes() {
    let mut recorded = RecordedRun::closed();
    for record in &mut recorded.records {
        let mean = record.response.mean();
        let n = record.response.n();
        record.response = Histogram::new();
        (0..n).for_each(|_| record.response.record(mean.unwrap()));
    }
    assert_caught(&recorded.analyze(), "conservation");
}

#[test]
fn details_that_are_not_those_of_the_intervals_are_caught() {
    let recorded = RecordedRun::closed();
    let analysis = recorded.analyze_details(|detail| detail.response.swap(0, 1));
    // The two kinds have the same times here, so that exchanging them changes nothing.
    assert_valid(&analysis);
    let analysis = recorded.analyze_details(|detail| detail.response[0] = Histogram::new());
    let found = assert_caught(&analysis, "conservation");
    let Finding::Details { phase, difference } = found else { panic!("{found:?}") };
    let DetailDifference::Response { kind, details, intervals } = difference else {
        panic!("{difference:?}")
    };
    assert_eq!((phase, kind, details), (Phase::Settle, 0, TimesExtent::default()));
    assert!(0 < intervals.n, "{intervals:?}");
}
