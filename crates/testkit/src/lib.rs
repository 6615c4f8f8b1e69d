//! Simulated servers with a known law under a virtual clock; used from tests only.
//!
//! [`Simulation`] runs the real engine (users, pacing, dispatcher, recorder) against a [`Server`]
//! whose law and faults are known, and hands the records to the real analysis. Time passes only
//! when everybody waits, so an hour costs as much as its events. Everything follows from the
//! plan's seed.
//!
//! - `plan`: short ways to a plan
//! - `law`, `server`: what is simulated
//! - `queues`, `stall`: what theory says of it
//! - `driver`: what the engine asks for
//! - `stage`: the executor that moves the clock
//! - `simulation`: a run from plan to records and analysis
//! - `conservation`: identities that every record must keep
//! - `golden`: documents whose numbers must not change
//! - `seed`: names the seed of a test that fails
//!
//! Apart from that, [`schema_faults`] holds JSON against the schemas that we publish, and [`consistency`] a report against
//! itself.

mod conservation;
pub mod consistency;
mod driver;
pub mod golden;
mod json_schema;
mod law;
mod plan;
mod queues;
mod seed;
mod server;
mod simulation;
mod stage;
mod stall;

pub use conservation::assert_conserved;
pub use json_schema::{closed, schema_faults};
pub use law::Law;
pub use plan::{closed_plan, one_object, open_plan, phases};
pub use queues::{mg1_response, mm1_response, mm1_response_quantile, mmc_response};
pub use seed::with_seed;
pub use server::{Request, Server, Window};
pub use simulation::{Recording, Simulation};
pub use stall::Stall;
