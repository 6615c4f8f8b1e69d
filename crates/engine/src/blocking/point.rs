//! A load thread's share of one load point, with users that block.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};

use model::{Mix, Phase};
use units::Nanos;

use super::user::{SharedPoint, State, UserLifetime, UserThread, UsersCpu};
use super::{BlockingClock, BlockingDriver};
use crate::examples::Examples;
use crate::lifetime::Lifetime;
use crate::point::{DRAIN_TICK, IssuingEnd, TICK, next_look, pass_on};
use crate::point_context::RecordSink;
use crate::recorder::Recorder;
use crate::scheduled_user::{ScheduledUser, user_rng};
use crate::session::{OPENING_MAX, OpenedSessions};
use crate::setup::{HealthProbe, LoadThreadUse, PointSetup, PointStart};
use crate::stop_request::StopRequest;

/// The clock of a load thread whose users block, and its own use of the CPU.
pub struct BlockingRuntime<C> {
    /// The clock of the run.
    pub clock: C,
    /// The reader of the load thread's own CPU time and wait, without its users'; of the system under test it reads what that
    /// uses beside the operations of users.
    pub probe: HealthProbe,
}

/// Runs a load thread's share of one load point, as [`crate::run_point`] does, with drivers that block.
///
/// # Errors
///
/// The system refuses a thread, or an operation has not returned when its time limit has passed after the end of the load
/// point: its thread is left behind.
pub fn run_blocking_point<C, D, M>(
    setup: &PointSetup,
    runtime: BlockingRuntime<C>,
    mix: &Arc<M>,
    driver: impl FnMut(u32) -> D,
    start: impl PointStart,
    sink: &mut impl RecordSink,
    stop: &impl StopRequest,
) -> io::Result<()>
where
    C: BlockingClock,
    D: BlockingDriver + Send + 'static,
    M: Mix<Operation = D::Operation> + Send + Sync + 'static,
{
    let BlockingRuntime { clock, probe } = runtime;
    let users = setup.assignment.users.clone();
    let mut drivers: Vec<D> = users.clone().map(driver).collect();
    let sessions = open_sessions(&mut drivers, stop);
    let waiting = tokio::runtime::Builder::new_current_thread().build()?;
    let Some(origin) = waiting.block_on(start.wait(sessions)) else { return Ok(()) };
    let load_thread = LoadThread::new(setup, clock, probe, origin, &**mix);
    let threads = load_thread.start_users(setup, mix, users.zip(drivers))?;
    if load_thread.attend(sink, stop) == IssuingEnd::ToTheEnd {
        load_thread.drain(sink);
    }
    load_thread.hand_over(sink);
    load_thread.dismiss(threads)
}

/// Opens the sessions of all drivers, several at a time; opens no more if a stop is requested.
fn open_sessions<D: BlockingDriver + Send>(drivers: &mut [D], stop: &impl StopRequest) -> OpenedSessions {
    let mut sessions = OpenedSessions::default();
    for some in drivers.chunks_mut(OPENING_MAX) {
        if stop.is_requested() {
            break;
        }
        thread::scope(|scope| {
            let opening: Vec<_> = some.iter_mut().map(|driver| scope.spawn(|| driver.open())).collect();
            for one in opening {
                sessions.count(one.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
            }
        });
    }
    sessions
}

/// The load thread, which attends to the threads of its users.
struct LoadThread<C> {
    point: Arc<SharedPoint<C>>,
}

impl<C: BlockingClock> LoadThread<C> {
    fn new(setup: &PointSetup, clock: C, probe: HealthProbe, origin: Nanos, mix: &impl Mix) -> LoadThread<C> {
        let cpu = Arc::new(UsersCpu::default());
        let probe = Box::new(with_users(probe, Arc::clone(&cpu)));
        let mut recorder = Recorder::new(setup, origin, mix.n_kinds(), mix.n_units(), probe);
        if let Some(slice) = setup.slice(mix.has_user_state()) {
            recorder.follow(slice, mix.has_user_state());
        }
        let examples = Examples::new(setup.point.index);
        let point = SharedPoint {
            clock,
            origin,
            time_limit: setup.time_limit,
            state: Mutex::new(State { recorder, examples }),
            is_over: AtomicBool::new(false),
            n_present: AtomicU32::new(0),
            has_panicked: AtomicBool::new(false),
            cpu,
        };
        LoadThread { point: Arc::new(point) }
    }

    /// Starts the threads of users, or of slots in an open loop. If the system refuses one, the others leave.
    fn start_users<D, M>(
        &self,
        setup: &PointSetup,
        mix: &Arc<M>,
        users: impl Iterator<Item = (u32, D)>,
    ) -> io::Result<Vec<JoinHandle<()>>>
    where
        D: BlockingDriver + Send + 'static,
        M: Mix<Operation = D::Operation> + Send + Sync + 'static,
    {
        let mut threads = Vec::new();
        for (user, driver) in users {
            let mix = Arc::clone(mix);
            let point = Arc::clone(&self.point);
            let lifetime = Lifetime::of(user, setup, point.origin);
            let rng = user_rng(setup, user);
            let index = (user - setup.assignment.users.start) as usize;
            let is_open = setup.schedule.is_some();
            let own_schedule = if mix.has_user_state() { setup.schedule_of(user) } else { None };
            self.point.n_present.fetch_add(1, Ordering::Relaxed);
            let present = UserLifetime(Arc::clone(&point));
            let body = move || {
                let _present = present;
                let thread = UserThread::new(&point, driver, index);
                match own_schedule {
                    Some(own) => thread.follow_own_schedule(ScheduledUser::new(&*mix, user, rng), own, &*mix),
                    None if is_open => thread.follow_schedule(&*mix),
                    None => thread.follow_user(mix.user(user), rng, lifetime),
                }
            };
            match self.point.clock.spawn(format!("user {user}"), body) {
                Ok(thread) => threads.push(thread),
                Err(error) => {
                    self.dismiss(threads)?;
                    return Err(error);
                }
            }
        }
        Ok(threads)
    }

    /// Hands over intervals until operations are no longer started.
    fn attend(&self, sink: &mut impl RecordSink, stop: &impl StopRequest) -> IssuingEnd {
        loop {
            let now = self.now_with_all_users();
            let end = self.point.origin + self.point.state().recorder.roll_issuing(now).issuing();
            self.hand_over(sink);
            if end <= now {
                return IssuingEnd::ToTheEnd;
            }
            if stop.is_requested() {
                self.point.state().recorder.finish(now, true);
                return IssuingEnd::UntilAskedToStop;
            }
            self.sleep_until(next_look(now, self.point.origin, end, TICK));
        }
    }

    /// Lets operations in flight finish, as long as the plan allows.
    fn drain(&self, sink: &mut impl RecordSink) {
        let phases = self.point.state().recorder.phases();
        let begin = self.point.origin + phases.issuing();
        let end = self.point.origin + phases.end_of(Phase::Drain);
        if begin == end {
            return self.point.state().recorder.finish(begin, false);
        }
        loop {
            let now = self.now_with_all_users().min(end);
            self.point.state().recorder.roll(now);
            self.hand_over(sink);
            let mut state = self.point.state();
            if state.recorder.is_empty() || end <= now {
                return state.recorder.finish(now.max(begin), true);
            }
            drop(state);
            self.sleep_until((now + DRAIN_TICK).min(end));
        }
    }

    /// Returns the time.
    ///
    /// # Panics
    ///
    /// The thread of a user has panicked, a mistake of ours or of a driver: without the user, the numbers would be wrong.
    fn now_with_all_users(&self) -> Nanos {
        assert!(
            !self.point.has_panicked.load(Ordering::Relaxed),
            "the thread of a virtual user has panicked"
        );
        self.point.clock.now()
    }

    fn hand_over(&self, sink: &mut impl RecordSink) {
        let State { recorder, examples } = &mut *self.point.state();
        pass_on(recorder, examples, sink);
    }

    /// Has all users leave, and waits for their threads as long as an operation may take.
    fn dismiss(&self, threads: Vec<JoinHandle<()>>) -> io::Result<()> {
        self.point.is_over.store(true, Ordering::Relaxed);
        threads.iter().for_each(|thread| thread.thread().unpark());
        let end = self.point.clock.now().saturating_add(self.point.time_limit);
        while self.n_present() != 0 {
            let now = self.point.clock.now();
            if end <= now {
                let why = format!(
                    "the operations of {} users have not returned {} after the end of the load point",
                    self.n_present(),
                    self.point.time_limit
                );
                return Err(io::Error::new(io::ErrorKind::TimedOut, why));
            }
            self.sleep_until((now + DRAIN_TICK).min(end));
        }
        threads.into_iter().for_each(|thread| {
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        });
        Ok(())
    }

    fn n_present(&self) -> u32 {
        self.point.n_present.load(Ordering::Acquire)
    }

    /// Sleeps, whether or not the users have left.
    fn sleep_until(&self, at: Nanos) {
        self.point.clock.sleep_until(at, &AtomicBool::new(false));
    }
}

/// Adds the CPU time of users to that of their load thread.
///
/// Any thread closes intervals, and the load thread's own use can be read by itself only: what it reads elsewhere is its
/// use at the last look.
fn with_users(mut probe: HealthProbe, users: Arc<UsersCpu>) -> impl FnMut() -> LoadThreadUse + Send {
    let load_thread = thread::current().id();
    let mut last = LoadThreadUse::default();
    move || {
        if thread::current().id() == load_thread {
            last = probe();
        }
        LoadThreadUse {
            cpu: last.cpu + Nanos(users.own.load(Ordering::Relaxed)),
            run_queue: last.run_queue,
            sut_cpu: Some(last.sut_cpu.unwrap_or_default() + Nanos(users.sut.load(Ordering::Relaxed))),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU64;

    use super::*;

    /// 7 ns of users beside 1 ns of the load thread; 5 ns of operations, and 10 ns beside them where that is metered.
    #[test]
    fn users_and_their_operations_are_added_to_what_the_load_thread_reads() {
        for (beside, sut) in [(None, 5), (Some(Nanos(10)), 15)] {
            let users = UsersCpu { own: AtomicU64::new(7), sut: AtomicU64::new(5) };
            let probe =
                Box::new(move || LoadThreadUse { cpu: Nanos(1), run_queue: Nanos(2), sut_cpu: beside });
            let LoadThreadUse { cpu, run_queue, sut_cpu } = with_users(probe, Arc::new(users))();
            assert_eq!((cpu, run_queue, sut_cpu), (Nanos(8), Nanos(2), Some(Nanos(sut))));
        }
    }
}
