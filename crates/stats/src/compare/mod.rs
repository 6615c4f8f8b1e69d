//! Is one server faster than another? Ratios with intervals, and what may be said of many of them at once.
//!
//! - [`LogRatio`]: how two sides compare in one figure, from repetitions or from the seconds of single runs
//! - [`phase_error`]: how far a figure of a single run can be trusted, by the seconds of its steady phase
//! - [`tell`]: which of many differences are there, with few false alarms over all of them
//! - [`Finding`]: what a difference comes to: higher, lower, alike, no evidence, too short, too noisy

mod finding;
mod log_ratio;
mod phase_error;
mod several;
mod spread;

pub use finding::{ALIKE, Finding, NOISY, POWER, finding};
pub use log_ratio::{LogRatio, Shown};
pub use phase_error::{PhaseError, phase_error};
pub use several::{Decision, Family, Told, benjamini_hochberg, holm, tell};
