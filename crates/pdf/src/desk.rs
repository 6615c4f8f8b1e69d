//! What typst may reach for: the manuscript and our fonts, nothing else.

use disclosure::render::{Manuscript, ManuscriptFile};
use typst::diag::{FileError, FileResult, SourceDiagnostic};
use typst::foundations::{Bytes, Datetime, Duration};
use typst::syntax::{DiagSpan, FileId, RootedPath, Source, VirtualPath, VirtualRoot};
use typst::text::{Font, FontBook};
use typst::utils::LazyHash;
use typst::{Library, LibraryExt, World, WorldExt};

/// Regular, slanted, bold, and one of equal widths that has the glyphs which the others lack (`fonts/README.md`).
const FACES: [&[u8]; 4] = [
    include_bytes!("../fonts/OpenSans-Regular.ttf"),
    include_bytes!("../fonts/OpenSans-Italic.ttf"),
    include_bytes!("../fonts/OpenSans-Bold.ttf"),
    include_bytes!("../fonts/DejaVuSansMono.ttf"),
];

/// The name of the markup to begin with, as errors show it.
const MAIN: &str = "report.typ";

/// A manuscript, laid out for typst.
pub(crate) struct Desk {
    library: LazyHash<Library>,
    book: LazyHash<FontBook>,
    fonts: Vec<Font>,
    main: FileId,
    /// Markup, already parsed.
    sources: Vec<Source>,
    /// All files.
    files: Vec<(FileId, Bytes)>,
}

impl Desk {
    pub(crate) fn new(manuscript: Manuscript) -> Desk {
        let fonts: Vec<Font> = FACES.into_iter().flat_map(|face| Font::iter(Bytes::new(face))).collect();
        let mut all = manuscript.files;
        all.push(ManuscriptFile { name: MAIN.to_owned(), text: manuscript.main });
        let markup = all.iter().filter(|file| file.name.ends_with(".typ"));
        Desk {
            library: LazyHash::new(Library::builder().build()),
            book: LazyHash::new(FontBook::from_fonts(&fonts)),
            fonts,
            main: file_id(MAIN),
            sources: markup.map(|file| Source::new(file_id(&file.name), file.text.clone())).collect(),
            files: all
                .into_iter()
                .map(|file| (file_id(&file.name), Bytes::new(file.text.into_bytes())))
                .collect(),
        }
    }

    /// Returns what typst says, a sentence for each: where, what, and what it would do.
    pub(crate) fn told(&self, said: &[SourceDiagnostic]) -> Vec<String> {
        said.iter().map(|one| self.sentence(one)).collect()
    }

    fn sentence(&self, said: &SourceDiagnostic) -> String {
        let place = self.place(said.span).unwrap_or_default();
        let hints: String = said.hints.iter().map(|hint| format!(" (hint: {})", hint.v)).collect();
        format!("{place}{}{hints}", said.message)
    }

    fn place(&self, span: DiagSpan) -> Option<String> {
        let id = span.id()?;
        let range = self.range(span)?;
        let line = self.source(id).ok()?.lines().byte_to_line(range.start)? + 1;
        Some(format!("`{}`, line {line}: ", id.vpath().get_without_slash()))
    }
}

fn file_id(name: &str) -> FileId {
    let path = VirtualPath::new(name).expect("the name of a file in no folder");
    RootedPath::new(VirtualRoot::Project, path).intern()
}

impl World for Desk {
    fn library(&self) -> &LazyHash<Library> {
        &self.library
    }

    fn book(&self) -> &LazyHash<FontBook> {
        &self.book
    }

    fn main(&self) -> FileId {
        self.main
    }

    fn source(&self, id: FileId) -> FileResult<Source> {
        let source = self.sources.iter().find(|source| source.id() == id);
        source.cloned().ok_or_else(|| not_found(id))
    }

    fn file(&self, id: FileId) -> FileResult<Bytes> {
        let file = self.files.iter().find(|(one, _)| *one == id);
        file.map(|(_, bytes)| bytes.clone()).ok_or_else(|| not_found(id))
    }

    fn font(&self, index: usize) -> Option<Font> {
        self.fonts.get(index).cloned()
    }

    /// There is no clock here.
    fn today(&self, _: Option<Duration>) -> Option<Datetime> {
        None
    }
}

fn not_found(id: FileId) -> FileError {
    FileError::NotFound(id.vpath().get_without_slash().into())
}

#[cfg(test)]
mod tests {
    use disclosure::render::TYPST_FONTS;

    use super::*;

    fn desk(main: &str) -> Desk {
        Desk::new(Manuscript { main: main.to_owned(), files: vec![] })
    }

    #[test]
    fn every_family_that_a_manuscript_names_is_there() {
        let desk = desk("");
        for family in TYPST_FONTS {
            assert!(desk.book().contains_family(&family.to_lowercase()), "{family}");
        }
        assert_eq!(desk.fonts.len(), FACES.len());
    }

    #[test]
    fn files_of_the_machine_and_packages_of_the_network_are_out_of_reach() {
        let desk = desk("");
        assert!(desk.file(file_id("etc/passwd")).is_err());
        assert!(desk.source(file_id("other.typ")).is_err());
        assert!(desk.file(file_id(MAIN)).is_ok() && desk.source(desk.main()).is_ok());
        assert_eq!(desk.today(None), None);
    }
}
