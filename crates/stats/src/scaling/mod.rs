//! Scaling of the rate with the number of processors: ratios, and the laws of Amdahl and Gunther.
//!
//! Sizes are numbers of processors. For the Universal Scalability Law they may also be operations
//! in service, L = X·R by Little's law; not users, where users think.

mod amdahl;
mod fit;
mod repeats;
mod speed_up;
mod usl;

pub use amdahl::Amdahl;
pub use fit::{FitError, FitQuality, Prediction, ScalingPoint};
pub use repeats::Repeats;
pub use speed_up::{SpeedUp, speed_ups};
pub use usl::Usl;
