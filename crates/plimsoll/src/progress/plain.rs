//! What events leave to be read: lines, one after another.

use fleet::Event;

use super::state::{Done, State};
use super::text::{load_text, time};
use units::Nanos;

/// Something that is said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Said {
    /// What goes on for the moment.
    Step(String),
    /// What is worth a line.
    Line(String),
    /// A warning.
    Warning(String),
}

/// Returns what an event says by itself.
pub fn said(event: &Event<'_>) -> Option<Said> {
    match event {
        Event::Preparing(what) => Some(Said::Step((*what).to_owned())),
        Event::Ready { address, server } => Some(Said::Line(format!("Server: {server}, {address}"))),
        Event::Example(example) => {
            Some(Said::Line(format!("  first `{}`: {}", example.outcome.name(), example.text)))
        }
        Event::Warning(text) => Some(Said::Warning(text.clone())),
        Event::Files { .. }
        | Event::Turn(_)
        | Event::LoadPoint(_)
        | Event::Interval(_)
        | Event::Readings { .. } => None,
    }
}

/// Returns the line about a load point that has ended; `None` if nothing was measured.
pub fn done_text(state: &State, done: &Done) -> Option<String> {
    if done.length == Nanos::ZERO {
        return None;
    }
    let name = state.name_of(done.run).map_or(String::new(), |name| format!("   {name}"));
    Some(format!(
        "  {:>2}{}  {:<16} {:>10.1}/s   p99 {:>8}   errors {}{name}",
        done.index + 1,
        state.of_all(done.run),
        load_text(done.load),
        done.rate,
        time(done.p99),
        done.errors,
    ))
}

#[cfg(test)]
mod tests {
    use super::super::fixtures;
    use super::*;

    #[test]
    fn a_load_point_that_ends_leaves_a_line() {
        let mut state = fixtures::closed();
        let done = state.end_point().expect("one runs");
        assert_eq!(
            done_text(&state, &done).unwrap(),
            "   3/4  30 users              305.0/s   p99   146 ms   errors 3"
        );
        assert_eq!(done_text(&state, &Done { length: Nanos::ZERO, ..done }), None);
    }

    #[test]
    fn runs_that_take_turns_are_told_apart() {
        let state = fixtures::turns();
        let names = state.done.iter().map(|done| done_text(&state, done).unwrap());
        let names: Vec<String> =
            names.map(|text| text.split_once("errors 0").unwrap().1.to_owned()).collect();
        assert_eq!(names, ["   nginx, php-fpm × 4", "   apache"]);
    }
}
