//! Charts: what one shows ([`Chart`]), and how it becomes SVG.
//!
//! One drawing serves two palettes: variables of the page's style sheet, so that a chart follows
//! light and dark, and literal colors for media that know no variables. Series differ in dash and
//! marker as well as in color, so that a chart survives a grey printer.

mod chart;
mod columns;
mod draw;
mod filled;
mod layout;
mod palette;
mod scale;
mod shapes;
mod ticks;

pub use chart::{Axis, Chart, Draw, Mark, Panel, Point, Series, Spacing, Zone};
pub(crate) use columns::width_for;
pub use columns::{Column, fold};
pub(crate) use draw::inline_as;
pub use draw::{inline, position, standalone};
pub use layout::Frame;
pub use palette::Palette;
pub use scale::Scale;
pub use ticks::Format;
