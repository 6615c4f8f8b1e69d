//! Reasons of a verdict, grouped by rule: one that all load points break is told once.

use analysis::Reason;

/// The reasons of one rule at load points, or one reason of the run as a whole.
#[derive(Debug, Clone, PartialEq)]
pub struct ReasonGroup<'a> {
    /// Indexes of the load points, rising; empty of the run as a whole.
    pub load_points: Vec<u32>,
    /// Indexes of the stages of a load point with a shape, likewise; empty of a load point as a whole.
    pub stages: Vec<u32>,
    /// The first of the reasons.
    pub first: &'a Reason,
}

/// Groups the reasons of load points by rule, in the order in which the rules first occur.
pub fn reason_groups(reasons: &[Reason]) -> Vec<ReasonGroup<'_>> {
    let mut groups: Vec<ReasonGroup> = Vec::new();
    for reason in reasons {
        let is_same = |group: &&mut ReasonGroup| {
            group.first.load_point.is_some()
                && group.first.rule() == reason.rule()
                && group.first.stage.is_some() == reason.stage.is_some()
        };
        let (load_point, stage) = (reason.load_point, reason.stage);
        match groups.iter_mut().find(is_same).filter(|_| load_point.is_some()) {
            Some(group) => {
                group.load_points.extend(load_point.filter(|index| !group.load_points.contains(index)));
                group.stages.extend(stage.filter(|index| !group.stages.contains(index)));
            }
            None => groups.push(ReasonGroup {
                load_points: load_point.into_iter().collect(),
                stages: stage.into_iter().collect(),
                first: reason,
            }),
        }
    }
    groups
}

impl ReasonGroup<'_> {
    /// Returns the indexes of its places, rising, with their noun: of its stages, or else of its load points.
    pub(crate) fn places(&self) -> (&'static str, &[u32]) {
        if self.stages.is_empty() { ("load point", &self.load_points) } else { ("stage", &self.stages) }
    }

    /// Returns the place before a sentence about the first load point, in numbers from 1: `load point 2`, `load points 1 to 4,
    /// at 1`, `stage 3`; empty of the run as a whole.
    pub fn place(&self) -> String {
        let (noun, indexes) = self.places();
        let numbers: Vec<u64> = indexes.iter().map(|index| u64::from(*index) + 1).collect();
        match numbers.as_slice() {
            [] => String::new(),
            [only] => format!("{noun} {only}"),
            several => format!("{noun}s {}, at {}", listed(several), several[0]),
        }
    }
}

/// Writes numbers: `1 to 4`, `1, 3 and 4`.
fn listed(numbers: &[u64]) -> String {
    let is_row = numbers.windows(2).all(|two| two[0] + 1 == two[1]);
    match numbers {
        [first, _, .., last] if is_row && 2 < numbers.len() => format!("{first} to {last}"),
        [rest @ .., last] if !rest.is_empty() => {
            let rest: Vec<String> = rest.iter().map(u64::to_string).collect();
            format!("{} and {last}", rest.join(", "))
        }
        numbers => numbers.iter().map(u64::to_string).collect(),
    }
}

#[cfg(test)]
mod tests {
    use analysis::Finding;

    use super::*;

    fn reason(load_point: Option<u32>, finding: Finding) -> Reason {
        Reason { load_point, stage: None, finding }
    }

    #[test]
    fn reasons_of_load_points_are_grouped_by_rule_and_those_of_the_run_are_not() {
        let few = || Finding::TooFewOperations { n: 1, needed: 100 };
        let reasons = [
            reason(None, Finding::EndingMissing),
            reason(None, Finding::SearchUnfinished),
            reason(Some(0), few()),
            reason(Some(1), Finding::Schedule { due: 1, scheduled: 2 }),
            reason(Some(2), few()),
            reason(Some(2), few()),
        ];
        let groups = reason_groups(&reasons);
        let places: Vec<String> = groups.iter().map(ReasonGroup::place).collect();
        assert_eq!(places, ["", "", "load points 1 and 3, at 1", "load point 2"]);
        assert_eq!(groups[2].first, &reasons[2]);
    }

    #[test]
    fn reasons_of_stages_name_the_stages() {
        let few = |stage| {
            let finding = Finding::TooFewOperations { n: 1, needed: 100 };
            Reason { load_point: Some(0), stage, finding }
        };
        let reasons = [few(Some(1)), few(Some(2)), few(None)];
        let places: Vec<String> = reason_groups(&reasons).iter().map(ReasonGroup::place).collect();
        assert_eq!(places, ["stages 2 and 3, at 2", "load point 1"]);
    }

    #[test]
    fn load_points_in_a_row_are_written_in_short() {
        assert_eq!(
            [&[1, 2][..], &[1, 2, 3], &[1, 3, 4], &[7]].map(listed),
            ["1 and 2", "1 to 3", "1, 3 and 4", "7"]
        );
    }
}
