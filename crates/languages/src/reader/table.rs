//! A TOML table that is read key by key.
//!
//! The caller reads each key that a table may have, then [`TomlTable::finish`] reports the keys that were not read. So
//! the reading code itself is the list of valid keys. How keys are read is in `keys`.

use std::cell::RefCell;
use std::ops::Range;

use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

use super::description::{Definitions, SharedDescription};
use crate::diagnostics::{Diagnostic, nearest};

/// A reason why a value does not fit its key.
pub struct ValueError {
    /// The message: what was expected and what was found.
    pub label: String,
    /// The remedy: what to write instead.
    pub hint: Option<String>,
    /// The position inside a string, in bytes from its first character; the whole value if absent.
    pub inside: Option<Range<usize>>,
}

impl ValueError {
    /// Creates an error without a remedy, about the whole value.
    pub fn new(label: impl Into<String>) -> ValueError {
        ValueError { label: label.into(), hint: None, inside: None }
    }

    /// Sets the position inside a string.
    pub fn at(self, inside: Range<usize>) -> ValueError {
        ValueError { inside: Some(inside), ..self }
    }

    /// Sets the remedy.
    pub fn hint(self, hint: impl Into<String>) -> ValueError {
        ValueError { hint: Some(hint.into()), ..self }
    }
}

/// The text that is read and the problems found in it so far.
pub(crate) struct TomlSource<'a> {
    /// The kind of the text: `a definition`.
    what: &'static str,
    text: &'a str,
    problems: RefCell<Vec<Diagnostic>>,
    /// The definitions of values, if the tables are descriptions.
    pub(super) definitions: RefCell<Definitions>,
}

impl<'a> TomlSource<'a> {
    pub(crate) fn new(what: &'static str, text: &'a str) -> TomlSource<'a> {
        TomlSource { what, text, problems: RefCell::default(), definitions: RefCell::default() }
    }

    /// Returns the problems, in the order in which they were found.
    pub(crate) fn into_problems(self) -> Vec<Diagnostic> {
        self.problems.into_inner()
    }

    fn report(&self, message: String, span: Range<usize>, error: ValueError) {
        let span = error.inside.and_then(|inside| self.inside_string(&span, inside)).unwrap_or(span);
        let problem = Diagnostic { message, span, label: error.label, hint: error.hint };
        self.problems.borrow_mut().push(problem);
    }

    /// Returns the span of a part of a string in the text; `None` if it is not written as it is read: with escapes, or
    /// with line breaks of two bytes.
    fn inside_string(&self, value: &Range<usize>, inside: Range<usize>) -> Option<Range<usize>> {
        let written = self.text.get(value.clone())?;
        let opening =
            ["\"\"\"\n", "'''\n", "\"\"\"", "'''"].into_iter().find(|quotes| written.starts_with(quotes));
        let is_as_read = (written.starts_with('\'') || !written.contains('\\')) && !written.contains('\r');
        let start = value.start + opening.map_or(1, str::len);
        is_as_read.then_some(start + inside.start..start + inside.end)
    }
}

/// A value under a name that its writer chose.
pub enum NamedEntry<'a> {
    /// Anything but a table.
    Value(&'a DeValue<'a>),
    /// A table.
    Table(TomlTable<'a>),
}

/// A table that is being read; or a description, an empty table that records the keys that it is asked for.
pub struct TomlTable<'a> {
    pub(super) source: &'a TomlSource<'a>,
    /// Dotted path; empty for the whole file.
    path: String,
    /// The span that messages on missing keys show.
    span: Range<usize>,
    pub(super) entries: &'a DeTable<'a>,
    pub(super) asked: Vec<&'a str>,
    pub(super) description: Option<SharedDescription>,
}

impl<'a> TomlTable<'a> {
    /// Begins with the top-level table of a file.
    pub(crate) fn root(source: &'a TomlSource<'a>, entries: &'a DeTable<'a>) -> TomlTable<'a> {
        TomlTable { source, path: String::new(), span: 0..0, entries, asked: Vec::new(), description: None }
    }

    /// Begins a description; `entries` is empty.
    pub(super) fn description(source: &'a TomlSource<'a>, entries: &'a DeTable<'a>) -> TomlTable<'a> {
        TomlTable { description: Some(SharedDescription::default()), ..TomlTable::root(source, entries) }
    }

    /// Returns whether the table is empty.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns the keys of the table.
    pub fn keys(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        self.entries.keys().map(|key| key.get_ref().as_ref())
    }

    /// Returns whether a table within this one has a key.
    pub fn has_inside(&self, table: &str, key: &str) -> bool {
        matches!(self.value(table), Some(DeValue::Table(entries)) if entries.contains_key(key))
    }

    /// Returns the raw value of a key, for a decision on how to read it.
    pub fn value(&self, key: &str) -> Option<&'a DeValue<'a>> {
        self.entries.get(key).map(Spanned::get_ref)
    }

    /// Returns the span of the value of a key; that of the table if the key is absent.
    pub fn span_of(&self, key: &str) -> Range<usize> {
        self.entries.get(key).map_or_else(|| self.span.clone(), Spanned::span)
    }

    /// Returns the span of the table.
    pub fn span(&self) -> Range<usize> {
        self.span.clone()
    }

    /// Reports a mistake that concerns the value of a key together with others.
    pub fn reject(&self, key: &str, error: ValueError) {
        self.reject_at(key, self.span_of(key), error);
    }

    /// Reports a mistake that concerns the value of a key in an inner table; a number in the path is the position of a
    /// table in an array, from 0. Returns whether there is such a value.
    pub fn reject_inner(&self, path: &[&str], error: ValueError) -> bool {
        let Some((span, names)) = self.inner_value(path) else { return false };
        self.reject_at(&names.join("."), span, error);
        true
    }

    /// Returns the span of the value at a path and the names in the path.
    fn inner_value<'p>(&self, path: &[&'p str]) -> Option<(Range<usize>, Vec<&'p str>)> {
        let (first, rest) = path.split_first()?;
        let (name, mut value) = self.entries.get_key_value(*first)?;
        let mut span = place(value, name);
        let mut names = vec![*first];
        for step in rest {
            (span, value) = match value.get_ref() {
                DeValue::Table(entries) => {
                    let (name, value) = entries.get_key_value(*step)?;
                    names.push(step);
                    (place(value, name), value)
                }
                DeValue::Array(items) => {
                    let item = items.get(step.parse::<usize>().ok()?)?;
                    (place(item, name), item)
                }
                _ => return None,
            };
        }
        Some((span, names))
    }

    /// Returns the line of a key's value, from 1; 1 if there is none.
    pub fn line_of(&self, key: &str) -> u32 {
        let before = self.source.text.get(..self.span_of(key).start).unwrap_or_default();
        u32::try_from(1 + before.matches('\n').count()).unwrap_or(u32::MAX)
    }

    /// Returns whether a mistake has been reported, in this table or any other of the text.
    pub fn has_mistake(&self) -> bool {
        !self.source.problems.borrow().is_empty()
    }

    /// Reports a mistake that concerns the table as a whole.
    pub fn reject_all(&self, error: ValueError) {
        self.source.report(format!("`{}` is not valid", self.path), self.span.clone(), error);
    }

    /// Reports all keys that were not read; the last thing that is done with a table.
    pub fn finish(self) {
        self.report_unknown();
    }

    /// Reports all keys that were not read so far, of a table that stays in use.
    pub fn report_unknown(&self) {
        for key in self.entries.keys() {
            if self.asked.iter().any(|asked| asked == key.get_ref()) {
                continue;
            }
            let place = if self.path.is_empty() { "" } else { &format!(" in `{}`", self.path) };
            let hint = match nearest(key.get_ref(), self.asked.iter().copied()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("keys here are {}", self.asked.join(", ")),
            };
            let error = ValueError::new(format!("not a key of {}", self.source.what)).hint(hint);
            self.source.report(format!("unknown key `{}`{place}", key.get_ref()), key.span(), error);
        }
    }

    pub(super) fn inner(&self, path: String, span: Range<usize>, entries: &'a DeTable<'a>) -> TomlTable<'a> {
        TomlTable { source: self.source, path, span, entries, asked: Vec::new(), description: None }
    }

    /// Reports the value of a key, which stands at a span, as not valid.
    pub(super) fn reject_at(&self, key: &str, span: Range<usize>, error: ValueError) {
        self.source.report(format!("`{}` is not valid", self.path_of(key)), span, error);
    }

    pub(super) fn entry(
        &mut self,
        key: &'static str,
    ) -> Option<(&'a Spanned<DeString<'a>>, &'a Spanned<DeValue<'a>>)> {
        self.asked.push(key);
        self.entries.get_key_value(key)
    }

    /// Reports a key that is absent although it must be there, which may depend on others.
    pub fn report_missing(&self, key: &'static str) {
        if !self.entries.contains_key(key) {
            let error = ValueError::new(format!("`{key}` must be given here"));
            self.source.report(format!("`{}` is missing", self.path_of(key)), self.span.clone(), error);
        }
    }

    pub(super) fn path_of(&self, key: &str) -> String {
        if self.path.is_empty() { key.to_owned() } else { format!("{}.{key}", self.path) }
    }
}

/// Returns the span of a value: its own, or that of its key if it has none, as a table in an array.
pub(super) fn place(value: &Spanned<DeValue>, key: &Spanned<DeString>) -> Range<usize> {
    if value.span().is_empty() { key.span() } else { value.span() }
}

/// Returns the TOML type of a value, with its article.
pub fn kind(value: &DeValue) -> &'static str {
    match value {
        DeValue::String(_) => "a string",
        DeValue::Integer(_) => "an integer",
        DeValue::Float(_) => "a number",
        DeValue::Boolean(_) => "a boolean",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "an array",
        DeValue::Table(_) => "a table",
    }
}

#[cfg(test)]
mod tests {
    use super::ValueError;
    use crate::reader::read_toml;
    use crate::spec::whole;

    #[test]
    fn each_wrong_item_of_an_array_is_shown_at_its_position() {
        let read =
            |text| read_toml("a test", "t.toml", text, |mut top| top.required_items("n", "", whole(1..=9)));
        assert_eq!(read("n = [1, 9]"), Ok(vec![1, 9]));
        assert_eq!(read("n = []"), Ok(vec![]));
        insta::assert_snapshot!(read("n = [0, 1,\n  true]").unwrap_err(), @r"
        error: `n` is not valid
         --> t.toml:1:6
          |
        1 | n = [0, 1,
          |      ^ expected a whole number from 1 to 9, found 0

        error: `n` is not valid
         --> t.toml:2:3
          |
        2 |   true]
          |   ^^^^ expected a whole number from 1 to 9, found a boolean
        ");
        insta::assert_snapshot!(read("n = 5").unwrap_err(), @r"
        error: `n` is not valid
         --> t.toml:1:5
          |
        1 | n = 5
          |     ^ expected an array, found an integer
        ");
        assert!(read("").unwrap_err().to_string().contains("`n` is missing"));
    }

    /// Refuses a text because of its first `x`.
    fn without_x(text: String) -> Result<(), ValueError> {
        let at = text.find('x').unwrap_or(0);
        Err(ValueError::new("no x").at(at..at + 1))
    }

    #[test]
    fn a_part_of_a_string_is_shown_unless_the_string_is_written_in_another_way() {
        let position = |text: &str| {
            let spec = crate::spec::text().and_then(without_x);
            let read = read_toml("a test", "t.toml", text, |mut top| top.required("s", "", spec));
            let diagnostics = read.unwrap_err();
            let [problem] = &diagnostics.problems[..] else { panic!("{diagnostics}") };
            (diagnostics.position(problem), text[problem.span.clone()].to_owned())
        };
        for (text, line, column) in [
            ("s = \"ax\"", 1, 7),
            (r"s = '\ax'", 1, 8),
            ("s = \"\"\"ax\"\"\"", 1, 9),
            ("s = \"\"\"\na\nbx\"\"\"", 3, 2),
            ("s = '''\n\\a\nbx'''", 3, 2),
        ] {
            assert_eq!(position(text), ((line, column), "x".to_owned()), "{text}");
        }
        for text in [r#"s = "\tax""#, "s = '''\r\nax'''"] {
            assert_eq!(position(text), ((1, 5), text[4..].to_owned()), "{text}");
        }
    }
}
