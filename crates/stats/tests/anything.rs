//! Totality of the statistics: whatever numbers come in, an answer or "no answer" comes out, without a panic, and no
//! interval leaves its value out.

use proptest::num::f64::ANY;
use proptest::prelude::*;
use stats::{
    Amdahl, BetweenRuns, CurvePoint, Estimate, HypothesisFamily, LogRatio, MeasuredFigure, POWER, Repeats,
    ScalingPoint, SteadyLimit, Usl, decide_significance, knee, saturation_point, speed_ups, standard_error,
    steadiness, warm_up_cut,
};
use units::Ratio;

const CONFIDENCE: Ratio = Ratio(0.95);

fn pairs() -> impl Strategy<Value = Vec<(f64, f64)>> {
    let number = prop_oneof![4 => 1e-3..1e6f64, 1 => ANY];
    prop::collection::vec((number.clone(), number), 0..12)
}

fn check(estimates: &[Estimate]) {
    for Estimate { value, low, high } in estimates {
        assert!(low <= value && value <= high, "{estimates:?}");
    }
}

proptest! {
    #[test]
    fn laws_fit_or_say_why_not(pairs in pairs()) {
        let points: Vec<ScalingPoint> =
            pairs.iter().map(|(size, rate)| ScalingPoint { size: *size, rate: *rate, error: None }).collect();
        if let Ok(found) = Amdahl::fit(&points, CONFIDENCE) {
            check(&[found.lambda, found.sigma]);
            prop_assert!((0.0..=1.0).contains(&found.sigma.value));
        }
        if let Ok(found) = Usl::fit(&points, CONFIDENCE) {
            check(&[found.lambda, found.sigma, found.kappa]);
            prop_assert!(found.peak().is_none_or(|peak| 1.0 <= peak.size));
        }
        let repeats: Vec<Repeats> =
            pairs.iter().map(|(size, rate)| Repeats { size: *size, rates: vec![*rate; 2] }).collect();
        let _ = Usl::fit_repeats(&repeats[..repeats.len().min(5)], CONFIDENCE, 1);
        let _ = speed_ups(&pairs);
    }

    #[test]
    fn curves_have_a_knee_and_a_saturation_point_among_their_points_or_none(pairs in pairs()) {
        let points: Vec<CurvePoint> =
            pairs.iter().map(|(load, rate)| CurvePoint { load: *load, rate: *rate, response: 1.0, interval: None }).collect();
        for found in [knee(&points), saturation_point(&points)].into_iter().flatten() {
            prop_assert!(points.iter().any(|point| point.load.total_cmp(&found.load).is_eq()));
        }
    }

    #[test]
    fn ratios_have_an_interval_or_none(pairs in pairs()) {
        let (a, b): (Vec<f64>, Vec<f64>) = pairs.iter().copied().unzip();
        let shown = |value: &f64| MeasuredFigure { value: *value, relative: value / 1e4, degrees_of_freedom: value / 10.0 };
        let (runs_a, runs_b): (Vec<MeasuredFigure>, Vec<MeasuredFigure>) = (a.iter().map(shown).collect(), b.iter().map(shown).collect());
        let found = [
            LogRatio::of_pairs(&pairs, 1),
            LogRatio::of_repetitions(&a, &b, 1),
            LogRatio::of_runs(&runs_a, &runs_b, BetweenRuns { deviation: Ratio(0.02), degrees_of_freedom: 6.0 }),
        ];
        for found in found.iter().flatten() {
            check(found.ratio(CONFIDENCE).as_slice());
            prop_assert!((0.0..=1.0).contains(&found.p_value()), "{found:?}");
            let runs = found.runs_to_exclude(1.05, Ratio(0.05), POWER);
            prop_assert!(runs.is_none_or(|n| (3..=LogRatio::RUNS_MAX).contains(&n)), "{found:?}");
            prop_assert!(found.detectable(Ratio(0.05), POWER).is_none_or(|more| 0.0 <= more.0), "{found:?}");
        }
    }

    #[test]
    fn phases_have_an_error_or_none(pairs in prop::collection::vec((prop_oneof![20 => -1e3..1e3f64, 1 => ANY], 1e-3..1e3f64), 0..100)) {
        if let Some(error) = standard_error(&pairs) {
            prop_assert!(0.0 <= error.relative && error.relative.is_finite(), "{error:?}");
            prop_assert!(1.0 < error.degrees_of_freedom && error.degrees_of_freedom < 20.0, "{error:?}");
        }
    }

    /// Of the differences of one family the smaller p value never fails where the larger one holds.
    #[test]
    fn decisions_keep_the_order_of_p_values(p in prop::collection::vec(0.0..0.2f64, 0..30), overall in 0.0..0.1f64) {
        let family = HypothesisFamily { overall, loads: p.clone() };
        let decided = decide_significance(&[family], Ratio(0.05));
        let holds: Vec<bool> = decided[0].loads.iter().map(|load| load.holds).collect();
        prop_assert_eq!(holds.len(), p.len());
        for (i, j) in (0..p.len()).flat_map(|i| (0..p.len()).map(move |j| (i, j))) {
            prop_assert!(p[j] < p[i] || holds[i] || !holds[j], "{p:?} {holds:?}");
        }
    }

    #[test]
    fn series_are_judged(values in prop::collection::vec(prop_oneof![20 => -1e3..1e3f64, 1 => ANY], 0..200)) {
        let _ = steadiness(&values, &SteadyLimit::DEFAULT);
        prop_assert!(warm_up_cut(&values).is_none_or(|cut| cut <= values.len() / 2));
    }
}
