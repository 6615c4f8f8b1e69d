//! The document model: the contents of a report, independent of its layout.

use analysis::VerdictState;

use crate::charts::Chart;

/// A whole report.
#[derive(Debug, Clone, PartialEq)]
pub struct Document {
    /// Display name of the benchmark.
    pub title: String,
    /// System under test and date.
    pub subtitle: String,
    /// The verdict, shown above everything else.
    pub banner: Banner,
    /// The headline; never shown without the banner.
    pub hero: Option<Hero>,
    /// First paragraph: the answer to the question of the run, in numbers. May be empty.
    pub answer: Text,
    /// The short answers of the first page, with their names: bottleneck, errors, what to do next. May be empty.
    pub brief: Vec<(String, Text)>,
    /// Number of sections that are shown open; the others are folded where a medium can do so.
    pub n_open: usize,
    /// The most informative chart, for the first screen; its numbers are in a section.
    pub lead: Option<LeadFigure>,
    /// Sections in reading order.
    pub sections: Vec<Section>,
    /// Last paragraph: the origin of the report.
    pub colophon: Text,
}

impl Document {
    /// Returns the document with its first page and the sections that are shown open, without those that are folded.
    pub fn short(mut self) -> Document {
        let n_left_out = self.sections.len().saturating_sub(self.n_open);
        self.sections.truncate(self.n_open);
        if 0 < n_left_out {
            let note = format!(
                " This is its short form: {n_left_out} more sections are in the full report (`--full`)."
            );
            self.colophon = self.colophon.sentence(&note);
        }
        self
    }

    /// Returns the document without the long tables that are folded where a medium can do so.
    pub fn without_bulk(mut self) -> Document {
        let is_bulky = |block: &Block| matches!(block, Block::Fold { bulky: true, .. });
        let mut n_left_out = 0;
        for section in &mut self.sections {
            let n_before = section.blocks.len();
            section.blocks.retain(|block| !is_bulky(block));
            n_left_out += n_before - section.blocks.len();
        }
        if 0 < n_left_out {
            let note = format!(" {n_left_out} long tables are in the HTML report only.");
            self.colophon = self.colophon.sentence(&note);
        }
        self
    }
}

/// The verdict with its reasons, and the modifications of the benchmark's definition.
#[derive(Debug, Clone, PartialEq)]
pub struct Banner {
    /// VerdictState of the verdict.
    pub state: VerdictState,
    /// The verdict in one sentence.
    pub text: Text,
    /// Reasons for which the run is not valid; empty if it is valid.
    pub reasons: Vec<Text>,
    /// Modifications, one per item: `steady phase: 600 s → 8 s`; empty for an unmodified run.
    pub modified: Vec<Text>,
}

/// The benchmark's headline with its load and response time.
#[derive(Debug, Clone, PartialEq)]
pub struct Hero {
    /// The figure, without its unit.
    pub value: String,
    /// The unit: `connections per second`.
    pub unit: String,
    /// Load and response time of the headline.
    pub companion: Text,
}

/// A chart without its table.
#[derive(Debug, Clone, PartialEq)]
pub struct LeadFigure {
    /// The chart.
    pub chart: Chart,
    /// Explanation of the chart.
    pub caption: Text,
}

/// A section of the report.
#[derive(Debug, Clone, PartialEq)]
pub struct Section {
    /// Anchor: lower case and hyphens, unique in the document.
    pub id: &'static str,
    /// Heading.
    pub title: String,
    /// Blocks in reading order.
    pub blocks: Vec<Block>,
}

/// An element of a section.
#[derive(Debug, Clone, PartialEq)]
pub enum Block {
    /// A paragraph.
    Paragraph(Text),
    /// A heading of the second level.
    Heading(String),
    /// The key figures.
    Tiles(Vec<Tile>),
    /// A table.
    Table(Table),
    /// A chart with the table of its numbers.
    Figure(Box<Figure>),
    /// Names and values.
    Facts(Vec<(String, Text)>),
    /// Verbatim text of a file or a command line.
    Code {
        /// Description of the text.
        caption: String,
        /// The text.
        text: String,
    },
    /// An unordered list.
    List(Vec<Text>),
    /// A highlighted note.
    Note(NoteKind, Text),
    /// Details that are collapsed in media that can do so.
    Fold {
        /// Title, shown even when collapsed.
        title: String,
        /// Blocks in reading order.
        blocks: Vec<Block>,
        /// Whether the details are looked up and not read from top to bottom; a browser then prints the title alone.
        bulky: bool,
    },
}

impl Block {
    /// Creates details that are collapsed on a screen, and printed.
    pub fn fold(title: impl Into<String>, blocks: Vec<Block>) -> Block {
        Block::Fold { title: title.into(), blocks, bulky: false }
    }

    /// Creates details that are collapsed on a screen, and not printed by a browser.
    pub fn bulky_fold(title: impl Into<String>, blocks: Vec<Block>) -> Block {
        Block::Fold { title: title.into(), blocks, bulky: true }
    }
}

/// Severity of a note.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoteKind {
    /// Explains the results next to it.
    Info,
    /// Limits the conclusions.
    Warning,
}

/// A key figure of a summary.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tile {
    /// Name of the figure.
    pub name: String,
    /// The figure with its unit.
    pub value: String,
    /// Context: the load, the limit.
    pub note: String,
}

/// A chart with the table of its numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// The chart.
    pub chart: Chart,
    /// Explanation of the chart.
    pub caption: Text,
    /// The numbers of the chart.
    pub table: Table,
    /// Whether the table is too long to be read from top to bottom; it is then collapsed, and omitted in print.
    pub bulky: bool,
}

/// A table. Every row has as many cells as there are columns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    /// Caption.
    pub caption: String,
    /// Columns from left to right.
    pub columns: Vec<Column>,
    /// Rows from top to bottom.
    pub rows: Vec<Row>,
    /// Explanation of the table; may be empty.
    pub note: Text,
}

/// The header of a column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// Heading.
    pub heading: String,
    /// Unit; may be empty.
    pub unit: &'static str,
    /// Alignment of the cells.
    pub align: Align,
}

/// Alignment of the cells of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Align {
    /// For text.
    Left,
    /// For numbers.
    Right,
}

/// A row of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// Cells from left to right.
    pub cells: Vec<Cell>,
    /// Emphasis of the row.
    pub style: RowStyle,
}

/// Emphasis of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowStyle {
    /// No emphasis.
    Plain,
    /// The row of the headline.
    Best,
    /// The row of an invalid result.
    Invalid,
    /// The total of the other rows.
    Total,
}

/// A cell: a value, and a detail in smaller letters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cell {
    /// The value; line breaks are kept, for texts of files.
    pub text: String,
    /// Confidence interval or another detail; may be empty.
    pub detail: String,
}

/// Text with minimal formatting.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Text(pub Vec<Span>);

/// A run of text in one style.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Span {
    /// Plain text.
    Plain(String),
    /// Strong emphasis.
    Strong(String),
    /// A name from a file or a command line.
    Code(String),
}

impl Text {
    /// Appends plain text.
    pub fn plain(mut self, text: impl Into<String>) -> Text {
        self.0.push(Span::Plain(text.into()));
        self
    }

    /// Appends text with strong emphasis.
    pub fn strong(mut self, text: impl Into<String>) -> Text {
        self.0.push(Span::Strong(text.into()));
        self
    }

    /// Appends a name from a file or a command line.
    pub fn code(mut self, text: impl Into<String>) -> Text {
        self.0.push(Span::Code(text.into()));
        self
    }

    /// Appends a sentence in which names from files and command lines are in backquotes.
    pub fn sentence(self, sentence: &str) -> Text {
        let parts = sentence.split('`').enumerate().filter(|(_, part)| !part.is_empty());
        parts.fold(self, |text, (index, part)| match index % 2 {
            0 => text.plain(part),
            _ => text.code(part),
        })
    }

    /// Returns whether the text is empty.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<T: Into<String>> From<T> for Text {
    fn from(text: T) -> Text {
        Text::default().plain(text)
    }
}

impl<T: Into<String>> From<T> for Cell {
    fn from(text: T) -> Cell {
        Cell { text: text.into(), detail: String::new() }
    }
}

impl Cell {
    /// Creates a cell with a detail in smaller letters.
    pub fn with(text: String, detail: String) -> Cell {
        Cell { text, detail }
    }
}

impl Column {
    /// Creates a left-aligned column of text.
    pub fn words(heading: impl Into<String>) -> Column {
        Column { heading: heading.into(), unit: "", align: Align::Left }
    }

    /// Creates a right-aligned column of numbers; the unit may be empty.
    pub fn numbers(heading: impl Into<String>, unit: &'static str) -> Column {
        Column { heading: heading.into(), unit, align: Align::Right }
    }

    /// Returns the heading with its unit: `Throughput (Mbits/sec)`.
    pub fn label(&self) -> String {
        if self.unit.is_empty() { self.heading.clone() } else { format!("{} ({})", self.heading, self.unit) }
    }
}

impl Row {
    /// Creates a row without emphasis.
    pub fn plain<C: Into<Cell>>(cells: impl IntoIterator<Item = C>) -> Row {
        Row { cells: cells.into_iter().map(Into::into).collect(), style: RowStyle::Plain }
    }

    /// Sets the emphasis of the row.
    pub fn style(self, style: RowStyle) -> Row {
        Row { style, ..self }
    }
}

impl Table {
    /// Creates a table without a note.
    ///
    /// # Panics
    /// If the number of cells of a row differs from the number of columns, which is a bug.
    pub fn new(caption: impl Into<String>, columns: Vec<Column>, rows: Vec<Row>) -> Table {
        assert!(rows.iter().all(|row| row.cells.len() == columns.len()), "rows as wide as the table");
        Table { caption: caption.into(), columns, rows, note: Text::default() }
    }

    /// Sets the note of the table.
    pub fn note(self, note: impl Into<Text>) -> Table {
        Table { note: note.into(), ..self }
    }

    /// Returns the headings with their units, for a terminal.
    pub fn headings(&self) -> Vec<String> {
        self.columns.iter().map(Column::label).collect()
    }

    /// Returns the cells of all rows, for a terminal: without digit group separators, so that scripts can parse the numbers.
    pub fn plain_rows(&self) -> Vec<Vec<String>> {
        let plain = |cell: &Cell| cell.one_line().replace('\u{202f}', "").replace('\u{a0}', " ");
        self.rows.iter().map(|row| row.cells.iter().map(plain).collect()).collect()
    }
}

impl Cell {
    /// Returns whether the value has several lines.
    pub(crate) fn is_listing(&self) -> bool {
        self.text.contains('\n')
    }

    /// Returns value and detail on one line: `12.3 ms (12.1–12.5 ms)`; the detail alone if the value is empty.
    pub fn one_line(&self) -> String {
        match (self.text.as_str(), self.detail.as_str()) {
            (text, "") => text.to_owned(),
            ("", detail) => detail.to_owned(),
            (text, detail) => format!("{text} ({detail})"),
        }
    }
}
