//! Typst markup, from which a report is typeset as PDF, and its first screen as a picture.
//!
//! All text of a report is in string literals, so it is never interpreted as markup. The layout is in `layout.typ`, which
//! is the same for every report: A4, a verdict on the first page, contents, numbered sections, figures and tables, running
//! heads, page numbers. Collapsed details are expanded, except for the tables of bulky charts, which are omitted as in
//! print.
//!
//! Typesetting needs only the files of the [`TypstSource`] and the fonts of [`FONTS`].

mod picture;
mod table;
mod words;
mod writer;

use analysis::VerdictState;

use crate::Document;
use writer::Writer;

/// The families that the layout and the charts are set in; whoever sets the source has to have them.
pub const FONTS: [&str; 2] = ["Open Sans", "DejaVu Sans Mono"];

/// A report as markup.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TypstSource {
    /// The markup to begin with.
    pub main: String,
    /// The files that it names: the layout, and a picture for each chart.
    pub files: Vec<TypstFile>,
}

/// A file that a source names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TypstFile {
    /// Its name, without a folder.
    pub name: String,
    /// Its content.
    pub text: String,
}

/// Renders a document as typst markup.
pub fn typst(document: &Document) -> TypstSource {
    let mut writer = Writer::default();
    writer.opening("report", document);
    document.sections.iter().for_each(|section| writer.section(section));
    source(writer)
}

/// Renders the first screen of a document, one page as high as what is on it, from which a picture is made.
pub fn typst_picture(document: &Document) -> TypstSource {
    let mut writer = Writer::default();
    writer.opening("picture", document);
    source(writer)
}

fn source(writer: Writer) -> TypstSource {
    let (main, mut files) = writer.close();
    files.push(TypstFile { name: "layout.typ".to_owned(), text: include_str!("layout.typ").to_owned() });
    TypstSource { main, files }
}

fn state_word(state: VerdictState) -> &'static str {
    match state {
        VerdictState::Valid => "valid",
        VerdictState::Overloaded | VerdictState::Invalid => "invalid",
        VerdictState::Incomplete => "incomplete",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_layout_names_the_fonts_that_are_asked_for() {
        let layout = include_str!("layout.typ");
        assert!(FONTS.iter().all(|font| layout.contains(&format!("\"{font}\""))));
    }
}
