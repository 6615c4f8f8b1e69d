//! Simulated servers with a known law, from plan to verdict.

mod application;
#[cfg(feature = "echo")]
mod echo;
mod find_max;
mod order_entry;
mod refinement;
mod simulation;
