//! Drivers against peers within the test, and against real databases.

mod common;

mod app;
mod app_http;
mod certificates;
mod client_certificates;
mod connections;
mod databases;
mod faults;
mod http2;
mod lost_connections;
mod orders;
mod requests;
mod runs;
mod sessions;
mod tls;
mod unix_sockets;
