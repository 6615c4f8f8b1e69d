//! From a document to the bytes of a PDF.

use disclosure::Document;
use disclosure::render::{self, Manuscript};
use typst::diag::{SourceResult, Warned};
use typst::foundations::{Datetime, Smart};
use typst_layout::PagedDocument;
use typst_pdf::{PdfOptions, PdfStandard, PdfStandards, Timestamp};

use crate::desk::Desk;

/// What every report is meant to be: fit to be kept (PDF/A-2a, ISO 19005-2), and to be read by those who cannot see it
/// (PDF/UA-1, ISO 14289-1).
const STANDARDS: [PdfStandard; 2] = [PdfStandard::A_2a, PdfStandard::Ua_1];

/// A report that was set in type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pdf {
    /// The file.
    pub bytes: Vec<u8>,
    /// How many pages it has.
    pub n_pages: usize,
    /// Whether it keeps to PDF/A-2a and PDF/UA-1. Where the report holds characters that our fonts lack, it cannot.
    pub conforms: bool,
    /// What the typesetter warned of, and why the file does not conform; most often empty.
    pub remarks: Vec<String>,
}

/// A moment of the calendar, in UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moment {
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

/// Why there is no PDF.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum PdfError {
    /// The markup is wrong: our mistake.
    #[error("cannot set the report in type: {}", .0.join("; "))]
    Typesetting(Vec<String>),
    /// The pages are set, but do not become a file.
    #[error("cannot write the pages as PDF: {}", .0.join("; "))]
    Writing(Vec<String>),
    /// The calendar does not have it.
    #[error("expected a moment of the calendar, found {0:?}")]
    Moment(Moment),
}

/// Sets a report in type.
///
/// A function of its arguments: the same document with the same date gives the same bytes. Where the report cannot
/// conform to the standards, it is written without, and the remarks say why.
///
/// # Errors
/// If the date is none. Else only by a mistake of ours.
pub fn render(document: &Document, made: Moment) -> Result<Pdf, PdfError> {
    typeset(render::typst(document), made)
}

fn typeset(manuscript: Manuscript, made: Moment) -> Result<Pdf, PdfError> {
    made.timestamp().ok_or(PdfError::Moment(made))?;
    let desk = Desk::new(manuscript);
    let Warned { output, warnings } = typst::compile::<PagedDocument>(&desk);
    let pages = output.map_err(|errors| PdfError::Typesetting(desk.told(&errors)))?;
    let mut remarks = desk.told(&warnings);
    let strict = PdfStandards::new(&STANDARDS).expect("standards that go together");
    let (conforms, bytes) = match write(&pages, strict, made) {
        Ok(bytes) => (true, bytes),
        Err(errors) => {
            remarks.extend(desk.told(&errors));
            let plain = write(&pages, PdfStandards::default(), made);
            (false, plain.map_err(|errors| PdfError::Writing(desk.told(&errors)))?)
        }
    };
    Ok(Pdf { bytes, n_pages: pages.pages().len(), conforms, remarks })
}

fn write(pages: &PagedDocument, standards: PdfStandards, made: Moment) -> SourceResult<Vec<u8>> {
    let options = PdfOptions {
        creator: Smart::Custom(Some("Plimsoll".to_owned())),
        timestamp: made.timestamp(),
        standards,
        ..PdfOptions::default()
    };
    typst_pdf::pdf(pages, &options)
}

impl Moment {
    fn timestamp(self) -> Option<Timestamp> {
        let Moment { year, month, day, hour, minute, second } = self;
        Datetime::from_ymd_hms(year, month, day, hour, minute, second).map(Timestamp::new_utc)
    }
}

#[cfg(test)]
mod tests {
    use analysis::VerdictState;
    use disclosure::charts::{Axis, Chart, Draw, Format, Panel, Point, Series, Spacing};
    use disclosure::{
        Banner, Block, Cell, Column, Figure, Hero, NoteKind, Row, Section, Table, Text, Tile, Tone,
    };

    use super::*;

    const NOON: Moment = Moment { year: 2026, month: 11, day: 22, hour: 12, minute: 0, second: 0 };

    /// A document with a block of every kind; `says` stands wherever a word can.
    fn document(says: &str, n_rows: usize) -> Document {
        let text = || Text::from(says).strong(" bold ").code("/a/path");
        let chart = Chart {
            id: "test",
            title: says.into(),
            description: says.into(),
            x: Axis::new(says, Spacing::FromZero, Format::Plain),
            panels: vec![Panel {
                y: Axis::new(says, Spacing::FromZero, Format::Plain),
                series: vec![Series {
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
            Block::Figure(Box::new(Figure { chart, caption: text(), table: table(says, 2, 2), bulky: true })),
            Block::Facts(vec![(says.into(), text())]),
            Block::Code { caption: says.into(), text: "worker_processes 2;\n\tsendfile on;\n".into() },
            Block::List(vec![text(), text()]),
            Block::Note(NoteKind::Info, text()),
            Block::Note(NoteKind::Warning, text()),
            Block::Fold { title: says.into(), blocks: vec![Block::Heading(says.into())] },
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
            lead: None,
            sections: vec![Section { id: "test", title: says.into(), blocks }],
            colophon: text(),
        }
    }

    fn table(says: &str, n_columns: usize, n_rows: usize) -> Table {
        let columns = (0..n_columns).map(|_| Column::numbers(says, "ms")).collect();
        let cells = || (0..n_columns).map(|_| Cell::with("12\u{202f}345.67 ms".into(), "12–13".into()));
        let tones = [Tone::Plain, Tone::Best, Tone::Bad, Tone::Total].into_iter().cycle();
        let rows = tones.take(n_rows).map(|tone| Row::plain(cells()).tone(tone)).collect();
        Table::new(says, columns, rows).note("a note")
    }

    #[test]
    fn a_report_becomes_a_pdf_that_conforms() {
        for state in [VerdictState::Valid, VerdictState::Invalid, VerdictState::Incomplete] {
            let mut document = document("Rate → 10 µs", 5);
            document.banner.state = state;
            let pdf = render(&document, NOON).unwrap();
            assert_eq!(pdf.remarks, [""; 0]);
            assert!(pdf.conforms && pdf.bytes.starts_with(b"%PDF-1.7") && 2 <= pdf.n_pages);
        }
    }

    #[test]
    fn the_same_report_is_the_same_file() {
        let [one, again] = [(); 2].map(|()| render(&document("x", 5), NOON).unwrap());
        assert!(one == again);
        let later = render(&document("x", 5), Moment { day: 23, ..NOON }).unwrap();
        assert!(one.bytes != later.bytes);
    }

    #[test]
    fn what_looks_like_markup_is_set_as_it_stands() {
        for says in
            ["#panic()", "\"]) #{ panic() }", "$x$ *b* _i_ `c` @r <l> // /*", "\\", "\u{1b}[31m\u{202e}"]
        {
            let pdf = render(&document(says, 2), NOON).unwrap();
            assert_eq!(pdf.remarks, [""; 0], "{says}");
        }
    }

    #[test]
    fn a_report_in_letters_that_our_fonts_lack_is_written_all_the_same_and_says_so() {
        let pdf = render(&document("漢字", 2), NOON).unwrap();
        assert!(pdf.bytes.starts_with(b"%PDF-"));
        assert!(!pdf.conforms && !pdf.remarks.is_empty());
    }

    #[test]
    fn long_tables_go_on_and_wide_ones_get_a_page_of_their_own() {
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
    fn mistakes_in_the_markup_are_told_with_their_place() {
        let wrong = |main: &str| {
            let manuscript = Manuscript { main: main.to_owned(), files: vec![] };
            typeset(manuscript, NOON).unwrap_err().to_string()
        };
        let text = wrong("fine\n#panic(\"no\")\n");
        assert!(
            text.starts_with("cannot set the report in type: `report.typ`, line 2: ") && text.contains("no"),
            "{text}"
        );
        for main in ["#read(\"/etc/passwd\")", "#import \"@preview/cetz:0.4.0\": *", "#datetime.today()"] {
            assert!(wrong(main).contains("`report.typ`, line 1"), "{main}");
        }
    }

    #[test]
    fn a_day_that_the_calendar_lacks_is_refused() {
        let never = Moment { month: 2, day: 30, ..NOON };
        assert_eq!(render(&document("x", 1), never), Err(PdfError::Moment(never)));
    }
}
