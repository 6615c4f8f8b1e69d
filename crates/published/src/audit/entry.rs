//! The rows of a report, as input of the laws: figures of one system at one load.

use crate::{
    PrintedNumber, PublishedColumn, PublishedQuantity, PublishedReport, PublishedTable, PublishedValue,
    QuantityForm,
};

use super::range::ValueRange;
use super::written::{digits, with_unit};

/// One row of a table, or a record, with what holds for all rows of its table.
#[derive(Debug, Clone)]
pub(crate) struct Row<'a> {
    pub(crate) table: &'a PublishedTable,
    /// The index in the table's rows.
    pub(super) index: usize,
    /// The system that it is about.
    pub(crate) subject: Option<&'a str>,
    pub(super) entries: Vec<Entry<'a>>,
}

/// One number of a row.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Entry<'a> {
    pub(super) column: &'a PublishedColumn,
    /// The index of the column; `None` for a figure that holds for all rows.
    pub(super) place: Option<usize>,
    pub(crate) class: Option<&'a str>,
    pub(crate) number: &'a PrintedNumber,
}

impl<'a> Row<'a> {
    /// Returns all rows of a report.
    pub(crate) fn all(report: &'a PublishedReport) -> Vec<Row<'a>> {
        report.tables.iter().flat_map(Row::of_table).collect()
    }

    /// Returns the rows of a table.
    pub(super) fn of_table(table: &'a PublishedTable) -> impl Iterator<Item = Row<'a>> {
        (0..table.rows.len()).map(move |index| Row::new(table, index))
    }

    /// Returns one row of a table, by its index from 0.
    pub(super) fn new(table: &'a PublishedTable, index: usize) -> Row<'a> {
        let cells = &table.rows[index];
        let word = |form: QuantityForm| {
            let place =
                table.columns.iter().position(|column| column.quantity == PublishedQuantity::Of(form))?;
            match &cells[place].value {
                PublishedValue::Text(text) => Some(text.as_str()),
                _ => None,
            }
        };
        let row_class = word(QuantityForm::Class).or(table.class.as_deref());
        let own = table
            .columns
            .iter()
            .zip(cells)
            .enumerate()
            .map(|(place, (column, cell))| (Some(place), column, cell));
        let given = table.given.iter().map(|(column, cell)| (None, column, cell));
        let entries = own.chain(given).filter_map(|(place, column, cell)| {
            let number = cell.value.number()?;
            Some(Entry { column, place, class: column.class.as_deref().or(row_class), number })
        });
        let entries = entries.collect();
        let subject = word(QuantityForm::Subject).or(table.subject.as_deref());
        Row { table, index, subject, entries }
    }

    /// Returns the classes of the row's numbers, `None` for those without; each once.
    pub(super) fn classes(&self) -> Vec<Option<&'a str>> {
        let mut classes = Vec::new();
        for entry in &self.entries {
            if !classes.contains(&entry.class) {
                classes.push(entry.class);
            }
        }
        classes
    }

    /// Returns the number of this quantity and class, or that without a class.
    pub(crate) fn find(&self, form: QuantityForm, class: Option<&str>) -> Option<Entry<'a>> {
        self.exactly(form, class).or_else(|| self.exactly(form, None))
    }

    /// Returns the number of this quantity and just this class.
    pub(super) fn exactly(&self, form: QuantityForm, class: Option<&str>) -> Option<Entry<'a>> {
        self.per(form, None, class)
    }

    /// Returns the number of a quantity divided by another one.
    pub(super) fn per(
        &self,
        form: QuantityForm,
        per: Option<&str>,
        class: Option<&str>,
    ) -> Option<Entry<'a>> {
        let fits = |entry: &&Entry<'a>| {
            entry.column.quantity == PublishedQuantity::Of(form)
                && entry.column.per.as_deref() == per
                && entry.class == class
        };
        self.entries.iter().find(fits).copied()
    }

    /// Returns all numbers of a quantity that are not divided by anything.
    pub(crate) fn every(&self, form: QuantityForm) -> impl Iterator<Item = Entry<'a>> {
        let fits = move |entry: &&Entry<'a>| {
            entry.column.quantity == PublishedQuantity::Of(form) && entry.column.per.is_none()
        };
        self.entries.iter().filter(fits).copied()
    }

    /// Returns whether the table has a column of this quantity for a class or for all, with a number in it or not.
    pub(super) fn declares(&self, form: QuantityForm, class: Option<&str>) -> bool {
        let given = self.table.given.iter().map(|(column, _)| column);
        self.table.columns.iter().chain(given).any(|column| {
            let own = column.class.as_deref().or(self.table.class.as_deref());
            column.quantity == PublishedQuantity::Of(form) && (own.is_none() || own == class)
        })
    }

    /// Returns the name of the row in findings: the title of its table, and its key.
    pub(super) fn place(&self) -> String {
        let key = self.table.row_key(self.index);
        if key.is_empty() {
            self.table.title.clone()
        } else {
            format!("{}, {}", self.table.title, key.join(", "))
        }
    }
}

impl Entry<'_> {
    pub(super) fn range(&self) -> ValueRange {
        ValueRange::of(self.number)
    }

    /// Returns name and number for findings: `rate` 285.12 /s.
    pub(super) fn shown(&self) -> String {
        format!("`{}` {}", self.column.name, self.written())
    }

    /// Returns the number as printed, with its unit.
    pub(crate) fn written(&self) -> String {
        with_unit(&self.number.text, &self.number.unit)
    }

    /// Returns a value in base units as it would be printed here.
    pub(super) fn in_its_unit(&self, value: f64) -> String {
        with_unit(&digits(value / self.number.scale), &self.number.unit)
    }
}
