//! A benchmark made of URLs, `plimsoll run http://localhost:8080/`, or of command lines of cURL, `plimsoll run --curl FILE`.
//!
//! - `page`: URLs, and files of URLs
//! - `value`: values that may come from the environment
//! - `request`: methods, headers and bodies
//! - `curl`: command lines of cURL; `held`: what they send in confidence; `curl_remedies`: what is not taken of them
//! - `draft`: the benchmark as a value; `text`: its definition as TOML
//! - `survey`: what the server answers, and the check that follows from it
//! - `made`: all of it together; `compared`: of several servers that are compared

mod compared;
mod curl;
mod curl_remedies;
mod draft;
mod held;
mod made;
mod page;
mod request;
mod survey;
mod text;
mod value;

pub(crate) use compared::make_compared;
pub(crate) use made::{is_asked, make};
