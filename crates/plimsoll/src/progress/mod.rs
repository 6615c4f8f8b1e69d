//! What a user sees while a run goes on: one fold over its events, shown in one of three ways.
//!
//! - [`state`]: what is known; knows no terminal.
//! - [`view`]: charts and numbers that fill a terminal.
//! - [`mod@line`]: one line that moves.
//! - [`plain`]: lines one after another, for everything that is no terminal.
//! - [`choice`]: which of them.

mod choice;
#[cfg(test)]
mod fixtures;
mod line;
mod plain;
mod state;
mod text;
mod view;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use fleet::{Event, Observer};
use model::Plan;

pub use choice::Kind;
use line::Line;
use plain::Said;
use state::{Done, State};
use text::capitalized;
pub use text::length;
use view::View;
pub use view::leave as leave_view;

use crate::tell::{tell, warn};

/// Tells the progress of one run, or of several that take turns, on standard error.
pub struct Progress {
    state: Arc<Mutex<State>>,
    display: Display,
}

enum Display {
    /// Warnings only.
    Quiet,
    Plain,
    Line(Line),
    View(View),
}

impl Progress {
    /// Makes a display for plans, each with the name by which it is told from the others. There is at least one.
    pub fn new(plans: &[Plan], labels: &[String], asked: Option<Kind>) -> Progress {
        let state = Arc::new(Mutex::new(State::new(plans, labels)));
        let screen = view::screen();
        let display = match screen.choose(asked) {
            Kind::Plain => Display::Plain,
            Kind::Line => Display::Line(Line::open()),
            Kind::View => match View::open(&state, !screen.is_colorless) {
                Ok(view) => Display::View(view),
                Err(_) => Display::Line(Line::open()),
            },
        };
        Progress { state, display }
    }

    /// Makes a display of one run that shows warnings only.
    pub fn quiet(plan: &Plan) -> Progress {
        let state = State::new(std::slice::from_ref(plan), &[String::new()]);
        Progress { state: Arc::new(Mutex::new(state)), display: Display::Quiet }
    }

    /// Removes what moves from the terminal; what was said before stays.
    pub fn end(&mut self) {
        let mut state = lock(&self.state);
        let done = state.end_point();
        self.display.done(&state, done);
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
        let done = state.event(&event);
        self.display.done(&state, done);
        self.display.say(plain::said(&event));
        match &self.display {
            Display::Line(line) => line.show(&state),
            Display::View(view) => view.wake(),
            Display::Quiet | Display::Plain => {}
        }
    }
}

impl Display {
    fn done(&self, state: &State, done: Option<Done>) {
        self.say(done.and_then(|done| plain::done_text(state, &done)).map(Said::Line));
    }

    fn say(&self, said: Option<Said>) {
        match (self, said) {
            (_, None) => {}
            (Display::Line(line), Some(Said::Line(text))) => line.leave(&text),
            (Display::Line(line), Some(Said::Warning(text))) => line.leave(&format!("warning: {text}")),
            (Display::Plain, Some(Said::Step(text))) => tell(format!("{}.", capitalized(&text))),
            // The view keeps them until it is closed.
            (Display::Plain | Display::View(_), Some(Said::Line(text))) => tell(text),
            (_, Some(Said::Warning(text))) => warn(text),
            (_, Some(Said::Step(_))) | (Display::Quiet, Some(Said::Line(_))) => {}
        }
    }
}

/// Locks the state; a drawing that went wrong does not end a run.
fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}
