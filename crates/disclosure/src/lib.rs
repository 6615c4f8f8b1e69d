//! The disclosure report: document model, sections, charts, renderers.
//!
//! Everything here is a function of its arguments. A [`Report`] goes through [`outline`] to a
//! [`Document`], and that to HTML or Markdown; the CSV and JSON forms take the report itself,
//! because they carry every number at full precision.

mod comparison;
mod document;
mod numbers;
mod report;
mod scaling;

pub mod charts;
pub mod render;
mod sections;

pub use comparison::{comparison_document, comparison_summary, comparison_table};
pub use document::{
    Align, Banner, Block, Cell, Column, Document, Figure, Hero, NoteKind, Row, Section, Span, Table, Text,
    Tile, Tone,
};
pub use report::{Provenance, Report};
pub use scaling::scaling_text;
pub use sections::{outline, results_table};
