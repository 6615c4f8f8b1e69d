//! Names under which load agents are recorded: the sections of the testbed that describe them, and the named counts of load
//! points that are figures of single agents.

/// A figure of a load agent at a load point, of all phases; times in µs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AgentFigure {
    /// Operations that it started.
    Started,
    /// CPU time of its load threads.
    Cpu,
    /// The length of its intervals, times its load threads.
    ThreadTime,
    /// Time for which its load threads were ready to run and had no CPU.
    RunQueue,
    /// The greatest lateness of its operations.
    Lateness,
    /// The time by which the start had passed when it was told of it.
    StartDelay,
    /// The largest error of the offset of its clock when it was told to start.
    ClockBound,
    /// The time by which its clock moved against that of the controller between the start and the end.
    ClockDrift,
}

/// The names of figures, after that of the agent.
const NAMES: [(AgentFigure, &str); 8] = [
    (AgentFigure::Started, "operations started"),
    (AgentFigure::Cpu, "CPU time in µs"),
    (AgentFigure::ThreadTime, "time of load threads in µs"),
    (AgentFigure::RunQueue, "wait for a CPU in µs"),
    (AgentFigure::Lateness, "greatest lateness in µs"),
    (AgentFigure::StartDelay, "delay of the start in µs"),
    (AgentFigure::ClockBound, "bound of the clock in µs"),
    (AgentFigure::ClockDrift, "drift of the clock in µs"),
];

impl AgentFigure {
    /// Returns the name of its count, of the agent with this index.
    pub fn count_name(self, agent: usize) -> String {
        let name = NAMES.iter().find(|(figure, _)| *figure == self).map_or("", |(_, name)| name);
        format!("load agent {agent}, {name}")
    }

    /// Returns the index of the agent and the figure that a count is; `None` of any other count.
    pub fn of_count(name: &str) -> Option<(usize, AgentFigure)> {
        let (agent, name) = name.strip_prefix("load agent ")?.split_once(", ")?;
        let (figure, _) = NAMES.iter().find(|(_, known)| *known == name)?;
        Some((agent.parse().ok()?, *figure))
    }
}

/// The title of a section of the testbed that describes a load agent, before its index.
const TITLE: &str = "Load agent ";

/// Returns the title of the section of the testbed that describes the load agent with this index.
pub fn agent_title(agent: usize) -> String {
    format!("{TITLE}{agent}")
}

/// Returns the index of the load agent that a section of the testbed describes; `None` of other sections.
pub fn agent_of_title(title: &str) -> Option<usize> {
    title.strip_prefix(TITLE)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_found_by_the_names_of_their_counts() {
        for (figure, _) in NAMES {
            assert_eq!(AgentFigure::of_count(&figure.count_name(17)), Some((17, figure)));
        }
        assert_eq!((agent_title(7).as_str(), agent_of_title("Load agent 7")), ("Load agent 7", Some(7)));
        assert_eq!(agent_of_title("Load"), None);
        assert_eq!(AgentFigure::Started.count_name(2), "load agent 2, operations started");
        for other in
            ["load agent 2", "load agent x, operations started", "operations started", "load agent 2, x"]
        {
            assert_eq!(AgentFigure::of_count(other), None);
        }
    }
}
