//! Users of the web family: they fetch pages, request by request, and think after each.
//!
//! - `mix`: the pages of a workload at one level of load
//! - `user`: the state machine of a virtual user
//! - `schedule`: the k-th operation of an open loop
//! - `all`: these together, for the engine

mod all;
mod mix;
mod schedule;
mod user;

pub use all::Pages;
pub use mix::PageMix;
pub use schedule::PageSchedule;
pub use user::PageUser;
