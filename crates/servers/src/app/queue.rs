//! The queue between the reactor and the service threads: first in, first out, with a bound.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard};

/// A bounded queue that threads wait at.
#[derive(Debug)]
pub(super) struct JobQueue<J> {
    state: Mutex<QueueState<J>>,
    has_jobs: Condvar,
    jobs_max: usize,
    busy: AtomicU32,
}

#[derive(Debug)]
struct QueueState<J> {
    jobs: VecDeque<J>,
    is_closed: bool,
}

impl<J> JobQueue<J> {
    /// Creates an empty queue for a number of jobs.
    pub(super) fn new(jobs_max: usize) -> JobQueue<J> {
        let state = QueueState { jobs: VecDeque::new(), is_closed: false };
        JobQueue { state: Mutex::new(state), has_jobs: Condvar::new(), jobs_max, busy: AtomicU32::new(0) }
    }

    /// Adds a job at the end; gives it back if the queue is full or closed.
    pub(super) fn push(&self, job: J) -> Result<(), J> {
        let mut state = self.lock();
        if state.is_closed || self.jobs_max <= state.jobs.len() {
            return Err(job);
        }
        state.jobs.push_back(job);
        drop(state);
        self.has_jobs.notify_one();
        Ok(())
    }

    /// Performs jobs, the oldest first, until the queue is closed; waits while there are none.
    pub(super) fn work(&self, mut perform: impl FnMut(J)) {
        while let Some(job) = self.next() {
            self.busy.fetch_add(1, Ordering::Relaxed);
            perform(job);
            self.busy.fetch_sub(1, Ordering::Relaxed);
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

    /// Returns the number of jobs that wait.
    pub(super) fn len(&self) -> usize {
        self.lock().jobs.len()
    }

    /// Returns the number of threads that perform one.
    pub(super) fn busy(&self) -> u32 {
        self.busy.load(Ordering::Relaxed)
    }

    fn next(&self) -> Option<J> {
        let mut state = self.lock();
        loop {
            if state.is_closed {
                return None;
            }
            if let Some(job) = state.jobs.pop_front() {
                return Some(job);
            }
            state = self.has_jobs.wait(state).expect("no thread panics with the queue");
        }
    }

    fn lock(&self) -> MutexGuard<'_, QueueState<J>> {
        self.state.lock().expect("no thread panics with the queue")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_queue_takes_nothing_and_the_oldest_job_is_first() {
        let queue = JobQueue::new(2);
        assert_eq!([1, 2, 3].map(|job| queue.push(job)), [Ok(()), Ok(()), Err(3)]);
        let mut done = Vec::new();
        queue.work(|job| {
            assert_eq!((queue.len(), queue.busy()), (2 - job, 1));
            done.push(job);
            if job == 2 {
                queue.close();
            }
        });
        assert_eq!((done, queue.busy(), queue.push(4)), (vec![1, 2], 0, Err(4)));
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
