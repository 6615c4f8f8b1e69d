//! The binary frame: golden bytes and properties.

mod golden;
mod properties;
