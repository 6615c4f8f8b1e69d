//! The disclosure report: document model, sections, charts, renderers.
//!
//! Everything here is a pure function of its arguments. [`outline`] turns a [`Report`] into a [`Document`], which is
//! rendered as HTML, Markdown or typst. The CSV and JSON exports take the report itself, because they contain every
//! number at full precision.

mod bottleneck;
mod campaign;
mod comparison;
mod document;
mod findings;
mod numbers;
mod report;
mod scaling;
mod trend;

pub mod charts;
pub mod render;
mod sections;

pub use bottleneck::bottleneck_text;
pub use campaign::{CampaignRun, campaign_document, comparison_sections};
pub use comparison::{
    bound_text, compare_error_text, comparison_changes, comparison_document, comparison_overall,
    comparison_summary, comparison_table, comparison_text, configuration_table, judged_bound_text,
    plan_difference_text, runs_needed, single_runs_text,
};
pub use document::{
    Align, Banner, Block, Cell, Column, Document, Figure, Hero, LeadFigure, NoteKind, Row, RowStyle, Section,
    Span, Table, Text, Tile,
};
pub use findings::{
    Hints, ReasonGroup, catalog_difference_text, compliance_text, finding_brief, finding_hint, finding_text,
    reason_groups, reason_hint, table_difference_text,
};
pub use numbers::figure as figure_text;
pub use report::{PriceSheet, Provenance, Report};
pub use scaling::scaling_text;
pub use sections::{headline_text, outline, price_text, results_table, stages_text, table_notes};
pub use trend::{TREND_FORMAT, TrendedRun, trend_document, trend_json, trend_table, trend_text};
