//! The real binary, as a user calls it: real servers, loopback only, short runs.
//!
//! Nothing here depends on how fast the machine is; the one test that asks for a valid verdict is `quick.rs`.

mod support;

mod accelerate;
mod accelerators;
mod audit;
mod campaign;
mod compare;
mod consistency;
mod crash;
mod definitions;
mod exports;
mod family;
mod faults;
mod files;
mod gateways;
mod help;
mod history;
mod interrupt;
mod inventory;
mod kept_runs;
mod limits;
mod metrics;
mod nginx;
mod paper;
mod preflight;
mod price;
mod recipes;
mod run;
mod seal;
mod secrets;
mod target;
mod tls;
mod usage;
mod users;
mod view;
