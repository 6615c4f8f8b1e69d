//! What the tests of the command line share.
//!
//! - `lab`: a folder of its own for each test, and the real binary run in it
//! - `process`: a command that goes on running: a server, a run that will be interrupted
//! - `leftovers`: what a run may leave on the machine, and must not

#![allow(dead_code, unused_imports)] // Each test binary uses its part.

mod lab;
mod leftovers;
mod process;

pub use lab::{Ended, Lab};
pub use leftovers::Leftovers;
pub use process::Running;
