//! The real binary, as users call it: real servers, loopback only, short runs.
//!
//! No test depends on the speed of the machine; only `quick.rs` expects a valid verdict.

mod support;

mod accelerate;
mod accelerators;
mod agent_faults;
mod agents;
mod app_servers;
mod audit;
mod before_after;
mod campaign;
mod ci;
mod compare;
mod consistency;
mod crash;
mod curl;
mod definitions;
#[cfg(feature = "echo")]
mod echo;
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
mod notes_mail;
mod operations;
mod orderentry;
mod own_sql;
mod pdf;
mod preflight;
mod price;
mod recipes;
mod run;
mod running_servers;
mod seal;
mod secrets;
mod serve_mail;
mod serve_orders;
mod serve_pages;
mod serverbench;
mod sessions;
mod shapes;
mod target;
mod tls;
mod url;
mod usage;
mod users;
mod view;
mod watch;
