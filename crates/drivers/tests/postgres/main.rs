//! The driver of order entry on PostgreSQL against the server of Debian's package.

#[path = "../common/mod.rs"]
mod common;

mod fixture;
mod forms;
mod hostile;
mod interference;
mod loading;
