//! The machines of a testbed: SUT recipes, resource monitor, inventory, doctor.
//!
//! This crate examines a machine and changes it on request; it never judges a result.

mod affinity;
mod calibration;
mod cgroup;
mod cpu_order;
mod doctor;
mod inventory;
mod kernel_file;
mod monitor;
mod observer_program;
mod open_files;
mod owned_resources;
mod page_cache;
mod populate;
mod private_folder;
mod process;
mod recipe;
mod sut;
mod thread_use;

pub use affinity::{
    CpuListError, available_cpus, format_cpu_list, lower_priority, parse_cpu_list, pin_current_thread,
};
pub use calibration::{Calibration, CalibrationCase, CalibrationError, Placement, QuotaBasis, choose_quota};
pub use cgroup::{DiskLimits, MemoryUse, ResourceLimits, disk_of, probe_quota};
pub use cpu_order::by_core;
pub use doctor::{Check, CheckState, DoctorInput, examine};
pub use inventory::{InventoryInput, Redactor, inventory, model_name, redactor, unknown_server};
pub use monitor::{
    LocalMachine, MonitorError, MonitorSource, MonitorSourceError, MonitoredSut, ObserverProgram, PROC_FILES,
    PageUrl, PrometheusMachine, ResourceMonitor, ServiceStatus, SshAccount, SshAccountError, SshMachine,
    SshOptions, StartProgram, StartedProgram, THIS_MACHINE, prometheus,
};
pub use observer_program::start_program;
pub use open_files::{open_files_max, raise_open_files};
pub use owned_resources::{ShutdownGuard, end_all};
pub use populate::{MODIFIED_UNIX_S, PopulateError, Populated, populate, populate_unless};
pub use private_folder::{FolderError, check_private_folder, make_private_folder, private_folder_in};
pub use recipe::{
    BENCHMARK_PROFILE, BUILT_IN_ACCELERATORS, BUILT_IN_RECIPES, Ready, Recipe, RecipeError, Reset,
    StopSignal, Transport,
};
pub use sut::{
    Acceleration, GatewayListing, Installed, MemoryLimitProof, Missing, RunningSut, Server, SutDied,
    SutError, SutListing, SutLookUp, SutRequest, WorkDir, accelerators, clean_stale, find_stale, suts,
};
pub use thread_use::{SchedStat, ThreadUse};
