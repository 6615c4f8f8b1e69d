//! The full-screen view: a thread that draws the state of the run and reads the keyboard.
//!
//! It is a separate thread, so that a slow terminal delays neither the load nor its recording. It runs at a lower
//! priority than the load threads, as the collector does, and draws seldom.

pub(super) mod draw;

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
use crate::terminal::{self, FrameWriter};
use draw::{FrameContext, draw};

/// Minimum time between frames.
const FRAME_INTERVAL: Nanos = Nanos::from_millis(250);

/// Nice value of the thread, the same as the collector's: drawing a frame must not delay a load thread on the same CPU.
const NICE: i32 = 10;

/// An open view.
pub(super) struct View {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

/// Data shared by the run and the drawing thread, besides the state.
#[derive(Default)]
struct Shared {
    is_over: AtomicBool,
    /// Number of events so far.
    version: AtomicU64,
}

impl View {
    /// Takes the terminal over and starts drawing.
    ///
    /// # Errors
    /// If the terminal cannot be taken over; it is then unchanged.
    pub(super) fn open(state: &Arc<Mutex<State>>, has_color: bool) -> io::Result<View> {
        terminal::enter()?;
        let shared = Arc::new(Shared::default());
        let state = Arc::clone(state);
        let theirs = Arc::clone(&shared);
        let thread = std::thread::Builder::new().name("view".to_owned());
        let thread = thread.spawn(move || ViewThread::new(has_color).run(&state, &theirs));
        Ok(View { shared, thread: Some(thread.inspect_err(|_| terminal::restore_terminal())?) })
    }

    /// Tells the thread that the state has changed.
    pub(super) fn wake(&self) {
        self.shared.version.fetch_add(1, Ordering::Relaxed);
    }

    /// Restores the terminal and prints the buffered lines.
    pub(super) fn close(&mut self) {
        self.shared.is_over.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // If it panicked, the message has been printed.
            let _ = thread.join();
        }
        terminal::restore_terminal();
    }
}

impl Drop for View {
    fn drop(&mut self) {
        self.close();
    }
}

/// The drawing thread.
struct ViewThread {
    clock: RealClock,
    has_color: bool,
    /// Content of the last frame: number of events, seconds, whether the run is stopping. `None` to force a redraw.
    shown: Option<(u64, u64, bool)>,
    /// Earliest time of the next frame.
    due: Nanos,
}

impl ViewThread {
    fn new(has_color: bool) -> ViewThread {
        ViewThread { clock: RealClock::start(), has_color, shown: None, due: Nanos::ZERO }
    }

    /// Draws and reads keys until the run is over or the terminal is gone.
    fn run(mut self, state: &Mutex<State>, shared: &Shared) {
        deprioritize_thread(&lock(state).run().plan);
        let Ok(mut terminal) = Terminal::new(CrosstermBackend::new(FrameWriter::default())) else { return };
        while !shared.is_over.load(Ordering::Relaxed) {
            let now = self.clock.now();
            let is_stopping = interrupt::is_stop_requested();
            let changed = (shared.version.load(Ordering::Relaxed), now.0 / 1_000_000_000, is_stopping);
            if self.due <= now && self.shown != Some(changed) {
                let context = FrameContext { elapsed: now, has_color: self.has_color, is_stopping };
                let frame =
                    terminal.draw(|frame| draw(&lock(state), context, frame.area(), frame.buffer_mut()));
                if frame.is_err() {
                    return;
                }
                self.shown = Some(changed);
                self.due = now + FRAME_INTERVAL;
            }
            self.wait_for_key();
        }
    }

    /// Waits for a key until the next frame is due.
    fn wait_for_key(&mut self) {
        let left = self.due.saturating_sub(self.clock.now());
        let wait = Duration::from_nanos(if left == Nanos::ZERO { FRAME_INTERVAL } else { left }.0);
        match event::poll(wait) {
            Ok(true) => match event::read() {
                Ok(Event::Key(key)) => press(key),
                Ok(Event::Resize(..)) => self.shown = None,
                _ => {}
            },
            Ok(false) => {}
            // There is no keyboard.
            Err(_) => std::thread::sleep(wait),
        }
    }
}

/// Handles a key. In raw mode, the terminal sends no signal for Ctrl-C.
fn press(key: KeyEvent) {
    let is_control = key.modifiers.contains(KeyModifiers::CONTROL);
    match key.code {
        _ if key.kind != KeyEventKind::Press => {}
        KeyCode::Char('c') if is_control => interrupt::request_stop(),
        // A key that repeats must not quit the program.
        KeyCode::Char('q' | 'Q') if !interrupt::is_stop_requested() => interrupt::request_stop(),
        _ => {}
    }
}

/// Lowers the thread's priority and keeps it off the server's CPUs, if the system allows it.
fn deprioritize_thread(plan: &Plan) {
    let _ = lower_priority(NICE);
    if !plan.sut.cpus.is_empty() && !plan.load_cpus().is_empty() {
        let _ = pin_current_thread(&plan.load_cpus());
    }
}
