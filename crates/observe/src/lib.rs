//! The machines of a testbed, looked at: resource monitor, inventory, doctor.
//!
//! Nothing here writes a file, changes a setting, or starts or signals a process; `crates/xtask/tests/tidy/observe.rs`
//! checks the sources. `testbed` changes machines.
//!
//! - `monitor`: counters of machines and services, once a second
//! - `inventory`: facts that a report discloses
//! - `doctor`: checks that a machine is ready for a run
//! - `leftovers`: remains of killed runs
//! - `cgroup`, `process`, `thread_use`, `kernel_file`, `netlink`, `in_network`: readers of the kernel's counters and settings
//! - `watch`: processes of a server that is there already, found and followed
//! - `cpu_list`, `cpu_order`, `open_files`, `disk`, `private_folder`: single facts
//! - `program`: the programs that a monitor needs

/// An address of this machine where nobody listens. A port that a test has just closed may belong to another test by now, or
/// still be held by a program that the other one is starting.
#[cfg(test)]
const UNUSED_ADDRESS: &str = "127.0.0.1:1";

pub mod cgroup;
mod cpu_list;
mod cpu_order;
mod disk;
mod doctor;
mod in_network;
mod inventory;
pub mod kernel_file;
pub mod leftovers;
mod monitor;
mod mount;
mod netlink;
mod open_files;
pub mod private_folder;
pub mod process;
mod program;
mod sock_diag;
mod thread_use;
mod watch;

pub use cpu_list::{CpuListError, available_cpus, format_cpu_list, parse_cpu_list};
pub use cpu_order::by_core;
pub use disk::{disk_of, free_bytes, is_in_memory, share_file_system};
pub use doctor::{Check, CheckState, DoctorInput, examine};
pub use inventory::{
    InventoryInput, Redactor, Unavailable, inventory, model_name, named_user, package_of, port_range,
    redactor, unknown_server, user_name,
};
pub use monitor::{
    AppServerAddress, AppServerAddressError, AppServerMonitor, LocalMachine, MonitorError, MonitorSource,
    MonitorSourceError, MonitoredSut, NetworkMachine, PROC_FILES, PageUrl, PageUrlError, ProcessMeter,
    PrometheusMachine, RemoteGroupSize, ResourceMonitor, ServiceStatus, SshAccount, SshAccountError,
    SshMachine, SshOptions, StatusKind, StatusSource, THIS_MACHINE, WatchedGroups, prometheus,
};
pub use mount::{MountedFileSystem, mounted_file_system};
pub use open_files::open_files_max;
pub use program::{ObserverProgram, StartProgram, StartedProgram};
pub use thread_use::{SchedStat, ThreadUse};
pub use watch::{
    BlindSpot, GroupDescription, LimitDescription, ProcessSelector, ProcessSelectorError, WatchError,
    WatchedTargets, is_here, is_listening, memory_limit_of,
};
