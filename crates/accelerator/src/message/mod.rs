//! The messages that frontend, exchange and origin pass to each other: requests, responses, header lines.

mod interim;
mod lines;
mod request;
mod response;

pub use interim::Interim;
pub use lines::{HeaderLines, LinesIter};
pub use request::{BodyError, ClientVersion, NoBody, Request, RequestBody};
pub use response::{Handling, HitPath, Response, ResponseBody};
