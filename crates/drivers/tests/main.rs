//! Drivers against peers within the test, against real databases, and on files of this machine.

mod common;

mod app;
mod app_http;
mod certificates;
mod client_certificates;
mod connections;
mod databases;
mod directory;
mod faults;
mod ganesha;
mod http2;
mod lost_connections;
mod mail;
mod mail_store;
mod orders;
mod requests;
mod runs;
mod samba;
mod sessions;
mod tls;
mod unix_sockets;
