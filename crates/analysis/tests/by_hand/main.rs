//! Every metric by hand, the working shown; audits of stated results; endings.

#[path = "../museum/record.rs"]
mod record;

mod attribute;
mod compare;
mod metrics;
mod scaling;
mod stated;
mod verdicts;
