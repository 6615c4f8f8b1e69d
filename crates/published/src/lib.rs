//! Published reports of benchmarks: what vendors printed, transcribed, audited and compared with runs.
//!
//! - [`PublishedReport`]: the language of a transcribed report; `docs/published.md` describes it
//! - [`published_reports`]: the built-in reports
//! - [`audit_report`]: whether all numbers of a report can be true at once
//! - [`published_results`]: the best result of every system, for comparison with a run

mod archive;
mod audit;
mod history;
mod report;

pub use archive::published_reports;
pub use audit::{PublishedFinding, audit_report};
pub use history::{PublishedResult, published_results};
pub use report::{
    Annotation, AnnotationKind, CalendarDate, Claim, Comparator, Dimension, Expression, Function, Operator,
    PUBLISHED_FORMAT, PrintedNumber, PublishedCell, PublishedColumn, PublishedQuantity, PublishedReport,
    PublishedTable, PublishedValue, QuantityForm, Reference, Repeat, RowOrder, Statement, published_schema,
};
