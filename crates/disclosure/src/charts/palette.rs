//! Color palettes of charts.

/// The colors of a drawing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Palette {
    /// Text.
    pub ink: &'static str,
    /// Less important text.
    pub faint: &'static str,
    /// Grid lines.
    pub grid: &'static str,
    /// Axis lines and limits.
    pub axis: &'static str,
    /// Shaded ranges.
    pub zone: &'static str,
    /// Background, and the inside of hollow markers.
    pub paper: &'static str,
    /// Series, by style index.
    pub series: [&'static str; 6],
    /// Density levels, the lowest first: one hue whose lightness changes in equal steps, so that they differ in grayscale.
    pub heat: [&'static str; 5],
}

impl Palette {
    /// CSS variables of the page's style sheet, which defines their values for light and dark mode.
    pub const PAGE: Palette = Palette {
        ink: "var(--ink)",
        faint: "var(--faint)",
        grid: "var(--grid)",
        axis: "var(--axis)",
        zone: "var(--zone)",
        paper: "var(--paper)",
        series: ["var(--s0)", "var(--s1)", "var(--s2)", "var(--s3)", "var(--s4)", "var(--s5)"],
        heat: ["var(--h0)", "var(--h1)", "var(--h2)", "var(--h3)", "var(--h4)"],
    };

    /// Literal colors on white. The series can be distinguished with red–green color blindness, and in grayscale by their
    /// lightness.
    pub const PAPER: Palette = Palette {
        ink: "#16202e",
        faint: "#5b6675",
        grid: "#e3e7ec",
        axis: "#76818f",
        zone: "#eef1f5",
        paper: "#ffffff",
        series: ["#0b5394", "#c65102", "#0a7d6c", "#8a3b8f", "#5b6675", "#7a6a00"],
        heat: ["#628bbb", "#4572ab", "#2c5993", "#193f70", "#0b2444"],
    };

    /// Returns the color of a series.
    pub fn series(&self, style: usize) -> &'static str {
        self.series[style % self.series.len()]
    }

    /// Returns the color of a density level; levels above the last have the color of the last.
    pub fn heat(&self, level: usize) -> &'static str {
        self.heat[level.min(self.heat.len() - 1)]
    }
}
