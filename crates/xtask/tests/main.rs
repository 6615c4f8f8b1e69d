//! The structure of the repository: layers of crates, words, and walls that cargo does not keep.

mod layers;
mod tidy;
