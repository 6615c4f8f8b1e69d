//! The parts of web servers.
//!
//! - `reverse_proxy`: the accelerator in front of a server; `warm`: filling its cache
//! - `memory_limit`: proof that a memory limit binds

mod memory_limit;
mod reverse_proxy;
mod warm;

pub use memory_limit::MemoryLimitProof;

pub(super) use memory_limit::prove;
pub(super) use reverse_proxy::ReverseProxy;
pub(super) use warm::fetch_all;
