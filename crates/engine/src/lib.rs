//! The hot loop: users × pacing × driver × recorder, for one load thread.
//!
//! One load thread runs its share of one load point. Everything it touches is its own: clock,
//! timers, users, connections, recorder. Nothing is shared, locked or formatted in the loop.
//!
//! ```text
//!   closed loop                              open loop
//!   User ── Step ──► closed::user            Schedule ── due ──► Dispatcher ──► open::slot
//!                        │ perform(operation, sent)                    │
//!                        └───────────────► Driver ◄────────────────────┘
//!                                            │ Reply with its measures
//!                                            ▼
//!                                         Recorder ── IntervalRecord, one per second ──► Sink
//! ```
//!
//! A user may have several operations in flight over its one session (`window`): the requests of a stream over a network.
//!
//! A schedule is walked once: the recorder counts its operations as they fall due, and keeps those that wait for a slot
//! (`due_queue`). In an open loop whose users have state ([`model::Mix::has_user_state`]), each user has a part of the schedule in place
//! of slots and dispatcher (`open::user`).
//!
//! The engine knows no protocol (that is the [`Driver`]) and no real time (that is the clock): a
//! simulated run uses the same code with a [`units::SimClock`] and an executor that moves it.

// A cast that can lose something is an error. Counts become `f64` by a cast nevertheless: below 2⁵³ they are exact, and
// beyond it no figure needs their last digits.
#![cfg_attr(
    not(test),
    deny(
        clippy::cast_lossless,
        clippy::cast_possible_truncation,
        clippy::cast_possible_wrap,
        clippy::cast_sign_loss
    )
)]

mod blocking;
mod budget;
mod closed;
mod deadlines;
pub mod descriptor;
mod dispatcher;
mod driver;
mod due_queue;
mod examples;
mod lifetime;
mod notice_outbox;
mod open;
mod point;
mod point_context;
mod recorder;
mod scheduled_user;
mod session;
mod session_error;
mod setup;
mod stop_request;
mod thread;
mod time_integral;
mod timers;
mod user_times;
mod window;

pub use crate::blocking::{BlockingClock, BlockingDriver, BlockingRuntime, run_blocking_point};
pub use crate::budget::OperationBudget;
pub use crate::driver::Driver;
pub use crate::notice_outbox::NoticeOutbox;
pub use crate::point::run_point;
pub use crate::point_context::{PointContext, RecordSink, Spawn};
pub use crate::session::OpenedSessions;
pub use crate::session_error::SessionError;
pub use crate::setup::{HealthProbe, LoadThreadUse, PointSetup, PointStart, Runtime};
pub use crate::stop_request::StopRequest;
pub use crate::thread::{ThreadMeters, TokioSpawn, run_point_on_this_thread, sleep_on_descriptor};
pub use crate::timers::{Sleep, Timers};
