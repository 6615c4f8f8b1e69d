//! What the server can do wrong, and when.

use thiserror::Error;
use units::Nanos;

/// One way to answer a GET wrongly. HEAD and requests that are refused anyway are not touched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Fault {
    /// Sends one byte more than the file has, and says so in `Content-Length`.
    WrongLength,
    /// Announces the whole body, sends half of it, and closes.
    Truncated,
    /// Sends the right length with one wrong byte in the middle; an empty file stays right.
    WrongBytes,
    /// Answers with status 500.
    WrongStatus,
    /// Sends a status line that is none, and closes.
    MalformedHead,
    /// Sends a head larger than 64 KiB, and closes.
    OversizedHead,
    /// Takes the request and never answers, until the client goes away.
    Stall,
    /// Announces the whole body, sends half of it, and resets the connection.
    Reset,
    /// Sends the right response in 16 pieces, 20 ms apart.
    SlowDrip,
    /// Takes the request and closes without a byte of answer.
    EarlyClose,
    /// Gives two different lengths, sends the body, and closes.
    DuplicateLengths,
    /// Announces chunks and sends a chunk size that is no number, and closes.
    BadChunk,
}

/// How many pieces [`Fault::SlowDrip`] cuts a response into.
pub(super) const DRIP_PIECES: usize = 16;

/// How long [`Fault::SlowDrip`] waits between two pieces.
pub(super) const DRIP_PAUSE: Nanos = Nanos::from_millis(20);

impl Fault {
    /// All faults with the names that [`FaultPlan::parse`] knows them by.
    pub const ALL: [(Fault, &'static str); 12] = [
        (Fault::WrongLength, "wrong-length"),
        (Fault::Truncated, "truncated"),
        (Fault::WrongBytes, "wrong-bytes"),
        (Fault::WrongStatus, "wrong-status"),
        (Fault::MalformedHead, "malformed-head"),
        (Fault::OversizedHead, "oversized-head"),
        (Fault::Stall, "stall"),
        (Fault::Reset, "reset"),
        (Fault::SlowDrip, "slow-drip"),
        (Fault::EarlyClose, "early-close"),
        (Fault::DuplicateLengths, "duplicate-lengths"),
        (Fault::BadChunk, "bad-chunk"),
    ];

    /// Returns the fault with a name; `None` if there is none.
    pub fn from_name(name: &str) -> Option<Fault> {
        Fault::ALL.iter().find(|(_, known)| *known == name).map(|(fault, _)| *fault)
    }
}

/// A fault and the paths that it befalls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FaultRule {
    /// What is done wrong.
    pub fault: Fault,
    /// How the paths begin; empty for all.
    pub prefix: String,
}

/// A stretch of time in which the whole server stands still, as in a long collection of garbage.
///
/// The kernel goes on to establish connections and to take requests in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Freeze {
    /// When it begins, counted from the moment the server is ready; up to some milliseconds later.
    pub at: Nanos,
    /// How long it takes.
    pub length: Nanos,
}

/// Everything that a server is to do wrong; by default nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FaultPlan {
    /// The first rule whose prefix fits holds.
    pub rules: Vec<FaultRule>,
    /// Happens once.
    pub freeze: Option<Freeze>,
}

/// Why a fault plan was not understood.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum FaultPlanError {
    /// There is no such fault.
    #[error("unknown fault `{name}`\nhint: the faults are {}, freeze", names())]
    Unknown {
        /// The name as given.
        name: String,
    },
    /// What follows the fault's name is not the beginning of a path.
    #[error("expected `{name}` or `{name}=/PREFIX`, found `{name}={value}`")]
    Prefix {
        /// The fault's name.
        name: String,
        /// What was given.
        value: String,
    },
    /// A freeze without its times.
    #[error("expected `freeze=AT+LENGTH` in seconds, such as `freeze=5+1.0`, found `{0}`")]
    Freeze(String),
}

impl FaultPlan {
    /// Reads a plan from items `NAME`, `NAME=/PREFIX` and `freeze=AT+LENGTH` (seconds).
    ///
    /// # Errors
    ///
    /// An item that is none of these.
    pub fn parse<'a>(items: impl IntoIterator<Item = &'a str>) -> Result<FaultPlan, FaultPlanError> {
        let mut plan = FaultPlan::default();
        for item in items {
            let (name, value) = item.split_once('=').unwrap_or((item, ""));
            if name == "freeze" {
                let freeze = parse_freeze(value).ok_or_else(|| FaultPlanError::Freeze(item.to_owned()))?;
                plan.freeze = Some(freeze);
            } else {
                plan.rules.push(parse_rule(name, value)?);
            }
        }
        Ok(plan)
    }

    /// Returns the fault that befalls a path.
    pub(super) fn for_path(&self, path: &[u8]) -> Option<Fault> {
        self.rules.iter().find(|rule| path.starts_with(rule.prefix.as_bytes())).map(|rule| rule.fault)
    }
}

fn parse_rule(name: &str, value: &str) -> Result<FaultRule, FaultPlanError> {
    let fault = Fault::from_name(name).ok_or_else(|| FaultPlanError::Unknown { name: name.to_owned() })?;
    if !value.is_empty() && !value.starts_with('/') {
        return Err(FaultPlanError::Prefix { name: name.to_owned(), value: value.to_owned() });
    }
    Ok(FaultRule { fault, prefix: value.to_owned() })
}

fn parse_freeze(value: &str) -> Option<Freeze> {
    let (at, length) = value.split_once('+')?;
    Some(Freeze { at: parse_seconds(at)?, length: parse_seconds(length)? })
}

fn parse_seconds(text: &str) -> Option<Nanos> {
    let seconds: f64 = text.parse().ok()?;
    (seconds.is_finite() && 0.0 <= seconds).then(|| Nanos::from_secs_f64(seconds))
}

fn names() -> String {
    Fault::ALL.map(|(_, name)| name).join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plans_are_read_from_items() {
        let plan = FaultPlan::parse(["freeze=5+1.25", "reset=/a", "truncated"]).unwrap();
        assert_eq!(plan.freeze, Some(Freeze { at: Nanos::from_secs(5), length: Nanos::from_millis(1250) }));
        assert_eq!(plan.for_path(b"/abc"), Some(Fault::Reset));
        assert_eq!(plan.for_path(b"/b"), Some(Fault::Truncated));
        assert_eq!(FaultPlan::default().for_path(b"/b"), None);
    }

    #[test]
    fn every_name_leads_to_its_fault() {
        for (fault, name) in Fault::ALL {
            assert_eq!(FaultPlan::parse([name]).unwrap().for_path(b"/"), Some(fault));
        }
    }

    #[test]
    fn items_that_are_not_understood_say_what_was_expected() {
        let message = |item| FaultPlan::parse([item]).unwrap_err().to_string();
        assert!(
            message("trunkated")
                .starts_with("unknown fault `trunkated`\nhint: the faults are wrong-length, ")
        );
        assert_eq!(message("reset=a"), "expected `reset` or `reset=/PREFIX`, found `reset=a`");
        for item in ["freeze", "freeze=5", "freeze=-1+1", "freeze=nan+1", "freeze=1+inf"] {
            assert!(message(item).starts_with("expected `freeze=AT+LENGTH` in seconds"), "{item}");
        }
    }
}
