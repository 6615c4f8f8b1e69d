//! Fronts as clients meet them: real sockets, a real exchange and store, and an origin that does what a test wants.

mod client;
mod origin;
mod rig;

mod bodies;
mod connections;
mod limits;
mod protocols;
mod remembered;
mod smuggling;
mod stopping;
