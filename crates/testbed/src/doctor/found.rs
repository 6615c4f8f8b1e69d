//! Looking at the machine.

use std::path::{Path, PathBuf};

use units::Ratio;

use super::DoctorInput;
use crate::cgroup::{Controller, Group, Limits};
use crate::inventory::{clock_source, governors, port_range, steal_ratio, sysctl};
use crate::open_files::open_files_max;
use crate::private_folder::{check_private_folder, private_folder_of};
use crate::sut::find_stale;

/// What was found on the machine; apart from the judgment, so that this can be tested by hand.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
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
    /// How a quota would be held, or why it cannot.
    pub quota: Result<String, String>,
    pub stale: Vec<PathBuf>,
    /// The folders that this user has for itself, and what is wrong with them.
    pub private_folders: Vec<(PathBuf, Option<String>)>,
}

impl Found {
    /// Looks.
    pub fn look(input: &DoctorInput) -> Found {
        let number = |name: &str| sysctl(name)?.parse::<u32>().ok();
        Found {
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
            quota: quota(),
            stale: find_stale(&input.work_dir),
            private_folders: private_folders(input),
        }
    }
}

/// Looks at the private folders that a run needs; one that the user names is the user's affair.
fn private_folders(input: &DoctorInput) -> Vec<(PathBuf, Option<String>)> {
    let mut folders: Vec<PathBuf> = Vec::new();
    for folder in [&input.work_dir, &input.dataset_dir].into_iter().filter_map(|path| private_folder_of(path))
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

/// Makes a group with a quota, and says how it is held or why not.
fn quota() -> Result<String, String> {
    let limits = Limits { quota: Some(0.5), ..Limits::default() };
    let group = Group::create(&limits).map_err(|why| why.to_string())?;
    match group.held().quota {
        Some(_) => Ok(group.quota_text()),
        None => Err(group.holding(Controller::Cpu)),
    }
}

/// Returns the space that an ordinary user may fill on the file system of a path, or of the nearest directory above
/// it that exists.
fn free_bytes(path: &Path) -> Option<u64> {
    let path = std::path::absolute(path).ok()?;
    let existing = path.ancestors().find(|path| path.exists())?;
    let system = rustix::fs::statvfs(existing).ok()?;
    Some(system.f_bavail * system.f_frsize)
}
