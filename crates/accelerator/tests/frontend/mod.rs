//! The frontend, from the clients' view: real sockets, a real exchange and store, and a scripted origin.

mod client;
mod fixture;
mod origin;

mod bodies;
mod connections;
mod limits;
mod protocols;
mod remembered;
mod smuggling;
mod stopping;
