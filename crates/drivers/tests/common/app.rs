//! A workload of application servers over HTTP.

use model::{AppFileIo, AppPayload, AppProtocol, AppSuite, AppWorkload, ThinkTime};

/// Length of its messages.
pub(crate) const APP_MESSAGE_BYTES: u32 = 9;

pub(crate) fn app_workload(suite: AppSuite) -> AppWorkload {
    AppWorkload {
        suite,
        payloads: vec![AppPayload { bytes: APP_MESSAGE_BYTES, weight: 1 }],
        rounds: 1000,
        range_bytes: 48 << 10,
        auto_range: None,
        io: AppFileIo::Buffered,
        is_cold: false,
        protocol: AppProtocol::Http,
        think: ThinkTime::None,
    }
}
