//! Charts: their contents ([`Chart`]) and their drawing as SVG.
//!
//! A drawing uses one of two palettes: CSS variables of the page's style sheet, so that a chart follows light and dark
//! mode, or literal colors for media without CSS variables. Series differ in dash pattern and marker as well as in color,
//! so that charts can be read in grayscale.

mod chart;
mod columns;
mod draw;
mod filled;
mod layout;
mod palette;
mod scale;
mod shapes;
mod ticks;

pub use chart::{Axis, Chart, DataSeries, Draw, Mark, Panel, Point, Spacing, Zone};
pub(crate) use columns::width_for;
pub use columns::{FoldedColumn, fold};
pub(crate) use draw::inline_as;
pub use draw::{inline, position, standalone};
pub use layout::DrawingWidth;
pub use palette::Palette;
pub use scale::Scale;
pub use ticks::Format;
