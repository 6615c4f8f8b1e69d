//! What the accelerator has to say to whoever runs it: this crate never prints.

use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};

use units::{WallTime, wall};

/// How many notices are kept for the admin page; the oldest go.
const KEPT_MAX: usize = 100;

/// How many may wait for whoever reads them; what comes then is kept only.
const WAITING_MAX: usize = 1_000;

/// How much a notice matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Severity {
    /// Good to know.
    Info,
    /// Somebody should look at it.
    Warning,
}

impl Severity {
    /// Returns its name.
    pub fn name(self) -> &'static str {
        match self {
            Severity::Info => "info",
            Severity::Warning => "warning",
        }
    }
}

/// Something that happened, in a sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    /// When.
    pub time: WallTime,
    /// How much it matters.
    pub severity: Severity,
    /// A clause in lower case without full stop; a hint may follow on a line of its own.
    pub text: String,
}

/// Where notices go: a handle that is cloned to every part that may have something to say.
///
/// Telling never waits. The default is one that nobody listens to.
#[derive(Debug, Clone, Default)]
pub struct Notices {
    kept: Arc<Mutex<VecDeque<Notice>>>,
    listener: Option<SyncSender<Notice>>,
}

impl Notices {
    /// Makes a handle and what its notices come out of.
    pub fn new() -> (Notices, Receiver<Notice>) {
        let (sender, receiver) = sync_channel(WAITING_MAX);
        (Notices { kept: Arc::default(), listener: Some(sender) }, receiver)
    }

    /// Tells what is good to know.
    pub fn info(&self, text: impl Into<String>) {
        self.tell(Severity::Info, text.into());
    }

    /// Tells what somebody should look at.
    pub fn warn(&self, text: impl Into<String>) {
        self.tell(Severity::Warning, text.into());
    }

    /// Returns the latest notices, the newest last.
    pub fn recent(&self) -> Vec<Notice> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }

    fn tell(&self, severity: Severity, text: String) {
        let notice = Notice { time: wall(), severity, text };
        if let Some(listener) = &self.listener {
            // Full, or nobody is left: it is kept all the same.
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
    fn notices_reach_the_listener_and_the_latest_are_kept() {
        let (notices, listener) = Notices::new();
        for k in 0..=KEPT_MAX {
            notices.clone().warn(format!("notice {k}"));
        }
        notices.info("the last");
        let heard: Vec<Notice> = listener.try_iter().collect();
        assert_eq!(heard.len(), KEPT_MAX + 2);
        assert_eq!(heard[0].text, "notice 0");
        let kept = notices.recent();
        assert_eq!((kept.len(), &*kept[0].text), (KEPT_MAX, "notice 2"));
        assert_eq!(kept.last().map(|last| (last.severity, &*last.text)), Some((Severity::Info, "the last")));
    }

    #[test]
    fn telling_nobody_and_telling_too_much_is_no_mistake() {
        let (notices, listener) = Notices::new();
        (0..WAITING_MAX + 10).for_each(|_| notices.info("again"));
        assert_eq!(listener.try_iter().count(), WAITING_MAX);
        drop(listener);
        notices.info("gone");
        Notices::default().info("nobody");
    }
}
