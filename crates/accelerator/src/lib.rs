//! The web server accelerator: a caching reverse proxy in front of a web server.
//!
//! ```text
//! client ─► frontend ─ ClientRequest ─► exchange ─┬─► cache_store   stored responses, in memory and on disk
//!    ▲      (HTTP/1, HTTP/2,                │     ├─► flight        request collapsing
//!    │       TLS, limits)                   │     └─► origin        load balancing, connections to origins, health
//!    └───────────── Response ◄──────────────┘
//! ```
//!
//! [`cache_policy`] decides everything, as pure functions. [`observation`] counts and logs it, [`operation`] starts and
//! stops it, and [`config`] reads the settings from a file. Modules import only from those before them: `message`,
//! `origin`, `exchange`, `observation`, `frontend`, `operation`, `config`.
//!
//! The crate does not depend on the laboratory that measures it.

pub mod config;
pub mod exchange;
pub mod frontend;
pub mod message;
pub mod observation;
pub mod operation;
pub mod origin;
