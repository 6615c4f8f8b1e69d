//! Machines with a Prometheus exporter: no software of Plimsoll has to run there.
//!
//! - `text`: the exposition format, line by line
//! - `table`: the form of a table from series to counters
//! - `node`: the table of node_exporter
//! - `windows`: the table of windows_exporter
//! - `scrape`: conversion of a scrape to readings, by the tables
//! - `machine`: scraping once a second

mod machine;
mod node;
mod scrape;
mod table;
mod text;
mod windows;

pub use machine::PrometheusMachine;
pub use scrape::{ScrapeNotes, SeriesTables};
pub use text::{BadLines, Labels, SAMPLES_MAX, Sample, Samples};
