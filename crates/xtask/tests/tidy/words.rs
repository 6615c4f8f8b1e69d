//! Words that are not used as names any more, and what still has them.

use crate::Exception;

/// Words that no type may be called, with the word to use instead.
pub(crate) const OLD_WORDS: &[(&str, &str)] = &[
    ("Aim", "`ResolvedTarget`"),
    ("Area", "`TimeIntegral`"),
    ("Ask", "`CacheRequest`"),
    ("Asked", "`AdminRequest`, or the request that it is"),
    ("Asker", "`Client`, or the address that it is"),
    ("Attendance", "`ConnectionGuard`"),
    ("Audience", "`Observers`"),
    ("Bench", "`Fixture` in tests"),
    ("Boarding", "`Join`, of a leader or a follower"),
    ("Census", "`ConnectionLimiter`"),
    ("Clockwork", "`TimeoutTicker`"),
    ("Desk", "`TypstWorld`"),
    ("Door", "`Listener`"),
    ("Engagement", "`InFlightGuard`"),
    ("Entrance", "`Handshake`"),
    ("Errand", "`UpstreamRequest`"),
    ("Fetched", "`UpstreamResponse`"),
    ("Followed", "`FollowerResult`"),
    ("Front", "`ReverseProxy`, `Listener`, or the client side that it is"),
    ("Gate", "`ListenerConfig`"),
    ("Gravity", "`Severity`"),
    ("Guest", "`Connection`"),
    ("Hand", "`WorkerHandle`"),
    ("Heard", "`UpstreamResponse`"),
    ("Herd", "`Fixture` in tests, `Clients` elsewhere"),
    ("House", "`Fixture`"),
    ("InFront", "`ReverseProxy`"),
    ("Kit", "`WorkerContext`"),
    ("Lab", "`Fixture` in tests"),
    ("Letters", "`GeneratedText`"),
    ("Machinery", "`Runtime`"),
    ("Maker", "`WorkerFactory`"),
    ("Manuscript", "`TypstSource`"),
    ("Member", "`ManagedProcess`"),
    ("Passing", "`BypassReason`"),
    ("Patience", "`MinRateDeadline`"),
    ("Place", "`Slot`, `Position`, `Path` or the key that it is"),
    ("Places", "`CpuPlacement`, or the list that it is"),
    ("Post", "`WorkerSetup`"),
    ("Prefixed", "`Rewind`"),
    ("Pulse", "`Liveness`"),
    ("Question", "`UpstreamRequest`"),
    ("Reread", "`KernelFile`"),
    ("Rig", "`Fixture`"),
    ("Seat", "`ConnectionSlot` or `ServerPermit`"),
    ("Stay", "`Lifetime`"),
    ("Stretch", "`DetailBatch` or `Span`"),
    ("Tally", "`FirstOccurrence`, or the counter that it is"),
    ("Told", "`CacheStatus`, `Reading`, or the value that it is"),
    ("Turns", "`SliceSchedule`"),
    ("Unread", "`Unavailable`"),
    ("Wish", "`SignalAction`"),
    ("World", "`Fixture` in tests"),
    ("Young", "`Accepted`"),
];

/// Types that still have an old word as their name.
pub(crate) const OLD_WORDS_LEFT: &[Exception] = &[];

/// Sources whose doc lines still begin with a question word.
pub(crate) const QUESTIONS_LEFT: &[Exception] = &[];

/// Public types that still share their name with one of another crate.
pub(crate) const SHARED_NAMES_LEFT: &[Exception] = &[
    ("crates/accelerator/", "Request"),
    ("crates/model/", "Request"),
];
