//! Reports set in type, as PDF.
//!
//! `disclosure` writes a report as markup ([`disclosure::render::typst`]); here it meets the typesetter, typst, which has
//! a crate to itself because of its weight. Without the feature `typst` this crate is empty.
//!
//! Nothing but the document and the date that it bears goes in: typst is given no file, no package, no font and no clock
//! of the machine's. So a report needs no network, and the same report is the same file, byte for byte.

#[cfg(feature = "typst")]
mod desk;
#[cfg(feature = "typst")]
mod rendering;

#[cfg(feature = "typst")]
pub use rendering::{Moment, Pdf, PdfError, render};
