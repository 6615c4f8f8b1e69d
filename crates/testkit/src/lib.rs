//! Simulated servers with a known law under a virtual clock; used from tests only.
//!
//! [`Simulation`] runs the real engine (users, pacing, dispatcher, recorder) against a [`SimServer`] with
//! known law and faults, and passes the records to the real analysis. Time advances only when every task
//! waits, so an hour costs as much as its events. Everything follows from the plan's seed.
//!
//! - `plan`: short constructors of plans
//! - `law`, `server`: the simulated server
//! - `queues`, `stall`: the values that theory predicts
//! - `driver`: its driver
//! - `executor`: the executor that moves the clock
//! - `simulation`: a run from plan to records and analysis
//! - `conservation`: identities that every record must obey
//! - `golden`: documents whose numbers must not change
//! - `seed`: prints the seed of a failing test
//!
//! For many sessions over sockets there is [`PostgresStub`], which speaks a database's protocol (`postgres`); for notices
//! over sockets `echo::EchoStub`, an echo server.
//!
//! [`resident_bytes`] measures what they take (`memory`).
//!
//! [`noise`] has the rules that a run may break on a busy machine.
//!
//! Besides, [`schema_faults`] validates JSON against the published schemas, [`keys_read`] and [`keys_named`] compare a
//! schema with its language, and [`consistency`] checks a report for contradictions.

mod conservation;
pub mod consistency;
mod driver;
#[cfg(feature = "echo")]
pub mod echo;
mod executor;
mod family;
pub mod golden;
mod json_schema;
mod law;
mod memory;
pub mod noise;
mod plan;
mod postgres;
mod queues;
mod schema_keys;
mod seed;
mod server;
mod sim_threads;
mod simulation;
mod stall;

pub use conservation::assert_conserved;
pub use json_schema::{closed, schema_faults};
pub use law::ServiceTimeDistribution;
pub use memory::resident_bytes;
pub use plan::{benchmark_plan, closed_plan, one_object, open_plan, phases, with_workload};
pub use postgres::PostgresStub;
pub use queues::{mg1_response, mm1_response, mm1_response_quantile, mmc_response};
pub use schema_keys::{SchemaKeys, is_published, keys_named, keys_read};
pub use seed::with_seed;
pub use server::{SimNotices, SimRequest, SimServer, StatedTimes, TimeWindow};
pub use simulation::{Recording, Simulation, analyze};
pub use stall::Stall;
