//! The queue between the reactor and the service threads: first in, first out, with a bound.
//!
//! Waking a thread is a call of the system, and costs as much as a small job. So one thread is woken at a time: it wakes the
//! next one if it leaves jobs behind. Where the threads share a CPU, the first performs all jobs that are there before
//! another runs; a thread that waits for a disk leaves the CPU to the next one, which has been woken by then.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard};

/// A bounded queue that threads wait at.
#[derive(Debug)]
pub(super) struct JobQueue<J> {
    state: Mutex<QueueState<J>>,
    has_jobs: Condvar,
    jobs_max: usize,
}

#[derive(Debug)]
struct QueueState<J> {
    jobs: VecDeque<J>,
    load: QueueLoad,
    /// Threads that wait for a job.
    idle: u32,
    /// Whether one of them was woken and has not looked yet.
    is_waking: bool,
    is_closed: bool,
}

/// The load of a queue at one moment, and what went through it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct QueueLoad {
    /// Jobs that wait.
    pub(super) queued: usize,
    /// Threads that perform one.
    pub(super) busy: u32,
    /// Jobs performed.
    pub(super) performed: u64,
    /// Jobs given back because the queue was full.
    pub(super) refused: u64,
}

impl<J> JobQueue<J> {
    /// Creates an empty queue for a number of jobs.
    pub(super) fn new(jobs_max: usize) -> JobQueue<J> {
        let (jobs, load) = (VecDeque::new(), QueueLoad::default());
        let state = QueueState { jobs, load, idle: 0, is_waking: false, is_closed: false };
        JobQueue { state: Mutex::new(state), has_jobs: Condvar::new(), jobs_max }
    }

    /// Adds a job at the end; gives it back if the queue is full or closed.
    pub(super) fn push(&self, job: J) -> Result<(), J> {
        let mut state = self.lock();
        if state.is_closed || self.jobs_max <= state.jobs.len() {
            state.load.refused += 1;
            return Err(job);
        }
        state.jobs.push_back(job);
        self.unlock(state);
        Ok(())
    }

    /// Performs jobs, the oldest first, until the queue is closed; waits while there are none.
    pub(super) fn work(&self, mut perform: impl FnMut(J)) {
        let mut next = self.next(false);
        while let Some(job) = next {
            perform(job);
            next = self.next(true);
        }
    }

    /// Ends the wait of all threads, and drops what is left.
    pub(super) fn close(&self) {
        let mut state = self.lock();
        state.is_closed = true;
        state.jobs.clear();
        drop(state);
        self.has_jobs.notify_all();
    }

    /// Returns the load.
    pub(super) fn load(&self) -> QueueLoad {
        let state = self.lock();
        QueueLoad { queued: state.jobs.len(), ..state.load }
    }

    /// Returns the next job of a thread, after it has performed one or before its first; `None` once the queue is closed.
    fn next(&self, has_performed: bool) -> Option<J> {
        let mut state = self.lock();
        if has_performed {
            state.load.busy -= 1;
            state.load.performed += 1;
        }
        state.idle += 1;
        while state.jobs.is_empty() && !state.is_closed {
            state = self.has_jobs.wait(state).expect("no thread panics with the queue");
            state.is_waking = false;
        }
        state.idle -= 1;
        // A closed queue is empty.
        let job = state.jobs.pop_front()?;
        state.load.busy += 1;
        self.unlock(state);
        Some(job)
    }

    /// Ends a change, and wakes a thread if there is a job for it and no other is on its way.
    fn unlock(&self, mut state: MutexGuard<'_, QueueState<J>>) {
        let wakes = !state.is_waking && 0 < state.idle && !state.jobs.is_empty();
        state.is_waking |= wakes;
        drop(state);
        if wakes {
            self.has_jobs.notify_one();
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

    #[test]
    fn a_full_queue_takes_nothing_and_the_oldest_job_is_first() {
        let queue = JobQueue::new(2);
        assert_eq!([1, 2, 3].map(|job| queue.push(job)), [Ok(()), Ok(()), Err(3)]);
        let mut done = Vec::new();
        queue.work(|job| {
            let performed = job as u64 - 1;
            let expected = QueueLoad { queued: 2 - job, busy: 1, performed, refused: 1 };
            assert_eq!(queue.load(), expected);
            done.push(job);
            if job == 2 {
                queue.close();
            }
        });
        assert_eq!((done, queue.load().busy, queue.push(4)), (vec![1, 2], 0, Err(4)));
    }

    /// Goal: no job is left while a thread waits. Method: one job at a time, each pushed when its predecessor is done, so that
    /// threads wait again and again.
    #[test]
    fn every_job_wakes_a_waiting_thread() {
        const JOBS: u64 = 10_000;
        let (queue, done) = (JobQueue::new(1), AtomicU64::new(0));
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    queue.work(|()| {
                        done.fetch_add(1, Ordering::Release);
                    });
                });
            }
            for n in 1..=JOBS {
                queue.push(()).unwrap();
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
        let queue: JobQueue<u32> = JobQueue::new(1);
        std::thread::scope(|scope| {
            let waiting: Vec<_> = (0..3).map(|_| scope.spawn(|| queue.work(|_| {}))).collect();
            queue.close();
            waiting.into_iter().for_each(|thread| thread.join().unwrap());
        });
    }
}
