//! Reports of runs made by hand.

mod fixture;

mod app_family;
mod browser;
mod campaign;
mod comparison;
mod consistency;
mod exports;
mod file_family;
mod findings;
mod golden;
mod layout;
mod load_machines;
mod narrative;
mod pictures;
mod price;
mod quality;
mod report;
mod schema;
mod stages;
mod trend;
mod watched;
mod web_family;
