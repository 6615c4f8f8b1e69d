//! The mail server on loopback, by clients that read its replies with `mailwire`.

mod client;
mod faults;
mod hostile;
mod imap;
mod messages;
mod smtp;
