//! A user with state in an open loop.

use model::{Mix, Step, User, UserReply};
use units::{Rng, StreamPurpose};

use crate::setup::PointSetup;

/// A virtual user whose operations are due on a schedule, whatever the user would do by itself.
pub(crate) struct ScheduledUser<U> {
    /// The number among all users of the load point.
    number: u32,
    user: U,
    rng: Rng,
}

impl<U: User> ScheduledUser<U> {
    /// Makes a user of a load point, by its number and with its random stream.
    pub(crate) fn new<M: Mix<User = U>>(mix: &M, number: u32, rng: Rng) -> ScheduledUser<U> {
        ScheduledUser { number, user: mix.user(number), rng }
    }

    /// Returns the next operation. Units are counted, pauses are skipped, and a user that leaves is followed by a new one
    /// with its number, because the schedule goes on.
    ///
    /// # Panics
    /// The new user leaves as well before it has performed anything: a mistake of the mix.
    pub(crate) fn next_operation<M: Mix<User = U>>(
        &mut self,
        mut last: Option<UserReply>,
        mix: &M,
        mut count_unit: impl FnMut(u16, bool),
    ) -> U::Operation {
        let mut is_new = false;
        loop {
            match self.user.next(last.take(), &mut self.rng) {
                Step::Perform(operation) => return operation,
                Step::Think { .. } => {}
                Step::Unit { kind, ok } => count_unit(kind, ok),
                // With one operation in flight there is none to await.
                Step::Await | Step::Leave => {
                    assert!(!is_new, "user {} leaves before its first operation", self.number);
                    (self.user, is_new) = (mix.user(self.number), true);
                }
            }
        }
    }
}

/// Returns the random stream of a user of a load point.
pub(crate) fn user_rng(setup: &PointSetup, user: u32) -> Rng {
    Rng::new(setup.seed, StreamPurpose::User, u64::from(setup.point.index) << 32 | u64::from(user))
}

#[cfg(test)]
mod tests {
    use model::{HasKind, Outcome};
    use units::Nanos;

    use super::*;

    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    struct Numbered(u32);

    impl HasKind for Numbered {
        fn kind(&self) -> u16 {
            0
        }
    }

    /// A user that performs two operations, each behind a pause and before a unit, and leaves.
    struct Visitor {
        number: u32,
        n_steps: usize,
    }

    impl User for Visitor {
        type Operation = Numbered;

        fn next(&mut self, last: Option<UserReply>, _: &mut Rng) -> Step<Numbered> {
            self.n_steps += 1;
            match self.n_steps {
                1 | 4 => Step::think(Nanos::from_secs(5)),
                2 | 5 => Step::Perform(Numbered(self.number)),
                3 | 6 => Step::Unit { kind: 0, ok: last.is_some_and(|last| last.outcome == Outcome::Ok) },
                _ => Step::Leave,
            }
        }
    }

    /// Visitors who leave at once, if `are_absent`.
    struct Visitors {
        are_absent: bool,
    }

    impl Mix for Visitors {
        type Operation = Numbered;
        type User = Visitor;

        fn user(&self, user: u32) -> Visitor {
            Visitor { number: user, n_steps: if self.are_absent { 6 } else { 0 } }
        }

        fn has_user_state(&self) -> bool {
            true
        }

        fn scheduled(&self, _: u64) -> Numbered {
            unreachable!("users have state")
        }

        fn n_kinds(&self) -> usize {
            1
        }

        fn n_units(&self) -> usize {
            1
        }
    }

    fn visitor(visitors: &Visitors) -> ScheduledUser<Visitor> {
        ScheduledUser::new(visitors, 3, Rng::new(1, StreamPurpose::User, 3))
    }

    /// By hand: of five operations the answers come to the first four units, two per visitor.
    #[test]
    fn a_schedule_goes_on_when_users_leave_and_does_not_wait_for_their_pauses() {
        let visitors = Visitors { are_absent: false };
        let mut user = visitor(&visitors);
        let mut units = Vec::new();
        let mut last = None;
        for outcome in [Outcome::Ok, Outcome::Reset, Outcome::Ok, Outcome::Ok, Outcome::Ok] {
            let operation = user.next_operation(last, &visitors, |kind, ok| units.push((kind, ok)));
            assert_eq!(operation, Numbered(3));
            last = Some(UserReply::of(outcome));
        }
        assert_eq!(units, [(0, true), (0, false), (0, true), (0, true)]);
    }

    #[test]
    #[should_panic(expected = "user 3 leaves before its first operation")]
    fn users_who_only_leave_are_a_mistake() {
        let visitors = Visitors { are_absent: true };
        visitor(&visitors).next_operation(None, &visitors, |_, _| {});
    }
}
