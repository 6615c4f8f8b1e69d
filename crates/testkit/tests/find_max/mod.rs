//! The search for the highest load against an exhaustive sweep, on servers with a known law.
//!
//! A sweep and the search see the same noise, so that a difference is due to the search and not to chance:
//! the noise of short load points alone would exceed the 3 % in question. Against the formula (`analytic`)
//! every load point is long and has its own noise, including repeats, as on a real server.

mod analytic;
mod closed;
mod compliance;
mod open;
mod scenario;
