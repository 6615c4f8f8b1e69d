//! The machines: SUT recipes, resource monitor, inventory, doctor.
//!
//! Looks at the machine and changes it on request; never judges a result.

mod affinity;
mod calibration;
mod cgroup;
mod cpu_order;
mod doctor;
mod inventory;
mod monitor;
mod open_files;
mod page_cache;
mod populate;
mod private_folder;
mod process;
mod recipe;
mod started;
mod sut;
mod system_file;
mod thread_use;

pub use affinity::{
    CpuListError, available_cpus, format_cpu_list, lower_priority, parse_cpu_list, pin_current_thread,
};
pub use calibration::{Calibration, CalibrationCase, CalibrationError, Placement, QuotaBasis, choose_quota};
pub use cgroup::{DiskLimits, Limits, MemoryUse, disk_of};
pub use cpu_order::by_core;
pub use doctor::{Check, DoctorInput, State, examine};
pub use inventory::{InventoryInput, Redactor, inventory, model_name, redactor, unknown_server};
pub use monitor::{
    LocalMachine, MonitorSource, MonitorSourceError, PROC_FILES, PageUrl, PrometheusMachine, ServiceStatus,
    SshAccount, SshAccountError, SshMachine, SshOptions, THIS_MACHINE, Watch, WatchError, WatchedSut,
    prometheus,
};
pub use open_files::{open_files_max, raise_open_files};
pub use populate::{MODIFIED_UNIX_S, PopulateError, Populated, populate, populate_unless};
pub use private_folder::{FolderError, check_private_folder, make_private_folder, private_folder_in};
pub use recipe::{
    BENCHMARK_PROFILE, BUILT_IN_ACCELERATORS, BUILT_IN_RECIPES, Ready, Recipe, RecipeError, Reset,
    StopSignal, Transport,
};
pub use started::{AllEnded, end_all};
pub use sut::{
    Acceleration, GatewayListing, Installed, MemoryLimitProof, Missing, RunningSut, Server, SutDied,
    SutError, SutListing, SutLookUp, SutRequest, WorkDir, accelerators, clean_stale, find_stale, suts,
};
pub use thread_use::{SchedStat, ThreadUse};
