//! Simulated servers with a known law, from plan to verdict.

mod application;
mod file_clients;
mod find_max;
mod mail;
mod operations;
mod order_entry;
mod refinement;
mod simulation;
