//! The view that fills a terminal: a thread that draws what the run tells, and listens to the keyboard.
//!
//! A thread of its own, so that a terminal that takes its time holds up neither the load nor its record. It stands
//! behind the load threads as the collector does, and draws seldom.

pub mod draw;
mod terminal;

use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use model::Plan;
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use testbed::{lower_priority, pin_current_thread};
use units::{Clock, Nanos, RealClock};

use super::lock;
use super::state::State;
use crate::interrupt;
use draw::{Look, draw};
use terminal::Pane;
pub use terminal::{give_back as leave, screen};

/// Frames are at least so far apart.
const EVERY: Nanos = Nanos::from_millis(250);

/// As the collector of records: a frame would be lateness for a load thread on the same CPU.
const NICE: i32 = 10;

/// A view that is open.
pub struct View {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

/// What the run and the drawing thread have in common, besides the state.
#[derive(Default)]
struct Shared {
    is_over: AtomicBool,
    /// Counts the events that were taken.
    version: AtomicU64,
}

impl View {
    /// Takes the terminal over and begins to draw.
    ///
    /// # Errors
    /// If the terminal cannot be taken over; it is as it was then.
    pub fn open(state: &Arc<Mutex<State>>, has_color: bool) -> io::Result<View> {
        terminal::take()?;
        let shared = Arc::new(Shared::default());
        let (state, theirs) = (Arc::clone(state), Arc::clone(&shared));
        let thread = std::thread::Builder::new().name("view".to_owned());
        let thread = thread.spawn(move || Painter::new(has_color).run(&state, &theirs));
        Ok(View { shared, thread: Some(thread.inspect_err(|_| terminal::give_back())?) })
    }

    /// Says that the state has changed.
    pub fn wake(&self) {
        self.shared.version.fetch_add(1, Ordering::Relaxed);
    }

    /// Gives the terminal back, with what was said meanwhile.
    pub fn close(&mut self) {
        self.shared.is_over.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // If it panicked, that was told.
            let _ = thread.join();
        }
        terminal::give_back();
    }
}

impl Drop for View {
    fn drop(&mut self) {
        self.close();
    }
}

/// What the thread knows for itself.
struct Painter {
    clock: RealClock,
    has_color: bool,
    /// What the last frame showed: events, seconds, whether the run is to end. `None` if it must be drawn again.
    shown: Option<(u64, u64, bool)>,
    /// When the next frame may be drawn.
    due: Nanos,
}

impl Painter {
    fn new(has_color: bool) -> Painter {
        Painter { clock: RealClock::start(), has_color, shown: None, due: Nanos::ZERO }
    }

    /// Draws and listens until the run is over, or the terminal is gone.
    fn run(mut self, state: &Mutex<State>, shared: &Shared) {
        stand_back(&lock(state).run().plan);
        let Ok(mut terminal) = Terminal::new(CrosstermBackend::new(Pane::default())) else { return };
        while !shared.is_over.load(Ordering::Relaxed) {
            let now = self.clock.now();
            let is_stopping = interrupt::is_asked();
            let changed = (shared.version.load(Ordering::Relaxed), now.0 / 1_000_000_000, is_stopping);
            if self.due <= now && self.shown != Some(changed) {
                let look = Look { elapsed: now, has_color: self.has_color, is_stopping };
                let frame = terminal.draw(|frame| draw(&lock(state), look, frame.area(), frame.buffer_mut()));
                if frame.is_err() {
                    return;
                }
                self.shown = Some(changed);
                self.due = now + EVERY;
            }
            self.listen();
        }
    }

    /// Waits for a key until the next frame is due.
    fn listen(&mut self) {
        let left = self.due.saturating_sub(self.clock.now());
        let wait = Duration::from_nanos(if left == Nanos::ZERO { EVERY } else { left }.0);
        match event::poll(wait) {
            Ok(true) => match event::read() {
                Ok(Event::Key(key)) => press(key),
                Ok(Event::Resize(..)) => self.shown = None,
                _ => {}
            },
            Ok(false) => {}
            // Nobody to listen to.
            Err(_) => std::thread::sleep(wait),
        }
    }
}

/// Does what a key asks for. In this mode the terminal makes no signal of Ctrl-C.
fn press(key: KeyEvent) {
    let is_control = key.modifiers.contains(KeyModifiers::CONTROL);
    match key.code {
        _ if key.kind != KeyEventKind::Press => {}
        KeyCode::Char('c') if is_control => interrupt::ask(),
        // Held for too long it does not end the program.
        KeyCode::Char('q' | 'Q') if !interrupt::is_asked() => interrupt::ask(),
        _ => {}
    }
}

/// Keeps the thread off the server's CPUs, and behind the load threads on theirs, where the system allows it.
fn stand_back(plan: &Plan) {
    let _ = lower_priority(NICE);
    if !plan.sut.cpus.is_empty() && !plan.load_cpus.is_empty() {
        let _ = pin_current_thread(&plan.load_cpus);
    }
}
