//! Support for the tests of the command line.
//!
//! - `fixture`: a directory for each test, and the real binary run in it
//! - `pages`: a server within the test, with pages of several kinds
//! - `process`: a running command: a server, or a run that will be interrupted
//! - `leftovers`: files and processes that a run must not leave behind
//! - `by_hand`: a third-party server started outside of any recipe
//! - `network`: a network of a test's own, and another machine in it
//! - `samba`: a file server that is no server of a run
//! - `ssh`: a server of `ssh`
//! - `load_file`: a load file of our own, to be replayed
//! - `website`: a third-party server with its own files

#![allow(dead_code, unused_imports)] // Each test binary uses its part.

mod by_hand;
mod fixture;
mod leftovers;
mod load_file;
mod network;
mod pages;
mod process;
mod samba;
mod ssh;
mod website;

pub(crate) use by_hand::{ManualServer, assert_half_is_left, assert_watched, program, wait_for, wait_within};
pub(crate) use fixture::{ExitedCommand, Fixture, Verdict};
pub(crate) use leftovers::Leftovers;
pub(crate) use load_file::LOAD_FILE;
pub(crate) use network::{OtherMachine, in_own_network};
pub(crate) use pages::Pages;
pub(crate) use process::RunningCommand;
pub(crate) use samba::Samba;
pub(crate) use ssh::SshServer;
pub(crate) use website::{Website, free_port};
