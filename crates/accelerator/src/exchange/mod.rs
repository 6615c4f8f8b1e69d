//! The one place where a request is decided and carried out: from the store, from a response that others wait for
//! too, or from the origin.
//!
//! ```text
//!  Inbound ─► Ask ─ store ─► policy::answer ─┬─ Serve ──► hit: lines, 304, ranges, a Memo; stale: one refresh
//!             (key,          and marks       ├─ Miss ───► flight ─┬─ leader: fetch ─► Flow ─► store
//!              loop,                         ├─ Validate ► flight ┘  followers: read the Flow, look again, or go
//!              bypass)                       │                       by themselves
//!                                            ├─ Pass ───► relay: nothing read, nothing stored, much invalidated
//!                                            └─ OnlyIfCached ─► error page
//! ```
//!
//! What may be done is decided by [`policy`](crate::policy); this module only does it.

mod settings;

mod ask;
mod errand;
mod handle;
mod told;

mod hit;
mod lines;
mod memo;
mod ranges;

mod flight;
mod flow;
mod miss;

mod fetch;
mod interims;
mod keep;
mod outgoing;
mod validate;

mod error_page;
mod prefill;
mod relay;
mod stream;

#[cfg(test)]
mod test_support;

pub use error_page::error_page;
pub use flight::Flights;
pub use handle::{Exchange, Shared};
pub use lines::hit_lines;
pub use memo::{Memo, MemoKind};
pub use prefill::Prefilled;
pub use relay::Tunnel;
pub use settings::{Detail, ExchangeSettings, Forwarded};
pub use stream::BodyStream;
