//! Measurements and long tests of the whole program, for `cargo xtask`.
//!
//! - `bench`: the load generator, the accelerator, the application server, clients of file servers and terminals on databases,
//!   compared with others
//! - `compare_alarms`: identical servers that are called different, and slower ones that are found
//! - `soak`: the accelerator under disturbances; `conformance`: the public test suite for HTTP caches
//! - `throttles`: servers that are throttled on purpose
//! - `record`: recorded runs; `examples`: the reports that the documentation shows
//! - `build`, `packages`: the program under test, and the Debian packages that are needed
//! - `packaging`: packages, archives and images of Plimsoll, made and tried
//! - `noise`: other programs that use the machine meanwhile
//! - `namespace`: network namespaces
//! - `options`, `shell`: command lines

pub mod bench;
pub mod build;
pub mod compare_alarms;
pub mod conformance;
pub mod examples;
mod namespace;
pub mod noise;
pub mod options;
pub mod packages;
pub mod packaging;
pub mod record;
pub mod shell;
pub mod soak;
pub mod throttles;
