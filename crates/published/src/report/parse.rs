//! The parser of published reports: a report, or everything that is wrong with its text.

use std::collections::HashSet;

use languages::reader::{TomlTable, ValueError, read_toml, toml_schema};
use languages::spec::{ValueSpec, choice, id, line, text, whole_u32};
use languages::{Diagnostics, nearest};
use serde_json::Value;

use super::check::{ExpressionCheckError, ExpressionScope};
use super::expression::{Expression, Reference, Statement};
use super::part::{ReadPart, read_record, read_table};
use super::{
    Annotation, CalendarDate, Claim, PUBLISHED_FORMAT, PublishedColumn, PublishedReport, PublishedTable,
    Repeat,
};

impl PublishedReport {
    /// Reads a published report; `file_name` is what messages call the text.
    ///
    /// # Errors
    ///
    /// Everything that is wrong, as far as it can be found at once: syntax, unknown and missing keys, cells that
    /// are no values of their columns, rows with the same key, expressions that name what is not there or cannot be
    /// computed, comparisons of different units.
    pub fn parse(file_name: &str, text: &str) -> Result<PublishedReport, Diagnostics> {
        read_toml("a published report", file_name, text, read_report)
    }
}

/// Returns the JSON Schema (2020-12) of published reports.
pub fn published_schema() -> Value {
    toml_schema("Plimsoll published report", read_report)
}

/// Every key is read before the first `?`, so that all mistakes are found; `None` means that one was reported.
fn read_report(mut top: TomlTable) -> Option<PublishedReport> {
    top.describe("Report", "A published report that `plimsoll audit` checks.");
    let formats = whole_u32(PUBLISHED_FORMAT..=PUBLISHED_FORMAT);
    let format = top.required("format", "The version of this language: 1.", formats);
    let head = top.required_table("report", "The head of the report.").map(read_head);
    let records = top.optional_tables("record", "Figures that belong together.").unwrap_or_default();
    let tables = top.optional_tables("table", "Rows of the same figures.").unwrap_or_default();
    let claims =
        top.optional_tables("claim", "The statements of the text about the numbers.").unwrap_or_default();
    let annotations = top.optional_tables("annotation", "Remarks that no law implies.").unwrap_or_default();
    top.finish();
    let records = records.into_iter().map(|table| read_part(table, read_record));
    let mut read: Vec<Part> = records.collect();
    read.extend(tables.into_iter().map(|table| read_part(table, read_table)));
    check_ids(&read);
    let table_index = TableIndex::of(&read);
    read.iter().for_each(|part| check_references(part, &table_index));
    let claims: Vec<Option<Claim>> =
        claims.into_iter().map(|table| read_claim(table, &table_index)).collect();
    let annotations: Vec<Option<Annotation>> = annotations.into_iter().map(read_annotation).collect();
    let repeats: Vec<Vec<Repeat>> = read.iter().map(|part| complete_repeats(part, &table_index)).collect();
    let with_repeats =
        |(part, repeats): (Part, Vec<Repeat>)| Some(PublishedTable { repeats, ..part.read?.table });
    let tables = read.into_iter().zip(repeats).map(with_repeats).collect::<Option<Vec<_>>>();
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

/// A record or table, with its TOML table for reports of mistakes.
struct Part<'a> {
    table: TomlTable<'a>,
    read: Option<ReadPart>,
}

/// Records and tables, as far as they could be read.
struct TableIndex<'a> {
    tables: Vec<&'a PublishedTable>,
    /// Ids of the incomplete ones.
    partial: HashSet<&'a str>,
    /// Whether one has no id, so that an unknown id may mean it.
    lacks_some: bool,
}

impl<'a> TableIndex<'a> {
    fn of(parts: &'a [Part]) -> TableIndex<'a> {
        let read = || parts.iter().filter_map(|part| part.read.as_ref());
        TableIndex {
            tables: read().map(|read| &read.table).collect(),
            partial: read().filter(|read| read.is_partial).map(|read| read.table.id.as_str()).collect(),
            lacks_some: parts.iter().any(|part| part.read.is_none()),
        }
    }

    /// Returns a table by its id; `None` if it may be one without an id, and an error if it cannot be.
    fn find(&self, name: &str) -> Result<Option<&'a PublishedTable>, ValueError> {
        match self.tables.iter().find(|table| table.id == name) {
            Some(table) => Ok(Some(table)),
            None if self.lacks_some => Ok(None),
            None => {
                let near = nearest(name, self.tables.iter().map(|table| table.id.as_str()));
                Err(suggested(format!("there is no record or table `{name}`"), near))
            }
        }
    }

    fn scope<'s>(&'s self, own: Option<(&'s PublishedTable, usize)>) -> ExpressionScope<'s> {
        ExpressionScope { tables: &self.tables, own }
    }

    /// Returns whether an expression refers to an incomplete table, so that it cannot be checked.
    fn lacks(&self, expression: &Expression) -> bool {
        let mut lacks = false;
        expression.references(&mut |reference| {
            let name = reference.table.as_deref();
            lacks |= name.is_some_and(|name| self.partial.contains(name) || !self.has(name));
        });
        lacks
    }

    fn has(&self, name: &str) -> bool {
        self.tables.iter().any(|table| table.id == name)
    }
}

fn read_part<'a>(mut table: TomlTable<'a>, read: fn(&mut TomlTable<'a>) -> Option<ReadPart>) -> Part<'a> {
    let read = read(&mut table);
    table.report_unknown();
    Part { table, read }
}

type Head = (String, String, CalendarDate, Option<String>);

fn read_head(mut table: TomlTable) -> Option<Head> {
    table.describe("Head", "The head of a report.");
    let title = table.required("title", "The title as printed on the report.", line());
    let publisher = table.required("publisher", "The publisher.", line());
    let about = "The date of publication: a day, a month or a year, such as `1996-09-09`.";
    let published = table.required("published", about, date());
    let note = table.optional("note", "Further remarks.", text());
    table.finish();
    Some((title?, publisher?, published?, note))
}

fn date() -> ValueSpec<CalendarDate> {
    text().and_then(|written| {
        CalendarDate::parse(&written).ok_or_else(|| {
            ValueError::new(format!("expected a date, found `{written}`"))
                .hint("write `\"1996-09-09\"`, `\"1996-09\"` or `\"1996\"`")
        })
    })
}

fn check_ids(parts: &[Part]) {
    let mut seen = HashSet::new();
    for part in parts {
        if let Some(read) = &part.read
            && !seen.insert(read.table.id.as_str())
        {
            part.table.reject(
                "id",
                ValueError::new(format!("`{}` is the id of another record or table", read.table.id)),
            );
        }
    }
}

/// Reports expressions of columns that have unknown references or cannot be computed.
fn check_references(part: &Part, table_index: &TableIndex) {
    let Some(ReadPart { table: read, is_partial }) = &part.read else { return };
    let own = read.columns.iter().enumerate().map(|(index, column)| (Some(index), column));
    let given = read.given.iter().map(|(column, _)| (None, column));
    for (index, column) in own.chain(given) {
        for expression in column.equals.iter().chain(&column.within) {
            if let Some(error) = unresolved(expression, Some(read), table_index) {
                part.table.reject("id", error);
            } else if !is_partial
                && !table_index.lacks(expression)
                && let Err(error) = check_definition(read, index, column, expression, table_index)
            {
                part.table.reject("id", ValueError::new(format!("`{}`: {error}", column.id)));
            }
        }
    }
}

/// Checks a definition in every row.
fn check_definition(
    read: &PublishedTable,
    index: Option<usize>,
    column: &PublishedColumn,
    expression: &Expression,
    table_index: &TableIndex,
) -> Result<(), ExpressionCheckError> {
    match index {
        Some(index) => read.rows.iter().enumerate().try_for_each(|(row, cells)| {
            table_index.scope(Some((read, row))).check_definition(column, &cells[index], expression)
        }),
        None => {
            let cell = read.given.iter().find(|(given, _)| given.id == column.id).map(|(_, cell)| cell);
            cell.map_or(Ok(()), |cell| {
                table_index.scope(Some((read, 0))).check_definition(column, cell, expression)
            })
        }
    }
}

/// Returns the repetitions of a table, with the common columns where none are named; reports mistakes.
fn complete_repeats(part: &Part, table_index: &TableIndex) -> Vec<Repeat> {
    let Some(ReadPart { table: read, is_partial }) = &part.read else { return Vec::new() };
    let complete = |repeat: &Repeat| match complete_repeat(read, *is_partial, repeat, table_index) {
        Ok(repeat) => repeat,
        Err(error) => {
            part.table.reject("repeats", error);
            None
        }
    };
    read.repeats.iter().filter_map(complete).collect()
}

fn complete_repeat(
    read: &PublishedTable,
    is_partial: bool,
    repeat: &Repeat,
    table_index: &TableIndex,
) -> Result<Option<Repeat>, ValueError> {
    let Some(other) = table_index.find(&repeat.table)? else { return Ok(None) };
    if is_partial || table_index.partial.contains(other.id.as_str()) {
        return Ok(None);
    }
    if other.id == read.id {
        return Err(ValueError::new("a table cannot repeat itself"));
    }
    for id in read.key.iter().map(|index| &read.columns[*index].id) {
        if other.column(id).is_none() {
            return Err(ValueError::new(format!("`{}` has no column `{id}` to find rows by", other.id)));
        }
    }
    let is_key = |id: &str| read.column(id).is_some_and(|index| read.key.contains(&index));
    let columns: Vec<String> = if repeat.columns.is_empty() {
        let own = read.columns.iter().map(|column| column.id.as_str());
        own.filter(|id| !is_key(id) && other.column(id).is_some()).map(str::to_owned).collect()
    } else {
        repeat.columns.clone()
    };
    for id in &columns {
        for table in [read, other] {
            if table.column(id).is_none() {
                let near = nearest(id, table.columns.iter().map(|column| column.id.as_str()));
                return Err(suggested(format!("`{}` has no column `{id}`", table.id), near));
            }
        }
    }
    if columns.is_empty() {
        Err(ValueError::new(format!("`{}` and `{}` have no column in common", read.id, other.id)))
    } else {
        Ok(Some(Repeat { table: repeat.table.clone(), columns }))
    }
}

/// Returns the error of the first unresolved reference.
fn unresolved(
    expression: &Expression,
    own: Option<&PublishedTable>,
    table_index: &TableIndex,
) -> Option<ValueError> {
    let mut first = None;
    expression.references(&mut |reference| {
        if first.is_none() {
            first = objection(reference, own, table_index).err();
        }
    });
    first
}

fn objection(
    reference: &Reference,
    own: Option<&PublishedTable>,
    table_index: &TableIndex,
) -> Result<(), ValueError> {
    let table = match (&reference.table, own) {
        (Some(name), _) => match table_index.find(name)? {
            Some(table) => table,
            None => return Ok(()),
        },
        (None, Some(table)) => table,
        (None, None) => {
            let name = &reference.column;
            return Err(ValueError::new(format!("expected `table.{name}`, found `{name}` without a table")));
        }
    };
    // Its missing parts have been reported.
    if table_index.partial.contains(table.id.as_str()) {
        return Ok(());
    }
    let is_name = reference.table.is_some() && reference.key.is_none();
    if table.column_or_given(&reference.column).is_none()
        && !(is_name && table.name(&reference.column).is_some())
    {
        let given = table.given.iter().map(|(column, _)| column);
        let ids = table.columns.iter().chain(given).map(|column| column.id.as_str());
        let near = nearest(&reference.column, ids);
        return Err(suggested(format!("`{}` has no figure `{}`", table.id, reference.column), near));
    }
    let Some(key) = &reference.key else { return Ok(()) };
    if table.row_of(key).is_some() {
        Ok(())
    } else {
        Err(ValueError::new(format!("`{}` has no row `{}`", table.id, key.join(", "))))
    }
}

fn suggested(label: String, near: Option<&str>) -> ValueError {
    match near {
        Some(near) => ValueError::new(label).hint(format!("did you mean `{near}`?")),
        None => ValueError::new(label),
    }
}

fn read_claim(mut table: TomlTable, table_index: &TableIndex) -> Option<Claim> {
    table.describe("Claim", "A statement of the text about the numbers.");
    let claim_id = table.required("id", "The name in findings.", id());
    let at = table.optional("at", "The place in the report.", line());
    let words = table.required("text", "The statement, in our words.", line());
    let about =
        "Comparisons that must all hold: `max(web.errors) = 0`, `a.system = b.system`, `a.clock in a.title`.";
    let written = table.required("says", about, text().non_empty_list()).unwrap_or_default();
    let says = written.iter().filter_map(|written| match read_statement(written, table_index) {
        Ok(statement) => Some(statement),
        Err(error) => {
            table.reject("says", error);
            None
        }
    });
    let says = says.collect();
    let basis = table.optional("basis", "The basis of the comparisons besides the report.", line());
    table.finish();
    Some(Claim { id: claim_id?, at, text: words?, says, basis })
}

fn read_statement(written: &str, table_index: &TableIndex) -> Result<Statement, ValueError> {
    let statement =
        Statement::parse(written).map_err(|error| ValueError::new(format!("`{written}`: {error}")))?;
    let sides = [&statement.left, &statement.right];
    if let Some(error) = sides.into_iter().find_map(|side| unresolved(side, None, table_index)) {
        return Err(error);
    }
    if !sides.into_iter().any(|side| table_index.lacks(side)) {
        let checked = table_index.scope(None).check_statement(&statement);
        checked.map_err(|error| ValueError::new(format!("`{written}`: {error}")))?;
    }
    Ok(statement)
}

fn read_annotation(mut table: TomlTable) -> Option<Annotation> {
    table.describe("Annotation", "A remark that no law implies.");
    let at = table.optional("at", "The place in the report.", line());
    let words = table.required("text", "The remark, in our words.", text());
    let kind = table.required("kind", "The kind of the remark.", choice());
    table.finish();
    Some(Annotation { at, text: words?, kind: kind? })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{AnnotationKind, PublishedValue, RowOrder};
    use proptest::prelude::*;
    use std::collections::BTreeSet;
    use testkit::{is_published, keys_named, keys_read, schema_faults};

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
        assert_eq!(ids, ["disks", "summary", "web", "web-again"]);
        let disks = &report.tables[0];
        assert!(disks.key.is_empty());
        assert_eq!(disks.rows.len(), 1);
        assert_eq!(disks.columns[1].name, "Reads");
        assert_eq!(disks.columns[1].class.as_deref(), Some("read"));
        let reads = disks.rows[0][1].value.number().unwrap();
        assert_eq!((reads.value, reads.half), (7666.0, 0.5));
        assert_eq!(disks.rows[0][1].also[0].0, "summary");
        let web = &report.tables[2];
        assert!(web.is_paced);
        assert_eq!(web.key, [0]);
        assert_eq!(web.columns[0].levels, [10.0, 20.0]);
        assert_eq!(web.columns[0].order, Some(RowOrder::Rising));
        assert_eq!(web.rows[1][1].value, PublishedValue::Absent);
        assert_eq!(web.given[0].1.value.number().unwrap().value, 600.0);
        assert_eq!(web.row_key(1), ["20"]);
        assert_eq!(report.claims[0].says.len(), 3);
        let repeat = |columns: &[&str], table: &str| Repeat {
            table: table.to_owned(),
            columns: columns.iter().map(|id| (*id).to_owned()).collect(),
        };
        assert_eq!(report.tables[1].repeats, [repeat(&["users"], "disks")]);
        assert_eq!(report.tables[3].repeats, [repeat(&["rate"], "web")], "all that both tables have");
        assert_eq!(report.annotations[0].kind, AnnotationKind::Misprint);
    }

    /// Goal: a description asks for every key, in whatever case it is read.
    #[test]
    fn the_schema_names_the_keys_that_are_read_and_no_others() {
        let read = keys_read(&[EVERY_KEY], &[]);
        let mut named = keys_named(published_schema());
        named.remove("/table/given/also");
        assert_eq!(read.keys().collect::<Vec<_>>(), named.keys().collect::<Vec<_>>());
        for path in ["", "/report", "/record", "/table", "/claim", "/annotation"] {
            assert_eq!(read[path], named[path], "{path}");
        }
        for path in ["/record/figures/also", "/record/repeats"] {
            assert_eq!(read[path], named[path], "{path}");
        }
        let mut figure_keys: BTreeSet<String> =
            ["/record/figures", "/table/columns"].iter().flat_map(|path| read[*path].clone()).collect();
        assert_eq!(named["/record/figures"], figure_keys);
        figure_keys.retain(|key| key != "value" && key != "also");
        assert_eq!(named["/table/columns"], figure_keys, "columns are figures without values");
    }

    #[test]
    fn the_schema_refuses_what_the_program_refuses() {
        let faults = |text: &str| schema_faults(&published_schema(), &toml::from_str::<Value>(text).unwrap());
        assert_eq!(faults(EVERY_KEY), [""; 0]);
        for (piece, replacement) in [
            ("format = 1", "format = 2"),
            ("publisher = \"A publisher\"", ""),
            ("title = \"Disks\"", "titel = \"Disks\""),
            ("id = \"disks\"", "id = 5"),
            (", value = \"7,666 /s\", also", ", also"),
            (
                "is = \"users\", levels = \"10..20/10\", order = \"rising\"",
                "is = \"users\", order = \"rise\"",
            ),
            ("columns = [\"users\"]", "columns = []"),
            ("figures = [{ id = \"users\", is = \"users\", value = \"100\" }]", "figures = []"),
            ("says = [\"disks.reads > 1 /s\"", "says = [1"),
            ("paced = true", "paced = \"yes\""),
            ("kind = \"misprint\"", "kind = \"misprints\""),
        ] {
            assert!(EVERY_KEY.contains(piece), "{piece}");
            let text = EVERY_KEY.replacen(piece, replacement, 1);
            assert!(!faults(&text).is_empty(), "{replacement}");
            assert!(PublishedReport::parse("my.toml", &text).is_err(), "{replacement}");
        }
    }

    #[test]
    fn the_published_schema_is_the_one_of_this_program() {
        is_published("published.schema.json", published_schema());
    }

    #[test]
    fn mistakes_have_a_message_and_a_hint() {
        let problems = [
            ("is = \"rate\", class", "is = \"rates\", class"),
            ("value = \"7,666 /s\"", "value = \"7,666 KiB\""),
            ("20 | NA | 38 %", "20 | NA"),
            ("20 | NA | 38 %", "20 | ten | 38 %"),
            ("disks.reads > 1 /s", "disk.reads > 1 /s"),
            ("disks.reads > 1 /s", "disks.raeds > 1 /s"),
            ("disks.reads > 1", "web[30].clients > 1"),
            ("disks.reads > 1 /s", "disks.reads"),
            ("equals = \"queue\"", "equals = \"queu\""),
            ("kind = \"misprint\"", "kind = \"slip\""),
            ("id = \"web\"", "id = \"disks\""),
            ("key = [\"clients\"]", "key = [\"client\"]"),
            ("published = \"1996-09-09\"", "published = \"9.9.96\""),
            ("paced = true", "placed = true"),
            ("by = [\"clients\"]", "by = [\"client\"]"),
            ("20 | NA | 38 %", "10 | NA | 38 %"),
            ("table = \"web\" }", "table = \"wed\" }"),
            ("columns = [\"users\"]", "columns = [\"reads\"]"),
            ("unit = \"/s\" },\n    { id = \"busy\"", "unit = \"/sec\" },\n    { id = \"busy\""),
        ]
        .map(|(piece, slip)| problem(piece, slip));
        insta::assert_snapshot!(problems.join("\n"), @r#"
        `record.figures.is` is not valid: there is no quantity `rates` (did you mean `rate`?)
        `record.figures.value` is not valid: `7,666 KiB` is not a value of `rate`, which takes units such as /s
        `table.rows` is not valid: row 2: expected 3 cells, found 2: `20 | NA`
        `table.rows` is not valid: row 2, `rate`: expected a number, found `ten`
        `claim.says` is not valid: there is no record or table `disk` (did you mean `disks`?)
        `claim.says` is not valid: `disks` has no figure `raeds` (did you mean `reads`?)
        `claim.says` is not valid: `web` has no row `30`
        `claim.says` is not valid: `disks.reads`: expected `=`, `<`, `<=`, `>`, `>=` or `in`, found the end
        `record.id` is not valid: `disks` has no figure `queu` (did you mean `queue`?)
        `annotation.kind` is not valid: expected `misprint` or `date` or `disclosure` or `attribution` or `remark`, found `slip`
        `table.id` is not valid: `disks` is the id of another record or table
        `table.key` is not valid: expected ids of columns, found `client`
        `report.published` is not valid: expected a date, found `9.9.96` (write `"1996-09-09"`, `"1996-09"` or `"1996"`)
        unknown key `placed` in `table`: not a key of a published report (did you mean `paced`?)
        `table.columns` is not valid: `by` names `client`, which is not a column
        `table.rows` is not valid: rows 1 and 2 have the same key `10` (name in `key` the columns that distinguish rows; for repeated measurements add one, such as `run`)
        `table.repeats` is not valid: there is no record or table `wed` (did you mean `web`?)
        `record.repeats` is not valid: `summary` has no column `reads`
        `table.columns.unit` is not valid: expected a unit, found `/sec`
        "#);
    }

    /// Returns all problems of a file after a change, each with what stands beside it.
    fn problems(piece: &str, replacement: &str) -> Vec<String> {
        assert!(EVERY_KEY.contains(piece), "{piece}");
        let text = EVERY_KEY.replacen(piece, replacement, 1);
        let diagnostics = PublishedReport::parse("my.toml", &text).expect_err(replacement);
        diagnostics.problems.iter().map(|one| format!("{}: {}", one.message, one.label)).collect()
    }

    /// Reported: one refused value made its record vanish, and every claim about it was called wrong first.
    #[test]
    fn a_refused_value_is_the_only_problem() {
        for (piece, slip) in [
            ("value = \"7,666 /s\", also", "value = \"7,666 KiB\", also"),
            ("at = \"summary\", value = \"7,666 /s\"", "at = \"summary\", value = \"x\""),
            ("is = \"rate\", class", "is = \"rates\", class"),
            (
                "id = \"users\", is = \"users\", value = \"100\" },\n    {",
                "is = \"users\", value = \"100\" },\n    {",
            ),
            ("title = \"Disks\"", "title = 3"),
            ("10 | 373.63 | 20 %\n20", "10 | 373.63\n20"),
            ("10 | 373.63 | 20 %\n20", "10 | many | 20 %\n20"),
            ("unit = \"/s\" },\n    { id = \"busy\"", "unit = \"/sec\" },\n    { id = \"busy\""),
        ] {
            let problems = problems(piece, slip);
            assert_eq!(problems.len(), 1, "{slip}: {problems:#?}");
        }
        let of_rows = problems("10 | 373.63 | 20 %\n20 | NA", "10 | many | 20 %\n20 | more");
        assert_eq!(of_rows.len(), 2, "{of_rows:#?}");
        // Without an id nothing can be said of what refers to it.
        let without_id = problems("id = \"disks\"\n", "");
        assert_eq!(without_id, ["`record.id` is missing: `id` must be given here"]);
    }

    #[test]
    fn levels_may_repeat() {
        let text = EVERY_KEY.replacen("levels = \"10..20/10\"", "levels = \"4, 8, 16, 16, 20\"", 1);
        let report = PublishedReport::parse("my.toml", &text).unwrap();
        assert_eq!(report.tables[2].columns[0].levels, [4.0, 8.0, 16.0, 16.0, 20.0]);
    }

    /// Returns what is said of a claim, or nothing.
    fn claim(says: &str) -> String {
        let says = says.replace('"', "'");
        let text = EVERY_KEY.replacen("disks.reads > 1 /s", &says, 1);
        match PublishedReport::parse("my.toml", &text) {
            Ok(_) => String::new(),
            Err(diagnostics) => {
                assert_eq!(diagnostics.problems.len(), 1, "{diagnostics:?}");
                diagnostics.problems[0].label.clone()
            }
        }
    }

    /// Reported: figures of different units were compared without a word.
    #[test]
    fn claims_that_cannot_be_computed_are_mistakes_in_the_file() {
        for right in [
            "1 s = 1000 ms",
            "disks.reads = 1 /min",
            "disks.reads * 2 s = disks.queue",
            "max(web.rate) = 0",
            "sqrt(disks.reads * web.length * disks.reads * 1 s) > 1",
            "disks.reads / web.rate > 1",
            "disks.users * 1 USD = disks.price",
            "count(disks.what) = 1",
            "disks.what = 'disks'",
            "disks.title = 'Disks'",
            "disks.when = 'May 98'",
            "disks.when < '1999'",
            "disks.users in 'all 100 users'",
        ] {
            assert_eq!(claim(right), "", "{right}");
        }
        let wrong = [
            "1 s = 1 B",
            "disks.reads > 1",
            "disks.users <= 12.86 /min",
            "web.length + 1 B = 1 s",
            "max(web.rate, web.length) > 1 s",
            "disks.price < 3 EUR",
            "sqrt(1 s) = 1 s",
            "floor(1.5 s) = 1 s",
            "1 / 0 > 1",
            "disks.reads / (1 - 1) > 1 /s",
            "sqrt(0 - 1) = 1",
            "disks.what > 1",
            "disks.what + 1 = 2",
            "disks.what < 'x'",
            "disks.when = 'soon'",
            "disks.when = disks.what",
            "disks.when in 'May 98'",
            "disks.what in disks.users",
            "sqrt(web.busy) = 1",
            "web.rate = web-again.rate",
        ];
        let said: Vec<String> = wrong.iter().map(|says| claim(says)).collect();
        insta::assert_snapshot!(said.join("\n"), @r#"
        `1 s = 1 B`: a number in s cannot be compared with a number in B
        `disks.reads > 1`: a number in /s cannot be compared with a plain number
        `disks.users <= 12.86 /min`: a plain number cannot be compared with a number in /s
        `web.length + 1 B = 1 s`: a number in s and a number in B cannot be added
        `max(web.rate, web.length) > 1 s`: a number in /s and a number in s cannot be added
        `disks.price < 3 EUR`: a number in USD cannot be compared with a number in EUR
        `sqrt(1 s) = 1 s`: a number in s has no square root
        `floor(1.5 s) = 1 s`: `floor` takes a plain number, found one in s
        `1 / 0 > 1`: division by zero
        `disks.reads / (1 - 1) > 1 /s`: division by zero
        `sqrt(0 - 1) = 1`: `sqrt` of -1, which is below zero
        `disks.what > 1`: a text cannot be compared with a plain number
        `disks.what + 1 = 2`: expected numbers, found a text
        `disks.what < 'x'`: texts can be compared by `=` and `in` only
        `disks.when = 'soon'`: expected a date, found `soon`
        `disks.when = disks.what`: a date cannot be compared with a text
        `disks.when in 'May 98'`: a text cannot contain a date
        `disks.what in disks.users`: expected a text after `in`, found a plain number
        `sqrt(web.busy) = 1`: `sqrt` takes one number
        `web.rate = web-again.rate`: a list of 2 and one of 1 cannot be paired
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
