//! A directory per family, and in it one per benchmark: definition, users, data set, rules.

pub mod app;
mod benchmark;
mod builtin;
#[cfg(feature = "echo")]
pub mod echo;
pub mod file;
pub mod mail;
pub mod orderentry;
pub mod sql;
pub mod web;

pub use benchmark::{
    Benchmark, BenchmarkLoadError, UnknownBenchmark, all, builtin_filelist, filelist_workload, find,
    from_definition,
};
pub use builtin::{Builtin, BuiltinFilelist};
