//! A load thread in real time: tokio's current-thread runtime and a timer descriptor.

use std::future::poll_fn;
use std::io;
use std::os::fd::OwnedFd;
use std::pin::Pin;
use std::rc::Rc;
use std::task::Poll;

use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create, timerfd_settime,
};
use tokio::io::unix::AsyncFd;
use units::{Clock, Nanos, RealClock};

use crate::descriptor;
use crate::point_context::{RecordSink, Spawn};
use model::Mix;

use crate::driver::Driver;
use crate::point::run_point;
use crate::setup::{HealthProbe, PointSetup, PointStart, Runtime};
use crate::stop_request::StopRequest;
use crate::timers::Timers;

/// The clock of the run, and the reader of a load thread's own use of the CPU.
pub struct ThreadMeters {
    /// The clock of the run.
    pub clock: RealClock,
    /// The reader of the thread's CPU time and wait, made on that thread.
    pub probe: HealthProbe,
}

/// A spawner on the local runtime of the calling thread.
#[derive(Debug, Clone, Copy)]
pub struct TokioSpawn;

impl Spawn for TokioSpawn {
    fn spawn(&self, task: impl Future<Output = ()> + 'static) {
        tokio::task::spawn_local(task);
    }
}

/// Runs a thread's share of one load point on the calling thread, with a runtime of its own, as [`run_point`] does.
///
/// # Errors
///
/// The system refuses a poll or timer descriptor.
pub fn run_point_on_this_thread<D, M>(
    setup: &PointSetup,
    meters: ThreadMeters,
    mix: M,
    driver: impl FnMut(u32) -> D,
    start: impl PointStart,
    sink: &mut impl RecordSink,
    stop: &impl StopRequest,
) -> io::Result<()>
where
    D: Driver + 'static,
    M: Mix<Operation = D::Operation> + 'static,
{
    let ThreadMeters { clock, probe } = meters;
    let tokio_runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .build_local(tokio::runtime::LocalOptions::default())?;
    // Boxed, so that the runtime is compiled once and not for every driver: it polls this future a few times a second.
    let work: Pin<Box<dyn Future<Output = io::Result<()>> + '_>> = Box::pin(async {
        let timers = Timers::new();
        let descriptor = TimerDescriptor::new()?;
        tokio::task::spawn_local(drive_timers(descriptor, clock, Rc::clone(&timers)));
        let runtime = Runtime { clock, timers, spawn: TokioSpawn, probe };
        run_point(setup, runtime, Rc::new(mix), driver, start, sink, stop).await;
        Ok(())
    });
    tokio_runtime.block_on(work)
}

/// Fires the timers when they are due.
async fn drive_timers(descriptor: TimerDescriptor, clock: RealClock, timers: Rc<Timers>) {
    let mut armed = Nanos::MAX;
    poll_fn(|context| {
        timers.wake_on_earlier(context.waker());
        loop {
            timers.fire(clock.now());
            let earliest = timers.earliest().unwrap_or(Nanos::MAX);
            if earliest != armed {
                descriptor.arm(earliest.saturating_sub(clock.now()));
                armed = earliest;
            }
            match descriptor.poll_fired(context) {
                Poll::Ready(()) => armed = Nanos::MAX,
                Poll::Pending => return Poll::<()>::Pending,
            }
        }
    })
    .await;
}

/// Waits for a time, on a timer of the kernel: for drivers that wait now and then, since the runtime of a load thread has no
/// other timers.
///
/// # Errors
///
/// The system refuses a timer descriptor.
pub async fn sleep_on_descriptor(time: Nanos) -> io::Result<()> {
    let timer = TimerDescriptor::new()?;
    timer.arm(time);
    poll_fn(|context| timer.poll_fired(context)).await;
    Ok(())
}

/// A timer of the kernel that the runtime can wait for.
struct TimerDescriptor {
    descriptor: AsyncFd<OwnedFd>,
}

impl TimerDescriptor {
    fn new() -> io::Result<TimerDescriptor> {
        let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
        let descriptor = timerfd_create(TimerfdClockId::Monotonic, flags)?;
        let descriptor = descriptor::register(descriptor, tokio::io::Interest::READABLE)?;
        Ok(TimerDescriptor { descriptor })
    }

    /// Sets the timer to fire after `wait`; an endless wait is capped.
    fn arm(&self, wait: Nanos) {
        // A time of zero would switch the timer off.
        let wait = i64::try_from(wait.0).unwrap_or(i64::MAX).max(1);
        let it_value = Timespec { tv_sec: wait / 1_000_000_000, tv_nsec: wait % 1_000_000_000 };
        let once = Itimerspec { it_interval: Timespec { tv_sec: 0, tv_nsec: 0 }, it_value };
        timerfd_settime(self.descriptor.get_ref(), TimerfdTimerFlags::empty(), &once)
            .expect("a valid timer descriptor takes a valid time");
    }

    /// Returns whether the timer has fired. Setting it again clears it, so it need not be read.
    fn poll_fired(&self, context: &mut std::task::Context<'_>) -> Poll<()> {
        match self.descriptor.poll_read_ready(context) {
            Poll::Ready(Ok(mut guard)) => {
                guard.clear_ready();
                Poll::Ready(())
            }
            _ => Poll::Pending,
        }
    }
}
