//! Checkpoints of the write-ahead log: made as SQLite makes them by itself, and counted.

use std::ffi::c_int;
use std::sync::Arc;

use rusqlite::Connection;
use rusqlite::hooks::Wal;
use rusqlite::wal::CheckpointMode;

use crate::counts::StoreCounts;

/// Length of the log, in pages, from which on each commit tries a checkpoint: SQLite's own default.
const LOG_PAGES: c_int = 1000;

/// Has a connection count the checkpoints that its commits make.
pub(crate) fn count(database: &mut Connection, counts: Arc<StoreCounts>) -> rusqlite::Result<()> {
    let mut log = LogProgress::default();
    database.wal_hook(Some(move |wal: &mut Wal, pages: c_int| {
        log.committed(pages);
        if LOG_PAGES <= pages {
            // After a checkpoint that fails the next commit tries again, as SQLite does by itself.
            if let Ok((_, done)) = wal.checkpoint_v2(CheckpointMode::PASSIVE) {
                counts.add_checkpoint(log.checkpointed(done));
            }
        }
        Ok(())
    }))
}

/// The log as one connection has seen it last. A commit after a complete checkpoint begins the log anew.
#[derive(Debug, Default)]
struct LogProgress {
    /// Its length, in pages.
    pages: c_int,
    /// Those of them that checkpoints have written into the file.
    done: c_int,
}

impl LogProgress {
    /// Notes the length after a commit.
    fn committed(&mut self, pages: c_int) {
        if pages < self.pages {
            self.done = 0;
        }
        self.pages = pages;
    }

    /// Notes the pages done after a checkpoint; returns those that it has written.
    fn checkpointed(&mut self, done: c_int) -> u64 {
        let written = u64::try_from(done - self.done).unwrap_or(0);
        self.done = done;
        written
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A reader holds a checkpoint back at first; later commits complete it, and the log begins anew.
    #[test]
    fn each_page_is_counted_once() {
        let mut log = LogProgress::default();
        let mut written = Vec::new();
        for (pages, done) in [(1010, 400), (1020, 400), (1030, 1030), (1005, 1005)] {
            log.committed(pages);
            written.push(log.checkpointed(done));
        }
        assert_eq!(written, [400, 0, 630, 1005]);
        assert_eq!(log.checkpointed(-1), 0);
    }
}
