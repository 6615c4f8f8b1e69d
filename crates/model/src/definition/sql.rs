//! The table `[workload]` of a benchmark of a user's own SQL statements, and its target.

use std::collections::BTreeSet;

use languages::reader::{NamedEntry, TomlTable, ValueError, kind};
use languages::spec::{ValueSpec, flag, line, ratio, text, whole};
use languages::{credential_spans, nearest};
use serde_json::json;
use toml::de::DeValue;

use super::WorkloadDefinition;
use super::family_spec::{FamilySpec, WorkloadParts};
use super::think::read_think;
use super::web::{
    ABOUT_LIMITS, DataDefinition, Weight, count, fixed_count, kind_limits, read_data, read_values, regex,
    variable,
};
use crate::setting::sql::{SETTINGS, apply};
use crate::workload::{EXTRACTED, is_name};
use crate::{
    ChosenSetting, DatabaseProduct, ExpectedText, ExpectedValue, Parameter, RowCount, SessionValue,
    SqlStatement, SqlTransaction, SqlWorkload, TemplatePiece, ValueCount, template_pieces,
};

/// The most transactions: operation kinds are numbered with 16 bits.
const KINDS_MAX: usize = u16::MAX as usize;

/// The most statements of one transaction.
const STATEMENTS_MAX: usize = 1000;

/// The longest statement in bytes.
const SQL_BYTES_MAX: usize = 1 << 20;

/// The schemes of targets.
const SCHEMES: [&str; 4] = ["postgres", "postgresql", "mysql", "mariadb"];

/// The answers of databases of a user's own statements. A server that is started has none of the user's data.
pub(super) static SPEC: FamilySpec = FamilySpec {
    is_started: false,
    is_described: true,
    own_headline: None,
    settings: SETTINGS,
    target,
    no_use: |_| Vec::new(),
    read: |WorkloadParts { workload, protocol, target, .. }| {
        read(workload, protocol, products(target)).map(WorkloadDefinition::Sql)
    },
};

/// A workload of statements, and the data that they name.
#[derive(Debug, Clone, PartialEq)]
pub struct SqlDefinition {
    /// The workload, without data so far: their files are not read.
    pub workload: SqlWorkload,
    /// The data of users.
    pub data: Vec<DataDefinition>,
    /// The environment variable that has the password of the database, where it is not the one that the product's own
    /// clients read.
    pub password: Option<String>,
}

/// URLs of running databases.
fn target() -> ValueSpec<String> {
    line().and_then(|written| {
        let hint = "write `postgres://USER@HOST:PORT/DATABASE` or `mysql://USER@HOST:PORT/DATABASE`";
        let (scheme, rest) = written.split_once("://").unwrap_or(("", &written));
        if !SCHEMES.iter().any(|known| known.eq_ignore_ascii_case(scheme)) {
            return Err(ValueError::new("expected the URL of a database").hint(hint));
        }
        // A text before `@` may be a password, so the error does not repeat the URL.
        match rest.split_once('@') {
            Some((user, _)) if user.contains(':') => Err(ValueError::new("a definition has no password")
                .hint("set it by `PGPASSWORD`, `~/.pgpass` or the file in `PGPASSFILE`, for MariaDB by `MYSQL_PWD`")),
            _ => Ok(written),
        }
    })
}

/// Returns the products that read the statements: that of the target, or any.
fn products(target: Option<&str>) -> &'static [DatabaseProduct] {
    let scheme = target.and_then(|target| target.split_once("://"));
    match scheme.map(|(scheme, _)| scheme.to_ascii_lowercase()).as_deref() {
        Some("postgres" | "postgresql") => &[DatabaseProduct::PostgreSql],
        Some("mysql" | "mariadb") => &[DatabaseProduct::MariaDb],
        _ => &DatabaseProduct::ALL,
    }
}

/// Reads `[workload]`; `protocol` is the settings of `[protocol]`. Statements are for one of `products`.
fn read(
    workload: Option<TomlTable>,
    protocol: Option<&[ChosenSetting]>,
    products: &'static [DatabaseProduct],
) -> Option<SqlDefinition> {
    let workload = workload.and_then(|table| read_workload(table, products));
    let settings = protocol?;
    let mut definition = workload?;
    for setting in settings {
        apply(&mut definition.workload, setting.setting.name, setting.value());
    }
    Some(definition)
}

fn read_workload(mut table: TomlTable, products: &[DatabaseProduct]) -> Option<SqlDefinition> {
    table.describe("SqlWorkload", "The workload of a database: transactions of a user's own statements.");
    let tables = table.required_tables("transactions", "The kinds of transactions.");
    let think = read_think(&mut table, "The pause of users after each transaction; if absent: `none`.");
    let about = "The source of the password of the database; if absent: the variables that the product's own clients \
                 read.";
    let password = table.optional_table("password", about).and_then(read_password);
    let about = "Data of users, by their names: files whose columns stand in statements as `{NAME.COLUMN}`.";
    let mut data = read_data(&mut table, about);
    let transactions = tables.and_then(|tables| read_transactions(tables, products, &mut data));
    for name in data.iter().filter(|data| data.columns.is_empty()).map(|data| data.name.clone()) {
        if !table.has_mistake() {
            let error = ValueError::new(format!("no statement uses `{name}`"));
            let hint = format!("write `{{{name}.COLUMN}}` where a value belongs, without quotes");
            table.reject_inner(&["data", &name], error.hint(hint));
        }
    }
    table.finish();
    let workload = SqlWorkload {
        transactions: transactions?,
        think,
        data: Vec::new(),
        allows_writes: false,
        is_encrypted: false,
    };
    Some(SqlDefinition { workload, data, password })
}

/// Reads `{ env = "SHOP_PASSWORD" }`.
fn read_password(mut table: TomlTable) -> Option<String> {
    table.describe("Password", "The source of a password, which is never stored.");
    let name = table.required("env", "The environment variable that has it when a run begins.", variable());
    table.finish();
    name
}

fn read_transactions(
    mut tables: Vec<TomlTable>,
    products: &[DatabaseProduct],
    data: &mut [DataDefinition],
) -> Option<Vec<SqlTransaction>> {
    if let Some(table) = tables.get(KINDS_MAX) {
        table.reject_all(ValueError::new(format!("more than {KINDS_MAX} transactions")));
    }
    let mut names = BTreeSet::new();
    // All are read before the first wrong one ends it.
    let read: Vec<_> =
        tables.iter_mut().map(|table| read_transaction(table, products, &mut names, data)).collect();
    let read: Option<Vec<(SqlTransaction, Weight)>> = read.into_iter().collect();
    let weighed = read.and_then(|read| {
        let (transactions, weights): (Vec<SqlTransaction>, Vec<Weight>) = read.into_iter().unzip();
        let Some(weights) = Weight::whole(&weights, 1) else {
            let error = ValueError::new("the sum of all weights is too large");
            tables.first()?.reject("weight", error.hint("write weights with fewer digits"));
            return None;
        };
        let with = |(transaction, weight)| SqlTransaction { weight, ..transaction };
        Some(transactions.into_iter().zip(weights).map(with).collect())
    });
    tables.into_iter().for_each(TomlTable::finish);
    weighed
}

/// Reads a transaction, as yet without its weight, and notes the columns of `data` that it uses.
fn read_transaction(
    table: &mut TomlTable,
    products: &[DatabaseProduct],
    names: &mut BTreeSet<String>,
    data: &mut [DataDefinition],
) -> Option<(SqlTransaction, Weight)> {
    table.describe("SqlTransaction", "A kind of transaction.");
    let name = table.required("name", "The name in reports; names are all different.", line());
    let about = "Its share of all transactions is this divided by the sum of all weights.";
    let weight = table.required("weight", about, Weight::spec());
    let about = "Whether the statements stand between `BEGIN` and `COMMIT`; if absent: `false`.";
    let is_atomic = table.optional("atomic", about, flag()).unwrap_or(false);
    let about = "The statements, in the order in which they are executed.";
    let statements = table.required_tables("statements", about);
    table.describe_rule("statements", "maxItems", STATEMENTS_MAX);
    let about = "The values in the statements, by their names; each is drawn once for the whole transaction.";
    let parameters = table.optional_table("parameters", about).map(read_parameters).unwrap_or_default();
    let about = "Relative deviation of its share of all transactions above which a load point is not valid.";
    let share_gap_max = table.optional("share-gap-max", about, ratio());
    let limits = table.optional("limits", ABOUT_LIMITS, kind_limits()).unwrap_or_default();
    if let Some(name) = name.as_ref().filter(|name| !names.insert((*name).clone())) {
        table.reject("name", ValueError::new(format!("another transaction is called `{name}`")));
    }
    let statements = statements.and_then(|tables| read_statements(tables, products, &parameters, data));
    let statements = statements?;
    let is_unused = |parameter: &&Parameter| !statements.iter().any(|one| uses(one, products, parameter));
    for parameter in parameters.iter().filter(is_unused) {
        let error = ValueError::new(format!("no statement has `{{{}}}`", parameter.name));
        let hint =
            "write it in place of a value, without quotes: values are sent separately from the statement";
        table.reject_inner(&["parameters", &parameter.name], error.hint(hint));
    }
    let transaction =
        SqlTransaction { name: name?, weight: 0, is_atomic, statements, parameters, share_gap_max, limits };
    Some((transaction, weight?))
}

/// Returns whether a statement has the value of a parameter, as one of the products reads it.
fn uses(statement: &SqlStatement, products: &[DatabaseProduct], parameter: &Parameter) -> bool {
    let is_it = |piece: &TemplatePiece| matches!(piece, TemplatePiece::Parameter { name, .. } if *name == parameter.name);
    products.iter().any(|product| statement.pieces(*product).iter().any(is_it))
}

fn read_parameters(mut table: TomlTable) -> Vec<Parameter> {
    let inner = table.named_tables();
    table.finish();
    let read = |(name, mut table): (&str, TomlTable)| {
        if !is_name(name) {
            let error = ValueError::new(format!("`{name}` cannot be the name of a parameter"));
            table.reject_all(error.hint("use letters, digits, `-` and `_`"));
        }
        table.describe("SqlParameter", "A value that varies: either `count` numbers, or `values`.");
        let parameter = read_values(name, &mut table, count().described_as(fixed_count()));
        if parameter.as_ref().is_some_and(|parameter| matches!(parameter.count, ValueCount::SquareRoot(_))) {
            table.reject("count", ValueError::new("the values of statements do not grow with the load"));
        }
        table.finish();
        parameter
    };
    inner.into_iter().filter_map(read).collect()
}

fn read_statements(
    mut tables: Vec<TomlTable>,
    products: &[DatabaseProduct],
    parameters: &[Parameter],
    data: &mut [DataDefinition],
) -> Option<Vec<SqlStatement>> {
    if let Some(table) = tables.get(STATEMENTS_MAX) {
        table.reject_all(ValueError::new(format!("more than {STATEMENTS_MAX} statements")));
    }
    let read: Vec<_> =
        tables.iter_mut().map(|table| read_statement(table, products, parameters, data)).collect();
    tables.into_iter().for_each(TomlTable::finish);
    read.into_iter().collect()
}

fn read_statement(
    table: &mut TomlTable,
    products: &[DatabaseProduct],
    parameters: &[Parameter],
    data: &mut [DataDefinition],
) -> Option<SqlStatement> {
    table.describe("SqlStatement", "A statement.");
    let about = "The text; `{id}` stands for the value of the parameter `id`, `{users.name}` for a column of data. \
                 Values are sent beside the statement, which is prepared once; within quotes and comments, braces are \
                 text.";
    let sql = table.required("sql", about, sql());
    let rows = read_rows(table);
    let about = "The values that each of its rows must have, by the names of columns.";
    let expect = table.optional_table("expect", about).map(read_expected).unwrap_or_default();
    let statement = SqlStatement { sql: sql?, rows, expect, line: table.line_of("sql") };
    if !credential_spans(&statement.sql).is_empty() {
        let error = ValueError::new("something here looks like a credential, and would be stored");
        table.reject("sql", error.hint("take it from data: `{users.password}`"));
    }
    let of = |product: &DatabaseProduct| placeholders(&statement, *product, parameters, data);
    // Of several products it has to be right for one.
    let found = products.iter().map(of).min_by_key(|found| found.mistakes.len())?;
    for mistake in found.mistakes {
        table.reject("sql", mistake);
    }
    for (index, column) in found.columns {
        data[index].columns.push((column, table.span_of("sql")));
    }
    Some(statement)
}

/// Reads the expected values of columns: a text or a number each, or `{ regex = '…' }`.
fn read_expected(mut table: TomlTable) -> Vec<ExpectedValue> {
    let mut expected = Vec::new();
    let literal = expected_text();
    for (column, _, entry) in table.named_entries(&literal) {
        let value = match entry {
            NamedEntry::Table(mut inner) => {
                inner.describe("ExpectedRegex", "A regular expression that a value must match.");
                let about = "It is matched in linear time, anywhere in the value.";
                let pattern = inner.required("regex", about, regex());
                inner.finish();
                pattern.map(ExpectedText::Regex)
            }
            NamedEntry::Value(value) => literal.read(value).map_err(|error| table.reject(column, error)).ok(),
        };
        expected.extend(value.map(|value| ExpectedValue { column: column.to_owned(), value }));
    }
    table.finish();
    expected
}

/// Values as the product's own client prints them: texts, or whole numbers.
fn expected_text() -> ValueSpec<ExpectedText> {
    let read = |value: &DeValue| match value {
        DeValue::String(text) => Ok(ExpectedText::Is(text.to_string())),
        DeValue::Integer(number) => Ok(ExpectedText::Is(number.to_string())),
        other => {
            let error =
                format!("expected a text, a whole number or `{{ regex = '…' }}`, found {}", kind(other));
            let hint = "write the value as a text, as the database's own client prints it";
            Err(ValueError::new(error).hint(hint))
        }
    };
    ValueSpec::new(|| json!({ "type": ["string", "integer"] }), read)
}

/// The placeholders of a statement.
#[derive(Default)]
struct Placeholders {
    /// Those that stand for nothing, or for nothing that a statement can have.
    mistakes: Vec<ValueError>,
    /// The columns of data, by the index of the data.
    columns: Vec<(usize, String)>,
}

/// Finds the placeholders of a statement, as a product reads it.
fn placeholders(
    statement: &SqlStatement,
    product: DatabaseProduct,
    parameters: &[Parameter],
    data: &[DataDefinition],
) -> Placeholders {
    let mut found = Placeholders::default();
    let mut at = 0;
    for (written, piece) in template_pieces(&statement.sql).into_iter().zip(statement.pieces(product)) {
        let span = at..at + piece.to_string().len();
        at = span.end;
        let is_known = match written {
            TemplatePiece::Text(_) => false,
            TemplatePiece::Parameter { name, .. } => parameters.iter().any(|known| known.name == name),
            TemplatePiece::Session(SessionValue::Column { data: name, .. }) => {
                data.iter().any(|known| known.name == name)
            }
            TemplatePiece::Session(SessionValue::Extracted(_)) => false,
        };
        if is_known && written != piece {
            let error = format!("`{written}` within quotes or a comment is text, and not the value");
            let error = ValueError::new(error).hint(format!("write `{written}` without quotes"));
            found.mistakes.push(error.at(span));
            continue;
        }
        match column_of(piece, parameters, data) {
            Ok(column) => found.columns.extend(column),
            Err(error) => found.mistakes.push(error.at(span)),
        }
    }
    found
}

/// Returns the column of data that a placeholder stands for, with the index of the data; `None` of one that stands for a
/// parameter, and of text.
///
/// # Errors
/// It stands for nothing.
fn column_of(
    piece: TemplatePiece,
    parameters: &[Parameter],
    data: &[DataDefinition],
) -> Result<Option<(usize, String)>, ValueError> {
    let mistake = |label: String, hint: String| Err(ValueError::new(label).hint(hint));
    let or_known = |name: &str, known: Vec<&str>, add: String| match nearest(name, known) {
        Some(near) => format!("did you mean `{near}`?"),
        None => add,
    };
    match piece {
        TemplatePiece::Text(_) => Ok(None),
        TemplatePiece::Parameter { name, digits: 0 } => {
            if parameters.iter().any(|parameter| parameter.name == name) {
                return Ok(None);
            }
            let known = parameters.iter().map(|parameter| parameter.name.as_str()).collect();
            let add = format!("add `parameters.{name} = {{ count = 100 }}`");
            mistake(format!("`{{{name}}}` has no values"), or_known(name, known, add))
        }
        TemplatePiece::Parameter { name, .. } => mistake(
            format!("`{piece}`: a number in a statement cannot have a fixed number of digits"),
            format!("write `{{{name}}}`"),
        ),
        TemplatePiece::Session(SessionValue::Extracted(name)) => mistake(
            format!("`{{{EXTRACTED}.{name}}}`: statements take no values from results"),
            "take the value from data, or join the tables in one statement".to_owned(),
        ),
        TemplatePiece::Session(SessionValue::Column { data: name, column }) => {
            match data.iter().position(|data| data.name == name) {
                Some(index) => Ok(Some((index, column.to_owned()))),
                None => {
                    let known = data.iter().map(|data| data.name.as_str()).collect();
                    let add = format!("add `[workload.data.{name}]` with `file = \"{name}.csv\"`");
                    mistake(format!("there are no data `{name}`"), or_known(name, known, add))
                }
            }
        }
    }
}

fn sql() -> ValueSpec<String> {
    text().rule("minLength", 1).rule("maxLength", SQL_BYTES_MAX).and_then(|written| match written.len() {
        _ if written.trim().is_empty() => Err(ValueError::new("expected a statement, found nothing")),
        length if SQL_BYTES_MAX < length => {
            Err(ValueError::new(format!("expected at most {SQL_BYTES_MAX} bytes, found {length}")))
        }
        _ if written.contains('\0') => Err(ValueError::new("a statement cannot have a zero byte")),
        _ => Ok(written),
    })
}

/// Reads the expected number of rows: `rows`, or `rows-min` and `rows-max`.
fn read_rows(table: &mut TomlTable) -> Option<RowCount> {
    let mut number = |key, about| table.optional(key, about, whole(0..=i64::MAX as u64));
    let exact = number("rows", "The number of rows that it must return or change.");
    let least = number("rows-min", "The least number of them.");
    let most = number("rows-max", "The greatest number of them.");
    match (exact, least, most) {
        (None, None, None) => None,
        (Some(rows), None, None) => Some(RowCount { least: rows, most: rows }),
        (Some(_), _, _) => {
            let error = ValueError::new("expected either `rows` or `rows-min` and `rows-max`, found both");
            table.reject("rows", error);
            None
        }
        (None, least, most) => {
            let count = RowCount { least: least.unwrap_or(0), most: most.unwrap_or(u64::MAX) };
            if count.most < count.least {
                let error =
                    ValueError::new(format!("expected at least {}, found {}", count.least, count.most));
                table.reject("rows-max", error);
            }
            Some(count)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::definition::parse::{EVERY_SQL_KEY, problem_of};
    use crate::{Definition, ThinkTime, ValueDistribution, WorkloadDefinition};
    use units::Nanos;

    #[test]
    fn every_key_is_read() {
        let definition = Definition::parse("my.toml", EVERY_SQL_KEY).unwrap();
        assert_eq!(definition.target.as_deref(), Some("postgres://shop@127.0.0.1:5432/shop"));
        assert_eq!(definition.time_limit, Nanos::from_secs(5));
        let WorkloadDefinition::Sql(SqlDefinition { workload, data, password }) = &definition.workload else {
            panic!("of statements")
        };
        assert_eq!(workload.think, ThinkTime::Exponential(Nanos::from_millis(20)));
        assert!(workload.is_encrypted && !workload.allows_writes);
        assert_eq!(password.as_deref(), Some("SHOP_PASSWORD"));
        let [find, order] = &workload.transactions[..] else { panic!("two transactions") };
        assert_eq!((find.name.as_str(), find.weight, find.is_atomic), ("find", 25, false));
        assert_eq!((order.name.as_str(), order.weight, order.is_atomic), ("order", 10, true));
        assert_eq!((order.share_gap_max, order.limits.len()), (Some(0.05), 1));
        let id = Parameter {
            pick: ValueDistribution::Zipf(1.0),
            ..Parameter::numbers("id", 1, ValueCount::Fixed(1000))
        };
        assert_eq!(find.parameters, [id]);
        let rows: Vec<Option<RowCount>> =
            find.statements.iter().chain(&order.statements).map(|statement| statement.rows).collect();
        let count = |least, most| Some(RowCount { least, most });
        assert_eq!(rows, [count(1, 1), None, count(0, 9), count(2, u64::MAX)]);
        let lines: Vec<u32> = find.statements.iter().map(|statement| statement.line).collect();
        assert_eq!(lines.len(), 2);
        let at = |line: u32| EVERY_SQL_KEY.lines().nth(line as usize - 1).unwrap();
        assert!(at(lines[0]).contains("FROM items WHERE") && at(lines[1]).contains("FROM stock"));
        let value = |column: &str, value| ExpectedValue { column: column.to_owned(), value };
        let expect: Vec<&ExpectedValue> =
            find.statements.iter().chain(&order.statements).flat_map(|one| &one.expect).collect();
        let expected = [
            value("quantity", ExpectedText::Regex("^\\d+$".to_owned())),
            value("color", ExpectedText::Is("red".to_owned())),
            value("shop", ExpectedText::Is("7".to_owned())),
        ];
        assert_eq!(expect, expected.iter().collect::<Vec<_>>());
        assert_eq!((data[0].name.as_str(), data[0].columns[0].0.as_str()), ("users", "name"));
    }

    /// Braces in quotes are the database's own, as those of an array are.
    #[test]
    fn placeholders_stand_for_values_and_not_within_quotes() {
        let sql = "SELECT '{1}', 'it''s {a}', {a} = {b.c}".to_owned();
        let statement = SqlStatement { sql, rows: None, expect: Vec::new(), line: 1 };
        let column = SessionValue::Column { data: "b", column: "c" };
        let pieces = statement.pieces(DatabaseProduct::PostgreSql);
        let values: Vec<&TemplatePiece> =
            pieces.iter().filter(|piece| !matches!(piece, TemplatePiece::Text(_))).collect();
        let expected = [TemplatePiece::Parameter { name: "a", digits: 0 }, TemplatePiece::Session(column)];
        assert_eq!(values, expected.iter().collect::<Vec<_>>());
        assert_eq!(pieces.iter().map(TemplatePiece::to_string).collect::<String>(), statement.sql);
    }

    /// Without a target, a statement has to be right for one of the products.
    #[test]
    fn statements_are_read_as_the_product_of_the_target_reads_them() {
        let is_read = |target: &str, sql: &str| {
            let text = EVERY_SQL_KEY
                .replace("target = \"postgres://shop@127.0.0.1:5432/shop\"", target)
                .replace("\"SELECT quantity FROM stock WHERE item = {id}\"", &format!("'''{sql}'''"));
            Definition::parse("my.toml", &text).is_ok()
        };
        let targets = ["target = \"postgres://me@a/b\"", "target = \"MySQL://me@a/b\"", ""];
        for (sql, expected) in [
            ("-- it's a comment\nSELECT {id}", [true; 3]),
            ("SELECT $$it's$$, {id}", [true, false, true]),
            ("SELECT \"it\\\"s\", {id}", [false, true, true]),
            ("SELECT '{id}", [false; 3]),
            ("SELECT $${curly}$$, {id}", [true, false, true]),
        ] {
            assert_eq!(targets.map(|target| is_read(target, sql)), expected, "{sql}");
        }
    }

    #[test]
    fn mistakes_have_a_position_and_a_remedy() {
        let problem = |piece: &str, slip: &str| problem_of(EVERY_SQL_KEY, piece, slip);
        let found = [
            problem("WHERE id = {id}", "WHERE id = {ip}"),
            problem("WHERE id = {id}", "WHERE id = {id:5}"),
            problem("WHERE id = {id}", "WHERE id = '{id}'"),
            problem("name = {users.name}", "name = {user.name}"),
            problem("name = {users.name}", "name = {extract.name}"),
            problem("name = {users.name}", "name = 'a'"),
            problem("count = 1000", "count = \"sqrt(load)\""),
            problem("rows = 1 ", "rows = 1, rows-min = 0 "),
            problem("rows-max = 9", "rows-min = 10\nrows-max = 9"),
            problem("rows-max = 9", "rows-max = -1"),
            problem("quantity = { regex", "quantity = { matches"),
            problem("regex = '^\\d+$'", "regex = '('"),
            problem("shop = 7", "shop = true"),
            problem("name = \"order\"", "name = \"find\""),
            problem("weight = 2.5", "weight = 0"),
            problem("atomic = true", "atomic = 1"),
            problem("postgres://shop@", "postgres://shop:secret@"),
            problem("postgres://shop@", "http://shop@"),
        ];
        insta::assert_snapshot!(found.join("\n"));
    }
}
