//! Whatever numbers come in, an answer or "no answer" comes out: no panic, and no interval that leaves its value out.

use proptest::num::f64::ANY;
use proptest::prelude::*;
use stats::{
    Amdahl, CurvePoint, Estimate, Repeats, ScalingPoint, SteadyLimit, Usl, knees, ratio_interval, speed_ups,
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
    fn curves_have_knees_or_none(pairs in pairs()) {
        let points: Vec<CurvePoint> =
            pairs.iter().map(|(load, rate)| CurvePoint { load: *load, rate: *rate, response: 1.0 }).collect();
        let found = knees(&points);
        for load in [found.saturation, found.two_lines, found.kneedle].into_iter().flatten() {
            prop_assert!(points.iter().any(|point| point.load == load));
        }
    }

    #[test]
    fn ratios_have_an_interval_or_none(pairs in pairs()) {
        if let Some(found) = ratio_interval(&pairs, CONFIDENCE, 1) {
            check(&[found]);
        }
    }

    #[test]
    fn series_are_judged(values in prop::collection::vec(prop_oneof![20 => -1e3..1e3f64, 1 => ANY], 0..200)) {
        let _ = steadiness(&values, &SteadyLimit::HOUSE);
        prop_assert!(warm_up_cut(&values).is_none_or(|cut| cut <= values.len() / 2));
    }
}
