//! Colors.

/// The colors of a drawing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Palette {
    /// Words and numbers.
    pub ink: &'static str,
    /// Words that matter less.
    pub faint: &'static str,
    /// Grid lines.
    pub grid: &'static str,
    /// Axis lines and limits.
    pub axis: &'static str,
    /// Shaded stretches.
    pub zone: &'static str,
    /// Inside of hollow markers.
    pub paper: &'static str,
    /// Series, by style number.
    pub series: [&'static str; 5],
    /// Levels of density, the least first: one hue whose lightness moves in even steps, so that they keep apart in grey.
    pub heat: [&'static str; 5],
}

impl Palette {
    /// Variables of the page's style sheet, which gives them a light and a dark value.
    pub const PAGE: Palette = Palette {
        ink: "var(--ink)",
        faint: "var(--faint)",
        grid: "var(--grid)",
        axis: "var(--axis)",
        zone: "var(--zone)",
        paper: "var(--paper)",
        series: ["var(--s0)", "var(--s1)", "var(--s2)", "var(--s3)", "var(--s4)"],
        heat: ["var(--h0)", "var(--h1)", "var(--h2)", "var(--h3)", "var(--h4)"],
    };

    /// Literal colors on white. The series keep apart for people who confuse red and green, and in
    /// grey, where their lightness differs.
    pub const PAPER: Palette = Palette {
        ink: "#16202e",
        faint: "#5b6675",
        grid: "#e3e7ec",
        axis: "#76818f",
        zone: "#eef1f5",
        paper: "#ffffff",
        series: ["#0b5394", "#c65102", "#0a7d6c", "#8a3b8f", "#5b6675"],
        heat: ["#628bbb", "#4572ab", "#2c5993", "#193f70", "#0b2444"],
    };

    /// Returns the color of a series.
    pub fn series(&self, style: usize) -> &'static str {
        self.series[style % self.series.len()]
    }

    /// Returns the color of a level of density; levels beyond the last look like it.
    pub fn heat(&self, level: usize) -> &'static str {
        self.heat[level.min(self.heat.len() - 1)]
    }
}
