//! Drawing: from the state to the cells of a terminal. Draws what there is room for.

mod chart;
mod header;
mod lights;
mod paint;
mod panel;
mod rows;
mod scale;
mod table;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

pub use paint::Look;

use crate::progress::state::State;
use paint::take_rows;
use rows::Rows;

/// From so many columns on there are two charts, and a margin at both sides.
const WIDE: u16 = 76;

/// Columns between two charts.
const GAP: u16 = 2;

/// Draws a frame.
pub fn draw(state: &State, look: Look, area: Rect, buffer: &mut Buffer) {
    let margin = u16::from(WIDE + 2 <= area.width);
    let area = Rect { x: area.x + margin, width: area.width - 2 * margin, ..area };
    let rows = Rows::fit(state, area.height);
    let mut left = area;
    let mut part = |height: u16| {
        let taken = take_rows(&mut left, height);
        take_rows(&mut left, rows.gap);
        taken
    };
    header::draw(state, look, part(rows.header), buffer);
    charts(state, look, part(rows.charts), buffer);
    panel::draw(state, part(rows.panel), buffer);
    lights::draw(state, look, part(rows.lights), buffer);
    table::draw(state, look, part(rows.done), buffer);
    table::draw_messages(state, take_rows(&mut left, rows.messages), buffer);
    table::draw_footer(look, left, buffer);
}

fn charts(state: &State, look: Look, area: Rect, buffer: &mut Buffer) {
    if area.height == 0 {
        return;
    }
    if area.width < WIDE {
        return chart::draw_rate(state, look, area, buffer);
    }
    let width = (area.width - GAP) / 2;
    chart::draw_rate(state, look, Rect { width, ..area }, buffer);
    chart::draw_response(state, look, Rect { x: area.right() - width, width, ..area }, buffer);
}

#[cfg(test)]
mod tests {
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;
    use units::{Nanos, thread_cpu};

    use super::*;
    use crate::progress::fixtures;

    const LOOK: Look = Look { elapsed: Nanos::from_secs(171), has_color: true, is_stopping: false };

    fn drawn(state: &State, look: Look, columns: u16, rows: u16) -> TestBackend {
        let mut terminal = Terminal::new(TestBackend::new(columns, rows)).unwrap();
        terminal.draw(|frame| draw(state, look, frame.area(), frame.buffer_mut())).unwrap();
        terminal.backend().clone()
    }

    #[test]
    fn a_large_terminal_shows_everything() {
        insta::assert_snapshot!(drawn(&fixtures::closed(), LOOK, 120, 40));
    }

    #[test]
    fn a_usual_terminal_shows_everything_closer() {
        insta::assert_snapshot!(drawn(&fixtures::closed(), LOOK, 80, 24));
    }

    #[test]
    fn a_small_terminal_shows_what_matters_most() {
        insta::assert_snapshot!(drawn(&fixtures::closed(), LOOK, 40, 10));
    }

    #[test]
    fn servers_that_take_turns_are_told_apart() {
        insta::assert_snapshot!(drawn(&fixtures::turns(), LOOK, 120, 40));
    }

    #[test]
    fn an_open_loop_shows_what_falls_due() {
        insta::assert_snapshot!(drawn(&fixtures::open(), LOOK, 100, 30));
    }

    #[test]
    fn preparation_shows_its_step() {
        insta::assert_snapshot!(drawn(&fixtures::preparing(), LOOK, 80, 20));
    }

    #[test]
    fn the_end_that_was_asked_for_is_confirmed() {
        let backend = drawn(&fixtures::closed(), Look { is_stopping: true, ..LOOK }, 80, 24);
        assert!(backend.to_string().contains("Stopping; what was recorded is kept."));
    }

    #[test]
    fn no_size_is_too_small_or_too_large() {
        let states = [fixtures::closed(), fixtures::open(), fixtures::turns(), fixtures::preparing()];
        let sizes = [0, 1, 2, 3, 7, 8, 9, 10, 19, 20, 24, 39, 40, 76, 77, 78, 80, 120, 250, 1000];
        for state in &states {
            for (columns, rows) in
                sizes.iter().flat_map(|columns| sizes.map(|rows| (*columns, rows.min(100))))
            {
                drawn(state, LOOK, columns, rows);
            }
        }
    }

    /// The same letters with and without color.
    #[test]
    fn nothing_is_said_by_color_alone() {
        for state in [fixtures::closed(), fixtures::open(), fixtures::turns()] {
            let text = |has_color| drawn(&state, Look { has_color, ..LOOK }, 120, 40).to_string();
            assert_eq!(text(true), text(false));
        }
    }

    /// Between two seconds little moves: what must be sent to the terminal is a small part of it.
    #[test]
    fn a_second_moves_few_cells() {
        let mut state = fixtures::closed();
        let before = drawn(&state, LOOK, 120, 40).buffer().clone();
        fixtures::go_on(&mut state);
        let after = drawn(&state, LOOK, 120, 40).buffer().clone();
        let moved = before.diff(&after).len();
        assert!((1..150).contains(&moved), "{moved} of {} cells", 120 * 40);
    }

    /// Counts CPU time, so that it does not matter what else the machine does. A tenth of the limit is
    /// usual, with and without optimization.
    #[test]
    fn a_frame_is_cheap() {
        const N: u64 = 200;
        let limit = Nanos::from_millis(5);
        let mut state = fixtures::closed();
        let mut terminal = Terminal::new(TestBackend::new(120, 40)).unwrap();
        let begun = thread_cpu();
        (0..N).for_each(|_| fixtures::go_on(&mut state));
        let folded = thread_cpu();
        for _ in 0..N {
            terminal.draw(|frame| draw(&state, LOOK, frame.area(), frame.buffer_mut())).unwrap();
        }
        let (fold, frame) = (Nanos((folded - begun).0 / N), Nanos((thread_cpu() - folded).0 / N));
        println!("CPU time: a second folded {fold}, a frame drawn {frame}");
        assert!(fold < limit && frame < limit, "{fold}, {frame}");
    }
}
