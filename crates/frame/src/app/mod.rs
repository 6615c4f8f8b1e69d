//! The protocol of the application server: its operations, what they carry, and how their content is made.
//!
//! - `operation`: the operations and statuses
//! - `greeting`: what a client says of its data
//! - `content`: payloads and blocks of data files
//! - `processing`: the computation of `PROC`
//! - `stats`: what a server says of its load

mod content;
mod greeting;
mod operation;
mod processing;
mod stats;

pub use content::{BLOCK_BYTES, SplitMix64, block_number, fill_block, fill_payload};
pub use greeting::{DATA_SETTINGS_BYTES, DataSettings, DataSettingsError, FileIo, RANGE_BYTES_MIN};
pub use operation::{
    AppOperation, AppStatus, PREPARE, SEQUENTIAL_BLOCKS, sized_content, split_sized_content,
};
pub use processing::{ROUNDS_MAX, WorkTable};
pub use stats::{AppServerStats, STATS_BYTES};

use crate::FrameFormat;

/// The longest payload, in bytes: four times the longest that the benchmark sends.
pub const PAYLOAD_MAX: u32 = 128 << 10;

/// The format of its frames: `SBRT`, version 1.
pub const FORMAT: FrameFormat = FrameFormat { magic: 0x5342_5254, version: 1, payload_max: PAYLOAD_MAX };

/// Length at which the file that `APPEND` writes to begins anew, in bytes.
pub const APPENDED_BYTES_MAX: u64 = 20 << 20;
