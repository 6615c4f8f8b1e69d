//! States and wait channels of a group's threads on another machine: each answer has those of some threads.

use std::collections::{BTreeMap, BTreeSet};

use model::{Counter, Reading};

use crate::monitor::processes::{WaitChannels, channel_name};
use crate::process::parse_stat;

/// The most threads of all groups together whose states are requested at a time. Those of more are requested in rotation.
pub(super) const THREADS_MAX: usize = 128;

/// A thread: the numbers of its process and its own.
pub(super) type ThreadKey = (u32, u32);

/// The texts about the states of a process's threads in an answer.
#[derive(Debug, Default)]
pub(super) struct ThreadStates {
    states: BTreeMap<u32, char>,
    channels: BTreeMap<u32, String>,
}

impl ThreadStates {
    /// Takes a line of `/proc/PID/task/NUMBER/stat`.
    pub(super) fn take_stat(&mut self, number: u32, text: &str) {
        self.states.extend(parse_stat(text).map(|(_, stat)| (number, stat.state)));
    }

    /// Takes a line of `/proc/PID/task/NUMBER/wchan`.
    pub(super) fn take_channel(&mut self, number: u32, text: &str) {
        self.channels.extend(channel_name(text).map(|name| (number, name)));
    }
}

/// A thread as last seen.
#[derive(Debug)]
struct SeenThread {
    state: char,
    /// The kernel function that it sleeps in, where that account may see it.
    channel: Option<String>,
}

/// The threads of a group as last seen.
#[derive(Debug, Default)]
pub(super) struct RemoteThreads {
    seen: BTreeMap<ThreadKey, SeenThread>,
    channels: WaitChannels,
}

impl RemoteThreads {
    /// Takes the states of threads of a process.
    pub(super) fn take(&mut self, pid: u32, states: &mut ThreadStates) {
        for (number, state) in std::mem::take(&mut states.states) {
            let sleeps = matches!(state, 'S' | 'D');
            let channel = states.channels.remove(&number).filter(|_| sleeps);
            self.seen.insert((pid, number), SeenThread { state, channel });
        }
    }

    /// Forgets threads that are not living any more, and reports how many are in each state and wait channel; nothing before
    /// any has been seen.
    pub(super) fn report(&mut self, living: &BTreeSet<ThreadKey>, label: &str, into: &mut Vec<Reading>) {
        self.seen.retain(|key, _| living.contains(key));
        if self.seen.is_empty() {
            return;
        }
        for (counter, state) in [
            (Counter::SutThreadsRunning, 'R'),
            (Counter::SutThreadsWaiting, 'S'),
            (Counter::SutThreadsBlocked, 'D'),
        ] {
            let n = self.seen.values().filter(|thread| thread.state == state).count();
            into.push(Reading::of(counter, label, n as u64));
        }
        let channels = self.seen.values().filter_map(|thread| thread.channel.as_deref());
        self.channels.report(label, channels, into);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stat(number: u32, state: char) -> String {
        format!("{number} (nginx) {state} 1 10 10 0 -1 4 0 0 0 0 0 0 0 0 20 0 1 0 5 5 6 7")
    }

    /// By hand: three threads in two answers, of which one ends.
    #[test]
    fn threads_are_counted_as_they_were_last_seen() {
        let mut threads = RemoteThreads::default();
        let mut living: BTreeSet<ThreadKey> = [(10, 10), (10, 11), (10, 12)].into();
        let mut readings = Vec::new();
        threads.report(&living, "pid=10", &mut readings);
        assert_eq!(readings, [], "none has been seen");
        for seen in [&[(10, 'S', "ep_poll"), (11, 'R', "0")][..], &[(12, 'S', "futex_wait_queue.isra.0")]] {
            let mut states = ThreadStates::default();
            for (number, state, channel) in seen {
                states.take_stat(*number, &stat(*number, *state));
                states.take_channel(*number, channel);
            }
            threads.take(10, &mut states);
        }
        threads.report(&living, "pid=10", &mut readings);
        let of = |readings: &[Reading], counter: Counter, instance: &str| -> Option<u64> {
            readings
                .iter()
                .find(|one| one.counter == counter && one.instance == instance)
                .map(|one| one.value)
        };
        assert_eq!(of(&readings, Counter::SutThreadsRunning, "pid=10"), Some(1));
        assert_eq!(of(&readings, Counter::SutThreadsWaiting, "pid=10"), Some(2));
        assert_eq!(of(&readings, Counter::SutWaitChannel, "pid=10 ep_poll"), Some(1));
        assert_eq!(of(&readings, Counter::SutWaitChannel, "pid=10 futex_wait_queue"), Some(1));
        living.remove(&(10, 12));
        readings.clear();
        threads.report(&living, "pid=10", &mut readings);
        assert_eq!(of(&readings, Counter::SutThreadsWaiting, "pid=10"), Some(1));
        assert_eq!(of(&readings, Counter::SutWaitChannel, "pid=10 futex_wait_queue"), Some(0));
    }
}
