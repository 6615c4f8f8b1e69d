//! The web server accelerator: a caching reverse proxy in front of a web server.
//!
//! ```text
//!  client ─► front ─ Inbound ─► exchange ─┬─► store       what is kept, in memory and on disk
//!     ▲      (HTTP/1, HTTP/2,             ├─► flight      one request for many that wait
//!     │       TLS, limits)                └─► origin      connections to the servers behind, health, balance
//!     └──────────── Reply ◄────┘
//!                        policy decides everything, as pure functions; operation watches it
//! ```
//!
//! It knows nothing of the laboratory that measures it.

pub mod config;
pub mod exchange;
pub mod front;
pub mod message;
pub mod operation;
pub mod origin;
pub mod policy;
pub mod store;
