//! Requests through the exchange, with a scripted origin on loopback behind it.

mod fixture;
mod interim;
mod origin;

mod collapse;
mod hits;
mod passing;
mod ranges;
mod room;
mod safety;
mod stale;
mod validation;
mod variants;
