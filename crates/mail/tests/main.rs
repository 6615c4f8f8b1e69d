//! Tests of the crate as others use it.

mod golden;
mod loops;
mod messages;
