//! Every metric by hand, the working shown; audits of stated results; endings.

#[path = "../faulty_records/record.rs"]
mod record;

mod attribute;
mod compare;
mod metrics;
mod scaling;
mod score;
mod stated;
mod status;
mod trend;
mod verdicts;
