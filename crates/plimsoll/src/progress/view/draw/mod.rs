//! Drawing of the state into the cells of a terminal, as much as fits.

mod chart;
mod header;
mod indicators;
mod paint;
mod panel;
mod rows;
mod scale;
mod table;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

pub(crate) use paint::FrameContext;

use crate::progress::state::State;
use paint::take_rows;
use rows::RowAllocation;

/// Minimum width for two charts and margins, in columns.
const WIDE: u16 = 76;

/// Gap between the two charts, in columns.
const GAP: u16 = 2;

/// Draws a frame.
pub(crate) fn draw(state: &State, context: FrameContext, area: Rect, buffer: &mut Buffer) {
    let margin = u16::from(WIDE + 2 <= area.width);
    let area = Rect { x: area.x + margin, width: area.width - 2 * margin, ..area };
    let rows = RowAllocation::fit(state, area.height);
    let mut left = area;
    let mut part = |height: u16| {
        let taken = take_rows(&mut left, height);
        take_rows(&mut left, rows.gap);
        taken
    };
    header::draw(state, context, part(rows.header), buffer);
    charts(state, context, part(rows.charts), buffer);
    panel::draw(state, part(rows.panel), buffer);
    indicators::draw(state, context, part(rows.indicators), buffer);
    table::draw(state, context, part(rows.finished), buffer);
    table::draw_messages(state, take_rows(&mut left, rows.messages), buffer);
    table::draw_footer(context, left, buffer);
}

fn charts(state: &State, context: FrameContext, area: Rect, buffer: &mut Buffer) {
    if area.height == 0 {
        return;
    }
    if area.width < WIDE {
        return chart::draw_rate(state, context, area, buffer);
    }
    let width = (area.width - GAP) / 2;
    chart::draw_rate(state, context, Rect { width, ..area }, buffer);
    chart::draw_response(state, context, Rect { x: area.right() - width, width, ..area }, buffer);
}

#[cfg(test)]
mod tests {
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;
    use units::{Nanos, thread_cpu};

    use super::*;
    use crate::progress::fixtures;

    const CONTEXT: FrameContext =
        FrameContext { elapsed: Nanos::from_secs(171), has_color: true, is_stopping: false };

    fn drawn(state: &State, context: FrameContext, columns: u16, rows: u16) -> TestBackend {
        let mut terminal = Terminal::new(TestBackend::new(columns, rows)).unwrap();
        terminal.draw(|frame| draw(state, context, frame.area(), frame.buffer_mut())).unwrap();
        terminal.backend().clone()
    }

    #[test]
    fn a_large_terminal_shows_everything() {
        insta::assert_snapshot!(drawn(&fixtures::closed(), CONTEXT, 120, 40));
    }

    #[test]
    fn a_standard_terminal_shows_everything_without_gaps() {
        insta::assert_snapshot!(drawn(&fixtures::closed(), CONTEXT, 80, 24));
    }

    #[test]
    fn a_small_terminal_shows_the_most_important_parts() {
        insta::assert_snapshot!(drawn(&fixtures::closed(), CONTEXT, 40, 10));
    }

    #[test]
    fn interleaved_servers_are_labeled() {
        insta::assert_snapshot!(drawn(&fixtures::interleaved(), CONTEXT, 120, 40));
    }

    #[test]
    fn an_open_loop_shows_the_due_rate() {
        insta::assert_snapshot!(drawn(&fixtures::open(), CONTEXT, 100, 30));
    }

    /// The benchmark's words and score, in which everything else is the same.
    #[test]
    fn a_score_of_its_own_is_shown_in_the_words_of_the_benchmark() {
        insta::assert_snapshot!(drawn(&fixtures::throughput(), CONTEXT, 100, 30));
    }

    #[test]
    fn preparation_shows_its_step() {
        insta::assert_snapshot!(drawn(&fixtures::preparing(), CONTEXT, 80, 20));
    }

    #[test]
    fn a_stop_request_is_confirmed() {
        let backend = drawn(&fixtures::closed(), FrameContext { is_stopping: true, ..CONTEXT }, 80, 24);
        assert!(backend.to_string().contains("Stopping; the records so far are kept."));
    }

    #[test]
    fn no_size_is_too_small_or_too_large() {
        let states = [
            fixtures::closed(),
            fixtures::open(),
            fixtures::interleaved(),
            fixtures::preparing(),
            fixtures::throughput(),
        ];
        let sizes = [0, 1, 2, 3, 7, 8, 9, 10, 19, 20, 24, 39, 40, 76, 77, 78, 80, 120, 250, 1000];
        for state in &states {
            for (columns, rows) in
                sizes.iter().flat_map(|columns| sizes.map(|rows| (*columns, rows.min(100))))
            {
                drawn(state, CONTEXT, columns, rows);
            }
        }
    }

    /// The text is the same with and without color.
    #[test]
    fn no_information_is_shown_by_color_alone() {
        for state in [fixtures::closed(), fixtures::open(), fixtures::interleaved()] {
            let text = |has_color| drawn(&state, FrameContext { has_color, ..CONTEXT }, 120, 40).to_string();
            assert_eq!(text(true), text(false));
        }
    }

    /// Few cells change from one second to the next, so that little is sent to the terminal.
    #[test]
    fn a_second_changes_few_cells() {
        let mut live = fixtures::live_closed();
        let before = drawn(&live.state, CONTEXT, 120, 40).buffer().clone();
        live.advance();
        let after = drawn(&live.state, CONTEXT, 120, 40).buffer().clone();
        let changed = before.diff(&after).len();
        assert!((1..150).contains(&changed), "{changed} of {} cells", 120 * 40);
    }

    /// Measures CPU time, so that other processes do not matter. A tenth of the limit is usual, with and without
    /// optimization.
    #[test]
    fn a_frame_is_cheap() {
        const N: u64 = 200;
        let limit = Nanos::from_millis(5);
        let mut live = fixtures::live_closed();
        let mut terminal = Terminal::new(TestBackend::new(120, 40)).unwrap();
        let begun = thread_cpu();
        (0..N).for_each(|_| live.advance());
        let folded = thread_cpu();
        for _ in 0..N {
            terminal.draw(|frame| draw(&live.state, CONTEXT, frame.area(), frame.buffer_mut())).unwrap();
        }
        let fold = Nanos((folded - begun).0 / N);
        let frame = Nanos((thread_cpu() - folded).0 / N);
        println!("CPU time: a second folded and judged {fold}, a frame drawn {frame}");
        assert!(fold < limit && frame < limit, "{fold}, {frame}");
    }
}
