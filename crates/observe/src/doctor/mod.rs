//! The doctor: checks whether this machine can carry a planned run.
//!
//! - `findings`: data about the machine
//! - `checks`: their comparison with the needs of a run

mod checks;
mod findings;

use std::fmt::Display;
use std::path::PathBuf;

use findings::MachineFindings;

use crate::inventory::Unavailable;

/// The needs of a planned run.
#[derive(Debug, Clone, PartialEq)]
pub struct DoctorInput {
    /// Maximum number of users, or operations in flight, over all load points.
    pub users_max: u32,
    /// Whether each request opens a connection.
    pub connection_per_request: bool,
    /// Maximum expected requests per second, if known.
    pub rate: Option<f64>,
    /// Number of local addresses that connections are made from; 1 if the system chooses.
    pub source_addresses: u32,
    /// Whether the server runs on this machine.
    pub shared: bool,
    /// Whether the server is started by the run.
    pub starts_server: bool,
    /// Whether server and load have separate CPUs, or the server has a quota.
    pub separated: bool,
    /// Directory of the run file.
    pub run_dir: PathBuf,
    /// Maximum expected size of the run file, in bytes.
    pub run_file_bytes: u64,
    /// Parent directory of the private folders of servers.
    pub work_dir: PathBuf,
    /// Directory of the file set.
    pub dataset_dir: PathBuf,
    /// Size of the file set, in bytes; 0 without one.
    pub dataset_bytes: u64,
}

/// The result of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum CheckState {
    /// Correct.
    Good,
    /// May affect the result.
    Warning,
    /// The run cannot work as planned.
    Bad,
}

/// One check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check {
    /// Name: `open files`.
    pub name: &'static str,
    /// The result.
    pub state: CheckState,
    /// The finding and the need, with the arithmetic.
    pub found: String,
    /// The advice; empty if all is well.
    pub advice: String,
}

/// Examines the machine for a run.
///
/// `quota` is how a CPU quota is enforced, or the reason why it is impossible: it shows only when a control group is
/// created, and an examination changes nothing.
pub fn examine(input: &DoctorInput, quota: Result<String, impl Display>) -> Vec<Check> {
    let quota = quota.map_err(|why| Unavailable::Because(why.to_string().into()));
    checks::judge(input, &MachineFindings::collect(input, quota))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_can_be_examined() {
        let input = DoctorInput {
            users_max: 200,
            connection_per_request: true,
            rate: None,
            source_addresses: 1,
            shared: true,
            starts_server: true,
            separated: true,
            run_dir: "/tmp/not/there/yet".into(),
            run_file_bytes: 30 << 20,
            work_dir: "/dev/shm".into(),
            dataset_dir: "/dev/shm".into(),
            dataset_bytes: 5_817_375,
        };
        let names: Vec<&str> =
            examine(&input, Ok::<_, Unavailable>("0.5 CPUs".into())).iter().map(|check| check.name).collect();
        for name in ["open files", "local ports", "listen queue", "space for the run file", "CPU quota"] {
            assert!(names.contains(&name), "{names:?}");
        }
    }
}
