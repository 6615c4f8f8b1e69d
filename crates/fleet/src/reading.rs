//! A reading of a machine, as monitors hand it over.

use model::Reading;
use observe::MonitorError;

/// The values that were read, or the reason why there are none.
pub(crate) type MonitorReading = Result<Vec<Reading>, MonitorError>;
