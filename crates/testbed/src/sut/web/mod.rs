//! The parts of web servers.
//!
//! - `request`: the parts that are asked for
//! - `choice`: the part of a selection; `values`: values of placeholders
//! - `probe`: readiness checks
//! - `page_programs`: programs that generate pages
//! - `reverse_proxy`: the accelerator in front of a server; `warm`: filling its cache
//! - `running`: all of them as one value; `facts`: their disclosure; `listing`: those that are
//!   installed

mod choice;
pub(super) mod facts;
pub(super) mod listing;
mod page_programs;
mod probe;
mod request;
mod reverse_proxy;
mod running;
mod values;
mod warm;

pub use listing::{GatewayListing, accelerators};
pub use request::{Acceleration, Origin, WebLookUp, WebParts};

pub(super) use choice::WebChoice;
pub(super) use page_programs::write_programs;
pub(super) use probe::ProbeError;
pub(super) use request::with_parts_of_built_in;
pub(super) use reverse_proxy::{ReverseProxy, ReverseProxySetup};
pub(super) use running::RunningWeb;
pub(super) use values::WebValues;
