//! Runs that take turns, from plans to run files.

use std::sync::atomic::{AtomicBool, Ordering};

use model::Ending;

use crate::disk_use::DiskUse;
use crate::error::FleetError;
use crate::event::{Event, Observer};
use crate::laboratory::Laboratory;
use crate::load::LoadThreads;
use crate::local::LocalLab;
use crate::request::RunRequest;
use crate::session::{Session, interrupted};
use crate::verify::VerifyError;

/// Runs one plan, or several that take turns: every load point is run with each of them before the next one, beginning
/// with another one each time, so that what changes on the machine concerns all alike. Returns how each run ended; its
/// run file holds everything else.
///
/// A run that fails does not end the others, nor does one that is refused because the disk has no room for its files beside
/// theirs. If it failed before its first load point, there is no run file; else there
/// is one that says the reason too, as far as it could still be written. `stop` ends all of them early when set; what
/// was recorded stays.
pub fn run<O: Observer + Send>(
    requests: &[RunRequest<'_>],
    observer: &mut O,
    stop: &AtomicBool,
) -> Vec<Result<Ending, FleetError>> {
    run_in(requests, observer, stop, |request, observer, stop| {
        LocalLab::start(request, observer, stop, LoadThreads::new)
    })
}

/// Does the same in laboratories that `start` makes, one for each run.
pub(crate) fn run_in<L: Laboratory, O: Observer + Send>(
    requests: &[RunRequest<'_>],
    observer: &mut O,
    stop: &AtomicBool,
    mut start: impl FnMut(&RunRequest<'_>, &mut O, &AtomicBool) -> Result<L, FleetError>,
) -> Vec<Result<Ending, FleetError>> {
    let takes_turns = 1 < requests.len();
    let mut turns: Vec<Turn<L>> = Vec::new();
    for (index, request) in requests.iter().enumerate() {
        if stop.load(Ordering::Relaxed) {
            // Those that were brought up end with nothing measured; the others need not begin.
            turns.push(Turn::Ended(Err(VerifyError::Interrupted.into())));
            continue;
        }
        observer.event(Event::Turn(index));
        let session = start(request, observer, stop).and_then(|lab| {
            require_room(&lab, &turns)?;
            Session::open(lab, request, observer, stop)
        });
        turns.push(match session {
            Ok(mut session) => {
                if takes_turns {
                    session.rest();
                }
                Turn::Running(Box::new(session))
            }
            Err(error) => Turn::Ended(Err(error)),
        });
    }
    for round in 0.. {
        let mut has_run = false;
        for step in 0..turns.len() {
            let index = (round + step) % turns.len();
            let Turn::Running(session) = &mut turns[index] else { continue };
            let Some(point) = session.next_point() else { continue };
            has_run = true;
            observer.event(Event::Turn(index));
            let result = session.load_point(point, observer, stop);
            if takes_turns {
                session.rest();
            }
            let turn = std::mem::replace(&mut turns[index], Turn::Ended(Ok(interrupted())));
            turns[index] = turn.after(result);
        }
        if !has_run {
            break;
        }
    }
    turns.into_iter().map(Turn::end).collect()
}

/// Checks that the disk has room for the files of a run beside those of the runs before it.
fn require_room<L: Laboratory>(lab: &L, before: &[Turn<L>]) -> Result<(), FleetError> {
    let others = before.iter().filter_map(Turn::disk_use);
    lab.disk_use().map_or(Ok(()), |files| files.require_room(others))
}

/// One of several runs that take turns.
enum Turn<L> {
    Running(Box<Session<L>>),
    Ended(Result<Ending, FleetError>),
}

impl<L: Laboratory> Turn<L> {
    /// Returns the files of a run that goes on.
    fn disk_use(&self) -> Option<&DiskUse> {
        match self {
            Turn::Running(session) => session.disk_use(),
            Turn::Ended(_) => None,
        }
    }

    /// Goes on after a load point with this result.
    fn after(self, result: Result<bool, FleetError>) -> Turn<L> {
        match (self, result) {
            (Turn::Running(session), Ok(false)) => Turn::Ended(session.close(Ok(interrupted()))),
            (Turn::Running(session), Err(error)) => Turn::Ended(session.close(Err(error))),
            (turn, _) => turn,
        }
    }

    fn end(self) -> Result<Ending, FleetError> {
        match self {
            Turn::Running(session) => session.close(Ok(Ending::Complete)),
            Turn::Ended(result) => result,
        }
    }
}
