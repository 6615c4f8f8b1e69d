//! The published JSON Schema of the definition language.
//!
//! The types here stand for how a value is written where the value itself has another shape in memory.

#![allow(dead_code, reason = "only the shape of these types is used")]

use std::borrow::Cow;
use std::collections::BTreeMap;

use languages::schema::without_null;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::Map;

use super::{DataFormat, FilelistSource, OpenLoopDefinition};
use crate::{
    Cookies, DefinitionKey, Family, Headline, Redirects, RowPick, RowsEnd, Setting, SettingChoice,
    SettingKind, capitalized,
};

/// Returns the JSON Schema (2020-12) of benchmark definitions.
pub fn definition_schema() -> Schema {
    without_null(schemars::schema_for!(DefinitionTable))
}

/// A benchmark as a text defines it.
#[derive(JsonSchema)]
#[schemars(title = "Plimsoll benchmark definition", description = "A benchmark that `plimsoll run` can run.")]
#[schemars(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct DefinitionTable {
    /// The version of this language: 1.
    #[schemars(range(min = 1, max = 1))]
    format: u32,
    /// The name that is typed: lower-case letters, digits, `-` and `.`.
    #[schemars(regex(pattern = r"^[a-z0-9][a-z0-9.-]{0,63}$"))]
    id: String,
    /// The version of the benchmark; rises with any change that could move a number.
    #[schemars(range(min = 1))]
    version: u32,
    /// The name for people: `WebStone 2.0.1-style`.
    #[schemars(length(min = 1, max = 500))]
    title: String,
    /// The purpose of the benchmark, in one sentence.
    #[schemars(length(min = 1, max = 500))]
    summary: String,
    /// The kind of server that it loads.
    family: Family,
    /// The figure that it is known by.
    headline: Headline,
    /// The running server that a run loads unless it names another, such as `http://127.0.0.1:8080/`.
    target: Option<String>,
    /// The requests or transactions of users, or the filelist that they are made from.
    workload: WorkloadTable,
    /// The settings of the family.
    protocol: ProtocolTable,
    /// The load points.
    load: LoadTable,
    /// The settings of an open loop, if the benchmark is one or a run asks for one. If absent: constant arrivals,
    /// 1000 in flight at most.
    #[schemars(default)]
    open_loop: OpenLoopDefinition,
    /// The phases of every load point.
    phases: PhasesText,
    /// The short form that `--quick` runs. If absent: the lowest and the highest load, each for at most 5 s, with at
    /// most 1 s of ramp-up, settle and ramp-down.
    quick: Option<QuickTable>,
    /// Limits that the verdict depends on, where they differ from the measurement rules' own.
    rules: Option<RulesText>,
}

/// A time: a number and a unit (ns, us, ms, s, min, h, d), such as `600 s`; at most 30 days.
#[derive(JsonSchema)]
#[schemars(rename = "Time")]
pub(super) struct TimeText(#[schemars(regex(pattern = r"^[0-9.]+ ?(ns|us|µs|ms|s|min|h)$"))] String);

/// Load levels: a range with a step such as `10..200/10`, a list such as `1,2,5`, or both.
#[derive(JsonSchema)]
#[schemars(rename = "LoadLevels")]
pub(super) struct LoadText(#[schemars(regex(pattern = r"^[0-9]+[0-9., /]*$"))] String);

/// The workload, in the terms of the family.
#[derive(JsonSchema)]
#[schemars(untagged, rename = "Workload")]
pub(super) enum WorkloadTable {
    Web(Box<WebWorkloadTable>),
    App(AppWorkloadTable),
    OrderEntry(OrderEntryWorkloadTable),
    Sql(SqlWorkloadTable),
}

/// The workload of order entry: it has no keys, everything is in `protocol`.
#[derive(JsonSchema)]
#[schemars(rename = "OrderEntryWorkload", deny_unknown_fields)]
pub(super) struct OrderEntryWorkloadTable {}

/// The workload of a database: transactions of a user's own statements.
#[derive(JsonSchema)]
#[schemars(rename = "SqlWorkload", rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct SqlWorkloadTable {
    /// The kinds of transactions.
    #[schemars(length(min = 1))]
    transactions: Vec<SqlTransactionTable>,
    /// The pause of users after each transaction; if absent: `none`.
    think: Option<ThinkText>,
    /// Data of users, by their names: files whose columns stand in statements as `{NAME.COLUMN}`.
    data: Option<BTreeMap<String, DataText>>,
    /// The source of the password of the database; if absent: the variables that the product's own clients read.
    password: Option<PasswordTable>,
}

/// The source of a password, which is never stored.
#[derive(JsonSchema)]
#[schemars(rename = "Password", rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct PasswordTable {
    /// The environment variable that has it when a run begins.
    #[schemars(regex(pattern = r"^[A-Za-z0-9_]{1,200}$"))]
    env: String,
}

/// A kind of transaction.
#[derive(JsonSchema)]
#[schemars(rename = "SqlTransaction", rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct SqlTransactionTable {
    /// The name in reports; names are all different.
    #[schemars(length(min = 1, max = 500))]
    name: String,
    /// Its share of all transactions is this divided by the sum of all weights.
    weight: WeightText,
    /// Whether the statements stand between `BEGIN` and `COMMIT`; if absent: `false`.
    atomic: Option<bool>,
    /// The statements, in the order in which they are executed.
    #[schemars(length(min = 1, max = 1000))]
    statements: Vec<SqlStatementTable>,
    /// The values in the statements, by their names; each is drawn once for the whole transaction.
    parameters: Option<BTreeMap<String, SqlParameterTable>>,
    /// Relative deviation of its share of all transactions above which a load point is not valid.
    share_gap_max: Option<RatioText>,
    /// Limits on its response times and errors that a valid load point keeps: `p99<50ms,errors<1%`.
    limits: Option<String>,
}

/// A statement.
#[derive(JsonSchema)]
#[schemars(rename = "SqlStatement", rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct SqlStatementTable {
    /// The text; `{id}` stands for the value of the parameter `id`, `{users.name}` for a column of data. Values are sent
    /// beside the statement, which is prepared once; within quotes and comments, braces are text.
    #[schemars(length(min = 1, max = 1_048_576))]
    sql: String,
    /// The number of rows that it must return or change.
    rows: Option<u64>,
    /// The least number of them.
    rows_min: Option<u64>,
    /// The greatest number of them.
    rows_max: Option<u64>,
    /// The values that each of its rows must have, by the names of columns.
    expect: Option<BTreeMap<String, ExpectedText>>,
}

/// A value as the product's own client prints it: a text or a whole number, or a regular expression that matches it.
#[derive(JsonSchema)]
#[schemars(rename = "ExpectedValue", untagged)]
pub(super) enum ExpectedText {
    /// The text.
    Text(String),
    /// The number.
    Number(i64),
    /// A regular expression.
    Matching(ExpectedRegex),
}

/// A regular expression that a value must match.
#[derive(JsonSchema)]
#[schemars(rename = "ExpectedRegex", rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct ExpectedRegex {
    /// It is matched in linear time, anywhere in the value.
    #[schemars(length(max = 2000))]
    regex: String,
}

/// A value that varies: either `count` numbers, or `values`.
#[derive(JsonSchema)]
#[schemars(rename = "SqlParameter", rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct SqlParameterTable {
    /// The first number; if absent: 0.
    #[schemars(range(max = 9_223_372_036_854_775_807u64))]
    from: Option<u64>,
    /// Number of values.
    #[schemars(range(min = 1, max = 9_007_199_254_740_992u64))]
    count: Option<u64>,
    /// Texts.
    #[schemars(length(min = 1))]
    values: Option<Vec<String>>,
    /// The distribution of the values; if absent: `uniform`. Others are `zipf:1.0`, `poisson:5` and `weights:3,2,1`.
    #[schemars(regex(pattern = r"^(uniform|zipf:[0-9.]+|poisson:[0-9.]+|weights:[0-9.,]+)$"))]
    pick: Option<String>,
}

/// The workload of an application server: transactions, which are those of the suite in `protocol`.
#[derive(JsonSchema)]
#[schemars(rename = "AppWorkload", rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct AppWorkloadTable {
    /// The rounds of a computation.
    #[schemars(range(max = 50_000_000))]
    rounds: u32,
    /// The lengths of messages.
    #[schemars(length(min = 1))]
    payloads: Vec<PayloadTable>,
    /// The pause of clients after each transaction; if absent: `none`.
    think: Option<ThinkText>,
}

/// A length of messages.
#[derive(JsonSchema)]
#[schemars(rename = "Payload", rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct PayloadTable {
    /// The length in bytes.
    #[schemars(range(min = 1, max = 131_072))]
    bytes: u32,
    /// Its share of all messages is this divided by the sum of all weights.
    #[schemars(range(min = 1, max = 4_294_967_295u64))]
    weight: u64,
}

/// The workload of a web server: either `filelist` or `requests`.
#[derive(JsonSchema)]
#[schemars(rename = "WebWorkload", rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct WebWorkloadTable {
    /// The files, their sizes and weights.
    filelist: Option<FilelistSource>,
    /// The kinds of requests.
    #[schemars(length(min = 1))]
    requests: Option<Vec<RequestTable>>,
    /// The pages that requests form; if absent, each request is a page of its own with its own weight.
    #[schemars(length(min = 1))]
    pages: Option<Vec<PageTable>>,
    /// Seed of the files' content, a constant of the benchmark's version; if absent: 1.
    #[schemars(range(max = 9_223_372_036_854_775_807u64))]
    content_seed: Option<u64>,
    /// Whether the benchmark counts pages besides requests; if absent: whether there are `pages`.
    counts_pages: Option<bool>,
    /// The pause of users after each page; if absent: `none`.
    think: Option<ThinkText>,
    /// The time for which users keep cookies; if absent: `none`.
    cookies: Option<Cookies>,
    /// Data of users, by their names: files whose columns stand in requests as `{NAME.COLUMN}`.
    data: Option<BTreeMap<String, DataText>>,
}

/// A file whose rows users take, one per page. Its values are never stored.
#[derive(JsonSchema)]
#[schemars(rename = "Data", rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct DataText {
    /// The file, by its path from the definition.
    #[schemars(length(min = 1, max = 500))]
    file: String,
    /// The format of the file; if absent: by the end of its name, `.csv`, `.jsonl` or `.ndjson`.
    format: Option<DataFormat>,
    /// The rows that a user takes; if absent: `sequential`.
    pick: Option<RowPick>,
    /// The end of the rows; if absent: `wrap`.
    at_end: Option<RowsEnd>,
}

/// One kind of request.
#[derive(JsonSchema)]
#[schemars(rename = "Request", rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct RequestTable {
    /// The name in reports; names are all different.
    #[schemars(length(min = 1, max = 500))]
    name: String,
    /// Its share of all pages is this divided by the sum of all weights. Only without `pages`, and then in each.
    weight: Option<WeightText>,
    /// The method; if absent: `GET`.
    #[schemars(regex(pattern = r"^[A-Z][A-Z-]{0,31}$"))]
    method: Option<String>,
    /// The path with its query; `{id}` stands for the value of the parameter `id`, `{id:5}` for five digits of it,
    /// `{users.name}` for a column of data, `{extract.token}` for a value from an earlier reply. So in headers and body.
    #[schemars(length(min = 1, max = 2000), regex(pattern = r"^/[!-~]*$"))]
    path: String,
    /// The parameters in path, headers and body, by their names.
    parameters: Option<BTreeMap<String, ParameterTable>>,
    /// Header fields besides those of the protocol. Those that look like credentials are redacted.
    headers: Option<BTreeMap<String, ValueText>>,
    /// The body that is sent; if absent: none.
    body: Option<BodyText>,
    /// Whether the path is shown although its query looks like a credential; if absent: `false`.
    disclose_path: Option<bool>,
    /// The status of the right reply, or several; if absent: 200.
    status: Option<StatusText>,
    /// The body of the right reply.
    reply: ReplyText,
    /// Whether a redirect is a reply like any other, or followed; if absent: `count`.
    redirects: Option<Redirects>,
    /// The values to take from the reply, by the names that they have in later requests: `{extract.NAME}`.
    extract: Option<BTreeMap<String, ExtractText>>,
    /// Relative deviation of its share of all requests above which a load point is not valid.
    share_gap_max: Option<RatioText>,
    /// Limits on its response times and errors that a valid load point keeps: `p99<50ms,errors<1%`.
    limits: Option<String>,
}

/// A value, or where it comes from.
#[derive(JsonSchema)]
#[schemars(rename = "Value", untagged)]
pub(super) enum ValueText {
    Literal(String),
    Elsewhere(ValueTable),
}

/// The source of a value: one of `env`, `file` and `value`. Values of `env` and `file` are never stored.
#[derive(JsonSchema)]
#[schemars(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct ValueTable {
    /// The environment variable that has the value when a run begins.
    #[schemars(regex(pattern = r"^[A-Za-z0-9_]{1,200}$"))]
    env: Option<String>,
    /// The file that has the value when a run begins, by its path from the definition; but for a body, a line break at
    /// its end does not count.
    #[schemars(length(min = 1, max = 500))]
    file: Option<String>,
    /// The text before the value of `env` or `file`, in clear: `Bearer `.
    prefix: Option<String>,
    /// The value itself.
    value: Option<String>,
    /// Whether `value` is shown in results; if absent: unless it looks like a credential.
    disclose: Option<bool>,
}

/// A body: a text, its source, or how it is made.
#[derive(JsonSchema)]
#[schemars(rename = "Body", untagged)]
pub(super) enum BodyText {
    Literal(String),
    Table(BodyTable),
}

/// A body: one of `env`, `file`, `value`, `json`, `form` and `multipart`.
#[derive(JsonSchema)]
#[schemars(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct BodyTable {
    /// The environment variable that has the body when a run begins.
    #[schemars(regex(pattern = r"^[A-Za-z0-9_]{1,200}$"))]
    env: Option<String>,
    /// The file that has the body when a run begins, by its path from the definition; it is sent as it is.
    #[schemars(length(min = 1, max = 500))]
    file: Option<String>,
    /// The text before the value of `env` or `file`, in clear.
    prefix: Option<String>,
    /// The body itself.
    value: Option<String>,
    /// Whether `value` is shown in results; if absent: unless it looks like a credential.
    disclose: Option<bool>,
    /// JSON, in which placeholders stand for numbers or for parts of strings.
    json: Option<String>,
    /// The fields of a form (`application/x-www-form-urlencoded`).
    form: Option<BTreeMap<String, String>>,
    /// The parts of a form (`multipart/form-data`).
    multipart: Option<BTreeMap<String, PartText>>,
}

/// A part of a form: a text, or a file.
#[derive(JsonSchema)]
#[schemars(rename = "Part", untagged)]
pub(super) enum PartText {
    Literal(String),
    Table(PartTable),
}

/// A part of a form with its properties.
#[derive(JsonSchema)]
#[schemars(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct PartTable {
    /// The name of the file that it stands for.
    #[schemars(length(min = 1, max = 500))]
    file_name: Option<String>,
    /// Its media type: `text/plain`.
    #[schemars(rename = "type", length(min = 1, max = 500))]
    media_type: Option<String>,
    /// Its content.
    value: String,
}

/// A status, or several that are as right.
#[derive(JsonSchema)]
#[schemars(rename = "Status", untagged)]
pub(super) enum StatusText {
    One(#[schemars(range(min = 200, max = 599))] u16),
    Several(#[schemars(length(min = 1))] Vec<u16>),
}

/// The place of a value in a reply: one of `json`, `header` and `regex`.
#[derive(JsonSchema)]
#[schemars(rename = "Extract", rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct ExtractText {
    /// A JSON pointer (RFC 6901) to a string, number or truth value of the body.
    #[schemars(regex(pattern = r"^(/.*)?$"))]
    json: Option<String>,
    /// The name of a header field.
    header: Option<String>,
    /// A regular expression; the value is its first group, or the whole match. It is matched in linear time.
    #[schemars(length(max = 2000))]
    regex: Option<String>,
    /// Whether the user keeps the value after the page; if absent: `false`.
    keep: Option<bool>,
}

/// Requests that a user makes one after another and that count as one unit.
#[derive(JsonSchema)]
#[schemars(rename = "Page", rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct PageTable {
    /// Its share of all pages is this divided by the sum of all weights.
    weight: WeightText,
    /// The names of its requests, in their order.
    #[schemars(length(min = 1, max = 1000))]
    requests: Vec<String>,
}

/// A weight above 0, with at most nine decimals.
#[derive(JsonSchema)]
#[schemars(rename = "Weight")]
pub(super) struct WeightText(#[schemars(range(max = 1_000_000_000), extend("exclusiveMinimum" = 0))] f64);

/// A part of a request that varies, either `count` numbers or `values`, or a secret, from `env` or `file`.
#[derive(JsonSchema)]
#[schemars(rename = "Parameter", rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct ParameterTable {
    /// The first number; if absent: 0.
    #[schemars(range(max = 9_223_372_036_854_775_807u64))]
    from: Option<u64>,
    /// Number of values.
    count: Option<CountText>,
    /// Texts.
    #[schemars(length(min = 1))]
    values: Option<Vec<String>>,
    /// The environment variable that has the only value when a run begins; it is never stored.
    #[schemars(regex(pattern = r"^[A-Za-z0-9_]{1,200}$"))]
    env: Option<String>,
    /// The file that has the only value when a run begins, by its path from the definition; it is never stored.
    #[schemars(length(min = 1, max = 500))]
    file: Option<String>,
    /// The text before the value of `env` or `file`, in clear.
    prefix: Option<String>,
    /// The distribution of the values; if absent: `uniform`. Others are `zipf:1.0`, `poisson:5` and `weights:3,2,1`.
    #[schemars(regex(pattern = r"^(uniform|zipf:[0-9.]+|poisson:[0-9.]+|weights:[0-9.,]+)$"))]
    pick: Option<String>,
}

/// Number of values: a constant, or `sqrt(20 * load)`, rounded up, in the first parameter of a path.
#[derive(JsonSchema)]
#[schemars(rename = "Count", untagged)]
pub(super) enum CountText {
    Fixed(#[schemars(range(min = 1, max = 9_007_199_254_740_992u64))] u64),
    Growing(#[schemars(regex(pattern = r"^sqrt\(([0-9.]+ *\* *)?load\)$"))] String),
}

/// The body of a reply.
#[derive(JsonSchema)]
#[schemars(rename = "Reply", untagged)]
pub(super) enum ReplyText {
    Word(ReplyWord),
    Known(ReplyTable),
}

/// The body of a reply.
#[derive(JsonSchema)]
#[schemars(rename_all = "kebab-case")]
pub(super) enum ReplyWord {
    /// No body.
    Empty,
    /// The body of the first reply for the same path, until the page changes; then its type, and a length that is not cut.
    Seen,
    /// The body of the first reply for the same path: it must stay the same.
    Same,
    /// Anything.
    Any,
}

/// The body of a reply: one of these.
#[derive(JsonSchema)]
#[schemars(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct ReplyTable {
    /// A file of the file set, by its size in bytes; or one size for each value of the last parameter.
    file: Option<SizesText>,
    /// A content type, `text/html`: the body may be anything.
    #[schemars(regex(pattern = r"^[^/ ;]+/[^/ ;]+$"))]
    content_type: Option<String>,
    /// Length of a generated text in letters; its seed is the parameter `seed`, or 0.
    #[schemars(range(min = 1, max = 10_485_760))]
    letters: Option<u64>,
    /// A generated HTML page of so many bytes.
    #[schemars(range(min = 64, max = 10_485_760))]
    html_letters: Option<u64>,
    /// Anything that contains this text.
    #[schemars(length(min = 1, max = 4096))]
    contains: Option<String>,
    /// JSON with these values at their places, JSON pointers (RFC 6901), and anything else.
    json: Option<BTreeMap<String, JsonText>>,
    /// The least length in bytes of anything.
    length_min: Option<SizeText>,
    /// The greatest length in bytes of anything.
    length_max: Option<SizeText>,
}

/// A value of a JSON body.
#[derive(JsonSchema)]
#[schemars(rename = "JsonValue", untagged)]
pub(super) enum JsonText {
    Text(String),
    Number(f64),
    Flag(bool),
    Any(AnyText),
}

/// Any value.
#[derive(JsonSchema)]
#[schemars(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct AnyText {
    /// Always `true`.
    any: bool,
}

/// A size in bytes, or several.
#[derive(JsonSchema)]
#[schemars(rename = "Sizes", untagged)]
pub(super) enum SizesText {
    One(SizeText),
    Several(Vec<SizeText>),
}

/// A size in bytes, at most 1 TiB.
#[derive(JsonSchema)]
#[schemars(rename = "Size")]
pub(super) struct SizeText(#[schemars(range(max = 1_099_511_627_776u64))] u64);

/// The pause of users: `none`, a time, or one that varies.
#[derive(JsonSchema)]
#[schemars(rename = "Think", untagged)]
pub(super) enum ThinkText {
    Word(ThinkWord),
    Fixed(TimeText),
    Varying(ThinkTable),
}

/// The pause of users.
#[derive(JsonSchema)]
#[schemars(rename_all = "kebab-case")]
pub(super) enum ThinkWord {
    /// None at all.
    None,
}

/// A pause that varies.
#[derive(JsonSchema)]
#[schemars(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct ThinkTable {
    /// Negative exponential with this mean, not truncated.
    exponential: TimeText,
}

/// The load points: either `users` or `rate`.
#[derive(JsonSchema)]
#[schemars(rename = "Load", rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct LoadTable {
    /// Numbers of users of a closed loop.
    users: Option<LevelsText>,
    /// Operations per second of an open loop.
    rate: Option<LevelsText>,
}

/// Levels of load: one by one, or in equal steps up to a maximum that a run may choose.
#[derive(JsonSchema)]
#[schemars(rename = "Levels", untagged)]
pub(super) enum LevelsText {
    List(LoadText),
    Steps(StepsTable),
}

/// Levels in equal steps.
#[derive(JsonSchema)]
#[schemars(rename = "Steps", rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct StepsTable {
    /// Number of levels.
    #[schemars(range(min = 1, max = 1000))]
    steps: u32,
    /// The highest level.
    max: f64,
}

/// The short form of a benchmark, for a first look. Phases that are left out are as in the full form.
#[derive(JsonSchema)]
#[schemars(rename = "Quick", rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct QuickTable {
    /// Numbers of users, if the full form has users.
    users: Option<LevelsText>,
    /// Operations per second, if the full form has a rate.
    rate: Option<LevelsText>,
    /// The pause before each load point.
    quiet: Option<TimeText>,
    /// Load rising.
    ramp_up: Option<TimeText>,
    /// Full load, not measured.
    settle: Option<TimeText>,
    /// Measured; above zero.
    steady: TimeText,
    /// Load falling.
    ramp_down: Option<TimeText>,
    /// The longest time in which operations in flight may finish afterwards.
    drain: Option<TimeText>,
    /// The settings that differ from those of the full form.
    protocol: Option<QuickProtocolTable>,
}

/// Returns the families whose settings the schema has.
fn families() -> impl Iterator<Item = Family> {
    Family::ALL.into_iter().filter(|family| !family.is_for_tests())
}

/// The settings of the family that definitions have.
pub(super) struct ProtocolTable;

impl JsonSchema for ProtocolTable {
    fn schema_name() -> Cow<'static, str> {
        "ProtocolDefinition".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let families: Vec<Schema> = families().map(|family| settings_schema(family, generator)).collect();
        json_schema!({ "description": "The settings of the family.", "anyOf": families })
    }
}

/// Settings of the family that the short form changes.
pub(super) struct QuickProtocolTable;

impl JsonSchema for QuickProtocolTable {
    fn schema_name() -> Cow<'static, str> {
        "QuickProtocol".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let quick = |family| {
            let mut schema = settings_schema(family, generator);
            // A setting that is left out is as in the full form.
            schema.remove("required");
            let properties = schema.get_mut("properties").and_then(serde_json::Value::as_object_mut);
            for setting in properties.into_iter().flat_map(Map::values_mut) {
                if let Some(schema) = setting.as_object_mut() {
                    schema.remove("default");
                }
            }
            schema
        };
        let families: Vec<Schema> = families().map(quick).collect();
        json_schema!({ "description": "Settings of the family that the short form changes.", "anyOf": families })
    }
}

/// Returns the schema of the settings of a family.
fn settings_schema(family: Family, generator: &mut SchemaGenerator) -> Schema {
    let mut properties = Map::new();
    let mut required: Vec<&str> = Vec::new();
    for setting in family.settings().iter().filter(|one| one.key != DefinitionKey::None) {
        properties.insert(setting.name.to_owned(), setting_schema(setting, generator).into());
        if setting.key == DefinitionKey::Required {
            required.push(setting.name);
        }
    }
    json_schema!({
        "description": format!("The settings of the family `{family}`."),
        "type": "object",
        "properties": properties,
        "additionalProperties": false,
        "required": required,
    })
}

/// Returns the schema of a setting's values, from its declaration.
fn setting_schema(setting: &Setting, generator: &mut SchemaGenerator) -> Schema {
    let mut schema = match setting.kind {
        SettingKind::Choice(choices) => {
            json_schema!({ "anyOf": choices.iter().flat_map(choice_schemas).collect::<Vec<_>>() })
        }
        SettingKind::Count { least, most } => {
            json_schema!({ "type": "integer", "minimum": least, "maximum": most })
        }
        SettingKind::Time => generator.subschema_for::<TimeText>(),
        SettingKind::Bytes { .. } | SettingKind::Distribution | SettingKind::Text(_) => {
            json_schema!({ "type": "string", "minLength": 1 })
        }
    };
    schema.insert("title".to_owned(), setting.title.into());
    schema.insert("description".to_owned(), format!("{}.", capitalized(setting.about)).into());
    if let DefinitionKey::Optional(value) = setting.key {
        let count = value.parse::<u32>().ok().filter(|_| matches!(setting.kind, SettingKind::Count { .. }));
        schema.insert("default".to_owned(), count.map_or_else(|| value.into(), serde_json::Value::from));
    }
    schema
}

/// Returns the schema of a choice: its name, and the form with a number if it has one.
fn choice_schemas(choice: &SettingChoice) -> Vec<Schema> {
    let (name, about) = (choice.name, capitalized(choice.about));
    let plain = json_schema!({ "const": name, "type": "string", "description": format!("{about}.") });
    let numbered = choice.number.map(|number| {
        let pattern = format!("^{name}:[1-9][0-9]*$");
        let about = format!("{about}; the number is {number}.");
        json_schema!({ "pattern": pattern, "type": "string", "description": about })
    });
    [plain].into_iter().chain(numbered).collect()
}

/// The lengths of the phases of a load point; those that are left out have no length.
#[derive(JsonSchema)]
#[schemars(rename = "Phases", rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct PhasesText {
    /// A pause before the load point.
    quiet: Option<TimeText>,
    /// Load rising.
    ramp_up: Option<TimeText>,
    /// Full load, not measured.
    settle: Option<TimeText>,
    /// Measured; above zero.
    steady: TimeText,
    /// Load falling.
    ramp_down: Option<TimeText>,
    /// The longest time in which operations in flight may finish afterwards; without it they are given up.
    drain: Option<TimeText>,
}

/// Limits that the verdict of a load point depends on. Ratios are from 0 to 1.
#[derive(JsonSchema)]
#[schemars(rename = "Rules", rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct RulesText {
    /// Failed ÷ completed operations above which a load point is not valid.
    error_ratio_max: Option<RatioText>,
    /// Relative gap in N = X·(R + Z) above which a load point needs an explanation.
    little_gap_max: Option<RatioText>,
    /// Busy part of the load CPUs from which the generator counts as the bottleneck.
    generator_busy_max: Option<RatioText>,
    /// 99th percentile of lateness above which the generator counts as the bottleneck (open loop).
    lateness_p99_max: Option<TimeText>,
    /// Time that load threads waited for a CPU, as a part of the run's length, above which the generator counts
    /// as the bottleneck.
    run_queue_ratio_max: Option<RatioText>,
    /// Part of its own CPU allowance from which the SUT counts as saturated.
    sut_saturated_min: Option<RatioText>,
    /// The fewest completed operations of a valid load point.
    operations_min: Option<u64>,
    /// Delivered ÷ offered rate below which an open-loop load point is not valid.
    delivered_ratio_min: Option<RatioText>,
}

/// A ratio from 0 to 1.
#[derive(JsonSchema)]
#[schemars(rename = "Ratio")]
pub(super) struct RatioText(#[schemars(range(min = 0.0, max = 1.0))] f64);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::definition::parse::{
        EVERY_APP_KEY, EVERY_KEY, EVERY_ORDER_KEY, EVERY_REQUEST_KEY, EVERY_SESSION_KEY, EVERY_SQL_KEY,
    };
    use testkit::{is_published, keys_named, keys_read};

    /// Goal: the schema and the reading code, two lists of the same keys, stay the same. The definitions with every
    /// key are read without complaint, and unknown keys are refused everywhere (tests of `parse`).
    #[test]
    fn the_schema_names_the_keys_that_are_read_and_no_others() {
        let named = [
            "/parameters",
            "/headers",
            "/data",
            "/extract",
            "/expect",
            "/body/form",
            "/body/multipart",
            "/reply/json",
        ];
        let texts =
            [EVERY_KEY, EVERY_REQUEST_KEY, EVERY_SESSION_KEY, EVERY_APP_KEY, EVERY_ORDER_KEY, EVERY_SQL_KEY];
        let mut read = keys_read(&texts, &named);
        // The short form can change all settings, and those texts change some.
        read.insert("/quick/protocol".to_owned(), read["/protocol"].clone());
        // Of two ways to say something only one can be in a text; tests of `parse` read the others.
        for (path, others) in [
            ("/workload/filelist", &["file"][..]),
            ("/workload/requests", &["weight", "disclose-path"]),
            ("/workload/requests/headers/*", &["env", "file", "prefix", "value", "disclose"]),
            ("/workload/requests/body", &["env", "file", "prefix", "value", "disclose"]),
            ("/workload/requests/parameters/*", &["env", "file", "prefix"]),
            ("/workload/requests/reply", &["content-type"]),
            ("/load/users", &["steps", "max"]),
            ("/quick/users", &["steps", "max"]),
        ] {
            read.entry(path.to_owned()).or_default().extend(others.iter().map(ToString::to_string));
        }
        assert_eq!(read, keys_named(definition_schema()));
    }

    #[test]
    fn the_published_schema_is_the_one_of_this_program() {
        is_published("benchmark.schema.json", definition_schema());
    }
}
