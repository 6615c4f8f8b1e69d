//! One directory per benchmark: definition, users, data set, rules.

mod benchmark;
mod dynpage;
mod one_object;
pub mod pages;
mod web96;
mod web_modern;
mod webbench;
pub mod webstone;

pub use benchmark::{
    Benchmark, BenchmarkLoadError, Builtin, BuiltinFilelist, UnknownBenchmark, all, builtin_filelist, find,
    from_definition, workload,
};
