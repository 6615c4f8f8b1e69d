//! The assignment of faults to requests and times.

use languages::nearest;
use thiserror::Error;
use units::Nanos;

use super::script::{CorrectReply, Fault, FaultAction, Script};

/// A fault and the paths that it affects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FaultRule {
    /// The fault.
    pub fault: &'static Fault,
    /// Prefix of the paths; empty for all, and for a fault of whole connections.
    pub prefix: String,
}

/// A period in which the whole server stops, as in a long garbage collection.
///
/// The kernel still establishes connections and buffers requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Freeze {
    /// Start, counted from the moment the server is ready; it may be a few milliseconds late.
    pub at: Nanos,
    /// Length.
    pub length: Nanos,
}

/// All faults of a server; empty by default.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FaultPlan {
    /// Rules; the first whose prefix matches applies.
    pub rules: Vec<FaultRule>,
    /// A freeze, which happens once.
    pub freeze: Option<Freeze>,
}

/// A fault plan that could not be parsed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum FaultPlanError {
    /// The fault does not exist.
    #[error("unknown fault `{name}`\nhint: {}", closest_name(name))]
    Unknown {
        /// The name as given.
        name: String,
    },
    /// The value of a fault is not a path prefix.
    #[error("expected `{name}` or `{name}=/PREFIX`, found `{name}={value}`")]
    Prefix {
        /// The fault's name.
        name: String,
        /// The value as given.
        value: String,
    },
    /// A path prefix was given for a fault that affects connections.
    #[error("expected `{0}` without paths: it affects whole connections, before any request")]
    NoPaths(&'static str),
    /// A freeze without its times.
    #[error("expected `freeze=AT+LENGTH` in seconds, for example `freeze=5+1.0`, found `{0}`")]
    Freeze(String),
}

impl FaultPlan {
    /// Parses a plan from items `NAME`, `NAME=/PREFIX` and `freeze=AT+LENGTH` (seconds).
    ///
    /// # Errors
    ///
    /// An item is none of these.
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

    /// Returns the script that replaces the correct reply for a path, if any.
    pub(in crate::web) fn for_path(&self, path: &[u8]) -> Option<fn(&CorrectReply<'_>) -> Script> {
        let fitting = self.rules.iter().filter(|rule| path.starts_with(rule.prefix.as_bytes()));
        fitting.map(|rule| rule.fault.action).find_map(|action| match action {
            FaultAction::OnRequest(script) => Some(script),
            _ => None,
        })
    }

    /// Returns the fault action that affects all connections, if any.
    pub(in crate::web) fn for_connections(&self) -> Option<FaultAction> {
        self.rules.iter().find(|rule| rule.fault.affects_connections()).map(|rule| rule.fault.action)
    }
}

fn parse_rule(name: &str, value: &str) -> Result<FaultRule, FaultPlanError> {
    let fault = Fault::from_name(name).ok_or_else(|| FaultPlanError::Unknown { name: name.to_owned() })?;
    if !value.is_empty() && !value.starts_with('/') {
        return Err(FaultPlanError::Prefix { name: name.to_owned(), value: value.to_owned() });
    }
    if !value.is_empty() && fault.affects_connections() {
        return Err(FaultPlanError::NoPaths(fault.name));
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

fn closest_name(name: &str) -> String {
    let names: Vec<&str> = Fault::all().map(|fault| fault.name).chain(["freeze"]).collect();
    match nearest(name, names.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("the faults are {}", names.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plans_are_parsed_from_items() {
        let plan = FaultPlan::parse(["freeze=5+1.25", "reset=/a", "truncated"]).unwrap();
        assert_eq!(plan.freeze, Some(Freeze { at: Nanos::from_secs(5), length: Nanos::from_millis(1250) }));
        let rules: Vec<_> = plan.rules.iter().map(|rule| (rule.fault.name, &*rule.prefix)).collect();
        assert_eq!(rules, [("reset", "/a"), ("truncated", "")]);
    }

    #[test]
    fn reply_faults_affect_paths_and_others_affect_connections() {
        let plan = FaultPlan::parse(["reset=/a", "tls-alert"]).unwrap();
        assert!(plan.for_path(b"/abc").is_some() && plan.for_path(b"/b").is_none());
        assert!(matches!(plan.for_connections(), Some(FaultAction::OnFirstBytes(_))));
        assert!(FaultPlan::parse(["reset"]).unwrap().for_connections().is_none());
    }

    #[test]
    fn every_name_selects_its_fault() {
        for fault in Fault::all() {
            let plan = FaultPlan::parse([fault.name]).unwrap();
            assert!(std::ptr::eq(plan.rules[0].fault, fault), "`{}` names two faults", fault.name);
        }
    }

    #[test]
    fn errors_for_invalid_items_state_what_was_expected() {
        let message = |item| FaultPlan::parse([item]).unwrap_err().to_string();
        assert_eq!(message("trunkated"), "unknown fault `trunkated`\nhint: did you mean `truncated`?");
        assert!(message("x").starts_with("unknown fault `x`\nhint: the faults are wrong-length, "));
        assert_eq!(message("reset=a"), "expected `reset` or `reset=/PREFIX`, found `reset=a`");
        assert!(message("deaf=/a").starts_with("expected `deaf` without paths"));
        for item in ["freeze", "freeze=5", "freeze=-1+1", "freeze=nan+1", "freeze=1+inf"] {
            assert!(message(item).starts_with("expected `freeze=AT+LENGTH` in seconds"), "{item}");
        }
    }
}
