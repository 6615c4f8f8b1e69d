//! Events of a run, and who takes them.

use analysis::LoadPointStatus;
use analysis::refinement::AddedLoad;
use model::{Example, IntervalRecord, LoadPoint, Reading};
use units::Nanos;

/// An event of a run, for its observers.
#[derive(Debug)]
pub enum Event<'a> {
    /// A step of the preparation has begun: a clause such as `starting nginx`.
    Preparing(&'a str),
    /// The check of one operation of each kind has begun, a step of the preparation as well.
    Probing(&'a str),
    /// The file set is being laid out.
    Files {
        /// Bytes in place.
        done: u64,
        /// Bytes altogether.
        total: u64,
    },
    /// Rows are being loaded into a database.
    Rows {
        /// Rows in place.
        done: u64,
        /// Rows altogether, about.
        total: u64,
    },
    /// The server is up and right.
    Ready {
        /// The address of the server.
        address: String,
        /// The server in one line.
        server: String,
    },
    /// All further events concern this of several runs that take turns, by its index.
    Turn(usize),
    /// The load point that comes next is not planned: the run adds it.
    Adding(AddedLoad),
    /// A load point begins.
    LoadPoint(LoadPoint),
    /// A second has passed.
    Interval(&'a IntervalRecord),
    /// The status of the load point, by the records that are stored: when it begins, after every second, and when all
    /// of it was judged. A load point that ends with an error is not judged.
    Status(&'a LoadPointStatus),
    /// A machine was read.
    Readings {
        /// Its number; 0 is this machine.
        machine: u32,
        /// When, from the start of the load point.
        at: Nanos,
        /// The values, raw.
        readings: &'a [Reading],
    },
    /// The first failure of its kind in this load point.
    Example(&'a Example),
    /// A warning to the user.
    Warning(String),
}

/// Watches a run.
pub trait Observer {
    /// Takes an event.
    fn event(&mut self, event: Event<'_>);
}
