//! Counting of faults of which only the first is kept.

/// The first occurrence of a fault, and the number of occurrences.
#[derive(Debug, Clone, Default)]
pub(crate) struct FirstOccurrence {
    first: Option<String>,
    n: u64,
}

impl FirstOccurrence {
    /// Counts one fault; its description is made for the first one only.
    pub(crate) fn note(&mut self, text: impl FnOnce() -> String) {
        if self.n == 0 {
            self.first = Some(text());
        }
        self.n += 1;
    }

    /// Counts a fault unless `holds`.
    pub(crate) fn expect(&mut self, holds: bool, text: impl FnOnce() -> String) {
        if !holds {
            self.note(text);
        }
    }

    /// Returns the first fault and the number of further ones; `None` if there was none.
    pub(crate) fn text(&self) -> Option<String> {
        let first = self.first.as_ref()?;
        Some(match self.n {
            1 => first.clone(),
            2 => format!("{first}; and 1 more time"),
            n => format!("{first}; and {} more times", n - 1),
        })
    }
}
