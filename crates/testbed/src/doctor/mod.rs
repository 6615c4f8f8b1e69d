//! Whether this machine can carry a planned run: what is found, held against what is needed.
//!
//! - `found`: looking at the machine
//! - `checks`: the arithmetic, apart from it

mod checks;
mod found;

use std::path::PathBuf;

use found::Found;

/// What a planned run needs.
#[derive(Debug, Clone, PartialEq)]
pub struct DoctorInput {
    /// Most users, or operations in flight, of all load points.
    pub users_max: u32,
    /// Whether each request makes a connection.
    pub connection_per_request: bool,
    /// Expected requests per second at most, if anything is known.
    pub rate: Option<f64>,
    /// How many local addresses connections are made from; 1 where the system chooses.
    pub source_addresses: u32,
    /// Whether the server runs on this machine.
    pub shared: bool,
    /// Whether server and load have CPUs of their own, or the server has a quota.
    pub separated: bool,
    /// Where the run file is written.
    pub run_dir: PathBuf,
    /// How large it may get, in bytes.
    pub run_file_bytes: u64,
    /// Where servers that are started get their own folders.
    pub work_dir: PathBuf,
    /// Where the file set is laid out.
    pub dataset_dir: PathBuf,
    /// How large it is, in bytes.
    pub dataset_bytes: u64,
}

/// How a check came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    /// As it should be.
    Good,
    /// Can move the result.
    Warning,
    /// The run will not be what it should.
    Bad,
}

/// One thing that was looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check {
    /// What: `open files`.
    pub name: &'static str,
    /// How it came out.
    pub state: State,
    /// What was found and what is needed, with the arithmetic.
    pub found: String,
    /// What to do; empty if all is well.
    pub advice: String,
}

/// Looks at the machine and holds it against what a run needs. Makes and removes a control group to see whether
/// that is allowed.
pub fn examine(input: &DoctorInput) -> Vec<Check> {
    checks::judge(input, &Found::look(input))
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
            separated: true,
            run_dir: "/tmp/not/there/yet".into(),
            run_file_bytes: 30 << 20,
            work_dir: "/dev/shm".into(),
            dataset_dir: "/dev/shm".into(),
            dataset_bytes: 5_817_375,
        };
        let names: Vec<&str> = examine(&input).iter().map(|check| check.name).collect();
        for name in ["open files", "local ports", "listen queue", "space for the run file", "CPU quota"] {
            assert!(names.contains(&name), "{names:?}");
        }
    }
}
