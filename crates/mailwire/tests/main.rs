//! Tests of the crate as others use it.

mod hostile;
mod imap;
mod servers;
mod smtp;
mod support;
