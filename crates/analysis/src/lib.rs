//! Records to metrics, rules to verdict: pure functions of the run file.

mod result;

pub use result::*;
