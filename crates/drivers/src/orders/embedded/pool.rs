//! Connections that threads share, each of which is used by one thread at a time.

use std::collections::VecDeque;
use std::ops::Deref;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// A pool of connections, which threads get in the order in which they ask.
#[derive(Debug)]
pub(super) struct ConnectionPool<C> {
    state: Mutex<PoolState<C>>,
}

#[derive(Debug)]
struct PoolState<C> {
    /// The connections that nobody uses, that which was used last at the end. None while somebody waits.
    idle: VecDeque<C>,
    /// The threads that wait, the first at the front.
    waiting: VecDeque<Waiter<C>>,
    /// The number of the next thread that waits.
    next: u64,
}

/// A thread that waits for a connection.
#[derive(Debug)]
struct Waiter<C> {
    number: u64,
    sender: SyncSender<C>,
}

impl<C> ConnectionPool<C> {
    /// Makes a pool of connections.
    pub(super) fn new(connections: impl IntoIterator<Item = C>) -> ConnectionPool<C> {
        let idle = connections.into_iter().collect();
        ConnectionPool { state: Mutex::new(PoolState { idle, waiting: VecDeque::new(), next: 0 }) }
    }

    /// Takes a connection; blocks the calling thread until there is one. `None` if there is none within a time.
    pub(super) fn take(&self, wait_max: Duration) -> Option<PooledConnection<'_, C>> {
        let (number, receiver) = {
            let mut state = self.state();
            if let Some(connection) = state.idle.pop_front() {
                return Some(self.lend(connection));
            }
            state.wait()
        };
        let received = receiver.recv_timeout(wait_max).ok();
        let connection = received.or_else(|| self.state().give_up(number, &receiver));
        connection.map(|connection| self.lend(connection))
    }

    fn lend(&self, connection: C) -> PooledConnection<'_, C> {
        PooledConnection { pool: self, connection: Some(connection) }
    }

    fn state(&self) -> MutexGuard<'_, PoolState<C>> {
        // Nothing that is done with the lock panics.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<C> PoolState<C> {
    /// Has a thread wait behind all others.
    fn wait(&mut self) -> (u64, Receiver<C>) {
        let (sender, receiver) = sync_channel(1);
        let number = self.next;
        self.next += 1;
        self.waiting.push_back(Waiter { number, sender });
        (number, receiver)
    }

    /// Has a thread wait no longer; returns the connection that it was given since.
    fn give_up(&mut self, number: u64, receiver: &Receiver<C>) -> Option<C> {
        self.waiting.retain(|waiter| waiter.number != number);
        receiver.try_recv().ok()
    }

    /// Gives a connection to the first thread that waits.
    fn put_back(&mut self, connection: C) {
        let Some(first) = self.waiting.pop_front() else { return self.idle.push_back(connection) };
        if let Err(returned) = first.sender.send(connection) {
            // A thread that panicked while it waited has not given up.
            self.put_back(returned.0);
        }
    }
}

/// A connection that is in use; dropping it gives it back.
#[derive(Debug)]
pub(super) struct PooledConnection<'a, C> {
    pool: &'a ConnectionPool<C>,
    /// `None` only while it is dropped.
    connection: Option<C>,
}

impl<C> Deref for PooledConnection<'_, C> {
    type Target = C;

    fn deref(&self) -> &C {
        self.connection.as_ref().expect("it is there until it is dropped")
    }
}

impl<C> Drop for PooledConnection<'_, C> {
    fn drop(&mut self) {
        if let Some(connection) = self.connection.take() {
            self.pool.state().put_back(connection);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    const LONG: Duration = Duration::from_secs(60);

    fn n_waiting(pool: &ConnectionPool<u32>) -> usize {
        pool.state().waiting.len()
    }

    fn wait_for(pool: &ConnectionPool<u32>, n: usize) {
        while n_waiting(pool) != n {
            thread::yield_now();
        }
    }

    /// Goal: nobody is overtaken, also not by the thread that has just given its connection back.
    #[test]
    fn connections_go_to_threads_in_the_order_in_which_they_ask() {
        let pool = ConnectionPool::new([7]);
        let order = Mutex::new(Vec::new());
        thread::scope(|scope| {
            let first = pool.take(LONG).unwrap();
            for number in 0..5 {
                let pool = &pool;
                let order = &order;
                scope.spawn(move || {
                    let connection = pool.take(LONG).unwrap();
                    assert_eq!(*connection, 7);
                    order.lock().unwrap().push(number);
                });
                wait_for(pool, number + 1);
            }
            drop(first);
            drop(pool.take(LONG).unwrap());
            order.lock().unwrap().push(5);
        });
        assert_eq!(order.into_inner().unwrap(), [0, 1, 2, 3, 4, 5]);
        assert_eq!(n_waiting(&pool), 0);
    }

    #[test]
    fn idle_connections_are_used_in_turn() {
        let pool = ConnectionPool::new([1, 2]);
        let numbers: Vec<u32> = (0..4).map(|_| *pool.take(LONG).unwrap()).collect();
        assert_eq!(numbers, [1, 2, 1, 2]);
        let both = [pool.take(LONG).unwrap(), pool.take(LONG).unwrap()];
        assert!(pool.take(Duration::ZERO).is_none());
        drop(both);
        assert!(pool.take(Duration::ZERO).is_some());
    }

    /// Goal: a thread that waits no longer neither keeps a connection from others nor takes one along.
    #[test]
    fn a_thread_that_gives_up_loses_no_connection() {
        let pool = ConnectionPool::new([7]);
        let held = pool.take(LONG).unwrap();
        assert!(pool.take(Duration::from_millis(5)).is_none());
        assert_eq!(n_waiting(&pool), 0);
        drop(held);
        // One that is given a connection when its time has just passed.
        let held = pool.take(LONG).unwrap();
        let (number, receiver) = pool.state().wait();
        drop(held);
        assert_eq!(pool.state().give_up(number, &receiver), Some(7));
        // One that has panicked.
        pool.state().waiting.push_back(Waiter { number: 9, sender: sync_channel(1).0 });
        pool.state().put_back(7);
        assert!(pool.take(Duration::ZERO).is_some());
    }
}
