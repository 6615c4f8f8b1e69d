//! The check of rows that are counted and not kept: the number of values and their lengths, while the bytes arrive.

use super::failure::{OTHER_BYTES, SqlFailure};

/// The next part of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RowPart {
    /// So many bytes, in all, that say what follows.
    Prefix(usize),
    /// A value of so many bytes.
    Value(u64),
    /// Nothing.
    End,
}

/// The layout of the rows of a result.
pub(crate) trait RowLayout {
    /// Returns what follows the prefix, of which nothing has arrived at first; then it is as long as was asked for.
    ///
    /// # Errors
    /// No such row has this prefix.
    fn next(&mut self, prefix: &[u8]) -> Result<RowPart, SqlFailure>;
}

/// A check of one row.
#[derive(Debug)]
pub(crate) struct RowScan<L> {
    layout: L,
    prefix: Vec<u8>,
    /// The length of the prefix that is waited for.
    prefix_length: usize,
    /// The bytes of the value that have not arrived.
    value_left: u64,
}

impl<L: RowLayout> RowScan<L> {
    pub(crate) fn new(layout: L) -> RowScan<L> {
        RowScan { layout, prefix: Vec::new(), prefix_length: 0, value_left: 0 }
    }

    /// Checks the next bytes of the row.
    ///
    /// # Errors
    /// They are not those of such a row.
    pub(crate) fn feed(&mut self, mut bytes: &[u8]) -> Result<(), SqlFailure> {
        loop {
            let n_skipped = self.value_left.min(bytes.len() as u64);
            self.value_left -= n_skipped;
            // No more than there are.
            bytes = &bytes[n_skipped as usize..];
            let missing = self.prefix_length - self.prefix.len();
            let (taken, rest) = bytes.split_at(missing.min(bytes.len()));
            self.prefix.extend_from_slice(taken);
            bytes = rest;
            if 0 < self.value_left || self.prefix.len() < self.prefix_length {
                return Ok(());
            }
            match self.layout.next(&self.prefix)? {
                RowPart::Prefix(length) => self.prefix_length = length.max(self.prefix.len()),
                RowPart::Value(length) => {
                    self.prefix.clear();
                    (self.prefix_length, self.value_left) = (0, length);
                }
                RowPart::End if bytes.is_empty() => return Ok(()),
                RowPart::End => return Err(SqlFailure::malformed(OTHER_BYTES)),
            }
        }
    }

    /// Checks that the row is complete.
    ///
    /// # Errors
    /// It is not.
    pub(crate) fn end(mut self) -> Result<(), SqlFailure> {
        let is_cut = 0 < self.value_left || self.prefix.len() < self.prefix_length;
        if is_cut || self.layout.next(&self.prefix)? != RowPart::End {
            Err(SqlFailure::malformed(OTHER_BYTES))
        } else {
            Ok(())
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Returns whether a row is accepted, in whatever parts it arrives.
    ///
    /// # Panics
    /// It depends on the parts.
    pub(crate) fn is_accepted<L: RowLayout>(layout: impl Fn() -> L, row: &[u8]) -> bool {
        let fed = |parts: Vec<&[u8]>| {
            let mut scan = RowScan::new(layout());
            parts.into_iter().all(|part| scan.feed(part).is_ok()) && scan.end().is_ok()
        };
        let whole = fed(vec![row]);
        assert_eq!(fed(row.chunks(1).collect()), whole, "byte by byte");
        assert_eq!(fed(row.chunks(3).collect()), whole, "in parts of three");
        whole
    }
}
