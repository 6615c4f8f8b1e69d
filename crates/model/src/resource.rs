//! Metrics of machines and services, recorded during a run.

use units::Nanos;

use crate::Counter;

/// The role of a monitored machine in a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum MachineRole {
    /// Server and load.
    Both,
    /// The server alone.
    Sut,
    /// The load alone.
    Load,
}

impl MachineRole {
    /// All roles.
    pub const ALL: [MachineRole; 3] = [MachineRole::Both, MachineRole::Sut, MachineRole::Load];

    /// Returns the role as it is stored.
    pub fn name(self) -> &'static str {
        match self {
            MachineRole::Both => "server and load",
            MachineRole::Sut => "server",
            MachineRole::Load => "load",
        }
    }
}

/// A monitored machine, or a service on it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MonitoredSource {
    /// The name for people: `this machine`, `http://sut:9100/metrics`.
    pub name: String,
    /// The role of the machine.
    pub role: MachineRole,
}

/// A time series: one counter of one instance on one machine.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Series {
    /// Number of the machine in the run file, from 0.
    pub machine: u32,
    /// The counter.
    pub counter: Counter,
    /// The instance, where a machine has several: `0` (a CPU), `sda`, `eth0`, `nginx`; else empty.
    pub instance: String,
}

/// The raw readings of one machine at one moment: totals are not yet differences.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResourceRecord {
    /// Index of the load point.
    pub load_point: u32,
    /// Number of the machine.
    pub machine: u32,
    /// The time of the readings, from the start of the load point; readings before it are at its start.
    pub at: Nanos,
    /// The series by its number in the run file, ascending, and the value in the unit of the counter.
    pub values: Vec<(u32, u64)>,
}

/// A value as it is read, before its series has a number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reading {
    /// The counter.
    pub counter: Counter,
    /// The instance; empty where there is one only.
    pub instance: String,
    /// The value in the unit of the counter.
    pub value: u64,
}

impl Reading {
    /// Makes the reading of a counter that a machine has once.
    pub fn new(counter: Counter, value: u64) -> Reading {
        Reading { counter, instance: String::new(), value }
    }

    /// Makes the reading of one of several instances.
    pub fn of(counter: Counter, instance: impl Into<String>, value: u64) -> Reading {
        Reading { counter, instance: instance.into(), value }
    }
}
