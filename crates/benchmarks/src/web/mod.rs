//! Web benchmarks, and the users that all of them have.

pub(crate) mod data;
pub(crate) mod dynpage;
pub(crate) mod one_object;
pub mod pages;
pub(crate) mod web96;
pub(crate) mod web_modern;
pub(crate) mod webbench;
pub mod webstone;
