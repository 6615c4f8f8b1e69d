//! Notices for the operator: this crate never prints.

use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};

use units::{WallTime, wall};

/// The most notices that are kept for the admin page; the oldest go.
const KEPT_MAX: usize = 100;

/// The most notices that may wait for their reader; further ones are kept only.
const WAITING_MAX: usize = 1_000;

/// The level of a notice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoticeLevel {
    /// Information.
    Info,
    /// A warning: the operator should look at it.
    Warning,
}

impl NoticeLevel {
    /// Returns its name.
    pub fn name(self) -> &'static str {
        match self {
            NoticeLevel::Info => "info",
            NoticeLevel::Warning => "warning",
        }
    }
}

/// A notice: an event, described in a clause.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    /// The time of the event.
    pub time: WallTime,
    /// Its level.
    pub severity: NoticeLevel,
    /// A clause in lower case without full stop; a hint may follow on a line of its own.
    pub text: String,
}

/// A channel for notices: a handle that is cloned to every part that may send some.
///
/// Sending never waits. The default has no reader.
#[derive(Debug, Clone, Default)]
pub struct Notices {
    kept: Arc<Mutex<VecDeque<Notice>>>,
    listener: Option<SyncSender<Notice>>,
}

impl Notices {
    /// Makes a handle and the receiver of its notices.
    pub fn new() -> (Notices, Receiver<Notice>) {
        let (sender, receiver) = sync_channel(WAITING_MAX);
        (Notices { kept: Arc::default(), listener: Some(sender) }, receiver)
    }

    /// Sends information.
    pub fn info(&self, text: impl Into<String>) {
        self.notify(NoticeLevel::Info, text.into());
    }

    /// Sends a warning.
    pub fn warn(&self, text: impl Into<String>) {
        self.notify(NoticeLevel::Warning, text.into());
    }

    /// Returns the latest notices, newest last.
    pub(crate) fn recent(&self) -> Vec<Notice> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }

    fn notify(&self, severity: NoticeLevel, text: String) {
        let notice = Notice { time: wall(), severity, text };
        if let Some(listener) = &self.listener {
            // The channel is full, or has no reader: the notice is kept all the same.
            let _ = listener.try_send(notice.clone());
        }
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() == KEPT_MAX {
            kept.pop_front();
        }
        kept.push_back(notice);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notices_reach_the_receiver_and_the_latest_are_kept() {
        let (notices, listener) = Notices::new();
        for k in 0..=KEPT_MAX {
            notices.clone().warn(format!("notice {k}"));
        }
        notices.info("the last");
        let received: Vec<Notice> = listener.try_iter().collect();
        assert_eq!(received.len(), KEPT_MAX + 2);
        assert_eq!(received[0].text, "notice 0");
        let kept = notices.recent();
        assert_eq!((kept.len(), &*kept[0].text), (KEPT_MAX, "notice 2"));
        assert_eq!(
            kept.last().map(|last| (last.severity, &*last.text)),
            Some((NoticeLevel::Info, "the last"))
        );
    }

    #[test]
    fn notices_without_receiver_or_beyond_the_queue_are_kept() {
        let (notices, listener) = Notices::new();
        (0..WAITING_MAX + 10).for_each(|_| notices.info("again"));
        assert_eq!(listener.try_iter().count(), WAITING_MAX);
        drop(listener);
        notices.info("gone");
        Notices::default().info("nobody");
    }
}
