//! Every metric by hand, the working shown; audits of stated results; endings.

mod attribute;
mod compare;
mod metrics;
mod scaling;
mod score;
mod shape;
mod stated;
mod status;
mod trend;
mod verdicts;
