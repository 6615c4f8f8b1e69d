//! The search for the highest load against an exhaustive sweep, on servers with a known law.
//!
//! A sweep and the search see the same noise, so that what differs is the search and not chance: the noise of
//! short load points alone would be more than the 3 % in question. Against the formula (`analytic`) every load
//! point is long and has noise of its own, repeats included, as on a real server.

mod analytic;
mod closed;
mod compliance;
mod open;
mod scenario;
