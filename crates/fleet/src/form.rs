//! Fields of messages, one after another: numbers of eight bytes, lowest first, and texts behind their lengths.

use thiserror::Error;

/// A reason why bytes are not a message.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub(crate) enum FormError {
    /// They end before the message does.
    #[error("the message ends early")]
    Truncated,
    /// They go on after its end.
    #[error("the message is followed by {0} more bytes")]
    Trailing(usize),
    /// A field has a value that it cannot have.
    #[error("the message has an impossible {0}")]
    Impossible(&'static str),
}

/// A writer of fields.
#[derive(Debug, Default)]
pub(crate) struct FormWriter(Vec<u8>);

impl FormWriter {
    pub(crate) fn number(&mut self, number: impl Into<u64>) {
        self.0.extend(number.into().to_le_bytes());
    }

    pub(crate) fn flag(&mut self, flag: bool) {
        self.number(u64::from(flag));
    }

    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        self.0.extend(bytes);
    }

    pub(crate) fn text(&mut self, text: &str) {
        self.bytes(text.as_bytes());
    }

    /// Writes whether there is a value, and if so, the value.
    pub(crate) fn optional<T>(&mut self, value: Option<T>, write: impl FnOnce(&mut FormWriter, T)) {
        self.flag(value.is_some());
        if let Some(value) = value {
            write(self, value);
        }
    }

    /// Writes the number of items, and each of them.
    pub(crate) fn list<T>(
        &mut self,
        items: impl ExactSizeIterator<Item = T>,
        mut write: impl FnMut(&mut FormWriter, T),
    ) {
        self.number(items.len() as u64);
        items.for_each(|item| write(self, item));
    }

    pub(crate) fn finish(self) -> Vec<u8> {
        self.0
    }
}

/// A reader of fields from untrusted bytes.
#[derive(Debug)]
pub(crate) struct FormReader<'a>(&'a [u8]);

impl<'a> FormReader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> FormReader<'a> {
        FormReader(bytes)
    }

    pub(crate) fn u64(&mut self) -> Result<u64, FormError> {
        let (number, rest) = self.0.split_first_chunk().ok_or(FormError::Truncated)?;
        self.0 = rest;
        Ok(u64::from_le_bytes(*number))
    }

    /// Reads a number that must fit a smaller type; `what` names it.
    pub(crate) fn number<T: TryFrom<u64>>(&mut self, what: &'static str) -> Result<T, FormError> {
        T::try_from(self.u64()?).map_err(|_| FormError::Impossible(what))
    }

    pub(crate) fn flag(&mut self, what: &'static str) -> Result<bool, FormError> {
        match self.u64()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(FormError::Impossible(what)),
        }
    }

    pub(crate) fn bytes(&mut self) -> Result<&'a [u8], FormError> {
        let length = usize::try_from(self.u64()?).map_err(|_| FormError::Truncated)?;
        let (bytes, rest) = self.0.split_at_checked(length).ok_or(FormError::Truncated)?;
        self.0 = rest;
        Ok(bytes)
    }

    pub(crate) fn text(&mut self, what: &'static str) -> Result<String, FormError> {
        let text = std::str::from_utf8(self.bytes()?).map_err(|_| FormError::Impossible(what))?;
        Ok(text.to_owned())
    }

    pub(crate) fn optional<T>(
        &mut self,
        read: impl FnOnce(&mut FormReader<'a>) -> Result<T, FormError>,
    ) -> Result<Option<T>, FormError> {
        if self.flag("mark of a value")? { read(self).map(Some) } else { Ok(None) }
    }

    /// Reads a list. Each item takes at least eight bytes, so that there are no more than the bytes allow.
    pub(crate) fn list<T>(
        &mut self,
        mut read: impl FnMut(&mut FormReader<'a>) -> Result<T, FormError>,
    ) -> Result<Vec<T>, FormError> {
        let n = self.u64()?;
        if (self.0.len() as u64) < n.saturating_mul(8) {
            return Err(FormError::Truncated);
        }
        (0..n).map(|_| read(self)).collect()
    }

    pub(crate) fn finish(self) -> Result<(), FormError> {
        if self.0.is_empty() { Ok(()) } else { Err(FormError::Trailing(self.0.len())) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_come_back_in_their_order() {
        let mut form = FormWriter::default();
        form.number(7_u32);
        form.flag(true);
        form.text("ä");
        form.optional(Some(3_u64), FormWriter::number);
        form.optional(None::<u64>, FormWriter::number);
        form.list([1_u64, 2].into_iter(), FormWriter::number);
        let bytes = form.finish();
        assert_eq!(bytes[..8], [7, 0, 0, 0, 0, 0, 0, 0]);
        let mut form = FormReader::new(&bytes);
        assert_eq!((form.number("number"), form.flag("flag")), (Ok(7_u32), Ok(true)));
        assert_eq!(form.text("text").as_deref(), Ok("ä"));
        assert_eq!(form.optional(FormReader::u64), Ok(Some(3)));
        assert_eq!(form.optional(FormReader::u64), Ok(None));
        assert_eq!(form.list(FormReader::u64), Ok(vec![1, 2]));
        assert_eq!(form.finish(), Ok(()));
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let many = u64::MAX.to_le_bytes();
        assert_eq!(FormReader::new(&many).list(FormReader::u64), Err(FormError::Truncated));
        assert_eq!(FormReader::new(&many).bytes(), Err(FormError::Truncated));
        assert_eq!(FormReader::new(&many).number::<u32>("number"), Err(FormError::Impossible("number")));
        assert_eq!(FormReader::new(&many).flag("flag"), Err(FormError::Impossible("flag")));
        assert_eq!(FormReader::new(&many[1..]).u64(), Err(FormError::Truncated));
        assert_eq!(FormReader::new(&[0]).finish(), Err(FormError::Trailing(1)));
        let text = [1_u64.to_le_bytes().as_slice(), &[0xff]].concat();
        assert_eq!(FormReader::new(&text).text("text"), Err(FormError::Impossible("text")));
    }
}
