//! Events of a run, and who takes them.

use analysis::LoadPointStatus;
use model::{Example, IntervalRecord, LoadPoint, Reading};
use units::Nanos;

/// What goes on, for whoever watches.
#[derive(Debug)]
pub enum Event<'a> {
    /// A step of the preparation has begun: a clause such as `starting nginx`.
    Preparing(&'a str),
    /// The file set is being laid out.
    Files {
        /// Bytes in place.
        done: u64,
        /// Bytes altogether.
        total: u64,
    },
    /// The server is up and right.
    Ready {
        /// Where it is.
        address: String,
        /// What it is: one line.
        server: String,
    },
    /// What follows concerns this of several runs that take turns, by its place.
    Turn(usize),
    /// A load point begins.
    LoadPoint(LoadPoint),
    /// A second has passed.
    Interval(&'a IntervalRecord),
    /// The status of the load point, by the records that are stored: when it begins, after every second, and when all
    /// of it was judged. A load point that ends with an error is not judged.
    Status(&'a LoadPointStatus),
    /// A machine told its counters.
    Readings {
        /// Its number; 0 is this machine.
        machine: u32,
        /// When, from the start of the load point.
        at: Nanos,
        /// What it told, raw.
        readings: &'a [Reading],
    },
    /// The first failure of its kind in this load point.
    Example(&'a Example),
    /// Something that a watcher should know.
    Warning(String),
}

/// Watches a run.
pub trait Observer {
    /// Takes an event.
    fn event(&mut self, event: Event<'_>);
}
