//! A benchmark made of URLs: `plimsoll run http://localhost:8080/`.
//!
//! - `page`: URLs, and files of URLs
//! - `value`: values that may come from the environment
//! - `request`: methods, headers and bodies
//! - `draft`: the benchmark as a value; `text`: its definition as TOML
//! - `survey`: what the server answers, and the check that follows from it
//! - `made`: all of it together

mod draft;
mod made;
mod page;
mod request;
mod survey;
mod text;
mod value;

pub(crate) use made::{is_asked, make};
