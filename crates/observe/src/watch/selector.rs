//! Selectors of processes, as users write them: `port=8080`, `unit=nginx.service`.

use std::fmt;
use std::str::FromStr;

use languages::foreign_text;

/// The shortest beginning of a container's id that is accepted: shorter ones match by chance.
const ID_CHARS_MIN: usize = 4;

/// A selector of the processes that are watched together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProcessSelector {
    /// Those that listen on this TCP port, with their descendants.
    Port(u16),
    /// A process, with its descendants.
    Pid(u32),
    /// Those of a systemd unit: `nginx.service`.
    Unit(String),
    /// Those of a control group and the groups below it: `/system.slice/nginx.service`.
    Cgroup(String),
    /// Those of a container, by its name or the beginning of its id.
    Container(String),
}

/// A text that is not a selector.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("watched processes `{text}`: {problem}")]
pub struct ProcessSelectorError {
    text: String,
    problem: SelectorProblem,
}

/// A reason why a text is no selector, with a remedy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
enum SelectorProblem {
    #[error("expected {KINDS}")]
    Kind,
    /// A value without a kind; the selector that may be meant.
    #[error("expected {KINDS}\nhint: did you mean `{0}`?")]
    WithoutKind(String),
    #[error("expected a port from 1 to 65535")]
    Port,
    #[error("expected the number of a process")]
    Pid,
    #[error("no process has the number 0")]
    PidZero,
    #[error(
        "all processes of the machine descend from process 1\nhint: name the server's own process, or its `unit=`"
    )]
    PidOne,
    #[error("expected the name of a unit, such as `nginx.service`")]
    Unit,
    #[error("expected the path of a control group, such as `/system.slice/nginx.service`")]
    Cgroup,
    #[error("the root group has all processes of the machine\nhint: name the server's own group")]
    RootCgroup,
    #[error(
        "expected the name of a container, or the beginning of its id, at least {ID_CHARS_MIN} characters\n\
         hint: `docker ps` and `podman ps` print both"
    )]
    Container,
}

/// The kinds of selectors, for messages.
const KINDS: &str = "`port=NUMBER`, `pid=NUMBER`, `unit=NAME`, `cgroup=PATH` or `container=NAME`";

impl FromStr for ProcessSelector {
    type Err = ProcessSelectorError;

    fn from_str(text: &str) -> Result<ProcessSelector, ProcessSelectorError> {
        let fail = |problem| ProcessSelectorError { text: foreign_text(text), problem };
        let Some((kind, value)) = text.split_once('=') else {
            return Err(fail(meant(text).map_or(SelectorProblem::Kind, SelectorProblem::WithoutKind)));
        };
        match kind {
            "port" => port(value).map(ProcessSelector::Port),
            "pid" => pid(value).map(ProcessSelector::Pid),
            "unit" => unit(value).map(ProcessSelector::Unit),
            "cgroup" => cgroup(value).map(ProcessSelector::Cgroup),
            "container" => container(value).map(ProcessSelector::Container),
            _ => Err(SelectorProblem::Kind),
        }
        .map_err(fail)
    }
}

impl fmt::Display for ProcessSelector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ProcessSelector::Port(port) => write!(f, "port={port}"),
            ProcessSelector::Pid(pid) => write!(f, "pid={pid}"),
            ProcessSelector::Unit(name) => write!(f, "unit={name}"),
            ProcessSelector::Cgroup(path) => write!(f, "cgroup={path}"),
            ProcessSelector::Container(id) => write!(f, "container={id}"),
        }
    }
}

/// Returns the selector that a value without a kind may mean.
fn meant(text: &str) -> Option<String> {
    match text {
        number if number.parse::<u16>().is_ok_and(|port| 0 < port) => Some(format!("port={number}")),
        unit if unit.ends_with(".service") && unit_name(unit).is_ok() => Some(format!("unit={unit}")),
        path if path.starts_with('/') && cgroup(path).is_ok() => Some(format!("cgroup={path}")),
        _ => None,
    }
}

fn port(value: &str) -> Result<u16, SelectorProblem> {
    let port = value.parse().ok().filter(|port| 0 < *port);
    port.ok_or(SelectorProblem::Port)
}

fn pid(value: &str) -> Result<u32, SelectorProblem> {
    match value.parse() {
        Ok(0) => Err(SelectorProblem::PidZero),
        Ok(1) => Err(SelectorProblem::PidOne),
        Ok(pid) => Ok(pid),
        Err(_) => Err(SelectorProblem::Pid),
    }
}

/// Returns the name of a unit; one without a suffix is a service.
fn unit(value: &str) -> Result<String, SelectorProblem> {
    let name = unit_name(value)?;
    Ok(if name.contains('.') { name.to_owned() } else { format!("{name}.service") })
}

/// Source: systemd.unit(5): names have letters, digits, `:`, `-`, `_`, `.`, `\` and `@`.
fn unit_name(value: &str) -> Result<&str, SelectorProblem> {
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || ":-_.\\@".contains(c);
    if !value.is_empty() && value.len() <= 255 && value.chars().all(is_of_name) {
        Ok(value)
    } else {
        Err(SelectorProblem::Unit)
    }
}

/// Returns the path below the mount of the control groups, with a leading slash.
fn cgroup(value: &str) -> Result<String, SelectorProblem> {
    let below = value.strip_prefix("/sys/fs/cgroup").unwrap_or(value).trim_end_matches('/');
    let path = if below.starts_with('/') { below.to_owned() } else { format!("/{below}") };
    let is_clean =
        !path.chars().any(char::is_control) && path.split('/').all(|part| part != ".." && part != ".");
    match path.len() {
        0 | 1 => Err(SelectorProblem::RootCgroup),
        _ if is_clean => Ok(path),
        _ => Err(SelectorProblem::Cgroup),
    }
}

/// Returns whether a text is the beginning of a container's id, long enough not to match by chance.
pub(super) fn begins_id(text: &str, id: &str) -> bool {
    ID_CHARS_MIN <= text.len() && id.starts_with(text)
}

/// Returns the name of a container, or the beginning of its id.
fn container(value: &str) -> Result<String, SelectorProblem> {
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    if !value.is_empty() && value.chars().all(is_of_name) {
        Ok(value.to_owned())
    } else {
        Err(SelectorProblem::Container)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn selectors_are_parsed() {
        for (text, expected) in [
            ("port=8080", ProcessSelector::Port(8080)),
            ("pid=4242", ProcessSelector::Pid(4242)),
            ("unit=nginx", ProcessSelector::Unit("nginx.service".into())),
            ("unit=php@8.2.service", ProcessSelector::Unit("php@8.2.service".into())),
            ("unit=session-2.scope", ProcessSelector::Unit("session-2.scope".into())),
            (
                "cgroup=/sys/fs/cgroup/system.slice/a.service/",
                ProcessSelector::Cgroup("/system.slice/a.service".into()),
            ),
            ("cgroup=jobs/7", ProcessSelector::Cgroup("/jobs/7".into())),
            ("container=3f2a9c", ProcessSelector::Container("3f2a9c".into())),
            ("container=db", ProcessSelector::Container("db".into())),
        ] {
            assert_eq!(text.parse::<ProcessSelector>().unwrap(), expected, "{text}");
            assert_eq!(expected.to_string().parse::<ProcessSelector>().unwrap(), expected);
        }
    }

    #[test]
    fn mistakes_are_named_with_a_hint() {
        let error = |text: &str| text.parse::<ProcessSelector>().unwrap_err().to_string();
        assert_eq!(
            error("8080"),
            format!("watched processes `8080`: expected {KINDS}\nhint: did you mean `port=8080`?")
        );
        assert!(error("nginx.service").ends_with("hint: did you mean `unit=nginx.service`?"));
        assert!(error("/jobs/7").ends_with("hint: did you mean `cgroup=/jobs/7`?"));
        assert_eq!(error("nginx"), format!("watched processes `nginx`: expected {KINDS}"));
        assert!(error("port=0").contains("a port from 1 to 65535"));
        assert!(error("pid=1").contains("hint: name the server's own process"));
        assert!(error("cgroup=/").contains("the root group"));
        assert!(error("cgroup=/a/../b").contains("the path of a control group"));
        assert!(error("container=a/b").contains("at least 4 characters"));
        assert!(begins_id("3f2a", "3f2a9c") && !begins_id("3f2", "3f2a9c") && !begins_id("f2a9", "3f2a9c"));
        assert!(error("unit=a/b").contains("the name of a unit"));
        assert_eq!(error("name=x"), format!("watched processes `name=x`: expected {KINDS}"));
    }

    proptest! {
        #[test]
        fn any_text_is_a_selector_or_an_error(text in "(port=|pid=|unit=|cgroup=|container=)?\\PC{0,20}") {
            if let Ok(selector) = text.parse::<ProcessSelector>() {
                prop_assert_eq!(selector.to_string().parse::<ProcessSelector>().unwrap(), selector);
            }
        }
    }
}
