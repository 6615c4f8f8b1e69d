//! Users of the web family: they fetch pages, request by request, and think after each.
//!
//! - `mix`: the pages of a workload at one level of load, ready to be drawn from
//! - `user`: what a virtual user does next
//! - `schedule`: what the k-th operation is in an open loop
//! - `all`: these together, as the engine takes them

mod all;
mod mix;
mod schedule;
mod user;

pub use all::Pages;
pub use mix::PageMix;
pub use schedule::PageSchedule;
pub use user::PageUser;
