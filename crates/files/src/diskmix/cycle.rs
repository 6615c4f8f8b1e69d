//! The order of the transactions of a cycle.
//!
//! | phase | what is next | then |
//! |---|---|---|
//! | slot | one of the cards of the slot's application that can be played | when none is left: gap, or clean-up |
//! | gap | a bulk transaction on each of the three files, writing and reading in turns | the next slot |
//! | clean-up | the deletion of a created file | when none is left, the cycle ends |
//!
//! Before each of them: a brief file is deleted, unless a few single operations come first; a file that was filled is
//! filled again, once in a cycle; a lasting file that is due is deleted. A card that cannot be played, because there
//! is no file to rename or to fill, waits, if need be for the next slot.

use units::{Rng, Weights};

use super::created::{CreatedFile, LastingFiles};
use super::tables::{BRIEF_SINGLES_MAX, BULK_ROUNDS, BULK_WRITES, CARDS, CREATED_FILES, Card, n_cards};
use crate::ApplicationFolder;

/// The number of slots, one of each application.
const SLOTS: usize = ApplicationFolder::ALL.len();

/// A transaction with the file that it is about, where the order decides that.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Task {
    /// A transaction on files of the population.
    Populated(Card),
    /// A file is created, in one of three ways.
    Create(Card, CreatedFile),
    /// A created file is filled.
    Fill(CreatedFile),
    /// A created file is filled again.
    Refill(CreatedFile),
    /// A created file gets its other name.
    Rename(CreatedFile),
    /// A bulk file is written.
    BulkWrite(usize),
    /// A bulk file is read.
    BulkRead(usize),
    /// A created file is deleted.
    Delete(CreatedFile),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Slot,
    /// The next bulk file.
    Gap(usize),
    CleanUp,
}

/// The order of a cycle, as far as it has come.
#[derive(Debug, Clone)]
pub(super) struct Cycle {
    phase: Phase,
    /// The applications in the order of their slots.
    applications: [ApplicationFolder; SLOTS],
    /// The position in that order; behind the last one in the clean-up.
    slot: usize,
    /// The cards that are left, by slot and in the order of [`CARDS`].
    cards: [[u16; CARDS.len()]; SLOTS],
    /// A card that was drawn, and comes after the deletion of a brief file.
    held: Option<Card>,
    next_number: u32,
    /// A brief file, and how many single operations may come before its deletion.
    brief: Option<(CreatedFile, u64)>,
    lasting: LastingFiles,
    n_renames_left: u16,
    /// The fills before the one that is repeated; `None` after it.
    n_fills_before: Option<u64>,
    refill: Option<CreatedFile>,
}

impl Cycle {
    /// Makes the cycle of this number.
    pub(super) fn new(number: u32, rng: &mut Rng) -> Cycle {
        let mut applications = ApplicationFolder::ALL;
        rng.shuffle(&mut applications);
        Cycle {
            phase: Phase::Slot,
            cards: dealt(&applications, rng),
            applications,
            slot: 0,
            held: None,
            next_number: number.wrapping_mul(CREATED_FILES),
            brief: None,
            lasting: LastingFiles::default(),
            n_renames_left: n_cards(Card::Rename),
            n_fills_before: Some(rng.below(u64::from(n_cards(Card::Fill)))),
            refill: None,
        }
    }

    /// Returns the application of the slot.
    pub(super) fn application(&self) -> ApplicationFolder {
        self.applications[self.slot.min(SLOTS - 1)]
    }

    /// Returns the next transaction, when the cycle has had so many operations; `None` at its end.
    pub(super) fn next(&mut self, n_operations: u32, rng: &mut Rng) -> Option<Task> {
        loop {
            if let Some(task) = self.due(n_operations, rng) {
                return Some(task);
            }
            match self.phase {
                Phase::Slot => match self.held.take().or_else(|| self.draw(rng)) {
                    Some(card) => {
                        if let Some(task) = self.play(card, rng) {
                            return Some(task);
                        }
                    }
                    None => self.leave_slot(),
                },
                Phase::Gap(file) if file < BULK_WRITES.len() => {
                    self.phase = Phase::Gap(file + 1);
                    let writes = BULK_ROUNDS[self.slot - 1];
                    return Some(if writes { Task::BulkWrite(file) } else { Task::BulkRead(file) });
                }
                Phase::Gap(_) => self.phase = Phase::Slot,
                Phase::CleanUp => return self.lasting.take_any().map(Task::Delete),
            }
        }
    }

    /// Notes that a transaction has ended, when the cycle has had so many operations: all of its own were performed,
    /// or the one of this index failed.
    pub(super) fn finished(&mut self, task: Task, failed: Option<usize>, n_operations: u32, rng: &mut Rng) {
        match task {
            // The first operation creates it; those after it only write to it.
            Task::Create(card, file) if failed != Some(0) => self.created(card, file, n_operations, rng),
            Task::Rename(file) if failed.is_none() => self.lasting.rename(file.number),
            Task::Create(..)
            | Task::Rename(_)
            | Task::Populated(_)
            | Task::Fill(_)
            | Task::Refill(_)
            | Task::BulkWrite(_)
            | Task::BulkRead(_)
            | Task::Delete(_) => {}
        }
    }

    fn created(&mut self, card: Card, file: CreatedFile, n_operations: u32, rng: &mut Rng) {
        if card == Card::CreateBrief {
            self.brief = Some((file, rng.below(BRIEF_SINGLES_MAX + 1)));
        } else {
            self.lasting.add(file, card == Card::CreateLasting, n_operations);
        }
    }

    /// Returns what comes before the next card.
    fn due(&mut self, n_operations: u32, rng: &mut Rng) -> Option<Task> {
        if let Some((file, n_singles)) = self.brief {
            if self.phase == Phase::Slot && 0 < n_singles {
                self.held = self.held.or_else(|| self.draw(rng));
                if let Some(single) = self.held.filter(|card| card.is_single()) {
                    self.brief = Some((file, n_singles - 1));
                    self.held = None;
                    return self.play(single, rng);
                }
            }
            self.brief = None;
            return Some(Task::Delete(file));
        }
        if let Some(file) = self.refill.take() {
            return Some(Task::Refill(file));
        }
        self.lasting.take_due(n_operations, 0 < self.n_renames_left).map(Task::Delete)
    }

    /// Draws one of the slot's cards that can be played.
    fn draw(&mut self, rng: &mut Rng) -> Option<Card> {
        let counts = self.cards[self.slot];
        let playable: [u64; CARDS.len()] =
            std::array::from_fn(|index| if self.can_play(CARDS[index].0) { counts[index].into() } else { 0 });
        let mut point = rng.below(playable.iter().sum());
        for (index, count) in playable.into_iter().enumerate() {
            if point < count {
                self.cards[self.slot][index] -= 1;
                return Some(CARDS[index].0);
            }
            point -= count;
        }
        None
    }

    fn can_play(&self, card: Card) -> bool {
        match card {
            Card::Rename => !self.lasting.is_empty(),
            Card::Fill => self.lasting.has_one_to_fill(),
            _ => true,
        }
    }

    /// Makes a transaction of a card. `None` if the file that it needs is gone, which only a failed operation can
    /// cause.
    fn play(&mut self, card: Card, rng: &mut Rng) -> Option<Task> {
        match card {
            Card::CreateBrief | Card::CreateLasting | Card::SaveNew => {
                let file = CreatedFile::new(self.next_number);
                self.next_number = self.next_number.wrapping_add(1);
                Some(Task::Create(card, file))
            }
            Card::Rename => {
                self.n_renames_left -= 1;
                self.lasting.choose(rng).map(Task::Rename)
            }
            Card::Fill => {
                let file = self.lasting.fill()?;
                if self.n_fills_before == Some(0) {
                    self.refill = Some(file);
                }
                self.n_fills_before = self.n_fills_before.and_then(|n_fills| n_fills.checked_sub(1));
                Some(Task::Fill(file))
            }
            Card::ReadDocument
            | Card::Touch
            | Card::Update
            | Card::SetTimes
            | Card::ProbeOpen
            | Card::StatHit
            | Card::StatMiss
            | Card::SearchMiss
            | Card::List
            | Card::VolumeSize => Some(Task::Populated(card)),
        }
    }

    /// Leaves a slot of which no card can be played. Those that wait for a file go to the next one.
    fn leave_slot(&mut self) {
        let waiting = self.cards[self.slot];
        self.slot += 1;
        let Some(next) = self.cards.get_mut(self.slot) else {
            self.phase = Phase::CleanUp;
            self.n_renames_left = 0;
            return;
        };
        for (count, waits) in next.iter_mut().zip(waiting) {
            *count += waits;
        }
        self.phase = Phase::Gap(0);
    }
}

/// Deals the cards of a cycle to the slots, each to an application by its share.
fn dealt(applications: &[ApplicationFolder; SLOTS], rng: &mut Rng) -> [[u16; CARDS.len()]; SLOTS] {
    let shares = Weights::new(applications.iter().map(|application| application.weight()));
    let shares = shares.expect("every application has operations");
    let mut cards = [[0; CARDS.len()]; SLOTS];
    for (index, (_, count)) in CARDS.iter().enumerate() {
        for _ in 0..*count {
            cards[rng.weighted(&shares)][index] += 1;
        }
    }
    cards
}

#[cfg(test)]
mod tests {
    use units::StreamPurpose;

    use super::*;

    /// The transactions of a cycle on a server where all succeed, or all of one kind fail at their first operation.
    /// Each counts as three operations.
    fn tasks(number: u32, fails: fn(&Task) -> bool) -> Vec<Task> {
        let mut rng = Rng::new(number.into(), StreamPurpose::Cycle, 0);
        let mut cycle = Cycle::new(number, &mut rng);
        let mut tasks = Vec::new();
        while let Some(task) = cycle.next(3 * tasks.len() as u32, &mut rng) {
            tasks.push(task);
            let failed = fails(&task).then_some(0);
            cycle.finished(task, failed, 3 * tasks.len() as u32, &mut rng);
        }
        tasks
    }

    /// Sum of the cards, 1,316, and what follows rules of its own: a refill, 12 + 9 bulk transactions, 124 deletions.
    #[test]
    fn a_cycle_has_the_transactions_of_the_specification() {
        for number in 0..200 {
            let tasks = tasks(number, |_| false);
            let count = |is_it: fn(&Task) -> bool| tasks.iter().filter(|task| is_it(task)).count();
            assert_eq!(tasks.len(), 1316 + 1 + 21 + 124);
            assert_eq!(count(|task| matches!(task, Task::Create(..))), 124);
            assert_eq!(count(|task| matches!(task, Task::Delete(_))), 124);
            assert_eq!(count(|task| matches!(task, Task::Rename(_))), 26);
            assert_eq!(count(|task| matches!(task, Task::Fill(_))), 18);
            assert_eq!(count(|task| matches!(task, Task::Refill(_))), 1);
            assert_eq!(count(|task| matches!(task, Task::BulkWrite(_))), 12);
            assert_eq!(count(|task| matches!(task, Task::BulkRead(_))), 9);
            assert_eq!(count(|task| *task == Task::Populated(Card::ReadDocument)), 158);
        }
    }

    #[test]
    fn bulk_rounds_are_in_the_gaps_and_take_turns() {
        let bulk: Vec<(bool, usize)> = tasks(1, |_| false)
            .into_iter()
            .filter_map(|task| match task {
                Task::BulkWrite(file) => Some((true, file)),
                Task::BulkRead(file) => Some((false, file)),
                _ => None,
            })
            .collect();
        let expected: Vec<_> =
            BULK_ROUNDS.into_iter().flat_map(|writes| (0..3).map(move |file| (writes, file))).collect();
        assert_eq!(bulk, expected);
    }

    #[test]
    fn a_brief_file_is_deleted_after_a_few_single_operations() {
        for number in 0..50 {
            let tasks = tasks(number, |_| false);
            for (at, task) in tasks.iter().enumerate() {
                if let Task::Create(Card::CreateBrief, file) = task {
                    let rest = &tasks[at + 1..];
                    let between = rest.iter().take_while(|next| **next != Task::Delete(*file));
                    let is_single = |next: &Task| matches!(next, Task::Populated(card) if card.is_single());
                    assert!(between.clone().all(is_single) && between.count() <= 6);
                }
            }
        }
    }

    /// Nothing is renamed, filled or deleted that could not be created.
    #[test]
    fn what_could_not_be_created_is_not_used() {
        let tasks = tasks(1, |task| matches!(task, Task::Create(..)));
        assert!(
            !tasks.iter().any(|task| matches!(
                task,
                Task::Rename(_) | Task::Fill(_) | Task::Refill(_) | Task::Delete(_)
            ))
        );
        assert_eq!(tasks.iter().filter(|task| matches!(task, Task::Create(..))).count(), 124);
    }

    #[test]
    fn the_order_of_applications_differs() {
        let order = |seed| Cycle::new(0, &mut Rng::new(seed, StreamPurpose::Cycle, 0)).applications;
        assert!((1..20).filter(|seed| order(*seed) != order(0)).count() >= 18);
    }
}
