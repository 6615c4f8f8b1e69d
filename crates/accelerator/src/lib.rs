//! The web server accelerator: a caching reverse proxy in front of a web server.
//!
//! So far its [`policy`]: what may be stored, reused, validated, updated and invalidated, as pure functions of heads
//! and times. It knows nothing of the laboratory that measures it.

pub mod policy;
