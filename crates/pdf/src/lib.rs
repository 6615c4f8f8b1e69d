//! Reports as PDF, and their first screens as pictures.
//!
//! `disclosure` renders a report as markup ([`disclosure::render::typst`]); this crate typesets it with
//! typst, which is so large that it has a crate of its own. Without the feature `typst` this crate is empty.
//!
//! The only inputs are the document and its date: typst has no access to files, packages, fonts or the clock
//! of the machine. So a report needs no network, and the same report gives the same file, byte for byte.

#[cfg(feature = "typst")]
mod rendering;
#[cfg(feature = "typst")]
mod typst_world;

#[cfg(feature = "typst")]
pub use rendering::{Pdf, PdfError, UtcDateTime, picture, render};
