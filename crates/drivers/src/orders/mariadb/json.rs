//! Values of several rows as one parameter: arrays of JSON, which `JSON_TABLE` reads.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::database::failure::{SqlFailure, WRONG_VALUE};

/// Returns rows as a parameter.
pub(super) fn to_json(rows: &impl Serialize) -> Result<String, SqlFailure> {
    serde_json::to_string(rows).map_err(|_| WRONG_VALUE)
}

/// Reads rows of a result that are one value.
pub(super) fn from_json<T: DeserializeOwned>(text: &str) -> Result<T, SqlFailure> {
    serde_json::from_str(text).map_err(|_| WRONG_VALUE)
}
