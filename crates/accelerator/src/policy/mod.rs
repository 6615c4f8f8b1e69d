//! What a shared cache may do, as pure functions: no socket, no store, no clock.
//!
//! Times are arguments, heads are pairs of name and value, and every answer is a value with its reason. A reason has
//! a name, for logs, metrics and `Cache-Status`, and names the clause it follows.
//!
//! The way of a request:
//!
//! ```text
//!  Key::new ─ what object is meant ─► answer ─┬─ Pass            forward it; nothing is read or stored
//!                                             ├─ Miss            forward it, then store ─► Stored, or NotStored
//!                                             ├─ Validate        forward it with conditional; then freshen (304),
//!                                             │                  store (another reply) or on_failure (none, or 5xx)
//!                                             ├─ Serve           whole, 304 or ranges; fresh or stale
//!                                             └─ OnlyIfCached    504
//! ```
//!
//! A reply to an unsafe request goes to [`invalidation()`], one to HEAD to [`head_update`].
//!
//! Sources: RFC 9111 (caching), RFC 9110 (semantics), RFC 5861 (stale responses), RFC 9211 (`Cache-Status`), RFC 9213
//! (targeted fields). Each was read for the rule; the cases in `tests/policy/` hold the rules clause by clause. Where
//! the documents leave a choice, the stricter reading is taken: what cannot be read counts as stale, and of several
//! values the one that allows least.

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
mod request;
mod response;
mod targeted;
mod vary;
mod weights;

mod age;
mod error;
mod freshness;
mod reuse;
mod store;
mod stored;

mod precondition;
mod range;
mod range_field;
mod select;

mod answer;
mod cache_status;
mod hit_for_miss;
mod invalidation;
mod key;
mod outgoing;
mod target;
mod update;
mod validation;

pub use answer::{Answer, Content, MissReason, PassReason, answer, content};
pub use cache_status::{CacheStatus, Forward, Freshness, Handled};
pub use date::{parse_date, write_date};
pub use directives::{RequestDirectives, ResponseDirectives, Scope};
pub use entity_tag::{EntityTag, Tags};
pub use error::{Failure, OnFailure, PassedOn, on_failure};
pub use freshness::{Lifetime, LifetimeSource, lifetime};
pub use hit_for_miss::{Mark, hit_for_miss};
pub use invalidation::{Invalidation, Kept, invalidation};
pub use key::{Key, KeyRefused, Scheme};
pub use message::Lines;
pub use normal::accept_encoding;
pub use outgoing::{
    RequestField, ResponseField, age_field, names_of_connection, passed_through, request_field,
    response_field, stays_in_not_modified, stored_lines, via_field,
};
pub use precondition::{Condition, Precondition, precondition};
pub use range::{ByteRange, RangeReason, Ranges, content_range, ranges};
pub use request::{Request, is_safe};
pub use response::{Expires, Response, Times};
pub use reuse::{Needs, Reuse, StaleReason, reuse};
pub use select::{Selection, Superseded, select, superseded};
pub use settings::{DotSegments, Heuristic, SetCookie, Settings, StaleSettings};
pub use status::{is_heuristically_cacheable, is_understood};
pub use store::{NotStored, Store, body_is_complete, store};
pub use stored::Stored;
pub use update::{Freshened, HeadUpdate, Line, Mismatch, NotFreshened, freshen, head_update, merge};
pub use validation::{Conditional, conditional};
pub use vary::{VARY_FIELDS_MAX, Variant, Vary};
