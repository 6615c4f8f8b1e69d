//! Turns, taken round by round, and their costs.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::figures::{Column, heads};

/// The name of Plimsoll among those who take turns.
pub(super) const OURS: &str = "plimsoll";

/// A program, or a way of doing the same, that takes turns with others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Contender {
    pub name: &'static str,
    /// A build of Plimsoll; of others `None`.
    pub program: Option<PathBuf>,
}

impl Contender {
    /// Returns a build of Plimsoll.
    pub(super) fn build(name: &'static str, program: &Path) -> Contender {
        Contender { name, program: Some(program.to_owned()) }
    }

    /// Returns another program.
    pub(super) fn peer(name: &'static str) -> Contender {
        Contender { name, program: None }
    }
}

/// The costs of a contender in a case, a value per round; `None` where it failed.
#[derive(Debug)]
pub(super) struct ContenderRounds<Costs> {
    /// The title of the case.
    pub case: &'static str,
    /// The name of the contender.
    pub contender: &'static str,
    pub rounds: Vec<Option<Costs>>,
}

impl<Costs> ContenderRounds<Costs> {
    /// Returns the title of a turn: that of the case, or the name of another program in it.
    fn title(&self) -> &'static str {
        if self.contender == OURS { self.case } else { self.contender }
    }
}

/// The costs of all turns, in the order of the cases and of the contenders in each.
#[derive(Debug)]
pub(super) struct MeasuredRounds<Costs>(pub Vec<ContenderRounds<Costs>>);

/// Takes turns round by round. A round takes the cases in their order or, every other time, in the opposite one; in
/// each case the contenders take their turns one after the other, in each round starting with another one.
///
/// `cases` has their titles and contenders, and `take` is given the index of one of them; its `None` is a turn that
/// failed. `text` returns what is printed of costs.
///
/// # Errors
/// The first that a turn returns, with the names of the case and the contender.
pub(super) fn in_rounds<Costs>(
    n_rounds: usize,
    cases: &[(&'static str, Vec<Contender>)],
    text: impl Fn(usize, &Costs) -> String,
    mut take: impl FnMut(usize, &Contender) -> Result<Option<Costs>>,
) -> Result<MeasuredRounds<Costs>> {
    let names = cases.iter().flat_map(|(case, all)| all.iter().map(|contender| (*case, contender.name)));
    let empty = |(case, contender)| ContenderRounds { case, contender, rounds: Vec::new() };
    let mut measured = MeasuredRounds(names.map(empty).collect());
    let n_contenders: Vec<usize> = cases.iter().map(|(_, contenders)| contenders.len()).collect();
    for round in 0..n_rounds {
        for (index, contender) in order(round, &n_contenders) {
            let (case, contenders) = &cases[index];
            let contender = &contenders[contender];
            let costs = take(index, contender).with_context(|| format!("{case}: {}", contender.name))?;
            let text = costs.as_ref().map_or("failed".to_owned(), |costs| text(index, costs));
            println!("round {}: {case}: {}: {text}", round + 1, contender.name);
            measured.add(case, contender.name, costs);
        }
    }
    Ok(measured)
}

/// Returns the turns of a round: indices of a case, and of a contender in it.
fn order(round: usize, n_contenders: &[usize]) -> Vec<(usize, usize)> {
    let mut cases: Vec<usize> = (0..n_contenders.len()).collect();
    if round % 2 == 1 {
        cases.reverse();
    }
    let turns = |case: usize| {
        let n = n_contenders[case];
        (0..n).map(move |step| (case, (round + step) % n))
    };
    cases.into_iter().flat_map(turns).collect()
}

impl<Costs> MeasuredRounds<Costs> {
    fn add(&mut self, case: &str, contender: &str, costs: Option<Costs>) {
        let is_same = |one: &&mut ContenderRounds<Costs>| one.case == case && one.contender == contender;
        if let Some(found) = self.0.iter_mut().find(is_same) {
            found.rounds.push(costs);
        }
    }

    /// Returns the costs of a contender in a case, by round; empty if it has taken no turn.
    pub(super) fn of(&self, case: &str, contender: &str) -> &[Option<Costs>] {
        let found = self.0.iter().find(|one| one.case == case && one.contender == contender);
        found.map_or(&[], |found| found.rounds.as_slice())
    }

    /// Returns the costs of Plimsoll in a case, by round.
    pub(super) fn ours(&self, case: &str) -> &[Option<Costs>] {
        self.of(case, OURS)
    }

    /// Returns the contenders of a case.
    pub(super) fn in_case<'a>(&'a self, case: &'a str) -> impl Iterator<Item = &'a ContenderRounds<Costs>> {
        self.0.iter().filter(move |one| one.case == case)
    }

    /// Returns the table of all turns, round by round; empty if none was taken.
    pub(super) fn details(&self, columns: &[Column<Costs>]) -> String {
        let n_rounds = self.0.iter().map(|one| one.rounds.len()).max().unwrap_or(0);
        let (titles, rule) = heads(columns);
        let mut text = String::new();
        for n in 0..n_rounds {
            for one in &self.0 {
                let Some(Some(costs)) = one.rounds.get(n) else { continue };
                let cells: String =
                    columns.iter().map(|column| format!(" {} |", column.cell(costs))).collect();
                text += &format!("| {} | {} |{cells}\n", n + 1, one.title());
            }
        }
        if text.is_empty() { text } else { format!("| round | turn |{titles}\n|---:|---|{rule}\n{text}") }
    }
}

#[cfg(test)]
impl<Costs: Clone> MeasuredRounds<Costs> {
    /// Returns costs by case, contender and round.
    pub(super) fn by_hand(all: &[(&'static str, &'static str, &[Costs])]) -> MeasuredRounds<Costs> {
        let rounds = |(case, contender, costs): &(&'static str, &'static str, &[Costs])| ContenderRounds {
            case,
            contender,
            rounds: costs.iter().cloned().map(Some).collect(),
        };
        MeasuredRounds(all.iter().map(rounds).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: a case of two contenders, and one of three.
    #[test]
    fn every_round_starts_with_others() {
        assert_eq!(order(0, &[2, 3]), [(0, 0), (0, 1), (1, 0), (1, 1), (1, 2)]);
        assert_eq!(order(1, &[2, 3]), [(1, 1), (1, 2), (1, 0), (0, 1), (0, 0)]);
        assert_eq!(order(2, &[2, 3]), [(0, 0), (0, 1), (1, 2), (1, 0), (1, 1)]);
    }

    #[test]
    fn costs_are_kept_by_round_whatever_the_order_and_failures_have_none() {
        let contenders = vec![Contender::build(OURS, Path::new("plimsoll")), Contender::peer("wrk")];
        let mut n_turns = 0;
        let take = |case: usize, contender: &Contender| {
            n_turns += 1;
            Ok((n_turns != 3).then_some(if contender.program.is_some() { case } else { n_turns }))
        };
        let cases = [("mix", contenders.clone()), ("small", contenders)];
        let measured = in_rounds(2, &cases, |_, costs| costs.to_string(), take).unwrap();
        // The second round: small by wrk (5), small by Plimsoll, mix by wrk (7), mix by Plimsoll.
        assert_eq!(measured.ours("mix"), [Some(0), Some(0)]);
        assert_eq!(measured.of("mix", "wrk"), [Some(2), Some(7)]);
        assert_eq!(measured.ours("small"), [None, Some(1)]);
        assert_eq!(measured.of("small", "wrk"), [Some(4), Some(5)]);
        assert!(measured.of("small", "h2load").is_empty());
        let text = measured.details(&[Column::new("costs", 1, |costs: &usize| *costs as f64)]);
        let head = "| round | turn | costs |\n|---:|---|---:|\n| 1 | mix | 0.0 |\n| 1 | wrk | 2.0 |\n";
        assert!(text.starts_with(head), "{text}");
    }

    #[test]
    fn an_error_says_whose_turn_it_was() {
        let take = |_: usize, _: &Contender| anyhow::bail!("no route");
        let cases = [("mix", vec![Contender::peer("wrk")])];
        let error = in_rounds(1, &cases, |_, costs: &u32| costs.to_string(), take).unwrap_err();
        assert_eq!(format!("{error:#}"), "mix: wrk: no route");
    }
}
