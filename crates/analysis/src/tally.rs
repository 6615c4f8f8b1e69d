//! Counting what breaks a rule without keeping all of it.

/// The first occurrence of a fault, and the number of occurrences.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tally {
    first: Option<String>,
    n: u64,
}

impl Tally {
    /// Counts one find; its description is made for the first one only.
    pub(crate) fn note(&mut self, text: impl FnOnce() -> String) {
        if self.n == 0 {
            self.first = Some(text());
        }
        self.n += 1;
    }

    /// Counts a find unless `holds`.
    pub(crate) fn expect(&mut self, holds: bool, text: impl FnOnce() -> String) {
        if !holds {
            self.note(text);
        }
    }

    /// Returns the first find and how many there were besides; `None` if there was none.
    pub(crate) fn text(&self) -> Option<String> {
        let first = self.first.as_ref()?;
        Some(match self.n {
            1 => first.clone(),
            2 => format!("{first}; and once more"),
            n => format!("{first}; and {} more times", n - 1),
        })
    }
}
