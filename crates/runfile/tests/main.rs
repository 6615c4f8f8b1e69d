//! Run files: written, read, damaged and sealed.

mod support;

mod crash;
mod opening;
mod round_trip;
mod seal;
mod size;
mod tampering;
