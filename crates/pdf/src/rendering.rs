//! Rendering of a document as PDF, and of its first screen as a picture.

use disclosure::Document;
use disclosure::render::{self, TypstSource};
use typst::diag::{SourceResult, Warned};
use typst::foundations::{Datetime, Smart};
use typst_layout::PagedDocument;
use typst_pdf::{PdfOptions, PdfStandard, PdfStandards, Timestamp};
use typst_render::RenderOptions;

use crate::typst_world::TypstWorld;

/// The standards that every report conforms to: for archiving (PDF/A-2a, ISO 19005-2) and for accessibility
/// (PDF/UA-1, ISO 14289-1).
const STANDARDS: [PdfStandard; 2] = [PdfStandard::A_2a, PdfStandard::Ua_1];

/// The resolution of pictures: 1,200 pixels across, as on a screen of high density.
const PIXELS_PER_POINT: f64 = 2.0;

/// A typeset report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pdf {
    /// The bytes of the file.
    pub bytes: Vec<u8>,
    /// Number of pages.
    pub n_pages: usize,
    /// Whether it conforms to PDF/A-2a and PDF/UA-1. It cannot if the report contains characters that the
    /// bundled fonts lack.
    pub conforms: bool,
    /// Warnings of the typesetter, and reasons why the file does not conform; usually empty.
    pub remarks: Vec<String>,
}

/// A calendar date and time, in UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UtcDateTime {
    /// Year of the common era.
    pub year: i32,
    /// 1 to 12.
    pub month: u8,
    /// 1 to 31.
    pub day: u8,
    /// 0 to 23.
    pub hour: u8,
    /// 0 to 59.
    pub minute: u8,
    /// 0 to 59.
    pub second: u8,
}

/// An error that prevents a PDF.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum PdfError {
    /// The markup is invalid: a bug in Plimsoll.
    #[error("cannot typeset the report: {}", .0.join("; "))]
    Typesetting(Vec<String>),
    /// The pages were typeset but cannot be written as PDF.
    #[error("cannot write the pages as PDF: {}", .0.join("; "))]
    Writing(Vec<String>),
    /// The picture cannot be drawn.
    #[error("cannot draw the picture: {0}")]
    Drawing(String),
    /// The date does not exist.
    #[error("expected a valid date and time, found {0:?}")]
    InvalidDate(UtcDateTime),
}

/// Renders a report as PDF.
///
/// A function of its arguments: the same document with the same date gives the same bytes. If the report
/// cannot conform to the standards, it is written without them, and the remarks say why.
///
/// # Errors
///
/// The date is not valid. Any other error is a bug.
pub fn render(document: &Document, created: UtcDateTime) -> Result<Pdf, PdfError> {
    typeset(render::typst(document), created)
}

/// Renders the first screen of a report, verdict, headline and chart, as a picture in PNG.
///
/// # Errors
///
/// Any is a bug.
pub fn picture(document: &Document) -> Result<Vec<u8>, PdfError> {
    let world = TypstWorld::new(render::typst_picture(document));
    let output = typst::compile::<PagedDocument>(&world).output;
    let pages = output.map_err(|errors| PdfError::Typesetting(world.format_diagnostics(&errors)))?;
    let page = pages.pages().first().ok_or_else(|| PdfError::Drawing("there is no page".to_owned()))?;
    let options = RenderOptions { pixel_per_pt: PIXELS_PER_POINT.into(), ..RenderOptions::default() };
    typst_render::render(page, &options).encode_png().map_err(|error| PdfError::Drawing(error.to_string()))
}

fn typeset(source: TypstSource, created: UtcDateTime) -> Result<Pdf, PdfError> {
    created.timestamp().ok_or(PdfError::InvalidDate(created))?;
    let world = TypstWorld::new(source);
    let Warned { output, warnings } = typst::compile::<PagedDocument>(&world);
    let pages = output.map_err(|errors| PdfError::Typesetting(world.format_diagnostics(&errors)))?;
    let mut remarks = world.format_diagnostics(&warnings);
    let strict = PdfStandards::new(&STANDARDS).expect("compatible standards");
    let (conforms, bytes) = match write(&pages, strict, created) {
        Ok(bytes) => (true, bytes),
        Err(errors) => {
            remarks.extend(world.format_diagnostics(&errors));
            let plain = write(&pages, PdfStandards::default(), created);
            (false, plain.map_err(|errors| PdfError::Writing(world.format_diagnostics(&errors)))?)
        }
    };
    Ok(Pdf { bytes, n_pages: pages.pages().len(), conforms, remarks })
}

fn write(pages: &PagedDocument, standards: PdfStandards, created: UtcDateTime) -> SourceResult<Vec<u8>> {
    let options = PdfOptions {
        creator: Smart::Custom(Some("Plimsoll".to_owned())),
        timestamp: created.timestamp(),
        standards,
        ..PdfOptions::default()
    };
    typst_pdf::pdf(pages, &options)
}

impl UtcDateTime {
    fn timestamp(self) -> Option<Timestamp> {
        let UtcDateTime { year, month, day, hour, minute, second } = self;
        Datetime::from_ymd_hms(year, month, day, hour, minute, second).map(Timestamp::new_utc)
    }
}

#[cfg(test)]
mod tests {
    use analysis::VerdictState;
    use disclosure::charts::{Axis, Chart, DataSeries, Draw, Format, Panel, Point, Spacing};
    use disclosure::{
        Banner, Block, Cell, Column, Figure, Hero, LeadFigure, NoteKind, Row, RowStyle, Section, Table, Text,
        Tile,
    };

    use super::*;

    const NOON: UtcDateTime = UtcDateTime { year: 2026, month: 11, day: 22, hour: 12, minute: 0, second: 0 };

    /// A document with a block of every kind; with the text `says` everywhere.
    fn document(says: &str, n_rows: usize) -> Document {
        let text = || Text::from(says).strong(" bold ").code("/a/path");
        let chart = Chart {
            id: "test",
            title: says.into(),
            description: says.into(),
            x: Axis::new(says, Spacing::FromZero, Format::Plain),
            panels: vec![Panel {
                y: Axis::new(says, Spacing::FromZero, Format::Plain),
                series: vec![DataSeries {
                    name: says.into(),
                    style: 0,
                    draw: Draw::Points,
                    points: vec![Point::new(1.0, 1.0), Point::new(2.0, 2.0)],
                }],
                limit: None,
            }],
            zones: vec![],
            marks: vec![],
        };
        let blocks = vec![
            Block::Paragraph(text()),
            Block::Heading(says.into()),
            Block::Tiles(vec![Tile { name: says.into(), value: says.into(), note: says.into() }]),
            Block::Table(table(says, 3, n_rows)),
            Block::Figure(Box::new(Figure {
                chart: chart.clone(),
                caption: text(),
                table: table(says, 2, 2),
                bulky: true,
            })),
            Block::Facts(vec![(says.into(), text())]),
            Block::Code { caption: says.into(), text: "worker_processes 2;\n\tsendfile on;\n".into() },
            Block::List(vec![text(), text()]),
            Block::Note(NoteKind::Info, text()),
            Block::Note(NoteKind::Warning, text()),
            Block::fold(says, vec![Block::Heading(says.into())]),
        ];
        Document {
            title: says.into(),
            subtitle: says.into(),
            banner: Banner {
                state: VerdictState::Invalid,
                text: text(),
                reasons: vec![text()],
                modified: vec![text()],
            },
            hero: Some(Hero { value: says.into(), unit: says.into(), companion: text() }),
            answer: text(),
            brief: vec![(says.into(), text())],
            n_open: 1,
            lead: Some(LeadFigure { chart, caption: text() }),
            sections: vec![Section { id: "test", title: says.into(), blocks }],
            colophon: text(),
        }
    }

    fn table(says: &str, n_columns: usize, n_rows: usize) -> Table {
        let columns = (0..n_columns).map(|_| Column::numbers(says, "ms")).collect();
        let cells = || (0..n_columns).map(|_| Cell::with("12\u{202f}345.67 ms".into(), "12–13".into()));
        let styles =
            [RowStyle::Plain, RowStyle::Best, RowStyle::Invalid, RowStyle::Total].into_iter().cycle();
        let rows = styles.take(n_rows).map(|style| Row::plain(cells()).style(style)).collect();
        Table::new(says, columns, rows).note("a note")
    }

    #[test]
    fn a_report_renders_as_a_conforming_pdf() {
        for state in [VerdictState::Valid, VerdictState::Invalid, VerdictState::Incomplete] {
            let mut document = document("Rate → 10 µs", 5);
            document.banner.state = state;
            let pdf = render(&document, NOON).unwrap();
            assert_eq!(pdf.remarks, [""; 0]);
            assert!(pdf.conforms && pdf.bytes.starts_with(b"%PDF-1.7") && 2 <= pdf.n_pages);
        }
    }

    #[test]
    fn the_same_report_gives_the_same_bytes() {
        let [one, again] = [(); 2].map(|()| render(&document("x", 5), NOON).unwrap());
        assert!(one == again);
        let later = render(&document("x", 5), UtcDateTime { day: 23, ..NOON }).unwrap();
        assert!(one.bytes != later.bytes);
    }

    #[test]
    fn text_that_looks_like_markup_is_set_literally() {
        for says in
            ["#panic()", "\"]) #{ panic() }", "$x$ *b* _i_ `c` @r <l> // /*", "\\", "\u{1b}[31m\u{202e}"]
        {
            let pdf = render(&document(says, 2), NOON).unwrap();
            assert_eq!(pdf.remarks, [""; 0], "{says}");
        }
    }

    #[test]
    fn a_report_with_missing_glyphs_is_written_with_a_remark() {
        let pdf = render(&document("漢字", 2), NOON).unwrap();
        assert!(pdf.bytes.starts_with(b"%PDF-"));
        assert!(!pdf.conforms && !pdf.remarks.is_empty());
    }

    #[test]
    fn long_tables_continue_and_wide_ones_get_their_own_page() {
        let n_pages = |columns, rows| {
            let mut document = document("x", 1);
            document.sections[0].blocks = vec![Block::Table(table("x", columns, rows))];
            render(&document, NOON).unwrap().n_pages
        };
        assert_eq!(n_pages(3, 5), 2, "the first page, and one with the table");
        assert!(4 <= n_pages(3, 100));
        assert_eq!(n_pages(14, 5), 2, "few rows are not worth a turned page");
        assert!(3 <= n_pages(14, 40), "many are");
    }

    #[test]
    fn markup_errors_are_reported_with_their_position() {
        let wrong = |main: &str| {
            let source = TypstSource { main: main.to_owned(), files: vec![] };
            typeset(source, NOON).unwrap_err().to_string()
        };
        let text = wrong("fine\n#panic(\"no\")\n");
        assert!(
            text.starts_with("cannot typeset the report: `report.typ`, line 2: ") && text.contains("no"),
            "{text}"
        );
        for main in ["#read(\"/etc/passwd\")", "#import \"@preview/cetz:0.4.0\": *", "#datetime.today()"] {
            assert!(wrong(main).contains("`report.typ`, line 1"), "{main}");
        }
    }

    #[test]
    fn the_first_screen_is_a_picture_as_high_as_its_content() {
        let size = |picture: &[u8]| {
            assert!(picture.starts_with(b"\x89PNG\r\n\x1a\n"));
            // The header is the first chunk: width and height, each of four bytes.
            [16, 20].map(|at| u32::from_be_bytes(picture[at..at + 4].try_into().unwrap()))
        };
        let whole = document("Rate", 2);
        let one = picture(&whole).unwrap();
        assert!(one == picture(&whole).unwrap(), "the same report gives the same bytes");
        let [width, height] = size(&one);
        assert_eq!(width, 1200);
        let without = picture(&Document { lead: None, hero: None, ..document("Rate", 2) }).unwrap();
        assert!(size(&without)[1] + 200 < height, "{height}");
        for says in ["#panic()", "\"]) #{ panic() }", "漢字"] {
            picture(&document(says, 2)).unwrap();
        }
    }

    #[test]
    fn an_invalid_date_is_refused() {
        let never = UtcDateTime { month: 2, day: 30, ..NOON };
        assert_eq!(render(&document("x", 1), never), Err(PdfError::InvalidDate(never)));
    }
}
