//! The machines of a testbed, changed: SUT recipes, processes, limits, files.
//!
//! This crate changes a machine on request, `observe` looks at it; neither judges a result.

mod affinity;
mod calibration;
mod cgroup;
mod group_removal;
mod observer_program;
mod owned_resources;
mod page_cache;
mod populate;
mod private_folder;
mod process;
mod recipe;
mod sut;

pub use affinity::{lower_priority, pin_current_thread};
pub use calibration::{Calibration, CalibrationCase, CalibrationError, Placement, QuotaBasis, choose_quota};
pub use cgroup::{ControlGroup, ControlGroupError, DiskLimits, ResourceLimits, probe_quota};
pub use observer_program::start_program;
pub use owned_resources::{ShutdownGuard, end_all};
pub use page_cache::{can_drop_caches, drop_caches, evict};
pub use populate::{MODIFIED_UNIX_S, PopulateError, PopulatedFiles, populate, populate_unless};
pub use private_folder::make_private_folder;
pub use recipe::{
    BENCHMARK_PROFILE, BUILT_IN_ACCELERATORS, BUILT_IN_RECIPES, Ready, Recipe, RecipeError, Reset,
    StopSignal, WebVariant, recipe_schema,
};
pub use sut::web::{Acceleration, GatewayListing, Origin, WebLookUp, WebParts, accelerators};
pub use sut::{
    DataContents, DataWarmUp, InstalledServer, MemoryLimitProof, MissingProgram, RunningSut, SutDied,
    SutError, SutListing, SutLookUp, SutRequest, SutServer, WorkDir, clean_stale, suts, suts_of,
};
