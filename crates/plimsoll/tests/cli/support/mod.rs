//! What the tests of the command line share.
//!
//! - `lab`: a folder of its own for each test, and the real binary run in it
//! - `process`: a command that goes on running: a server, a run that will be interrupted
//! - `leftovers`: what a run may leave on the machine, and must not
//! - `website`: a server of another make with files of its own

#![allow(dead_code, unused_imports)] // Each test binary uses its part.

mod lab;
mod leftovers;
mod process;
mod website;

pub use lab::{Ended, Lab, Verdict};
pub use leftovers::Leftovers;
pub use process::Running;
pub use website::{Website, free_port};
