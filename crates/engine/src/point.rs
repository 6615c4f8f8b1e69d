//! A thread's share of one load point, from start to end.

use std::rc::Rc;

use model::{Mix, Phase};
use units::{Clock, Nanos};

use crate::closed;
use crate::dispatcher::Dispatcher;
use crate::driver::Driver;
use crate::examples::Examples;
use crate::lifetime::Lifetime;
use crate::open;
use crate::point_context::{PointContext, RecordSink, Spawn, UserContext};
use crate::recorder::Recorder;
use crate::scheduled_user::{ScheduledUser, user_rng};
use crate::session::{OpenedSessions, open_sessions};
use crate::setup::{PointSetup, PointStart, Runtime};
use crate::stop_request::StopRequest;
use crate::window;

/// The period at which the thread looks for ended intervals, passed time limits and a request to stop.
pub(crate) const TICK: Nanos = Nanos::from_millis(50);

/// The period at which the thread looks for the end of a drain.
pub(crate) const DRAIN_TICK: Nanos = Nanos::from_millis(2);

/// Runs a thread's share of one load point, with the drivers that `driver` makes for its users by their numbers (in an
/// open loop for its slots for operations in flight): opens the sessions of all users, unless those of an open loop are
/// opened when they are needed, waits for the `start`, and then has them perform operations. The caller drops the tasks
/// that are left at its end.
pub async fn run_point<C, S, D, M>(
    setup: &PointSetup,
    runtime: Runtime<C, S>,
    mix: Rc<M>,
    driver: impl FnMut(u32) -> D,
    start: impl PointStart,
    sink: &mut impl RecordSink,
    stop: &impl StopRequest,
) where
    C: Clock + 'static,
    S: Spawn,
    D: Driver + 'static,
    M: Mix<Operation = D::Operation> + 'static,
{
    let Runtime { clock, timers, spawn, probe } = runtime;
    let users = setup.assignment.users.clone();
    let mut drivers: Vec<D> = users.clone().map(driver).collect();
    let sessions = match setup.schedule {
        Some(_) if D::OPENS_WHEN_NEEDED => OpenedSessions::none_needed(drivers.len()),
        _ => open_sessions(&mut drivers, &clock, &timers, setup.time_limit, stop).await,
    };
    let Some(origin) = start.wait(sessions).await else { return };
    let users = users.zip(drivers);
    let mut recorder = Recorder::new(setup, origin, mix.n_kinds(), mix.n_units(), probe);
    if let Some(slice) = setup.slice(mix.has_user_state()) {
        recorder.follow(slice, mix.has_user_state());
    }
    let point = PointContext::new(clock, timers, recorder, setup, origin);
    match setup.schedule {
        None => start_users(&point, setup, &*mix, users, &spawn),
        Some(_) if mix.has_user_state() => start_scheduled_users(&point, setup, &mix, users, &spawn),
        Some(_) => {
            let dispatcher = Dispatcher::new();
            spawn.spawn(Rc::clone(&dispatcher).pace(Rc::clone(&point)));
            start_slots(&point, &dispatcher, &mix, users, &spawn);
        }
    }
    if attend(&point, sink, stop).await == IssuingEnd::ToTheEnd {
        drain(&point, sink).await;
    }
    hand_over(&point, sink);
}

fn start_users<C, D, M>(
    point: &Rc<PointContext<C>>,
    setup: &PointSetup,
    mix: &M,
    users: impl Iterator<Item = (u32, D)>,
    spawn: &impl Spawn,
) where
    C: Clock + 'static,
    D: Driver + 'static,
    M: Mix<Operation = D::Operation>,
    M::User: 'static,
{
    let n_places = mix.in_flight();
    for (user, driver) in users {
        let rng = user_rng(setup, user);
        let lifetime = Lifetime::of(user, setup, point.origin);
        let context = UserContext::new(Rc::clone(point));
        if D::HAS_WINDOW && 1 < n_places {
            spawn.spawn(window::user(context, driver, (mix.user(user), rng), lifetime, n_places));
        } else {
            spawn.spawn(closed::user(context, driver, mix.user(user), rng, lifetime));
        }
    }
}

/// Starts the slots for operations in flight of an open loop.
fn start_slots<C, D, M>(
    point: &Rc<PointContext<C>>,
    dispatcher: &Rc<Dispatcher>,
    mix: &Rc<M>,
    slots: impl Iterator<Item = (u32, D)>,
    spawn: &impl Spawn,
) where
    C: Clock + 'static,
    D: Driver + 'static,
    M: Mix<Operation = D::Operation> + 'static,
{
    for (_, driver) in slots {
        let context = UserContext::new(Rc::clone(point));
        spawn.spawn(open::slot(context, Rc::clone(dispatcher), driver, Rc::clone(mix)));
    }
}

/// Starts the users of an open loop that have state.
fn start_scheduled_users<C, D, M>(
    point: &Rc<PointContext<C>>,
    setup: &PointSetup,
    mix: &Rc<M>,
    users: impl Iterator<Item = (u32, D)>,
    spawn: &impl Spawn,
) where
    C: Clock + 'static,
    D: Driver + 'static,
    M: Mix<Operation = D::Operation> + 'static,
{
    for (number, driver) in users {
        let schedule = setup.schedule_of(number).expect("an open loop has a schedule");
        let user = ScheduledUser::new(&**mix, number, user_rng(setup, number));
        let context = UserContext::new(Rc::clone(point));
        spawn.spawn(open::user(context, schedule, driver, user, Rc::clone(mix)));
    }
}

/// The ending of the time in which operations are started.
#[derive(PartialEq, Eq)]
pub(crate) enum IssuingEnd {
    ToTheEnd,
    UntilAskedToStop,
}

/// Hands over intervals until operations are no longer started.
async fn attend<C: Clock>(
    point: &PointContext<C>,
    sink: &mut impl RecordSink,
    stop: &impl StopRequest,
) -> IssuingEnd {
    loop {
        let now = point.clock.now();
        point.require_all_users();
        point.deadlines.sweep(now);
        let end = point.origin + point.recorder.borrow_mut().roll_issuing(now).issuing();
        hand_over(point, sink);
        if end <= now {
            return IssuingEnd::ToTheEnd;
        }
        if stop.is_requested() {
            point.recorder.borrow_mut().finish(now, true);
            return IssuingEnd::UntilAskedToStop;
        }
        let tick = TICK.min(point.time_limit);
        point.timers.sleep_until(next_look(now, point.origin, end, tick)).await;
    }
}

/// Lets operations in flight finish, as long as the plan allows.
async fn drain<C: Clock>(point: &PointContext<C>, sink: &mut impl RecordSink) {
    let phases = point.recorder.borrow().phases();
    let begin = point.origin + phases.issuing();
    let end = point.origin + phases.end_of(Phase::Drain);
    if begin == end {
        return point.recorder.borrow_mut().finish(begin, false);
    }
    loop {
        let now = point.clock.now().min(end);
        point.require_all_users();
        point.deadlines.sweep(now);
        point.recorder.borrow_mut().roll(now);
        hand_over(point, sink);
        if point.recorder.borrow_mut().is_empty() || end <= now {
            return point.recorder.borrow_mut().finish(now.max(begin), true);
        }
        point.timers.sleep_until((now + DRAIN_TICK).min(end)).await;
    }
}

fn hand_over<C: Clock>(point: &PointContext<C>, sink: &mut impl RecordSink) {
    pass_on(&mut point.recorder.borrow_mut(), &mut point.examples.borrow_mut(), sink);
}

/// Passes finished intervals and examples on to the sink.
pub(crate) fn pass_on(recorder: &mut Recorder, examples: &mut Examples, sink: &mut impl RecordSink) {
    for record in recorder.take_finished() {
        sink.interval(record);
    }
    while let Some(spare) = sink.spare() {
        recorder.reuse(spare);
    }
    examples.take().into_iter().for_each(|example| sink.example(example));
}

/// Returns the time of the next look at the load point, after `now`: at the end of an interval, or of `end`, or earlier.
pub(crate) fn next_look(now: Nanos, origin: Nanos, end: Nanos, tick: Nanos) -> Nanos {
    let next_second = Nanos((now.saturating_sub(origin).0 / 1_000_000_000 + 1) * 1_000_000_000);
    (now + tick).min(origin + next_second).min(end)
}
