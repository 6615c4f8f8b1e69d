//! Interruptible waits.

use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use units::{Clock, Nanos, RealClock};

/// Interval at which a wait checks whether it is interrupted.
const STEP: Nanos = Nanos::from_millis(50);

/// Time limit for one of several addresses to answer.
const ANSWER_MAX: Duration = Duration::from_secs(2);

/// Head start of an address before the next one is tried in parallel. Source: RFC 8305, section 5.
const ATTEMPT_DELAY: Nanos = Nanos::from_millis(250);

/// Runs work that may block for long, such as a name lookup, on a separate thread; returns `None` if `stop`
/// is set meanwhile. The thread is then abandoned.
pub(crate) fn unless_stopped<T: Send + 'static>(
    stop: &AtomicBool,
    work: impl FnOnce() -> T + Send + 'static,
) -> Option<T> {
    let (sender, done) = channel();
    std::thread::spawn(move || {
        // The receiver may be gone.
        let _ = sender.send(work());
    });
    while !stop.load(Ordering::Relaxed) {
        match done.recv_timeout(Duration::from_nanos(STEP.0)) {
            Ok(result) => return Some(result),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => panic!("the work on another thread panicked"),
        }
    }
    None
}

/// Returns the first address that answers, or else the first of all: `localhost` has two addresses, and most
/// servers listen on one of them. Each gets a head start before the next, so that thirty silent ones cost
/// some seconds and not a minute. Returns `None` if `stop` is set.
pub(crate) fn first_that_answers(
    addresses: &[SocketAddr],
    clock: RealClock,
    stop: &AtomicBool,
) -> Option<SocketAddr> {
    if let [only] = addresses {
        return Some(*only);
    }
    let (sender, answers) = channel();
    for address in addresses.iter().copied() {
        let sender = sender.clone();
        std::thread::spawn(move || {
            let answer = TcpStream::connect_timeout(&address, ANSWER_MAX).is_ok();
            // The receiver may be gone.
            let _ = sender.send((address, answer));
        });
        if let Some(first) = answer_until(clock.now() + ATTEMPT_DELAY, &answers, clock, stop)? {
            return Some(first);
        }
    }
    drop(sender);
    let last = clock.now() + Nanos::from_secs_f64(ANSWER_MAX.as_secs_f64());
    let mut first = None;
    while first.is_none() && clock.now() < last && stop_is_unset(stop)? {
        match answers.recv_timeout(Duration::from_nanos(STEP.0)) {
            Ok((address, true)) => first = Some(address),
            Ok((_, false)) | Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    first.or_else(|| addresses.first().copied())
}

/// Waits for an answer until `due`, or until an address refuses, since the next may be tried then. `None` if
/// `stop` is set.
fn answer_until(
    due: Nanos,
    answers: &Receiver<(SocketAddr, bool)>,
    clock: RealClock,
    stop: &AtomicBool,
) -> Option<Option<SocketAddr>> {
    while clock.now() < due && stop_is_unset(stop)? {
        match answers.recv_timeout(Duration::from_nanos(STEP.0)) {
            Ok((address, true)) => return Some(Some(address)),
            Ok((_, false)) | Err(RecvTimeoutError::Disconnected) => return Some(None),
            Err(RecvTimeoutError::Timeout) => {}
        }
    }
    Some(None)
}

/// Returns `Some(true)`, or `None` if `stop` is set.
fn stop_is_unset(stop: &AtomicBool) -> Option<bool> {
    (!stop.load(Ordering::Relaxed)).then_some(true)
}

/// Waits until `due`, or until `stop` is set; returns whether it is set.
pub(crate) fn wait_until(due: Nanos, clock: RealClock, stop: &AtomicBool) -> bool {
    while !stop.load(Ordering::Relaxed) {
        let left = due.saturating_sub(clock.now());
        if left == Nanos::ZERO {
            return false;
        }
        std::thread::sleep(Duration::from_nanos(left.min(STEP).0));
    }
    true
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    /// Returns a loopback address that drops connections: its queue is full and never drained.
    fn silent() -> (TcpListener, Vec<TcpStream>, SocketAddr) {
        let listener = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap();
        listener.bind(&SocketAddr::from(([127, 0, 0, 1], 0)).into()).unwrap();
        listener.listen(0).unwrap();
        let listener = TcpListener::from(listener);
        let address = listener.local_addr().unwrap();
        let short = Duration::from_millis(200);
        let mut held = Vec::new();
        while let Ok(stream) = TcpStream::connect_timeout(&address, short) {
            held.push(stream);
            assert!(held.len() < 100, "the queue has no end");
        }
        (listener, held, address)
    }

    #[test]
    fn the_first_answering_address_is_chosen_or_else_the_first() {
        let clock = RealClock::start();
        let go_on = AtomicBool::new(false);
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let open = listener.local_addr().unwrap();
        let closed = {
            let gone = TcpListener::bind("127.0.0.1:0").unwrap();
            gone.local_addr().unwrap()
        };
        assert_eq!(first_that_answers(&[closed, open], clock, &go_on), Some(open));
        assert_eq!(first_that_answers(&[open, closed], clock, &go_on), Some(open));
        assert_eq!(first_that_answers(&[closed, closed], clock, &go_on), Some(closed));
        assert_eq!(first_that_answers(&[closed], clock, &go_on), Some(closed), "the only address");
    }

    /// Goal: a name with thirty silent addresses, which took 2 s each one after another.
    #[test]
    fn silent_addresses_are_tried_in_parallel_and_interruptible() {
        let clock = RealClock::start();
        let (_listener, _held, silent) = silent();
        let open = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let stop = AtomicBool::new(true);
        let begun = clock.now();
        assert_eq!(first_that_answers(&[silent; 30], clock, &stop), None);
        assert!(clock.now() - begun < Nanos::from_secs(1));
        let listener = TcpListener::bind(open).unwrap();
        let mut addresses = vec![silent; 4];
        addresses.push(listener.local_addr().unwrap());
        stop.store(false, Ordering::Relaxed);
        let begun = clock.now();
        assert_eq!(first_that_answers(&addresses, clock, &stop), Some(open));
        let took = clock.now() - begun;
        assert!(ATTEMPT_DELAY <= took && took < Nanos::from_secs(8), "{took}");
    }

    #[test]
    fn long_work_is_interruptible() {
        let stop = AtomicBool::new(false);
        assert_eq!(unless_stopped(&stop, || 7), Some(7));
        stop.store(true, Ordering::Relaxed);
        let (_never, held) = channel::<()>();
        assert_eq!(unless_stopped(&stop, move || held.recv().is_ok()), None);
    }

    #[test]
    fn a_wait_ends_when_due_or_interrupted() {
        let clock = RealClock::start();
        assert!(!wait_until(Nanos::from_millis(60), clock, &AtomicBool::new(false)));
        assert!(Nanos::from_millis(60) <= clock.now());
        let far = clock.now() + Nanos::from_secs(3600);
        assert!(wait_until(far, clock, &AtomicBool::new(true)));
        let stop = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| wait_until(far, clock, &stop));
            stop.store(true, Ordering::Relaxed);
            assert!(waiting.join().unwrap());
        });
    }
}
