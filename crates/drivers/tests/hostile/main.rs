//! The corpus of hostile servers: each behavior ends in its named outcome, within bounded time and memory.
//! A binary of its own, because memory and descriptors are counted for the whole process.
//!
//! - `corpus`: every fault of the built-in server against a driver of the protocol that it affects.
//! - `runs`: some of them through whole runs of the engine.
//! - `app_http`: hostile application servers over HTTP, whose behaviors are in `app_behaviors`.
//! - `page`: `docs/design/hostile-servers.md` agrees with the tables.

#[path = "../common/mod.rs"]
mod common;

mod app_behaviors;
mod app_http;
mod corpus;
mod page;
mod runs;

/// Runs one test at a time: memory and descriptors are counted for the whole process.
fn alone() -> std::sync::MutexGuard<'static, ()> {
    static ALONE: std::sync::Mutex<()> = std::sync::Mutex::new(());
    ALONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// Returns the number of open descriptors of this process.
fn n_descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}
