//! The nouns of a run: benchmark, workload, load plan, records; plan and slice.
//!
//! Everything here is a value or a pure function: no input, no output, no clock.

mod content;
mod load;
mod operation;
mod phase;
mod plan;
mod record;
mod schedule;
mod slice;
mod testbed;
mod user;
mod with_serde;
mod workload;

pub use content::{CHUNK_BYTES, Content};
pub use load::{Arrivals, Load, LoadPoint};
pub use operation::{Kinded, Marks, Outcome, Reply, WebRequest};
pub use phase::{Phase, Phases};
pub use plan::{
    BenchmarkId, Connection, Headline, HttpVersion, Modification, PLAN_FORMAT, Plan, Protocol, Rules, SutPlan,
};
pub use record::{
    DetailRecord, Ending, Example, FailedTotals, Flow, Health, IntervalRecord, KindTotals, OkTotals, SutUse,
    UnitTotals,
};
pub use schedule::Schedule;
pub use slice::{Assignment, slice};
pub use testbed::{Fact, FactSection, Testbed};
pub use user::{Step, User};
pub use workload::{Object, Page, Workload};
