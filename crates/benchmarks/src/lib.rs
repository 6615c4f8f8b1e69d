//! One directory per benchmark: definition, users, data set, rules.

mod benchmark;
mod one_object;
pub mod pages;
pub mod webstone;

pub use benchmark::{Benchmark, Builtin, LoadError, UnknownBenchmark, all, find, from_definition, workload};
