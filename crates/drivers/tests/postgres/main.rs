//! The driver of order entry on PostgreSQL against the server of Debian's package.

mod fixture;
mod forms;
mod hostile;
mod interference;
mod loading;
