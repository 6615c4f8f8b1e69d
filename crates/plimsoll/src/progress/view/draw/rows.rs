//! How many rows each part gets: those that matter most first, and the same ones as long as the terminal is the same.

use super::panel;
use crate::progress::state::State;

/// Rows of the charts: fewer show nothing; more than the first maximum only where nothing else needs them.
const CHARTS_MIN: u16 = 7;
const CHARTS_MAX: u16 = 14;
const CHARTS_LARGEST: u16 = 36;

/// Load points that the table has room for where their number is not known beforehand.
const DONE_UNKNOWN: u32 = 20;

/// Rows of the table with its heading, at least.
const DONE_MIN: u16 = 3;

/// How many messages are shown at most.
const MESSAGES_MAX: u16 = 3;

/// Gaps between parts, where there is room for all of them.
const GAPS: u16 = 5;

/// The rows of each part, from the top; none where there is no room.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Rows {
    /// What runs and where it stands.
    pub header: u16,
    /// The charts.
    pub charts: u16,
    /// The numbers.
    pub panel: u16,
    /// The lights.
    pub lights: u16,
    /// Load points that are done, and what is left over.
    pub done: u16,
    /// Warnings.
    pub messages: u16,
    /// What can be done.
    pub footer: u16,
    /// Between the parts.
    pub gap: u16,
}

impl Rows {
    /// Shares out the rows of a terminal.
    pub fn fit(state: &State, height: u16) -> Rows {
        let is_open = state.run().plan.loads().any(|load| !load.is_closed());
        let mut left = height;
        let mut take = |wanted: u16, least: u16| {
            let taken = if left < least { 0 } else { wanted.min(left) };
            left -= taken;
            taken
        };
        let header = take(3, 1);
        let lights = take(2, 1);
        let panel = take(if is_open { panel::ROWS_OPEN } else { panel::ROWS }, 2);
        let footer = take(1, 1);
        let charts = take(CHARTS_MIN, CHARTS_MIN);
        let done = take(DONE_MIN, DONE_MIN);
        let gap = take(GAPS, GAPS) / GAPS;
        // Where it is too close for gaps, rows are worth more to the table.
        let charts = charts + take((CHARTS_MAX - CHARTS_MIN) * gap, 0);
        // The table never needs more than all load points, its heading, and the messages below it.
        let wanted =
            state.n_points().unwrap_or(DONE_UNKNOWN).min(u32::from(height)) as u16 + 1 + MESSAGES_MAX;
        let done = done + take(wanted.saturating_sub(done), 0);
        let charts = charts + take((CHARTS_LARGEST - CHARTS_MAX) * gap, 0);
        let done = done + take(height, 0);
        // Messages come and go: they take the table's last rows, and nothing else moves.
        let messages = MESSAGES_MAX.min(state.messages.len() as u16).min(done / 2);
        Rows { header, charts, panel, lights, done: done - messages, messages, footer, gap }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::progress::fixtures;

    fn total(rows: &Rows) -> u16 {
        let Rows { header, charts, panel, lights, done, messages, footer, gap } = rows;
        header + charts + panel + lights + done + messages + footer + gap * GAPS
    }

    #[test]
    fn all_rows_are_shared_out_and_no_more() {
        for state in [fixtures::closed(), fixtures::open(), fixtures::turns()] {
            for height in 0..80 {
                let rows = Rows::fit(&state, height);
                assert!(total(&rows) <= height, "{height}: {rows:?}");
                assert!(height < 24 || total(&rows) == height, "{height}: {rows:?}");
            }
        }
    }

    #[test]
    fn what_matters_most_stays_longest() {
        let at = |height| Rows::fit(&fixtures::closed(), height);
        assert_eq!((at(3).header, at(3).lights), (3, 0));
        assert_eq!((at(10).lights, at(10).panel, at(10).charts), (2, 5, 0));
        assert_eq!((at(24).charts, at(24).done + at(24).messages, at(24).gap), (7, 4, 0));
        assert_eq!((at(40).charts, at(40).gap), (14, 1));
    }

    #[test]
    fn messages_take_room_from_the_table_only() {
        let mut state = fixtures::closed();
        state.messages.clear();
        let quiet = Rows::fit(&state, 40);
        state.messages.push_back("warning: it rains".to_owned());
        let rows = Rows::fit(&state, 40);
        assert_eq!(rows, Rows { messages: 1, done: quiet.done - 1, ..quiet });
    }
}
