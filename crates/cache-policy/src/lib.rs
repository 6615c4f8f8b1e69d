//! The rules of a shared cache, as pure functions: no sockets, no store, no clock.
//!
//! Times are arguments, heads are pairs of name and value, and every decision carries its reason. A reason has a
//! name, for logs, metrics and `Cache-Status`, and names the clause it follows.
//!
//! The decisions about a request:
//!
//! ```text
//! Key::new ─ the resource ──────► decide ─┬─ Pass            forward it; nothing is read or stored
//!                                         ├─ Miss            forward it, then store ─► StoredMeta, or NotStored
//!                                         ├─ Validate        forward it with conditional; then freshen (304),
//!                                         │                  store (another response) or on_failure (none, or 5xx)
//!                                         ├─ Serve           whole, 304 or ranges; fresh or stale
//!                                         └─ OnlyIfCached    504
//! ```
//!
//! A response to an unsafe request goes to [`invalidation()`], one to HEAD to [`head_update`].
//!
//! Sources: RFC 9111 (caching), RFC 9110 (semantics), RFC 5861 (stale responses), RFC 9211 (`Cache-Status`), RFC 9213
//! (targeted fields). The cases in `tests/cases/` test them clause by clause. Where the documents leave a choice,
//! the stricter reading is taken: a malformed value counts as stale, and of several values the most restrictive
//! counts.

#[macro_use]
mod clause;

mod date;
mod list;
mod message;
mod settings;
mod status;

mod directives;
mod entity_tag;
mod normal;
mod request_meta;
mod response_meta;
mod targeted;
mod vary;
mod weights;

mod age;
mod error;
mod freshness;
mod reuse;
mod store;
mod stored_meta;

mod precondition;
mod range;
mod range_field;
mod select;

mod cache_status;
mod decision;
mod hit_for_miss;
mod invalidation;
mod key;
mod key_refused;
mod outgoing;
mod target;
mod update;
mod validation;

pub use cache_status::{CacheStatusMember, Forward, Freshness, HitOrForward};
pub use date::{parse_date, write_date};
pub use decision::{CacheDecision, MissReason, PassReason, ResponseContent, content, decide};
pub use directives::{DirectiveScope, RequestDirectives, ResponseDirectives};
pub use entity_tag::{EntityTag, TagMatch};
pub use error::{FailureDecision, FetchFailure, NoStaleReason, on_failure};
pub use freshness::{Lifetime, LifetimeSource, lifetime};
pub use hit_for_miss::{HitForMiss, hit_for_miss};
pub use invalidation::{Invalidation, NotInvalidated, invalidation};
pub use key::{Key, Scheme};
pub use key_refused::KeyRefused;
pub use message::FieldLines;
pub use normal::accept_encoding;
pub use outgoing::{
    RequestField, ResponseField, age_field, names_of_connection, passed_through, request_field,
    response_field, stays_in_not_modified, stored_lines, via_field,
};
pub use precondition::{Condition, Precondition, precondition};
pub use range::{ByteRange, RangeReason, Ranges, content_range, ranges};
pub use request_meta::{RequestMeta, is_safe};
pub use response_meta::{ExchangeTimes, Expires, ResponseMeta};
pub use reuse::{ReuseDecision, StaleReason, ValidationReason, reuse};
pub use select::{Selection, Superseded, select, superseded};
pub use settings::{DotSegments, Heuristic, SetCookie, Settings, StaleSettings};
pub use status::{is_heuristically_cacheable, is_understood};
pub use store::{NotStored, StoreDecision, body_is_complete, store};
pub use stored_meta::StoredMeta;
pub use update::{
    FreshenedResponses, HeadUpdate, Mismatch, NotFreshened, StoredLine, freshen, head_update, merge,
};
pub use validation::{ValidationConditions, conditional};
pub use vary::{VARY_FIELDS_MAX, Variant, Vary};
