//! The work of one request, and the pace of the users that request it.

/// The work of one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Work {
    /// One of `n` files of so many bytes.
    Files { n: u32, bytes: u32 },
    /// The same, read from disk every time.
    DiskReads { n: u32, bytes: u32 },
    /// So much CPU time, in µs.
    Compute(u32),
    /// A wait of so many ms.
    Wait(u32),
    /// A lock that is held for so many ms.
    Lock(u32),
    /// A call of another service that takes so many ms.
    Call(u32),
}

/// The pace of the users.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum UserPacing {
    /// A request follows the reply at once.
    Closed,
    /// Users think for so many ms on average.
    Think(u32),
    /// Requests fall due at this rate, and at a fifth of it before.
    Rate(u32),
}

impl Work {
    /// Returns the same without waiting for others: the time is spent, but by all at once.
    pub(super) fn without_lock(self) -> Work {
        match self {
            Work::Lock(time) => Work::Wait(time),
            other => other,
        }
    }

    /// Returns the same with a service that answers in a quarter of the time.
    pub(super) fn with_fast_service(self) -> Work {
        match self {
            Work::Call(time) => Work::Call(time / 4),
            other => other,
        }
    }

    /// Returns the path of the pages below the server's root; of files there are several.
    pub(super) fn paths(self) -> Vec<String> {
        match self {
            Work::Files { n, .. } | Work::DiskReads { n, .. } => {
                (1..=n).map(|number| format!("files/{number}.bin")).collect()
            }
            _ => vec!["page".to_owned()],
        }
    }
}

impl UserPacing {
    /// Returns a pace that offers more load.
    pub(super) fn faster(self) -> UserPacing {
        match self {
            UserPacing::Closed => UserPacing::Closed,
            UserPacing::Think(time) => UserPacing::Think(time / 4),
            UserPacing::Rate(rate) => UserPacing::Rate(2 * rate),
        }
    }
}
