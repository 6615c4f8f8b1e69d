//! What machines and services tell about themselves while a run goes on.

use units::Nanos;

use crate::Counter;

/// What of a run takes place on a machine that is watched.
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

/// A machine that is watched, or a service on it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Machine {
    /// For people: `this machine`, `http://sut:9100/metrics`.
    pub name: String,
    /// What takes place there.
    pub role: MachineRole,
}

/// One counter of one instance on one machine: what a value belongs to.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Series {
    /// Number of the machine in the run file, from 0.
    pub machine: u32,
    /// What is counted.
    pub counter: Counter,
    /// Of what, where a machine has several: `0` (a CPU), `sda`, `eth0`, `nginx`; else empty.
    pub instance: String,
}

/// What one machine told at one moment, raw: totals as they stand, not what they grew by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResourceRecord {
    /// Index of the load point.
    pub load_point: u32,
    /// Number of the machine.
    pub machine: u32,
    /// When, from the start of the load point; before it is its start.
    pub at: Nanos,
    /// Value per series: its number in the run file, rising, and what was read, in the unit of the counter.
    pub values: Vec<(u32, u64)>,
}

/// A value as it is read, before its series has a number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reading {
    /// What is counted.
    pub counter: Counter,
    /// Of what; empty where there is one.
    pub instance: String,
    /// In the unit of the counter.
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
