//! The queue between the reactor and the service threads: first in, first out, with a bound.
//!
//! It has lanes: each thread performs jobs of one of them, and their order is kept within a lane. The bound is on all
//! together.
//!
//! Waking a thread is a call of the system, and costs as much as a small job. So one thread of a lane is woken at a time: it
//! wakes the next one if it leaves jobs behind. Where the threads share a CPU, the first performs all jobs that are there
//! before another runs; a thread that waits for a disk leaves the CPU to the next one, which has been woken by then.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard};

/// A bounded queue that threads wait at.
#[derive(Debug)]
pub(super) struct JobQueue<J> {
    state: Mutex<QueueState<J>>,
    /// The condition that the threads of a lane wait for, by lane: a job in it, or the end of the queue.
    has_jobs: Vec<Condvar>,
    jobs_max: usize,
}

#[derive(Debug)]
struct QueueState<J> {
    lanes: Vec<Lane<J>>,
    load: QueueLoad,
    is_closed: bool,
}

#[derive(Debug)]
struct Lane<J> {
    jobs: VecDeque<J>,
    /// Threads that wait for a job.
    idle: u32,
    /// Whether one of them was woken and has not looked yet.
    is_waking: bool,
}

/// The load of a queue at one moment, and what went through it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct QueueLoad {
    /// Jobs that wait.
    pub(super) queued: usize,
    /// Those of them in the first lane.
    pub(super) queued_in_first: usize,
    /// Threads that perform one.
    pub(super) busy: u32,
    /// Jobs performed.
    pub(super) performed: u64,
    /// Jobs given back because the queue was full.
    pub(super) refused: u64,
}

impl<J> JobQueue<J> {
    /// Creates an empty queue with so many lanes, for a number of jobs.
    pub(super) fn new(n_lanes: usize, jobs_max: usize) -> JobQueue<J> {
        let lane = |_| Lane { jobs: VecDeque::new(), idle: 0, is_waking: false };
        let lanes = (0..n_lanes).map(lane).collect();
        let state = QueueState { lanes, load: QueueLoad::default(), is_closed: false };
        let has_jobs = (0..n_lanes).map(|_| Condvar::new()).collect();
        JobQueue { state: Mutex::new(state), has_jobs, jobs_max }
    }

    /// Adds a job at the end of a lane; gives it back if the queue is full or closed.
    pub(super) fn push(&self, lane: usize, job: J) -> Result<(), J> {
        let mut state = self.lock();
        if state.is_closed || self.jobs_max <= state.load.queued {
            state.load.refused += 1;
            return Err(job);
        }
        state.lanes[lane].jobs.push_back(job);
        state.load.queued += 1;
        self.unlock(state, lane);
        Ok(())
    }

    /// Returns the next job of a thread, the oldest of its lane, and waits while there is none; `None` once the queue is
    /// closed. `has_performed` is whether the thread has performed the one that it got before.
    pub(super) fn next(&self, lane: usize, has_performed: bool) -> Option<J> {
        let mut state = self.lock();
        if has_performed {
            state.load.busy -= 1;
            state.load.performed += 1;
        }
        state.lanes[lane].idle += 1;
        while state.lanes[lane].jobs.is_empty() && !state.is_closed {
            state = self.has_jobs[lane].wait(state).expect("no thread panics with the queue");
            state.lanes[lane].is_waking = false;
        }
        state.lanes[lane].idle -= 1;
        // A closed queue is empty.
        let job = state.lanes[lane].jobs.pop_front()?;
        state.load.queued -= 1;
        state.load.busy += 1;
        self.unlock(state, lane);
        Some(job)
    }

    /// Ends the wait of all threads, and drops what is left.
    pub(super) fn close(&self) {
        let mut state = self.lock();
        state.is_closed = true;
        state.load.queued = 0;
        let left: Vec<_> = state.lanes.iter_mut().map(|lane| std::mem::take(&mut lane.jobs)).collect();
        drop(state);
        drop(left);
        self.has_jobs.iter().for_each(Condvar::notify_all);
    }

    /// Returns the load.
    pub(super) fn load(&self) -> QueueLoad {
        let state = self.lock();
        let queued_in_first = state.lanes.first().map_or(0, |lane| lane.jobs.len());
        QueueLoad { queued_in_first, ..state.load }
    }

    /// Ends a change of a lane, and wakes a thread if there is a job for it and no other is on its way.
    fn unlock(&self, mut state: MutexGuard<'_, QueueState<J>>, lane: usize) {
        let Lane { jobs, idle, is_waking } = &mut state.lanes[lane];
        let wakes = !*is_waking && 0 < *idle && !jobs.is_empty();
        *is_waking |= wakes;
        drop(state);
        if wakes {
            self.has_jobs[lane].notify_one();
        }
    }

    fn lock(&self) -> MutexGuard<'_, QueueState<J>> {
        self.state.lock().expect("no thread panics with the queue")
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;

    impl<J> JobQueue<J> {
        /// Performs jobs of the first lane until the queue is closed.
        fn work(&self, mut perform: impl FnMut(J)) {
            let mut next = self.next(0, false);
            while let Some(job) = next {
                perform(job);
                next = self.next(0, true);
            }
        }
    }

    #[test]
    fn a_full_queue_takes_nothing_and_the_oldest_job_is_first() {
        let queue = JobQueue::new(1, 2);
        assert_eq!([1, 2, 3].map(|job| queue.push(0, job)), [Ok(()), Ok(()), Err(3)]);
        let mut done = Vec::new();
        queue.work(|job| {
            let performed = job as u64 - 1;
            let queued = 2 - job;
            let expected = QueueLoad { queued, queued_in_first: queued, busy: 1, performed, refused: 1 };
            assert_eq!(queue.load(), expected);
            done.push(job);
            if job == 2 {
                queue.close();
            }
        });
        assert_eq!((done, queue.load().busy, queue.push(0, 4)), (vec![1, 2], 0, Err(4)));
    }

    /// Each lane has its own order and its own threads; the bound is on both together.
    #[test]
    fn lanes_share_the_bound_and_nothing_else() {
        let queue = JobQueue::new(2, 3);
        assert_eq!([(0, 1), (1, 2), (0, 3)].map(|(lane, job)| queue.push(lane, job)), [Ok(()); 3]);
        assert_eq!([0, 1].map(|lane| queue.push(lane, 4)), [Err(4); 2]);
        let load = queue.load();
        assert_eq!((load.queued, load.queued_in_first), (3, 2));
        assert_eq!(queue.next(1, false), Some(2));
        assert_eq!([queue.next(0, false), queue.next(0, true)], [Some(1), Some(3)]);
        assert_eq!(queue.load(), QueueLoad { busy: 2, performed: 1, refused: 2, ..QueueLoad::default() });
        std::thread::scope(|scope| {
            let waiting = [0, 1].map(|lane| {
                scope.spawn({
                    let queue = &queue;
                    move || queue.next(lane, true)
                })
            });
            queue.push(1, 5).unwrap();
            queue.push(0, 6).unwrap();
            assert_eq!(waiting.map(|thread| thread.join().unwrap()), [Some(6), Some(5)]);
        });
    }

    /// Goal: no job is left while a thread waits. Method: one job at a time, each pushed when its predecessor is done, so that
    /// threads wait again and again.
    #[test]
    fn every_job_wakes_a_waiting_thread() {
        const JOBS: u64 = 10_000;
        let queue = JobQueue::new(1, 1);
        let done = AtomicU64::new(0);
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    queue.work(|()| {
                        done.fetch_add(1, Ordering::Release);
                    });
                });
            }
            for n in 1..=JOBS {
                queue.push(0, ()).unwrap();
                while done.load(Ordering::Acquire) < n {
                    std::thread::yield_now();
                }
            }
            queue.close();
        });
        let expected = QueueLoad { performed: JOBS, ..QueueLoad::default() };
        assert_eq!(queue.load(), expected);
    }

    #[test]
    fn closing_ends_every_wait() {
        let queue: JobQueue<u32> = JobQueue::new(1, 1);
        std::thread::scope(|scope| {
            let waiting: Vec<_> = (0..3).map(|_| scope.spawn(|| queue.work(|_| {}))).collect();
            queue.close();
            waiting.into_iter().for_each(|thread| thread.join().unwrap());
        });
    }
}
