//! Runs that take turns, from plans to run files.

use std::sync::atomic::{AtomicBool, Ordering};

use model::RunEnding;

use crate::disk_use::DiskUse;
use crate::error::FleetError;
use crate::event::{Event, Observer};
use crate::laboratory::Laboratory;
use crate::local::LocalLab;
use crate::request::RunRequest;
use crate::run_load::RunLoad;
use crate::session::{RunSession, interrupted};
use crate::turns::TurnOrder;
use crate::verify::VerifyError;

/// Runs one plan, or several that take turns in this order: every load point is run with each of them before the next one,
/// so that what changes on the machine concerns all alike. Returns how each run ended; its
/// run file holds everything else.
///
/// A run that fails does not end the others, nor does one that is refused because the disk has no room for its files beside
/// theirs. If it failed before its first load point, there is no run file; else there
/// is one that says the reason too, as far as it could still be written. `stop` ends all of them early when set; what
/// was recorded stays.
pub fn run<O: Observer + Send>(
    requests: &[RunRequest<'_>],
    order: TurnOrder,
    observer: &mut O,
    stop: &AtomicBool,
) -> Vec<Result<RunEnding, FleetError>> {
    run_in(requests, order, observer, stop, |request, observer, stop| {
        LocalLab::start(request, observer, stop, |plan, clock| RunLoad::of(request, plan, clock))
    })
}

/// Does the same in laboratories that `start` makes, one for each run.
pub(crate) fn run_in<L: Laboratory, O: Observer + Send>(
    requests: &[RunRequest<'_>],
    order: TurnOrder,
    observer: &mut O,
    stop: &AtomicBool,
    mut start: impl FnMut(&RunRequest<'_>, &mut O, &AtomicBool) -> Result<L, FleetError>,
) -> Vec<Result<RunEnding, FleetError>> {
    let takes_turns = 1 < requests.len();
    let mut turns: Vec<InterleavedRun<L>> = Vec::new();
    for (index, request) in requests.iter().enumerate() {
        if stop.load(Ordering::Relaxed) {
            // Those that were brought up end with nothing measured; the others need not begin.
            turns.push(InterleavedRun::Ended(Err(VerifyError::Interrupted.into())));
            continue;
        }
        observer.event(Event::Turn(index));
        let session = start(request, observer, stop).and_then(|lab| {
            require_room(&lab, &turns)?;
            RunSession::open(lab, request, observer, stop)
        });
        turns.push(match session {
            Ok(mut session) => {
                if takes_turns {
                    session.rest();
                }
                InterleavedRun::Running(Box::new(session))
            }
            Err(error) => InterleavedRun::Ended(Err(error)),
        });
    }
    for round in 0.. {
        let mut has_run = false;
        for index in order.turns(round, turns.len()) {
            let InterleavedRun::Running(session) = &mut turns[index] else { continue };
            let Some(point) = session.next_point() else { continue };
            has_run = true;
            observer.event(Event::Turn(index));
            let result = session.load_point(point, observer, stop);
            if takes_turns {
                session.rest();
            }
            let turn = std::mem::replace(&mut turns[index], InterleavedRun::Ended(Ok(interrupted())));
            turns[index] = turn.after(result);
        }
        if !has_run {
            break;
        }
    }
    turns.into_iter().map(InterleavedRun::end).collect()
}

/// Checks that the disk has room for the files of a run beside those of the runs before it.
fn require_room<L: Laboratory>(lab: &L, before: &[InterleavedRun<L>]) -> Result<(), FleetError> {
    let others = before.iter().filter_map(InterleavedRun::disk_use);
    lab.disk_use().map_or(Ok(()), |files| files.require_room(others))
}

/// One of several runs that take turns.
enum InterleavedRun<L> {
    Running(Box<RunSession<L>>),
    Ended(Result<RunEnding, FleetError>),
}

impl<L: Laboratory> InterleavedRun<L> {
    /// Returns the files of a run that goes on.
    fn disk_use(&self) -> Option<&DiskUse> {
        match self {
            InterleavedRun::Running(session) => session.disk_use(),
            InterleavedRun::Ended(_) => None,
        }
    }

    /// Goes on after a load point with this result.
    fn after(self, result: Result<bool, FleetError>) -> InterleavedRun<L> {
        match (self, result) {
            (InterleavedRun::Running(session), Ok(false)) => {
                InterleavedRun::Ended(session.close(Ok(interrupted())))
            }
            (InterleavedRun::Running(session), Err(error)) => {
                InterleavedRun::Ended(session.close(Err(error)))
            }
            (turn, _) => turn,
        }
    }

    fn end(self) -> Result<RunEnding, FleetError> {
        match self {
            InterleavedRun::Running(session) => session.close(Ok(RunEnding::Complete)),
            InterleavedRun::Ended(result) => result,
        }
    }
}
