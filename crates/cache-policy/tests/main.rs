//! The rules of caching: case by case, and as properties.

mod cases;
mod properties;
