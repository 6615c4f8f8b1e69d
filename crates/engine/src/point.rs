//! One slice of one load point, from start to end.

use std::rc::Rc;

use model::{Load, Mix, Phase, Phases, Schedule};
use units::{Clock, Nanos, Purpose, Rng};

use crate::closed::{self, Stay};
use crate::core::{Core, Sink, Spawn};
use crate::dispatcher::Dispatcher;
use crate::driver::Driver;
use crate::open;
use crate::recorder::Recorder;
use crate::setup::{Machinery, PointSetup, Stop};

/// The period at which the thread looks for ended intervals, passed time limits and a request to stop.
const TICK: Nanos = Nanos::from_millis(50);

/// The period at which the thread looks for the end of a drain.
const DRAIN_TICK: Nanos = Nanos::from_millis(2);

/// Runs one slice of one load point. Tasks that are left over at its end are for the caller to drop.
pub async fn run_point<C, S, D, M>(
    setup: &PointSetup,
    machinery: Machinery<C, S>,
    mix: Rc<M>,
    driver: impl FnMut() -> D,
    sink: &mut impl Sink,
    stop: &impl Stop,
) where
    C: Clock + 'static,
    S: Spawn,
    D: Driver + 'static,
    M: Mix<Operation = D::Operation> + 'static,
{
    let Machinery { clock, timers, spawn, probe } = machinery;
    let mut recorder = Recorder::new(setup, mix.n_kinds(), mix.n_units(), probe);
    let schedule = schedule_of(setup);
    if let Some(schedule) = &schedule {
        recorder.follow(schedule.clone(), &setup.assignment);
    }
    let core = Core::new(clock, timers, recorder, setup);
    let dispatcher = schedule.map(|schedule| Dispatcher::new(&schedule, &setup.assignment));
    match &dispatcher {
        None => start_users(&core, setup, &*mix, driver, &spawn),
        Some(dispatcher) => {
            spawn.spawn(Rc::clone(dispatcher).pace(Rc::clone(&core)));
            start_places(&core, setup, dispatcher, &mix, driver, &spawn);
        }
    }
    let waits = || dispatcher.as_ref().is_some_and(|dispatcher| dispatcher.has_waiting());
    if attend(&core, &setup.phases, sink, stop).await == Attended::ToTheEnd {
        drain(&core, &setup.phases, waits, sink).await;
    }
    hand_over(&core, sink);
}

fn schedule_of(setup: &PointSetup) -> Option<Schedule> {
    match setup.point.load {
        Load::Users(_) => None,
        Load::Rate { per_second, arrivals, .. } => {
            Some(Schedule::new(per_second, arrivals, &setup.phases, setup.seed, setup.point.index))
        }
    }
}

fn start_users<C, D, M>(
    core: &Rc<Core<C>>,
    setup: &PointSetup,
    mix: &M,
    mut driver: impl FnMut() -> D,
    spawn: &impl Spawn,
) where
    C: Clock + 'static,
    D: Driver + 'static,
    M: Mix<Operation = D::Operation>,
    M::User: 'static,
{
    for user in setup.assignment.users.clone() {
        let stream = u64::from(setup.point.index) << 32 | u64::from(user);
        let rng = Rng::new(setup.seed, Purpose::User, stream);
        spawn.spawn(closed::user(Rc::clone(core), driver(), mix.user(), rng, stay_of(user, setup)));
    }
}

/// Returns when a user comes and goes: users are spread evenly over the ramps.
fn stay_of(user: u32, setup: &PointSetup) -> Stay {
    let users = u128::from(setup.point.load.in_flight_max());
    let part = |length: Nanos| Nanos((u128::from(length.0) * u128::from(user) / users) as u64);
    let leave = setup.phases.start_of(Phase::RampDown);
    Stay {
        from: setup.origin + part(setup.phases.ramp_up),
        until: setup.origin + leave + part(setup.phases.ramp_down),
    }
}

fn start_places<C, D, M>(
    core: &Rc<Core<C>>,
    setup: &PointSetup,
    dispatcher: &Rc<Dispatcher>,
    mix: &Rc<M>,
    mut driver: impl FnMut() -> D,
    spawn: &impl Spawn,
) where
    C: Clock + 'static,
    D: Driver + 'static,
    M: Mix<Operation = D::Operation> + 'static,
{
    for _ in setup.assignment.users.clone() {
        let (core, dispatcher, mix) = (Rc::clone(core), Rc::clone(dispatcher), Rc::clone(mix));
        spawn.spawn(open::place(core, dispatcher, driver(), mix));
    }
}

/// The ending of the time in which operations are started.
#[derive(PartialEq, Eq)]
enum Attended {
    ToTheEnd,
    UntilAskedToStop,
}

/// Hands over intervals until operations are no longer started.
async fn attend<C: Clock>(
    core: &Core<C>,
    phases: &Phases,
    sink: &mut impl Sink,
    stop: &impl Stop,
) -> Attended {
    let end = core.origin + phases.issuing();
    loop {
        let now = core.clock.now();
        core.time_limits.sweep(now);
        core.recorder.borrow_mut().roll(now.min(end));
        hand_over(core, sink);
        if end <= now {
            return Attended::ToTheEnd;
        }
        if stop.is_asked() {
            core.recorder.borrow_mut().finish(now, true);
            return Attended::UntilAskedToStop;
        }
        let next_second = Nanos((now.saturating_sub(core.origin).0 / 1_000_000_000 + 1) * 1_000_000_000);
        let tick = TICK.min(core.time_limit);
        core.timers.sleep_until((now + tick).min(core.origin + next_second).min(end)).await;
    }
}

/// Lets operations in flight finish, as long as the plan allows.
async fn drain<C: Clock>(core: &Core<C>, phases: &Phases, waits: impl Fn() -> bool, sink: &mut impl Sink) {
    let begin = core.origin + phases.issuing();
    let end = core.origin + phases.end_of(Phase::Drain);
    if begin == end {
        return core.recorder.borrow_mut().finish(begin, false);
    }
    loop {
        let now = core.clock.now().min(end);
        core.time_limits.sweep(now);
        core.recorder.borrow_mut().roll(now);
        hand_over(core, sink);
        let is_done = core.recorder.borrow().in_flight() == 0 && !waits();
        if is_done || end <= now {
            return core.recorder.borrow_mut().finish(now.max(begin), true);
        }
        core.timers.sleep_until((now + DRAIN_TICK).min(end)).await;
    }
}

fn hand_over<C: Clock>(core: &Core<C>, sink: &mut impl Sink) {
    let mut recorder = core.recorder.borrow_mut();
    for record in recorder.take_finished() {
        sink.interval(record);
    }
    while let Some(spare) = sink.spare() {
        recorder.reuse(spare);
    }
    for example in core.examples.borrow_mut().drain(..) {
        sink.example(example);
    }
}
