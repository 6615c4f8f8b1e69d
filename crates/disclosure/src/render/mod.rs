//! The forms of a report.
//!
//! HTML and Markdown render the document; CSV and JSON carry the numbers at full precision.

mod csv;
mod html;
mod json;
mod json_resources;
mod markdown;

pub use csv::csv;
pub use html::html;
pub use json::{FORMAT as JSON_FORMAT, comparison_json, json};
pub use markdown::markdown;
