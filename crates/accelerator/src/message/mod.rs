//! The messages that frontend, exchange and origin pass to each other: requests and responses.

mod interim;
mod request;
mod response;

pub use interim::Interim;
pub use request::{BodyError, ClientVersion, NoBody, Request, RequestBody};
pub use response::{Handling, HitPath, Response, ResponseBody};
