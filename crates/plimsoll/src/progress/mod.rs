//! The progress display of a run: one fold over its events, shown in one of three ways.
//!
//! - [`state`]: the state to display; independent of the terminal.
//! - [`view`]: full-screen charts and numbers.
//! - [`mod@line`]: one updating line.
//! - [`bar`]: the bar of that line, also for other commands.
//! - [`plain`]: one line of text per event, also for files and pipes.
//! - [`first_answer`]: the answer that stands after a few seconds, however long the run takes.
//! - [`display_kind`]: choice among them.

mod bar;
mod capabilities;
mod display_kind;
mod first_answer;
#[cfg(test)]
mod fixtures;
mod line;
mod plain;
mod state;
mod text;
mod view;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use fleet::{Event, Observer};
use model::{Plan, capitalized};
use units::{Clock, RealClock};

pub(crate) use bar::ProgressBar;
use capabilities::terminal_capabilities;
pub(crate) use display_kind::DisplayKind;
use first_answer::FirstAnswer;
use line::Line;
use plain::ProgressMessage;
use state::{FinishedPoint, State};
pub(crate) use text::length;
use view::View;

use crate::stderr::{eprint, warn};

/// The progress display, on standard error, of one run or of several interleaved runs.
pub(crate) struct Progress {
    state: Arc<Mutex<State>>,
    display: Display,
    /// The clock that began with the program.
    clock: RealClock,
    first_answer: FirstAnswer,
}

enum Display {
    /// Warnings only.
    Quiet,
    Plain,
    Line(Line),
    View(View),
}

impl Progress {
    /// Makes a display of the runs of `plans`, which is not empty; `labels` tell them apart. `clock` began when their user did.
    pub(crate) fn new(
        plans: &[Plan],
        labels: &[String],
        asked: Option<DisplayKind>,
        clock: RealClock,
    ) -> Progress {
        let state = Arc::new(Mutex::new(State::new(plans, labels)));
        let terminal = terminal_capabilities();
        let display = match terminal.choose(asked) {
            DisplayKind::Plain => Display::Plain,
            DisplayKind::Line => Display::Line(Line::open()),
            DisplayKind::View => match View::open(&state, !terminal.is_colorless) {
                Ok(view) => Display::View(view),
                Err(_) => Display::Line(Line::open()),
            },
        };
        Progress { state, display, clock, first_answer: FirstAnswer::default() }
    }

    /// Makes a display that shows only the warnings of a run.
    pub(crate) fn quiet(plan: &Plan) -> Progress {
        let state = State::new(std::slice::from_ref(plan), &[String::new()]);
        Progress {
            state: Arc::new(Mutex::new(state)),
            display: Display::Quiet,
            clock: RealClock::start(),
            first_answer: FirstAnswer::default(),
        }
    }

    /// Removes the bar or the view from the terminal; printed lines stay.
    pub(crate) fn end(&mut self) {
        let mut state = lock(&self.state);
        let finished = state.end_point();
        self.display.finished(&state, finished);
        drop(state);
        match &mut self.display {
            Display::Quiet | Display::Plain => {}
            Display::Line(line) => line.close(),
            Display::View(view) => view.close(),
        }
    }
}

impl Observer for Progress {
    fn event(&mut self, event: Event<'_>) {
        let mut state = lock(&self.state);
        let finished = state.event(&event);
        self.display.finished(&state, finished);
        if !state.is_said(&event) {
            self.display.print(plain::event_message(&event));
        }
        if let Event::Status(status) = &event
            && let Some(answer) = self.first_answer.of(status, &state, self.clock.now())
        {
            state.answer(&answer);
            self.display.print(Some(ProgressMessage::Line(answer)));
        }
        match &mut self.display {
            Display::Line(line) => line.show(&state),
            Display::View(view) => view.wake(),
            Display::Quiet | Display::Plain => {}
        }
    }
}

impl Display {
    fn finished(&mut self, state: &State, point: Option<FinishedPoint>) {
        let text = point.and_then(|point| plain::finished_text(state, &point));
        self.print(text.map(ProgressMessage::Line));
    }

    fn print(&mut self, message: Option<ProgressMessage>) {
        match (self, message) {
            (_, None) => {}
            (Display::Line(line), Some(ProgressMessage::Line(text))) => line.print_above(&text),
            (Display::Line(line), Some(ProgressMessage::Warning(text))) => {
                line.print_above(&format!("warning: {text}"))
            }
            (Display::Plain, Some(ProgressMessage::Step(text))) => eprint(format!("{}.", capitalized(&text))),
            // While the view is open, lines are buffered.
            (Display::Plain | Display::View(_), Some(ProgressMessage::Line(text))) => eprint(text),
            (_, Some(ProgressMessage::Warning(text))) => warn(text),
            (_, Some(ProgressMessage::Step(_))) | (Display::Quiet, Some(ProgressMessage::Line(_))) => {}
        }
    }
}

/// Locks the state, even after a panic of the drawing thread, which must not stop the run.
fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}
