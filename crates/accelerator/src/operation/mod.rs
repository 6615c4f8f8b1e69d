//! Operation of the accelerator: start, reload and stop, metrics and the admin page.
//!
//! - `lifecycle`: [`Accelerator`], which assembles all parts
//! - `settings`: the settings of all parts
//! - `components`: the state shared by admin page, metrics and lifecycle
//! - `background`: the thread for probes and the admin page
//! - `status`: a snapshot of the accelerator
//! - `metrics`: the same for Prometheus
//! - `upgrade`: the hand-over of listening sockets to the process that replaces this one
//! - `admin`: the page, metrics and commands on a listener of its own

mod admin;
mod background;
mod components;
mod lifecycle;
mod metrics;
mod settings;
mod status;
mod upgrade;

pub use admin::AdminSettings;
pub use lifecycle::{Accelerator, AcceleratorStartError};
pub use settings::Settings;
pub use upgrade::{Predecessor, Successor, TakeOver, bind_control_socket};
