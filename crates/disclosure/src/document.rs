//! The document model: what a report says, apart from how it looks.

use analysis::VerdictState;

use crate::charts::Chart;

/// A whole report.
#[derive(Debug, Clone, PartialEq)]
pub struct Document {
    /// The benchmark's name for people.
    pub title: String,
    /// What was tested and when.
    pub subtitle: String,
    /// The verdict; stands above everything else.
    pub banner: Banner,
    /// The headline; never shown without the banner.
    pub hero: Option<Hero>,
    /// The answer to what was asked, in numbers: the first paragraph. May be empty.
    pub answer: Text,
    /// The chart that says most, for the first screen; its numbers are in a section.
    pub lead: Option<Lead>,
    /// In reading order.
    pub sections: Vec<Section>,
    /// Last words: where the report comes from.
    pub colophon: Text,
}

/// The verdict with its reasons, and what deviates from the benchmark's definition.
#[derive(Debug, Clone, PartialEq)]
pub struct Banner {
    /// The judgement.
    pub state: VerdictState,
    /// The judgement in a sentence.
    pub text: Text,
    /// Why the run is not valid; empty if it is.
    pub reasons: Vec<Text>,
    /// Deviations, one each: `steady phase: 600 s → 8 s`; empty for a run by the book.
    pub modified: Vec<Text>,
}

/// The benchmark's own figure with its companions.
#[derive(Debug, Clone, PartialEq)]
pub struct Hero {
    /// The figure, without its unit.
    pub value: String,
    /// The unit: `connections per second`.
    pub unit: String,
    /// At which load, with which response time.
    pub companion: Text,
}

/// A chart without a table of its own.
#[derive(Debug, Clone, PartialEq)]
pub struct Lead {
    /// The chart.
    pub chart: Chart,
    /// How to read it.
    pub caption: Text,
}

/// A part of the report.
#[derive(Debug, Clone, PartialEq)]
pub struct Section {
    /// Anchor: lower case and hyphens, unique in the document.
    pub id: &'static str,
    /// Heading.
    pub title: String,
    /// In reading order.
    pub blocks: Vec<Block>,
}

/// A piece of a section.
#[derive(Debug, Clone, PartialEq)]
pub enum Block {
    /// Running text.
    Paragraph(Text),
    /// A heading below the section's.
    Heading(String),
    /// A few figures that matter most.
    Tiles(Vec<Tile>),
    /// A table.
    Table(Table),
    /// A chart with the table of its numbers.
    Figure(Box<Figure>),
    /// Names and values.
    Facts(Vec<(String, Text)>),
    /// Text as it stands in a file or on a command line.
    Code {
        /// What it is.
        caption: String,
        /// The text.
        text: String,
    },
    /// Items without order.
    List(Vec<Text>),
    /// Something that must not be overlooked.
    Note(NoteKind, Text),
    /// Detail that is folded away where the medium can do that.
    Fold {
        /// What is inside.
        title: String,
        /// In reading order.
        blocks: Vec<Block>,
    },
}

/// How loud a note is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoteKind {
    /// Helps to read what is near it.
    Info,
    /// Limits what can be concluded.
    Warning,
}

/// One figure of a summary.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tile {
    /// What it is.
    pub name: String,
    /// The figure with its unit.
    pub value: String,
    /// Where or how.
    pub note: String,
}

/// A chart and the numbers behind it.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// The chart.
    pub chart: Chart,
    /// How to read it.
    pub caption: Text,
    /// The same numbers.
    pub table: Table,
    /// Whether the table is too long to be read from top to bottom; it is then folded, and left out on paper.
    pub bulky: bool,
}

/// A table. Every row has as many cells as there are columns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    /// What it shows.
    pub caption: String,
    /// From left to right.
    pub columns: Vec<Column>,
    /// From top to bottom.
    pub rows: Vec<Row>,
    /// How to read it; may be empty.
    pub note: Text,
}

/// A column's head.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// Heading.
    pub heading: String,
    /// Unit; may be empty.
    pub unit: &'static str,
    /// Where its cells are aligned.
    pub align: Align,
}

/// Where the cells of a column are aligned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Align {
    /// For words.
    Left,
    /// For numbers.
    Right,
}

/// A row of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// From left to right.
    pub cells: Vec<Cell>,
    /// What the row is.
    pub tone: Tone,
}

/// What a row is, apart from its words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    /// Like any other.
    Plain,
    /// The one that the headline comes from.
    Best,
    /// Not valid.
    Bad,
    /// A sum of the others.
    Total,
}

/// A cell: a value, and what belongs to it in smaller letters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cell {
    /// The value; a text of several lines has them as in a file.
    pub text: String,
    /// Its interval or another companion; may be empty.
    pub detail: String,
}

/// Running text with the least of formatting.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Text(pub Vec<Span>);

/// A stretch of text in one style.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Span {
    /// As it is.
    Plain(String),
    /// Stressed.
    Strong(String),
    /// A name from a file or a command line.
    Code(String),
}

impl Text {
    /// Adds text as it is.
    pub fn plain(mut self, text: impl Into<String>) -> Text {
        self.0.push(Span::Plain(text.into()));
        self
    }

    /// Adds stressed text.
    pub fn strong(mut self, text: impl Into<String>) -> Text {
        self.0.push(Span::Strong(text.into()));
        self
    }

    /// Adds a name from a file or a command line.
    pub fn code(mut self, text: impl Into<String>) -> Text {
        self.0.push(Span::Code(text.into()));
        self
    }

    /// Adds a sentence, in which names from a file or a command line stand in backquotes.
    pub fn sentence(self, sentence: &str) -> Text {
        let parts = sentence.split('`').enumerate().filter(|(_, part)| !part.is_empty());
        parts.fold(self, |text, (index, part)| match index % 2 {
            0 => text.plain(part),
            _ => text.code(part),
        })
    }

    /// Returns whether there is nothing to read.
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
    /// Makes a cell with a companion in smaller letters.
    pub fn with(text: String, detail: String) -> Cell {
        Cell { text, detail }
    }
}

impl Column {
    /// Makes a column of words.
    pub fn words(heading: impl Into<String>) -> Column {
        Column { heading: heading.into(), unit: "", align: Align::Left }
    }

    /// Makes a column of numbers; the unit may be empty.
    pub fn numbers(heading: impl Into<String>, unit: &'static str) -> Column {
        Column { heading: heading.into(), unit, align: Align::Right }
    }

    /// Returns the heading with its unit: `Throughput (Mbits/sec)`.
    pub fn label(&self) -> String {
        if self.unit.is_empty() { self.heading.clone() } else { format!("{} ({})", self.heading, self.unit) }
    }
}

impl Row {
    /// Makes a row like any other.
    pub fn plain<C: Into<Cell>>(cells: impl IntoIterator<Item = C>) -> Row {
        Row { cells: cells.into_iter().map(Into::into).collect(), tone: Tone::Plain }
    }

    /// Gives the row a tone.
    pub fn tone(self, tone: Tone) -> Row {
        Row { tone, ..self }
    }
}

impl Table {
    /// Makes a table without a note.
    ///
    /// # Panics
    /// If a row has another number of cells than there are columns: our own mistake.
    pub fn new(caption: impl Into<String>, columns: Vec<Column>, rows: Vec<Row>) -> Table {
        assert!(rows.iter().all(|row| row.cells.len() == columns.len()), "rows as wide as the table");
        Table { caption: caption.into(), columns, rows, note: Text::default() }
    }

    /// Gives the table a note.
    pub fn note(self, note: impl Into<Text>) -> Table {
        Table { note: note.into(), ..self }
    }

    /// Returns the headings with their units, for a terminal.
    pub fn headings(&self) -> Vec<String> {
        self.columns.iter().map(Column::label).collect()
    }

    /// Returns the cells of all rows, for a terminal: digits without spaces between groups, so that a
    /// pipe can read them.
    pub fn plain_rows(&self) -> Vec<Vec<String>> {
        let plain = |cell: &Cell| cell.one_line().replace('\u{202f}', "").replace('\u{a0}', " ");
        self.rows.iter().map(|row| row.cells.iter().map(plain).collect()).collect()
    }
}

impl Cell {
    /// Returns whether the value is several lines of a file.
    pub fn is_listing(&self) -> bool {
        self.text.contains('\n')
    }

    /// Returns value and companion on one line: `12.3 ms (12.1–12.5 ms)`; the companion alone where there is no value.
    pub fn one_line(&self) -> String {
        match (self.text.as_str(), self.detail.as_str()) {
            (text, "") => text.to_owned(),
            ("", detail) => detail.to_owned(),
            (text, detail) => format!("{text} ({detail})"),
        }
    }
}
