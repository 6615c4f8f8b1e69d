//! Reading `parameters.NAME`: the parts of a request that vary.

use languages::REDACTED;
use languages::reader::{TomlTable, ValueError};
use languages::spec::{ValueSpec, text, whole};
use toml::de::DeValue;

use super::placeholders::RequestText;
use super::request::Values;
use super::secret::{SecretWords, read_source};
use crate::workload::PATH_MAX;
use crate::{Parameter, PathPattern, SecretLocation, ValueCount, ValueDistribution};

/// The largest factor of a count that grows with the load.
const FACTOR_MAX: f64 = 1e9;

/// The largest count: whole numbers are exact up to here in JSON.
const COUNT_MAX: u64 = 1 << 53;

/// Reads all parameters, each with its table, in which later checks may find more.
pub(super) fn read_parameters<'a>(
    mut table: TomlTable<'a>,
    values: &mut Values,
) -> Vec<(Parameter, TomlTable<'a>)> {
    let inner = table.named_tables();
    table.finish();
    let read = |(name, mut inner): (&str, _)| Some((read_parameter(name, &mut inner, values)?, inner));
    inner.into_iter().filter_map(read).collect()
}

fn read_parameter(name: &str, table: &mut TomlTable, values: &mut Values) -> Option<Parameter> {
    let about = "A part of a request that varies, either `count` numbers or `values`, or a secret, from `env` or `file`.";
    table.describe("Parameter", about);
    let is_secret = ["env", "file"].iter().any(|key| table.value(key).is_some());
    let mut parameter = None;
    for is_secret in table.cases(is_secret, &[false, true]) {
        parameter = if is_secret {
            read_secret_parameter(name, table, values)
        } else {
            read_values(name, table, count())
        };
    }
    parameter
}

/// Reads a parameter that has its values in the definition.
pub(in crate::definition) fn read_values(
    name: &str,
    table: &mut TomlTable,
    count: ValueSpec<ValueCount>,
) -> Option<Parameter> {
    let texts = table.optional("values", "Texts.", value().non_empty_list());
    let first = table.optional("from", "The first number; if absent: 0.", whole(0..=i64::MAX as u64));
    let count = table.optional("count", "Number of values.", count);
    let about = "The distribution of the values; if absent: `uniform`. Others are `zipf:1.0`, `poisson:5` and \
                 `weights:3,2,1`.";
    let pick = table.optional("pick", about, pick()).unwrap_or(ValueDistribution::Uniform);
    if texts.is_some() {
        for key in ["from", "count"].into_iter().filter(|key| table.value(key).is_some()) {
            table.reject(key, ValueError::new("expected either `values` or `from` and `count`, found both"));
        }
    } else if table.value("count").is_none() && table.value("values").is_none() {
        table.reject(
            "count",
            ValueError::new("expected `count`, a number of values, or `values`, a list of texts"),
        );
    }
    let parameter = match texts {
        Some(texts) => Parameter::texts(name, texts),
        None => Parameter::numbers(name, first.unwrap_or(0), count?),
    };
    let parameter = Parameter { pick, ..parameter };
    if let Err(error) = parameter.check(1.0) {
        table.reject("pick", ValueError::new(error.to_string()));
    }
    Some(parameter)
}

/// Reads a parameter whose only value is a secret.
fn read_secret_parameter(name: &str, table: &mut TomlTable, values: &mut Values) -> Option<Parameter> {
    let (prefix, source) = read_source(table, SecretWords { value: "the only value", of_file: "" });
    let only = || ValueError::new("a value from `env` or `file` is the only one");
    for key in ["values", "from", "count", "pick"] {
        table.refuse(key, only());
    }
    if ["env", "file"].iter().all(|key| table.value(key).is_some()) {
        table.reject("file", only());
    }
    values.elsewhere(SecretLocation::Parameter(name.to_owned()), prefix, source?, table.span());
    Some(Parameter::texts(name, vec![REDACTED.to_owned()]))
}

/// Values of a parameter, which may be empty.
fn value() -> ValueSpec<String> {
    text().and_then(|value| {
        if value.len() <= PATH_MAX {
            return Ok(value);
        }
        Err(ValueError::new(format!("expected at most {PATH_MAX} bytes")))
    })
}

/// Returns the first value of a parameter that no path can have.
fn not_for_path(parameter: &Parameter) -> Option<&str> {
    let is_allowed = |value: &str| value.chars().all(|c| c.is_ascii_graphic() && !"#{}".contains(c));
    parameter.texts.iter().map(String::as_str).find(|value| *value != REDACTED && !is_allowed(value))
}

fn pick() -> ValueSpec<ValueDistribution> {
    let pattern = "^(uniform|zipf:[0-9.]+|poisson:[0-9.]+|weights:[0-9.,]+)$";
    text().rule("pattern", pattern).and_then(|written| {
        written.parse::<ValueDistribution>().map_err(|error| ValueError::new(error.to_string()))
    })
}

/// Whole numbers of values.
pub(in crate::definition) fn fixed_count() -> ValueSpec<ValueCount> {
    whole(1..=COUNT_MAX).map(ValueCount::Fixed)
}

/// Numbers of values: `100` or `"sqrt(20 * load)"`.
pub(in crate::definition) fn count() -> ValueSpec<ValueCount> {
    let about =
        "Number of values: a constant, or `sqrt(20 * load)`, rounded up, in the first parameter of a path.";
    let is_text = |value: &DeValue| matches!(value, DeValue::String(_));
    fixed_count().or(growing_count(), is_text).named("Count", about)
}

fn growing_count() -> ValueSpec<ValueCount> {
    let pattern = r"^sqrt\(([0-9.]+ *\* *)?load\)$";
    text().rule("pattern", pattern).and_then(|written| {
        let inside = written.trim().strip_prefix("sqrt(").and_then(|rest| rest.strip_suffix(')'));
        let factor = inside.and_then(|inside| match inside.split_once('*') {
            Some((factor, load)) => factor.trim().parse::<f64>().ok().filter(|_| load.trim() == "load"),
            None => Some(1.0).filter(|_| inside.trim() == "load"),
        });
        match factor.filter(|factor| 0.0 < *factor && *factor <= FACTOR_MAX) {
            Some(factor) => Ok(ValueCount::SquareRoot(factor)),
            None => Err(ValueError::new(format!(
                "expected a number, or one that grows with the load, found `{written}`"
            ))
            .hint("write `100` or `\"sqrt(20 * load)\"`")),
        }
    })
}

/// Brings parameters into the order of their placeholders: those of the path, then those of headers and body. `None`,
/// reported, if one is without the other, or one grows that may not.
pub(super) fn in_order(
    table: &TomlTable,
    path: &PathPattern,
    texts: &[RequestText],
    mut parameters: Vec<(Parameter, TomlTable)>,
) -> Option<Vec<Parameter>> {
    let mut ordered: Vec<Parameter> = Vec::new();
    let mut is_complete = true;
    let of_path = path.names().iter().map(|name| (name.as_str(), None));
    let of_texts = texts.iter().flat_map(|text| text.parameters().map(move |name| (name, Some(text))));
    for (name, text) in of_path.chain(of_texts) {
        if ordered.iter().any(|known| known.name == name) {
            continue;
        }
        let Some(index) = parameters.iter().position(|(parameter, _)| parameter.name == name) else {
            is_complete = false;
            if !table.has_inside("parameters", name) {
                let error = ValueError::new(format!("`{{{name}}}` has no values"));
                let hint = format!("add `parameters.{name} = {{ count = 100 }}`");
                match text {
                    None => table.reject("path", error.hint(hint)),
                    Some(text) => text.reject(
                        table,
                        error.hint(format!(
                            "{hint}; a text with these braces can come from a file: `{{ file = \"…\" }}`"
                        )),
                    ),
                }
            }
            continue;
        };
        let (parameter, inner) = parameters.swap_remove(index);
        if !ordered.is_empty() && matches!(parameter.count, ValueCount::SquareRoot(_)) {
            let error = ValueError::new("only the first parameter of a path may grow with the load");
            inner.reject("count", error.hint("so that files keep their numbers; put it first in the path"));
        }
        if let Some(value) = not_for_path(&parameter).filter(|_| text.is_none()) {
            inner.reject("values", ValueError::new(format!("`{value}` is not allowed in a path")));
        }
        ordered.push(parameter);
        inner.finish();
    }
    for (parameter, inner) in parameters {
        let hint = format!(
            "write `{{{}}}` where its value belongs: in the path, a header or the body",
            parameter.name
        );
        inner.reject_all(ValueError::new(format!("nothing has `{{{}}}`", parameter.name)).hint(hint));
        inner.finish();
    }
    is_complete.then_some(ordered)
}

#[cfg(test)]
mod tests {
    use crate::definition::parse::problems_of_request;

    #[test]
    fn mistakes_in_parameters_have_a_position() {
        let found = problems_of_request([
            ("{ from = 10, count = 3, pick = \"zipf:1\" }", "5"),
            ("{ from = 10, count = 3, pick = \"zipf:1\" }", "{}"),
            ("from = 10, count = 3", "count = 0"),
            ("from = 10, count = 3", "from = -1, count = 3"),
            ("from = 10, count = 3", "count = 3, values = [\"a\"]"),
            ("from = 10, count = 3", "count = \"sqrt(20 * users)\""),
            ("from = 10, count = 3", "count = \"sqrt(-1 * load)\""),
            ("from = 10, count = 3", "count = \"sqrt(load)\""),
            ("from = 10, count = 3", "count = 4"),
            ("from = 10, count = 3", "count = 99_999_999"),
            ("count = 3, pick = \"zipf:1\"", "count = 3, pick = \"normal\""),
            ("count = 3, pick = \"zipf:1\"", "count = 3, kick = 1"),
            ("weights:3,1", "weights:3,1,1"),
            ("[\"small\", \"large\"]", "[]"),
            ("[\"small\", \"large\"]", "[\"small\", \"a b\"]"),
            ("[\"small\", \"large\"]", "[\"small\", 5]"),
            ("[\"small\", \"large\"]", "[\"small\", \"small\"]"),
            ("[\"small\", \"large\"]", "[\"small\", \"..\"]"),
            ("[\"small\", \"large\"]", "[\"small\", \"a?b\"]"),
        ]);
        insta::assert_snapshot!(found, @r#"
        line 19, `5`: `workload.requests.parameters.id` is not valid: expected a table, found an integer
        line 19, `id`: `workload.requests.parameters.id.count` is not valid: expected `count`, a number of values, or `values`, a list of texts
        line 19, `0`: `workload.requests.parameters.id.count` is not valid: expected a whole number from 1 to 9007199254740992, found 0
        line 19, `-1`: `workload.requests.parameters.id.from` is not valid: expected a whole number from 0 to 9223372036854775807, found -1
        line 19, `3`: `workload.requests.parameters.id.count` is not valid: expected either `values` or `from` and `count`, found both
        line 19, `"sqrt(20 * users)"`: `workload.requests.parameters.id.count` is not valid: expected a number, or one that grows with the load, found `sqrt(20 * users)`
        line 19, `"sqrt(-1 * load)"`: `workload.requests.parameters.id.count` is not valid: expected a number, or one that grows with the load, found `sqrt(-1 * load)`
        line 19, `"sqrt(load)"`: `workload.requests.parameters.id.count` is not valid: only the first parameter of a path may grow with the load
        line 20, `{ file = [1000, 2000, 3000] }`: `workload.requests.reply` is not valid: 3 sizes for 4 values of `id`
        line 17, `"/images/{size}/{id:4}.png"`: `workload.requests.path` is not valid: 199999998 files; there may be at most 10000000
        line 19, `"normal"`: `workload.requests.parameters.id.pick` is not valid: expected `uniform`, `zipf:1.0`, `poisson:5` or `weights:3,2,1`, found `normal`
        line 19, `kick`: unknown key `kick` in `workload.requests.parameters.id`: not a key of a definition
        line 18, `"weights:3,1,1"`: `workload.requests.parameters.size.pick` is not valid: 3 weights for 2 values
        line 18, `[]`: `workload.requests.parameters.size.values` is not valid: expected an array, found an empty one
        line 17, `"/images/{size}/{id:4}.png"`: `workload.requests.path` is not valid: `/images/a b/0010.png` is not the path of a file: a plain path cannot contain some of its characters
        line 18, `["small", 5]`: `workload.requests.parameters.size.values` is not valid: expected a string, found an integer
        line 17, `"/images/{size}/{id:4}.png"`: `workload.requests.path` is not valid: two files have the path `/images/small/0010.png`
        line 17, `"/images/{size}/{id:4}.png"`: `workload.requests.path` is not valid: `/images/../0010.png` is not the path of a file: expected the path of a file, without empty parts, `.` and `..`
        line 17, `"/images/{size}/{id:4}.png"`: `workload.requests.path` is not valid: `/images/a?b/0010.png` is not the path of a file: a plain path cannot contain some of its characters
        "#);
    }
}
