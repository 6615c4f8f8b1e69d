//! The store: what it keeps, what goes, what is found again.

mod disk;
mod eviction;
mod killed;
mod making;
mod memory;
