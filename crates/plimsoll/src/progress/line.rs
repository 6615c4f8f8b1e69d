//! The one-line display.

use model::Load;

use super::bar::ProgressBar;
use super::state::{Point, State};
use super::text::{load_text, percent, time};

/// A progress bar with a message after it.
pub(super) struct Line {
    bar: ProgressBar,
    fraction: f64,
}

impl Line {
    /// Makes the display, on standard error.
    pub(super) fn open() -> Line {
        Line { bar: ProgressBar::new(), fraction: 0.0 }
    }

    /// Prints a line above the bar.
    pub(super) fn print_above(&mut self, text: &str) {
        self.bar.print_above(text);
    }

    /// Updates bar and message.
    pub(super) fn show(&mut self, state: &State) {
        let message = match (&state.step, &state.point) {
            (Some(step), _) => step.clone(),
            (None, Some(point)) => message(state, point),
            (None, None) => String::new(),
        };
        // The length of a search is unknown: the bar does not move.
        if let Some(done) = state.fraction_done() {
            self.fraction = done.0;
        }
        self.bar.draw(self.fraction, &message);
    }

    /// Removes the bar.
    pub(super) fn close(&mut self) {
        self.bar.clear();
    }
}

fn message(state: &State, point: &Point) -> String {
    let Some(second) = state.second else { return String::new() };
    let run = point.key.run;
    let offered = match point.key.load {
        Load::Users(_) => String::new(),
        Load::Rate { .. } => format!(" of {:.0}/s due", second.due_rate),
    };
    let allowance = state.runs[run].plan.sut_allowance();
    let sut = second.sut_cpus.map_or(String::new(), |used| match allowance {
        Some(allowance) => format!(" · server {} of its CPU quota", percent(used / allowance)),
        None => format!(" · server {} of one CPU", percent(used)),
    });
    let label = state.label_if_several(run).map_or(String::new(), |name| format!(" {name}"));
    let place = match point.stage(state) {
        Some(stage) => format!(
            "stage {}/{}{label} · {} · {:.0} s",
            stage.number,
            stage.n_stages,
            load_text(stage.load, state.words(run)),
            stage.elapsed.as_secs_f64(),
        ),
        None => format!(
            "{}{}{label} · {} · {} {:.0} s",
            point.index + 1,
            state.total_suffix(run),
            load_text(point.key.load, state.words(run)),
            point.phase.name(),
            point.at.as_secs_f64(),
        ),
    };
    format!(
        "{place} · {:.0}/s{offered} · p99 {} · errors {} · generator {}{sut}",
        second.rate,
        time(second.p99),
        point.totals.errors(),
        percent(second.generator_busy.0),
    )
}

#[cfg(test)]
mod tests {
    use super::super::fixtures;
    use super::*;

    #[test]
    fn the_message_shows_load_rate_response_time_server_and_generator() {
        let state = fixtures::closed();
        let text = message(&state, state.point.as_ref().unwrap());
        assert_eq!(
            text,
            "3/4 · 30 users · steady 29 s · 305/s · p99 146 ms · errors 3 · generator 30 % · server 83 % of its CPU quota"
        );
    }

    /// By hand: 3 s into a ramp of 10 s from 10 to 30 users there are 16.
    #[test]
    fn a_load_that_changes_shows_the_stage_and_the_load_now() {
        let state = fixtures::stages();
        let text = message(&state, state.point.as_ref().unwrap());
        assert!(text.starts_with("stage 2/2 · 16 users · 3 s · 160/s · p99 "), "{text}");
    }

    #[test]
    fn an_open_loop_shows_the_due_rate() {
        let state = fixtures::open();
        let text = message(&state, state.point.as_ref().unwrap());
        assert!(text.contains("/s of 500/s due · "), "{text}");
    }
}
