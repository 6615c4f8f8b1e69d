//! The disclosure report: document model, sections, charts, renderers.
//!
//! Everything here is a function of its arguments. A [`Report`] goes through [`outline`] to a
//! [`Document`], and that to HTML or Markdown; the CSV and JSON forms take the report itself,
//! because they carry every number at full precision.

mod campaign;
mod comparison;
mod document;
mod numbers;
mod report;
mod scaling;

pub mod charts;
pub mod render;
mod sections;

pub use campaign::{CampaignRun, campaign_document, comparison_sections};
pub use comparison::{
    comparison_changes, comparison_document, comparison_overall, comparison_summary, comparison_table,
    comparison_text, configuration_table,
};
pub use document::{
    Align, Banner, Block, Cell, Column, Document, Figure, Hero, Lead, NoteKind, Row, Section, Span, Table,
    Text, Tile, Tone,
};
pub use report::{PriceSheet, Provenance, Report};
pub use scaling::scaling_text;
pub use sections::{headline_text, outline, price_text, results_table};
