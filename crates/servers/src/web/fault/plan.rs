//! Which faults befall which requests, and when.

use model::nearest;
use thiserror::Error;
use units::Nanos;

use super::script::{Act, Fault, Right, Script};

/// A fault and the paths that it befalls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FaultRule {
    /// What is done wrong.
    pub fault: &'static Fault,
    /// How the paths begin; empty for all, and for a fault of whole connections.
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
    #[error("unknown fault `{name}`\nhint: {}", near(name))]
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
    /// Paths for a fault that befalls connections.
    #[error("expected `{0}` without paths: it befalls whole connections, before anything is asked for")]
    NoPaths(&'static str),
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

    /// Returns what is said to a request for a path in place of what is right.
    pub(in crate::web) fn for_path(&self, path: &[u8]) -> Option<fn(&Right<'_>) -> Script> {
        let fitting = self.rules.iter().filter(|rule| path.starts_with(rule.prefix.as_bytes()));
        fitting.map(|rule| rule.fault.act).find_map(|act| match act {
            Act::Reply(script) => Some(script),
            _ => None,
        })
    }

    /// Returns what befalls all connections.
    pub(in crate::web) fn for_connections(&self) -> Option<Act> {
        self.rules.iter().find(|rule| rule.fault.is_of_connections()).map(|rule| rule.fault.act)
    }
}

fn parse_rule(name: &str, value: &str) -> Result<FaultRule, FaultPlanError> {
    let fault = Fault::from_name(name).ok_or_else(|| FaultPlanError::Unknown { name: name.to_owned() })?;
    if !value.is_empty() && !value.starts_with('/') {
        return Err(FaultPlanError::Prefix { name: name.to_owned(), value: value.to_owned() });
    }
    if !value.is_empty() && fault.is_of_connections() {
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

fn near(name: &str) -> String {
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
    fn plans_are_read_from_items() {
        let plan = FaultPlan::parse(["freeze=5+1.25", "reset=/a", "truncated"]).unwrap();
        assert_eq!(plan.freeze, Some(Freeze { at: Nanos::from_secs(5), length: Nanos::from_millis(1250) }));
        let rules: Vec<_> = plan.rules.iter().map(|rule| (rule.fault.name, &*rule.prefix)).collect();
        assert_eq!(rules, [("reset", "/a"), ("truncated", "")]);
    }

    #[test]
    fn faults_of_replies_befall_paths_and_others_connections() {
        let plan = FaultPlan::parse(["reset=/a", "tls-alert"]).unwrap();
        assert!(plan.for_path(b"/abc").is_some() && plan.for_path(b"/b").is_none());
        assert!(matches!(plan.for_connections(), Some(Act::Bytes(_))));
        assert!(FaultPlan::parse(["reset"]).unwrap().for_connections().is_none());
    }

    #[test]
    fn every_name_leads_to_its_fault() {
        for fault in Fault::all() {
            let plan = FaultPlan::parse([fault.name]).unwrap();
            assert!(std::ptr::eq(plan.rules[0].fault, fault), "`{}` names two faults", fault.name);
        }
    }

    #[test]
    fn items_that_are_not_understood_say_what_was_expected() {
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
