//! The corpus of hostile servers: each behaviour ends in its named outcome, within bounded time and memory.
//!
//! - `corpus`: every fault of the built-in server against a driver that speaks what the fault is about.
//! - `runs`: a handful of them through whole runs of the engine.
//! - `page`: `docs/design/hostile-servers.md` says the same as the table.

#[path = "../common/mod.rs"]
mod common;

mod corpus;
mod page;
mod runs;

/// Lets one test at a time through: memory and descriptors are the whole process's.
fn alone() -> std::sync::MutexGuard<'static, ()> {
    static ALONE: std::sync::Mutex<()> = std::sync::Mutex::new(());
    ALONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// Open descriptors of this process.
fn n_descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}
