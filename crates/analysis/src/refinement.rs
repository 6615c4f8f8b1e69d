//! The load points that a run adds to the planned ones, one after the other, where the rate stops growing between two loads
//! that leave a gap.
//!
//! | the load points so far | next |
//! |---|---|
//! | planned ones are missing | none: the plan comes first |
//! | as many were added as the plan allows | none |
//! | the rate still grows at the highest load | none |
//! | the saturation point is at most twice the load below it | none: it is known well enough |
//! | it is more than twice that | the geometric mean of the two |
//! | that load was run before, and is not valid | none |
//!
//! By hand, from 1, 10, 50 and 100 users at a server that carries four: the rate stops growing between 1 and 10, so 3 is
//! run, √(1·10); then between 3 and 10, so 5, √(3·10). The rate of 5 is the highest, and 3 is no farther below it than half.

use model::{Load, Plan};

use crate::LoadPointResult;
use crate::metrics::curve;
use crate::result::below_gap;

/// A load that a run adds between two loads where its rate stops growing.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AddedLoad {
    /// The load to run.
    pub load: Load,
    /// The highest load at which the rate still grew.
    pub below: Load,
    /// The saturation point, which is greater than twice that.
    pub saturated: Load,
}

/// Returns the load that a run of this plan adds after these load points; `None` if it adds none.
pub fn next_load(plan: &Plan, load_points: &[LoadPointResult]) -> Option<AddedLoad> {
    let refinement = plan.refinement?;
    let n_added = load_points.len().checked_sub(refinement.n_planned as usize)?;
    if refinement.added_max as usize <= n_added {
        return None;
    }
    let saturation = curve(load_points).shown_saturation(load_points)?;
    let saturated = load_points.get(saturation)?;
    let below = below_gap(load_points, saturated)?.load;
    let load = between(below, saturated.load);
    let is_new = load_points.iter().all(|point| point.load != load);
    is_new.then_some(AddedLoad { load, below, saturated: saturated.load })
}

/// Returns the geometric mean of two loads of one kind; users are rounded.
fn between(below: Load, above: Load) -> Load {
    above.at_level((below.level() * above.level()).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: √10 = 3.2, √30 = 5.5, √3 = 1.7, √500 = 22.4, √1100 = 33.2. It lies between the two wherever there is a gap.
    #[test]
    fn a_load_between_two_is_their_geometric_mean() {
        let mean = |below, above| between(Load::Users(below), Load::Users(above)).level();
        assert_eq!(
            [mean(1, 10), mean(3, 10), mean(1, 3), mean(10, 50), mean(22, 50)],
            [3.0, 5.0, 2.0, 22.0, 33.0]
        );
        for below in 1..200 {
            let middle = mean(below, 2 * below + 1);
            assert!(f64::from(below) < middle && middle < f64::from(2 * below + 1), "{below}: {middle}");
        }
    }
}
