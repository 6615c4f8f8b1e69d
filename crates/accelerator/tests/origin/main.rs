//! Requests to scripted servers: well-behaved, slow, hostile and dead ones.

mod script;

mod balance;
mod hostile;
mod kept;
mod limits;
mod probes;
mod replies;
mod tls;
mod uploads;
