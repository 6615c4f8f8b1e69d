//! From the text of a published report to the report, or to everything that is wrong with it.

use std::collections::HashSet;

use super::expression::{Expression, Reference, Statement};
use super::part::{read_record, read_table};
use super::{
    Annotation, AnnotationKind, CalendarDate, Claim, PUBLISHED_FORMAT, PublishedReport, PublishedTable,
};
use crate::diagnostics::{Diagnostics, nearest};
use crate::reader::{Fault, Table, id, line, list, one_of, read_toml, text, whole_u32};

impl PublishedReport {
    /// Reads a published report; `file_name` is what messages call the text.
    ///
    /// # Errors
    /// Everything that is wrong, as far as it can be found at once: syntax, unknown and missing keys, cells that
    /// are no values of their columns, expressions that name what is not there.
    pub fn parse(file_name: &str, text: &str) -> Result<PublishedReport, Diagnostics> {
        read_toml("a published report", file_name, text, read_report)
    }
}

/// Every key is read before the first `?`, so that all mistakes are found; `None` means that one was reported.
fn read_report(mut top: Table) -> Option<PublishedReport> {
    let format = top.required("format", whole_u32(PUBLISHED_FORMAT..=PUBLISHED_FORMAT));
    let head = top.required_table("report").map(read_head);
    let records = top.optional_tables("record").unwrap_or_default();
    let tables = top.optional_tables("table").unwrap_or_default();
    let claims = top.optional_tables("claim").unwrap_or_default();
    let annotations = top.optional_tables("annotation").unwrap_or_default();
    top.finish();
    let mut read = Vec::new();
    for table in records.into_iter() {
        read.push(read_part(table, read_record));
    }
    for table in tables {
        read.push(read_part(table, read_table));
    }
    check_ids(&read);
    let places: Vec<&PublishedTable> = read.iter().filter_map(|part| part.read.as_ref()).collect();
    read.iter().for_each(|part| check_references(part, &places));
    let claims: Vec<Option<Claim>> = claims.into_iter().map(|table| read_claim(table, &places)).collect();
    let annotations: Vec<Option<Annotation>> = annotations.into_iter().map(read_annotation).collect();
    let tables = read.into_iter().map(|part| part.read).collect::<Option<Vec<_>>>();
    format?;
    let (title, publisher, published, note) = head??;
    Some(PublishedReport {
        title,
        publisher,
        published,
        note,
        tables: tables?,
        claims: claims.into_iter().collect::<Option<_>>()?,
        annotations: annotations.into_iter().collect::<Option<_>>()?,
    })
}

/// A record or table, and where to report what is wrong with it as a whole.
struct Part<'a> {
    table: Table<'a>,
    read: Option<PublishedTable>,
}

fn read_part<'a>(mut table: Table<'a>, read: fn(&mut Table<'a>) -> Option<PublishedTable>) -> Part<'a> {
    let read = read(&mut table);
    table.report_unknown();
    Part { table, read }
}

type Head = (String, String, CalendarDate, Option<String>);

fn read_head(mut table: Table) -> Option<Head> {
    let title = table.required("title", line);
    let publisher = table.required("publisher", line);
    let published = table.required("published", |value| {
        let written = text(value)?;
        let fault = || {
            Fault::new(format!("expected a date, found `{written}`"))
                .hint("write `\"1996-09-09\"`, `\"1996-09\"` or `\"1996\"`")
        };
        CalendarDate::parse(&written).ok_or_else(fault)
    });
    let note = table.optional("note", text);
    table.finish();
    Some((title?, publisher?, published?, note))
}

fn check_ids(parts: &[Part]) {
    let mut seen = HashSet::new();
    for part in parts {
        if let Some(read) = &part.read
            && !seen.insert(read.id.as_str())
        {
            part.table
                .reject("id", Fault::new(format!("`{}` is the id of another record or table", read.id)));
        }
    }
}

/// Reports expressions of columns that name what is not there.
fn check_references(part: &Part, places: &[&PublishedTable]) {
    let Some(read) = &part.read else { return };
    let columns = read.columns.iter().chain(read.given.iter().map(|(column, _)| column));
    for expression in columns.flat_map(|column| column.equals.iter().chain(&column.within)) {
        if let Some(fault) = unresolved(expression, Some(read), places) {
            part.table.reject("id", fault);
        }
    }
}

/// Returns what is wrong with the first reference that leads nowhere.
fn unresolved(
    expression: &Expression,
    own: Option<&PublishedTable>,
    places: &[&PublishedTable],
) -> Option<Fault> {
    let mut first = None;
    expression.references(&mut |reference| {
        if first.is_none() {
            first = objection(reference, own, places);
        }
    });
    first
}

fn objection(
    reference: &Reference,
    own: Option<&PublishedTable>,
    places: &[&PublishedTable],
) -> Option<Fault> {
    let table = match &reference.table {
        Some(name) => match places.iter().find(|table| table.id == *name) {
            Some(table) => *table,
            None => {
                let near = nearest(name, places.iter().map(|table| table.id.as_str()));
                return Some(suggested(format!("there is no record or table `{name}`"), near));
            }
        },
        None => match own {
            Some(table) => table,
            None => {
                let name = &reference.column;
                return Some(Fault::new(format!("expected `table.{name}`, found `{name}` without a table")));
            }
        },
    };
    let ids =
        || table.columns.iter().chain(table.given.iter().map(|(column, _)| column)).map(|c| c.id.as_str());
    if !ids().any(|id| id == reference.column) {
        let near = nearest(&reference.column, ids());
        return Some(suggested(format!("`{}` has no figure `{}`", table.id, reference.column), near));
    }
    let key = reference.key.as_ref()?;
    let is_row = |row: usize| table.row_key(row) == *key;
    (!(0..table.rows.len()).any(is_row))
        .then(|| Fault::new(format!("`{}` has no row `{}`", table.id, key.join(", "))))
}

fn suggested(label: String, near: Option<&str>) -> Fault {
    match near {
        Some(near) => Fault::new(label).hint(format!("did you mean `{near}`?")),
        None => Fault::new(label),
    }
}

fn read_claim(mut table: Table, places: &[&PublishedTable]) -> Option<Claim> {
    let claim_id = table.required("id", id);
    let at = table.optional("at", line);
    let words = table.required("text", line);
    let says = table.required(
        "says",
        list(|value| {
            let written = text(value)?;
            let comparison =
                Statement::parse(&written).map_err(|error| Fault::new(format!("`{written}`: {error}")))?;
            let faults = [&comparison.left, &comparison.right].map(|side| unresolved(side, None, places));
            match faults.into_iter().flatten().next() {
                Some(fault) => Err(fault),
                None => Ok(comparison),
            }
        }),
    );
    let basis = table.optional("basis", line);
    table.finish();
    Some(Claim { id: claim_id?, at, text: words?, says: says?, basis })
}

fn read_annotation(mut table: Table) -> Option<Annotation> {
    let at = table.optional("at", line);
    let words = table.required("text", text);
    let kind = table.required("kind", one_of(&AnnotationKind::NAMES));
    table.finish();
    Some(Annotation { at, text: words?, kind: kind? })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::published::{Order, PublishedValue};
    use proptest::prelude::*;

    const EVERY_KEY: &str = include_str!("every_key.toml");

    fn problem(piece: &str, replacement: &str) -> String {
        assert!(EVERY_KEY.contains(piece), "{piece}");
        let text = EVERY_KEY.replacen(piece, replacement, 1);
        let diagnostics = PublishedReport::parse("my.toml", &text).expect_err(replacement);
        let first = &diagnostics.problems[0];
        let hint = first.hint.as_deref().map_or(String::new(), |hint| format!(" ({hint})"));
        format!("{}: {}{hint}", first.message, first.label)
    }

    #[test]
    fn every_key_is_read() {
        let report = PublishedReport::parse("my.toml", EVERY_KEY).unwrap();
        assert_eq!((report.title.as_str(), report.published.year), ("A report", 1996));
        let ids: Vec<&str> = report.tables.iter().map(|table| table.id.as_str()).collect();
        assert_eq!(ids, ["disks", "web"]);
        let disks = &report.tables[0];
        assert!(disks.key.is_empty());
        assert_eq!(disks.rows.len(), 1);
        assert_eq!(disks.columns[1].name, "Reads");
        assert_eq!(disks.columns[1].class.as_deref(), Some("read"));
        let reads = disks.rows[0][1].value.number().unwrap();
        assert_eq!((reads.value, reads.half), (7666.0, 0.5));
        assert_eq!(disks.rows[0][1].also[0].0, "summary");
        let web = &report.tables[1];
        assert!(web.is_paced);
        assert_eq!(web.key, [0]);
        assert_eq!(web.columns[0].levels, [10.0, 20.0]);
        assert_eq!(web.columns[0].order, Some(Order::Rising));
        assert_eq!(web.rows[1][1].value, PublishedValue::Absent);
        assert_eq!(web.given[0].1.value.number().unwrap().value, 600.0);
        assert_eq!(web.row_key(1), ["20"]);
        assert_eq!(report.claims[0].says.len(), 2);
        assert_eq!(report.annotations[0].kind, AnnotationKind::Misprint);
    }

    #[test]
    fn mistakes_are_named_with_what_to_write() {
        let problems = [
            ("is = \"rate\", class", "is = \"rates\", class"),
            ("value = \"7,666 /s\"", "value = \"7,666 KiB\""),
            ("20 | NA | 38 %", "20 | NA"),
            ("20 | NA | 38 %", "20 | ten | 38 %"),
            ("disks.reads > 1", "disk.reads > 1"),
            ("disks.reads > 1", "disks.raeds > 1"),
            ("disks.reads > 1", "web[30].clients > 1"),
            ("disks.reads > 1", "disks.reads"),
            ("equals = \"queue\"", "equals = \"queu\""),
            ("kind = \"misprint\"", "kind = \"slip\""),
            ("id = \"web\"", "id = \"disks\""),
            ("key = [\"clients\"]", "key = [\"client\"]"),
            ("published = \"1996-09-09\"", "published = \"9.9.96\""),
            ("paced = true", "placed = true"),
            ("by = [\"clients\"]", "by = [\"client\"]"),
        ]
        .map(|(piece, slip)| problem(piece, slip));
        insta::assert_snapshot!(problems.join("\n"), @r#"
        `record.figures.is` is not valid: there is no quantity `rates` (did you mean `rate`?)
        `record.figures.value` is not valid: `7,666 KiB` is no value of `rate`, whose unit is one like /s
        `table.rows` is not valid: row 2: expected 3 cells, found 2: `20 | NA`
        `table.rows` is not valid: row 2, `rate`: expected a number, found `ten`
        `claim.says` is not valid: there is no record or table `disk` (did you mean `disks`?)
        `claim.says` is not valid: `disks` has no figure `raeds` (did you mean `reads`?)
        `claim.says` is not valid: `web` has no row `30`
        `claim.says` is not valid: `disks.reads`: expected `=`, `<`, `<=`, `>` or `>=`, found the end
        `record.id` is not valid: `disks` has no figure `queu` (did you mean `queue`?)
        `annotation.kind` is not valid: expected `misprint` or `date` or `disclosure` or `attribution` or `remark`, found `slip`
        `table.id` is not valid: `disks` is the id of another record or table
        `table.key` is not valid: expected ids of columns, found `client`
        `report.published` is not valid: expected a date, found `9.9.96` (write `"1996-09-09"`, `"1996-09"` or `"1996"`)
        unknown key `placed` in `table`: not a key of a published report (did you mean `paced`?)
        `table.columns` is not valid: `by` names `client`, which is no column
        "#);
    }

    proptest! {
        #[test]
        fn any_text_is_answered(text: String) {
            let _ = PublishedReport::parse("x.toml", &text);
        }

        #[test]
        fn any_change_of_a_character_is_answered(at in 0..EVERY_KEY.len(), c in proptest::char::any()) {
            let at = EVERY_KEY.floor_char_boundary(at);
            let text: String = EVERY_KEY[..at].chars().chain([c]).chain(EVERY_KEY[at..].chars().skip(1)).collect();
            let _ = PublishedReport::parse("x.toml", &text);
        }
    }
}
