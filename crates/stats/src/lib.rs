//! Histograms, moments, laws and fits, every formula with its source.

mod bits;
mod buckets;
mod codec;
mod histogram;
mod moments;
mod order;

pub use codec::HistogramError;
pub use histogram::{Bucket, Histogram, Quantile};
pub use moments::Moments;
