//! Requests to scripted servers: well-behaved, slow, hostile and dead ones.

mod script;

mod balance;
mod health;
mod hostile;
mod kept;
mod limits;
mod probes;
mod responses;
mod tls;
mod uploads;
