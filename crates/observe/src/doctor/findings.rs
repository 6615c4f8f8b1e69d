//! Data about the machine, collected for the checks.

use std::path::PathBuf;

use units::Ratio;

use super::DoctorInput;
use crate::disk::free_bytes;
use crate::inventory::{Unavailable, clock_source, governors, port_range, steal_ratio, sysctl};
use crate::leftovers::find_stale;
use crate::open_files::open_files_max;
use crate::private_folder::{check_private_folder, private_folders_of};

/// Data about the machine; separate from the checks, so that these can be tested by hand.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct MachineFindings {
    pub open_files_max: u64,
    pub port_range: Option<(u16, u16)>,
    pub tw_reuse: Option<u32>,
    pub tw_reuse_delay_ms: Option<f64>,
    pub timestamps: bool,
    pub tw_buckets_max: Option<u64>,
    pub somaxconn: Option<u64>,
    pub governors: Vec<String>,
    pub clock_source: Option<String>,
    pub run_dir_free: Option<u64>,
    pub dataset_dir_free: Option<u64>,
    pub steal: Option<Ratio>,
    /// The enforcement of a quota, or the reason why it is impossible.
    pub quota: Result<String, Unavailable>,
    pub stale: Vec<PathBuf>,
    /// The private folders of this user, and their problems.
    pub private_folders: Vec<(PathBuf, Option<String>)>,
}

impl MachineFindings {
    /// Collects the data, except `quota`, which is given.
    pub(super) fn collect(input: &DoctorInput, quota: Result<String, Unavailable>) -> MachineFindings {
        let number = |name: &str| sysctl(name)?.parse::<u32>().ok();
        MachineFindings {
            open_files_max: open_files_max(),
            port_range: port_range(),
            tw_reuse: number("net.ipv4.tcp_tw_reuse"),
            tw_reuse_delay_ms: number("net.ipv4.tcp_tw_reuse_delay").map(f64::from),
            timestamps: number("net.ipv4.tcp_timestamps").is_none_or(|on| on != 0),
            tw_buckets_max: number("net.ipv4.tcp_max_tw_buckets").map(u64::from),
            somaxconn: number("net.core.somaxconn").map(u64::from),
            governors: governors(),
            clock_source: clock_source(),
            run_dir_free: free_bytes(&input.run_dir),
            dataset_dir_free: free_bytes(&input.dataset_dir),
            steal: steal_ratio(),
            quota,
            stale: find_stale(&input.work_dir),
            private_folders: private_folders(input),
        }
    }
}

/// Checks the private folders that a run needs; folders named by the user are the user's responsibility.
fn private_folders(input: &DoctorInput) -> Vec<(PathBuf, Option<String>)> {
    let mut folders: Vec<PathBuf> = Vec::new();
    for folder in
        [&input.work_dir, &input.dataset_dir].into_iter().filter_map(|path| private_folders_of(path).next())
    {
        if !folders.iter().any(|known| known == folder) {
            folders.push(folder.to_owned());
        }
    }
    let look = |folder: PathBuf| {
        let wrong = check_private_folder(&folder).err().map(|error| error.to_string());
        (folder, wrong)
    };
    folders.into_iter().map(look).collect()
}
