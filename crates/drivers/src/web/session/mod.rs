//! Users with sessions: cookies, values taken from replies, rows of data, redirects that are followed.
//!
//! A workload without any of this has none of this code in its way: its drivers are those without sessions.
//!
//! - [`SessionDriver`]: performs an operation, redirect by redirect, on the driver of a transport
//! - `context`: what the sessions of a load thread share; `user`: what one user has
//! - `template`, `compose`: requests made from templates and the user's values
//! - `extract`: the values taken from replies
//! - `cookies`: a user's cookies
//! - `origin`, `redirect`, `elsewhere`: where a redirect leads, what is sent there, and servers besides the target
//! - [`untrusted`]: the parsers of what servers send, for tests
//!
//! Nothing of a session is ever stored or printed: not a value, not a cookie, not a row.

mod compose;
mod context;
mod cookies;
mod driver;
mod extract;
mod origin;
mod redirect;
mod redirect_targets;
mod template;
pub mod untrusted;
mod user;

pub use driver::SessionDriver;
pub use user::SessionUser;

pub(crate) use context::{SessionContext, SessionTarget};
