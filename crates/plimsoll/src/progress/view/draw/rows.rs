//! Allocation of rows to the parts of the view: important parts first, and constant for a given terminal size.

use super::panel;
use crate::progress::state::State;

/// Rows of the charts: the minimum, the usual maximum, and the maximum if no other part needs the rows.
const CHARTS_MIN: u16 = 7;
const CHARTS_MAX: u16 = 14;
const CHARTS_LARGEST: u16 = 36;

/// Rows of the table if the number of load points is not known beforehand.
const FINISHED_UNKNOWN: u32 = 20;

/// Minimum rows of the table, with its heading.
const FINISHED_MIN: u16 = 3;

/// Maximum number of messages shown.
const MESSAGES_MAX: u16 = 3;

/// Number of gaps between parts; all or none are shown.
const GAPS: u16 = 5;

/// The number of rows of each part, from the top; 0 for a part that does not fit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct RowAllocation {
    /// Benchmark and progress.
    pub header: u16,
    /// The charts.
    pub charts: u16,
    /// The numbers.
    pub panel: u16,
    /// The indicators.
    pub indicators: u16,
    /// The table of finished load points, and unused rows.
    pub finished: u16,
    /// Warnings.
    pub messages: u16,
    /// Keys.
    pub footer: u16,
    /// Rows between two parts.
    pub gap: u16,
}

impl RowAllocation {
    /// Allocates the rows of a terminal.
    pub(super) fn fit(state: &State, height: u16) -> RowAllocation {
        let mut left = height;
        let mut take = |wanted: u16, least: u16| {
            let taken = if left < least { 0 } else { wanted.min(left) };
            left -= taken;
            taken
        };
        let header = take(3, 1);
        let indicators = take(2, 1);
        let panel = take(panel::n_rows(state), 2);
        let footer = take(1, 1);
        let charts = take(CHARTS_MIN, CHARTS_MIN);
        let finished = take(FINISHED_MIN, FINISHED_MIN);
        let gap = take(GAPS, GAPS) / GAPS;
        // Without room for gaps, the table needs the rows more.
        let charts = charts + take((CHARTS_MAX - CHARTS_MIN) * gap, 0);
        // The table needs no more than all load points, its heading and the messages below it.
        let wanted =
            state.n_points().unwrap_or(FINISHED_UNKNOWN).min(u32::from(height)) as u16 + 1 + MESSAGES_MAX;
        let finished = finished + take(wanted.saturating_sub(finished), 0);
        let charts = charts + take((CHARTS_LARGEST - CHARTS_MAX) * gap, 0);
        let finished = finished + take(height, 0);
        // Messages take the table's last rows, so that no other part moves when they change.
        let messages = MESSAGES_MAX.min(state.messages.len() as u16).min(finished / 2);
        RowAllocation {
            header,
            charts,
            panel,
            indicators,
            finished: finished - messages,
            messages,
            footer,
            gap,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::progress::fixtures;

    fn total(rows: &RowAllocation) -> u16 {
        let RowAllocation { header, charts, panel, indicators, finished, messages, footer, gap } = rows;
        header + charts + panel + indicators + finished + messages + footer + gap * GAPS
    }

    #[test]
    fn all_rows_are_allocated_and_no_more() {
        for state in [fixtures::closed(), fixtures::open(), fixtures::interleaved(), fixtures::throughput()] {
            for height in 0..80 {
                let rows = RowAllocation::fit(&state, height);
                assert!(total(&rows) <= height, "{height}: {rows:?}");
                assert!(height < 24 || total(&rows) == height, "{height}: {rows:?}");
            }
        }
    }

    #[test]
    fn important_parts_are_dropped_last() {
        let at = |height| RowAllocation::fit(&fixtures::closed(), height);
        assert_eq!((at(3).header, at(3).indicators), (3, 0));
        assert_eq!((at(10).indicators, at(10).panel, at(10).charts), (2, 5, 0));
        assert_eq!((at(24).charts, at(24).finished + at(24).messages, at(24).gap), (7, 4, 0));
        assert_eq!((at(40).charts, at(40).gap), (14, 1));
    }

    #[test]
    fn messages_take_rows_from_the_table_only() {
        let mut state = fixtures::closed();
        state.messages.clear();
        let quiet = RowAllocation::fit(&state, 40);
        state.messages.push_back("warning: the disk is full".to_owned());
        let rows = RowAllocation::fit(&state, 40);
        assert_eq!(rows, RowAllocation { messages: 1, finished: quiet.finished - 1, ..quiet });
    }
}
