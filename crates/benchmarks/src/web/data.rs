//! The data of users: files that a definition names, read when the benchmark is.

use std::io;
use std::sync::Arc;

use languages::{Diagnostic, Diagnostics, nearest};
use model::{DATA_BYTES_MAX, DataDefinition, DataError, DataFormat, DataSet, DataTable};

/// A definition, and how the files beside it are read.
pub(crate) struct DataSource<'a, F> {
    /// The name of the definition's file.
    pub(crate) file_name: &'a str,
    /// The text of the definition.
    pub(crate) text: &'a str,
    /// Returns the text of a file, by its path from the definition.
    pub(crate) read_file: F,
}

/// Reads the files of data. Returns them as a plan has them, and their values.
///
/// # Errors
/// All files that cannot be read or are not valid, each with its place in the definition and never with a value.
pub(crate) fn read_data<F: Fn(&str) -> io::Result<String>>(
    definitions: &[DataDefinition],
    source: &DataSource<F>,
) -> Result<(Vec<DataSet>, Vec<Arc<DataTable>>), Diagnostics> {
    let mut problems = Vec::new();
    let mut read = Vec::new();
    for data in definitions {
        match read_one(data, &source.read_file) {
            Ok((set, table)) => {
                problems.extend(missing_columns(data, &table));
                read.push((set, Arc::new(table)));
            }
            Err((label, hint)) => problems.push(Diagnostic {
                message: format!("`workload.data.{}.file` is not valid", data.name),
                span: data.span.clone(),
                label,
                hint: Some(hint),
            }),
        }
    }
    if problems.is_empty() {
        Ok(read.into_iter().unzip())
    } else {
        Err(Diagnostics::new(source.file_name, source.text, problems))
    }
}

/// Reads one file, or returns what is wrong with it and a hint.
fn read_one(
    data: &DataDefinition,
    read_file: impl Fn(&str) -> io::Result<String>,
) -> Result<(DataSet, DataTable), (String, String)> {
    let DataDefinition { name, file, format, pick, at_end, .. } = data;
    let beside = "the file is searched from the folder of the definition";
    let text =
        read_file(file).map_err(|error| (format!("cannot read `{file}`: {error}"), beside.to_owned()))?;
    if DATA_BYTES_MAX < text.len() as u64 {
        return Err((
            format!("`{file}` is longer than {DATA_BYTES_MAX} bytes"),
            "leave out columns or rows".to_owned(),
        ));
    }
    let (parsed, hint) = match format {
        DataFormat::Csv => (
            DataTable::from_csv(&text),
            "the first line of CSV names the columns; put values with commas in double quotes",
        ),
        DataFormat::JsonLines => (
            DataTable::from_json_lines(&text),
            "every line is an object such as `{\"name\": \"anna\", \"age\": 41}`",
        ),
    };
    let wrong = |error: DataError| (format!("`{file}`, {error}"), hint.to_owned());
    let table = parsed.map_err(wrong)?;
    let set = DataSet {
        name: name.clone(),
        file: file.clone(),
        hash: blake3::hash(text.as_bytes()).to_hex().to_string(),
        rows: table.rows(),
        pick: *pick,
        at_end: *at_end,
    };
    Ok((set, table))
}

/// Lists the columns that requests use and the file does not have.
fn missing_columns(data: &DataDefinition, table: &DataTable) -> Vec<Diagnostic> {
    let columns = table.columns();
    let missing = data.columns.iter().filter(|(column, _)| !columns.contains(column));
    let problem = |(column, span): &(String, std::ops::Range<usize>)| {
        let known = columns.iter().map(String::as_str);
        Diagnostic {
            message: format!("`{{{}.{column}}}` has no values", data.name),
            span: span.clone(),
            label: format!("`{}` has no column `{column}`", data.file),
            hint: Some(match nearest(column, known.clone()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("there is `{}`", known.collect::<Vec<&str>>().join("`, `")),
            }),
        }
    };
    missing.map(problem).collect()
}

#[cfg(test)]
mod tests {
    use crate::from_definition;

    const DEFINITION: &str = include_str!("data_example.toml");

    fn load(csv: &str) -> Result<String, String> {
        let read = |name: &str| match name {
            "users.csv" => Ok(csv.as_bytes()),
            _ => Err(std::io::ErrorKind::NotFound.into()),
        };
        let benchmark = from_definition("my.toml", DEFINITION, read).map_err(|error| error.to_string())?;
        let data = &benchmark.workload.web().unwrap().data;
        assert_eq!(benchmark.data.len(), 1);
        Ok(serde_json::to_string(data).unwrap())
    }

    #[test]
    fn a_plan_has_the_hash_and_the_number_of_rows_and_no_value() {
        let stored = load("name,password\nanna,s3cret\nbert,s3cret\n").unwrap();
        assert!(
            stored.contains("\"rows\":2") && !stored.contains("s3cret") && !stored.contains("anna"),
            "{stored}"
        );
        let hash = |stored: &str| stored.split("\"hash\":\"").nth(1).map(|rest| rest[..64].to_owned());
        assert_ne!(hash(&stored), hash(&load("name,password\nanna,other\nbert,s3cret\n").unwrap()));
    }

    #[test]
    fn mistakes_in_data_have_a_place_in_the_definition() {
        let found = ["name,pasword\nanna,s3cret", "name,password\ns3cret"]
            .map(|csv| load(csv).unwrap_err())
            .join("\n");
        assert!(!found.contains("s3cret"), "{found}");
        insta::assert_snapshot!(found, @r#"
        error: `{users.password}` has no values
          --> my.toml:20:8
           |
        20 | body = { form = { name = "{users.name}", password = "****************" } }
           |        ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ `users.csv` has no column `password`
           |
           = hint: did you mean `pasword`?
        error: `workload.data.users.file` is not valid
          --> my.toml:11:8
           |
        11 | file = "users.csv"
           |        ^^^^^^^^^^^ `users.csv`, line 2: expected 2 values, found 1
           |
           = hint: the first line of CSV names the columns; put values with commas in double quotes
        "#);
    }
}
