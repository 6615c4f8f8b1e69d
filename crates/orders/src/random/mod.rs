//! Random values as the rows and inputs need them.
//!
//! - `nurand`: the non-uniform distribution of keys
//! - `text`: short texts, random ones, last names
//! - `uniform`: whole numbers and permutations
//!
//! Source: TPC-C revision 5.11, clauses 2.1.5, 2.1.6 and 4.3.2.

mod nurand;
mod text;
mod uniform;

pub use nurand::NuRand;
pub use text::{ShortText, is_original, last_name};

pub(crate) use nurand::{A_LAST_NAME, scaled_a};
pub(crate) use text::ORIGINAL;
pub(crate) use uniform::{is_percent, permutation, uniform};
