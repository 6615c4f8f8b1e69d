//! Output formats of reports and of recorded data.
//!
//! HTML, Markdown and typst (which becomes a PDF or a picture) render the document, a summary its first page; CSV and JSON carry the numbers at full precision,
//! JUnit the verdict and the bounds of a comparison. The interval log, NDJSON and the CSV of intervals carry the recorded data and are written piece by
//! piece, because a whole run may not fit into memory.

mod csv;
mod hlog;
mod html;
mod intervals_csv;
mod json;
mod json_campaign;
mod json_comparison;
mod json_price;
mod json_resources;
mod json_stages;
mod json_steady;
mod junit;
mod junit_comparison;
mod markdown;
mod measures;
mod ndjson;
mod summary;
mod typst;

pub use csv::csv;
pub use hlog::IntervalLog;
pub use html::html;
pub use intervals_csv::{intervals_csv_head, intervals_csv_row};
pub(crate) use json::load as load_json;
pub use json::{FORMAT as JSON_FORMAT, json};
pub use json_campaign::{FORMAT as CAMPAIGN_FORMAT, campaign_json};
pub use json_comparison::{FORMAT as COMPARISON_FORMAT, comparison_json};
pub use junit::junit;
pub use junit_comparison::comparison_junit;
pub use markdown::markdown;
pub use ndjson::{FORMAT as NDJSON_FORMAT, Ndjson};
pub use summary::summary;
pub use typst::{FONTS as TYPST_FONTS, TypstFile, TypstSource, typst, typst_picture};

/// Confidence level of the intervals of recorded percentiles.
const CONFIDENCE: units::Ratio = units::Ratio(0.95);
