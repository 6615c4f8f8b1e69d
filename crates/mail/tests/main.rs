//! Tests of the crate as others use it.

mod delivery;
mod golden;
mod loops;
mod messages;
mod servers;
