//! Load threads of order entry, and the deliveries that they defer.

use std::io;
use std::panic::resume_unwind;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};

use benchmarks::orderentry::OrderTerminals;
use drivers::orders::{BackgroundDeliveries, DeferredCounts, DeferringDriver, DeliveryQueue, delivery_queue};
use engine::{BlockingDriver, Driver};
use model::{OrderEntryWorkload, OrderRequest, Phase, Phases};
use units::{Nanos, RealClock};

use super::order_entry::deferred_counts;
use super::stopped;
use crate::family_counts::FamilyCounts;
use crate::thread::{CpuMeter, ThreadFailure, ThreadWork};

/// The work in the background of a load thread.
pub(super) struct BackgroundWork<'a> {
    deliveries: BackgroundDeliveries,
    phases: &'a Phases,
    /// The start of the load point on the clock of the run, when it has begun.
    origin: Arc<OnceLock<Nanos>>,
    clock: RealClock,
    stop: &'a AtomicBool,
}

impl BackgroundWork<'_> {
    /// Makes the deliveries by drivers of the background's own.
    ///
    /// # Errors
    /// The system refuses a runtime.
    pub(super) fn perform<D: Driver<Operation = OrderRequest>>(
        self,
        driver: impl FnMut() -> D,
    ) -> Result<DeferredCounts, ThreadFailure> {
        let BackgroundWork { deliveries, phases, origin, clock, stop } = self;
        let is_steady = |queued: Nanos| {
            origin.get().is_some_and(|origin| phases.at(queued.saturating_sub(*origin)) == Phase::Steady)
        };
        Ok(deliveries.perform(driver, &is_steady, clock, stopped(stop))?)
    }
}

/// Runs the terminals of a load thread. Where deliveries are deferred, `background` makes them in a thread of its own; returns
/// the counts of that.
///
/// # Errors
/// One of the two threads cannot be set up.
pub(super) fn run<D: Driver<Operation = OrderRequest> + 'static>(
    work: ThreadWork<'_>,
    workload: &OrderEntryWorkload,
    mut driver: impl FnMut(u32) -> D,
    background: impl FnOnce(BackgroundWork<'_>) -> Result<(DeferredCounts, FamilyCounts), ThreadFailure> + Send,
) -> Result<FamilyCounts, ThreadFailure> {
    let clock = work.clock;
    let users = |work: ThreadWork<'_>, mix: OrderTerminals, queue: Option<DeliveryQueue>| match queue {
        None => work.run_with(mix, driver),
        Some(queue) => work.run_with(mix, |user| DeferringDriver::new(driver(user), queue.clone(), clock)),
    };
    run_beside(work, workload, users, background)
}

/// Does the same with terminals that block. `beside` meters the thread of the background.
///
/// # Errors
/// One of the threads cannot be set up.
pub(super) fn run_blocking<D: BlockingDriver<Operation = OrderRequest> + Send + 'static>(
    work: ThreadWork<'_>,
    workload: &OrderEntryWorkload,
    mut driver: impl FnMut(u32) -> D,
    beside: CpuMeter,
    background: impl FnOnce(BackgroundWork<'_>) -> Result<(DeferredCounts, FamilyCounts), ThreadFailure> + Send,
) -> Result<FamilyCounts, ThreadFailure> {
    let clock = work.clock;
    let users = |work: ThreadWork<'_>, mix: OrderTerminals, queue: Option<DeliveryQueue>| match queue {
        None => work.run_blocking_with(mix, driver, beside),
        Some(queue) => {
            let deferring = |user| DeferringDriver::new(driver(user), queue.clone(), clock);
            work.run_blocking_with(mix, deferring, beside)
        }
    };
    run_beside(work, workload, users, background)
}

/// Runs users, who get a queue where deliveries are deferred, beside the background that makes these.
fn run_beside(
    work: ThreadWork<'_>,
    workload: &OrderEntryWorkload,
    users: impl FnOnce(ThreadWork<'_>, OrderTerminals, Option<DeliveryQueue>) -> io::Result<()>,
    background: impl FnOnce(BackgroundWork<'_>) -> Result<(DeferredCounts, FamilyCounts), ThreadFailure> + Send,
) -> Result<FamilyCounts, ThreadFailure> {
    let mix = OrderTerminals::new(workload, work.plan.seed);
    if !workload.defers_deliveries() {
        users(work, mix, None)?;
        return Ok(FamilyCounts::default());
    }
    let (queue, deliveries, over) = delivery_queue(workload);
    let clock = work.clock;
    let origin = Arc::clone(&work.start.began);
    let of_background =
        BackgroundWork { deliveries, phases: &work.plan.phases, origin, clock, stop: work.stop };
    std::thread::scope(|scope| {
        let thread = scope.spawn(move || background(of_background));
        let ran = users(work, mix, Some(queue));
        // It may have failed.
        let _ = over.send(());
        let (deferred, mut counts) = thread.join().unwrap_or_else(|panic| resume_unwind(panic))?;
        ran?;
        counts.add(&deferred_counts(&deferred));
        Ok(counts)
    })
}
