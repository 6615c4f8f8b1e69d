//! The world that typst sees: the source of the report and the bundled fonts, nothing else.

use disclosure::render::{TypstFile, TypstSource};
use typst::diag::{FileError, FileResult, SourceDiagnostic};
use typst::foundations::{Bytes, Datetime, Duration};
use typst::syntax::{DiagSpan, FileId, RootedPath, Source, VirtualPath, VirtualRoot};
use typst::text::{Font, FontBook};
use typst::utils::LazyHash;
use typst::{Library, LibraryExt, World, WorldExt};

/// Regular, italic, bold, and a monospaced face with the glyphs that the others lack (`fonts/README.md`).
const FACES: [&[u8]; 4] = [
    include_bytes!("../fonts/OpenSans-Regular.ttf"),
    include_bytes!("../fonts/OpenSans-Italic.ttf"),
    include_bytes!("../fonts/OpenSans-Bold.ttf"),
    include_bytes!("../fonts/DejaVuSansMono.ttf"),
];

/// The name of the main file, as shown in errors.
const MAIN: &str = "report.typ";

/// A typst world with the source of one report.
pub(crate) struct TypstWorld {
    library: LazyHash<Library>,
    book: LazyHash<FontBook>,
    fonts: Vec<Font>,
    main: FileId,
    /// Markup files, parsed.
    sources: Vec<Source>,
    /// All files.
    files: Vec<(FileId, Bytes)>,
}

impl TypstWorld {
    pub(crate) fn new(source: TypstSource) -> TypstWorld {
        let fonts: Vec<Font> = FACES.into_iter().flat_map(|face| Font::iter(Bytes::new(face))).collect();
        let mut all = source.files;
        all.push(TypstFile { name: MAIN.to_owned(), text: source.main });
        let markup = all.iter().filter(|file| file.name.ends_with(".typ"));
        TypstWorld {
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

    /// Formats diagnostics of typst, one sentence each: position, message, hint.
    pub(crate) fn format_diagnostics(&self, diagnostics: &[SourceDiagnostic]) -> Vec<String> {
        diagnostics.iter().map(|one| self.sentence(one)).collect()
    }

    fn sentence(&self, diagnostic: &SourceDiagnostic) -> String {
        let place = self.place(diagnostic.span).unwrap_or_default();
        let hints: String = diagnostic.hints.iter().map(|hint| format!(" (hint: {})", hint.v)).collect();
        format!("{place}{}{hints}", diagnostic.message)
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

impl World for TypstWorld {
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

    /// There is no clock.
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

    fn world(main: &str) -> TypstWorld {
        TypstWorld::new(TypstSource { main: main.to_owned(), files: vec![] })
    }

    #[test]
    fn every_font_family_of_the_source_is_bundled() {
        let world = world("");
        for family in TYPST_FONTS {
            assert!(world.book().contains_family(&family.to_lowercase()), "{family}");
        }
        assert_eq!(world.fonts.len(), FACES.len());
    }

    #[test]
    fn files_of_the_machine_and_network_packages_are_unreachable() {
        let world = world("");
        assert!(world.file(file_id("etc/passwd")).is_err());
        assert!(world.source(file_id("other.typ")).is_err());
        assert!(world.file(file_id(MAIN)).is_ok() && world.source(world.main()).is_ok());
        assert_eq!(world.today(None), None);
    }
}
