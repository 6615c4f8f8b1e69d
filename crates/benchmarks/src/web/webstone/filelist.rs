//! Filelists: files, their sizes, and their weights.
//!
//! Two historic formats, distinguished by the first line that is not a comment: WebStone 1.1 begins with a
//! number, 2.x with a path. In both, lines that begin with `#` are comments, and a size in bytes can follow a
//! path after `#`. A path such as `/file.dyn-send?size=1024` requests a generated page of that size. Each
//! rule documents what it rejects, and why.

use std::collections::HashMap;
use std::ops::Range;

use languages::{Diagnostic, Diagnostics};
use model::{Page, ReplyBody, Request, file_path_fault};

use super::filelist_lines::{FilelistLine, FilelistWord, content_lines};
use super::{filelist_pages, filelist_single};

/// The maximum number of objects, and of pages: operation and unit kinds have 16 bits.
pub const OBJECTS_MAX: usize = u16::MAX as usize;

/// The maximum weight; the sum of all weights must fit 64 bits.
pub const WEIGHT_MAX: u64 = 1_000_000_000;

/// The maximum object size, 1 TiB: larger sizes are mistakes.
pub const OBJECT_BYTES_MAX: u64 = 1 << 40;

/// The maximum size of a generated page: 10 MiB.
const LETTERS_MAX: u64 = 10 << 20;

/// A parsed filelist. Objects and pages are those of a valid workload.
#[derive(Debug, Clone, PartialEq)]
pub struct Filelist {
    /// The format of the text.
    pub format: FilelistFormat,
    /// The files, in the order of their first occurrence; not empty, with distinct paths.
    pub requests: Vec<Request>,
    /// The pages, in order; not empty.
    pub pages: Vec<Page>,
}

/// The format of a filelist.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FilelistFormat {
    /// WebStone 1.1: weighted pages of several files.
    Pages,
    /// WebStone 2.x: weighted files, each a page of its own.
    Single,
}

impl Filelist {
    /// Parses a filelist in either format; `file_name` is used in messages.
    ///
    /// # Errors
    /// All mistakes that can be found at once.
    pub fn parse(file_name: &str, text: &str) -> Result<Filelist, Diagnostics> {
        let mut lines = content_lines(text).peekable();
        let starts_with_number = lines.peek().is_some_and(|line| line.first.is_number());
        let mut builder = FilelistBuilder::default();
        let format = if starts_with_number {
            filelist_pages::read(&mut lines, text.len(), &mut builder);
            FilelistFormat::Pages
        } else {
            filelist_single::read(&mut lines, &mut builder);
            FilelistFormat::Single
        };
        if builder.problems.is_empty() && builder.pages.is_empty() {
            builder.reject(
                0..0,
                "the filelist contains no files",
                "",
                "add lines such as `/index.html 1 #500`",
            );
        }
        if builder.problems.is_empty() {
            return Ok(Filelist { format, requests: builder.requests, pages: builder.pages });
        }
        Err(Diagnostics::new(file_name, text, builder.problems))
    }
}

/// A filelist under construction, and the mistakes found.
#[derive(Default)]
pub(super) struct FilelistBuilder {
    requests: Vec<Request>,
    by_path: HashMap<String, u32>,
    pub(super) pages: Vec<Page>,
    problems: Vec<Diagnostic>,
}

impl FilelistBuilder {
    /// Reports a mistake.
    pub(super) fn reject(&mut self, span: Range<usize>, message: impl Into<String>, label: &str, hint: &str) {
        let hint = (!hint.is_empty()).then(|| hint.to_owned());
        self.problems.push(Diagnostic { message: message.into(), span, label: label.to_owned(), hint });
    }

    /// Adds a page. `None`, with a report, if there are too many.
    pub(super) fn page(&mut self, weight: u64, requests: Vec<u32>, span: Range<usize>) -> Option<()> {
        if self.pages.len() == OBJECTS_MAX {
            self.reject(span, format!("more than {OBJECTS_MAX} pages"), "", "");
            return None;
        }
        self.pages.push(Page { weight, requests });
        Some(())
    }

    /// Returns the index of a path's object, a new one for a new path. `None`, with a report, if path or size
    /// are not valid, or the path had another size before.
    pub(super) fn object(&mut self, path: FilelistWord, bytes: Option<u64>) -> Option<u32> {
        let is_plain = self.check_path(path);
        let bytes = bytes.filter(|_| is_plain)?;
        if let Some(index) = self.by_path.get(path.text) {
            let before = self.requests[*index as usize].body_bytes(0).unwrap_or(0);
            if before == bytes {
                return Some(*index);
            }
            let message = format!("`{}` has two sizes, {before} and {bytes} bytes", path.text);
            self.reject(path.span(), message, "appeared above with another size", "");
            return None;
        }
        if self.requests.len() == OBJECTS_MAX {
            self.reject(path.span(), format!("more than {OBJECTS_MAX} files"), "", "");
            return None;
        }
        let index = self.requests.len() as u32;
        self.by_path.insert(path.text.to_owned(), index);
        let reply = match generated_size(path.text) {
            Some(bytes) => ReplyBody::Letters { bytes, markup: false },
            None => ReplyBody::File(vec![bytes]),
        };
        self.requests.push(Request { reply, ..Request::file(path.text, bytes) });
        Some(index)
    }

    /// Checks that a path can be requested unchanged and, if it is a file, stored below any directory.
    fn check_path(&mut self, path: FilelistWord) -> bool {
        let file = match generated_size(path.text) {
            Some(_) => path.text.split_once('?').map_or(path.text, |(file, _)| file),
            None => path.text,
        };
        let Some((label, hint)) = file_path_fault(file) else { return true };
        let hint = if file.contains('?') {
            "only generated pages have a query: `/NAME.dyn-send?size=BYTES`, at most 10 MiB"
        } else {
            hint
        };
        self.reject(path.span(), "this path cannot be fetched", label, hint);
        false
    }

    /// Returns the size on a line: that in the path's query, or that after `#`, which must not differ;
    /// otherwise the result of `or`. `None`, with a report, if it is missing or wrong.
    pub(super) fn size_of(
        &mut self,
        line: &FilelistLine,
        or: impl FnOnce(&mut FilelistBuilder) -> Option<u64>,
    ) -> Option<u64> {
        let written = match line.size {
            Some(size) => Some(self.size(size)?),
            None => None,
        };
        match (generated_size(line.first.text), written) {
            (Some(made), Some(bytes)) if made != bytes => {
                let label = format!("the path requests {made} bytes");
                self.reject(line.size?.span(), "the size differs", &label, "remove it");
                None
            }
            (made, written) => made.or(written).or_else(|| or(self)),
        }
    }

    /// Parses the size after a path.
    fn size(&mut self, size: FilelistWord) -> Option<u64> {
        let is_digits = !size.text.is_empty() && size.text.bytes().all(|byte| byte.is_ascii_digit());
        match size.text.parse::<u64>() {
            Ok(bytes) if is_digits && bytes <= OBJECT_BYTES_MAX => Some(bytes),
            _ => {
                let label = format!("expected a number of bytes up to {OBJECT_BYTES_MAX}");
                self.reject(size.span(), "the size is not valid", &label, "write a size such as `#500`");
                None
            }
        }
    }

    /// Parses a weight within limits.
    pub(super) fn weight(&mut self, weight: FilelistWord, least: i64) -> Option<i64> {
        match weight.text.parse::<i64>() {
            Ok(number) if least <= number && number <= WEIGHT_MAX as i64 => Some(number),
            _ => {
                let label = match least {
                    1 => format!("expected a whole number from 1 to {WEIGHT_MAX}"),
                    _ => format!("expected a whole number up to {WEIGHT_MAX}"),
                };
                let hint = "weights need not add up to 100: multiply all of them to obtain whole numbers";
                self.reject(weight.span(), "the weight is not valid", &label, hint);
                None
            }
        }
    }

    /// Reports extra words at the end of a line.
    pub(super) fn reject_extra_words(&mut self, rest: &[FilelistWord], expected: &str) {
        if let [first, ..] = rest {
            let end = rest[rest.len() - 1].span().end;
            self.reject(first.start..end, "the line has too many words", expected, "");
        }
    }
}

/// Returns the size of the generated page that a path requests; `None` if it is a file.
pub(super) fn generated_size(path: &str) -> Option<u64> {
    let (page, query) = path.split_once('?')?;
    let digits = query.strip_prefix("size=").filter(|_| page.ends_with(".dyn-send"))?;
    let is_plain = digits.bytes().all(|byte| byte.is_ascii_digit());
    digits.parse().ok().filter(|bytes| is_plain && (1..=LETTERS_MAX).contains(bytes))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parse(text: &str) -> Filelist {
        Filelist::parse("list", text).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Returns the mistakes in a filelist, one per line: position, excerpt, message, label.
    fn mistakes(text: &str) -> String {
        let found = Filelist::parse("list", text).expect_err(text);
        let line = |problem: &Diagnostic| {
            let (line, column) = found.position(problem);
            let place = &text[problem.span.clone()];
            let label = if problem.label.is_empty() { "" } else { &format!(": {}", problem.label) };
            format!("{line}:{column} `{place}` {}{label}", problem.message)
        };
        found.problems.iter().map(line).collect::<Vec<_>>().join("\n")
    }

    fn objects(filelist: &Filelist) -> Vec<(&str, u64)> {
        filelist.requests.iter().map(|file| (file.name.as_str(), file.body_bytes(0).unwrap())).collect()
    }

    fn pages(filelist: &Filelist) -> Vec<(u64, &[u32])> {
        filelist.pages.iter().map(|page| (page.weight, page.requests.as_slice())).collect()
    }

    #[test]
    fn the_format_with_pages_is_parsed() {
        let filelist = parse(
            "# two pages\r\n\r\n2\r\n3 2\r\n/file1k.html\r\n/x/y.gif #0\r\n\t1 1\r\n  /file1k.html\r\n",
        );
        assert_eq!(filelist.format, FilelistFormat::Pages);
        assert_eq!(objects(&filelist), [("/file1k.html", 1024), ("/x/y.gif", 0)]);
        assert_eq!(pages(&filelist), [(3, &[0, 1][..]), (1, &[0])]);
    }

    #[test]
    fn the_format_with_single_files_is_parsed() {
        let filelist = parse("#c\n/a 350 #500\n/b #7\n/c -5 # 8\n/d 0 #9\n/a 2 #500");
        assert_eq!(filelist.format, FilelistFormat::Single);
        assert_eq!(objects(&filelist), [("/a", 500), ("/b", 7), ("/c", 8), ("/d", 9)]);
        assert_eq!(pages(&filelist), [(350, &[0][..]), (1, &[1]), (1, &[2]), (1, &[3]), (2, &[0])]);
    }

    #[test]
    fn generated_pages_have_their_size_in_the_query() {
        let filelist = parse("/a.dyn-send?size=500 350\n/a.dyn-send?size=512 #512\n/b.dyn-send #7");
        let replies: Vec<&ReplyBody> = filelist.requests.iter().map(|request| &request.reply).collect();
        let letters = |bytes| ReplyBody::Letters { bytes, markup: false };
        assert_eq!(replies, [&letters(500), &letters(512), &ReplyBody::File(vec![7])]);
        assert_eq!(pages(&filelist), [(350, &[0][..]), (1, &[1]), (1, &[2])]);
        let in_pages = parse("1\n1 2\n/a.dyn-send?size=500\n/file2k.html\n");
        assert_eq!(objects(&in_pages), [("/a.dyn-send?size=500", 500), ("/file2k.html", 2048)]);
    }

    #[test]
    fn other_queries_are_refused() {
        for path in
            ["/a?x=1", "/a.dyn-send?size=", "/a.dyn-send?size=0", "/a.dyn-send?size=+5", "/a.html?size=5"]
        {
            assert!(mistakes(&format!("{path} 1 #5")).contains("this path cannot be fetched"), "{path}");
        }
        assert!(mistakes("/a.dyn-send?size=10485761 1 #5").contains("this path cannot be fetched"));
        assert!(mistakes("/../a.dyn-send?size=5 1").contains("this path cannot be fetched"));
        assert!(mistakes("/a.dyn-send?size=5 1 #6").contains("the size differs"));
    }

    #[test]
    fn a_mistake_is_reported_at_its_position() {
        let text = "# my files\n/index.html 10 #500\nhttp://example.com/logo.gif 5 #2k\n";
        insta::assert_snapshot!(Filelist::parse("my-files.txt", text).unwrap_err(), @r"
        error: this path cannot be fetched
         --> my-files.txt:3:1
          |
        3 | http://example.com/logo.gif 5 #2k
          | ^^^^^^^^^^^^^^^^^^^^^^^^^^^ an absolute URL
          |
          = hint: proxies are not tested yet: write the path only, such as `/index.html`

        error: the size is not valid
         --> my-files.txt:3:32
          |
        3 | http://example.com/logo.gif 5 #2k
          |                                ^^ expected a number of bytes up to 1099511627776
          |
          = hint: write a size such as `#500`
        ");
    }

    #[test]
    fn mistakes_in_single_files_are_reported_with_their_position() {
        let text = "/a\n/b 1.5 #1\n/c 1 #-1\n/d 1 #\n/e 1 2 #1\nf 1 #1\n/g h #1\n/../i 1 #1\n/j/ 1 #1\n/k?l 1 #1\n\
                    /é 1 #1\n/m 9999999999 #1\n/n 1 #9999999999999\n/o 1 #1\n/o 1 #2\n/ 1 #1";
        insta::assert_snapshot!(mistakes(text), @r"
        1:1 `/a` the size of the file is missing
        2:4 `1.5` the weight is not valid: expected a whole number up to 1000000000
        3:7 `-1` the size is not valid: expected a number of bytes up to 1099511627776
        4:7 `` the size is not valid: expected a number of bytes up to 1099511627776
        5:6 `2` the line has too many words: expected `/path weight #bytes`
        6:1 `f` this path cannot be fetched: expected a path that begins with `/`
        7:4 `h` the weight is not valid: expected a whole number up to 1000000000
        8:1 `/../i` this path cannot be fetched: expected the path of a file, without empty parts, `.` and `..`
        9:1 `/j/` this path cannot be fetched: expected the path of a file, without empty parts, `.` and `..`
        10:1 `/k?l` this path cannot be fetched: a plain path cannot contain some of its characters
        11:1 `/é` this path cannot be fetched: a plain path cannot contain some of its characters
        12:4 `9999999999` the weight is not valid: expected a whole number up to 1000000000
        13:7 `9999999999999` the size is not valid: expected a number of bytes up to 1099511627776
        15:1 `/o` `/o` has two sizes, 1 and 2 bytes: appeared above with another size
        16:1 `/` this path cannot be fetched: expected the path of a file, without empty parts, `.` and `..`
        ");
    }

    #[test]
    fn mistakes_in_pages_are_reported_with_their_position() {
        let found: Vec<String> = [
            "0",
            "-1\n1 1\n/a #1",
            "2 3\n1 1\n/a #1",
            "2\n1 1\n/a #1",
            "1\n1 1\n/a #1\n1 1\n/b #1",
            "1\n0 1\n/a #1",
            "1\n-4 1\n/a #1",
            "1\n2.5 1\n/a #1",
            "1\n1 0",
            "2\n1 2\n/a #1\n1 1\n/b #1",
            "1\n1 2\n/a #1",
            "2\n1 1\n/a #1\n/b #1",
            "1\n40\n/a #1",
            "1\n1 1 1\n/a #1",
            "1\n1 1\n/a b #1",
            "1\n1 1\n/index.html",
            "1\n1 1\n/filek.html",
            "1\n1 1\n/file99999999999k.html",
            "1\n1 2\n/file2k.html\n/file2k.html #2",
            "1",
        ]
        .map(mistakes)
        .into();
        insta::assert_snapshot!(found.join("\n"), @r"
        1:1 `0` the number of pages is not valid: expected a whole number above zero
        1:1 `-1` the number of pages is not valid: expected a whole number above zero
        1:1 `2` pages announced: 2, found: 1
        1:3 `3` the line has too many words: expected only the number of pages
        1:1 `2` pages announced: 2, found: 1
        4:1 `1 1` pages announced: 1, found: more: an additional page begins here
        2:1 `0` the weight is not valid: expected a whole number from 1 to 1000000000
        2:1 `-4` the weight is not valid: expected a whole number from 1 to 1000000000
        2:1 `2.5` the weight is not valid: expected a whole number from 1 to 1000000000
        2:3 `0` the number of files is not valid: expected a whole number above zero
        4:1 `1 1` files announced for the page: 2, found: 1: expected a path
        3:6 `` files announced for the page: 2, found: 1: expected a path
        4:1 `/b #1` expected the start of a page: expected a weight and a number of files
        2:1 `40` expected the start of a page: expected a weight and a number of files
        2:5 `1` the line has too many words: expected a weight and a number of files
        3:4 `b` the line has too many words: expected one path per line
        3:1 `/index.html` the size of the file is unknown
        3:1 `/filek.html` the size of the file is unknown
        3:1 `/file99999999999k.html` the size of the file is unknown
        4:1 `/file2k.html` `/file2k.html` has two sizes, 2048 and 2 bytes: appeared above with another size
        1:1 `1` pages announced: 1, found: 0
        ");
    }

    #[test]
    fn control_characters_in_a_path_are_refused() {
        assert!(
            mistakes("/a\u{1}\u{7f} 1 #1").contains("a plain path cannot contain some of its characters")
        );
    }

    #[test]
    fn a_filelist_without_files_is_refused() {
        for text in ["", "\n\n", "# only a comment\n"] {
            assert!(mistakes(text).contains("contains no files"), "{text}");
        }
    }

    #[test]
    fn the_number_of_files_and_pages_is_limited() {
        let list = |n: usize| (0..n).map(|i| format!("/{i} 1 #1\n")).collect::<String>();
        assert_eq!(parse(&list(OBJECTS_MAX)).requests.len(), OBJECTS_MAX);
        assert!(mistakes(&list(OBJECTS_MAX + 1)).contains("more than 65535 files"));
        let again = "/a 1 #1\n".repeat(OBJECTS_MAX + 1);
        assert!(mistakes(&again).contains("more than 65535 pages"));
    }

    proptest! {
        #[test]
        fn any_text_is_parsed_without_panic(text in "(?s).*|[-/a-f0-9#.k \n]*") {
            if let Err(found) = Filelist::parse("any", &text) {
                prop_assert!(!found.problems.is_empty());
                found.to_string();
            }
        }

        /// Goal: any error in a valid list yields a valid list or a message. A part of it is overwritten.
        #[test]
        fn any_typo_in_a_filelist_is_reported_or_harmless(at in 0usize..400, length in 0usize..9, slip in "\\PC{0,9}|[0-9 \n]{0,5}") {
            let mut text = crate::web::webstone::WEBSTONE_1_1.filelists[0].text.to_owned();
            let end = (at + length).min(text.len());
            text.replace_range(at.min(end)..end, &slip);
            match Filelist::parse("any", &text) {
                Err(found) => prop_assert!(!found.to_string().is_empty()),
                Ok(filelist) => {
                    prop_assert!(filelist.pages.iter().all(|page| 0 < page.weight && !page.requests.is_empty()));
                    let n = filelist.requests.len() as u32;
                    prop_assert!(filelist.pages.iter().flat_map(|page| &page.requests).all(|request| *request < n));
                }
            }
        }
    }
}
