//! The filelist format of WebStone 1.1: pages of several files.
//!
//! ```text
//! number of pages
//! weight  number of files       these lines once for every page
//! /path [#bytes]                once for every file of the page
//! ```
//!
//! Without `#bytes` the size follows from the name, as in the original: `/file<N>k.html` has N·1024 bytes.

use std::iter::Peekable;

use super::filelist::FilelistBuilder;
use super::filelist_lines::{FilelistLine, FilelistWord};

/// Parses all lines. After a wrong number the rest is ambiguous, so parsing stops there.
pub(super) fn read<'a>(
    lines: &mut Peekable<impl Iterator<Item = FilelistLine<'a>>>,
    text_end: usize,
    builder: &mut FilelistBuilder,
) -> Option<()> {
    let first = lines.next()?;
    let announced = first.first;
    builder.reject_extra_words(&first.rest, "expected only the number of pages");
    let n_pages = count(announced, "pages", builder)?;
    for page in 0..n_pages {
        let Some(head) = lines.next() else {
            let message = format!("pages announced: {n_pages}, found: {page}");
            builder.reject(announced.span(), message, "", "count the pages, not the files");
            return None;
        };
        read_page(&head, lines, text_end, builder)?;
    }
    if let Some(line) = lines.next() {
        let message = format!("pages announced: {n_pages}, found: more");
        builder.reject(
            line.span,
            message,
            "an additional page begins here",
            "increase the number at the top",
        );
    }
    Some(())
}

fn read_page<'a>(
    head: &FilelistLine<'a>,
    lines: &mut Peekable<impl Iterator<Item = FilelistLine<'a>>>,
    text_end: usize,
    builder: &mut FilelistBuilder,
) -> Option<()> {
    let (weight, [n_files, rest @ ..]) = (head.first, head.rest.as_slice()) else {
        return no_page(head, builder);
    };
    if !weight.is_number() || !n_files.is_number() {
        return no_page(head, builder);
    }
    builder.reject_extra_words(rest, "expected a weight and a number of files");
    let weight = builder.weight(weight, 1);
    let n_wanted = count(*n_files, "files", builder)?;
    let mut objects = Vec::new();
    for n_read in 0..n_wanted {
        let Some(line) = lines.next_if(|line| !line.first.is_number()) else {
            let span = lines.peek().map_or(text_end..text_end, |line| line.span.clone());
            let message = format!("files announced for the page: {n_wanted}, found: {n_read}");
            builder.reject(span, message, "expected a path", "");
            return None;
        };
        objects.extend(read_file(&line, builder));
    }
    match weight {
        Some(weight) => builder.page(weight as u64, objects, head.span.clone()),
        None => Some(()),
    }
}

fn no_page(head: &FilelistLine, builder: &mut FilelistBuilder) -> Option<()> {
    let hint = "check the number of files of the previous page";
    let label = "expected a weight and a number of files";
    builder.reject(head.span.clone(), "expected the start of a page", label, hint);
    None
}

fn read_file(line: &FilelistLine, builder: &mut FilelistBuilder) -> Option<u32> {
    let path = line.first;
    builder.reject_extra_words(&line.rest, "expected one path per line");
    let bytes = builder.size_of(line, |builder| {
        let bytes = size_by_name(path.text);
        if bytes.is_none() {
            let hint =
                "write the size in bytes after the path, such as `#500`; only `/file<N>k.html` implies one";
            builder.reject(path.span(), "the size of the file is unknown", "", hint);
        }
        bytes
    });
    builder.object(path, bytes)
}

/// Returns N·1024 for the name `file<N>k.html` in any directory.
fn size_by_name(path: &str) -> Option<u64> {
    let (_, name) = path.rsplit_once('/')?;
    let digits = name.strip_prefix("file")?.strip_suffix("k.html")?;
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let kibibytes =
        digits.parse::<u64>().ok().filter(|n| is_number && *n <= super::OBJECT_BYTES_MAX / 1024)?;
    Some(kibibytes * 1024)
}

/// Parses the number of pages or files that follow.
fn count(word: FilelistWord, what: &str, builder: &mut FilelistBuilder) -> Option<usize> {
    match word.text.parse::<usize>() {
        Ok(number) if 0 < number => Some(number),
        _ => {
            let message = format!("the number of {what} is not valid");
            builder.reject(word.span(), message, "expected a whole number above zero", "");
            None
        }
    }
}
