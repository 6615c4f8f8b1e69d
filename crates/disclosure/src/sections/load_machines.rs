//! The load machines of a run whose load agents are processes of their own: what they are, and how they did.

use analysis::LoadPointResult;
use model::{AgentFigure, FactSection, agent_of_title};
use units::Nanos;

use crate::{Block, Cell, Column, Report, Row, Section, Table, numbers};

pub(super) fn section(report: &Report) -> Option<Section> {
    let agents: Vec<Agent> = report.testbed.sections.iter().filter_map(Agent::of).collect();
    if agents.is_empty() {
        return None;
    }
    let blocks = vec![
        Block::Table(machines(&agents)),
        Block::Table(figures(&report.analysis.words.operation.many, &agents, &report.analysis.load_points)),
    ];
    Some(Section { id: "load-machines", title: "Load machines".into(), blocks })
}

/// A load agent, as the testbed describes it.
struct Agent<'a> {
    index: usize,
    facts: &'a FactSection,
}

impl<'a> Agent<'a> {
    fn of(section: &'a FactSection) -> Option<Agent<'a>> {
        Some(Agent { index: agent_of_title(&section.title)?, facts: section })
    }

    /// Returns a fact, or the sign of an absent value.
    fn fact(&self, name: &str) -> &'a str {
        let fact = self.facts.facts.iter().find(|fact| fact.name == name);
        fact.map_or(numbers::ABSENT, |fact| &fact.value)
    }

    /// Returns a figure at a load point.
    fn figure(&self, point: &LoadPointResult, figure: AgentFigure) -> Option<u64> {
        let is_it = |name: &str| AgentFigure::of_count(name) == Some((self.index, figure));
        point.counts.iter().find(|count| is_it(&count.name)).map(|count| count.n)
    }
}

fn machines(agents: &[Agent<'_>]) -> Table {
    let columns = vec![
        Column::numbers("Load agent", ""),
        Column::words("Machine"),
        Column::words("Processor"),
        Column::words("Memory"),
        Column::words("Network"),
        Column::numbers("Load threads", ""),
        Column::numbers("Users", ""),
    ];
    let row = |agent: &Agent| {
        let system = [agent.fact("architecture"), agent.fact("kernel")];
        let known: Vec<&str> = system.into_iter().filter(|value| *value != numbers::ABSENT).collect();
        let detail = |value: &str, detail: String| Cell::with(value.to_owned(), detail);
        Row::plain([
            Cell::from(agent.index.to_string()),
            detail(agent.fact("machine"), known.join(", ")),
            detail(agent.fact("processor"), format!("{} CPUs available", agent.fact("CPUs available"))),
            Cell::from(agent.fact("memory")),
            Cell::from(agent.fact("network")),
            detail(agent.fact("load threads"), agent.fact("CPUs of load threads").to_owned()),
            Cell::from(agent.fact("users")),
        ])
    };
    let rows = agents.iter().map(row).collect();
    Table::new("Load machines, as they describe themselves", columns, rows).note(
        "Each load agent is a process. Users: at the highest load of the plan. What several users share, such as a \
         connection of HTTP/2, is shared by users of one load thread only.",
    )
}

/// Lays out the worst figures of each agent over all load points.
fn figures(operations: &str, agents: &[Agent<'_>], points: &[LoadPointResult]) -> Table {
    let columns = vec![
        Column::numbers(model::capitalized(operations), ""),
        Column::numbers("CPU", "%"),
        Column::numbers("Run queue", "%"),
        Column::numbers("Lateness, greatest", ""),
        Column::numbers("Start delay", ""),
        Column::numbers("Clock known to ±", ""),
        Column::numbers("Clock drift", ""),
    ];
    let row = |agent: &Agent| {
        let all = |figure| points.iter().filter_map(move |point| agent.figure(point, figure));
        let longest =
            |figure| numbers::time(all(figure).max().map(|micros| Nanos(micros.saturating_mul(1_000))));
        let share = |figure| {
            let share = |point: &LoadPointResult| {
                let whole = agent.figure(point, AgentFigure::ThreadTime).filter(|whole| 0 < *whole)?;
                Some(agent.figure(point, figure)? as f64 / whole as f64)
            };
            let greatest = points.iter().filter_map(share).reduce(f64::max);
            numbers::fixed(greatest.map(|share| share * 100.0), 1)
        };
        let started = all(AgentFigure::Started).reduce(u64::saturating_add);
        Row::plain([
            agent.index.to_string(),
            numbers::count(started),
            share(AgentFigure::Cpu),
            share(AgentFigure::RunQueue),
            longest(AgentFigure::Lateness),
            longest(AgentFigure::StartDelay),
            longest(AgentFigure::ClockBound),
            longest(AgentFigure::ClockDrift),
        ])
    };
    let rows = agents.iter().map(row).collect();
    let columns = [vec![Column::numbers("Load agent", "")], columns].concat();
    Table::new("Load of the load machines", columns, rows).note(
        "The operations of all load points, ramps and all; else the worst of all load points. CPU and run queue: of the \
         time of its load threads. The clocks of load machines are monotonic and begin anywhere, so their offsets say \
         nothing: what counts is how well they are known, and by how much more than that they moved during a load point.",
    )
}
