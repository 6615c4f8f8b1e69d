//! The web family over HTTP/1: fetch objects, check every byte.
//!
//! - [`Origin`]: what all connections of a thread share: address, requests, content, read buffer.
//! - [`WebDriver`]: performs requests for one virtual user.
//! - `reply`: follows a reply through whatever pieces arrive, without a socket.
//! - `connection`: sockets.

mod connection;
mod driver;
mod origin;
mod reply;

pub use driver::WebDriver;
pub use origin::{Origin, OriginError, Target, TargetError};
