//! The accelerator: its parts from below, and the whole with clients and origin servers.

mod config;
mod exchange;
mod frontend;
mod http2;
mod http2_whole;
mod operation;
mod origin;
mod tls;
