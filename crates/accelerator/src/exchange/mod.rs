//! The exchange: decides a request and carries the decision out, from the store, from a response in progress, or from
//! the origin.
//!
//! ```text
//! ClientRequest ─► CacheRequest ─ store ─► decide ─┬─ Serve ──► hit: lines, 304, ranges, a Memo; stale: one refresh
//!                  (key,          and hit-         ├─ Miss ───► flight ─┬─ leader: fetch ─► stream ─► store
//!                   loop,         for-miss         ├─ Validate ► flight ┘  followers: read along, look up again, or
//!                   bypass)                        │                       fetch uncollapsed
//!                                                  ├─ Pass ───► relay: not read, not stored, unsafe methods invalidate
//!                                                  └─ OnlyIfCached ─► error page
//! ```
//!
//! [`cache_policy`] decides what may be done; this module only does it.

mod settings;

mod bypass;
mod cache_request;
mod cache_status;
mod handle;
mod origin_fetch;

mod hit;
mod lines;
mod memo;
mod ranges;

mod fill_memory;
mod flight;
mod miss;
mod streaming;

mod fetch;
mod fill;
mod interim_relay;
mod upstream_request;
mod validate;

mod error_page;
mod prefill;
mod relay;
mod response;
mod stream;

#[cfg(test)]
mod test_support;

pub use error_page::error_page;
pub use flight::Flights;
pub use handle::{Exchange, SharedCache};
pub use lines::hit_lines;
pub use memo::{Memo, MemoKind};
pub use prefill::PrefillReport;
pub use response::{Response, ResponseBody, Tunnel};
pub use settings::{CacheStatusDetail, ExchangeSettings, ForwardedFields};
pub use stream::BodyStream;
