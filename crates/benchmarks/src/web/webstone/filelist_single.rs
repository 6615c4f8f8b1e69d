//! The filelist format of WebStone 2.x: a file on each line.
//!
//! ```text
//! /path [weight] #bytes
//! ```
//!
//! A missing, zero or negative weight counts as 1, as in the original. The original's generator needed the
//! size, its load client did not; here every body is verified, so it is required.

use super::filelist::FilelistBuilder;
use super::filelist_lines::FilelistLine;

/// Parses all lines.
pub(super) fn read<'a>(lines: &mut impl Iterator<Item = FilelistLine<'a>>, builder: &mut FilelistBuilder) {
    for line in lines {
        if read_line(&line, builder).is_none() {
            return;
        }
    }
}

/// Parses one line; `None` if parsing cannot continue.
fn read_line(line: &FilelistLine, builder: &mut FilelistBuilder) -> Option<()> {
    let weight = match line.rest.first() {
        Some(weight) => builder.weight(*weight, i64::MIN),
        None => Some(1),
    };
    builder.reject_extra_words(line.rest.get(1..).unwrap_or_default(), "expected `/path weight #bytes`");
    let bytes = builder.size_of(line, |builder| {
        let hint = "write the size in bytes at the end of the line, such as `#500`";
        builder.reject(line.span.clone(), "the size of the file is missing", "", hint);
        None
    });
    let object = builder.object(line.first, bytes);
    if let (Some(object), Some(weight)) = (object, weight) {
        builder.page(weight.max(1) as u64, vec![object], line.span.clone())?;
    }
    Some(())
}
