//! Multiple comparisons: the more of them, the more differ by chance.

use units::Ratio;

/// The comparisons of two sides in one figure.
#[derive(Debug, Clone, PartialEq)]
pub struct HypothesisFamily {
    /// The p value of the figure over all loads together.
    pub overall: f64,
    /// Its p values load by load; 1 where nothing could be compared. May be empty.
    pub loads: Vec<f64>,
}

/// The decision about one difference among all that were tested together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Decision {
    /// Whether the difference is significant.
    pub holds: bool,
    /// The significance level at which it was decided: a difference holds if its own p value is at most this. So its
    /// interval with the confidence 1 − level leaves out "no difference" exactly if it holds.
    pub level: Ratio,
}

impl Decision {
    /// Returns the confidence of the interval by which it was decided: 1 − level.
    pub fn confidence(self) -> Ratio {
        Ratio(1.0 - self.level.0)
    }
}

/// The decisions about a family: which of its differences are significant.
#[derive(Debug, Clone, PartialEq)]
pub struct Significance {
    /// The decision over all loads together.
    pub overall: Decision,
    /// The decisions load by load.
    pub loads: Vec<Decision>,
}

/// Decides which of many differences are significant.
///
/// Half of the allowed false alarms belong to the figures over all loads, by Holm; the other half to the single loads
/// of all families, by Holm. So where nothing differs at all, the probability of any false alarm is at most `alpha`,
/// however many comparisons there are and however they depend on each other. A figure that differs overall opens the
/// gate to its loads: among these the false discovery rate is held at `alpha`, by Benjamini and Hochberg. Otherwise
/// three repetitions at twenty loads could not show at any single load what they show together. If no family has more
/// than one load, load and overall are the same, and no half is set aside.
///
/// Source: Holm 1979; Benjamini and Hochberg 1995; gatekeeping of families: Dmitrienko, Tamhane and Bretz, Multiple
/// Testing Problems in Pharmaceutical Statistics, chapter 5. Simulation: `docs/design/intervals.md`.
pub fn decide_significance(families: &[HypothesisFamily], alpha: Ratio) -> Vec<Significance> {
    let has_loads = families.iter().any(|family| 1 < family.loads.len());
    let half = if has_loads { alpha.0 / 2.0 } else { alpha.0 };
    let overall = holm_decisions(&families.iter().map(|family| family.overall).collect::<Vec<_>>(), half);
    let loads = families.iter().flat_map(|family| family.loads.clone()).collect::<Vec<_>>();
    let mut single = holm_decisions(&loads, half).into_iter();
    let significance = |(family, overall): (&HypothesisFamily, Decision)| {
        let gate_level = if overall.holds { benjamini_hochberg_level(&family.loads, alpha.0) } else { 0.0 };
        let own_decisions = single.by_ref().take(family.loads.len());
        let decide = |(own, p): (Decision, &f64)| {
            let level = own.level.0.max(gate_level);
            Decision { holds: own.holds || or_one(*p) <= level, level: Ratio(level) }
        };
        Significance { overall, loads: own_decisions.zip(&family.loads).map(decide).collect() }
    };
    families.iter().zip(overall).map(significance).collect()
}

/// Decides which of many differences are significant, if one family asks the question and the others are looked at only
/// where its answer is a difference.
///
/// The family `first` is tested over all loads with the whole of `alpha`. Only if it differs, its loads are tested, by
/// Benjamini and Hochberg, and the other families, as by [`decide_significance`]. So where nothing differs at all, the
/// probability of any false alarm is at most `alpha`, and the question is decided as if nothing else had been measured.
///
/// Source: a fixed sequence of tests, Maurer, Hothorn and Lehmacher 1995; Dmitrienko, Tamhane and Bretz, Multiple Testing
/// Problems in Pharmaceutical Statistics, chapter 5.
pub fn decide_after_first(families: &[HypothesisFamily], first: usize, alpha: Ratio) -> Vec<Significance> {
    let Some(asked) = families.get(first) else { return decide_significance(families, alpha) };
    let is_open = or_one(asked.overall) <= alpha.0;
    let others = || families.iter().enumerate().filter(|(index, _)| *index != first).map(|(_, one)| one);
    let mut decided = decide_significance(&others().cloned().collect::<Vec<_>>(), alpha);
    if !is_open {
        for (significance, family) in decided.iter_mut().zip(others()) {
            significance.overall = closed(significance.overall, family.overall);
            for (load, p) in significance.loads.iter_mut().zip(&family.loads) {
                *load = closed(*load, *p);
            }
        }
    }
    let level = Ratio(benjamini_hochberg_level(&asked.loads, alpha.0));
    let at_load = |p: &f64| {
        let decision = Decision { holds: or_one(*p) <= level.0, level };
        if is_open { decision } else { closed(decision, *p) }
    };
    let own = Significance {
        overall: Decision { holds: is_open, level: alpha },
        loads: asked.loads.iter().map(at_load).collect(),
    };
    decided.insert(first, own);
    decided
}

/// Returns the decision about a difference that is not looked at: it does not hold, and its interval says so.
fn closed(decision: Decision, p: f64) -> Decision {
    Decision { holds: false, level: Ratio(decision.level.0.min(or_one(p) / 2.0)) }
}

/// Decides by Holm, in the same order, each with the level at which it was decided.
///
/// With p sorted, the i-th of m (from 1) is compared with alpha ÷ (m − i + 1) until one is above; that one and all
/// after it do not hold, and are above the level at which the first of them failed.
fn holm_decisions(p: &[f64], alpha: f64) -> Vec<Decision> {
    let m = p.len() as f64;
    let mut decisions = vec![Decision { holds: false, level: Ratio(alpha) }; p.len()];
    let mut failed_at: Option<f64> = None;
    for (rank, index) in ranks(p) {
        let level = failed_at.unwrap_or(alpha / (m - rank as f64));
        let holds = failed_at.is_none() && or_one(p[index]) <= level;
        if !holds {
            failed_at = Some(level);
        }
        decisions[index] = Decision { holds, level: Ratio(level) };
    }
    decisions
}

/// Returns the level at which Benjamini and Hochberg decide: k·q ÷ m, with k how many hold; that of one if none does.
///
/// Intervals with the confidence 1 − k·q ÷ m miss the truth in the share q of those that hold, at most.
///
/// Source: Benjamini and Yekutieli 2005, False Discovery Rate–Adjusted Multiple Confidence Intervals for Selected
/// Parameters.
fn benjamini_hochberg_level(p: &[f64], q: f64) -> f64 {
    let m = p.len().max(1) as f64;
    let holding = benjamini_hochberg(p).into_iter().filter(|adjusted| *adjusted <= q).count();
    holding.max(1) as f64 * q / m
}

/// Returns p values adjusted by Benjamini and Hochberg, in the same order: of those up to q, a share of q is false on
/// average (false discovery rate).
///
/// With p sorted, the i-th of m (from 1) becomes min over k ≥ i of p_k·m ÷ k. Holds if the values are independent or
/// move together, as those of one figure at several loads do. A value that is not a number counts as 1.
///
/// Source: Benjamini and Hochberg 1995, Controlling the False Discovery Rate; under dependence: Benjamini and Yekutieli
/// 2001.
fn benjamini_hochberg(p: &[f64]) -> Vec<f64> {
    let m = p.len() as f64;
    let mut lowest: f64 = 1.0;
    let mut adjusted = vec![1.0; p.len()];
    for (rank, index) in ranks(p).into_iter().rev() {
        let own = or_one(p[index]);
        lowest = lowest.min(own * m / (rank + 1) as f64);
        // Rounding must not make p smaller.
        adjusted[index] = lowest.max(own).min(1.0);
    }
    adjusted
}

/// Returns the indexes of p values with their ranks from 0, by rising p.
fn ranks(p: &[f64]) -> Vec<(usize, usize)> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|one, other| or_one(p[*one]).total_cmp(&or_one(p[*other])));
    order.into_iter().enumerate().collect()
}

fn or_one(p: f64) -> f64 {
    if p.is_nan() { 1.0 } else { p }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn near(found: &[f64], expected: &[f64]) {
        let apart = found.iter().zip(expected).map(|(one, other)| (one - other).abs()).fold(0.0, f64::max);
        assert!(found.len() == expected.len() && apart < 1e-12, "{found:?} for {expected:?}");
    }

    /// By hand at 0.05: 0.01 ≤ 0.05 ÷ 4, but 0.02 > 0.05 ÷ 3; at 0.07 also 0.02 ≤ 0.07 ÷ 3, 0.03 ≤ 0.07 ÷ 2, 0.04 ≤ 0.07.
    #[test]
    fn holm_by_hand() {
        let holding = |p: &[f64], alpha| {
            holm_decisions(p, alpha).iter().map(|decision| decision.holds).collect::<Vec<_>>()
        };
        assert_eq!(holding(&[0.04, 0.01, 0.03, 0.02], 0.05), [false, true, false, false]);
        assert_eq!(holding(&[0.04, 0.01, 0.03, 0.02], 0.07), [true; 4]);
        assert_eq!(holding(&[0.5, 0.6, f64::NAN], 0.05), [false; 3]);
        assert_eq!(holding(&[], 0.05), [false; 0]);
    }

    /// By hand: sorted 0.01, 0.02, 0.03, 0.5: 0.04, 0.04, 0.04, 0.5; and 0.01, 0.04, 0.06: 0.03, 0.06, 0.06.
    #[test]
    fn benjamini_hochberg_by_hand() {
        near(&benjamini_hochberg(&[0.5, 0.03, 0.01, 0.02]), &[0.5, 0.04, 0.04, 0.04]);
        near(&benjamini_hochberg(&[0.06, 0.04, 0.01]), &[0.06, 0.06, 0.03]);
        near(&benjamini_hochberg(&[0.9, f64::NAN]), &[1.0, 1.0]);
    }

    const FIVE: Ratio = Ratio(0.05);

    /// By hand: the first at 0.04 holds at 0.05, and opens its loads (0.03 ≤ 0.05 · 2 ÷ 2) and the others, of which 0.01
    /// holds by Holm at 0.05 ÷ 2; at 0.06 it holds nothing, however small the others are.
    #[test]
    fn nothing_holds_unless_the_first_question_does() {
        let family = |overall, loads: &[f64]| HypothesisFamily { overall, loads: loads.to_vec() };
        let holding = |first: f64| {
            let families = [family(0.01, &[0.01]), family(first, &[0.03, 0.03]), family(0.3, &[0.3])];
            let decided = decide_after_first(&families, 1, FIVE);
            decided
                .iter()
                .map(|one| (one.overall.holds, one.loads.iter().filter(|load| load.holds).count()))
                .collect::<Vec<_>>()
        };
        assert_eq!(holding(0.04), [(true, 1), (true, 2), (false, 0)]);
        assert_eq!(holding(0.06), [(false, 0); 3]);
        assert_eq!(holding(f64::NAN), [(false, 0); 3]);
        assert_eq!(decide_after_first(&[], 0, FIVE), []);
        let closed = decide_after_first(&[family(0.06, &[]), family(0.01, &[])], 0, FIVE)[1].overall;
        assert_eq!(closed, Decision { holds: false, level: Ratio(0.005) }, "below its own p value");
    }

    fn decided(families: &[(f64, &[f64])]) -> Vec<Significance> {
        let family =
            |(overall, loads): &(f64, &[f64])| HypothesisFamily { overall: *overall, loads: loads.to_vec() };
        decide_significance(&families.iter().map(family).collect::<Vec<_>>(), FIVE)
    }

    fn significance(families: &[(f64, &[f64])]) -> Vec<(bool, Vec<bool>)> {
        let loads = |significance: &Significance| significance.loads.iter().map(|load| load.holds).collect();
        decided(families)
            .iter()
            .map(|significance| (significance.overall.holds, loads(significance)))
            .collect()
    }

    /// By hand. Overall, by Holm at 0.025: 0.012 of two at 0.0125, 0.3 at 0.025. Loads, by Holm at 0.025 of six: the
    /// first fails at 0.025 ÷ 6, and so do all. The gate of the first family is open: of 0.02, 0.03, 0.3 two hold, at
    /// 2 · 0.05 ÷ 3.
    #[test]
    fn every_decision_has_the_level_at_which_it_was_made() {
        let found = decided(&[(0.012, &[0.02, 0.03, 0.3]), (0.3, &[0.01, 0.04, 0.3])]);
        let level = |decision: &Decision| decision.level.0;
        near(&[level(&found[0].overall), level(&found[1].overall)], &[0.0125, 0.025]);
        near(&found[0].loads.iter().map(level).collect::<Vec<_>>(), &[0.1 / 3.0; 3]);
        near(&found[1].loads.iter().map(level).collect::<Vec<_>>(), &[0.025 / 6.0; 3]);
    }

    /// The first differs overall (0.012 · 2 ≤ 0.025), which opens the gate to its loads; that of the second, just as
    /// small, stays shut.
    #[test]
    fn a_figure_that_differs_overall_opens_the_gate_to_its_loads() {
        let found = significance(&[(0.012, &[0.01, 0.04, 0.3]), (0.3, &[0.01, 0.04, 0.3])]);
        assert_eq!(found, [(true, vec![true, false, false]), (false, vec![false; 3])]);
        // 0.02 · 3 ÷ 1 is 0.06, but 0.03 · 3 ÷ 2 is 0.045.
        assert_eq!(significance(&[(0.012, &[0.02, 0.03, 0.3])])[0].1, [true, true, false]);
    }

    /// Servers whose order changes at some load are alike overall: 0.004 · 6 ≤ 0.025.
    #[test]
    fn a_single_load_can_be_significant_by_itself() {
        let found = significance(&[(0.9, &[0.004, 0.5, 0.5]), (0.9, &[0.5, 0.5, 0.5])]);
        assert_eq!(found[0], (false, vec![true, false, false]));
    }

    #[test]
    fn a_single_load_is_decided_with_the_whole() {
        assert_eq!(significance(&[(0.04, &[0.04])]), [(true, vec![true])]);
        assert_eq!(
            significance(&[(0.04, &[0.04]), (0.2, &[0.2])]),
            [(false, vec![false]), (false, vec![false])]
        );
        assert_eq!(significance(&[(0.04, &[])]), [(true, Vec::<bool>::new())]);
        assert!(significance(&[]).is_empty());
    }

    proptest! {
        /// The level printed beside a finding never contradicts it: a difference holds if its p value is at most its
        /// level.
        #[test]
        fn a_difference_holds_if_its_p_value_is_at_most_its_level(
            families in prop::collection::vec((0.0..0.1f64, prop::collection::vec(0.0..0.1f64, 0..6)), 1..6),
        ) {
            let families: Vec<HypothesisFamily> =
                families.into_iter().map(|(overall, loads)| HypothesisFamily { overall, loads }).collect();
            for (family, significance) in families.iter().zip(decide_significance(&families, FIVE)) {
                prop_assert_eq!(significance.overall.holds, family.overall <= significance.overall.level.0);
                for (p, load) in family.loads.iter().zip(&significance.loads) {
                    prop_assert_eq!(load.holds, *p <= load.level.0, "{} {:?}", p, load);
                    prop_assert!(load.level.0 <= FIVE.0 + 1e-12);
                }
            }
        }
    }
}
