//! The filelist format of WebStone 2.x: a file on each line.
//!
//! ```text
//! /path [weight] #bytes
//! ```
//!
//! A weight that is missing, zero or negative counts as 1, as in the original. The original's generator needed
//! the size, its load client did not; here every body is verified, so it must be there.

use super::filelist::Builder;
use super::filelist_lines::Line;

/// Reads all lines.
pub(super) fn read<'a>(lines: &mut impl Iterator<Item = Line<'a>>, builder: &mut Builder) {
    for line in lines {
        if read_line(&line, builder).is_none() {
            return;
        }
    }
}

/// Reads one line; `None` if it makes no sense to go on.
fn read_line(line: &Line, builder: &mut Builder) -> Option<()> {
    let weight = match line.rest.first() {
        Some(weight) => builder.weight(*weight, i64::MIN),
        None => Some(1),
    };
    builder.no_more(line.rest.get(1..).unwrap_or_default(), "expected `/path weight #bytes`");
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
