//! What fronts, cache and origins hand each other: a request, a reply, header lines.

mod inbound;
mod interim;
mod lines;
mod reply;

pub use inbound::{BodyError, ClientVersion, Inbound, NoBody, RequestBody};
pub use interim::Interim;
pub use lines::{HeaderLines, LinesIter};
pub use reply::{Handling, HitPath, Reply, ReplyBody};
