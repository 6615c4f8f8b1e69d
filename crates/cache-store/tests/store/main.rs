//! The store: insertion, eviction, purges, and the disk tier.

mod disk;
mod eviction;
mod fixture;
mod killed;
mod memory;
mod readers;
